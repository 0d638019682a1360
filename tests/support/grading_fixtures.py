"""A small project of one lesson and one checkpoint, written to a folder: what the authoring and grading tests
run on.
"""

from __future__ import annotations

import functools
from pathlib import Path

import nbgrader.api
import yaml

from grader.project import Project
from tests.support.sources import BOOTSTRAP, code, question, twins

LESSON = "90_fixture"
NOTEBOOK = f"{LESSON}_checkpoint"  # the name of its file, without .ipynb
nbgrader.api.get_alembic_version = functools.cache(nbgrader.api.get_alembic_version)
"""Asked for every new gradebook, and each time a program of its own is started for it, for seconds."""


def both(en: str, zh: str) -> dict[str, str]:
    return {"en": en, "zh": zh}


ITEMS = [
    {
        "id": "90-c-single",
        "lesson": LESSON,
        "concept": "one",
        "kind": "single",
        "points": 2,
        "source": "fixture",
        "stem": both("Which letter is second?", "哪个字母排第二？"),
        "options": [
            {"id": "a", "text": both("the first", "第一个")},
            {"id": "b", "text": both("the second", "第二个")},
            {"id": "c", "text": both("the third", "第三个")},
        ],
    },
    {
        "id": "90-c-multiple",
        "lesson": LESSON,
        "concept": "two",
        "kind": "multiple",
        "points": 2,
        "source": "fixture",
        "stem": both("Which are vowels?", "哪些是元音？"),
        "options": [
            {"id": "a", "text": both("letter a", "字母 a")},
            {"id": "b", "text": both("letter b", "字母 b")},
            {"id": "e", "text": both("letter e", "字母 e")},
            {"id": "z", "text": both("letter z", "字母 z")},
        ],
    },
    {
        "id": "90-c-number",
        "lesson": LESSON,
        "concept": "three",
        "kind": "number",
        "points": 1,
        "source": "fixture",
        "stem": both("How many sides has a triangle?", "三角形有几条边？"),
        "number": {"unit": both("sides", "条边")},
    },
    {
        "id": "90-c-order",
        "lesson": LESSON,
        "concept": "four",
        "kind": "order",
        "points": 2,
        "source": "fixture",
        "stem": both("Put them in order of the alphabet.", "按字母表排序。"),
        "options": [
            {"id": "a", "text": both("x", "x")},
            {"id": "b", "text": both("m", "m")},
            {"id": "c", "text": both("b", "b")},
        ],
    },
]


def _whys(*ids: str) -> dict[str, dict[str, str]]:
    return {i: both(f"The secret reason for option {i} stands here.", f"选项 {i} 的秘密理由写在这里。") for i in ids}


KEYS = {
    "90-c-single": {"correct": ["b"], "why": _whys("a", "b", "c"), "misconception": {"a": "x", "c": "x"}},
    "90-c-multiple": {"correct": ["a", "e"], "why": _whys("a", "b", "e", "z"), "misconception": {"b": "x", "z": "x"}},
    "90-c-number": {
        "number": {"value": 3, "low": 3, "high": 3},
        "why": both("A triangle has three sides by its secret definition.", "按秘密定义，三角形有三条边。"),
    },
    "90-c-order": {"order": ["c", "b", "a"], "why": _whys("a", "b", "c")},
}
for _key in KEYS.values():
    _key["source"] = "fixture"

TASKS = """
from course.core.i18n import both
from course.core.verdict import correct, incorrect, partly
from grader.project.task import Case, Part, Task


def cases(rng):
    typical = [Case("typical", (rng.randint(2, 50), rng.randint(51, 1000))) for _ in range(5)]
    return typical + [Case("edge", (0, 7)), Case("edge", (5, 5))]


def reference(low, high):
    return (high - low) / (high + low)


def judge(report):
    if not isinstance(report, dict) or "median_ms" not in report:
        return incorrect(both("The report has no median.", "报告里没有中位数。"), max_points=3)
    if report.get("repeats", 0) < 5:
        return partly(1, 3, both("Fewer than five repeats.", "重复次数少于五次。"))
    return correct(both("The protocol is sound.", "流程正确。"), points=3)


TASKS = [
    Task(id="90-t-contrast", name="contrast", cases=cases, reference=reference,
         parts={"typical": Part(2, both("Wrong for two different brightnesses.", "两个不同亮度时结果不对。")),
                "edge": Part(1, both("Wrong where one is zero or both equal.", "一零或相等时不对。"))}),
    Task(id="90-t-report", name="report", judge=judge, points=3),
]
"""

CHECKPOINT = (
    twins("# Checkpoint: can you read a small example?", "# 测验：你能读懂一个小例子吗？")
    + BOOTSTRAP
    + question("90-c-single")
    + question("90-c-multiple")
    + twins("## Count and sort", "## 数一数，排一排")
    + question("90-c-number")
    + question("90-c-order")
    + code(
        """def contrast(low: float, high: float) -> float:
    # en: the difference over the sum
    # zh: 差除以和
    ### BEGIN SOLUTION
    difference_of_both = high - low
    return difference_of_both / (high + low)
    ### END SOLUTION""",
        ":task: 90-t-contrast",
    )
    + code(
        """# en: a plain dictionary
# zh: 一个普通字典
### BEGIN SOLUTION
report = {"median_ms": 1.25, "repeats": 7}
### END SOLUTION""",
        ":task: 90-t-report",
    )
)


def _pair(n: int) -> str:
    return twins(
        f"## Step {n} can be seen\nA few words with `code` and **weight**.",
        f"## 第 {n} 步看得见\n几个字，带 `code` 和**重点**。",
    ) + code(f"# en: step {n}\n# zh: 第 {n} 步\nvalue_{n} = {n}")


BET = code('predict("90-bet")')
LESSON_SOURCE = (
    twins("# Why does a fixture exist?", "# 为什么需要一个夹具？")
    + BOOTSTRAP
    + "".join(_pair(n) for n in range(1, 13))
    + BET
    + code("1 / 0", ":tags: [raises-exception]")
)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_project(root: Path) -> Project:
    """Write the fixture project under ``root`` and return it; it passes the lint and the leak scan."""
    project = Project(root)
    write(project.lesson_source(LESSON), LESSON_SOURCE)
    write(project.checkpoint_source(LESSON), CHECKPOINT)
    write(project.checkpoint_items(LESSON), yaml.safe_dump(ITEMS, allow_unicode=True))
    write(project.items(LESSON), yaml.safe_dump([{"id": "90-bet"}]))
    write(project.keys(LESSON), yaml.safe_dump(KEYS, allow_unicode=True))
    write(project.task_module(LESSON), TASKS)
    write(project.items(LESSON).with_name("exercises.yaml"), "90-t-contrast: {}\n90-t-report: {}\n")
    return project
