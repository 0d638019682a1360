"""Why a tool's number differs from ours: the difference cut into named pieces that add up to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torch import nn

from course.core.i18n import Text, both
from course.flops.result import FlopCount, ModuleCount
from course.lessons.l03_flops.peers import PeerCount, Reason

_BIAS = both(
    "the bias counted as work; it is an addition without a multiplication", "偏置也被计入；它只有加法，没有乘法"
)
_RECURRENT = both("biases and gate arithmetic of the recurrent layer counted too", "循环层的偏置和门运算也被计入")
_MISSING = both("no rule for this layer: its work is silently 0", "没有这种层的规则：其工作量被静默计为 0")
_ELEMENTS = both("element operations counted one by one; the convention counts 0", "逐元素运算也被计入；按本课约定计 0")
_OTHER = both("counted by a different rule", "使用了不同的规则")
_FUNCTION = both(
    "work called as a function in the forward, which hooks on modules cannot see",
    "forward 里以函数形式调用的工作，模块 hook 看不到",
)
_KINDS = {
    "Norm": both(
        "normalisation counted as work, one to four operations for each element; the convention counts 0",
        "把归一化也算作工作量（每个元素 1 到 4 次运算）；按本课约定计 0",
    ),
    "Pool": both("pooling counted as work; the convention counts 0", "把池化也算作工作量；按本课约定计 0"),
    "ConvTranspose": both(
        "a transposed convolution counted by its output positions; the multiplications happen once for each input position",
        "转置卷积按输出位置计数；实际上每个输入位置才做一次乘法",
    ),
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "RNN": _RECURRENT,
    "MultiheadAttention": both(
        "attention counted by a formula of its own, with scaling, softmax and biases",
        "注意力用自己的公式计数，含缩放、softmax 和偏置",
    ),
    "Linear": _BIAS,
    "Conv": _BIAS,
}
_PARTLY = both(
    "part of the calls ran inside a fused operator without a formula (less the biases it counted)",
    "其中一部分在没有公式的融合算子内部运行（已扣除它计入的偏置）",
)
_NOWHERE = both(
    "this operator has no formula there, or ran inside a fused one without a formula: silently 0",
    "它没有这个算子的公式，或者该算子在没有公式的融合算子内部运行：被静默计为 0",
)
_PATCHED = both(
    "functions it patches (relu, pooling, softmax, torch.add, matmul, ...): a module that calls one is counted twice",
    "它替换的函数（relu、池化、softmax、torch.add、matmul 等）：调用这些函数的模块会被计两次",
)


def _layer_reason(module: ModuleCount, amount: int, theirs: int | None, tool: str) -> Text:
    kind = module.kind
    if kind.startswith("ConvTranspose") and tool.startswith("ptflops"):
        return _BIAS
    if theirs is None and module.children and not hasattr(nn, kind):
        return _FUNCTION
    if theirs is None or (theirs == 0 and amount < 0):
        return _MISSING
    for key, text in _KINDS.items():
        if key in kind:
            return _BIAS if key == "ConvTranspose" and amount < 0 else text
    return _ELEMENTS if amount > 0 else _OTHER


def by_layers(ours: FlopCount, peer: PeerCount) -> list[Reason]:
    """Pieces of a tool that counts modules: one for each kind of layer, then functions and the batch."""
    amounts: Counter[tuple[str, str, str]] = Counter()
    layers: Counter[tuple[str, str, str]] = Counter()
    for module, theirs in _meeting_points(ours.by_module, peer.by_module or {}):
        amount = (theirs or 0) - (module.own if theirs is None else module.macs)
        if amount:
            text = _layer_reason(module, amount, theirs, peer.tool)
            key = (module.kind, text["en"], text["zh"])
            amounts[key] += amount
            layers[key] += 1
    reasons = [
        Reason(amount, _joined(f"{layers[key]} x {key[0]}", both(*key[1:])))
        for key, amount in amounts.items()
        if amount
    ]
    reasons += [Reason(peer.functions, _PATCHED)] if peer.functions else []
    if peer.per_sample > 1:
        whole, batch = sum((peer.by_module or {}).values()), peer.per_sample
        reasons.append(
            Reason(
                whole // batch - whole,
                both(
                    f"modules are reported for one sample: divided by the batch of {batch}",
                    f"模块部分按单个样本报告：除以批大小 {batch}",
                ),
            )
        )
    return reasons


def _meeting_points(node: ModuleCount, theirs: dict[str, int]) -> Iterator[tuple[ModuleCount, int | None]]:
    """Modules where both counts can be compared: those the tool has a rule for whole, all others without children."""
    yield node, theirs.get(node.name)
    for child in node.children if node.name not in theirs else ():
        yield from _meeting_points(child, theirs)


def by_operators(ours: FlopCount, peer: PeerCount) -> list[Reason]:
    """Pieces of a tool that sees operators: one for each operator that is counted differently."""
    theirs, reasons = peer.by_operator or {}, []
    for name in dict.fromkeys((*ours.by_operator, *theirs)):
        amount = theirs.get(name, 0) - ours.by_operator.get(name, 0)
        if amount:
            reasons.append(
                Reason(amount, _joined(name, _BIAS if amount > 0 else _PARTLY if name in theirs else _NOWHERE))
            )
    return reasons


def _joined(what: str, why: Text) -> Text:
    return both(f"{what}: {why['en']}", f"{what}：{why['zh']}")


def explain(ours: FlopCount, peer: PeerCount) -> list[Reason]:
    """All pieces, the largest first; what no rule explains is the last piece, in so many words."""
    if peer.macs is None:
        return []
    reasons = by_layers(ours, peer) if peer.by_operator is None else by_operators(ours, peer)
    rest = peer.macs - ours.macs - sum(reason.amount for reason in reasons)
    reasons.sort(key=lambda reason: -abs(reason.amount))
    if rest:
        reasons.append(Reason(rest, both("not explained by any rule here", "这里没有规则能解释这一部分")))
    return reasons
