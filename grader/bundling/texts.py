"""The words of a bundle, in both languages, and the scripts that start it."""

from __future__ import annotations

from course.i18n import both

README = both(
    "Start: `lab.bat` on Windows, `lab.command` on macOS, `sh lab.sh` on Linux (Python 3.10 to 3.13). "
    "The first start installs what is needed; then the first lesson opens.\n"
    "Google Colab: upload one file of `colab/` there and run its first cell. "
    "To hand in a checkpoint: save its notebook, run `check_file()` in it, which says what is in the file, and hand it in together with "
    "the file `.answers.json` beside it.\n",
    "开始：Windows 双击 `lab.bat`，macOS 双击 `lab.command`，Linux 运行 `sh lab.sh`（Python 3.10 到 3.13）。"
    "首次启动会安装所需的一切，然后打开第一课。\n"
    "Google Colab：把 `colab/` 里的任意一个文件上传上去，先运行第一个单元格。提交测验：保存 notebook，"
    "在里面运行 `check_file()` 看看文件里有什么，再连同旁边的 `.answers.json` 文件一起交。\n",
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
chcp 65001 >nul
pushd "%~dp0"
if exist lab.py goto found
echo lab.py is not beside this file. Next step: unpack the whole ZIP into a folder, then start lab.bat there.
echo 旁边没有 lab.py。下一步：先把整个 ZIP 解压到文件夹里，再从那里启动 lab.bat。
goto end
:found
if defined PYTHON goto given
where py >nul 2>nul
if errorlevel 1 (set "PYTHON=python") else (set "PYTHON=py")
:given
"%PYTHON%" lab.py lab --language {language} %*
:end
popd
pause
"""
"""`pushd` gives a folder of the network a drive letter. Opened inside the ZIP, the file stands alone in a folder for passing use."""
CARRIES = both(
    "**Run the next cell first.** It installs the course, which this file carries inside, and takes some seconds. After a new runtime, "
    "run it again. Your answers stay on Google Drive if you mount it; else the last cell downloads them.",
    "**请先运行下一个单元格。** 它安装本文件自带的课程，几秒钟即可；换了新的运行时要再运行一次。挂载了 Google Drive，作答就存在那里；"
    "没有挂载的话，最后一个单元格会把作答下载下来。",
)
FORM = both("Run me first", "先运行我")
TAKE_HOME = both("Take your answers with you: this downloads them.", "带走你的作答：运行后即可下载。")
INSTALLED = both(
    "✅ Ready: the course is installed. Go on with the next cell.", "✅ 就绪：课程已经装好，请接着运行下一个单元格。"
)
NOT_INSTALLED = both(
    "⚠️ The course could not be installed; pip says why above. Next step: look whether this notebook has Internet access "
    "(on Kaggle: Settings, Internet on), then run this cell again.",
    "⚠️ 课程没有装上，原因见上面 pip 的输出。下一步：确认这个 notebook 能上网（Kaggle：在设置里打开 Internet），"
    "再运行一次这个单元格。",
)
NOT_THERE = both(
    "The course is not installed in this runtime yet. Next step: run the cell “Run me first” above, then this one again.",
    "这个运行时里还没有装课程。下一步：先运行上面的“先运行我”，再运行这个单元格。",
)
INSTALL = '''#@title {title} {{ display-mode: "form" }}
import base64, lzma, pathlib, subprocess, sys, tempfile
WHEEL = """
{data}"""
wheel = pathlib.Path(tempfile.mkdtemp()) / "{name}"
wheel.write_bytes(lzma.decompress(base64.b64decode(WHEEL)))
pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{{wheel}}[course]"]
done = subprocess.run(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
print(done.stdout[-2000:], "{failed}" if done.returncode else "{ready}", sep="")'''
DOWNLOAD = """#@title {title} {{ display-mode: "form" }}
import sys
from course import export_progress
export_progress("my-answers.jsonl")
if "google.colab" in sys.modules:
    from google.colab import files
    files.download("my-answers.jsonl")"""
RECORD = both(
    "# Record my GPU\n\n"
    "The course has {count} experiments that need an NVIDIA GPU. Learners without one look at recordings. "
    "**Yours can be one of them.** This notebook runs every experiment that is not recorded yet on a GPU such as yours "
    "(up to {minutes} minutes), and ends with one ZIP to send.\n\n"
    "1. On Colab: *Runtime → Change runtime type → T4 GPU*.\n"
    "2. Run all cells from top to bottom. Say yes to Drive if the session may end early: what is recorded is then kept there, and "
    "a new session goes on where the last one stopped.\n"
    "3. Send the ZIP to whoever gave you this file.\n\n"
    "The ZIP holds measured times and results, the name of the GPU and the versions of driver, CUDA and torch. "
    "It holds no user name, no host name and no path.",
    "# 录制我的 GPU\n\n"
    "课程里有 {count} 个实验需要 NVIDIA GPU，没有 GPU 的同学看的是录好的结果。**你的 GPU 也可以出一份力。**"
    "这个 notebook 会运行所有还没有在同款 GPU 上录过的实验（最多约 {minutes} 分钟），最后得到一个 ZIP。\n\n"
    "1. 在 Colab 上：*运行时 → 更改运行时类型 → T4 GPU*。\n"
    "2. 从上到下运行所有单元格。担心会话提前断开，就同意挂载 Drive：录好的会存在那里，换个会话接着录。\n"
    "3. 把 ZIP 发给给你这个文件的人。\n\n"
    "ZIP 里有测得的时间和结果、GPU 型号，以及驱动、CUDA、torch 的版本；没有用户名、主机名和路径。",
)
KEEP_ON_DRIVE = both("Keep what is recorded on Drive (optional)", "把录好的存到 Drive（可选）")
DRIVE_CELL = """#@title {title} {{ display-mode: "form" }}
import sys
if "google.colab" in sys.modules:
    from google.colab import drive
    try:
        drive.mount("/content/drive")
    except Exception as refused:
        print(refused)"""
RECORD_CELL = """import os, sys
from course.home import folder

os.environ["COURSE_LANGUAGE"] = "{language}"
place = folder() / "my-gpu"
!"{{sys.executable}}" -m course.experiments --record "{{place}}" --needs cuda --missing --zip"""
SEND_CELL = """import sys
if "google.colab" in sys.modules and place.with_suffix(".zip").exists():
    from google.colab import files
    files.download(str(place.with_suffix(".zip")))"""
