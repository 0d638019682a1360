"""`COMMAND --help` in Chinese: the English help of every option, and what it is called in Chinese."""

from __future__ import annotations

import argparse

HEADS = {"positional arguments": "参数", "options": "选项"}
CHINESE = {
    "show this help message and exit": "显示这段说明",
    "the course directory (default: here, else the one used last)": (
        "课程文件夹（默认：当前文件夹，否则是上次用的那个）"
    ),
    "such as 05_cudnn_benchmark": "例如 05_cudnn_benchmark",
    "such as 05_cudnn_benchmark (default: found out from the notebooks)": (
        "例如 05_cudnn_benchmark（默认：从 notebook 里认出来）"
    ),
    "write nothing; fail unless everything is in step": "什么都不写；有一处对不上就算失败",
    "one lesson, such as 05_cudnn_benchmark": "只做这一课，例如 05_cudnn_benchmark",
    "default build/book": "默认 build/book",
    "only this lesson; may be given several times": "只做这一课；可写多次",
    "default: the course's": "默认：课程的语言",
    # release, autograde, feedback
    'such as "2026-12-01 23:59 Europe/Berlin"; late.yaml has the rules': (
        "例如 “2026-12-01 23:59 Asia/Shanghai”；迟交规则写在 late.yaml 里"
    ),
    "for whom questions count that came after the first submission": "有人交过之后才加的题，对谁计分",
    "questions may go although they are marked": "已经批改过的题也允许去掉",
    "prepare it only: neither the exchange nor a bundle holds it until it is released without this": (
        "只准备好：再运行一次、不加这一项之前，exchange 和 bundle 里都没有它"
    ),
    "a notebook for each student of the gradebook, the id in it; implies --hold": (
        "给成绩册里每个学生各做一个 notebook，学号已填好；同时相当于 --hold"
    ),
    "also a checkpoint of your own in which words of the template are left": "自己的测验里还留着模板的字样也发布",
    "also while somebody may still hand in": "还有人可以交的时候也做",
    "this student only; may be given several times": "只处理这个学生；可写多次",
    "also mark what is up to date": "没有变化的也重新批改",
    "mark a submission as it is that was held back; you have looked at it": "你已看过这份暂缓评分的作业：按原样批改",
    "processes on this machine (default: as many as it has cores)": "本机开几个进程（默认：有几个核就开几个）",
    "a Dask scheduler instead, such as tcp://host:8786": "改用 Dask 调度器，例如 tcp://host:8786",
    "for --cluster tls://...: the cluster's certificate authority": "配合 --cluster tls://……：集群的 CA 证书",
    "for --cluster tls://...: our certificate": "配合 --cluster tls://……：我方证书",
    "for --cluster tls://...: our private key": "配合 --cluster tls://……：我方密钥",
    "run student code with your own rights; only for submissions you trust": (
        "用你自己的权限运行学生的代码；只用于你信得过的作业"
    ),
    # init, roster, import, grade, give-back
    "where assignments are handed out (default: DIR/exchange)": "在哪里发布作业（默认：DIR/exchange）",
    "the platform's participants, grading worksheet or gradebook, as CSV": "平台导出的名单、评分表或成绩册（CSV）",
    "the platform's ZIP, or a folder": "平台下载的 ZIP，或一个文件夹",
    "default: told by the names; plain: a folder or file for each, by id, mail or name": (
        "默认：从文件名判断；plain：每个学生一个文件夹或文件，以学号、邮箱或姓名命名"
    ),
    "default: told by the names in the ZIP": "默认：从 ZIP 里的文件名判断",
    "who is who; default: as for import": "名单：谁是谁；默认和 import 一样",
    "who is who: the platform's participants, grading worksheet or gradebook (default: "
    "roster.csv in the course directory, where there is one)": (
        "名单：平台导出的参与者、评分表或成绩册（默认用课程文件夹里的 roster.csv，如果有）"
    ),
    "whose a submission is that the roster does not tell, or a file with such lines; may be given several times": (
        "名单认不出的作业是谁的，或者一个写着这种行的文件；可写多次"
    ),
    "as for import": "和 import 一样",
    "feedback also while somebody may still hand in": "还有人可以交的时候也发反馈",
    "default: feedback-LESSON-PLATFORM.zip in the course directory": "默认：课程文件夹里的 feedback-课-平台.zip",
    # export, late, regrade
    "default: grades.csv in the course directory, grades-FORMAT.csv for Canvas and Moodle": (
        "默认：课程文件夹里的 grades.csv；Canvas、Moodle 则是 grades-格式.csv"
    ),
    "also one row for each student and graded cell": "另写一份：每个学生、每个评分单元格一行",
    "who is who: a gradebook exported by Canvas, participants of Moodle, or either with a column student_id": (
        "名单：Canvas 导出的成绩册、Moodle 的参与者，或者任一种加上 student_id 一列"
    ),
    "this checkpoint only; may be given several times": "只导出这个测验；可写多次",
    'the name of its column there, such as "05_cudnn_benchmark=Checkpoint 5 (4711)"': (
        "它在平台上的列名，例如 “05_cudnn_benchmark=Checkpoint 5 (4711)”"
    ),
    "where the assignment there has other points: multiply the marks, do not refuse": (
        "平台上的满分不同时：按比例换算，而不是拒绝"
    ),
    "only say who loses how much, and change nothing": "只说谁会扣多少分，什么都不改",
    "mark all again and show what would change (the default)": "全部重批，列出会变的分数（默认）",
    "write exactly what the last --diff showed": "把上次 --diff 列出的内容原样写入",
    # report, class
    "the page (default: report-LESSON.html in the course directory)": "网页（默认：课程文件夹里的 report-课.html）",
    "the page (default: class.html in the course directory)": "网页（默认：课程文件夹里的 class.html）",
    "the numbers, too": "同时写出数据",
    "name the students without a grade; then show it to nobody else": (
        "写出没有成绩的学生姓名；这样的报告别给其他人看"
    ),
    # bundle, demo, new-checkpoint
    "the course directory whose released checkpoints go in (default: none, lessons only)": (
        "放进哪个课程文件夹里已发布的测验（默认：不放，只有课）"
    ),
    "the folder it is written into (default: build/bundle)": "写到哪个文件夹（默认：build/bundle）",
    "made anew, unless the same was stopped there": "重新建；上次没做完的会接着做",
    "1 to 30 (default: 10)": "1 到 30（默认 10）",
    "this checkpoint; may be given several times (default: 01_map and 05_cudnn_benchmark)": (
        "只做这个测验；可写多次（默认 01_map 和 05_cudnn_benchmark）"
    ),
    "such as 50_our_cluster": "例如 50_our_cluster",
    # items
    ".html or .md": ".html 或 .md",
    "also the keys of checkpoint questions: for instructors": "连测验题的答案一起写：给教师看",
    "of the headings; texts come in both": "标题用哪种语言；正文两种都有",
    "instead of the page: look through this file of questions, or through all of them, and run "
    "their verify snippets": "不做网页：检查这个题目文件（或全部题目），并运行其中的 verify 代码",
}


def in_chinese(parser: argparse.ArgumentParser) -> None:
    """Give every option of a command its Chinese help, and the page its Chinese headings."""
    for group in parser._action_groups:  # argparse has no public way to its headings
        group.title = HEADS.get(group.title or "", group.title)
    for action in parser._actions:
        action.help = CHINESE.get(action.help or "", action.help)
