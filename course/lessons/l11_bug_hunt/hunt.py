"""The hunt, without widgets: a bug as data, its script run in a new process, a repair judged on evidence, the moves and their points.

Importing this loads no torch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from course.core.i18n import Text, both, pick
from course.experiment.new_process import ProbeError, call_in_new_process
from course.game import moves, play
from course.game.cases import Case
from course.game.play import MoveError, Part
from course.learning.log import AnswerLog
from course.lessons.l11_bug_hunt.scenes import SCENES

PATIENCE_S = 60.0
LINE, CAUSE, REPAIR = 3.0, 3.0, 4.0
STEPS = ("line", "cause", "repair", "closed")
NOTHING_WRONG = 0
"""The "line" of a script in which nothing is wrong."""


@dataclass(frozen=True)
class Bug:
    """script: its text. lines: the numbers of the lines that make the symptom, from 1; none where
    nothing is wrong. log: what it printed when the symptom was noticed.
    repair: one script that is right. accused: for an innocent script, the script as the complaint wants it; wish: that, in words.
    keeps: switches that a repair may leave changed. fresh: torch may not be loaded before the script runs. variables: the
    environment of its process.
    """

    case: Case
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
    """The bug of a case. Raises TypeError, KeyError or ValueError where its data do not fit together."""
    play = dict(case.play)
    script, marked = play.pop("script").rstrip("\n"), [*play.pop("lines"), *play.pop("also", ())]
    accused = play.pop("accused", ())
    return Bug(
        case,
        script=script,
        lines=lines_with(script, marked),
        log=play.pop("log", "").strip("\n"),
        repair=changed(script, play.pop("repair", ())),
        accused=changed(script, accused) if accused else "",
        keeps=tuple(play.pop("keeps", ())),
        **play,
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


@dataclass(frozen=True)
class Trial:
    """What running a script showed. state: "gone" (no symptom, nothing left over), "stays", "left" (the symptom is gone, a
    switch is not back) or "failed" (the script did not come to its end). said: what to say about it.
    """

    state: str
    said: tuple[Text, ...]

    @property
    def accepted(self) -> bool:
        """Whether the symptom is gone and nothing was left over."""
        return self.state == "gone"


# --- running and judging ------------------------------------------------------------------------------------------


def seen(one: Bug, text: str) -> dict[str, Any]:
    """What the scene sees of the script ``text``, in a new process (see ``run_case``). Never raises for a script that fails, hangs
    or kills its process: then ``error`` says so.
    """
    try:
        return call_in_new_process(
            "course.lessons.l11_bug_hunt.run_case", "run_case", one.case.id, text,
            variables=one.variables, timeout_s=PATIENCE_S, warm=not one.fresh,
        )[0]  # fmt: skip
    except ProbeError as error:
        late = "no answer within" in str(error)
        return {"error": {"kind": "late" if late else "ended", "said": str(error), "line": None}}


def measured(one: Bug) -> Text:
    """The symptom of the script as it stands, on this machine now, in one sentence."""
    return telling(one, seen(one, one.script))


def telling(one: Bug, facts: Mapping[str, Any]) -> Text:
    """What a run showed, in one sentence."""
    return failure(facts) or SCENES[one.case.id].told(dict(facts))


def failure(facts: Mapping[str, Any]) -> Text | None:
    """Why a run did not come to its end; None where it did."""
    if name := facts.get("missing"):
        return both(
            f"The rest of the program uses `{name}`, and the script no longer has it: keep that name.",
            f"程序的其余部分要用 `{name}`，脚本里却没有了：请保留这个名字。",
        )
    error = facts.get("error")
    if error is None:
        return None
    if error["kind"] == "late":
        return both(
            f"The script did not come to its end within {PATIENCE_S:g} s; it was stopped. Is there a loop without an end?",
            f"脚本 {PATIENCE_S:g} 秒还没跑完，已经停掉。是不是有个停不下来的循环？",
        )
    if error["kind"] == "ended":
        return both(
            f"The process of the script ended before it could be looked at. {error['said']}",
            f"脚本的进程提前结束了，没看到结果。{error['said']}",
        )
    where = both("", "")
    if error["line"]:
        where = both(f" on line {error['line']}", f"第 {error['line']} 行")
    return both(
        f"The script stops{where['en']}: `{error['kind']}: {error['said']}`.",
        f"脚本{where['zh']}停下了：`{error['kind']}: {error['said']}`。",
    )


def judge(one: Bug, facts: Mapping[str, Any]) -> Trial:
    """What the facts of a run say about a script as a repair."""
    if why := failure(facts):
        return Trial("failed", (why,))
    told = telling(one, facts)
    if objection := SCENES[one.case.id].objection(dict(facts)):
        return Trial("stays", (objection, told))
    if left := {name: pair for name, pair in facts["left"].items() if name not in one.keeps}:
        name, (before, after) = next(iter(left.items()))
        why = both(
            f"The symptom is gone, but `{name}` is now {after} and was {before}: the code that runs next will use this value.",
            f"症状没了，可 `{name}` 现在是 {after}，原来是 {before}：后面的代码会接着用这个值。",
        )
        return Trial("left", (why, told))
    return Trial("gone", (told,))


@dataclass(frozen=True)
class Proof:
    """What both scripts showed. said: of each, and of the comparison. objection: why that proves nothing; None where it does."""

    as_is: Mapping[str, Any]
    as_wished: Mapping[str, Any]
    said: tuple[Text, Text]
    objection: Text | None


def proof_of(one: Bug, as_is: Mapping[str, Any], as_wished: Mapping[str, Any]) -> Proof:
    """What the facts of both runs say about the innocence of a script."""
    said = telling(one, as_is), telling(one, as_wished)
    objection = failure(as_is) or SCENES[one.case.id].innocence(dict(as_is), dict(as_wished))
    return Proof(as_is, as_wished, said, objection)


# --- the moves ----------------------------------------------------------------------------------------------------


class Trail(play.Attempt):
    """One attempt at a bug. pointed: the numbers of lines; repairs, proofs: the moves. Hints cost nothing."""

    def __init__(self, one: Bug, done: Iterable[moves.Move]) -> None:
        super().__init__(one.case, done)
        self.bug = one
        self.pointed = [int(number) for number in self.chosen("line") if number.isdigit()]
        self.repairs, self.proofs = self.of_kind("repair"), self.of_kind("proof")

    @property
    def hits(self) -> list[bool]:
        """Whether it was the line, of each that was pointed at."""
        return [found(self.bug, number) for number in self.pointed]

    @property
    def mended(self) -> bool:
        """Whether a repair was accepted; of an innocent script whether that was proved."""
        return bool(self.proofs) if self.bug.innocent else any(one.choice == ("gone",) for one in self.repairs)

    @property
    def step(self) -> str:
        """What is to be done next: one of STEPS."""
        if self.of_kind("give-up"):
            return "closed"
        if not any(self.hits):
            return "line"
        if not self.cause_found:
            return "cause"
        return "closed" if self.mended else "repair"

    @property
    def closed(self) -> bool:
        return self.step == "closed"

    def score(self) -> play.Score:
        """The points: line 3 (a wrong line costs one), cause 3 (the second try half), repair or proof 4. What is done after giving up
        counts no more.
        """
        kept = Trail(self.bug, itertools.takewhile(lambda move: move.kind != "give-up", self.done))
        hits, right = kept.hits, kept.causes_right
        wrong = hits.index(True) if True in hits else len(hits)
        return play.Score(
            (
                Part(
                    both("the line", "找到行"),
                    max(0.0, LINE - wrong) if True in hits else 0.0,
                    LINE,
                    both(f"wrong before it: {wrong}", f"之前指错 {wrong} 次"),
                ),
                Part(
                    both("the cause", "说对原因"),
                    play.tries_points(right, CAUSE),
                    CAUSE,
                    both(f"tries: {len(right)}", f"试了 {len(right)} 次"),
                ),
                Part(
                    both("the proof", "证明") if self.bug.innocent else both("the repair", "修好"),
                    REPAIR * kept.mended,
                    REPAIR,
                    both("run, and seen", "跑过，也看到了") if kept.mended else both("not done", "没有做"),
                ),
            )
        )


def found(one: Bug, number: int) -> bool:
    """Whether this is the line: any of those that make the symptom, or NOTHING_WRONG where there is none."""
    return number in one.lines or (one.innocent and number == NOTHING_WRONG)


class Hunt(play.Play):
    """One case and what the learner did on it. Moves: ``line``, ``cause``, ``repair`` (or ``proof`` for an innocent script),
    ``give-up``; each is kept in the answer log, so the hunt goes on after a restart.
    """

    def __init__(self, case: Case, log: AnswerLog) -> None:
        super().__init__(case, log)
        self.bug = commented(bug(case))

    def read(self, done: Sequence[moves.Move]) -> Trail:
        return Trail(self.bug, done)

    @property
    def step(self) -> str:
        """What is to be done next: one of STEPS."""
        return self.attempt.step

    def line(self, number: int) -> bool:
        """Point at a line, or 0 for "nothing is wrong". Gives whether that is it. Raises MoveError, in words."""
        if self.step == "closed":
            again = f"`{self.case.call}.again()`"
            raise MoveError(f"The case is closed; {again} opens a new try.", f"已经结案了；{again} 可以重新来一次。")
        if self.step != "line":
            raise MoveError("The line is settled already: go on with the cause.", "行已经定了：接着说原因吧。")
        known = len(self.bug.numbered())
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= known:
            raise MoveError(
                f"The script has lines 1 to {known}; 0 stands for “nothing is wrong”.",
                f"脚本有第 1 到 {known} 行；0 表示“没有毛病”。",
            )
        if number and not self.bug.numbered()[number - 1][1].strip():
            raise MoveError(f"Line {number} is empty; that one is innocent.", f"第 {number} 行是空行，它是清白的。")
        self.write("line", (str(number),))
        return found(self.bug, number)

    def may_ask_hint(self) -> bool:
        """Until the case is closed."""
        return self.step != "closed"

    def may_name_cause(self) -> bool:
        """The cause is asked once the line was found."""
        return self.step != "line"

    def cause(self, answer_id: str) -> bool:
        """Choose a cause (see ``play.Play``); asked once the line is found."""
        if not self.may_name_cause():
            raise MoveError("First the line, then the reason.", "先找到行，再说原因。")
        return super().cause(answer_id)

    def repair(self, text: str) -> Trial:
        """Run the repaired script, judge it, keep it. Raises MoveError before line and cause are found, and for no text."""
        self._ready_for("repair")
        if self.bug.innocent:
            raise MoveError(
                f"You said that nothing is wrong: prove it, with `{self.case.call}.prove()`.",
                f"你说没有毛病，那就用 `{self.case.call}.prove()` 证明一下。",
            )
        if not isinstance(text, str) or not text.strip():
            raise MoveError("Give the whole repaired script as text.", "请给出修好的整段脚本（文本）。")
        facts = seen(self.bug, text)
        trial = judge(self.bug, facts)
        self.write("repair", (trial.state,), evidence=_evidence(self.case, facts), text=text)
        return trial

    def prove(self) -> Proof:
        """For an innocent script: run it as it is and as the complaint wants it, and compare. What proves is kept."""
        self._ready_for("repair")
        if not self.bug.innocent:
            raise MoveError("There is a fault to repair: `repair(...)`.", "这里有毛病要修：用 `repair(...)`。")
        as_is = seen(self.bug, self.bug.script)
        proof = proof_of(self.bug, as_is, seen(self.bug, self.bug.accused))
        if proof.objection is None:
            facts = {"as is": proof.as_is, "as wished": proof.as_wished}
            self.write("proof", ("done",), evidence=_evidence(self.case, facts))
        return proof

    def give_up(self) -> None:
        """Close the case unsolved; what was found so far counts."""
        if self.step != "closed":
            self.write("give-up")

    def _ready_for(self, step: str) -> None:
        if self.step in STEPS[: STEPS.index(step)]:
            raise MoveError("First the line and the reason, then the repair.", "先找到行、说出原因，再动手修。")

    def last_repair(self) -> moves.Move | None:
        """The last script handed in in this attempt."""
        return (self.attempt.repairs or [None])[-1]


def _evidence(case: Case, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"from": case.evidence, **{name: value for name, value in facts.items() if name != "printed"}}
