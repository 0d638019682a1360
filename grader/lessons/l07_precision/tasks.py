"""Hidden cases of checkpoint 07: gaps between numbers, who may use TF32, and a report on an error."""

from __future__ import annotations

import random
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 07-t-spacing -----------------------------------------------------------------------------------------


def spacing_cases(rng: random.Random) -> list[Case]:
    """Numbers above 1, exact powers of two, numbers below 1, negative ones."""
    bits = [7, 10, 23]

    def between(low: int, high: int) -> float:
        return rng.uniform(1.1, 1.9) * 2.0 ** rng.randint(low, high)

    return [
        *(Case("typical", (between(1, 18), one)) for one in bits),
        *(Case("powers", (2.0 ** rng.randint(2, 20), one)) for one in bits),
        Case("powers", (2.0 ** -rng.randint(2, 20), rng.choice(bits))),
        Case("powers", (1.0, rng.choice(bits))),
        *(Case("small", (between(-20, -2), one)) for one in bits),
        *(Case("negative", (-between(1, 12), one)) for one in bits),
    ]


# --- 07-t-leaves ------------------------------------------------------------------------------------------

LEAVES = ("cuda.conv", "cuda.matmul", "cuda.rnn", "mkldnn.conv", "mkldnn.matmul", "mkldnn.rnn")
NODES = ("root", "cuda", "mkldnn", *LEAVES)
SAID = (
    "cuda.conv",
    "cuda.rnn",
)  # untouched, torch's own hold tf32: here they are always stored, so both readings agree


def leaves_cases(rng: random.Random) -> list[Case]:
    """Leaves of their own; a branch beside leaves; the root beside both; nothing stored."""

    def stored(part: str, **nodes: str) -> Case:
        """These nodes, and of the others, which hold none, some."""
        told = {node.replace("_", "."): value for node, value in nodes.items()}
        rest = [node for node in NODES if node not in told and (node in SAID or rng.random() < 0.5)]
        entries = [*told.items(), *((node, "none") for node in rest)]
        return Case(part, (dict(rng.sample(entries, len(entries))),))

    some = rng.sample([leaf.replace(".", "_") for leaf in LEAVES], 5)
    branch, other = rng.sample(["cuda", "mkldnn"], 2)
    kinds = rng.sample(["conv", "matmul", "rnn"], 3)
    mine, second, theirs = f"{branch}_{kinds[0]}", f"{branch}_{kinds[1]}", f"{other}_{kinds[2]}"
    return [
        stored("leaf", **{some[0]: "tf32", some[1]: "ieee", some[2]: "bf16"}),
        stored("leaf", **{some[3]: "tf32", some[4]: "tf32"}),
        stored("leaf", **dict.fromkeys(some, "ieee")),
        stored("leaf"),
        stored("branch", **{branch: "tf32"}),
        stored("branch", **{branch: "tf32", mine: "ieee"}),
        stored("branch", **{branch: "ieee", mine: "tf32", theirs: "tf32"}),
        stored("branch", **{other: "tf32", mine: "tf32"}),
        stored("root", root="tf32"),
        stored("root", **{"root": "tf32", branch: "ieee"}),
        stored("root", **{"root": "tf32", branch: "ieee", mine: "tf32"}),
        stored("root", **{"root": "tf32", mine: "ieee", theirs: "bf16"}),
        stored("root", **{"root": "ieee", branch: "tf32", second: "ieee"}),
        stored("root", **{"root": "bf16", theirs: "tf32"}),
    ]


# --- 07-t-report ------------------------------------------------------------------------------------------

CLAIMS = {
    "harmless": lambda low, high, limit: high < limit,
    "harmful": lambda low, high, limit: low > limit,
    "undecided": lambda low, high, limit: low <= limit <= high,
}
FIELDS = ("reference", "errors", "tolerance", "low", "high", "claim")
ERRORS = say("errors")


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough inputs, a better reference, a claim the interval carries. Never how small."""
    return reports.judged(report, FIELDS, {"errors": _errors, "reference": _reference, "claim": _claim}, say("praise"))


def _errors(report: dict) -> Mark:
    fault = reports.samples_fault(report, ("errors",), 0.0)  # exact products exist
    return reports.mark(fault, say("errors-part"))


def _reference(report: dict) -> Mark:
    if reports.dtype(report.get("reference")) == "float64":
        return 1.0, None
    return 0.0, say("reference")


def _claim(report: dict) -> Mark:
    limit = reports.number(report.get("tolerance"))
    if limit is None or limit <= 0:
        return 0.0, say("tolerance")
    if reports.samples_fault(report, ("errors",), 0.0):
        return 0.0, say("no-errors")
    if fault := reports.interval_fault(report, report["errors"], ERRORS):
        return reports.mark(fault, reports.CLAIMED)
    fits = CLAIMS.get(reports.words(report.get("claim")))
    if fits is not None and fits(report["low"], report["high"], limit):
        return 1.0, None
    return 0.0, say("other-claim")


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="07-t-spacing", name="spacing", cases=spacing_cases, parts=PARTS["07-t-spacing"]),
    Task(id="07-t-leaves", name="tf32_leaves", cases=leaves_cases, parts=PARTS["07-t-leaves"]),
    Task(id="07-t-report", name="report", judge=judge_report, points=3),
]
