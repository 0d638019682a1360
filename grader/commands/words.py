"""What each command is for, in plain words, in the order in which somebody needs them."""

from __future__ import annotations

from course.i18n import Text, both, pick
from grader.launcher import program

WEEKLY, ONCE, AUTHORS = "weekly", "once", "author"
GROUPS: dict[str, Text] = {
    WEEKLY: both("Every week", "每周都用"),
    ONCE: both("Once, or now and then", "用一次，或偶尔用"),
    AUTHORS: both("For authors of the course", "课程作者用"),
}
COMMANDS: dict[str, tuple[str, Text]] = {
    "release": (WEEKLY, both("hand out a checkpoint", "发布测验")),
    "collect": (WEEKLY, both("bring in what came through the exchange", "收取通过 exchange 交来的作业")),
    "import": (WEEKLY, both("bring in what Moodle, Canvas or a folder holds", "读入 Moodle、Canvas 或文件夹里的作业")),
    "autograde": (WEEKLY, both("mark every submission", "批改所有作业")),
    "feedback": (WEEKLY, both("make and hand out the feedback pages", "生成并发放反馈页面")),
    "give-back": (WEEKLY, both("one ZIP of the feedback pages, for the platform", "把反馈页面打包成 ZIP，供平台上传")),
    "export": (
        WEEKLY,
        both("the marks as CSV, for Canvas or Moodle too", "把成绩导出为 CSV，也可供 Canvas、Moodle 用"),
    ),
    "report": (WEEKLY, both("what to teach again: numbers of every question and task", "哪些要重讲：每道题的数据")),
    "init": (ONCE, both("make a course folder", "建立课程文件夹")),
    "roster": (
        ONCE,
        both("read who is in the class, and which id each of them types", "读入名单，告诉每人该填哪个 id"),
    ),
    "bundle": (
        ONCE,
        both(
            "one ZIP for the class: lessons, released checkpoints, a way to start; no keys",
            "给班级的一个 ZIP：课、已发布的测验、启动方式；不含答案",
        ),
    ),
    "new-checkpoint": (
        ONCE,
        both("a checkpoint of your own; run again, it checks it", "自己出的测验；再运行一次就是检查"),
    ),
    "author notebooks": (AUTHORS, both("build the notebooks from their sources", "从源文件生成 notebook")),
    "author items": (
        AUTHORS,
        both("all questions on a page; with --check, what to mend", "全部题目一览；加 --check 则列出要改之处"),
    ),
    "author claims": (AUTHORS, both("write docs/claims.md", "生成 docs/claims.md")),
    "author reference": (
        AUTHORS,
        both("write the pages of docs/ that are made from data", "生成 docs/ 里由数据得出的页面"),
    ),
    "author minutes": (AUTHORS, both("count how long each lesson takes", "数一数每课要多少分钟")),
    "author book": (AUTHORS, both("the course as a web site, and book.zip of it", "把课程做成网站，并打包成 book.zip")),
    "author demo": (AUTHORS, both("watch a made-up class being graded", "看评分程序怎样批改一个虚构的班级")),
}
HEAD = both(
    "{program} COMMAND ...   (what a command takes: {program} COMMAND --help; this list in Chinese: --help --language zh)",
    "{program} 命令 ……   （某个命令的用法：{program} 命令 --help）",
)
FOLDER = both(
    "--dir names the course folder; without it, the current folder if that is a course folder, else the one used last.",
    "--dir 指定课程文件夹；不写就用当前文件夹，当前不是课程文件夹时用上次那个。",
)


MOVED = both(
    "What authors need is called with `author` in front: {command}", "课程作者用的命令前面要写 author：{command}"
)


def overview(groups: tuple[str, ...], language: str) -> str:
    """The list of the commands in some of the groups."""
    rows = [pick(HEAD, language).format(program=program())]
    rows += [] if AUTHORS in groups else ["", pick(FOLDER, language)]
    for group in groups:
        named = [(name, words) for name, (of, words) in COMMANDS.items() if of == group]
        rows += ["", pick(GROUPS[group], language), *(f"  {name:<17} {pick(words, language)}" for name, words in named)]
    if AUTHORS not in groups:
        rows += ["", f"{pick(GROUPS[AUTHORS], language)}  {program()} {AUTHORS}"]
    return "\n".join(rows)
