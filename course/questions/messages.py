"""Errors and warnings of PyTorch and its libraries: what each means, who is to blame, how to tell, what to do.

They stand in ``messages.yaml``. ``find`` knows a message however it was pasted: only its letters are compared, so paths,
numbers, line breaks, colours of a terminal and the traceback around it make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from course.core.catalog import FOLDER
from course.core.i18n import Text, both, pick
from course.core.suggest import nearest
from course.questions.bank import read_yaml
from course.questions.ranking import SMALL

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
    r"|\bcould not \w+ a primitive\b",
    re.I,
)
"""What stands in a message of a program and in no question of a person."""
_DEVICE = re.compile(r"(?<![A-Za-z])(?:cpu|cuda|mps|xpu)(?![A-Za-z])", re.I)
_LIBRARIES = frozenset({"cublas", "cufft", "cusolver", "magma", "nnpack", "onednn", "openmp", "einsum", "autocast"})
"""First words of ids of messages that are the name of a library."""
_LETTER = re.compile(r"[^\W\d_]")
_SHORTEST, _LONGEST = 8, 6000
"""Letters from which a part of a message tells which one it is; letters of a pasted text that are looked at, from its end."""
_WORDS = 5
"""Words that a pasted text must share with a message, where it holds no piece of it: fewer are those of any question."""
_ENOUGH = 0.6
"""The part of the words, or of the letters in one piece, from which a message is worth offering."""
_NEARLY_WHOLE = 0.8
"""The part of a message that a longer text must hold in one piece: "does not support" alone is any message's."""


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
    """The messages of which a pasted text holds a part, or that share most of its words; the best first, at most ``most``."""
    given, words = letters(pasted)[-_LONGEST:], _words(pasted) if pasted.split()[1:] else set()
    scored, named = [], constants(pasted)
    for one in known:
        if not _same_constants(named, constants(" ".join(one.says))):
            continue
        fitting = (said for said in one.says if not (_ends_otherwise(given, said) or _of_another_device(pasted, said)))
        likeness = max((_likeness(given, words, said) for said in fitting), default=0)
        scored += [(likeness, one)] if likeness >= _ENOUGH else []
    scored.sort(key=lambda pair: -pair[0])
    return [one for likeness, one in scored if likeness > scored[0][0] - 0.2][:most]


def is_pasted(text: str) -> bool:
    """Whether a text is what a program said, and no person: only the entry of this very message may answer it."""
    return bool(_PASTED.search(text))


def of_libraries(text: str, known: Iterable[Message]) -> list[Message]:
    """The messages of those libraries and devices that a text names, also in a constant, the library's first: of cuBLAS for
    CUBLAS_STATUS_...
    """
    words = set(re.findall(r"[a-z]+", text.lower()))
    words |= {"onednn"} if "primitive" in words else set()  # what oneDNN calls what it runs
    every = list(known)
    own = [one for one in every if one.id.partition("-")[0] in words & _LIBRARIES]
    return own + [one for one in every if one.group in words and one not in own]


def constants(text: str) -> list[str]:
    """Names such as CUDNN_STATUS_BAD_PARAM, in their order."""
    return list(dict.fromkeys(re.findall(r"\b[A-Z]+(?:_[A-Z0-9]+)+\b", text)))


def _same_constants(given: set[str], said: set[str]) -> bool:
    """Whether one is named by both, perhaps cut off or misspelt: CUDNN_STATUS_SUCCESS is no CUDNN_STATUS_INTERNAL_ERROR."""
    if not given or not said:
        return True
    return any(name in one for name in given for one in said) or any(nearest(name, said, cutoff=0.92) for name in given)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) > 2 and word not in SMALL}


def _fit(words: set[str], said: str) -> bool:
    """Whether a message says these words, but for one in five: a piece that is not the whole message needs the rest to fit."""
    text = letters(said)
    return sum(word in text for word in words) >= 0.8 * len(words)


def _ends_otherwise(given: str, said: str) -> bool:
    """Whether a text begins as this wording does up to its last colon, and then says something else: killed by signal: Killed."""
    head, colon, tail = said.rpartition(": ")
    begun, end = letters(head), letters(tail)
    rest = given.partition(begun)[2] if colon and len(begun) >= _SHORTEST and VARIES not in tail else ""
    return bool(rest) and end not in rest and not end.startswith(rest)


def _of_another_device(pasted: str, said: str) -> bool:
    """Whether both name devices, and none that both name: what autocast says of a CPU is not what it says of MPS."""
    named, own = ({word.lower() for word in _DEVICE.findall(text)} for text in (pasted, said))
    return bool(named and own) and not named & own


def _likeness(given: str, words: set[str], said: str) -> float:
    """0 to 1: the longest piece that both have, or the part of the words that the message says. words: none for a single one."""
    wanted = letters(said)
    if len(given) < _SHORTEST:
        return 0.0
    if not words:  # a single word, which may be misspelt, or none
        return float(given in wanted)
    piece = SequenceMatcher(None, wanted, given, autojunk=False).find_longest_match().size
    known = piece >= _SHORTEST and (
        len(given) >= len(wanted) or len(words) >= _WORDS - 1 and _fit(words, said) or given in wanted
    )
    of_piece = piece / min(len(wanted), len(given)) if known else 0.0
    if len(given) >= len(wanted) and of_piece < _NEARLY_WHOLE:
        of_piece = 0.0
    shared = words & _words(said)
    return max(of_piece, len(shared) / len(words) if len(shared) >= _WORDS else 0.0)
