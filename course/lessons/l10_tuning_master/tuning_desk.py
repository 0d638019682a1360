"""The tuning game on the page: panel, bet, run, hand in, the table, the cause, the letter. And its text twin, as methods."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from course.cards.render import in_language, say_html
from course.cards.widgets import focus
from course.game import view
from course.game.desk import CaseDesk
from course.i18n import pick, t
from course.learning.marking import CONFIDENCE
from course.lessons.l10_tuning_master import tuning
from course.lessons.l10_tuning_master import tuning_view as told
from course.lessons.l10_tuning_master.tuning_player import Tuning
from course.markup import inline, plain


def again_words(counts: bool = False) -> str:
    """The button for a new attempt. counts: the attempts so far decided nothing, so the next one is no practice."""
    return t("↺ Another try", "↺ 再来一次") + ("" if counts else t(" (practice)", "（练习）"))


class Desk(CaseDesk):
    """The tuning game (see ``CaseDesk``).

    ``run(onednn="off", bet="faster", confidence="fairly")``, ``hand_in(...)``, ``hint()``, ``cause("b")``, ``letter("...",
    tick=["cause"])``, ``again()``: each prints what the page would show, and the pages of the case that are open follow.
    """

    play: Tuning

    # --- typed ---

    def run(self, bet: str = "", confidence: int | str = "", **config: str) -> None:
        """Measure one configuration against today's. bet: faster, same, slower, breaks; confidence: guess, fairly, certain."""
        if self._moved(lambda: self.play.run(config, bet, confidence, self._print)):
            last = self.play.attempt.runs[-1]
            self._write(plain(told.sentence(self.play.plan, last, last.today)))
            self._write(
                "\n".join(
                    filter(None, [told.picture_text(self.play, self.play.attempt), told.origin_words(last.evidence)])
                )
            )
            self._write(told.budget_words(self.play))

    def hand_in(self, bet: str = "", confidence: int | str = "", **config: str) -> None:
        """Hand in one configuration; then every combination is measured."""
        if self._moved(lambda: self.play.hand_in(config, bet, confidence, self._print)):
            self._after_hand_in()

    def _after_hand_in(self) -> None:
        attempt = self.play.attempt
        for line in told.result_lines(self.play, attempt):
            self._write(plain(line))
        self._write(told.picture_text(self.play, attempt))
        self._write(told.origin_words(attempt.handed.evidence))
        self._write(view.cause_text(self.play))

    def cause(self, answer: str = "") -> None:
        """Name the cause, after the hand-in."""
        if self._moved(lambda: self.play.cause(answer)):
            self._write(view.cause_text(self.play))
            if self.play.cause_found():
                self.debrief()

    def debrief(self) -> None:
        """Why, the trap, the points, the letter."""
        if not self.play.cause_found():
            self._write(t("The debrief comes after the hand-in and the cause.", "先交方案、答出原因，再看复盘。"))
            return
        self._write("\n".join(map(plain, view.debrief_lines(self.case))))
        self._write(view.points_text(self.play.score()))
        self._write(view.letter_text(self.case, self.play.written()))

    def letter(self, text: str = "", tick: str | Sequence[str] = ()) -> None:
        """Reply to the colleague; without a text, tick what the last reply does. tick: names of criteria."""
        written = self.play.written()
        text, ticked = str(text or (written.text if written else "")), [tick] if isinstance(tick, str) else list(tick)
        if self._moved(lambda: self.play.letter(text, ticked)):
            self._write(view.letter_text(self.case, self.play.written()))

    def again(self) -> None:
        """Open a new attempt: practice."""
        if self._moved(self.play.again):
            self._write(told.panel_text(self.play))

    def _print(self, words: str) -> None:
        self._write(f"  ... {plain(words)}")

    # --- shown ---

    def __str__(self) -> str:
        return told.whole_text(self.play)

    def _saved(self) -> str:
        return f'<pre style="white-space:pre-wrap;font:inherit">{html.escape(str(self))}</pre>'

    def _more(self) -> str:
        return "".join(
            f"<p>{t('<strong>Must not break:</strong> ', '<strong>不能破：</strong>')}{inline(pick(one.name))}</p>"
            for one in self.play.plan.limits
        )

    def _parts(self) -> list[Any]:
        import ipywidgets as w

        from course.game.parts import Picker, button, row

        plan = self.play.plan
        today = t(" (today)", "（现在）")
        self.controls = {
            one.id: Picker(
                pick(one.name),
                one.values,
                chosen=plan.today[one.id],
                says=pick(one.says),
                notes={plan.today[one.id]: today},
            )
            for one in plan.controls
        }
        self.bet = Picker(t("🎲 Your bet on this setting", "🎲 你押这组设置"), plan.bets(), says=tuning.bet_note())
        self.confidence = Picker(t("How sure are you?", "你有多大把握？"), {str(k): v for k, v in CONFIDENCE.items()})
        self.budget = w.HTML()
        look = t("📖 Ask the rule book", "📖 翻规则书") if plan.rules else t("🔬 Measure it", "🔬 测一测")
        self.go = button("tbg-run", look, lambda: self._press(self.play.run), main=True)
        self.hand = button("tbg-hand", t("📦 Hand it in", "📦 就交它"), lambda: self._press(self.play.hand_in))
        ask = t("💡 A hint (costs ½)", "💡 提示（扣 ½ 分）")
        self.ask = button("tbg-hint", ask, lambda: self._made(self.play.hint))
        rows = [*self.controls.values(), self.bet, self.confidence]
        self.panel = w.VBox([*(one.widget for one in rows), self.budget, row(self.go, self.hand, self.ask)])
        self.panel.add_class("tbg-panel")
        self.more, self.after = w.VBox([]), []
        self.restart = button("tbg-again", again_words(), self._again)
        return [self.panel, self.steps.widget, self.say, self.more]

    # --- pressed ---

    def _press(self, move: Callable[..., Any]) -> None:
        """Measure or hand in what the panel shows."""
        if self._ran(lambda: self._do(move)):
            self.bet.choose("")
            self.confidence.choose("")
            self._go_on()

    def _do(self, move: Callable[..., Any]) -> None:
        config = {name: one.chosen for name, one in self.controls.items()}
        play = self.play
        chosen = play.config(config), play.bet(self.bet.chosen), play.confidence(self.confidence.chosen)
        plan, handing = play.plan, move == play.hand_in
        if not plan.rules:
            what = t("all combinations", "所有组合") if handing else tuning.in_words(plan, config)
            seconds = plan.seconds[handing]
            self._notice(t("Measuring; the buttons wait until it is done.", "测量中，测完按钮才会响应。"))
            self.steps.start(t(f"**{what}**: about {seconds:g} s", f"**{what}**：大约 {seconds:g} 秒"), seconds)
        move(*chosen, self.steps.tell)

    def _again(self) -> None:
        self.steps.clear()
        for name, one in self.controls.items():
            one.choose(self.play.plan.today[name])
        if self._made(self.play.again):
            focus(next(iter(next(iter(self.controls.values())).buttons.values())))

    def _go_on(self) -> None:
        """Every page follows; where what was pressed is gone or done, the keyboard goes on with the next part."""
        shown = len(self.after)
        self._follow()
        if len(self.after) > shown:
            self.after[-2 if len(self.after) > 1 else 0].focus()

    # --- drawn ---

    def _draw(self) -> None:
        attempt = self.play.attempt
        self.budget.value = in_language(f"<p>{told.budget_words(self.play)}</p>")
        if attempt.handed:
            self._closed(attempt)
        else:
            self.panel.layout.display = None
            self.more.children, self.after = (), []
            live = ""
            if attempt.runs:
                words = told.sentence(self.play.plan, attempt.runs[-1], attempt.runs[-1].today)
                live = f'<p class="tbq-notice">{inline(words)}</p>'
            if not self.play.runs_left():
                words = t(
                    "No runs left: set the panel to what you hand in, bet, and hand it in.",
                    "测量次数用完了：把面板拨到要交的方案，下注，然后交。",
                )
                live += f"<p>{words}</p>"
            self.say.value = say_html(live, self._quiet(attempt.runs[:-1]))

    def _quiet(self, runs: Sequence[tuning.Bet] | None = None) -> str:
        """What stands below the live region: hints, results of these runs (None: of all), the picture, where it comes from."""
        attempt, plan = self.play.attempt, self.play.plan
        runs = attempt.runs if runs is None else runs
        hints = "".join(f"<p>💡 {inline(pick(text))}</p>" for text in self.play.opened_hints())
        earlier = "".join(f"<p><small>{inline(told.sentence(plan, one, one.today))}</small></p>" for one in runs)
        source = f'<p class="tbq-note">{told.origin_words(attempt.runs[-1].evidence)}</p>' if attempt.runs else ""
        return hints + earlier + told.picture_html(self.play, attempt) + source

    def _closed(self, attempt: tuning.Attempt) -> None:
        """After the hand-in: result and table, the cause, then debrief, points and letter."""
        import ipywidgets as w

        from course.game.parts import CauseBox, LetterBox, row

        self.panel.layout.display = "none"
        lines = "".join(f"<p>{inline(line)}</p>" for line in told.result_lines(self.play, attempt))
        source = f'<p class="tbq-note">{told.origin_words(attempt.handed.evidence)}</p>'
        self.say.value = say_html(
            f'<div class="tbq-verdict">{lines}</div>', told.picture_html(self.play, attempt) + source
        )
        if not self.after:
            self.after = [CauseBox(self.play, self._go_on)]
        self.after[0].show()
        if self.play.cause_found() and len(self.after) == 1:
            points = f"<h4>{t('🏅 Points', '🏅 得分')}</h4>{view.points_html(self.play.score())}"
            debrief = w.HTML(in_language(view.debrief_html(self.case) + points, "", ' role="status"'))
            self.restart.description = again_words(
                counts=tuning.standing(self.case, self.play.log.entries()).first is None
            )
            self.after += [debrief, LetterBox(self.play), row(self.restart)]
        self.more.children = tuple(getattr(one, "widget", one) for one in self.after)
