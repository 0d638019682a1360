"""The tuning game on the page: panel, bet, run, hand in, the table, the cause. And the same moves by typing, as methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.cards.render import in_language, say_html
from course.cards.widgets import classed, light, second_click, show
from course.core.i18n import pick, t
from course.core.markup import inline, plain
from course.game import view
from course.game.desk import CaseDesk
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master import tuning_view as told
from course.lessons.l10_tuning_master.panel import in_words
from course.lessons.l10_tuning_master.tuning import HINT_POINTS, Attempt, Tuning, known


class Desk(CaseDesk):
    """The tuning game (see ``CaseDesk``).

    ``run(onednn="off", bet="faster", confidence="fairly")``, ``hand_in(...)``, ``hint()``, ``cause("b")``, ``again()``:
    each prints what the page would show, and the pages of the case that are open follow.
    """

    play: Tuning

    # --- typed ---

    def run(self, bet: str = "", confidence: int | str = "", recording: bool = False, **config: str) -> None:
        """Measure one configuration against today's. bet: faster, same, slower, breaks; confidence: guess, fairly, certain.
        recording: the recording of another machine answers.
        """
        if self._typed(self.play.run, config, bet, confidence, recording):
            lines = [told.run_sentences(self.play.attempt)[-1], told.origin_words(self._gave.evidence)]
            self._tell(view.lines_html(lines) + told.budget_html(self.play))

    def hand_in(self, bet: str = "", confidence: int | str = "", recording: bool = False, **config: str) -> None:
        """Hand in one configuration; then every combination is measured. recording: where the machine is too busy, a recording decides."""
        if self._typed(self.play.hand_in, config, bet, confidence, recording):
            self._tell(self._now())

    def _typed(self, move: Callable[..., Any], config: dict, bet: str, confidence: int | str, recording: bool) -> bool:
        """Make a move that takes seconds: a slip is told first, then how long it takes, and what a busy machine means."""

        def made() -> Any:
            plan, handing = self.play.plan, move != self.play.run
            self.play.ready(config, bet, confidence, handing)
            if not plan.rules and not recording:
                busy = f"{told.busy_words()} " if self.play.is_busy() else ""
                seconds = plan.seconds[handing]
                self._write(
                    plain(f"  ... {busy}" + t(f"one moment, about {seconds:g} s", f"稍等，大约 {seconds:g} 秒"))
                )
            return move(config, bet, confidence, recording)

        return self._moved(made)

    # --- shown ---

    def _now(self) -> str:
        return told.now_html(self.play)

    def _facts(self) -> list[str]:
        return [t("⛔ Must not break: ", "⛔ 不能破：") + pick(one.name) for one in self.play.plan.limits]

    def start(self) -> Any:
        return next(iter(next(iter(self.controls.values())).buttons.values()))

    def _parts(self) -> None:
        import ipywidgets as w

        from course.game.parts import Picker, button, row

        plan = self.play.plan
        today = t(" · today", " · 现在")
        self.controls = {
            one.id: Picker(
                pick(one.name),
                one.values,
                chosen=plan.today[one.id],
                says=pick(one.says),
                notes={plan.today[one.id]: today},
                pressed=self._stakes,
            )
            for one in plan.controls
        }
        against = t("against today", "和现在比") if not plan.rules else ""
        self.bet = Picker(t("Your bet", "你押"), plan.bets(), says=against, yours=True)
        self.confidence = Picker(t("How sure?", "多有把握？"), {str(k): v for k, v in CONFIDENCE.items()}, yours=True)
        nothing = t("🎲 Nothing to bet on: what this setting gives is known.", "🎲 不用押：这套设置的结果已经知道了。")
        self.no_bet, self.budget = light(w.HTML, in_language(f'<p class="tbg-left">{nothing}</p>')), light(w.HTML)
        self.stakes = light(w.VBox, [])
        look = t("📖 Ask the rule book", "📖 翻规则书") if plan.rules else t("🔬 Measure it", "🔬 测一测")
        self.go = button("tbg-run", look, lambda: self._press(self.play.run), main=True)
        self.hand = button("tbg-hand", t("📦 Hand it in", "📦 就交它"), lambda: self._press(self.play.hand_in))
        self.ask = button(
            "tbg-hint",
            t(f"💡 Hint, −{HINT_POINTS:g}", f"💡 提示，−{HINT_POINTS:g}"),
            lambda: self._made(self.play.hint),
        )
        replay = t("📼 Let the recording decide", "📼 用录好的结果来判")
        self.tape = button("tbg-tape", replay, lambda: self._measure(self.play.hand_in, recording=True))
        rows = (one.widget for one in self.controls.values())
        buttons = row(self.go, self.hand, self.tape, self.ask)
        self.panel = classed(light(w.VBox, [*rows, self.stakes, buttons, self.budget]), "tbg-panel")
        self.picture = light(w.HTML)

    # --- pressed ---

    def _stakes(self) -> None:
        """Ask for a bet on what the panel shows, or say in a line that a run left nothing to bet on."""
        runs, config = self.play.attempt.runs, self._shown()
        if runs and known(self.play.plan, runs, config):
            self.bet.choose("")
            self.confidence.choose("")
            self.stakes.children = (self.no_bet,)
        else:
            self.stakes.children = (self.bet.widget, self.confidence.widget)

    def _shown(self) -> dict[str, str]:
        """The configuration on the panel."""
        return {name: one.chosen for name, one in self.controls.items()}

    def _press(self, move: Callable[..., Any]) -> None:
        """Measure or hand in what the panel shows; on a busy machine a line says so."""
        if second_click(self._done_at) or not self._tried(lambda: self._ready(move), self._notice):
            return
        self._measure(move)

    def _ready(self, move: Callable[..., Any]) -> None:
        """A slip is told before anything runs."""
        self.play.ready(self._shown(), self.bet.chosen, self.confidence.chosen, move == self.play.hand_in)

    def _measure(self, move: Callable[..., Any], recording: bool = False) -> None:
        if self._ran(lambda: self._do(move, recording)):
            self.bet.choose("")
            self.confidence.choose("")
            self._go_on()
        show(self.tape, self.play.undecided)

    def _do(self, move: Callable[..., Any], recording: bool) -> None:
        self._ready(move)
        config, play = self._shown(), self.play
        plan, handing = play.plan, move != play.run
        if not plan.rules and not recording:
            what = t("all combinations", "所有组合") if handing else in_words(plan, config)
            seconds = plan.seconds[handing]
            words = t(
                "Measuring; the other buttons wait until it is done. Interrupt the kernel (■ above) to stop: then it is not counted.",
                "测量中，测完其他按钮才会响应。想停下就中断内核（上面的 ■），这次就不算。",
            )
            self._notice(f"{told.busy_words()} {words}" if play.is_busy() else words)
            self.doing.start(t(f"**{what}**: about {seconds:g} s", f"**{what}**：大约 {seconds:g} 秒"), seconds)
        move(config, self.bet.chosen, self.confidence.chosen, recording)

    def _reset(self) -> None:
        for name, one in self.controls.items():
            one.choose(self.play.plan.today[name])

    # --- drawn ---

    def _lay(self) -> None:
        """Three views: the panel beside the ticket; the verdict and the question in its place; the closed case."""
        attempt = self.play.attempt
        self.two.children = () if attempt.closed else (self.ticket, self.side)
        if attempt.closed:
            self.below.children = (self.closing, self.last, self.folds)
        elif attempt.handed:
            self.say.value = say_html(f'<div class="tbq-verdict">{view.lines_html(told.result_lines(attempt))}</div>')
            self.picture.value = in_language(told.result_html(attempt))
            self.side.children, self.below.children = (self.say, self.box.widget), (self.picture,)
        else:
            self._open(attempt)

    def _open(self, attempt: Attempt) -> None:
        self.budget.value = in_language(told.budget_html(self.play))
        self._stakes()
        show(self.tape, self.play.undecided)
        said = told.run_sentences(attempt)
        live = "".join(f'<p class="tbq-notice">{inline(words)}</p>' for words in said[-1:])
        if not self.play.runs_left():
            words = t(
                "No runs left: set the panel to what you hand in, bet, and hand it in.",
                "测量次数用完了：把面板拨到要交的方案，下注，然后交。",
            )
            live += f"<p>{words}</p>"
        self.say.value = say_html(live, self._quiet(live=True))
        small = f'<p class="tbq-note">{told.origin_words(attempt.runs[-1].evidence)}</p>' if attempt.runs else ""
        self.picture.value = in_language(told.runs_html(attempt) + small)
        self.side.children = (self.panel, self.doing.widget, self.say)
        self.below.children = (self.picture,)

    def _quiet(self, live: bool = False) -> str:
        """What stands below the live region: hints, and what became of the runs. live: the last one stands in the live region."""
        said = told.run_sentences(self.play.attempt)[: -1 if live else None]
        return view.hints_html(self.play) + "".join(f"<p><small>{inline(words)}</small></p>" for words in said)

    def _closing(self, saved: bool) -> tuple[str, str]:
        attempt = self.play.attempt
        return told.headline(attempt), told.result_html(attempt, saved)

    def _folds(self, saved: bool) -> list[tuple[str, str]]:
        mine = view.lines_html([*told.result_lines(self.play.attempt), *told.run_sentences(self.play.attempt)])
        return [(t("What you handed in", "你交的方案"), mine)]
