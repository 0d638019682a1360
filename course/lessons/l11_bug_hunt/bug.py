"""A bug: a case of the game with its script, the lines that make the symptom, and one script that is right.

Pure data, read from ``cases.yaml``; importing this loads no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from course.core.i18n import Text, both, pick
from course.game.cases import Case

LESSON = "11_bug_hunt"
GRADES: dict[int, Text] = {
    1: both("🟢 easy", "🟢 容易"),
    2: both("🟡 needs a second look", "🟡 要多看一眼"),
    3: both("🔴 hard", "🔴 难"),
}
NOTHING_WRONG = 0
"""The "line" of a script in which nothing is wrong."""
_KNOWN = {"grade", "lines", "also", "log", "script", "repair", "keeps", "fresh", "variables", "accused", "wish"}


@dataclass(frozen=True)
class Bug:
    """grade: 1 easy to 3 hard. script: its text. lines: the numbers of the lines that make the symptom, from 1; none where
    nothing is wrong. log: what it printed when the symptom was noticed.
    repair: one script that is right. accused: for an innocent script, the script as the complaint wants it; wish: that, in words.
    keeps: switches that a repair may leave changed. fresh: torch may not be loaded before the script runs. variables: the
    environment of its process.
    """

    case: Case
    grade: int
    script: str
    lines: tuple[int, ...]
    log: str
    repair: str
    accused: str = ""
    wish: Text = ""
    keeps: tuple[str, ...] = ()
    fresh: bool = False
    variables: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def innocent(self) -> bool:
        """Whether nothing is wrong with the script."""
        return not self.lines

    def numbered(self) -> list[tuple[int, str]]:
        """(number, text) of every line."""
        return list(enumerate(self.script.split("\n"), 1))


def bug(case: Case) -> Bug:
    """The bug of a case. Raises ValueError, with a sentence, where its data do not fit together."""
    play = case.play
    if unknown := set(play) - _KNOWN:
        raise ValueError(f"{case.id}: unknown under play: {', '.join(sorted(unknown))}")
    script = play["script"].rstrip("\n")
    return Bug(
        case=case,
        grade=play["grade"],
        script=script,
        lines=lines_with(script, [*play["lines"], *play.get("also", ())]),
        log=play.get("log", "").strip("\n"),
        repair=changed(script, play.get("repair", ())),
        accused=changed(script, play.get("accused", ())) if play.get("accused") else "",
        wish=play.get("wish", ""),
        keeps=tuple(play.get("keeps", ())),
        fresh=play.get("fresh", False),
        variables=play.get("variables", {}),
    )


def commented(one: Bug) -> Bug:
    """The same bug, the comments of its scripts in the language in use."""
    scripts = {name: pick(one.case.commented(getattr(one, name))) for name in ("script", "repair", "accused")}
    return replace(one, **scripts)


def lines_with(script: str, parts: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the lines that hold one of the parts. Raises ValueError where a part is nowhere."""
    lines = script.split("\n")
    for part in parts:
        if not any(part in line for line in lines):
            raise ValueError(f"no line of the script holds {part!r}")
    return tuple(number for number, line in enumerate(lines, 1) if any(part in line for part in parts))


def changed(script: str, changes: Sequence[Sequence[str]]) -> str:
    """The script with each (old, new) replaced, in order. Raises ValueError where an old text is nowhere."""
    for old, new in changes:
        if old not in script:
            raise ValueError(f"the script holds no {old!r}")
        script = script.replace(old, new)
    return script
