"""Work that a mode of torch cannot see: in other threads, in TorchScript, in compiled code that Python calls by itself."""

from __future__ import annotations

import functools
import re
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

from course.isolation.journal import names_of

_IN_SCRIPT = frozenset(
    """
Constant GetAttr SetAttr ListConstruct ListUnpack TupleConstruct TupleUnpack TupleIndex TupleSlice DictConstruct If
Loop CallMethod CallFunction RaiseException Print Uninitialized unchecked_cast unchecked_unwrap_optional isinstance
NumToTensor TensorToNum ImplicitTensorToNum dtype device layout shape requires_grad is_cuda is_cpu is_mkldnn
is_quantized is_nested is_meta is_sparse data min max abs type index CreateObject Enter Exit rangelist profile Param
Return ConstantChunk ModuleContainerIndex tolist grad ConstantMKLDNNTensor EnumName EnumValue unpackedtuple fork
""".split()
)
"""Nodes of a TorchScript graph that hold structure and no work."""
_SUFFIXES = (".so", ".pyd", ".dylib")


def hidden_nodes(script: Any) -> Counter[str]:
    """Node kinds of a ScriptModule or ScriptFunction that fuse or move work out of sight (optimised graphs have them).

    Operators of `aten` and of other libraries go through the dispatcher; of the interpreter's own nodes (`prim`)
    only those known to hold structure pass.
    """
    if isinstance(script, torch.jit.ScriptModule):
        modules = [one._c for one in script.modules() if isinstance(one, torch.jit.ScriptModule)]
        graphs = [one._get_method(name).graph for one in modules for name in one._method_names()]
    else:
        graphs = [script.graph]
    names = [name for graph in graphs for name in re.findall(r" = prim::([A-Za-z]+)", str(graph))]
    return Counter(f"TorchScript prim::{name}" for name in names if name not in _IN_SCRIPT)


def compiled(frame: types.FrameType) -> str | None:
    """The name of compiled code, neither Python's nor torch's nor NumPy's, that the function of a frame names; or None."""
    if _trusted(frame.f_globals.get("__name__")):
        return None
    used, waiting = names_of(frame.f_code)[0], [frame.f_globals]
    seen: set[int] = set()
    while waiting:
        space = waiting.pop()
        seen.add(id(space))
        for name in used:
            value = space.get(name)
            if isinstance(value, types.ModuleType):
                if _is_compiled(value.__name__):
                    return value.__name__
                if id(vars(value)) not in seen and not _trusted(value.__name__):
                    waiting.append(vars(value))
            elif isinstance(value, types.BuiltinFunctionType) and _is_compiled(value.__module__):
                return f"{value.__module__}.{name}"
    return None


def _trusted(name: Any) -> bool:
    root = name.partition(".")[0] if isinstance(name, str) else ""
    return root in ("", "torch", "numpy", "course") or root in sys.stdlib_module_names


def _is_compiled(name: Any) -> bool:
    path = getattr(sys.modules.get(name), "__file__", None) if not _trusted(name) else None
    return bool(path) and path.endswith(_SUFFIXES)


@contextmanager
def watched(seen: Callable[[str], Any], scripted: Callable[[Any], Any]) -> Iterator[None]:
    """Inside: `seen` hears of work given to another thread, `scripted` gives the block around a call of TorchScript."""
    home, hook = threading.get_ident(), threading.excepthook

    def noted(give: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(give)
        def run(to: Any, /, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == home and not type(to).__module__.startswith("tqdm"):
                seen("work in another thread")
            return give(to, *args, **kwargs)

        return run

    def within(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(script: Any, *args: Any, **kwargs: Any) -> Any:
            with scripted(script):
                return call(script, *args, **kwargs)

        return run

    watch = [
        (threading.Thread, "start", noted),
        (ThreadPoolExecutor, "submit", noted),
        (torch._C.ScriptFunction, "__call__", within),
        (torch._C.ScriptMethod, "__call__", within),
    ]
    before = [(kind, name, getattr(kind, name)) for kind, name, _ in watch]
    threading.excepthook = lambda _: None  # print no error of a thread: the count says that there was one
    for kind, name, wrap in watch:
        setattr(kind, name, wrap(getattr(kind, name)))
    try:
        yield
    finally:
        threading.excepthook = hook
        for kind, name, call in before:
            setattr(kind, name, call)
