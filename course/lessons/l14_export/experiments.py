"""Experiments of lesson 14 that need torch alone: what a file keeps, branches, and what `to_mkldnn` cannot do."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable, Iterator
from typing import Any

import torch

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, joined, word
from course.i18n import Text, both, t
from course.lessons.l14_export import ways_out
from course.machine import can
from course.records import Record
from course.tables import Table

LESSON = "14_export"
EXPORTING = both("exporting", "导出中")

# --- 14-what-it-keeps -----------------------------------------------------------------------------------------

AROUND = {
    "cudnn.enabled": both("cudnn.enabled = False", "cudnn.enabled = False"),
    "cudnn.benchmark": both("cudnn.benchmark = True", "cudnn.benchmark = True"),
    "cudnn.deterministic": both("cudnn.deterministic = True", "cudnn.deterministic = True"),
    "mkldnn.enabled": both("mkldnn.enabled = False", "mkldnn.enabled = False"),
    "deterministic algorithms": both("deterministic algorithms", "确定性模式"),
    "threads": both("another number of threads", "换个线程数"),
    "autocast": both("inside an autocast block", "在 autocast 块里导出"),
}
"""What stands around the model: setting -> what it is called."""
MODEL = {
    "hook": both("a hook that only looks", "加一个只看不动的 hook"),
    "train": both("model.train()", "model.train()"),
    "float64": both("model and images in float64", "模型和图片换成 float64"),
}
"""What is changed of the model or its example."""
WAYS = ("trace", "export", "onnx")
CHANGED, SAME, NOT_TRIED = 1, 0, -1


def _leaves_a_trace(record: Record, way: str, settings: Any) -> list[str]:
    return [row["setting"] for row in record.rows if row["setting"] in settings and row[way] == CHANGED]


def _names(settings: list[str], code: str) -> str:
    found = joined([{**AROUND, **MODEL}[one][code] for one in settings], code)
    return found or ("none" if code == "en" else "无")


def headline_what_it_keeps(record: Record) -> Text:
    if len(record.rows) < len(AROUND) + len(MODEL):
        return TOO_NOISY
    kept, by_trace = (_leaves_a_trace(record, way, AROUND) for way in ("export", "trace"))
    if not kept and by_trace:
        return both(
            "torch.export keeps not one setting around the model; the old trace keeps some.",
            "模型之外的设置，torch.export 一个不记，旧 trace 会记几个。",
        )
    if not kept:
        return both("Not one setting around the model gets into the file.", "模型之外的设置，一个也没写进文件。")
    if kept == ["autocast"]:
        return both(
            "Of the settings around the model, only autocast gets into the file.",
            "模型之外的设置，只有 autocast 写进了文件。",
        )
    if len(kept) == len(AROUND):
        return both("Every setting around the model gets into the file.", "模型之外的设置，全都写进了文件。")
    return both("Some settings around the model get into the file.", "模型之外的设置，有的写进了文件。")


def say_what_it_keeps(record: Record) -> Text:
    if len(record.rows) < len(AROUND) + len(MODEL):
        return NOTHING
    kept = {way: _leaves_a_trace(record, way, AROUND) for way in WAYS}
    own = _leaves_a_trace(record, "export", MODEL)
    with_onnx = all(row["onnx"] != NOT_TRIED for row in record.rows)
    en = f" ONNX: {_names(kept['onnx'], 'en')}." if with_onnx else " ONNX was not tried: its packages are missing."
    zh = f"ONNX：{_names(kept['onnx'], 'zh')}。" if with_onnx else "ONNX 没有试：缺少它的包。"
    return both(
        f"Of {len(AROUND)} settings around the model, these changed what the file says. torch.export: "
        f"{_names(kept['export'], 'en')}.{en} The old jit.trace: {_names(kept['trace'], 'en')}. "
        f"Of the model itself, torch.export kept: {_names(own, 'en')}.",
        f"模型之外的 {len(AROUND)} 项设置，哪些改变了文件的内容？torch.export：{_names(kept['export'], 'zh')}。"
        f"{zh}旧的 jit.trace：{_names(kept['trace'], 'zh')}。"
        f"模型自身的改动里，torch.export 记下了：{_names(own, 'zh')}。",
    )


def draw_what_it_keeps(record: Record, bets: dict) -> Table:
    said = {CHANGED: t("in the file", "写进去了"), SAME: t("no trace", "没有痕迹"), NOT_TRIED: t("not tried", "没有试")}
    ways = ("export", "onnx", "trace")
    lines = [["", "torch.export", "ONNX", "jit.trace"]]
    for row in record.rows:
        lines.append([word({**AROUND, **MODEL}[row["setting"]]), *(said[row[way]] for way in ways)])
    marks = {
        (at, column): "told" if row[way] == CHANGED else "quiet"
        for at, row in enumerate(record.rows)
        for column, way in enumerate(ways, 1)
    }
    mine = {
        "a": t("none of these seven", "这七项都不写"),
        "b": t("autocast alone", "只写 autocast"),
        "c": t("the three of cuDNN", "只写 cuDNN 的三个"),
        "d": t("all seven", "七项都写"),
    }.get(bets.get("14-bet-switches", ""))
    around = [at for at, row in enumerate(record.rows) if row["setting"] in AROUND]
    return Table(lines, marks).bet_on(max(around, default=None), [mine, "", ""]) if mine else Table(lines, marks)


def settle_what_it_keeps(record: Record) -> dict[str, str | None]:
    if len([row for row in record.rows if row["setting"] in AROUND]) < len(AROUND):
        return {"14-bet-switches": None}
    kept = set(_leaves_a_trace(record, "export", AROUND))
    cudnn = {name for name in AROUND if name.startswith("cudnn")}
    answers = {frozenset(): "a", frozenset({"autocast"}): "b", frozenset(cudnn): "c", frozenset(AROUND): "d"}
    return {"14-bet-switches": answers.get(frozenset(kept))}


@contextlib.contextmanager
def _around(setting: str) -> Iterator[None]:
    """One setting around the model, put back afterwards."""
    if setting == "autocast":
        with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):  # a trace cannot hold what is cached
            yield
        return
    name = {"threads": "torch.num_threads", "deterministic algorithms": "torch.deterministic_algorithms"}.get(
        setting, setting
    )
    value: Any = {"mkldnn.enabled": False, "cudnn.enabled": False}.get(setting, True)
    with flags.using({name: 1 + (torch.get_num_threads() == 1) if setting == "threads" else value}):
        yield


def _changed(setting: str) -> tuple[torch.nn.Module, torch.Tensor]:
    """Model and example with one thing of theirs changed; as they are for any other setting."""
    model, x = ways_out.small_net(), ways_out.images()
    if setting == "float64":
        return model.double(), x.double()
    if setting == "hook":
        model.conv1.register_forward_hook(lambda layer, given, result: None)
    return model.train(setting == "train"), x


def _says(way: str, model: torch.nn.Module, x: torch.Tensor) -> Any:
    """What the file says that this way makes of the model: its graph and its weights, without notes."""
    if way == "trace":
        program = ways_out.traced(model, (x,))
        return ways_out.said_by_trace(program), ways_out.weights_of(program.state_dict())
    with ways_out.quiet():
        exported = torch.export.export(model, (x,))
    if way == "export":
        return ways_out.said_by_export(exported), ways_out.weights_of(exported.state_dict)
    return ways_out.graph_and_weights(ways_out.without_notes(ways_out.to_onnx(exported, ())))


@experiment(
    name="14-what-it-keeps",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=12,
    title=both("Change one thing, export, read the file: did it notice?", "只改一样再导出：文件里看得出来吗？"),
)
def what_it_keeps(budget: Budget) -> Iterator[dict]:
    """The same network exported in three ways, once as it is and once for each setting; did the file change?

    For ONNX, which takes a second each, the six switches are first tried all at once: a file that has not changed then
    holds none of them.
    """
    ways = [way for way in WAYS if way != "onnx" or can("onnx")]
    plain = {way: _says(way, *_changed("nothing")) for way in ways}
    switches = [setting for setting in AROUND if setting != "autocast"]
    with contextlib.ExitStack() as together:
        for setting in switches:
            together.enter_context(_around(setting))
        unseen = "onnx" in ways and _says("onnx", *_changed("nothing")) == plain["onnx"]

    def noticed(way: str, setting: str) -> int:
        if way not in ways:
            return NOT_TRIED
        if way == "onnx" and setting in switches and unseen:
            return SAME
        with _around(setting) if setting in AROUND else contextlib.nullcontext():
            return CHANGED if _says(way, *_changed(setting)) != plain[way] else SAME

    for setting in budget.loop([*AROUND, *MODEL], desc=EXPORTING, least=len(AROUND) + len(MODEL)):
        yield {"setting": setting, **{way: noticed(way, setting) for way in WAYS}}


# --- 14-branch ------------------------------------------------------------------------------------------------

ANSWERS = {"like the example": 2.0, "the other side": -1.5}  # of `if x.sum() > 0: x * 2, else: x - 1` at 1.0 and -0.5
GATES = {
    "python": both("Python", "Python"),
    "trace": both("jit.trace", "jit.trace"),
    "export": both("torch.export", "torch.export"),
    "where": both("export of torch.where", "导出 torch.where"),
}


def gate(x: torch.Tensor) -> torch.Tensor:
    """Twice x where its sum is above 0, else x - 1: which branch runs depends on the numbers."""
    if x.sum() > 0:
        return x * 2
    return x - 1


def gate_where(x: torch.Tensor) -> torch.Tensor:
    """The same without a Python branch: both sides are computed, one is taken."""
    return torch.where(x.sum() > 0, x * 2, x - 1)


def _of_gate(record: Record) -> dict[tuple[str, str], dict]:
    return {(row["way"], row["input"]): row for row in record.rows}


def headline_branch(record: Record) -> Text:
    said = {
        "a": both("The old trace gave a wrong answer, and raised no error.", "旧的 trace 答错了，也不报错。"),
        "b": both(
            "Here the old trace gave the right answer for both branches.", "在这里，旧的 trace 两条分支都答对了。"
        ),
        "c": both("The old trace refused the other branch with an error.", "走另一条分支时，旧的 trace 报错了。"),
    }
    return said.get(settle_branch(record)["14-bet-branch"], TOO_NOISY)


def say_branch(record: Record) -> Text:
    found = _of_gate(record)
    if len(found) < len(GATES) * len(ANSWERS):
        return NOTHING

    def told(way: str, code: str) -> str:
        row = found[way, "the other side"]
        if row["error"]:
            return f"refused ({row['error']})" if code == "en" else f"拒绝导出（{row['error']}）"
        right = row["result"] == found["python", "the other side"]["result"]
        words = ("right", "对") if right else ("wrong, and no error", "错，也不报错")
        return f"{row['result']:g} ({words[0]})" if code == "en" else f"{row['result']:g}（{words[1]}）"

    en = "; ".join(f"{GATES[way]['en']} {told(way, 'en')}" for way in GATES)
    zh = "；".join(f"{GATES[way]['zh']} {told(way, 'zh')}" for way in GATES)
    return both(f"An input for the other branch: {en}.", f"给一个该走另一条分支的输入：{zh}。")


def draw_branch(record: Record, bets: dict) -> Table:
    found, refused = _of_gate(record), t("refused", "拒绝")

    def cell(given: str, result: float) -> str:
        return f"{result:g}" if result == ANSWERS[given] else t(f"{result:g}, wrong", f"{result:g}，错")

    lines, marks = [["", t("as in the example", "和示例同侧"), t("the other side", "另一侧")]], {}
    for at, (way, name) in enumerate(GATES.items()):
        rows = [found.get((way, given)) for given in ANSWERS]
        cells = [(refused if row["error"] else cell(row["input"], row["result"])) if row else "–" for row in rows]
        marks |= {(at, 2): "told"} if rows[1] and (rows[1]["error"] or cells[1] != cell("the other side", -1.5)) else {}
        lines.append([word(name), *cells])
    mine = {"a": cell("the other side", -1.0), "b": cell("the other side", -1.5), "c": refused}.get(
        bets.get("14-bet-branch", "")
    )
    return Table(lines, marks).bet_on(list(GATES).index("trace"), ["", mine]) if mine else Table(lines, marks)


def settle_branch(record: Record) -> dict[str, str | None]:
    found = _of_gate(record)
    row, python = found.get(("trace", "the other side")), found.get(("python", "the other side"))
    if row is None or python is None:
        return {"14-bet-branch": None}
    return {"14-bet-branch": "c" if row["error"] else "b" if row["result"] == python["result"] else "a"}


class _Holder(torch.nn.Module):
    """A function as a module: what torch.export takes."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def export_function(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> Callable[..., torch.Tensor]:
    """A function of one tensor after torch.export with this example, as something to call."""
    with ways_out.quiet():
        return torch.export.export(_Holder(function), (x,)).module()


