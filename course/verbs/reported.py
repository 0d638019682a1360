"""What `observe` says where this machine cannot run an experiment and nobody has recorded it: what others reported."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence

from course.experiment import base, reports
from course.experiment.reports import Answer, Report
from course.figures.reported import picture
from course.i18n import LANGUAGES, Text, both, pick, t
from course.learning.session import bet_of, settle
from course.machine import next_step, on_rocm
from course.markup import inline, link, plain
from course.questions.items import Item
from course.verbs import state
from course.verbs.say import present, say, say_verdict
from course.verdict import inconclusive

NEEDS = {
    "cuda": both("an NVIDIA GPU", "NVIDIA GPU"),
    "mps": both("an Apple GPU", "苹果 GPU"),
    "mkldnn": both("a PyTorch build with oneDNN", "带 oneDNN 的 PyTorch"),
    "onnx": both("the packages onnx, onnxscript and onnxruntime", " onnx、onnxscript、onnxruntime 这三个包"),
    "opt_einsum": both("the package opt_einsum", " opt_einsum 这个包"),
    "compiler": both("a C++ compiler", " C++ 编译器"),
    "two_cores": both("two processor cores", "两个处理器核"),
}


class Reported:
    """Reports on one experiment: HTML in a notebook, the same words as text elsewhere.

    folded: what was found stands open, how far it carries unfolds: for several experiments in one cell.
    """

    def __init__(self, title: Text, found: Sequence[Report], folded: bool = False) -> None:
        self.title, self.reports, self.folded = pick(title), tuple(found), folded

    def _repr_html_(self) -> str:
        parts = "".join(map(self._part, self.reports))
        return f'<div class="tb-reported" style="max-width:760px"><strong>{inline(self.title)}</strong>{parts}</div>'

    def _part(self, report: Report) -> str:
        source = link(report.link, html.escape(report.link.removeprefix("https://")))
        body = picture(report) + "".join(f"<p>{inline(line)}</p>" for line in carries(report))
        if self.folded:
            body = f"<details><summary>{t('How far does it carry?', '它能说明多少？')}</summary>{body}</details>"
        return (
            f'<div style="border-left:4px dashed #7a869a;padding:.2em .8em;margin:.5em 0"><small>{inline(label(report))} · '
            f"{source}</small><p>{inline(pick(report.what))}</p>{body}</div>"
        )

    def __str__(self) -> str:
        lines = [plain(self.title)]
        for report in self.reports:
            lines += [
                f"  {plain(label(report))} · {report.link}",
                f"  {plain(pick(report.what))}",
                *(f"    - {plain(line)}" for line in carries(report)),
            ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(str(self))  # type: ignore[attr-defined]


def label(report: Report) -> str:
    """Where a report comes from, in one line."""
    return " · ".join(
        [
            f"**{t('reported, not measured here', '他人报告，并非本机实测')}**",
            pick(reports.STRENGTHS[report.strength]),
            pick(report.machine),
            pick(report.versions),
            report.date,
        ]
    )


def carries(report: Report) -> list[str]:
    """What it shows and what it does not."""
    return [
        t("**It shows:** ", "**能说明：**") + pick(report.shows),
        t("**It does not show:** ", "**不能说明：**") + pick(report.does_not_show),
    ]


def tell(experiments: Sequence[base.Experiment]) -> None:
    """Say what each would need, show what was reported about it, answer the bets on it.

    A bet is settled only where a report decides it; else the option that report and source name is told, and the
    bet stays open for a run or a recording.
    """
    needs = t(" and ", "、").join(dict.fromkeys(pick(NEEDS.get(one.needs, one.needs)) for one in experiments))
    amd = (
        t(
            " This PyTorch is built for AMD GPUs: there `torch.backends.cudnn` drives MIOpen, another library.",
            "这个 PyTorch 是为 AMD GPU 构建的：在那里 `torch.backends.cudnn` 控制的是另一个库 MIOpen。",
        )
        if on_rocm()
        else ""
    )
    steps = "".join(dict.fromkeys(f" {pick(next_step(one.needs))}".rstrip() for one in experiments))
    published = any(reports.about(one.name) for one in experiments)
    say(
        t(
            f"This takes {needs}, which this machine has not, and no recording of it exists so far.{amd}{steps}"
            + " What others have published:" * published,
            f"这里需要{needs}，本机没有，目前也没有录制。{amd}{steps.strip()}" + "别人公布过的结果：" * published,
        )
    )
    for one in experiments:
        found = reports.about(one.name)
        state.now.write("observe", one.name)
        if found:
            present(Reported(one.title, found, folded=len(experiments) > 1))
        answers = reports.verdicts(one.name)
        for item in state.now.bank.items(one.lesson):
            if item.kind == "predict" and item.experiment == one.name and item.id in answers:
                _answer(item, *answers[item.id])


def _answer(item: Item, report: Report, answer: Answer, settles: bool) -> None:
    """The bet on an item against what the report names; written to the log with the report as evidence."""
    verdict = settle(item, answer.option if settles else None, state.now.log, report.evidence())
    if item.id in state.now.cards:
        state.now.cards[item.id].settle()
    placed = bet_of(item, state.now.log.entries())
    told = []
    for option in dict.fromkeys([answer.option, *(placed.options[:1] if placed else ())]):
        one, said = item.option(option), answer.why if option == answer.option else both("", "")
        told.append(
            {
                code: f"**{pick(one.text, code)}** {pick(said, code)} {pick(one.why, code)}".replace("  ", " ")
                for code in LANGUAGES
            }
        )
    if settles:
        told.insert(
            0,
            both(
                f"Settled by a report ({pick(report.machine, 'en')}), not by a run here.",
                f"由一份报告（{pick(report.machine, 'zh')}）定胜负，不是本机实测。",
            ),
        )
        verdict = dataclasses.replace(verdict, messages=tuple(told))
    else:
        told.insert(
            0,
            both(
                "Report and source name this answer; nobody measured it in this form, so the bet stays open:",
                "报告和源码指向下面这个答案；但没有人按这个形式测过，所以赌注保留：",
            ),
        )
        verdict = inconclusive(*told)
    say_verdict(verdict, t("your bet", "你的赌注") if placed else t("the bet on it", "关于它的赌注"))
