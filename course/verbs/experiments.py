"""The verb ``observe``: run an experiment, or show a recording, and show the result with the learner's bets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from course.cards.card_spoken import SpokenCard
from course.cards.cards import Card, card
from course.core.i18n import pick, t
from course.core.machine import can, next_step
from course.core.records import Record, save_own
from course.experiment import base, reports
from course.experiment.reading import OPEN
from course.experiment.result import Outcome, block, outcome
from course.figures.shown import Block
from course.learning.sheet import AnswerSheet
from course.questions.items import Item
from course.verbs import asking, noise, state
from course.verbs.betted import betted, items_of, placed, settled
from course.verbs.reported import NEEDS, tell
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
    budget_s: seconds each may take (default: the experiment's own). While a bet on it is open it asks first, unless
    ``bet=False``. replay: True shows the recording where there is one. Returns the record (of the last in a list, if there is one),
    or None.
    """
    names = [experiment_name] if isinstance(experiment_name, str) else list(experiment_name)
    experiments = [base.get(name) for name in names]
    if bet and asking.somebody_there() and (waiting := open_bets(experiments)):
        asking.ask(waiting, f"observe({_quoted(experiment_name)}, bet=False)", new_card, asking.this_cell())
        asking.wait()
        return None
    if not replay and (told := noise.before_a_run(experiments)):
        say(told)
    record, missing = None, list[base.Experiment]()
    for experiment in experiments:
        record = _observe_one(experiment, budget_s, replay, record is None, missing) or record
    for kind in dict.fromkeys(one.needs for one in experiments if one not in missing and one.needs not in GPUS):
        if (step := pick(next_step(kind))) and not can(kind):
            needs = pick(NEEDS[kind])
            say(t(f"To measure it here takes {needs}. {step}", f"想在本机实测，需要{needs}。{step}"))
    if missing:
        tell(missing)
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
    present(dataclasses.replace(shown, folded=not (first or shown.bets or shown.step)))
    if record.live and found.headline in OPEN and base.recording(experiment):
        say(noise.recording_words([experiment]))
    if shell := state.running_shell():
        object.__setattr__(observed, "_shown_at", shell.execution_count)
    return observed


def block_of(record: Record, experiment: base.Experiment, found: Outcome | None = None) -> Block:
    """Settle the bets with the record; returns the block that shows the result with them. found: its outcome, where it is known."""
    found, items = found or outcome(record, experiment), items_of(experiment)
    mine, said = placed(items), []
    for item in items:
        winner = found.reading.settled(item.id)
        verdict = settled(item, winner, f"{'live' if record.live else 'replay'} {record.created} {record.machine_name}")
        if item.id in mine:
            said.append(betted(item, mine[item.id], winner, verdict))
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


def open_bets(experiments: Sequence[base.Experiment]) -> list[Item]:
    """The open bets that these experiments, or the reports on them, would give away; none where there is nothing to show."""
    return [
        item
        for one in experiments
        if can(one.needs) or base.recording(one) or reports.verdicts(one.name)
        for item in asking.open_bets(one.name, state.now.bank.items(one.lesson), state.now.log)
    ]


def new_card(item: Item, sheet: AnswerSheet | None = None) -> Card:
    """The card of an item, kept in the state of the kernel, so that an experiment can settle the bet on it."""
    make = SpokenCard if item.kind == "spoken" else card
    state.now.cards[item.id] = make(item, log=state.now.log, bank=state.now.bank, sheet=sheet)
    return state.now.cards[item.id]
