"""What one switch or query of torch.backends is: plain data, and how to read it without ever failing.

Nothing here imports torch before a value is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from course.core.i18n import Text, both, pick, t


class Absent:
    """The value of a switch that this version or build of torch does not have. It is false."""

    def __repr__(self) -> str:
        return t("(absent here)", "（此处没有）")

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Absent)

    def __hash__(self) -> int:
        return hash(Absent)


ABSENT = Absent()
OLDEST = "<=2.9"
WHEN: dict[str, Text] = {
    "call": both("at each call", "每次调用时"),
    "new": both("at the first call of a new problem", "遇到新问题，第一次调用时"),
    "prepack": both("when weights are packed", "打包权重时"),
    "compile": both("while compiling", "编译时"),
    "at-once": both("at once, when it is set", "设置时立刻"),
    "block": both("inside its block", "块内"),
    "first-use": both("at its first use, then kept", "第一次用到时，之后不变"),
    "import": both("when torch is imported", "导入 torch 时"),
    "start": both("when the process starts", "进程启动时"),
    "build": both("fixed when torch was built", "编译 torch 时定下"),
    "ask": both("when you ask", "你问的时候"),
}
"""When a switch is read."""
CUDA_ASLEEP = "CUDA is not in use"


@dataclass(frozen=True)
class Unreadable:
    """The value of a switch that torch refuses to tell; `message` is what torch said. It is false."""

    message: str

    @property
    def why(self) -> Text:
        """Why torch refused, as a short sentence; torch's message if we have none."""
        if "legacy and new API" in self.message:
            return both(
                "the older and the newer precision settings contradict each other", "新旧两套精度接口的设置互相矛盾"
            )
        if self.message == CUDA_ASLEEP:
            return both("CUDA is not in use", "CUDA 没有启用")
        own = self.message.split(". ")[0][:160].rstrip(".")
        return both(own, own)

    @property
    def reason(self) -> str:
        """`why` in the learner's language."""
        return pick(self.why)

    def __repr__(self) -> str:
        return t(f"(unreadable: {self.reason})", f"（无法读取：{self.reason}）")

    def __bool__(self) -> bool:
        return False


class Depends:
    """The default of a switch that depends on the build or the machine."""

    def __repr__(self) -> str:
        return t("(varies)", "（视情况）")


DEPENDS = Depends()


class FlagError(ValueError):
    """A wrong switch name or value, said in one sentence with the next step, in the learner's language."""

    def _render_traceback_(self) -> list[str]:
        return [f"FlagError: {self}"]


def wrong(english: str, chinese: str) -> FlagError:
    """The error to raise, with its sentence in the learner's language."""
    return FlagError(t(english, chinese))


@dataclass(frozen=True)
class Switch:
    """One attribute or function of torch.backends, or a process-wide setting of torch that belongs beside it.

    name: the path after `torch.backends.`; names starting with `torch.` live outside torch.backends, those starting
    with `env.` are environment variables. also: other names in torch of the same thing.
    kind: `switch` (assign to it), `setter` (change it by calling a function), `query` (read only),
    `tool` (a context manager, helper or script: no value), `env`, `internal` (shows, but is for torch alone).
    default: in a fresh process, or DEPENDS, and then `depends` says on what. takes: what it accepts, `bool`,
    `precision`, `int`, `text`. readers, when: who reads it, and a key of WHEN.
    frozen: whether `torch.backends.disable_global_flags()` forbids the plain assignment.
    since, until: the first and the last torch version to have it; since OLDEST: that version had it already.
    experiment: of the course, that shows it; nobody: why nobody needs it.
    get, set: only where the plain attribute is not enough; each receives the module torch first.
    """

    name: str
    kind: str
    text: Text
    when: str
    since: str
    source: str
    default: Any = DEPENDS
    depends: Text | None = None
    readers: Text = field(default_factory=lambda: both("nobody on this side", "无"))
    takes: str = ""
    also: tuple[str, ...] = ()
    until: str = ""
    frozen: bool = False
    note: Text | None = None
    experiment: str = ""
    nobody: Text | None = None
    get: Callable[[Any], Any] | None = None
    set: Callable[[Any, Any], Any] | None = None

    @property
    def changeable(self) -> bool:
        """Whether it holds state that somebody may change."""
        return self.kind in ("switch", "setter")

    @property
    def group(self) -> str:
        """The submodule it belongs to: `cudnn`, `cuda`, ...; `root` for the top, `torch` outside."""
        head, _, rest = self.name.partition(".")
        return head if rest else "root"

    @property
    def path(self) -> str:
        """How a program writes it."""
        return self.path_of(self.name)

    def path_of(self, name: str) -> str:
        """How a program writes this name or another of the same thing."""
        return name.removeprefix("env.") if self.group in ("torch", "env") else f"torch.backends.{name}"

    @property
    def new_in(self) -> str:
        """The version that brought it; empty where the oldest one that the course supports had it already."""
        return "" if self.since == OLDEST else self.since

    def read(self) -> Any:
        """The value here and now, ABSENT, or Unreadable. Never raises, never warns."""
        return quietly(self.look)

    def look(self, torch: Any) -> Any:
        """The same, inside a call of `quietly`: it takes longer than the reading."""
        if self.kind == "tool":
            return ABSENT
        try:
            value = (self.get or self._walk)(torch)
        except (AttributeError, AssertionError, ImportError):
            return ABSENT
        except Exception as error:  # noqa: BLE001  (torch says no in many types; the reason is what matters)
            return Unreadable(str(error).strip())
        return ABSENT if value is None and self.changeable else value

    def write(self, value: Any) -> None:
        """Set it, also after `torch.backends.disable_global_flags()`. Raises what torch raises."""
        quietly(lambda torch: self._assign(torch, value))

    def _walk(self, torch: Any) -> Any:
        found = torch.backends
        for part in self.name.split("."):
            found = getattr(found, part)
        return found() if self.kind == "query" and callable(found) else found

    def _assign(self, torch: Any, value: Any) -> None:
        # The gate that torch's own flags() context managers open for themselves.
        gate = getattr(torch.backends, "__allow_nonbracketed_mutation")
        with gate():
            if self.set is not None:
                self.set(torch, value)
                return
            owner, last = torch.backends, self.name.split(".")
            for part in last[:-1]:
                owner = getattr(owner, part)
            setattr(owner, last[-1], value)


def quietly(function: Callable[[Any], Any]) -> Any:
    """`function(torch)` with every Python warning held back."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(torch)


def first_sentence(error: BaseException) -> str:
    """The first line of an exception's message up to its first full stop, at most 160 characters."""
    lines = str(error).strip().splitlines()
    line = (lines[0] if lines else type(error).__name__).strip()
    return line.split(". ")[0][:160].rstrip(".")
