"""What a hunt looks like: the ticket with the symptom, the script with its lines, the results. HTML, and the same as text."""

from __future__ import annotations

from course.core.i18n import pick, t
from course.core.markup import code_block, plain
from course.game import view
from course.lessons.l11_bug_hunt.bug import GRADES, NOTHING_WRONG, Bug
from course.lessons.l11_bug_hunt.hunt import Hunt, Proof, Trial, found, judge, proof_of

MARKS = {"hit": "✓", "miss": "✗", "on": "●", "": " "}


def ticket_more(one: Bug) -> str:
    """HTML in the ticket: what the script printed."""
    if not one.log:
        return ""
    head = t("What they saw:", "他们看到的：")
    return f"<p><strong>{head}</strong></p>{code_block(one.log, head)}"


def line_words(number: int, text: str, state: str = "") -> str:
    """A line of the script with its number, and its state as a sign."""
    return f"{MARKS[state]} {number:>2}  {text}"


def script_text(one: Bug, states: dict[int, str]) -> str:
    """The script with its lines numbered."""
    return "\n".join(line_words(number, text, states.get(number, "")) for number, text in one.numbered())


def line_states(hunt: Hunt) -> dict[int, str]:
    """number -> "hit" or "miss" for every line pointed at in this attempt."""
    trail = hunt.attempt
    return {number: "hit" if hit else "miss" for number, hit in zip(trail.pointed, trail.hits, strict=True)}


def shown_states(hunt: Hunt) -> dict[int, str]:
    """As ``line_states``; once the case is given up, where it was as well."""
    states = line_states(hunt)
    if hunt.step == "closed" and "hit" not in states.values():
        states |= dict.fromkeys(hunt.bug.lines or (NOTHING_WRONG,), "hit")
    return states


def line_said(hunt: Hunt) -> str:
    """What to say about the last line pointed at; empty before the first."""
    states = line_states(hunt)
    if not states:
        return ""
    return said_of_line(hunt.bug, list(states)[-1])


def said_of_line(one: Bug, number: int) -> str:
    """What to say about a line that was pointed at."""
    hit = found(one, number)
    if hit and number == NOTHING_WRONG:
        return t("🎯 Yes: nothing is wrong here. And why not?", "🎯 没错：这里没有毛病。那又为什么没有呢？")
    if hit:
        return t(f"🎯 Line {number}: yes, this line makes the symptom.", f"🎯 第 {number} 行：对，症状就出在这里。")
    if number == NOTHING_WRONG:
        return t(
            "🕳️ Something is wrong: measure the symptom, and you see it here, too.",
            "🕳️ 有毛病的：测一测症状，在这台机器上也看得到。",
        )
    return t(  # the same words where nothing is wrong: they must not give that away
        f"🕳️ It is not line {number}. What would you print to convict a line, or to clear it?",
        f"🕳️ 不是第 {number} 行。要给一行定罪，或者还它清白，你会打印什么？",
    )


def trial_lines(trial: Trial) -> list[str]:
    """A repair's result in sentences with marks."""
    head = {
        "gone": t("🎯 **The symptom is gone**, and nothing was left over.", "🎯 **症状没了**，也没留下尾巴。"),
        "stays": t("🔬 **Not yet.** ", "🔬 **还没好。**"),
        "left": t("🕳️ **Almost.** ", "🕳️ **差一点。**"),
        "failed": t("🕳️ **It did not run to its end.** ", "🕳️ **没跑完。**"),
    }[trial.state]
    first, *rest = [pick(one) for one in trial.said]
    return [head, first, *rest] if trial.accepted else [head + first, *rest]


def trial_of(hunt: Hunt) -> Trial | None:
    """The last repair again, from the log."""
    last = hunt.last_repair()
    return judge(hunt.bug, last.evidence) if last and last.evidence else None


def proof_lines(hunt: Hunt) -> list[str]:
    """The proof of an innocent script, from the log."""
    evidence = hunt.attempt.proofs[-1].evidence if hunt.attempt.proofs else {}
    return proof_words(hunt.bug, proof_of(hunt.bug, evidence["as is"], evidence["as wished"])) if evidence else []


def proof_words(one: Bug, proof: Proof) -> list[str]:
    """The two runs of a proof in sentences with marks; what they fail to prove comes first."""
    as_is, as_wished = proof.said
    return [
        *([f"🔬 {pick(proof.objection)}"] if proof.objection else []),
        t("**As it is:** ", "**照原样：**") + pick(as_is),
        t(f"**As the complaint wants it** ({pick(one.wish)}): ", f"**照抱怨的意思改**（{pick(one.wish)}）：")
        + pick(as_wished),
    ]


def score_lines(hunt: Hunt) -> list[str]:
    """What the points leave out: the hints."""
    used = hunt.attempt.hints
    if not used:
        return [t("No hint used.", "没有用提示。")]
    return [t(f"Hints used: {used} (they cost nothing).", f"用了 {used} 条提示（不扣分）。")]


def step_text(hunt: Hunt) -> str:
    """What to do next, and how it is typed."""
    call = hunt.case.call
    if hunt.step == "line":
        return t(
            f"Which line makes the symptom? {call}.line(7); 0 stands for “nothing is wrong”.\n"
            f"Also: {call}.measure(), .hint() (free, counted), .give_up()",
            f"症状出在哪一行？{call}.line(7)；0 表示“没有毛病”。\n"
            f"还可以：{call}.measure()、.hint()（不扣分，但会记数）、.give_up()",
        )
    if hunt.step == "cause":
        return view.cause_text(hunt)
    if hunt.step == "repair" and hunt.bug.innocent:
        return t(
            f"Prove it: run the script as it is and as the complaint wants it. {call}.prove()",
            f"证明一下：照原样跑一次，再照抱怨的意思改了跑一次。{call}.prove()",
        )
    if hunt.step == "repair":
        return t(
            f'Repair it: give single lines, {call}.repair({{7: "new text"}}), or the whole script as text.',
            f'动手修：可以只给改动的行，{call}.repair({{7: "新的一行"}})，也可以给整段脚本（文本）。',
        )
    return ""


def closing_text(hunt: Hunt) -> str:
    """The debrief, one script that is right, the points, as text."""
    right = [] if hunt.bug.innocent else [f"{right_head()}{t(':', '：')}\n{hunt.bug.repair}"]
    points = [view.points_text(hunt.attempt.score()), *score_lines(hunt)]
    return "\n".join([*map(plain, view.debrief_lines(hunt.case)), *right, *points])


def whole_text(hunt: Hunt) -> str:
    """Everything there is to say of a hunt now, as text."""
    one = hunt.bug
    parts = [view.ticket_text(hunt.case, ticket_more(one), [pick(GRADES[one.grade])])]
    parts += [script_text(one, shown_states(hunt)), plain(line_said(hunt))]
    parts += [f"💡 {plain(pick(text))}" for text in hunt.opened_hints()]
    if hunt.step in ("repair", "closed") and hunt.attempt.cause_found:
        parts.append(view.cause_text(hunt))
    if (trial := trial_of(hunt)) is not None:
        parts.append("\n".join(map(plain, trial_lines(trial))))
    parts += [plain(line) for line in proof_lines(hunt)]
    parts.append(step_text(hunt))
    if hunt.step == "closed":
        parts.append(closing_text(hunt))
    return "\n\n".join(filter(None, parts))


def right_head() -> str:
    return t("🛠️ One script that is right", "🛠️ 一种正确的写法")


def solution_html(one: Bug) -> str:
    """One script that is right; nothing for an innocent one."""
    return "" if one.innocent else code_block(one.repair, right_head())
