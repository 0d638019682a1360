"""The verb ``observe``: run an experiment, or show a recording or what others reported, with the learner's bets on it; and ``explore``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from course.cards.card_spoken import SpokenCard
from course.cards.cards import Card
from course.core import cpu_load
from course.core.i18n import both, pick, t
from course.core.machine import can, next_step
from course.core.records import Record, save_own
from course.core.verdict import Verdict
from course.experiment import base, reports
from course.experiment.reading import OPEN
from course.experiment.result import Outcome, block, outcome
from course.figures.block import Betted, Block, Fold
from course.learning.bets import bet_of, note_result, settle
from course.learning.sheet import AnswerSheet
from course.questions.items import Item
from course.questions.wording import answer_words, outcome_words
from course.verbs import state
from course.verbs.say import in_words, present, say

GPUS = ("cuda", "mps")
"""What no package brings: there is no next step where one is missing."""


class Observed(Record):
    """A record that displays itself as the value of a later cell, but not a second time in the cell that measured it."""

    def _ipython_display_(self) -> None:
        shell = state.running_shell()
        if shell is None or getattr(self, "_shown_at", None) == shell.execution_count:
            return
        present(block_of(self, base.get(self.experiment)))


@in_words
def observe(
    experiment_name: str | Sequence[str], budget_s: float | None = None, bet: bool = True, replay: bool = False
) -> Record | None:
    """Run an experiment live if this machine can, else replay the nearest recording, else say what others reported.

    Several names in a list: one after the other, those with reports alone together at the end. A notebook shows the first
    result and those with a bet whole, of the others the sentence, to unfold.
    budget_s: seconds each may take (default: the experiment's own). While a bet on it is open its card is shown instead, unless
    ``bet=False``. replay: True shows the recording where there is one. Returns the record (of the last in a list, if there is one),
    or None.
    """
    names = [experiment_name] if isinstance(experiment_name, str) else list(experiment_name)
    experiments = [base.get(name) for name in names]
    if bet and somebody_there() and (waiting := open_bets(experiments)):
        ask(waiting, f"observe({_quoted(experiment_name)}, bet=False)")
        wait()
        return None
    if not replay and (busy := before_a_run(experiments)):
        say(busy)
    record, missing = None, list[base.Experiment]()
    for experiment in experiments:
        record = _observe_one(experiment, budget_s, replay, record is None, missing) or record
    tell(missing)
    for kind in dict.fromkeys(one.needs for one in experiments if one in missing or one.needs not in GPUS):
        if not can(kind):
            needs, step = pick(NEEDS[kind]), pick(next_step(kind))
            say(t(f"To measure it here takes {needs}. {step}", f"想在本机实测，需要{needs}。{step}").strip())
    return record


@in_words
def _observe_one(
    experiment: base.Experiment, budget_s: float | None, replay: bool, first: bool, missing: list[base.Experiment]
) -> Record | None:
    """Run or replay it, and show the result: whole if it is the first, there is a bet on it, or it can tell nothing. missing: gets
    what this machine cannot run and nobody recorded.
    """
    record = base.load_or_run(experiment, budget_s, replay)
    if record is None:
        missing.append(experiment)
        return None
    state.now.write("observe", experiment.name)
    if record.live and record.rows and not record.interrupted:
        _save(record)
    observed = Observed(**vars(record))
    state.now.records[experiment.name] = observed
    found = outcome(observed, experiment)
    shown = block_of(observed, experiment, found)
    present(replace(shown, folded=not (first or shown.bets or shown.step)))
    if record.live and found.headline in OPEN and base.recording(experiment):
        say(recording_words([experiment]))
    if shell := state.running_shell():
        object.__setattr__(observed, "_shown_at", shell.execution_count)
    return observed


def block_of(record: Record, experiment: base.Experiment, found: Outcome | None = None) -> Block:
    """Settle the bets with the record; returns the block that shows the result with them. found: its outcome, where it is known.

    Only of a bet that was placed the question is read.
    """
    found = found or outcome(record, experiment)
    entries, mine, said = state.now.log.entries(), {}, []
    bet_on = {entry.item for entry in entries if entry.event == "bet"}
    evidence = f"{'live' if record.live else 'replay'} {record.created} {record.machine_name}"
    for bet in experiment.telling.bets:
        winner = found.reading.settled(bet)
        if bet not in bet_on:
            note_result(bet, experiment.lesson, winner, state.now.log, evidence)
        else:
            item = state.now.bank[bet]
            verdict = settle(item, winner, state.now.log, evidence)
            if placed := bet_of(item, entries):
                mine[bet] = placed.options[0]
                said.append(betted(item, mine[bet], winner, verdict))
        if bet in state.now.cards:
            state.now.cards[bet].settle()
    return block(record, experiment, mine, said, found)


def _save(record: Record) -> None:
    """Save a live measurement for the learner's cheat sheets. If that fails, a sentence says so."""
    try:
        save_own(record)
    except OSError as error:
        say(
            t(
                f"These numbers could not be kept for your cheat sheets ({error.strerror or error}); everything else goes on.",
                f"这些数字没能存下来供速查表使用（{error.strerror or error}），其他一切照常。",
            )
        )


def _quoted(names: str | Sequence[str]) -> str:
    """Experiment names as a learner types them."""
    return f'"{names}"' if isinstance(names, str) else "[" + ", ".join(f'"{one}"' for one in names) + "]"


def new_card(item: Item, sheet: AnswerSheet | None = None) -> Card:
    """The card of an item, kept in the state of the kernel, so that an experiment can settle the bet on it."""
    make = SpokenCard if item.kind == "spoken" else Card
    state.now.cards[item.id] = make(item, log=state.now.log, bank=state.now.bank, sheet=sheet)
    return state.now.cards[item.id]


# --- an open bet, a busy machine ---


class Waiting(BaseException):
    """Ends a cell that waits for the learner. It is no error, so no traceback is shown."""


def open_bets(experiments: Sequence[base.Experiment]) -> list[Item]:
    """The bets not placed yet that these experiments, or the reports on them, would give away; none where there is nothing to show, or
    where the learner has seen the result.
    """
    entries = state.now.log.entries()
    seen = {entry.item for entry in entries if entry.event == "observe"}
    return [
        item
        for one in experiments
        if one.name not in seen and (can(one.needs) or base.recording(one) or reports.verdicts(one.name))
        for item in items_of(one)
        if bet_of(item, entries) is None
    ]


def somebody_there() -> bool:
    """Whether a person can be asked: on a page that takes input, or at a prompt; not where a program runs the notebook."""
    shell = state.running_shell()
    if shell is None:
        return hasattr(sys, "ps1")
    kernel = getattr(shell, "kernel", None)
    return kernel is None or bool(getattr(kernel, "_allow_stdin", False))


def ask(items: Sequence[Item], look: str) -> None:
    """Show the cards of the open bets, those that are on the page already once more. look: the call that looks without a bet."""
    for item in items:
        shown = state.now.cards.get(item.id) or new_card(item)
        shown.open_in_deck()
        shown.show()
    say(
        t(
            "🎲 **This bet is still open, and the result would give it away.** Place it, then run this cell again. "
            f"Or look without betting: `{look}`.",
            f"🎲 **这一注还没下，再往下就是答案了。**先下注，再运行一次本单元格；或者不下注直接看：`{look}`。",
        )
    )


def wait() -> None:
    """End the running cell without a traceback; does nothing at a plain Python prompt."""
    shell = state.running_shell()
    if shell is None:
        return
    before = shell.custom_exceptions, shell.CustomTB

    def quiet(shell: Any, *_: Any, **__: Any) -> None:
        shell.custom_exceptions, shell.CustomTB = before

    shell.set_custom_exc((Waiting,), quiet)
    raise Waiting


TIMES = {"ms", "ratio", "rounds", "self", "outside"}
"""Columns of rows that hold times, besides those that end in ``_ms``."""


def before_a_run(experiments: Sequence[base.Experiment]) -> str:
    """What to say before these experiments run: empty unless one goes by the clock on a machine that is busy now."""
    live = [one for one in experiments if can(one.needs) and _by_the_clock(one)]
    if not live or os.environ.get("COURSE_REPLAY") or (taken := cpu_load.others()) < cpu_load.BUSY:
        return ""
    told = t(
        f"⏳ Other programs use {taken:.0%} of this machine: what is measured now may have a wide interval, or be too noisy to tell.",
        f"⏳ 别的程序占着这台机器的 {taken:.0%}：现在测，区间可能很宽，甚至说不准。",
    )
    return f"{told} {recording_words(experiments)}" if any(map(base.recording, live)) else told


def recording_words(experiments: Sequence[base.Experiment]) -> str:
    """The call that shows the recordings."""
    names = [one.name for one in experiments]
    call = f"observe({_quoted(names if names[1:] else names[0])}, replay=True)"
    return t(f"The recording: `{call}`.", f"看录好的结果：`{call}`。")


def _by_the_clock(experiment: base.Experiment) -> bool:
    """Whether an experiment answers by times: its recording holds some. Without a recording nothing is known, so it may."""
    record = base.recording(experiment)
    keys = {key for row in record.rows for key in row} if record else {"ms"}
    return not experiment.clockless and any(key in TIMES or key.endswith("_ms") for key in keys)


# --- bets ---


def items_of(experiment: base.Experiment) -> list[Item]:
    """The bets that this experiment decides."""
    return [state.now.bank[bet] for bet in experiment.telling.bets]


def others(item: Item, mine: str | None, winner: str | None) -> tuple[tuple[str, str], ...]:
    """(option, explanation) for every option except the one that came true; ``mine``, the one that was bet on, comes first."""
    options = sorted(item.options, key=lambda one: one.id != mine)
    return tuple((pick(one.text), pick(one.why)) for one in options if one.id != winner)


def betted(item: Item, bet: str, winner: str | None, verdict: Verdict) -> Betted:
    """A bet together with its result."""
    mine = answer_words(item, bet)
    if winner is None:
        return Betted(mine, still=t("nothing here decided it", "这次结果不足以定胜负"))
    out = outcome_words(item, winner, verdict.state == "correct")
    why = pick(item.option(winner).why)
    rest = others(item, bet, winner)
    return Betted(mine, out, t("It came out", "结果是"), why=why, others=rest)


# --- reports ---

NEEDS = {
    "cuda": both("an NVIDIA GPU", "NVIDIA GPU"),
    "mps": both("an Apple GPU", "苹果 GPU"),
    "mkldnn": both("a PyTorch build with oneDNN", "带 oneDNN 的 PyTorch"),
    "onnx": both("the packages onnx, onnxscript and onnxruntime", " onnx、onnxscript、onnxruntime 这三个包"),
    "opt_einsum": both("the package opt_einsum", " opt_einsum 这个包"),
    "compiler": both("a C++ compiler", " C++ 编译器"),
    "two_cores": both("two processor cores", "两个处理器核"),
}


def tell(experiments: Sequence[base.Experiment]) -> None:
    """Show the reports on each experiment, those after the first folded.

    A bet is not settled: the option that report and source name is said, and the bet stays open.
    """
    for one in experiments:
        state.now.write("observe", one.name)
        present(replace(reported(one), folded=one is not experiments[0]))


def reported(experiment: base.Experiment) -> Block:
    """The block for one experiment, made from the reports on it. Results of its bets are written to the log."""
    found, answers = reports.about(experiment.name), reports.verdicts(experiment.name)
    return Block(
        headline=pick(reports.headline(experiment.name) or experiment.telling.title),
        step="",
        picture=None,
        small=t("reported by others, not measured here", "他人报告，并非本机实测"),
        bets=tuple(_answer(item, *answers[item.id]) for item in items_of(experiment) if item.id in answers),
        folds=(Fold(_how_many(found), told(found)),) if found else (),
        experiment=experiment.name,
    )


def _how_many(found: Sequence[reports.Report]) -> str:
    """The title of the fold: how many reports there are."""
    count = len(found)
    many = t(f"The {count} reports", f"这 {count} 份报告") if count > 1 else t("The report", "这份报告")
    return many + t(", with links and limits", "的原文链接和局限")


def told(found: Sequence[reports.Report]) -> tuple[str, ...]:
    """Each report in three lines: the finding with machine and date, the link, what it does not show."""
    lines: list[str] = []
    for report in found:
        lines += [
            t(f"**{pick(report.machine)}, {report.date}.** ", f"**{pick(report.machine)} · {report.date}** ")
            + pick(report.what),
            report.link,
            t("**It does not show:** ", "**看不出：**") + pick(report.does_not_show),
        ]
    return tuple(lines)


def _answer(item: Item, report: reports.Report, answer: reports.Answer) -> Betted:
    """The bet on an item with the result by the report; writes the report to the log. The bet stays open."""
    settle(item, None, state.now.log, report.evidence())
    if item.id in state.now.cards:
        state.now.cards[item.id].settle()
    placed = bet_of(item, state.now.log.entries())
    bet = placed.options[0] if placed else None
    return Betted(
        mine=answer_words(item, bet) if bet else "",
        out=answer_words(item, answer.option),
        lead=t("Report and source name", "报告和源码的说法"),
        still=t("nobody measured it in this form", "题目里这种情形，还没有人测过") if bet else "",
        why=f"{pick(answer.why)} {pick(item.option(answer.option).why)}",
        others=others(item, bet, answer.option),
    )


@in_words
def explore(name: str) -> None:
    """Show one explorable: ``explore("floats")``. It works without a kernel and without a network once it is on the page."""
    from course.experiment.explorables.page import NAMES, explorable

    if name in NAMES:
        present(explorable(name))
    else:
        names = ", ".join(NAMES)
        say(t(f"There is no explorable {name!r}; there are {names}.", f"没有名为 {name!r} 的动手图；有 {names}。"))
