"""Code tasks of lesson 14 that export: a program for inference, and one that leaves without a Python branch."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, partly
from course.exercises.slips import PLACEHOLDER, data

# --- ready --------------------------------------------------------------------------------------------------


def check_ready(ready: Callable[[Any, Any], Any]) -> Verdict:
    """A network in the middle of its training, one layer frozen: what comes out, for which sizes, and what is left behind."""
    import torch

    from course.lessons.l14_export.ways_out import images, quiet, small_net

    model = small_net().train()
    model.norm.eval()  # frozen on purpose, as in fine-tuning
    modes = {name: part.training for name, part in model.named_modules()}
    state = copy.deepcopy(model.state_dict())
    x, seven = images(4), images(7, seed=3)
    expected, of_seven = (copy.deepcopy(model).eval()(one).detach() for one in (x, seven))
    with quiet():
        program = ready(model, x)
    if program is None or program is Ellipsis:
        return PLACEHOLDER
    if not isinstance(program, torch.export.ExportedProgram):
        return incorrect(
            both(
                f"Give back what `torch.export.export` makes, an ExportedProgram; this is a {type(program).__name__}.",
                f"请返回 `torch.export.export` 的结果，即 ExportedProgram；现在是 {type(program).__name__}。",
            ),
            reason="no-program",
        )
    run = program.module()
    with torch.no_grad():
        got = run(x)
    if not torch.allclose(got, expected, rtol=1e-3, atol=1e-4):
        return incorrect(
            both(
                "The scores are not those of the network in eval mode: "
                "dropout or batch norm of the training went into the program, "
                "and there is no `eval()` on the other side.",
                "结果和 eval 模式下的不一样：训练时的 dropout 或 BatchNorm 被写进了程序，到了那边就没有 `eval()` 可调了。",
            ),
            reason="train-mode",
        )
    if any(not torch.equal(state[name], tensor) for name, tensor in model.state_dict().items()):
        return partly(
            0.5,
            1.0,
            both(
                "The program is right, but the weights or running statistics of `model` are not what they were.",
                "程序是对的，可 `model` 的权重或滑动统计量变了。",
            ),
            reason="changed",
        )
    if {name: part.training for name, part in model.named_modules()} != modes:
        return partly(
            0.5,
            1.0,
            both(
                "The program is right, but the modes of `model` are not what they were. "
                "One layer stood in eval mode while the others trained, and `model.train()` does not bring that back. "
                "A copy has no such worry.",
                "程序是对的，可 `model` 的模式没有恢复原样。原来有一层是 eval、其余在训练，`model.train()` 恢复不了。"
                "用副本就没这个烦恼。",
            ),
            reason="modes",
        )
    try:
        with torch.no_grad():
            fits = torch.allclose(run(seven), of_seven, rtol=1e-3, atol=1e-4)
    except Exception:  # noqa: BLE001  (a guard, in one form or another)
        fits = False
    if not fits:
        return partly(
            0.5,
            1.0,
            both(
                "Right for the example's four images; seven images are refused. Say with `dynamic_shapes` which dimension may change.",
                "示例那样的四张图没问题，七张就被拒绝了。用 `dynamic_shapes` 说明哪一维可以变。",
            ),
            reason="one-size",
        )
    return correct(
        both(
            "Eval mode, any batch size, and your model is as it was: it can go on training.",
            "eval 模式、批大小随意，你的模型原封不动，可以接着训练。",
        )
    )


# --- gate ---------------------------------------------------------------------------------------------------

GATED = (
    ("the example's side", [1.0, 2.0, -0.5], [2.0, 4.0, -1.0]),
    ("the other side", [-1.0, 0.5, -2.0], [-2.0, -0.5, -3.0]),
    ("one large negative value", [3.0, 3.0, -9.0], [2.0, 2.0, -10.0]),
    ("a sum of 0", [1.0, -1.0, 0.0], [0.0, -2.0, -1.0]),
    ("a small sum", [0.5, 0.25, -0.25], [1.0, 0.5, -0.5]),
)


def check_gate(gate: Callable[[Any], Any]) -> Verdict:
    """As it stands, then exported on a positive example and asked on both sides."""
    import torch

    from course.lessons.l14_export.experiments import export_function

    for name, given, expected in GATED:
        got = gate(torch.tensor(given))
        if got is None or got is Ellipsis:
            return PLACEHOLDER
        if not isinstance(got, torch.Tensor) or got.tolist() != expected:
            return incorrect(
                both(
                    f"Before any export: for {given} ({name}) the answer is {expected}, not {data(got)!r}.",
                    f"还没导出就不对：输入 {given} 时应得 {expected}，而不是 {data(got)!r}。",
                ),
                reason="function",
            )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sent = export_function(gate, torch.tensor(GATED[0][1]))
    except Exception as error:  # noqa: BLE001  (export refuses in many types)
        return incorrect(
            both(
                f"Right in Python; `torch.export` refuses it ({type(error).__name__}): a Python `if`, "
                "`float()` or `.item()` needs the number now, and there is none yet. "
                "Let a tensor operation choose.",
                f"在 Python 里是对的，但 `torch.export` 不收（{type(error).__name__}）：`if`、`float()`、`.item()` 当场就要那个数，"
                "可这时还没有数。让张量运算来选。",
            ),
            reason="refused",
        )
    for name, given, expected in GATED:
        if sent(torch.tensor(given)).tolist() != expected:
            return incorrect(
                both(
                    f"Exported, it gives another answer on {name}: the branch of the example was baked in.",
                    f"导出以后，输入 {given} 的答案变了：示例走的那条分支被写死了。",
                ),
                reason="baked",
            )
    return correct(
        both("Both sides travel now, and the numbers choose at run time.", "现在两边都带走了，到运行时再由数据来选。")
    )


CHECKS = {"14-ready": check_ready, "14-gate": check_gate}
