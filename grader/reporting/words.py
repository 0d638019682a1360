"""The sentences of a report in both languages: what to teach again, and what each number means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course.i18n import Text, both

Data = dict[str, Any]
EASY = 0.85  # if even the hardest cell has this share of points, nothing needs to be taught again
SURE_RIGHT = 0.7  # with a lower share of right answers among "certain" ones, the report says so
SKIPPED = 0.2

DISCRIMINATION = {
    "few": both("too few submissions to say", "提交太少，无法判断"),
    "constant": both("everyone got the same here", "所有人得分相同"),
    "unclear": both("cannot be told from chance", "与偶然无法区分"),
    "backwards": both(
        "BACKWARDS: students who do well elsewhere do worse here; check the key and the wording",
        "反向：其他题做得好的人这里反而差；请检查答案和题面",
    ),
    "weak": both("goes with the rest, weakly", "与其余部分有弱关联"),
    "strong": both("separates well: students who know the rest know this", "区分度好：其余部分掌握的人这里也掌握"),
}
CONFIDENCE = {1: both("a guess", "猜的"), 2: both("fairly sure", "比较有把握"), 3: both("certain", "很确定")}


@dataclass(frozen=True)
class Advice:
    """A sentence on what to teach again. reason: a code; about: the question, task or belief that it names."""

    reason: str
    text: Text
    about: str = ""


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def teach_again(found: Data) -> list[Advice]:
    """Three sentences: the hardest question or task, the most frequent false belief, and one more finding."""
    if not found["counted"]:
        return [
            Advice("nobody", both("No marked submission with an answer is there yet.", "还没有已评分且作答的提交。"))
        ]
    if not weighed(found):
        said = both("No question or task handed in here is worth points.", "交上来的内容里没有计分的题目或任务。")
        return [Advice("no-points", said)]
    return [_hardest(found), _belief(found), _else(found)]


def weighed(found: Data) -> list[Data]:
    """The questions and tasks that are worth points. The others have no share of points."""
    return [cell for cell in found["cells"] if cell["top"]]


def _hardest(found: Data) -> Advice:
    cells = sorted(weighed(found), key=lambda cell: cell["facility"]["share"])
    worst, n = cells[0], found["counted"]
    share, low, high = (percent(worst["facility"][name]) for name in ("share", "low", "high"))
    if worst["facility"]["share"] >= EASY:
        return Advice(
            "nothing-hard",
            both(
                f"No question or task needs to be taught again: the lowest, `{worst['id']}`, still got {share} of its points.",
                f"没有哪道题需要重讲：得分率最低的 `{worst['id']}` 也有 {share}。",
            ),
            worst["id"],
        )
    near = [f"`{cell['id']}`" for cell in cells[1:] if cell["facility"]["share"] < min(worst["facility"]["high"], EASY)]
    tail = both("", "")
    if near:
        others = " and ".join(near) if len(near) < 3 else f"{len(near)} others"
        tail = both(
            f"; {others} cannot be told from it",
            f"；{'、'.join(near) if len(near) < 3 else f'另有 {len(near)} 处'}与它难分高下",
        )
    few = both(" With so few submissions this is a hint, no more.", "提交太少，仅供参考。") if n < 5 else both("", "")
    wrong = _usual_mistake(worst, worst["facility"]["n"])
    return Advice(
        "hardest",
        both(
            f"Start with `{worst['id']}`: the class got {share} of its points (95 % interval {low} to {high}){tail['en']}."
            + wrong["en"]
            + few["en"],
            f"先讲 `{worst['id']}`：全班得分率 {share}（95% 区间 {low} 到 {high}）{tail['zh']}。"
            + wrong["zh"]
            + few["zh"],
        ),
        worst["id"],
    )


def _usual_mistake(cell: Data, n: int) -> Text:
    """A sentence on the most frequent wrong answer, if at least two students gave it; "" for orders and tasks."""
    rows = {"number": cell.get("numbers", ()), "single": cell.get("options", ()), "multiple": cell.get("options", ())}
    wrong = [row for row in rows.get(cell["kind"], ()) if not row["right"] and "others" not in row]
    first = max(wrong, key=lambda row: row["count"], default=None)
    if first is None or first["count"] < 2:
        return both("", "")
    text = _two(cell["unit"] if cell["kind"] == "number" else first["text"])
    number = f"{first['value']:.10g} " if cell["kind"] == "number" else ""
    return both(
        f" The wrong answer given most, by {first['count']} of {n}: “{number}{text['en']}”.",
        f"最常见的错误答案（{n} 人中 {first['count']} 人）：“{number}{text['zh']}”。",
    )


def _two(text: Text | str) -> Text:
    return both(text, text) if isinstance(text, str) else text


def remedy(belief: Data) -> Text:
    """A sentence on what helps against a belief: an experiment to bet on, questions to practise. Empty where there is none."""
    shown = [f'`observe("{name}")`' for name in belief["experiments"]]
    asked = ", ".join(f'"{name}"' for name in belief["practice"])
    said = both("", "")
    if shown:
        said = both(
            f"Let the class bet, then run {' or '.join(shown)}.", f"先让全班下注，再运行 {' 或 '.join(shown)}。"
        )
    if asked:
        said = both(f"{said['en']} To practise: `review({asked})`.".strip(), f"{said['zh']}练习：`review({asked})`。")
    return said


def _belief(found: Data) -> Advice:
    if not found["beliefs"] or found["beliefs"][0]["holds"] < 2:
        return Advice(
            "no-belief",
            both(
                "No false belief shows in the answers of more than one student.",
                "没有哪个误解出现在不止一名学生的答案里。",
            ),
        )
    first = found["beliefs"][0]
    text, meet = _two(first["text"]), remedy(first)
    places = [f"`{cell}`" for cell in first["cells"]]
    return Advice(
        "belief",
        both(
            f"The false belief most alive, in {first['holds']} of {first['n']} students ({', '.join(places)}): "
            f"“{text['en']}” {meet['en']}".strip(),
            f"最普遍的误解，{first['n']} 人中有 {first['holds']} 人（{'、'.join(places)}）：“{text['zh']}”{meet['zh']}",
        ),
        first["id"],
    )


def _else(found: Data) -> Advice:
    for cell in found["cells"]:
        if cell["discrimination"]["words"] == "backwards":
            return Advice(
                "backwards",
                both(
                    f"Before that, look at the key and the wording of `{cell['id']}`: students who do well elsewhere do worse there.",
                    f"在此之前，请检查 `{cell['id']}` 的答案和题面：其他题做得好的人在这里反而差。",
                ),
                cell["id"],
            )
    sure = next((row for row in found["confidence"] if row["level"] == 3), None)
    if sure and sure["n"] >= 5 and sure["share"] < SURE_RIGHT:
        return Advice(
            "certain-and-wrong",
            both(
                f"Of the {sure['n']} answers given as certain only {percent(sure['share'])} were right: let the class bet again.",
                f"{sure['n']} 个“很确定”的答案里只有 {percent(sure['share'])} 正确：让全班再下一次注。",
            ),
        )
    left = max(found["cells"], key=lambda cell: cell["not_attempted"])
    asked = left["facility"]["n"]  # where every student has another paper, those who had this question
    if left["not_attempted"] >= max(2, SKIPPED * asked):
        return Advice(
            "skipped",
            both(
                f"`{left['id']}` was not attempted by {left['not_attempted']} of {asked}: ask why before you teach it.",
                f"{asked} 人中有 {left['not_attempted']} 人没有做 `{left['id']}`：先问清原因再讲。",
            ),
            left["id"],
        )
    parts = [
        (part["share"], cell["id"], part) for cell in found["cells"] for part in cell.get("parts", ()) if part["n"]
    ]
    if parts and (worst := min(parts, key=lambda row: row[0]))[0] < EASY:
        text = _two(worst[2]["reason"])
        return Advice(
            "weakest-part",
            both(
                f"Of the code, the weakest part is in `{worst[1]}`, right for {percent(worst[0])}: “{text['en']}”",
                f"代码里最弱的一处在 `{worst[1]}`，正确率 {percent(worst[0])}：“{text['zh']}”",
            ),
            worst[1],
        )
    return Advice("nothing-else", both("Nothing else stands out.", "此外没有突出之处。"))


NOTES = (
    both(
        "Shares of points count every submission with a grade in which anything was attempted; "
        "what was left out counts as 0, what a copy was handed out without, "
        "and questions whose answer sheet is missing, do not count. "
        "Marks given by hand count as given; late points are not taken off here.",
        "得分率统计所有已评分且有作答的提交；没做的按 0 分算，发下去的版本里还没有的题不算，缺了答题卡的题目也不算。"
        "人工评分照算，迟交扣分不计入。",
    ),
    both(
        "Intervals are Wilson's, 95 %, and take the class as a sample of classes like it. "
        "With partial credit they are wider than need be.",
        "区间是 95% 的 Wilson 区间，把这个班看作同类班级的一个样本。有部分得分时，区间会偏宽。",
    ),
    both(
        "“Goes with the rest” is the correlation with the points of all other cells (corrected item-total; "
        "point-biserial for right or wrong). "
        "It is said in words only where its 95 % interval excludes 0 and there are at least 10 submissions.",
        "“与其余部分的关联”是与其他所有题目得分的相关（校正的题目-总分相关，对错题即点二列相关）；"
        "只有当 95% 区间不含 0 且提交不少于 10 份时才下结论。",
    ),
    both(
        "A wrong option stands for a belief because its author wrote it so; one answer is a sign, not a diagnosis.",
        "错误选项代表哪种误解，是出题人的设定；一次作答只是迹象，不是诊断。",
    ),
)
TIME_NOTE = both(
    "From a student's first recorded answer to the last one. "
    "Breaks are in it; reading before the first answer and all the code are not. "
    "It is a time on the calendar, not effort.",
    "从学生第一次记录作答到最后一次。其中包含休息，不包含第一次作答前的阅读，也不包含写代码。它是日历时间，不代表投入。",
)

PAGE = {
    "title": both("Checkpoint {lesson}", "测验 {lesson}"),
    "counted": both("{counted} of {handed_in} submissions counted", "{handed_in} 份提交中统计了 {counted} 份"),
    "no_grade": both("without a grade: {n}", "没有成绩：{n}"),
    "blank": both("handed in with nothing attempted, left out below: {n}", "交了但什么都没做，下面不统计：{n}"),
    "manual": both("marks given by hand: {n}", "人工评分：{n} 处"),
    "median": both(
        "half of the class has at least {median} of {top:g} points", "一半学生至少得到 {top:g} 分中的 {median}"
    ),
    "teach": both("What should I teach again?", "哪些需要重讲？"),
    "overview": both("How hard was each question and task?", "每道题有多难？"),
    "facility": both("share of points", "得分率"),
    "interval": both("95 % interval", "95% 区间"),
    "rest": both("goes with the rest?", "与其余部分的关联"),
    "skipped": both("not attempted", "未作答"),
    "full": both("full points", "满分人数"),
    "cell": both("question or task", "题目"),
    "idle": both("handed in nothing: {n}", "没有交：{n}"),
    "lost": both("without an answer sheet, so not counted for the questions: {n}", "答题卡缺失，题目部分不计入：{n}"),
    "without": both(
        "Came with a later release: {without} of the {counted} counted copies did not have it, and are left out here.",
        "这题是后来发布时才加的：统计的 {counted} 份里，有 {without} 份还没有它，这里不计入。",
    ),
    "unasked": both(
        "came with a later release, in none of the copies counted: {cells}",
        "后来发布时才加、统计的提交里都还没有：{cells}",
    ),
    "for nothing": both("worth nothing", "不计分"),
    "points": both("{top:g} points", "{top:g} 分"),
    "point": both("1 point", "1 分"),
    "totals": both("Totals: students by share of all points", "总分分布：按得分率的学生人数"),
    "beliefs": both("False beliefs alive", "仍然存在的误解"),
    "no_beliefs": both("No answer stands for a known false belief.", "没有答案对应已知的误解。"),
    "belief": both("belief", "误解"),
    "holds": both("students", "学生"),
    "where": both("seen in", "出现在"),
    "several": both("{n} in more than one answer", "{n} 人不止一处"),
    "each": both("Each question", "逐题"),
    "option": both("option", "选项"),
    "chosen": both("chosen", "选择人数"),
    "stands": both("what it stands for", "代表什么"),
    "right": both("right", "正确"),
    "elsewhere": both("their points elsewhere", "他们其余题目的得分"),
    "answer": both("answer", "答案"),
    "varies": both(
        "Every student had other numbers. Each answer is put to the number that it corresponds to in the variant shown here.",
        "每个学生的数字都不同。这里把每个答案换算成所示变体中与之对应的数字。",
    ),
    "others": both("{n} other numbers", "其他 {n} 个数字"),
    "none": both("no answer", "未作答"),
    "order": both("order", "顺序"),
    "part": both("part, with the sentence students get", "部分（及学生看到的说明）"),
    "part_right": both("right for", "正确率"),
    "changed": both(
        "{n} of {known} changed their answer; half of them within {minutes} minutes of the first",
        "{known} 人中有 {n} 人改过答案；其中一半在首次作答后 {minutes} 分钟内",
    ),
    "unchanged": both("none of {known} with a history changed the answer", "有记录的 {known} 人都没有改过答案"),
    "sure": both("Does confidence tell?", "把握程度准不准？"),
    "no_sure": both("Nobody stated a confidence.", "没有人填写把握程度。"),
    "said": both("said", "自评"),
    "answers": both("answers", "答案数"),
    "were_right": both("right", "正确"),
    "sure_note": both(
        "Several answers of one student are not independent; the intervals treat them as if they were.",
        "同一学生的多个答案并不独立，而区间按独立计算。",
    ),
    "time": both("Time", "时间"),
    "spent": both(
        "half of the {n} students took between {low} and {high} minutes, the middle one {middle}",
        "{n} 名学生中一半用了 {low} 到 {high} 分钟，中位数 {middle} 分钟",
    ),
    "no_time": both("No submission carries a history of answers.", "没有提交带有作答历史。"),
    "who": both("Without a grade", "没有成绩的学生"),
    "who_idle": both("Handed in nothing", "没有交的学生"),
    "nobody": both("nobody", "无"),
    "ask_names": both("Names are shown with --names.", "加上 --names 才显示姓名。"),
    "how": both("How to read the numbers", "如何解读这些数字"),
}
