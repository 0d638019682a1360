"""Experiments of lesson 07 about the tree of precision switches: who inherits, what mixing does, what changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.words import NOTHING, TOO_NOISY, word
from course.i18n import Text, both, t
from course.lessons.l07_precision.experiments import LESSON
from course.records import Record
from course.tables import SAME, Table

PROBES = "course.lessons.l07_precision.probes"
FRESH = both("new processes", "新进程")


# --- 07-tree ------------------------------------------------------------------------------------------------

LEAVES = ("cudnn.conv", "cudnn.rnn", "cuda.matmul", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")
TF32_BET = {"a": (0, 0, 0), "b": (1, 1, 0), "c": (0, 0, 1), "d": (1, 1, 1)}
"""What each option says of the first three leaves: whether TF32 is allowed there."""


def _after(record: Record, label: str) -> dict[str, str]:
    return {row["node"]: row["after"] for row in record.rows if row["set"] == label}


def _labels(record: Record) -> list[str]:
    return list(dict.fromkeys(row["set"] for row in record.rows))


def headline_tree(record: Record) -> Text:
    if not _after(record, "nothing"):
        return TOO_NOISY
    return {
        "a": both("By default, PyTorch allows TF32 nowhere on the GPU.", "默认设置下，GPU 上哪里都不允许用 TF32。"),
        "b": both(
            "By default, PyTorch allows TF32 in convolutions, not in matrix products.",
            "默认允许卷积用 TF32，矩阵乘不允许。",
        ),
        "c": both(
            "By default, PyTorch allows TF32 in matrix products, not in convolutions.",
            "默认允许矩阵乘用 TF32，卷积不允许。",
        ),
        "d": both(
            "By default, PyTorch allows TF32 in all three kinds of GPU operations.",
            "默认设置下，这三类 GPU 运算都允许用 TF32。",
        ),
    }.get(
        settle_tree(record)["07-bet-default"] or "",
        both(
            "By default, PyTorch allows TF32 in some GPU operations only.", "默认设置下，只有部分 GPU 运算允许用 TF32。"
        ),
    )


def say_tree(record: Record) -> Text:
    start = _after(record, "nothing")
    if not start:
        return NOTHING
    on = [leaf for leaf in LEAVES if start[leaf] == "tf32"]
    root = {row["node"] for row in record.rows if row["set"] == "fp32_precision = ieee" and row["after"] == "ieee"}
    kept = _after(record, "cudnn.conv = ieee, fp32_precision = tf32").get("cudnn.conv")
    missed = [leaf for leaf in LEAVES if root and leaf not in root]
    typed = _after(record, "mkldnn = bf16").get("fp32_precision")
    en, zh = [], []
    en.append(f"In a new process {', '.join(on) or 'no leaf'} read tf32.")
    zh.append(f"新进程里，读出 tf32 的叶子：{'、'.join(on) or '没有'}。")
    if root:
        en.append(
            "The root set to ieee reached " + (f"all leaves but {', '.join(missed)}." if missed else "every leaf.")
        )
        zh.append("根设为 ieee，" + (f"没传到 {'、'.join(missed)}。" if missed else "传到了每片叶子。"))
    if kept:
        en.append(f"A leaf set to ieee of its own read {kept} after the root asked for tf32.")
        zh.append(f"自己设为 ieee 的叶子，在根要求 tf32 之后读出 {kept}。")
    if typed and typed != "none":
        en.append(f"mkldnn.fp32_precision = bf16 also turned the root to {typed}.")
        zh.append(f"mkldnn.fp32_precision = bf16 把根也改成了 {typed}。")
    return both(" ".join(en), "".join(zh))


def draw_tree(record: Record, bets: dict) -> Table:
    """What each node reads after one was set; the bet is a line of its own, below the one that nothing was set for."""
    nodes = ("fp32_precision", *LEAVES)
    start = _after(record, "nothing")
    lines = [["", *nodes], [t("nothing set", "什么都不设"), *(start[node] for node in nodes)]]
    marks = {(0, at): "told" for at, node in enumerate(nodes, 1) if start[node] != "none"}
    mine = TF32_BET.get(bets.get("07-bet-default", ""))
    places = [nodes.index(leaf) + 1 for leaf in LEAVES[:3]]
    if mine is not None:
        lines.append([t("nothing set, as you bet", "什么都不设，按你押的")] + [""] * len(nodes))
        for at, allowed in zip(places, mine, strict=True):
            lines[-1][at] = "tf32" if allowed else "none"
    for label in _labels(record)[1:]:
        after = _after(record, label)
        changed = [after[node] != start[node] for node in nodes]
        marks |= {(len(lines) - 1, at): "told" for at, one in enumerate(changed, 1) if one}
        lines.append([label, *(after[node] if one else SAME for node, one in zip(nodes, changed, strict=True))])
    return Table(lines, marks, [(1, at) for at in places] if mine is not None else ())


def settle_tree(record: Record) -> dict[str, str | None]:
    start = _after(record, "nothing")
    seen = tuple(start.get(leaf) == "tf32" for leaf in LEAVES[:3])
    answers = {(False, False, False): "a", (True, True, False): "b", (False, False, True): "c", (True, True, True): "d"}
    return {"07-bet-default": answers.get(seen) if start else None}


@experiment(
    name="07-tree",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "Set one node of the precision tree: which others read differently?", "设置精度树的一个节点：还有谁跟着变？"
    ),
)
def tree(budget: Budget) -> list[dict]:
    """Every node before and after one node was set, in a new process."""
    return rows_of(PROBES, "tree")


# --- 07-mixing ----------------------------------------------------------------------------------------------


ASKED = ("fp32_precision = tf32", "cuda.matmul.allow_tf32")
"""What the bet asks about: how it was written, how it is read."""


def _asked(record: Record) -> list[str]:
    return [row["outcome"] for row in record.rows if (row["wrote"], row["read"]) == ASKED]


def headline_mixing(record: Record) -> Text:
    if not _asked(record):
        return TOO_NOISY
    return {
        "a": both("Set TF32 the new way: the old flag agrees.", "用新接口设了 TF32，旧开关读出来也一致。"),
        "b": both(
            "Set TF32 the new way: the old flag still says False.", "用新接口设了 TF32，旧开关读出来还是 False。"
        ),
        "c": both("Set TF32 the new way, read it the old way: an error.", "用新接口设 TF32，再用旧接口读，会报错。"),
    }.get(
        settle_mixing(record)["07-bet-mixing"] or "",
        both("Set TF32 the new way: the old flag answers something else.", "用新接口设了 TF32，旧开关读出来是别的值。"),
    )


def say_mixing(record: Record) -> Text:
    if not record.rows:
        return NOTHING

    def count(*apis: str) -> tuple[int, int]:
        rows = [row for row in record.rows if row["api"] in apis]
        return sum(row["outcome"] == "raises" for row in rows), len(rows)

    (old, of_old), (new, of_new) = count("old"), count("new", "both")
    return both(
        f"Written with the old words, {old} of {of_old} old readings raised. "
        f"Written with the new ones, {new} of {of_new} did. No writing raised.",
        f"用旧接口写，{of_old} 次旧式读取里有 {old} 次抛出异常；用新接口写，{of_new} 次里有 {new} 次。写入本身都没有报错。",
    )


def draw_mixing(record: Record, bets: dict) -> Table:
    """What each reading gives after each writing; the bet is a line of its own."""
    columns = list(dict.fromkeys(row["read"] for row in record.rows))
    seen = {(row["wrote"], row["read"]): row["outcome"] for row in record.rows}
    raises, lines, marks, placed = t("raises", "抛异常"), [["", *columns]], {}, ()
    mine = {"a": "True", "b": "False", "c": raises}.get(bets.get("07-bet-mixing", ""))
    for wrote in dict.fromkeys(row["wrote"] for row in record.rows):
        cells = [raises if seen[wrote, read] == "raises" else seen[wrote, read] for read in columns]
        marks |= {(len(lines) - 1, at): "told" for at, cell in enumerate(cells, 1) if cell == raises}
        name = wrote.replace(
            "allow_tf32 = True, then ",
            t("cuda.matmul: allow_tf32 = True, then ", "cuda.matmul: allow_tf32 = True，再设 "),
        )
        lines.append([t("nothing written", "什么都没写") if wrote == "nothing" else name, *cells])
        if mine and wrote == ASKED[0] and ASKED[1] in columns:
            placed = ((len(lines) - 1, columns.index(ASKED[1]) + 1),)
            lines.append(
                [t("the same, as you bet", "同上，按你押的"), *(mine * (read == ASKED[1]) for read in columns)]
            )
    return Table(lines, marks, placed)


def settle_mixing(record: Record) -> dict[str, str | None]:
    seen = _asked(record)
    return {"07-bet-mixing": {"True": "a", "False": "b", "raises": "c"}.get(seen[0]) if seen else None}


@experiment(
    name="07-mixing",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "Write with the new words, read with the old ones: what comes back?", "用新接口写，用旧接口读：读到什么？"
    ),
)
def mixing(budget: Budget) -> list[dict]:
    """Values or errors of the three older readings after seven ways to write, in a new process."""
    return rows_of(PROBES, "mixing")


# --- 07-no-op -----------------------------------------------------------------------------------------------

STORIES = {
    "untouched": both("nothing before", "之前什么都没做"),
    "assigned": both("allow_tf32 set to its own value", "先把 allow_tf32 赋成原值"),
    "block": both("an empty cudnn.flags block", "先执行一个空的 cudnn.flags 块"),
}


def _conv(record: Record) -> dict[str, str]:
    return {row["story"]: row["reads"] for row in record.rows if row["node"] == "cudnn.conv"}


def headline_no_op(record: Record) -> Text:
    return {
        ("ieee", "ieee"): both(
            "Set a flag to the value it has: the root still reaches convolutions.",
            "把开关赋成原值之后，根照样管得到卷积。",
        ),
        ("ieee", "tf32"): both(
            "Set a flag to the value it has: the root no longer reaches convolutions.",
            "把开关赋成原值，根就再也管不到卷积。",
        ),
        ("tf32", "tf32"): both("The root does not reach the convolutions at all.", "根压根管不到卷积。"),
        ("tf32", "ieee"): both(
            "The root reaches convolutions only after a flag was set once.", "先把开关赋成原值，根才管得到卷积。"
        ),
    }.get(tuple(_conv(record).get(story) for story in ("untouched", "assigned")), TOO_NOISY)


def say_no_op(record: Record) -> Text:
    seen = _conv(record)
    if not seen:
        return NOTHING
    en = "; ".join(f"{STORIES[story]['en']}: {value}" for story, value in seen.items())
    zh = "；".join(f"{STORIES[story]['zh']}，得 {value}" for story, value in seen.items())
    return both(f"The root asks for ieee, and cudnn.conv reads: {en}.", f"把根设成 ieee，再读 cudnn.conv：{zh}。")


def draw_no_op(record: Record, bets: dict) -> Table:
    """What the two leaves read after the root was set to ieee; the bet is a column of its own."""
    seen = {(row["story"], row["node"]): row["reads"] for row in record.rows}
    stories = [story for story in STORIES if (story, "cudnn.conv") in seen]
    nodes = [node for node in ("cudnn.conv", "cudnn.rnn") if (stories[0], node) in seen]
    lines = [["", *nodes]]
    lines += [[word(STORIES[story]), *(seen.get((story, node), "") for node in nodes)] for story in stories]
    marks = {(row, at): "told" for row, line in enumerate(lines[1:]) for at, cell in enumerate(line) if cell == "tf32"}
    mine = {"a": ("ieee", "ieee"), "b": ("ieee", "tf32"), "c": ("tf32", "tf32")}.get(bets.get("07-bet-no-op", ""))
    if mine is None:
        return Table(lines, marks)
    said = dict(zip(("untouched", "assigned"), mine, strict=True))
    column = t("cudnn.conv, as you bet", "cudnn.conv，按你押的")
    lines = [[*line, end] for line, end in zip(lines, [column, *(said.get(one, "") for one in stories)], strict=True)]
    return Table(lines, marks, [(row, len(nodes) + 1) for row, one in enumerate(stories) if one in said])


def settle_no_op(record: Record) -> dict[str, str | None]:
    seen = _conv(record)
    answers = {("ieee", "ieee"): "a", ("ieee", "tf32"): "b", ("tf32", "tf32"): "c"}
    return {"07-bet-no-op": answers.get((seen.get("untouched"), seen.get("assigned")))}


@experiment(
    name="07-no-op",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "An assignment that changes nothing: does the root still reach the convolutions?",
        "一句什么都没改的赋值：根节点还管得到卷积吗？",
    ),
)
def no_op(budget: Budget) -> Iterator[dict]:
    """ieee asked at the root: untouched, after allow_tf32 was set to its own value, after an empty block."""
    for probe in budget.loop(("no_op", "no_op_block"), desc=FRESH):
        yield from rows_of(PROBES, probe)
