"""Running the other counters, each on a copy of the model, and reading what they say part by part.

Every reader returns a PeerCount whose parts add up to the number the tool reports, so that a difference can
be traced to where it comes from. A missing package, or a tool that stops, is a PeerCount with a note and no
number.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import inspect
import io
import logging
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course.core.i18n import Text, both
from course.core.process_state import process_state_preserved
from course.flops.copies import Copies, Real


@dataclass(frozen=True)
class Reason:
    """amount: MACs the tool counts more (negative: fewer) than the convention. text: why, in both languages."""

    amount: int
    text: Text


@dataclass
class PeerCount:
    """What one tool says.

    reported: its own number, in its own `unit` ("MACs" or "FLOPs"); None if it gave none (`note` says why).
    by_module: MACs at the modules it has a rule for, by dotted path. by_operator: MACs by operator name.
    functions: MACs from functions it patched. per_sample: batch size it divides the modules' work by. difference: its MACs
    minus ours. reasons: pieces that add up to the difference.
    """

    tool: str
    unit: str = "MACs"
    reported: int | None = None
    by_module: dict[str, int] | None = None
    by_operator: dict[str, int] | None = None
    functions: int = 0
    per_sample: int = 1
    note: Text | None = None
    difference: int | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def macs(self) -> int | None:
        """The number as MACs."""
        if self.reported is None:
            return None
        return self.reported // 2 if self.unit == "FLOPs" else self.reported


@contextlib.contextmanager
def torch_as_it_was() -> Iterator[None]:
    """No prints, no warnings, no gradients; torch's functions as they were, whatever the block patches."""
    level = logging.root.manager.disable
    before = [(space, dict(vars(space))) for space in (torch, torch.nn.functional, torch.Tensor)]
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            torch.no_grad(),
        ):
            warnings.simplefilter("ignore")
            logging.disable(logging.WARNING)
            yield
    finally:
        logging.disable(level)
        for space, names in before:
            for name in [name for name, value in names.items() if vars(space).get(name) is not value]:
                if callable(names[name]):
                    setattr(space, name, names[name])
        for name in set(vars(torch.Tensor)) - set(before[-1][1]):
            delattr(torch.Tensor, name)


Reader = Callable[[nn.Module, tuple[Any, ...]], PeerCount]


class OutOfTime(BaseException):
    """The time is over. No Exception, so that a tool does not catch it."""


def _limited(call: Callable[[], Any], seconds: float) -> Any:
    """What `call` gives, in a thread of its own. Raises OutOfTime after `seconds`; the thread ends when it runs Python again."""
    found: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with torch.no_grad():
                found.append(call())
        except BaseException as error:  # noqa: BLE001  (it is raised in the thread that waits)
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(OutOfTime))
        raise OutOfTime
    if raised:
        raise raised[0]
    return found[0]


def _asked(tool: str, model: nn.Module, inputs: tuple[Any, ...], max_time: float) -> PeerCount:
    """What the tool says, or a note why it says nothing; afterwards everything is as it was."""
    module, read = TOOLS[tool]
    package = tool.split(" ")[0]
    try:
        with torch_as_it_was(), process_state_preserved():
            importlib.import_module(module)
            copies = Copies(Real(), Counter())
            own, given = copies.of_call((model, inputs))
            with copies.in_place():
                return _limited(lambda: read(own.eval(), given), max_time)
    except OutOfTime:
        note = both(
            f"{tool} was cut off after {max_time:g} s; to wait longer: cross_check(model, x, max_time={10 * max_time:g})",
            f"{tool} 超过 {max_time:g} 秒仍未完成，已中断；若愿意多等：cross_check(model, x, max_time={10 * max_time:g})",
        )
    except ImportError as error:
        note = both(
            f"{package} is not installed or cannot be imported here ({error}): pip install {package}",
            f"{package} 没有安装，或在这里无法导入（{error}）：pip install {package}",
        )
    except (Exception, SystemExit) as error:  # a foreign tool may stop in any way: a result, not our failure
        first = (str(error).strip() or type(error).__name__).split("\n")[0]
        note = both(
            f"{tool} stopped with {type(error).__name__}: {first}", f"{tool} 中断，{type(error).__name__}：{first}"
        )
    return PeerCount(tool, note=note)


