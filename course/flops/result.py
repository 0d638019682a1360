"""What a count found: plain data, with rows, a sentence, tables and a plot made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from course.flops import render


@dataclass
class ModuleCount:
    """One module of the model and the work done in it.

    name: dotted path, "" for the model itself. kind: class name. own: MACs in its own forward, outside its children.
    calls: how often its forward ran. params: its own parameters (a tied one counts where it is seen first).
    """

    name: str
    kind: str
    own: int = 0
    calls: int = 0
    params: int = 0
    children: list[ModuleCount] = field(default_factory=list)

    @property
    def macs(self) -> int:
        """MACs of the module, children included."""
        return self.own + sum(child.macs for child in self.children)

    @property
    def flops(self) -> int:
        """2 x MACs, children included."""
        return 2 * self.macs

    @property
    def total_params(self) -> int:
        """Parameters of the module, children included."""
        return self.params + sum(child.total_params for child in self.children)

    def walk(self, depth: int = 0) -> Iterator[tuple[int, ModuleCount]]:
        """(depth, module) of the module and everything below, top down."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


@dataclass(frozen=True, repr=False)
class FlopCount:
    """The work of one forward, or of one training step (forward and backward); `c["layer1.0"]` is that of a module.

    The convention is that of `count`. params: number of distinct parameters. by_module: tree of ModuleCount.
    by_operator: MACs of each operator, largest first. calls: how often each of them ran. unknown: operators neither
    counted nor provably free of contractions, and work out of sight (other threads, NumPy, gradient hooks), with
    their number of calls. element_operations: elements read or written by operators that count 0 MACs. ground: "meta"
    (from shapes alone) or "real" (it ran: the control flow or a kernel needed data, and the count is of this input).
    """

    macs: int
    params: int
    by_module: ModuleCount
    by_operator: dict[str, int]
    calls: dict[str, int]
    unknown: dict[str, int]
    element_operations: int
    training: bool
    ground: str

    @property
    def flops(self) -> int:
        """Floating-point operations (an amount of work, not a rate): 2 x MACs."""
        return 2 * self.macs

    @property
    def exact(self) -> bool:
        """A certificate: every operator that ran was counted, or provably holds no contraction."""
        return not self.unknown

    def __getitem__(self, name: str) -> ModuleCount:
        known = {module.name: module for _, module in self.by_module.walk()}
        if name not in known:
            raise KeyError(f"no module {name!r}; there are {', '.join([*filter(None, known)][:8]) or 'none'} ...")
        return known[name]

    def rows(self, depth: int | None = None) -> list[dict[str, Any]]:
        """Tidy rows, one a module down to `depth`: module, kind, depth, macs, flops, share, params."""
        return [
            {"module": at.name, "kind": at.kind, "depth": level, "macs": at.macs, "flops": at.flops}
            | {"share": at.macs / max(self.macs, 1), "params": at.total_params}
            for level, at in self.by_module.walk()
            if depth is None or level <= depth
        ]

    def sentence(self) -> str:
        """What was counted, the work, and whether it is exact, in one sentence."""
        return render.sentence(self)

    def table(self, depth: int = 2) -> str:
        """A text table of the modules down to `depth`, then the operators."""
        return render.text(self, depth)

    def __repr__(self) -> str:
        return self.sentence()

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return render.page(self)