@experiment(
    name="14-branch",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=7,
    title=both("A branch that depends on the numbers: who notices?", "分支取决于数据：谁会发现？"),
)
def branch(budget: Budget) -> Iterator[dict]:
    """A gate with a Python branch, left in four ways, asked on both sides of its branch; the example was positive."""
    example = torch.full((1,), 1.0)
    ways: dict[str, Callable[[], Callable[..., torch.Tensor]]] = {
        "python": lambda: gate,
        "trace": lambda: ways_out.traced(gate, (example,)),
        "export": lambda: export_function(gate, example),
        "where": lambda: export_function(gate_where, example),
    }
    for way in budget.loop(ways, least=len(ways)):
        for given, x in zip(ANSWERS, (example, torch.full((1,), -0.5)), strict=True):
            try:
                row = {"result": float(ways[way]()(x)), "error": ""}
            except Exception as error:  # noqa: BLE001  (which error it is, is the finding)
                row = {"result": 0.0, "error": type(error).__name__}
            yield {"way": way, "input": given, **row}


# --- 14-mkldnn-leaves -----------------------------------------------------------------------------------------

DOORS = {
    "export": both("torch.export", "torch.export"),
    "save": both("torch.save(model.state_dict())", "torch.save(model.state_dict())"),
    "numpy": both("weight.numpy()", "weight.numpy()"),
    "dense": both("weight.to_dense()", "weight.to_dense()"),
}


