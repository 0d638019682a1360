"""Experiments of lesson 08 that any machine runs: what torch.backends.mps answers, and what it cannot switch.

Exact errors are data. A Mac is needed by ``experiments_mps*.py`` alone.
"""

from __future__ import annotations

from collections.abc import Callable

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY
from course.i18n import Text, both, t
from course.records import Record
from course.tables import Table, clip

LESSON = "08_mps"
PROBES = "course.lessons.l08_mps.probes"


def with_bet(lines: list[list[str]], marks: dict, mine: str, asked: Callable[[str], bool]) -> Table:
    """The table; where something was bet (``mine`` is not empty) with a last column that says it in the lines ``asked``."""
    if not mine:
        return Table(lines, marks)
    head, *rest = lines
    last = [mine if asked(line[0]) else "" for line in rest]
    with_column = [
        [*head, t("as you bet", "按你押的")],
        *([*line, cell] for line, cell in zip(rest, last, strict=True)),
    ]
    return Table(with_column, marks, [(at, len(head)) for at, cell in enumerate(last) if cell])


# --- 08-who-answers -----------------------------------------------------------------------------------------


ASKED = "backends.mps.is_macos_or_newer(14, 0)"
"""The call the bet is about."""


def _by_code(record: Record) -> dict[str, dict]:
    return {row["code"]: row for row in record.rows}


def headline_who_answers(record: Record) -> Text:
    raised = [row["group"] for row in record.rows if row["kind"] != "value"]
    if "query" in raised:
        return both("Here, even a question about MPS can raise an error.", "在这里，连问一句 MPS 都可能报错。")
    if raised:
        return both(
            "MPS answers every question here; using it raises an error.", "关于 MPS，问什么都有回答，真用起来就报错。"
        )
    return both("Here, every question about MPS gets an answer.", "在这里，关于 MPS 的提问都有回答。")


