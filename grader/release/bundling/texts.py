"""The words of a bundle, in both languages, and the code of the cells that Colab needs."""

from __future__ import annotations

from course.core.i18n import both

README = both(
    "# The course\n\nStart (Python 3.10 to 3.13): in this folder, `python3 lab.py lab`; on Windows `py lab.py lab`. "
    "The first start installs what is needed; then the first lesson opens.\n\n"
    "Google Colab: upload one file of `colab/` there and run its first cell.\n\n"
    "To hand in a checkpoint: save its notebook, run `check_file()` in it, which says what is in the file, and hand it in together with "
    "the file `.answers.json` beside it.\n",
    "# 课程\n\n开始（Python 3.10 到 3.13）：在这个文件夹里运行 `python3 lab.py lab --language zh`，"
    "Windows 上是 `py lab.py lab --language zh`。"
    "首次启动会安装所需的一切，然后打开第一课。\n\n"
    "Google Colab：把 `colab/` 里的任意一个文件上传上去，先运行第一个单元格。\n\n提交测验：保存 notebook，"
    "在里面运行 `check_file()` 看看文件里有什么，再连同旁边的 `.answers.json` 文件一起交。\n",
)
HAND_IN = both(
    "\n## Handing in\n\nWhen the first cell of a checkpoint asks who you are, type the id that your instructor gave you (with nbgrader: "
    "your login name), and look at it twice: your questions are drawn from it.\n\n"
    "With nbgrader (`pip install nbgrader`): put `nbgrader_config.py` of this folder into `~/.jupyter/`, then, with the name of the "
    "checkpoint in the place of L:\n\n"
    "```\nnbgrader fetch_assignment L      # makes the folder L with the notebook to work in\n"
    "nbgrader submit L                # as often as you like until the due date\n"
    "nbgrader fetch_feedback L        # once it is handed out: L/feedback\n```\n\n"
    "Otherwise work in `notebooks/`, and upload the notebook and its `.answers.json` where your instructor says (Moodle, Canvas, mail).\n",
    "\n## 交作业\n\n测验的第一个单元格会问你是谁，填老师给你的 id（用 nbgrader 就是登录名），填完再看一眼：你的题目就是按它抽的。\n\n"
    "用 nbgrader（`pip install nbgrader`）：把这个文件夹里的 `nbgrader_config.py` 放进 `~/.jupyter/`，然后运行（L 换成测验的名字）：\n\n"
    "```\nnbgrader fetch_assignment L      # 建立文件夹 L，在里面的 notebook 里作答\n"
    "nbgrader submit L                # 截止之前可以交多次\n"
    "nbgrader fetch_feedback L        # 评语发下来之后：在 L/feedback 里\n```\n\n"
    "不用 nbgrader：在 `notebooks/` 里作答，把 notebook 和它的 `.answers.json` 传到老师指定的地方（Moodle、Canvas 或邮件）。\n",
)
EXCHANGE = """# For handing in through nbgrader (pip install nbgrader): put this file into ~/.jupyter/
# 通过 nbgrader 交作业（先 pip install nbgrader）：把这个文件放进 ~/.jupyter/
"""
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