def headline_mkldnn_leaves(record: Record) -> Text:
    works = [row["door"] for row in record.rows if not row["converted"]]
    if len(record.rows) < len(DOORS):
        return TOO_NOISY
    if works == ["dense"]:
        return both(
            "After to_mkldnn one way is left: back to normal tensors.", "转成 mkldnn 之后，只剩转回普通张量这条路。"
        )
    if not works:
        return both("After to_mkldnn not one way out works.", "转成 mkldnn 之后，一条路都走不通。")
    if len(works) == len(DOORS):
        return both("After to_mkldnn every way out still works here.", "在这里，转成 mkldnn 之后，条条路都走得通。")
    return both("After to_mkldnn some ways out fail, others still work.", "转成 mkldnn 之后，有的路不通，有的还行。")


def say_mkldnn_leaves(record: Record) -> Text:
    if not record.rows:
        return NOTHING
    shut = [row for row in record.rows if row["converted"]]
    open_en = ", ".join(DOORS[row["door"]]["en"] for row in record.rows if not row["converted"]) or "none"
    open_zh = "、".join(DOORS[row["door"]]["zh"] for row in record.rows if not row["converted"]) or "没有"
    en = "; ".join(f"{DOORS[row['door']]['en']}: {row['converted']}" for row in shut) or "none"
    zh = "、".join(f"{DOORS[row['door']]['zh']}（{row['converted']}）" for row in shut) or "没有"
    return both(
        f"After to_mkldnn these fail: {en}. Still open: {open_en}.",
        f"转成 mkldnn 之后，失败的：{zh}。还能走的：{open_zh}。",
    )


