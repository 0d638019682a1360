"""The hunt on the page: the script's lines to click, the cause, the repair, the debrief. And its text twin, as methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from course.cards.render import in_language, notice_html, say_html
from course.cards.widgets import classed, focus, light, name_of, show
from course.core.i18n import pick, t
from course.core.markup import code_block
from course.game import view
from course.game.desk import CaseDesk
from course.game.play import MoveError
from course.lessons.l11_bug_hunt import hunt_view as told
from course.lessons.l11_bug_hunt.hunt import NOTHING_WRONG, Hunt, measured

NEEDS_S = 4.0
"""About how long a new process with torch takes; the bar is drawn for that."""


class Desk(CaseDesk):
    """The hunt (see ``CaseDesk``).

    ``measure()``, ``line(7)`` (0: nothing is wrong), ``cause("b")``, ``repair({7: "new text"})`` or ``repair(script)``,
    ``prove()`` where nothing is wrong, ``hint()``, ``give_up()``, ``again()``: each prints what the page would show, and the
    pages of the case that are open follow.
    """

    play: Hunt

    # --- typed ---

    def measure(self) -> None:
        """Run the script as it came, here and now, and say what its symptom is on this machine."""
        self._write(t("  ... running it in a new process", "  ... 在新进程里运行"))
        if self._tried(lambda: measured(self.play.bug), self._write):
            self._tell(view.lines_html([pick(self._gave)]))

    def line(self, number: int | str = "") -> None:
        """Point at the line that makes the symptom; 0: nothing is wrong."""
        if self._moved(lambda: self.play.line(_number(number))):
            self._tell(view.lines_html([told.line_said(self.play)]))
            if self.play.step != "line":
                self._say_next()

    def repair(self, script: str | Mapping[int, str] = "") -> None:
        """Run the repaired script, given whole or as {line: new text}, and measure the symptom again."""
        if self._moved(lambda: self.play.repair(self._whole(script))):
            self._tell(told.verdict_html(self.play))
            if self.play.step == "closed":
                self._say_next()

    def prove(self) -> None:
        """Where nothing is wrong: run the script as it is, and as the complaint wants it."""
        if self._moved(self.play.prove):
            self._tell(view.lines_html(told.proof_lines(self.play.bug, self._gave)))
            if self.play.step == "closed":
                self._say_next()

    def give_up(self) -> None:
        """Close the case and see how it goes."""
        if self._moved(self.play.give_up):
            self._say_next()

    def _say_next(self) -> None:
        super()._say_next()
        if self.play.step != "closed":
            self._tell(told.step_html(self.play))

    def _whole(self, script: str | Mapping[int, str]) -> str:
        """A whole script from single lines. Raises MoveError, in words, for a line that does not exist."""
        if not isinstance(script, Mapping):
            return script
        lines, script = dict(self.play.bug.numbered()), {_number(one): text for one, text in script.items()}
        if unknown := [number for number in script if number not in lines]:
            raise MoveError(
                f"There is no line {unknown[0]!r}; the script has 1 to {len(lines)}.",
                f"没有第 {unknown[0]!r} 行；脚本只有第 1 到 {len(lines)} 行。",
            )
        return "\n".join(str({**lines, **script}[number]) for number in lines)

    # --- shown ---

    def _now(self) -> str:
        return told.now_html(self.play)

    def _more(self) -> str:
        return told.log_html(self.play.bug)

    def start(self) -> Any:
        return self.lines[1]

    def _parts(self) -> None:

        self.chosen: int | None = None
        self._seen = ""
        self.two.add_class("tbg-script")
        self.script = (*self._build_script(), self._build_buttons())
        self._build_work()

    def _build_script(self) -> list[Any]:
        """The lines to click, and "nothing is wrong"."""
        import ipywidgets as w

        from course.game.parts import choice_button

        self.head = light(w.HTML)
        self.lines = {
            number: choice_button("tbh-line", press=partial(self._choose, number))
            for number, _ in self.play.bug.numbered()
        }
        listed = classed(light(w.Box, list(self.lines.values())), "tbh-lines")
        self.none = choice_button("tbg-value", "tbh-none", press=partial(self._choose, NOTHING_WRONG))
        return [self.head, listed, self.none]

    def _build_buttons(self) -> Any:
        """Point, measure, ask for a hint, give up."""
        from course.game.parts import button, row

        hint, stop = (
            t("💡 A hint (free)", "💡 提示（不扣分）"),
            t("🏳️ Show me, and close the case", "🏳️ 直接看答案，结案"),
        )
        self.point = button("tbh-point", t("🎯 It is this line", "🎯 就是这一行"), self._point, main=True)
        self.look = button("tbh-measure", t("🔬 Measure the symptom", "🔬 测一测症状"), self._measure)
        self.ask = button("tbg-hint", hint, lambda: self._made(self.play.hint))
        self.stop = button("tbh-give-up", stop, lambda: self._made(self.play.give_up))
        self.buttons = row(self.point, self.look, self.ask, self.stop)
        return self.buttons

    def _build_work(self) -> Any:
        """The field for the repair, or the proof of an innocent script."""
        import ipywidgets as w

        from course.game.parts import button, row

        one, before = self.play.bug, self.play.last_repair()
        self.field = light(
            w.Textarea,
            value=before.text if before else one.script,
            rows=len(self.lines) + 1,
            layout={"width": "100%", "height": "auto"},
            continuous_update=False,
        )
        self.field.add_class("tbh-script")
        name_of(self.field, t("The script, to be repaired here", "脚本，在这里改"))
        self.run = button("tbh-repair", t("🔬 Run it and measure again", "🔬 运行，再测一次"), self._repair, main=True)
        both_ways = t("🔬 Prove it: run both", "🔬 证明一下：两种都跑")
        self.proof = button("tbh-prove", both_ways, self._prove, main=True)
        parts = [row(self.proof)] if one.innocent else [self.field, row(self.run)]
        inside = [light(w.HTML, self._work_head()), *parts]
        self.work = classed(light(w.VBox, inside), "tbg-panel")
        return self.work

    def _work_head(self) -> str:
        if self.play.bug.innocent:
            words = t(
                "Run the script as it is, and as the complaint wants it. Then compare.",
                "照原样跑一次，再照抱怨的意思改了跑一次，比一比。",
            )
            return in_language(f"<h4>{t('🔬 Prove it', '🔬 证明一下')}</h4><p>{words}</p>")
        words = t(
            "Change what you like; it runs in a process of its own, and the symptom is measured again. Tab leaves the field.",
            "随便改；它在单独的进程里运行，然后再测一次症状。按 Tab 可以离开输入框。",
        )
        return in_language(f"<h4>{t('🛠️ Repair it', '🛠️ 动手修')}</h4><p>{words}</p>")

    # --- pressed ---

    def _choose(self, number: int) -> None:
        if self.play.step == "line":
            self.chosen = number
            self._lay()

    def _point(self) -> None:
        if self.chosen is None:
            self._notice(t("Choose a line first, or “nothing is wrong”.", "先选一行，或者选“没有毛病”。"))
            return
        number, self.chosen = self.chosen, None
        self._made(lambda: self.play.line(number))

    def _measure(self) -> None:
        if self._busy(lambda: measured(self.play.bug)):
            said, self._seen = pick(self._gave), ""
            self._notice(f"🔬 {said}")
            self._seen = t("🔬 The script as it came: ", "🔬 原来的脚本：") + said  # below, from the next move on

    def _repair(self) -> None:
        if self._busy(lambda: self.play.repair(self.field.value)):
            self._go_on()

    def _prove(self) -> None:
        if not self._busy(self.play.prove):
            return
        if self._gave.objection:
            self._notice(told.proof_lines(self.play.bug, self._gave)[0])
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Where the cause was just found, the keyboard goes on with the repair."""
        asked = self.work.layout.display == "none"
        super()._go_on()
        if asked and self.play.step == "repair":
            focus(self.proof if self.play.bug.innocent else self.field)

    def _reset(self) -> None:
        self.field.value, self._seen = self.play.bug.script, ""

    def _busy(self, work: Callable[[], Any]) -> bool:
        def timed() -> Any:
            self.doing.start(t("running it in a new process", "在新进程里运行"), NEEDS_S)
            return work()

        return self._ran(timed)

    # --- drawn ---

    def _draw(self) -> None:
        super()._draw()
        self.say.value = say_html(self._live(self.play.step), self._quiet())

    def _lay(self) -> None:
        step = self.play.step
        self._draw_lines(step, told.line_states(self.play))
        show(self.point, step == "line")
        show(self.look, step in ("line", "cause"))
        self.buttons.children = () if step == "closed" else (self.point, self.look, self.ask, self.stop)
        show(self.work, step == "repair")
        said = (self.say,) if step == "closed" else (self.doing.widget, self.say)
        self.side.children = self.script if step == "repair" else (*self.script, *said)
        self.two.children = (self.closing if step == "closed" else self.ticket, self.side)
        asked = (self.box.widget,) if self.box else ()
        if step == "closed":
            self.below.children = (self.last, self.folds)
        elif step == "repair":  # what comes of a repair stands below it
            self.below.children = (*asked, self.work, *said)
        else:
            self.below.children = asked

    def _draw_lines(self, step: str, states: dict[int, str]) -> None:
        from course.game.parts import mark

        head = t("🔎 The script", "🔎 脚本")
        if step == "line":
            head = t("🔎 Which line makes the symptom?", "🔎 症状出在哪一行？")
        elif any(number and state == "hit" for number, state in states.items()):
            head = t("🔎 Here it is", "🔎 就在这儿")
        self.head.value = in_language(f"<h4>{head}</h4>")
        for number, text in self.play.bug.numbered():
            state = "on" if number == self.chosen else states.get(number, "")
            made = self.lines[number]
            made.description = told.line_words(number, text, state)
            made.disabled = step != "line"
            for name in ("on", "hit", "miss"):
                mark(made, f"tbh-{name}", state == name)
        state = "on" if self.chosen == NOTHING_WRONG else states.get(NOTHING_WRONG, "")
        nothing = t("0: nothing is wrong here", "0：这里没有毛病")
        self.none.description = f"{told.MARKS[state] if state else '○'} {nothing}"
        mark(self.none, "tbg-on", state in ("on", "hit"))
        self.none.disabled = step != "line"
        show(self.none, step == "line" or bool(state))

    def _live(self, step: str) -> str:
        """What is read out: the newest of repair, proof, line."""
        said = told.line_said(self.play) if step in ("line", "cause") else ""
        return told.verdict_html(self.play) or (notice_html(said) if said else "")

    def _quiet(self) -> str:
        """What stands below the live region: the symptom as measured, the hints."""
        return view.lines_html(filter(None, [self._seen])) + view.hints_html(self.play)

    def _closing(self, saved: bool) -> tuple[str, str]:
        done = told.verdict_html(self.play)
        head = t("Case closed: found, and shown.", "结案：找到了，也证明了。") if done else t("Case closed.", "结案。")
        return head, done if saved else ""

    def _folds(self, saved: bool) -> list[tuple[str, str]]:
        one, mine = self.play.bug, self.play.last_repair()
        scripts = {
            t("Your repair", "你的修法"): mine.text if mine else "",
            told.right_head(): "" if one.innocent else one.repair,
        }
        marked = [(t("The script", "脚本"), told.script_html(self.play))] if saved else []
        return [*((head, code_block(text, head)) for head, text in scripts.items() if text), *marked]


def _number(typed: Any) -> Any:
    """A line's number that was typed as text; anything else as it is."""
    return int(typed) if isinstance(typed, str) and typed.strip().isdecimal() else typed
