"""Code tasks of lesson 14 that export: a program for inference, and one that leaves without a Python branch."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from course.exercises.slips import data
from course.exercises.told import Told, placeholder_in

# --- ready --------------------------------------------------------------------------------------------------


def check_ready(ready: Callable[[Any, Any], Any]) -> None:
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
    placeholder_in(program)
    if not isinstance(program, torch.export.ExportedProgram):
        raise Told("no-program", kind=type(program).__name__)
    run = program.module()
    with torch.no_grad():
        got = run(x)
    if not torch.allclose(got, expected, rtol=1e-3, atol=1e-4):
        raise Told("train-mode")
    if any(not torch.equal(state[name], tensor) for name, tensor in model.state_dict().items()):
        raise Told("changed")
    if {name: part.training for name, part in model.named_modules()} != modes:
        raise Told("modes")
    try:
        with torch.no_grad():
            fits = torch.allclose(run(seven), of_seven, rtol=1e-3, atol=1e-4)
    except Exception:  # noqa: BLE001  (a guard, in one form or another)
        fits = False
    if not fits:
        raise Told("one-size")


# --- gate ---------------------------------------------------------------------------------------------------

GATED = (
    ("the example's side", [1.0, 2.0, -0.5], [2.0, 4.0, -1.0]),
    ("the other side", [-1.0, 0.5, -2.0], [-2.0, -0.5, -3.0]),
    ("one large negative value", [3.0, 3.0, -9.0], [2.0, 2.0, -10.0]),
    ("a sum of 0", [1.0, -1.0, 0.0], [0.0, -2.0, -1.0]),
    ("a small sum", [0.5, 0.25, -0.25], [1.0, 0.5, -0.5]),
)


def check_gate(gate: Callable[[Any], Any]) -> None:
    """As it stands, then exported on a positive example and asked on both sides."""
    import torch

    from course.lessons.l14_export.experiments import export_function

    for name, given, expected in GATED:
        got = gate(torch.tensor(given))
        placeholder_in(got)
        if not isinstance(got, torch.Tensor) or got.tolist() != expected:
            raise Told("function", given=given, name=name, expected=expected, got=data(got))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sent = export_function(gate, torch.tensor(GATED[0][1]))
    except Exception as error:  # noqa: BLE001  (export refuses in many types)
        raise Told("refused", kind=type(error).__name__) from None
    for name, given, expected in GATED:
        if sent(torch.tensor(given)).tolist() != expected:
            raise Told("baked", name=name, given=given)


CHECKS = {"14-ready": check_ready, "14-gate": check_gate}
