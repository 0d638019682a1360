"""Every name by which people call a switch: short, long, as an environment variable, or in a pasted line of code."""

from __future__ import annotations

import re
from functools import cache

from course.flags.catalogue import EXPECTED, TABLE
from course.flags.switch import Switch

_CHINESE = re.compile("[\u4e00-\u9fff]")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


_CODE = frozenset(
    "import from as with and or not in is if print export python true false none torch os sys environ".split()
)


def is_prose(text: str) -> bool:
    """Whether a text is a question or a sentence: more than three words, or four Chinese characters, beyond names and code."""
    words = [one for one in _NAME.findall(text) if not re.search(r"[._\d]", one) and one.lower() not in _CODE]
    return len(words) > 3 or len(_CHINESE.findall(text)) > 3


def asks_more(text: str) -> bool:
    """Whether a text that names a switch says more than names and code: a symptom, such as ``slower`` or ``is_available False``."""
    bare = re.sub(r"\(.*?\)|\[.*?\]|=\s*\S+|([\"'`]).*?\1", " ", text)
    words = [one.lower() for one in _NAME.findall(bare)]
    parts = {part for row in named(text) for path in (row.name, row.path) for part in path.lower().split(".")}
    beyond = [one for one in words if not re.search(r"[._\d]", one) and one not in _CODE and one not in parts]
    return bool(beyond or {"true", "false"} & set(words) or _CHINESE.search(bare))


@cache
def _endings() -> dict[str, tuple[Switch, ...]]:
    """`benchmark`, `cudnn.benchmark`, `torch.backends.cudnn.benchmark` -> the rows so called."""
    found: dict[str, dict[str, Switch]] = {}
    for row in TABLE.values():
        for path in (row.path, *map(row.path_of, row.also)) if row.kind != "internal" else ():
            parts = path.lower().split(".")
            for place in range(len(parts)):
                found.setdefault(".".join(parts[place:]), {})[row.name] = row
            if parts[1:]:  # as options of frameworks are spelt: cudnn_benchmark
                found.setdefault("_".join(parts[-2:]), {})[row.name] = row
    return {name: tuple(rows.values()) for name, rows in found.items()}


@cache
def _inside() -> dict[str, tuple[Switch, ...]]:
    """`cudnn`, `cufft_plan_cache`, `cuda.matmul` -> the rows below that name."""
    found: dict[str, dict[str, Switch]] = {}
    for row in TABLE.values():
        parts = [part for part in row.path.lower().split(".")[:-1] if part not in ("torch", "backends")]
        for start in range(len(parts) if row.kind != "internal" else 0):
            for end in range(start + 1, len(parts) + 1):
                found.setdefault(".".join(parts[start:end]), {})[row.name] = row
    return {name: tuple(rows.values()) for name, rows in found.items()}


def named(text: str) -> list[Switch]:
    """The rows of the table of switches that a text names; empty where it names none.

    A text of one name may be short (``benchmark``) or a group (``nnpack``). In a line of code or prose a name counts only
    where it has a dot or an underscore, such as ``cudnn.benchmark`` in ``torch.backends.cudnn.benchmark = True``, or, in
    prose, where it gets a value (``benchmark=True``). Of several rows those count whose group is named too: ``mps is_available``,
    which may be written ``mps not available``.
    """
    names = [one.lower() for one in _NAME.findall(text)]
    if not names:
        return []
    queried = re.findall(r"([a-z]+) ?(?: (?:is |isn't )?(?:not |un)?available\b|不可用|用不了)", text.lower())
    names += [name for one in queried if (name := f"{one}.is_available") in TABLE]
    alone = names[0] if len(names) == 1 or re.match(r"\s*[\w.]+\s*(\(|=[^=])", text) else ""
    given = set() if alone else set(re.findall(r"\b([a-z]\w*)=", text.lower()))
    found: dict[str, Switch] = {}
    for name in names:
        if name == alone or "." in name or "_" in name or name in given:
            rows = _known(name)
            if name in given:  # a bare option is cuDNN's wherever frameworks have it
                rows = tuple(row for row in rows if row.name == f"cudnn.{name}") or rows
            inside = [row for row in rows if set(names) & set(row.path.lower().split(".")[:-1]) - {"torch", "backends"}]
            found |= {row.name: row for row in inside or rows}
    if not found and alone and not _CHINESE.search(text):
        found = {row.name: row for row in _inside().get(alone.removeprefix("torch.").removeprefix("backends."), ())}
    return list(found.values())


def _known(name: str) -> tuple[Switch, ...]:
    """The rows called so: the longest ending of the name that is known by at least two parts, or the name as it stands."""
    parts = name.split(".")
    short = ".".join(parts).removeprefix("torch.").removeprefix("backends.")
    if short in EXPECTED:
        return (TABLE[EXPECTED[short]],)
    for place in range(max(1, len(parts) - 1)):
        if rows := _endings().get(".".join(parts[place:])):
            return rows
    return ()
