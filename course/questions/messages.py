"""Errors and warnings of PyTorch and its libraries: what each means, who is to blame, how to tell, what to do.

They stand in ``messages.yaml``. ``find`` knows a message however it was pasted: only its letters are compared, so paths,
numbers, line breaks, colours of a terminal and the traceback around it make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from course.core.catalog import FOLDER
from course.core.i18n import Text, both, pick
from course.core.suggest import nearest
from course.questions.bank import read_yaml

FILE = FOLDER / "messages.yaml"
VARIES = "…"
"""Stands in a message for a part that is different each time."""
GROUPS: dict[str, Text] = {
    "cudnn": both("cuDNN", "cuDNN"),
    "precision": both("TF32 and precision", "TF32 与精度"),
    "determinism": both("Determinism", "确定性"),
    "attention": both("Attention", "注意力"),
    "cpu": both("The CPU", "CPU"),
    "mps": both("MPS (Apple GPUs)", "MPS（苹果 GPU）"),
    "cuda": both("CUDA and its libraries", "CUDA 及其库"),
    "compile": both("torch.compile", "torch.compile"),
    "settings": both("The switches themselves", "开关本身"),
}
ROWS: tuple[tuple[str, Text], ...] = (
    ("means", both("What it means", "意思")),
    ("switch", both("Which switch", "与哪个开关有关")),
    ("check", both("How to tell the causes apart", "怎么分辨原因")),
    ("cure", both("What to do", "怎么办")),
)
"""The fields of a message in their order, and what they are called."""
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PASTED = re.compile(
    r"\b\w*(?:error|warning|exception)\b[^:：\n]{0,40}[:：]|\bexc\.\w+:|\bassertion\b.*\bfailed\b|\bterminated? with\b"
    r"|\bcould not \w+ a primitive\b|\bfatal\b|\bbut got\b|\w\.(?:py|cc|cpp|cu|mm):\d",
    re.I,
)
"""What stands in a message of a program and in no question of a person."""
STATUS = re.compile("_(?:STATUS|ERROR)_")
"""What makes a constant the very thing that a message says."""
_LIBRARIES = {
    one: one
    for one in (*GROUPS, "cublas", "cufft", "cusolver", "magma", "nnpack", "onednn", "openmp", "einsum", "autocast")
}
_LIBRARIES |= {"primitive": "onednn", "dnn": "onednn", "omp": "openmp", "dynamo": "compile", "inductor": "compile"}
"""What in a text names a library or a device -> the group, or the first word of the ids, of its messages."""
_LETTER = re.compile(r"[^\W\d_]")
_SHORTEST, _CUT = 8, 20
"""Letters from which a part of a message is known; more are needed where other text stands before it."""


@dataclass(frozen=True)
class Message:
    """One error or warning. says: its fixed parts, in one or several wordings. switches: names in the table of switches.

    provoke: code that makes it appear on a CPU, with wheels of this build only (empty: all); cure_code: code of the cure, which runs
    on a CPU and is shown; cure_check: what must hold after it, for the tests alone.
    versions: the versions of torch that say it.
    """

    id: str
    group: str
    says: tuple[str, ...]
    means: Text
    switch: Text
    check: Text
    cure: Text
    source: str
    versions: Text
    switches: tuple[str, ...] = ()
    experiment: str = ""
    provoke: str = ""
    build: str = ""
    cure_code: str = ""
    cure_check: str = ""

    def rows(self, code: str | None = None) -> list[tuple[str, str]]:
        """(name, text) of each field that a person reads, in their order."""
        return [(pick(name, code), pick(getattr(self, field), code)) for field, name in ROWS]


@cache
def read() -> dict[str, Message]:
    """The messages by id, in the order of the file."""
    tuples = ("says", "switches")
    return {
        one: Message(one, **raw | {key: tuple(raw.get(key, ())) for key in tuples})
        for one, raw in read_yaml(FILE).items()
    }


def letters(text: str) -> str:
    """The letters of a text in one row, in lower case."""
    return "".join(_LETTER.findall(_ANSI.sub("", text).lower()))


def find(pasted: str, known: Iterable[Message]) -> list[Message]:
    """The messages that stand whole in a pasted text, the longest first; one that lies inside another's words is left out."""
    given = letters(pasted)
    hits = []
    for one in known:
        spans = [span for said in one.says if (span := _span(_parts(said), given))]
        hits += [(max(spans, key=lambda span: span[1] - span[0]), one)] if spans else []
    hits.sort(key=lambda hit: hit[0][0] - hit[0][1])
    kept: list[tuple[tuple[int, int], Message]] = []
    for (start, end), one in hits:
        if not any(first <= start and end <= last for (first, last), _ in kept):
            kept.append(((start, end), one))
    return [one for _, one in kept]


def wording(one: Message, pasted: str) -> str:
    """The wording of a message that stands in a pasted text, the longest of them; its first where none does."""
    given = letters(pasted)
    return max((said for said in one.says if _span(_parts(said), given)), key=len, default=one.says[0])


def _parts(said: str) -> list[str]:
    return [letters(part) for part in said.split(VARIES)]


def _span(parts: list[str], given: str) -> tuple[int, int] | None:
    """(start, end) of the parts in this order, or None."""
    first = end = given.find(parts[0])
    for part in parts:
        place = given.find(part, end)
        if place < 0 or first < 0:
            return None
        end = place + len(part)
    return first, end


def part_of(pasted: str, known: Iterable[Message], most: int = 3) -> list[Message]:
    """The messages of which a pasted text is a part, or that it cuts off; those of which it has most, at most ``most``.

    Of texts with a constant such as CUDNN_STATUS_BAD_PARAM only the entry of this one fits, which may be misspelt.
    """
    given, named, sized = letters(pasted), constants(pasted), []
    for one in known:
        own = constants(" ".join(one.says))
        size = max(_piece(given, letters(said)) for said in one.says)
        if any(nearest(name, own, cutoff=0.92) for name in named):
            size = len(given)
        elif named and own and not any(name in other for name in named for other in own):
            size = 0
        sized += [(size, one)] if size else []
    best = max((size for size, _ in sized), default=0)
    return [one for size, one in sized if size == best][:most]


def _piece(given: str, wanted: str) -> int:
    """The letters that a text has of a message: it is a part of the message, or it ends in the message's beginning, cut off."""
    if len(given) >= _SHORTEST and given in wanted:
        return len(given)
    sizes = range(min(len(given), len(wanted)), _CUT - 1, -1)
    return next((size for size in sizes if given.endswith(wanted[:size])), 0)


def is_pasted(text: str) -> bool:
    """Whether a text is what a program said, and no person: only the entry of this very message may answer it."""
    return bool(_PASTED.search(text))


def of_libraries(text: str, known: Iterable[Message]) -> list[Message]:
    """The messages of those libraries and devices that a text names, also in a name, the library's first: of cuBLAS for
    CUBLAS_STATUS_... or cublasCreate.
    """
    named = {own for word, own in _LIBRARIES.items() if re.search(rf"(?<![a-z]){word}", text.lower())}
    every = list(known)
    own = [one for one in every if one.id.partition("-")[0] in named]
    return own + [one for one in every if one.group in named and one not in own]


def constants(text: str) -> list[str]:
    """Names such as CUDNN_STATUS_BAD_PARAM, in their order."""
    return list(dict.fromkeys(re.findall(r"\b[A-Z]+(?:_[A-Z0-9]+)+\b", text)))
