"""The words of a bundle, in both languages, and the scripts that start it."""

from __future__ import annotations

from course.i18n import both

README = both(
    "Start: `lab.bat` on Windows, `lab.command` on macOS, `sh lab.sh` on Linux (Python 3.10 to 3.13). "
    "The first start installs what is needed; then the first lesson opens.\n"
    "Google Colab: upload one file of `colab/` there and run its first cell. "
    "To hand in a checkpoint: save its notebook, and give it in with the file `.answers.json` beside it.\n",
    "开始：Windows 双击 `lab.bat`，macOS 双击 `lab.command`，Linux 运行 `sh lab.sh`（Python 3.10 到 3.13）。"
    "首次启动会安装所需的一切，然后打开第一课。\n"
    "Google Colab：把 `colab/` 里的任意一个文件上传上去，先运行第一个单元格。提交测验：保存 notebook，"
    "连同旁边的 `.answers.json` 文件一起交。\n",
)
HAND_IN = both(
    "\n## Handing in\n\nWith nbgrader: put `nbgrader_config.py` of this folder into `~/.jupyter/`; your id is your login name. "
    "Otherwise upload the notebook and its `.answers.json` where your instructor says (Moodle, Canvas, mail); your id is the one "
    "your instructor gave you. When the first cell of a checkpoint asks who you are, type that id, and look at it twice: your "
    "questions are drawn from it.\n",
    "\n## 交作业\n\n用 nbgrader：把这个文件夹里的 `nbgrader_config.py` 放进 `~/.jupyter/`，你的 id 就是登录名。"
    "不用 nbgrader：把 notebook 和它的 `.answers.json` 传到老师指定的地方（Moodle、Canvas 或邮件），id 用老师告诉你的那个。"
    "测验的第一个单元格会问你是谁，填这个 id，填完再看一眼：你的题目就是按它抽的。\n",
)
EXCHANGE = """# For handing in through nbgrader (pip install nbgrader): put this file into ~/.jupyter/
# 通过 nbgrader 交作业（先 pip install nbgrader）：把这个文件放进 ~/.jupyter/
"""
LAB_SH = """#!/bin/sh
cd "$(dirname "$0")" && exec "${{PYTHON:-python3}}" lab.py lab --language {language} "$@"
"""
LAB_BAT = """@echo off
cd /d "%~dp0"
where py >nul 2>nul && (py -3 lab.py lab --language {language} %*) || (python lab.py lab --language {language} %*)
pause
"""
CARRIES = both(
    "**Run the next cell first.** It installs the course, which this file carries inside, and takes some seconds. After a new runtime, "
    "run it again. Your answers stay on Google Drive if you mount it; else the last cell downloads them.",
    "**请先运行下一个单元格。** 它安装本文件自带的课程，几秒钟即可；换了新的运行时要再运行一次。挂载了 Google Drive，作答就存在那里；"
    "没有挂载的话，最后一个单元格会把作答下载下来。",
)
FORM = both("Run me first", "先运行我")
TAKE_HOME = both("Take your answers with you: this downloads them.", "带走你的作答：运行后即可下载。")
INSTALL = '''#@title {title} {{ display-mode: "form" }}
import base64, lzma, pathlib, subprocess, sys, tempfile
WHEEL = """
{data}"""
wheel = pathlib.Path(tempfile.mkdtemp()) / "{name}"
wheel.write_bytes(lzma.decompress(base64.b64decode(WHEEL)))
subprocess.run([sys.executable, "-m", "pip", "install", "-q", f"{{wheel}}[course]"], check=True)'''
DOWNLOAD = """#@title {title} {{ display-mode: "form" }}
import sys
from course import export_progress
export_progress("my-answers.jsonl")
if "google.colab" in sys.modules:
    from google.colab import files
    files.download("my-answers.jsonl")"""
