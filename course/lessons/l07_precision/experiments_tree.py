"""Experiments of lesson 07 about the tree of precision switches: who inherits, what mixing does, what changes nothing."""

from __future__ import annotations

from typing import Any

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.plots import table
from course.experiment.words import NOTHING, TOO_NOISY
from course.i18n import Text, both, t
from course.lessons.l07_precision.experiments import LESSON
from course.records import Record

PROBES = "course.lessons.l07_precision.probes"
FRESH = both("new processes", "新进程")


# --- 07-tree ------------------------------------------------------------------------------------------------

LEAVES = ("cudnn.conv", "cudnn.rnn", "cuda.matmul", "mkldnn.matmul", "mkldnn.conv", "mkldnn.rnn")


def _after(record: Record, label: str) -> dict[str, str]:
    return {row["node"]: row["after"] for row in record.rows if row["set"] == label}


def _labels(record: Record) -> list[str]:
    return list(dict.fromkeys(row["set"] for row in record.rows))


def headline_tree(record: Record) -> Text:
    if not _after(record, "nothing"):
        return TOO_NOISY
    return {
        "a": both("Untouched, PyTorch allows TF32 nowhere on the GPU.", "默认设置下，GPU 上哪里都不允许用 TF32。"),
        "b": both(
            "Untouched, PyTorch allows TF32 in convolutions, not in matrix products.",
            "默认允许卷积用 TF32，矩阵乘不允许。",
        ),
        "c": both(
            "Untouched, PyTorch allows TF32 in matrix products, not in convolutions.",
            "默认允许矩阵乘用 TF32，卷积不允许。",
        ),
        "d": both(
            "Untouched, PyTorch allows TF32 in all three kinds of GPU operations.",
            "默认设置下，这三类 GPU 运算都允许用 TF32。",
        ),
    }.get(
        settle_tree(record)["07-bet-default"] or "",
        both(
            "Untouched, PyTorch allows TF32 in some GPU operations only.", "默认设置下，只有部分 GPU 运算允许用 TF32。"
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


def draw_tree(record: Record, ax: Any) -> None:
    """What changed, by node; the last two leaves share a column, they are never set apart here."""

    def words(label: str) -> list[str]:
        after = _after(record, label)
        both_leaves = dict.fromkeys(after[leaf] for leaf in LEAVES[-2:])
        return [*(after[name] for name in ("fp32_precision", *LEAVES[:-2])), " / ".join(both_leaves)]

    start = words("nothing")
    lines = [(t("nothing set", "什么都不设"), [(word, None) for word in start])]
    for label in _labels(record)[1:]:
        changed = [word if word != first else "·" for word, first in zip(words(label), start, strict=True)]
        lines.append((label, [(word, None) for word in changed]))
    table(ax, ["fp32_precision", *LEAVES[:-2], "mkldnn.conv .rnn"], lines)
    ax.set_xlabel(t("what each node reads afterwards (·  as in the first row)", "之后各节点读出的值（·  同第一行）"))


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


def draw_mixing(record: Record, ax: Any) -> None:
    lines = list(dict.fromkeys(row["wrote"] for row in record.rows))
    columns = list(dict.fromkeys(row["read"] for row in record.rows))
    seen = {(row["wrote"], row["read"]): row["outcome"] for row in record.rows}
    rows = [
        (
            t("nothing", "什么都没写")
            if line == "nothing"
            else line.replace(
                "allow_tf32 = True, then ",
                t("cuda.matmul: allow_tf32 = True, then ", "cuda.matmul: allow_tf32 = True，再设 "),
            ),
            [
                (t("raises", "抛异常"), 1) if seen[line, column] == "raises" else (seen[line, column], None)
                for column in columns
            ],
        )
        for line in lines
    ]
    table(ax, columns, rows)
    ax.set_xlabel(t("what the old reading gives (diamond: an error)", "旧接口读到什么（菱形：抛异常）"))


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
            "The root still reaches convolutions after a flag got its own value.",
            "把开关赋成原值之后，根照样管得到卷积。",
        ),
        ("ieee", "tf32"): both(
            "Set a flag to its own value, and the root no longer reaches convolutions.",
            "把开关赋成原值，根就再也管不到卷积。",
        ),
        ("tf32", "tf32"): both("The root does not reach the convolutions at all.", "根压根管不到卷积。"),
        ("tf32", "ieee"): both(
            "The root reaches convolutions only after a flag got its own value.", "先把开关赋成原值，根才管得到卷积。"
        ),
    }.get(tuple(_conv(record).get(story) for story in ("untouched", "assigned")), TOO_NOISY)


def say_no_op(record: Record) -> Text:
    seen = _conv(record)
    if not seen:
        return NOTHING
    en = "; ".join(f"{STORIES[story]['en']}: {value}" for story, value in seen.items())
    zh = "；".join(f"{STORIES[story]['zh']}，得 {value}" for story, value in seen.items())
    return both(f"The root asks for ieee, and cudnn.conv reads: {en}.", f"根要求 ieee 之后读 cudnn.conv：{zh}。")


def draw_no_op(record: Record, ax: Any) -> None:
    seen = {(row["story"], row["node"]): row["reads"] for row in record.rows}
    stories = [story for story in STORIES if (story, "cudnn.conv") in seen]
    columns = ["cudnn.conv", "cudnn.rnn"]
    rows = [(story, [seen.get((story, column), "?") for column in columns]) for story in stories]
    table(
        ax,
        columns,
        [
            (t(STORIES[story]["en"], STORIES[story]["zh"]), [(word, None if word == "ieee" else 1) for word in words])
            for story, words in rows
        ],
    )
    ax.set_xlabel(
        t("read after fp32_precision = ieee (diamond: not ieee)", "设 fp32_precision = ieee 之后（菱形：不是 ieee）")
    )


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
def no_op(budget: Budget) -> list[dict]:
    """ieee asked at the root: untouched, after allow_tf32 was set to its own value, after an empty block."""
    rows = []
    for probe in budget.loop(("no_op", "no_op_block"), desc=FRESH):
        rows += rows_of(PROBES, probe)
    return rows
