"""Why a tool's number differs from ours: the difference cut into named pieces that add up to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn

from course.flops.peers import PeerCount
from course.flops.result import FlopCount, ModuleCount
from course.i18n import Text, both


@dataclass(frozen=True)
class Reason:
    """amount: MACs the tool counts more (negative: fewer) than the convention. text: why, in both
    languages.
    """

    amount: int
    text: Text


_NORM = both(
    "normalisation counted as work, one to four operations for each element; the convention counts 0",
    "把归一化也算作工作量（每个元素 1 到 4 次运算）；按本课约定计 0",
)
_ELEMENTS = both(
    "element operations counted one by one; the convention counts 0", "逐元素运算也被计入；按本课约定计 0"
)
_POOL = both("pooling counted as work; the convention counts 0", "把池化也算作工作量；按本课约定计 0")
_TRANSPOSED = both(
    "a transposed convolution counted by its output positions; the multiplications happen once for each "
    "input position",
    "转置卷积按输出位置计数；实际上每个输入位置才做一次乘法",
)
_RECURRENT = both(
    "biases and gate arithmetic of the recurrent layer counted too", "循环层的偏置和门运算也被计入"
)
_BIAS = both(
    "the bias counted as work; it is an addition without a multiplication", "偏置也被计入；它只有加法，没有乘法"
)
_MISSING = both("no rule for this layer: its work is silently 0", "没有这种层的规则：其工作量被静默计为 0")
_ATTENTION = both(
    "attention counted by a formula of its own, with scaling, softmax and biases",
    "注意力用自己的公式计数，含缩放、softmax 和偏置",
)
_FUNCTION = both(
    "work called as a function in the forward, which hooks on modules cannot see",
    "forward 里以函数形式调用的工作，模块 hook 看不到",
)
_OTHER = both("counted by a different rule", "使用了不同的规则")


def _layer_reason(kind: str, amount: int, theirs: int | None) -> Text:
    if theirs is None or (theirs == 0 and amount < 0):
        return _MISSING
    for key, text in (
        ("Norm", _NORM),
        ("Pool", _POOL),
        ("ConvTranspose", _TRANSPOSED),
        ("LSTM", _RECURRENT),
        ("GRU", _RECURRENT),
        ("RNN", _RECURRENT),
        ("MultiheadAttention", _ATTENTION),
        ("Linear", _BIAS),
        ("Conv", _BIAS),
    ):
        if key in kind:
            return _BIAS if key == "ConvTranspose" and amount < 0 else text
    return _ELEMENTS if amount > 0 else _OTHER


def by_layers(ours: FlopCount, peer: PeerCount) -> list[Reason]:
    """Pieces of a tool that counts modules: one for each kind of layer, then functions and the batch."""
    amounts: dict[tuple[str, str], int] = defaultdict(int)
    layers: dict[tuple[str, str], int] = defaultdict(int)
    texts: dict[tuple[str, str], Text] = {}
    for module, theirs in _meeting_points(ours.by_module, peer.by_module or {}):
        mine = module.own if theirs is None else module.macs
        if mine != (theirs or 0):
            leaf = theirs is not None or not module.children or hasattr(nn, module.kind)
            text = _layer_reason(module.kind, (theirs or 0) - mine, theirs) if leaf else _FUNCTION
            if module.kind.startswith("ConvTranspose") and peer.tool.startswith("ptflops"):
                text = _BIAS
            key = (module.kind, text["en"])
            amounts[key] += (theirs or 0) - mine
            layers[key] += 1
            texts[key] = text
    reasons = [
        Reason(amount, _joined(f"{layers[key]} x {key[0]}", texts[key]))
        for key, amount in amounts.items()
        if amount
    ]
    return reasons + _functions_and_batch(peer)


def _functions_and_batch(peer: PeerCount) -> list[Reason]:
    reasons = []
    if peer.functions:
        reasons.append(
            Reason(
                peer.functions,
                both(
                    "functions it patches (relu, pooling, softmax, torch.add, matmul, ...): a module that "
                    "calls one is counted twice",
                    "它替换的函数（relu、池化、softmax、torch.add、matmul 等）：调用这些函数的模块会被计两次",
                ),
            )
        )
    if peer.per_sample > 1:
        whole = sum((peer.by_module or {}).values())
        reasons.append(
            Reason(
                whole // peer.per_sample - whole,
                both(
                    f"modules are reported for one sample: divided by the batch of {peer.per_sample}",
                    f"模块部分按单个样本报告：除以 batch 大小 {peer.per_sample}",
                ),
            )
        )
    return reasons


def _meeting_points(node: ModuleCount, theirs: dict[str, int]) -> Iterator[tuple[ModuleCount, int | None]]:
    """Modules where both counts can be compared: those the tool has a rule for whole, all others without
    children.
    """
    if node.name in theirs:
        yield node, theirs[node.name]
        return
    yield node, None
    for child in node.children:
        yield from _meeting_points(child, theirs)


def by_operators(ours: FlopCount, peer: PeerCount) -> list[Reason]:
    """Pieces of a tool that sees operators: one for each operator that is counted differently."""
    theirs = peer.by_operator or {}
    reasons = []
    for name in dict.fromkeys((*ours.by_operator, *theirs)):
        amount = theirs.get(name, 0) - ours.by_operator.get(name, 0)
        if amount > 0:
            reasons.append(Reason(amount, _joined(name, _BIAS)))
        elif amount < 0 and name in theirs:
            reasons.append(
                Reason(
                    amount,
                    _joined(
                        name,
                        both(
                            "part of the calls ran inside a fused operator without a formula (less the "
                            "biases it counted)",
                            "其中一部分在没有公式的融合算子内部运行（已扣除它计入的偏置）",
                        ),
                    ),
                )
            )
        elif amount < 0:
            reasons.append(
                Reason(
                    amount,
                    _joined(
                        name,
                        both(
                            "this operator has no formula there, or ran inside a fused one without a "
                            "formula: silently 0",
                            "它没有这个算子的公式，或者该算子在没有公式的融合算子内部运行：被静默计为 0",
                        ),
                    ),
                )
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