def say_who_answers(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    raised = [row for row in record.rows if row["kind"] != "value"]
    answered = len(record.rows) - len(raised)
    if not raised:
        return both(
            f"All {answered} calls were answered: this machine has a working MPS device.",
            f"{answered} 次调用都有回答：这台机器有可用的 MPS 设备。",
        )
    kinds = sorted({row["kind"] for row in raised})
    queries = sum(row["group"] == "query" for row in raised)
    return both(
        f"{answered} calls were answered, {len(raised)} raised ({', '.join(kinds)}); "
        f"{queries} of the calls that raised are queries of torch.backends.mps.",
        f"{answered} 次调用有回答，{len(raised)} 次抛出异常（{'、'.join(kinds)}）；"
        f"抛异常的里面有 {queries} 个是 torch.backends.mps 的查询函数。",
    )


def draw_who_answers(record: Record, bets: dict) -> Table:
    """Each call and its answer or error; the bet stands beside the call it is about."""
    lines = [["", t("answer", "回答")]]
    lines += [[row["code"], clip(row["said"]) if row["kind"] == "value" else row["kind"]] for row in record.rows]
    marks = {(at, 1): "told" for at, row in enumerate(record.rows) if row["kind"] != "value"}
    mine = {"a": "False", "b": "RuntimeError", "c": "True"}.get(bets.get("08-bet-ask", ""), "")
    return with_bet(lines, marks, mine, lambda name: name == ASKED)


def settle_who_answers(record: Record) -> dict[str, str | None]:
    row = _by_code(record).get(ASKED)
    if row is None:
        return {"08-bet-ask": None}
    answers = {"False": "a", "RuntimeError": "b", "True": "c"}
    return {"08-bet-ask": answers.get(row["said"] if row["kind"] == "value" else row["kind"])}


@experiment(
    name="08-who-answers",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both("Twelve questions about MPS: who answers, who raises?", "关于 MPS 的十二次提问：谁回答，谁报错？"),
)
def who_answers(budget: Budget) -> list[dict]:
    """Every public query and a few calls, each with its answer or the exact error; in a new process."""
    return rows_of(PROBES, "who_answers")


# --- 08-assignments -----------------------------------------------------------------------------------------


LIAR = "mps.is_available ="
"""How the assignment begins that the bet is about."""


def headline_assignments(record: Record) -> Text:
    ours = [row for row in record.rows if row["code"].startswith("mps.")]
    if not ours:
        return TOO_NOISY
    if any(row["tensor"] != row["tensor_before"] for row in ours):
        return both(
            "An assignment to torch.backends.mps changes what tensors do.",
            "给 torch.backends.mps 赋值，张量的行为真变了。",
        )
    if all(row["accepted"] == "yes" for row in ours):
        return both(
            "torch.backends.mps accepts every assignment, and tensors do as before.",
            "给 torch.backends.mps 赋什么值都行，张量的行为照旧。",
        )
    return both(
        "torch.backends.mps refuses some assignments; tensors do as before.",
        "torch.backends.mps 拒绝了有的赋值，张量的行为照旧。",
    )


def say_assignments(record: Record) -> Text:
    ours = [row for row in record.rows if row["code"].startswith("mps.")]
    if not ours:
        return NOTHING
    accepted = sum(row["accepted"] == "yes" for row in ours)
    query = sum(row["query"] != row["query_before"] for row in ours)
    tensor = sum(row["tensor"] != row["tensor_before"] for row in ours)
    refused = [row["code"] for row in record.rows if row["accepted"] != "yes"]
    more = both("", "")
    if refused:
        more = both(f" Refused: {', '.join(refused)}.", f"被拒绝的：{'、'.join(refused)}。")
    return both(
        f"{accepted} of {len(ours)} assignments to torch.backends.mps were accepted; "
        f"{query} changed the answer of is_available(), {tensor} changed what a tensor can do.{more['en']}",
        f"对 torch.backends.mps 的 {len(ours)} 次赋值，接受了 {accepted} 次；"
        f"其中 {query} 次改变了 is_available() 的回答，{tensor} 次改变了张量能做的事。"
        f"{more['zh']}",
    )


def _effect(row: dict) -> tuple[str, bool]:
    """The tile of a row, and whether it is bright: something else than silence happened."""
    if row["accepted"] != "yes":
        return t(f"refused: {row['accepted']}", f"被拒绝：{row['accepted']}"), True
    if row["tensor"] != row["tensor_before"]:
        return t("accepted, tensors changed", "已接受，张量有变化"), True
    if row["query"] != row["query_before"]:
        return t(f"accepted; only the answer changed: {row['query']}", f"已接受；只有回答变了：{row['query']}"), False
    if row["known_before"] == "yes":
        return t("accepted: a switch that exists", "已接受：确有这个开关"), True
    return t("accepted, nothing happened", "已接受，什么也没发生"), False


def draw_assignments(record: Record, bets: dict) -> Table:
    """Each assignment and what came of it; the bet stands beside the one it is about."""
    effects = [_effect(row) for row in record.rows]
    lines = [["", t("what happened", "结果")]]
    lines += [[row["code"], words] for row, (words, _) in zip(record.rows, effects, strict=True)]
    said = {
        "a": t("tensors change", "张量有变化"),
        "b": t("only the answer changes", "只有回答变了"),
        "c": t("refused", "被拒绝"),
        "d": t("nothing happens", "什么也不发生"),
    }
    marks = {(at, 1): "told" for at, (_, bright) in enumerate(effects) if bright}
    return with_bet(lines, marks, said.get(bets.get("08-bet-liar", ""), ""), lambda name: name.startswith(LIAR))


def settle_assignments(record: Record) -> dict[str, str | None]:
    row = next((row for row in record.rows if row["code"].startswith(LIAR)), None)
    if row is None:
        return {"08-bet-liar": None}
    if row["accepted"] != "yes":
        return {"08-bet-liar": "c"}
    if row["tensor"] != row["tensor_before"]:
        return {"08-bet-liar": "a"}
    return {"08-bet-liar": "b" if row["query"] != row["query_before"] else "d"}


@experiment(
    name="08-assignments",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=6,
    title=both(
        "Assign to torch.backends.mps: what is accepted, and what changes?",
        "给 torch.backends.mps 赋值：接受了什么，改变了什么？",
    ),
)
def assignments(budget: Budget) -> list[dict]:
    """Six inventions and one overwritten query, with two controls, in a process that may be broken."""
    return rows_of(PROBES, "assignments")
