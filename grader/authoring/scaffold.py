"""Make an instructor's own checkpoint in the course directory: a first version that works, for the instructor to change."""

from __future__ import annotations

import json
import re
from pathlib import Path

from course.questions.variant_lint import SEEDS
from grader.authoring.lint import lint
from grader.authoring.worth import MARK
from grader.project import Project, ProjectError
from grader.project.source import BOOTSTRAP, FRONT_MATTER

NAME = re.compile(r"\d\d_[a-z0-9_]+")
TITLE = ("say what is asked here", "在这里写它问什么")
SOURCE = {
    "en": f"# Checkpoint {{number}}: {TITLE[0]}\n\n{MARK} **Save the notebook** before you hand it in.",
    "zh": f"# 测验 {{number}}：{TITLE[1]}\n\n{MARK}交卷前请**保存 notebook**。",
}
TWO = {
    "en": "## Write, and say why\n\nOne function, then a few sentences.",
    "zh": "## 写一写，说明理由\n\n先写一个函数，再写几句话。",
}
STEMS = {
    "first": ("The first question of your own?", "你自己的第一道题？"),
    "second": ("The second question of your own?", "你自己的第二道题？"),
}
DRAWS = (
    "{{images}} images in batches of {{batch}}: how many batches are there, the last one included?",
    "{{images}} 张图，每个 batch {{batch}} 张：一共有几个 batch（包括最后一个）？",
)
UNIT = ("batches", "个 batch")
TRAP = ("The images that are left over make a batch, too.", "剩下的图片也是一个 batch。")
DROPPED = ("the last small batch is dropped", "最后那个小 batch 会被丢掉")
COUNTED = ("{{full}} full batches, and one with the rest.", "{{full}} 个满的 batch，再加剩下的一个。")
YES, NO, WHY = ("This is right.", "这个对。"), ("This is not.", "这个不对。"), ("Say here why.", "在这里说明原因。")
BELIEF = ("the belief that leads to this answer", "会让人选它的误解")
TASK = {"en": "en: Give back the sum of the values, 0 for none.", "zh": "zh: 返回这些值的和；没有值时返回 0。"}
ESSAY = {
    "en": "**In your own words.** Would you switch `benchmark` on for your own work? Give a reason and what you would measure.\n\n"
    "Criteria: a reason of your own (1), a measurement that could prove it wrong (2), clear words (1).",
    "zh": "**用你自己的话。** 在你自己的工作里，会打开 `benchmark` 吗？说明理由，以及你会测量什么。\n\n"
    "评分标准：自己的理由（1 分），能证伪它的测量（2 分），表述清楚（1 分）。",
}
SOLUTION = "def total_of(values):\n    ### BEGIN SOLUTION\n    return sum(values)\n    ### END SOLUTION"
TASKS = '''"""The hidden tasks of checkpoint {number}: inputs are drawn at grading time and compared with the reference."""

from grader.project.task import Case, Task, parts_beside


def cases(rng):
    drawn = [Case("typical", ([rng.randint(-9, 9) for _ in range(rng.randint(2, 6))],)) for _ in range(6)]
    return [*drawn, Case("edge", ([],)), Case("edge", ([rng.randint(1, 9)],))]


def reference(values):
    return sum(values)


PARTS = parts_beside(__file__)  # tasks.yaml: points, and what a student reads where a part is not right
TASKS = [
    Task(id="{number}-t-sum", name="total_of", cases=cases, reference=reference, parts=PARTS["{number}-t-sum"]),
]
'''
PARTS = """{number}-t-sum:
  typical:
    points: 3
    reason: {typical}
  edge:
    points: 1
    reason: {edge}
"""
TYPICAL = ("The sum of several values is wrong.", "多个值的和不对。")
EDGE = ("No value, or a single one, is wrong.", "没有值或只有一个值时不对。")
QUESTION = """- id: {number}-c-{which}
  concept: {which}
  kind: single
  points: 2
  source: your own
  stem: {stem}
  options:
    - {{id: a, text: {yes}}}
    - {{id: b, text: {no}}}
"""
DRAWN_QUESTION = """- id: {number}-c-draws
  concept: draws
  kind: number
  points: 2
  draw:                                        # every student gets other numbers
    images: {{from: 1000, to: 1900, step: 100}}  #   one of 1000, 1100, ... 1900
    batch: [24, 32, 48, 64, 96]                #   one of these
  where: ["images % batch > 0"]                # drawn again until this holds
  stem: {stem}
  number: {{unit: {unit}}}
"""
DRAWN_KEY = """{number}-c-draws:
  let: {{full: "images // batch"}}               # a formula with a name
  number:
    value: "ceil(images / batch)"              # the right number, as a formula of what is drawn
    traps:                                     # wrong numbers that stand for a way of thinking
      - low: "full"
        high: "full"
        why: {trap}
        misconception: "{dropped}"                # a sentence, or an id of a list (misconceptions.yaml)
  why: {counted}
  source: your own
  verify: |                                    # computes the number in another way; run when you check
    result = len(range(0, images, batch))
"""
KEY = """{number}-c-{which}:
  correct: [a]
  why: {{a: {why}, b: {why}}}
  misconception: {{b: "{belief}"}}
  source: your own
"""


