"""Observe: run an experiment here, or replay it, and lay the learner's bets over what came out."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

from course.cards.card_spoken import SpokenCard
from course.cards.cards import Card, card
from course.experiment import base, reports
from course.figures import show
from course.i18n import LANGUAGES, Text, both, pick, t
from course.learning import voice
from course.learning.entry import Entry
from course.learning.marking import Response
from course.learning.session import bet_of, known_before, response_of, settle
from course.learning.sheet import Sheet
from course.machine import can, next_step
from course.markup import plain
from course.questions.items import Item
from course.records import Record, keep_own
from course.verbs import asking, state
from course.verbs.reported import NEEDS, tell
from course.verbs.say import in_words, present, say, say_verdict
from course.verdict import Verdict, inconclusive


class Observed(Record):
    """A record that shows itself where it is evaluated again, but not twice in the cell that measured it."""

    def _ipython_display_(self) -> None:
        shell = state.running_shell()
        if shell is None or getattr(self, "_shown_at", None) == shell.execution_count:
            return
        present(show(self, base.get(self.experiment)))


@in_words
def observe(experiment_name: str | Sequence[str], budget_s: float | None = None, bet: bool = True) -> Record | None:
    """Run an experiment live if this machine can, else replay the nearest recording, else say what others reported.

    Several names in a list: one after the other, those with reports alone together at the end.
    budget_s: seconds each may take (default: the experiment's own). While a bet on it is open it asks first, unless
    ``bet=False``. Returns the record (of the last in a list, if there is one), or None.
    """
    names = [experiment_name] if isinstance(experiment_name, str) else list(experiment_name)
    if bet and asking.somebody_there() and (waiting := open_bets(names)):
        asking.ask(waiting, f"observe({_quoted(experiment_name)}, bet=False)", new_card, asking.this_cell())
        asking.wait()
        return None
    if not isinstance(experiment_name, str):
        return _observe_all(names, budget_s)
    experiment = base.get(experiment_name)
    record = base.load_or_run(experiment_name, budget_s)
    if record is None:
        tell([experiment])
        return None
    state.now.write("observe", experiment.name)
    _keep(record)
    outcomes = experiment.settles(record) if record.rows else {}
    bets = [
        item
        for item in state.now.bank.items(experiment.lesson)
        if item.kind == "predict" and item.experiment == experiment.name
    ]
    lines = [_bet_line(item, outcomes.get(item.id)) for item in bets]
    observed = Observed(**{field.name: getattr(record, field.name) for field in dataclasses.fields(record)})
    state.now.records[experiment.name] = observed
    present(show(observed, experiment, [line for line in lines if line]))
    if shell := state.running_shell():
        object.__setattr__(observed, "_shown_at", shell.execution_count)
    if (step := pick(next_step(experiment.needs))) and not can(experiment.needs):
        needs = pick(NEEDS[experiment.needs])
        say(t(f"To measure it here takes {needs}. {step}", f"想在本机实测，需要{needs}。{step}"))
    for item in bets:
        _settle(item, outcomes.get(item.id), _evidence(record))
    return observed


def _keep(record: Record) -> None:
    """Keep a live measurement for the learner's own sheets; where that fails, say so and go on."""
    if not record.live or not record.rows or record.interrupted:
        return
    try:
        keep_own(record)
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


def open_bets(names: Sequence[str]) -> list[Item]:
    """The open bets that these experiments, or the reports on them, would give away; none where there is nothing to show."""
    return [
        item
        for name in names
        if base.available(name) or reports.verdicts(name)
        for item in asking.open_bets(name, state.now.bank.items(base.get(name).lesson), state.now.log)
    ]


def new_card(item: Item, sheet: Sheet | None = None) -> Card:
    """The card of an item, kept in the state of the kernel, so that an experiment can settle the bet on it."""
    make = SpokenCard if item.kind == "spoken" else card
    state.now.cards[item.id] = make(item, log=state.now.log, bank=state.now.bank, sheet=sheet, run=run_here)
    return state.now.cards[item.id]


def run_here(experiment_name: str) -> None:
    """Run the experiment that a card offers; a bet on it that is still open is asked for first."""
    again = functools.partial(observe, experiment_name, bet=False)
    if waiting := open_bets([experiment_name]):
        asking.ask(waiting, f'observe("{experiment_name}", bet=False)', new_card, again)
    else:
        again()


def _observe_all(names: Sequence[str], budget_s: float | None) -> Record | None:
    """Each experiment there is something to show of, by itself; then what others reported about the rest."""
    missing, record = [], None
    for name in names:
        if base.available(name):
            record = observe(name, budget_s, bet=False)
        else:
            missing.append(base.get(name))
    if missing:
        tell(missing)
    return record


def _bet_line(item: Item, winner: str | float | None) -> str:
    """The learner's bet beside the outcome; empty without a bet."""
    bet = bet_of(item, state.now.log.entries())
    if bet is None:
        return ""
    mine = _phrase(item, response_of(bet))
    if winner is None:
        return t(f"Your bet: {mine} (not settled by this run)", f"你的赌注：{mine}（这次结果还不足以定胜负）")
    if bet.options[:1] == (winner,):
        return t(f"Your bet: {mine}. It came out so.", f"你的赌注：{mine}。结果正是如此。")
    outcome = _phrase(item, Response(number=winner) if item.slider else Response((winner,)))
    return t(f"Your bet: {mine}. It came out: {outcome}.", f"你的赌注：{mine}。结果是：{outcome}。")


def _phrase(item: Item, response: Response) -> str:
    """An answer in words, without markup and final stop, to stand inside a sentence."""
    if item.slider:
        return f"{response.number:.3g} {plain(pick(item.slider.unit))}"
    return plain(pick(item.option(response.options[0]).text)).rstrip(".。")


def _evidence(record: Record) -> str:
    """What settled a bet, for the log: live or replay, when, on what."""
    name = record.machine.get("device_name") or record.machine.get("device") or "?"
    return f"{'live' if record.live else 'replay'} {record.created} {name}"


def _settle(item: Item, winner: str | float | None, evidence: str) -> None:
    """Write the outcome to the log and say the reasons, for the option bet on and the one that came out."""
    verdict = settle(item, winner, state.now.log, evidence)
    if item.id in state.now.cards:
        state.now.cards[item.id].settle()
    bet = bet_of(item, state.now.log.entries())
    if bet is None:
        if winner is not None:
            say(
                t(
                    f"No bet of yours was placed on `{item.id}`, so there is nothing to settle.",
                    f"你没有为 `{item.id}` 下注，所以没有输赢。",
                )
            )
        return
    if winner is None:
        verdict = inconclusive(
            both(
                f'This run does not settle it. To try again, run `observe("{item.experiment}")`.',
                f'这次运行分不出输赢。想再试一次，请运行 `observe("{item.experiment}")`。',
            )
        )
    else:
        verdict = dataclasses.replace(
            verdict, messages=(_headline(item, verdict.state, bet), *_reasons(item, verdict, bet.options[:1], winner))
        )
    say_verdict(verdict, t("your bet", "你的赌注"))


def _headline(item: Item, outcome: str, bet: Entry) -> Text:
    """What is said of the bet itself."""
    late = known_before(item, state.now.log.entries())
    return voice.say(voice.bet_key(outcome, bet.confidence, late), item.id)


def _reasons(item: Item, verdict: Verdict, bet: Sequence[str], winner: str | float) -> Iterator[Text]:
    """Why it came out so: for the option bet on and for the one that came out; for a number also how far off."""
    if item.slider:
        yield from (*verdict.messages, item.slider.why)
        return
    for option in map(item.option, dict.fromkeys([*bet, winner])):
        text = {code: pick(option.text, code).rstrip(".。") for code in LANGUAGES}
        yield both(f"**{text['en']}**: {pick(option.why, 'en')}", f"**{text['zh']}**：{pick(option.why, 'zh')}")
