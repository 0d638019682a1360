"""A new question as a commented YAML template, and the line of a draft at which a fault stands."""

from __future__ import annotations

import re

import yaml

HEAD = """# A new question. Fill it in, then run the same command again: it checks every line and puts the question
# into its lesson's folder. Texts are given in both languages; `code in backticks` and **bold** work.

id: "{number}-change-me"       # the lesson's number, then small letters, digits and hyphens; it never changes again
lesson: {lesson}
kind: {kind}                   # single | multiple | number | order | predict (a bet)
concept: what-it-is-about      # cards about one concept are not shown in a row
difficulty: medium             # easy | medium | hard
asks: why                      # why | what; at least a third of a lesson asks why
source: "a page of the documentation, a file of PyTorch, or experiment {number}-..."
{extra}stem:
  en: "The question, understood at first reading."
  zh: "题干，读一遍就懂。"
# code: |                      # shown under the question, optional
#   torch.backends.cudnn.benchmark = True
"""
OPTIONS = """options:                       # the right one is not the longest; no "all of the above"
  - id: a
    text: {en: "A tempting answer", zh: "一个诱人的答案"}
    why:                       # why it is tempting, and what tells it from the truth
      en: "Tempting, because ... But ..."
      zh: "很容易这么想，因为……可是……"
    misconception: async-timer # the belief it states, from misconceptions.yaml; leave the line out if it states none
  - id: b
    text: {en: "The right answer", zh: "正确答案"}
    correct: true
    why: {en: "Because ...", zh: "因为……"}
  - id: c
    text: {en: "Another tempting answer", zh: "另一个诱人的答案"}
    why: {en: "Tempting, because ... But ...", zh: "很容易这么想，因为……可是……"}
    misconception: async-timer
"""
NUMBER = """number:
  value: 3                     # the right number; accepted from low to high, or within `factor: 2`
  low: 2.99
  high: 3.01
  unit: {en: ms, zh: ms}
  why: {en: "How it is computed.", zh: "怎么算出来的。"}
  # traps:                     # typical wrong numbers, each with its reason
  #   - {low: 41, high: 41, why: {en: "...", zh: "……"}, misconception: async-timer}
"""
ORDER = """order: [b, a]                  # the ids of the lines in the right order; those left out do not belong
options:
  - id: a
    text: {en: "`second line`", zh: "`第二行`"}
    why: {en: "Why it stands here.", zh: "为什么放在这里。"}
  - id: b
    text: {en: "`first line`", zh: "`第一行`"}
    why: {en: "Why it stands here.", zh: "为什么放在这里。"}
  - id: c
    text: {en: "`a line too many`", zh: "`多余的一行`"}
    why: {en: "Why it does not belong.", zh: "为什么是多余的。"}
    misconception: async-timer
"""
VERIFY = """# verify: |                    # where a CPU can compute the key: leave it in `result`; the tests run it
#   result = ["b"]
"""
BODIES = {
    "single": OPTIONS,
    "multiple": OPTIONS,
    "predict": OPTIONS.replace("    correct: true\n", ""),
    "number": NUMBER,
    "order": ORDER,
}


def template(lesson: str, kind: str, checkpoint: bool) -> str:
    """The commented template of a question of this kind; one for a checkpoint carries its key until it is added."""
    extra = (
        "checkpoint: true               # it counts; its key is kept apart from what students get\npoints: 1\n"
        if checkpoint
        else ""
    )
    if kind == "predict":
        extra += f'experiment: "{lesson[:2]}-..."        # the experiment that decides the bet\n'
    number = f"{lesson[:2]}-c" if checkpoint else lesson[:2]
    return HEAD.format(number=number, lesson=lesson, kind=kind, extra=extra) + BODIES[kind] + VERIFY


def placed(text: str, sentence: str) -> str:
    """A sentence about a field of a draft, with the line at which that field stands in its text."""
    field = re.search(r"field ([\w.\[\]]+)", sentence)
    line = _line(yaml.compose(text, Loader=yaml.SafeLoader), re.findall(r"\w+", field.group(1))) if field else None
    return sentence if line is None else f"line {line}: {sentence}"


def _line(node: yaml.Node | None, way: list[str]) -> int | None:
    """The line of the deepest node on the way that exists; list entries are named by their id."""
    for step in way:
        below = None
        if isinstance(node, yaml.MappingNode):
            below = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode):
            below = next(
                (
                    entry
                    for entry in node.value
                    if any(key.value == "id" and value.value == step for key, value in getattr(entry, "value", ()))
                ),
                None,
            )
        if below is None:
            break
        node = below
    return None if node is None else node.start_mark.line + 1