def new_checkpoint(project: Project, name: str, languages: tuple[str, ...]) -> tuple[Path, list[str]]:
    """Make ``checkpoints/lNAME`` unless it exists; returns (the folder, findings of the linter). Raises ProjectError."""
    if not NAME.fullmatch(name):
        raise ProjectError(
            f"{name!r}: two digits, an underscore, small letters, such as 50_our_cluster; the digits begin the ids of its questions"
        )
    if project.own_folder(name) is None:
        taken = [one for one in {*project.checkpoints(), *project.lessons()} if one[:2] == name[:2]]
        if taken:
            raise ProjectError(f"{name!r}: {taken[0]} has these digits already; take others, such as 50 to 99")
        _write(project.own / f"l{name}", name, languages)
    return project.own / f"l{name}", lint(project, name, SEEDS, run=True)


def left_over(project: Project, name: str) -> list[str]:
    """A sentence for each file of an own checkpoint in which texts of the first version are left."""
    folder, said = project.own_folder(name), []
    words = [*TITLE, *YES, *NO, *WHY, *DRAWS, *(word for stem in STEMS.values() for word in stem), *BELIEF]
    for path in (folder / "checkpoint.md", folder / "checkpoint.yaml", folder / "keys.yaml") if folder else ():
        rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [number for number, row in enumerate(rows, 1) if any(word in row for word in words)]
        if found:
            said.append(
                f"STILL THE TEMPLATE'S WORDS: {path}, line {', '.join(map(str, found))}; students would read them"
            )
    return said


def _write(folder: Path, name: str, languages: tuple[str, ...]) -> None:
    number, both, chinese = name[:2], len(languages) > 1, languages[0] == "zh"

    def prose(texts: dict[str, str], **more: str | int) -> str:
        cells = (f"\n+++ {json.dumps({'lang': one, **more})}\n\n{texts[one]}\n" for one in languages)
        return "".join(cells).replace("{number}", number)

    def code(body: str, option: str = "") -> str:
        return f"\n```{{code-cell}} ipython3\n{option}{body}\n```\n"

    def text(en: str, zh: str) -> str:
        return f'{{en: "{en}", zh: "{zh}"}}' if both else f'"{en if languages[0] == "en" else zh}"'

    source = (
        FRONT_MATTER
        + prose(SOURCE)
        + code(BOOTSTRAP)
        + "".join(code(f'question("{number}-c-{which}")') for which in (*STEMS, "draws"))
        + prose(TWO)
        + code("".join(f"# {TASK[one]}\n" for one in languages) + SOLUTION, f":task: {number}-t-sum\n\n")
        + prose(ESSAY, essay=f"{number}-e-why", points=4)
    )
    items = "".join(
        QUESTION.format(number=number, which=one, stem=text(*stem), yes=text(*YES), no=text(*NO))
        for one, stem in STEMS.items()
    )
    items += DRAWN_QUESTION.format(number=number, stem=text(*DRAWS), unit=text(*UNIT))
    keys = "".join(KEY.format(number=number, which=one, why=text(*WHY), belief=BELIEF[chinese]) for one in STEMS)
    keys += DRAWN_KEY.format(number=number, trap=text(*TRAP), dropped=DROPPED[chinese], counted=text(*COUNTED))
    folder.mkdir(parents=True, mode=0o700)
    for file, content in (
        ("checkpoint.md", source),
        ("checkpoint.yaml", items),
        ("keys.yaml", keys),
        ("tasks.py", TASKS.format(number=number)),
        ("tasks.yaml", PARTS.format(number=number, typical=text(*TYPICAL), edge=text(*EDGE))),
    ):
        (folder / file).write_text(content, encoding="utf-8")
