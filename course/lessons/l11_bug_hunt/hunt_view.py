"""What a hunt looks like, as HTML: the script with its lines, the results; text is made from it (``core.plain_text``)."""

from __future__ import annotations

from course.core.i18n import pick, t
from course.core.markup import code_block
from course.game import view
from course.lessons.l11_bug_hunt.hunt import NOTHING_WRONG, Bug, Hunt, Proof, Trial, found, judge, proof_of

MARKS = {"hit": "✓", "miss": "✗", "on": "●", "": " "}


def log_html(one: Bug) -> str:
    """What the script printed, for the ticket."""
    head = t("What they saw:", "他们看到的：")
    return f"<p><strong>{head}</strong></p>{code_block(one.log, head)}" if one.log else ""


def line_words(number: int, text: str, state: str = "") -> str:
    """A line of the script with its number, and its state as a sign."""
    return f"{MARKS[state]} {number:>2}  {text}"


def line_states(hunt: Hunt) -> dict[int, str]:
    """number -> "hit" or "miss" for every line pointed at in this attempt; once it is given up, where it was as well."""
    trail = hunt.attempt
    states = {number: "hit" if hit else "miss" for number, hit in zip(trail.pointed, trail.hits, strict=True)}
    if hunt.step == "closed" and "hit" not in states.values():
        states |= dict.fromkeys(hunt.bug.lines or (NOTHING_WRONG,), "hit")
    return states


def script_html(hunt: Hunt) -> str:
    """The script with its lines numbered and marked."""
    states = line_states(hunt)
    lines = (line_words(number, text, states.get(number, "")) for number, text in hunt.bug.numbered())
    return code_block("\n".join(lines), t("The script", "脚本"))


def line_said(hunt: Hunt) -> str:
    """What to say about the last line pointed at; empty before the first."""
    if not hunt.attempt.pointed:
        return ""
    number = hunt.attempt.pointed[-1]
    hit = found(hunt.bug, number)
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


def proof_lines(one: Bug, proof: Proof) -> list[str]:
    """The two runs of a proof in sentences with marks; what they fail to prove comes first."""
    as_is, as_wished = proof.said
    return [
        *([f"🔬 {pick(proof.objection)}"] if proof.objection else []),
        t("**As it is:** ", "**照原样：**") + pick(as_is),
        t(f"**As the complaint wants it** ({pick(one.wish)}): ", f"**照抱怨的意思改**（{pick(one.wish)}）：")
        + pick(as_wished),
    ]


def verdict_html(hunt: Hunt) -> str:
    """What came of the last repair, or of the proof, from the log."""
    last, proofs = hunt.last_repair(), hunt.attempt.proofs
    if last and last.evidence:
        trial = judge(hunt.bug, last.evidence)
        tone = "good" if trial.accepted else "part" if trial.state == "left" else "bad"
        return f'<div class="tbq-verdict {tone}">{view.lines_html(trial_lines(trial))}</div>'
    if proofs and proofs[-1].evidence:
        proof = proof_of(hunt.bug, proofs[-1].evidence["as is"], proofs[-1].evidence["as wished"])
        return f'<div class="tbq-verdict good">{view.lines_html(proof_lines(hunt.bug, proof))}</div>'
    return ""


def step_html(hunt: Hunt) -> str:
    """What to do next, and how it is typed; nothing in a closed case."""
    call = hunt.case.call
    if hunt.step == "line":
        return view.lines_html(
            [
                t("Which line makes the symptom? ", "症状出在哪一行？")
                + t(f"`{call}.line(7)`; 0 stands for “nothing is wrong”.", f"`{call}.line(7)`；0 表示“没有毛病”。"),
                t("Also:", "还可以：") + " `.measure()` `.hint()` `.give_up()`",
            ]
        )
    if hunt.step == "cause":
        return view.cause_html(hunt)
    if hunt.step == "repair" and hunt.bug.innocent:
        words = t(
            "Prove it: run the script as it is and as the complaint wants it.", "证明一下：原样和照抱怨改的，各跑一次。"
        )
        return view.lines_html([f"{words} `{call}.prove()`"])
    if hunt.step == "repair":
        words = t(
            "Repair it: give single lines, or the whole script as text.",
            "动手修：只给改动的行，或者给整段脚本（文本）。",
        )
        new = t("new text", "新的一行")
        return view.lines_html([f'{words} `{call}.repair({{7: "{new}"}})`'])
    return ""


def now_html(hunt: Hunt) -> str:
    """An open case below its ticket, for text and saved copy."""
    cause = view.cause_html(hunt) if hunt.step == "repair" else ""
    said = view.lines_html(filter(None, [line_said(hunt)]))
    return script_html(hunt) + said + cause + verdict_html(hunt) + step_html(hunt)


def right_head() -> str:
    return t("🛠️ One script that is right", "🛠️ 一种正确的写法")
