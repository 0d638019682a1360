"""Reading all switches, setting some for a block, and putting everything back in every case."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from course.core.i18n import t
from course.flags import precision
from course.flags.catalogue import SWITCHES, find
from course.flags.switch import ABSENT, Absent, Switch, Unreadable, first_sentence, quietly, wrong


def read() -> dict[str, Any]:
    """Every switch and query by name, here and now.

    What this build lacks is ABSENT; what torch refuses to tell (after the older and the newer precision
    calls were mixed) is Unreadable with the reason. Never raises, never warns.
    """
    return {name: switch.read() for name, switch in SWITCHES.items() if switch.kind != "tool"}


def snapshot() -> dict[str, Any]:
    """The present value of everything that can be changed, by name; queries are left out. Else as `read`."""
    return {name: switch.read() for name, switch in SWITCHES.items() if switch.changeable}


def check_value(switch: Switch, value: Any) -> None:
    """Raises FlagError, in words, for a value of the wrong type; torch itself judges the rest."""
    is_bool, is_text = isinstance(value, bool), isinstance(value, str)
    fits, spelled = {
        "bool": (is_bool, t("True or False", "True 或 False")),
        "int": (isinstance(value, int) and not is_bool, t("a whole number", "一个整数")),
        "precision": (is_text, t("one of 'none', 'ieee', 'tf32', 'bf16'", "'none'、'ieee'、'tf32'、'bf16' 之一")),
        "text": (is_text, t("a string", "一个字符串")),
        "bool or 'warn'": (is_bool or value == "warn", t("True, False or 'warn'", "True、False 或 'warn'")),
    }[switch.takes]
    if not fits:
        raise wrong(
            f"{switch.name} takes {spelled}, not {value!r} ({type(value).__name__}).",
            f"{switch.name} 需要 {spelled}，而不是 {value!r}（{type(value).__name__}）。",
        )


def assign(name: str, value: Any) -> None:
    """Set one switch for good, also after `torch.backends.disable_global_flags()`.

    A value that means "nothing here" (ABSENT, Unreadable) is passed over. Raises FlagError, in words, for an
    unknown name, something that cannot be set, or a value torch refuses.
    """
    switch = find(name)
    if isinstance(value, (Absent, Unreadable)):
        return
    _check_settable(switch)
    check_value(switch, value)
    try:
        switch.write(value)
    except Exception as error:  # noqa: BLE001  (torch refuses in many types)
        raise wrong(
            f"torch refused {switch.name} = {value!r}: {first_sentence(error)}.",
            f"torch 不接受 {switch.name} = {value!r}：{first_sentence(error)}。",
        ) from error
    if switch.takes == "precision" and value != "none" and switch.read() != value:  # torch 2.9 does not raise
        raise wrong(
            f"torch refused {switch.name} = {value!r}: no such precision there.",
            f"torch 不接受 {switch.name} = {value!r}：那里没有这种精度。",
        )


def _check_settable(switch: Switch) -> None:
    if not switch.changeable:
        raise wrong(
            f"{switch.name} is a {switch.kind}: it tells something and cannot be set.",
            f"{switch.name} 只能查询，不能设置。",
        )
    if switch.read() == ABSENT:
        raise wrong(
            f"{switch.name} does not exist in this build of torch, so it cannot be set here. "
            f"`using(..., skip_absent=True)` passes over it.",
            f"当前的 torch 构建没有 {switch.name}，因此无法设置。用 `using(..., skip_absent=True)` 可以跳过它。",
        )


def _check_restorable(switch: Switch) -> None:
    value = switch.read()
    if isinstance(value, Unreadable) and switch.name not in precision.LINKED:
        raise wrong(
            f"torch does not tell the value of {switch.name} now ({value.reason}), so it cannot be put back.",
            f"torch 现在不给出 {switch.name} 的值（{value.reason}），因此之后无法恢复。",
        )


class using(contextlib.ContextDecorator):  # noqa: N801  (reads as a verb: with using({...}):)
    """Change only the switches named, for one block, and put them back whatever happens in it.

    >>> with using({"cudnn.benchmark": True, "torch.num_threads": 1}):
    ...     ...

    settings: name -> value; names as in SWITCHES. skip_absent: pass over what this build lacks instead of
    raising. Raises FlagError at once for a wrong name or type, before anything is changed. Restored: the
    value each named switch had on entry, also after an exception, Ctrl-C or changes made inside; the
    precision switches as a whole tree, since they are linked. `pinned` afterwards lists the one thing torch
    cannot take back: cuDNN leaves that read the same but no longer follow their parent (see
    course.flags.precision).
    """

    def __init__(self, settings: Mapping[str, Any] | None = None, *, skip_absent: bool = False, **more: Any) -> None:
        if settings is not None and not isinstance(settings, Mapping):
            raise wrong(
                'Write the switches as a dictionary: using({"cudnn.benchmark": True}).',
                '请用字典写出开关：using({"cudnn.benchmark": True})。',
            )
        self.settings: dict[str, Any] = {}
        self.pinned: list[str] = []
        self._saved: list[Saved] = []
        for name, value in {**(settings or {}), **more}.items():
            switch = find(name)
            if skip_absent and switch.changeable and switch.read() == ABSENT:
                continue
            _check_settable(switch)
            _check_restorable(switch)
            check_value(switch, value)
            self.settings[switch.name] = value

    def __enter__(self) -> using:
        saved = Saved(self.settings)
        self._saved.append(saved)
        try:
            for name in sorted(self.settings, key=_order):
                if SWITCHES[name].read() != self.settings[name]:
                    assign(name, self.settings[name])
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.pinned = self._saved.pop().put_back()


def _order(name: str) -> tuple[bool, int]:
    """The float32 matmul shortcut first, since it writes over leaves; then parents before leaves."""
    return name != "torch.float32_matmul_precision", list(SWITCHES).index(name)


class Saved:
    """The values some switches had, and how to put them back."""

    def __init__(self, names: Any) -> None:
        alone = [name for name in names if name not in precision.LINKED]
        self.values = quietly(lambda torch: {name: SWITCHES[name].look(torch) for name in alone})
        linked = any(name in precision.LINKED for name in names)
        self.precision = precision.save() if linked else None

    def put_back(self) -> list[str]:
        """Restore all of them, also when one fails or Ctrl-C arrives; then raise the first failure."""
        failures = self._write(list(reversed(self.values.items())))
        if failures:  # some switches accept a value only after another has changed
            failures = self._write([(name, self.values[name]) for name in reversed(failures)])
        errors = list(failures.values())
        try:
            pinned = precision.restore(self.precision)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)
            pinned = precision.restore(self.precision)
        if errors:
            raise errors[0]
        return pinned

    def _write(self, values: list[tuple[str, Any]]) -> dict[str, BaseException]:
        """Put back each value; gives the failures by name."""
        return quietly(lambda torch: self._write_on(torch, values))

    def _write_on(self, torch: Any, values: list[tuple[str, Any]]) -> dict[str, BaseException]:
        failures: dict[str, BaseException] = {}
        for name, value in values:
            try:
                now = SWITCHES[name].look(torch)
                if now != value and not any(isinstance(one, (Absent, Unreadable)) for one in (now, value)):
                    SWITCHES[name].write(value)
            except BaseException as error:  # noqa: BLE001  (the others must still be put back)
                failures[name] = error
        return failures


@contextlib.contextmanager
def preserved() -> Iterator[None]:
    """Put back every switch after the block, whatever the block changed and however it ends."""
    saved = Saved([name for name, switch in SWITCHES.items() if switch.changeable])
    try:
        yield
    finally:
        saved.put_back()