def draw_mkldnn_leaves(record: Record, bets: dict) -> Table:
    works = t("works", "可以")
    lines = [["", t("ordinary model", "普通模型"), t("after to_mkldnn", "to_mkldnn 之后")]]
    lines += [[word(DOORS[row["door"]]), row["plain"] or works, row["converted"] or works] for row in record.rows]
    return Table(lines, {(at, 2): "told" for at, row in enumerate(record.rows) if row["converted"]})


def _error_of(call: Callable[[], Any]) -> str:
    """The type of the error that a call ends with; empty where it works."""
    try:
        with ways_out.quiet():
            call()
    except Exception as error:  # noqa: BLE001  (which error it is, is the finding)
        return type(error).__name__
    return ""


@experiment(
    name="14-mkldnn-leaves",
    lesson=LESSON,
    version=1,
    needs="mkldnn",
    seconds=7,
    title=both("Four ways out, before and after to_mkldnn", "四个出口：转成 mkldnn 之前和之后"),
)
def mkldnn_leaves(budget: Budget) -> Iterator[dict]:
    """Each way out with the ordinary network and with its copy converted by to_mkldnn: the errors."""
    from torch.utils import mkldnn

    plain, x = ways_out.small_net(), ways_out.images()
    converted = mkldnn.to_mkldnn(copy.deepcopy(plain))

    def doors(model: torch.nn.Module, given: torch.Tensor) -> dict[str, Callable[[], Any]]:
        weight = next(tensor for name, tensor in model.state_dict().items() if name == "linear.weight")
        return {
            "export": lambda: torch.export.export(model, (given,)),
            "save": lambda: torch.save(model.state_dict(), io.BytesIO()),
            "numpy": lambda: weight.numpy(),
            "dense": lambda: weight.to_dense().numpy(),
        }

    before, after = doors(plain, x), doors(converted, x.to_mkldnn())
    for door in budget.loop(DOORS):
        yield {"door": door, "plain": _error_of(before[door]), "converted": _error_of(after[door])}