def _thop(model: nn.Module, inputs: tuple[Any, ...]) -> PeerCount:
    from thop.profile import profile, register_hooks

    total, _, details = profile(model, inputs, verbose=False, ret_layer_info=True)
    found: dict[str, int] = {}

    def walk(level: dict[str, Any], prefix: str) -> None:
        for name, (macs, _, below) in level.items():
            path = prefix + name
            if below:
                walk(below, path + ".")
            else:
                found[path] = int(macs)

    walk(details, "")
    if type(model) in register_hooks and not details:
        found[""] = int(total)
    names = {path: type(module) for path, module in model.named_modules()}
    ruled = {path: macs for path, macs in found.items() if names.get(path) in register_hooks}
    return PeerCount("thop", reported=int(total), by_module=ruled)


def as_one(model: nn.Module, inputs: tuple[Any, ...]) -> Any:
    """The inputs in the form ptflops passes on: one tensor, or keywords named as in the forward."""
    if len(inputs) == 1:
        return inputs[0]
    names = list(inspect.signature(model.forward).parameters)
    return dict(zip(names, inputs, strict=False))


def _ptflops(model: nn.Module, inputs: tuple[Any, ...]) -> PeerCount:
    from ptflops import get_model_complexity_info
    from ptflops.pytorch_engine import add_flops_counting_methods
    from ptflops.pytorch_ops import MODULES_MAPPING

    with contextlib.redirect_stdout(io.StringIO()) as said:
        whole, _ = get_model_complexity_info(
            model,
            (1,),
            as_strings=False,
            print_per_layer_stat=False,
            backend="pytorch",
            input_constructor=lambda _: as_one(model, inputs),
        )
    if whole is None:
        raise RuntimeError((said.getvalue().strip().split("\n")[-1] or "no word")[:200])
    model = add_flops_counting_methods(model)
    model.eval()
    model.start_flops_count(ost=io.StringIO(), verbose=False, ignore_list=[])
    model(*inputs)
    inside: set[int] = set()
    found = {}
    for path, module in model.named_modules():
        if type(module) in MODULES_MAPPING and id(module) not in inside:
            found[path] = int(module.__flops__)
            inside.update(id(below) for below in module.modules())
    batch = len(inputs[0]) if len(inputs) == 1 and isinstance(inputs[0], torch.Tensor) else 1
    functions = int(whole) - sum(found.values()) // batch
    return PeerCount("ptflops pytorch", reported=int(whole), by_module=found, functions=functions, per_sample=batch)


def _ptflops_aten(model: nn.Module, inputs: tuple[Any, ...]) -> PeerCount:
    from ptflops.aten_engine import FlopCounterMode

    model.eval()
    counter = FlopCounterMode()
    with counter:
        model(*inputs)
    found = _by_short_name(counter.flop_counts["Global"], 1)
    return PeerCount("ptflops aten", reported=int(counter.complexity), by_operator=found)


def _torch_counter(model: nn.Module, inputs: tuple[Any, ...]) -> PeerCount:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    found = _by_short_name(counter.get_flop_counts().get("Global", {}), 2)
    return PeerCount("torch FlopCounterMode", "FLOPs", reported=int(counter.get_total_flops()), by_operator=found)


def _by_short_name(counts: dict[Any, int], unit: int) -> dict[str, int]:
    return {str(operator).split(".")[-1]: int(number) // unit for operator, number in counts.items()}


TOOLS: dict[str, tuple[str, Reader]] = {
    "thop": ("thop.profile", _thop),
    "ptflops pytorch": ("ptflops", _ptflops),
    "ptflops aten": ("ptflops", _ptflops_aten),
    "torch FlopCounterMode": ("torch.utils.flop_counter", _torch_counter),
}
"""The tools asked: what is imported, and how to read what it says."""


def ask_all(model: nn.Module, inputs: tuple[Any, ...], max_time: float) -> list[PeerCount]:
    """Every tool in turn, each for at most `max_time` seconds."""
    return [_asked(tool, model, inputs, max_time) for tool in TOOLS]
