"""The tuning game on the page: panel, bet, run, hand in, the table, the cause, the letter. And its text twin, as methods."""

from __future__ import annotations

import html
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from course.game import tuning, view
from course.game import tuning_view as told
from course.game.play import MoveError
from course.game.tuning import Tuning
from course.i18n import pick, t
from course.quiz.render import in_language, say_html
from course.quiz.rich import inline, plain
from course.quiz.saved import hide_saved_copy, saved_copy
from course.quiz.text import text_mode
from course.quiz.widgets import view_of

DOUBLE_CLICK_S = 0.6  # a press this soon after a run waited while it ran, and was meant for it
_open: dict[str, weakref.WeakSet[Desk]] = {}


def again_words(counts: bool = False) -> str:
    """The button for a new attempt. counts: the attempts so far decided nothing, so the next one is no practice."""
    return t("↺ Another try", "↺ 再来一次") + ("" if counts else t(" (practice)", "（练习）"))


def stopped() -> str:
    """What an interrupt gets."""
    return t("Stopped, as you asked: this run is not counted.", "已停止，这次不算。")


class Desk:
    """What ``case("voice")`` gives: a page in a notebook, text elsewhere; and the same moves by typing.

    ``run(onednn="off", bet="faster", sure="fairly")``, ``hand_in(...)``, ``hint()``, ``cause("b")``, ``letter("...",
    tick=["cause"])``, ``again()``: each prints what the page would show, and the pages of the case that are open follow.
    """

    def __init__(self, play: Tuning, text: bool | None = None, write: Callable[[str], None] = print) -> None:
        self.play, self.case, self._write = play, play.case, write
        self.text = text_mode() if text is None else text
        self.widget: Any = None
        self._copy: Any = None
        self._done_at = float("-inf")

    # --- typed ---

    def run(self, bet: str = "", sure: int | str = "", **config: str) -> None:
        """Measure one configuration against today's. bet: faster, same, slower, breaks; sure: guess, fairly, certain."""
        if self._moved(lambda: self.play.run(config, bet, sure, self._print)):
            last = self.play.attempt.runs[-1]
            self._write(plain(told.sentence(self.play.plan, last, last.today)))
            self._write(
                "\n".join(
                    filter(None, [told.picture_text(self.play, self.play.attempt), told.origin_words(last.evidence)])
                )
            )
            self._write(told.budget_words(self.play))

    def hand_in(self, bet: str = "", sure: int | str = "", **config: str) -> None:
        """Hand in one configuration; then every combination is measured."""
        if self._moved(lambda: self.play.hand_in(config, bet, sure, self._print)):
            self._after_hand_in()

    def _after_hand_in(self) -> None:
        attempt = self.play.attempt
        for line in told.result_lines(self.play, attempt):
            self._write(plain(line))
        self._write(told.picture_text(self.play, attempt))
        self._write(told.origin_words(attempt.handed.evidence))
        self._write(told.cause_text(self.play, attempt))

    def hint(self) -> None:
        """Open the next hint; each costs half a point of the outcome."""
        if not self.play.attempt.handed and self._moved(self.play.hint):
            for number, text in enumerate(self.play.opened_hints(), 1):
                self._write(f"💡 {number}/{len(self.case.hints)} {plain(pick(text))}")

    def cause(self, answer: str = "") -> None:
        """Name the cause, after the hand-in."""
        if self._moved(lambda: self.play.cause(answer)):
            self._write(told.cause_text(self.play, self.play.attempt))
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

    def letter(self, text: str = "", tick: list[str] | tuple[str, ...] = ()) -> None:
        """Reply to the colleague; without a text, tick what the last reply does. tick: names of criteria."""
        written = self.play.written()
        text = text or (written.text if written else "")
        if self._moved(lambda: self.play.letter(text, list(tick))):
            self._write(view.letter_text(self.case, self.play.written()))

    def again(self) -> None:
        """Open a new attempt: practice."""
        if self._moved(self.play.again):
            self._write(told.panel_text(self.play))

    def _print(self, words: str) -> None:
        self._write(f"  ... {plain(words)}")

    def _moved(self, move: Callable[[], Any]) -> bool:
        """Make a move; a slip is answered by its sentence. Pages of this case follow."""
        try:
            move()
        except MoveError as slip:
            self._write(plain(str(slip)))
            return False
        except KeyboardInterrupt:
            self._write(stopped())
            return False
        except Exception as error:
            if not type(error).__module__.startswith("course."):
                raise
            self._write(str(error))
            return False
        for desk in _open.get(self.case.id, ()):
            desk.refresh()
        for notice in self.play.log.take_notices():
            self._write(notice)
        return True

    # --- shown ---

    def __str__(self) -> str:
        return told.whole_text(self.play)

    __repr__ = __str__

    def show(self) -> Desk:
        """Display the page and the copy that stays readable in a saved notebook; print the text in text mode."""
        if self.text:
            self._write(str(self))
            return self
        from IPython.display import display

        from course.game.parts import ticket_of

        self.build()
        display(view_of(self.widget, ticket_of(self.case)), raw=True)
        self._copy = display(self.saved_copy(), raw=True, display_id=True)
        return self

    _ipython_display_ = show

    def saved_copy(self) -> dict[str, str]:
        """MIME bundle of what stays in a saved notebook."""
        body = f'<pre style="white-space:pre-wrap;font:inherit">{html.escape(str(self))}</pre>'
        return {"text/html": saved_copy(self.case.id, body), "text/plain": str(self)}

    def build(self) -> Any:
        """The widget of the case; also remembered, so that typed moves reach it."""
        import ipywidgets as w

        from course.game.parts import CauseBox, LetterBox, Picker, Steps, button

        plan = self.play.plan
        more = "".join(
            f"<p>{t('<strong>Must not break:</strong> ', '<strong>不能破：</strong>')}{inline(pick(one.name))}</p>"
            for one in plan.limits
        )
        self.ticket = w.HTML(view.STYLE + hide_saved_copy(self.case) + view.ticket_html(self.case, more))
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
        self.bet = Picker(t("🎲 Your bet on this setting", "🎲 你押这组设置"), plan.bets())
        self.sure = Picker(t("How sure are you?", "你有多大把握？"), {str(k): v for k, v in tuning.SURE_WORDS.items()})
        self.budget = w.HTML()
        self.steps = Steps()
        self.say = w.HTML(say_html())
        look = t("📖 Ask the rule book", "📖 翻规则书") if plan.rules else t("🔬 Measure it", "🔬 测一测")
        self.go = button(look, lambda: self._press(self.play.run), main=True)
        self.go.add_class("tbg-run")
        self.hand = button(t("📦 Hand it in", "📦 就交它"), lambda: self._press(self.play.hand_in))
        self.hand.add_class("tbg-hand")
        self.ask = button(t("💡 A hint (costs ½)", "💡 提示（扣 ½ 分）"), self._hint)
        self.ask.add_class("tbg-hint")
        self.buttons = w.Box([self.go, self.hand, self.ask])
        self.buttons.add_class("tbg-go")
        self.buttons.add_class("tbq-ready")
        panel = [
            *(one.widget for one in self.controls.values()),
            self.bet.widget,
            self.sure.widget,
            self.budget,
            self.buttons,
        ]
        self.panel = w.VBox(panel)
        self.panel.add_class("tbg-panel")
        self.more = w.VBox([])
        self._cause_box, self._letter_box = CauseBox, LetterBox
        self.after: list[Any] = []
        self.restart = button(again_words(), self._again)
        self.restart.add_class("tbg-again")
        self.widget = w.VBox([self.ticket, self.panel, self.steps.widget, self.say, self.more])
        for name in ("tbq", "tbg", f"tbq-live-{self.case.id}"):
            self.widget.add_class(name)
        _open.setdefault(self.case.id, weakref.WeakSet()).add(self)
        self.refresh()
        return self.widget

    # --- pressed ---

    def _press(self, move: Callable[..., Any]) -> None:
        """Measure or hand in what the panel shows. A press that waited while something ran is half of a double click."""
        if time.monotonic() - self._done_at < DOUBLE_CLICK_S:
            return
        config = {name: one.chosen for name, one in self.controls.items()}
        handing = move == self.play.hand_in
        plan, rules = self.play.plan, bool(self.play.plan.rules)
        try:
            self.play.config(config), self.play.bet(self.bet.chosen), self.play.sure(int(self.sure.chosen or 0))
            if not rules:
                seconds = plan.seconds[1 if handing else 0]
                what = t("all combinations", "所有组合") if handing else tuning.in_words(plan, config)
                self.say.value = say_html(
                    f"<p>{t('Measuring; the buttons wait until it is done.', '测量中，测完按钮才会响应。')}</p>"
                )
                self.steps.start(t(f"**{what}**: about {seconds:g} s", f"**{what}**：大约 {seconds:g} 秒"), seconds)
            move(config, self.bet.chosen, int(self.sure.chosen), self.steps.tell)
            if not rules:
                self.steps.done(t("done", "完成"))
        except MoveError as slip:
            self._slip(str(slip))
            return
        except KeyboardInterrupt:
            self.steps.clear()
            self._slip(stopped())
            return
        except Exception as error:
            if not type(error).__module__.startswith("course."):
                raise
            self.steps.clear()
            self._slip(str(error))
            return
        self._done_at = time.monotonic()
        self.bet.choose("")
        self.sure.choose("")
        self._follow()

    def _hint(self) -> None:
        self.play.hint()
        self._follow()

    def _again(self) -> None:
        self.play.again()
        self.steps.clear()
        for name, one in self.controls.items():
            one.choose(self.play.plan.today[name])
        self._follow()

    def _slip(self, words: str) -> None:
        self.say.value = say_html(f'<p class="tbq-notice">{inline(words)}</p>', self._quiet(self.play.attempt.runs))

    def _follow(self) -> None:
        """Every page of this case shows the new state, and the saved copy too."""
        for desk in _open.get(self.case.id, (self,)):
            desk.refresh(pressed=desk is self)

    # --- drawn ---

    def refresh(self, pressed: bool = False) -> None:
        """Draw the state of the case, read from the log. pressed: by a button of this page, which then keeps the keyboard."""
        attempt = self.play.attempt
        self.budget.value = in_language(f"<p>{told.budget_words(self.play)}</p>")
        if attempt.handed:
            self._closed(attempt, pressed)
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
        if self._copy is not None:
            self._copy.update(self.saved_copy(), raw=True)

    def _quiet(self, runs: Sequence[tuning.Bet]) -> str:
        """What stands below the live region: hints, results of these runs, the picture, where it comes from."""
        attempt, plan = self.play.attempt, self.play.plan
        hints = "".join(f"<p>💡 {inline(pick(text))}</p>" for text in self.play.opened_hints())
        earlier = "".join(f"<p><small>{inline(told.sentence(plan, one, one.today))}</small></p>" for one in runs)
        source = f'<p class="tbq-note">{told.origin_words(attempt.runs[-1].evidence)}</p>' if attempt.runs else ""
        return hints + earlier + told.picture_html(self.play, attempt) + source

    def _closed(self, attempt: tuning.Attempt, pressed: bool) -> None:
        """After the hand-in: result and table, the cause, then debrief, points and letter."""
        import ipywidgets as w

        self.panel.layout.display = "none"
        lines = "".join(f"<p>{inline(line)}</p>" for line in told.result_lines(self.play, attempt))
        source = f'<p class="tbq-note">{told.origin_words(attempt.handed.evidence)}</p>'
        self.say.value = say_html(
            f'<div class="tbq-verdict">{lines}</div>', told.picture_html(self.play, attempt) + source
        )
        fresh = len(self.after)
        if not self.after:
            self.after = [self._cause_box(self.play, self._follow)]
        if self.play.cause_found() and len(self.after) == 1:
            points = f"<h4>{t('🏅 Points', '🏅 得分')}</h4>{view.points_html(self.play.score())}"
            debrief = w.HTML(in_language(view.debrief_html(self.case) + points, "", ' role="status"'))
            self.restart.description = again_words(
                counts=tuning.standing(self.case, self.play.log.entries()).first is None
            )
            row = w.Box([self.restart])
            row.add_class("tbg-go")
            self.after += [debrief, self._letter_box(self.play), row]
        self.more.children = tuple(getattr(one, "widget", one) for one in self.after)
        if (
            pressed and len(self.after) > fresh
        ):  # what was pressed is gone or done: the keyboard goes on with the next part
            self.after[-2 if len(self.after) > 1 else 0].focus()
