"""What `observe` shows where this machine cannot run an experiment and there is no recording: field reports of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course.core.i18n import both, pick, t
from course.core.machine import next_step, on_rocm
from course.experiment import base, reports
from course.experiment.bets_view import answer_words
from course.experiment.reports import Answer, Report
from course.figures.shown import Betted, Block, Fold
from course.questions.items import Item
from course.verbs import state
from course.verbs.betted import items_of, others, placed, settled
from course.verbs.say import present

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
    """Show the reports on each experiment, those after the first folded, and at the end once what a recording would need.

    A bet is not settled: the option that report and source name is said, and the bet stays open.
    """
    for one in experiments:
        state.now.write("observe", one.name)
        last, first = one is experiments[-1], one is experiments[0]
        present(replace(reported(one, missing(experiments) if last else ()), folded=not first))


def reported(experiment: base.Experiment, more: Sequence[Fold] = ()) -> Block:
    """The block for one experiment, made from the reports on it. Results of its bets are written to the log."""
    found, answers = reports.about(experiment.name), reports.verdicts(experiment.name)
    return Block(
        headline=pick(reports.headline(experiment.name) or experiment.telling.title),
        step="",
        picture=None,
        small=t("reported by others, not measured here", "他人报告，并非本机实测"),
        bets=tuple(_answer(item, *answers[item.id]) for item in items_of(experiment) if item.id in answers),
        folds=(*([Fold(_how_many(found), told(found))] if found else []), *more),
        experiment=experiment.name,
    )


def _how_many(found: Sequence[Report]) -> str:
    """The title of the fold: how many reports there are."""
    count = len(found)
    many = t(f"The {count} reports", f"这 {count} 份报告") if count > 1 else t("The report", "这份报告")
    return many + t(", with links and limits", "的原文链接和局限")


def told(found: Sequence[Report]) -> tuple[str, ...]:
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


def missing(experiments: Sequence[base.Experiment]) -> tuple[Fold, ...]:
    """What is needed to record these experiments, with the command."""
    needs = t(" and ", "、").join(dict.fromkeys(pick(NEEDS.get(one.needs, one.needs)) for one in experiments))
    steps = [pick(next_step(one.needs)) for one in experiments]
    amd = t(
        "This PyTorch is built for AMD GPUs: there `torch.backends.cudnn` drives MIOpen, another library.",
        "这个 PyTorch 是为 AMD GPU 构建的：在那里 `torch.backends.cudnn` 控制的是另一个库 MIOpen。",
    )
    kinds = dict.fromkeys(one.needs for one in experiments)
    lines = [
        t(f"This takes {needs}, which this machine does not have.", f"这个实验需要{needs}，这台机器上没有。"),
        *([amd] if on_rocm() else []),
        *dict.fromkeys(step for step in steps if step),
        *(
            t("On a machine that has it: ", "换一台有的机器，运行：")
            + f"`python -m course.experiment --record DIR --needs {kind} --missing`"
            for kind in kinds
        ),
    ]
    return (Fold(t("No recording exists yet: make one", "还没有人录过：怎样录一份"), tuple(lines)),)


def _answer(item: Item, report: Report, answer: Answer) -> Betted:
    """The bet on an item with the result by the report; writes the report to the log. The bet stays open."""
    settled(item, None, report.evidence())
    bet = placed([item]).get(item.id)
    return Betted(
        mine=answer_words(item, bet) if bet else "",
        out=answer_words(item, answer.option),
        lead=t("Report and source name", "报告和源码的说法"),
        still=t("nobody measured it in this form", "题目里这种情形，还没有人测过") if bet else "",
        why=f"{pick(answer.why)} {pick(item.option(answer.option).why)}",
        others=others(item, bet, answer.option),
    )
