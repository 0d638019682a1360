"""Experiments of lesson 07 on what becomes of a result whose products are rounded: neighbours, solutions, gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from course.experiment.base import Budget, experiment
from course.experiment.words import NOTHING, TOO_NOISY, sci, spread, word
from course.figures.curves import trend
from course.figures.kinds import Bar, Bet, bars, one_in
from course.figures.svg import SvgPicture
from course.i18n import Text, both, t
from course.lessons.l07_precision.experiments import LESSON, NAMES, pick_rows
from course.records import Record
from course.rounding import product, relative_error
from course.timing.stats import median, median_interval

# --- 07-neighbours ------------------------------------------------------------------------------------------


def headline_neighbours(record: Record) -> Text:
    stories = ("float32", "tf32", "tf32, mean removed")
    shares = [pick_rows(record, "share", story=story, offset=100) for story in stories]
    if not all(shares):
        return TOO_NOISY
    plain, low, cured = map(median, shares)
    if plain - low < 0.1:
        return both("Even far from zero, TF32 finds the nearest neighbours.", "就算离原点很远，TF32 也找得对最近邻。")
    most = low < 0.1 * plain
    lost = both(
        f"Far from zero, TF32 loses {'nearly every neighbour' if most else 'neighbours'}",
        f"离原点一远，TF32 就{'几乎次次找错邻居' if most else '会找错邻居'}",
    )
    if plain - cured < 0.1:
        return both(f"{lost['en']}; removing the mean cures it.", f"{lost['zh']}，减去均值就好了。")
    return both(f"{lost['en']}.", f"{lost['zh']}。")


def say_neighbours(record: Record) -> Text:
    if len(record.rows) < 28:
        return NOTHING
    offset = 100

    def share(story: str, at: int) -> str:
        return f"{100 * median(pick_rows(record, 'share', story=story, offset=at)):.0f}"

    near, near_tf32 = share("float32", 0), share("tf32", 0)
    far, far_tf32, cured = (share("float32", offset), share("tf32", offset), share("tf32, mean removed", offset))
    return both(
        f"Nearest neighbours found, points around 0: float32 {near} %, TF32 {near_tf32} %. "
        f"Around {offset}: float32 {far} %, TF32 {far_tf32} %; with the mean removed first, TF32 {cured} % (medians of the clouds).",
        f"找对最近邻的比例，点在 0 附近时：float32 {near}%，TF32 {near_tf32}%。挪到 {offset} 附近：float32 {far}%，"
        f"TF32 {far_tf32}%；先减去均值，TF32 {cured}%（各点云的中位数）。",
    )


def draw_neighbours(record: Record, bets: dict) -> SvgPicture:
    """No bet is made on it."""
    offsets = sorted({row["offset"] for row in record.rows})
    stories = {
        "float32": "float32",
        "tf32, mean removed": t("TF32, mean removed", "TF32，先减均值"),
        "tf32": t("TF32 inputs", "TF32 输入"),
    }
    shares = {
        name: [pick_rows(record, "share", story=story, offset=offset) for offset in offsets]
        for story, name in stories.items()
    }
    series = {name: [100 * median(one) if one else None for one in line] for name, line in shares.items()}

    def percent(share: float) -> str:
        return t(f"{share:g} %", f"{share:g}%")

    last = t("; ", "；").join(
        f"{name} {percent(round(line[-1]))}" for name, line in series.items() if line[-1] is not None
    )
    return trend(
        range(len(offsets)),
        {name: line for name, line in series.items() if line[-1] is not None},
        t(
            f"Right neighbours, points moved by {offsets[-1]}: {last}.",
            f"点云平移 {offsets[-1]} 时，找对的邻居：{last}。",
        ),
        across=t("how far the points were moved from zero", "所有点离原点移了多远"),
        x_words=lambda place: f"{offsets[round(place)]:g}",
        y_words=percent,
    )


def _squared_distances(x: Tensor, name: str) -> Tensor:
    """All squared distances by one matrix product, whose inputs are rounded to the format ``name``."""
    square = (x * x).sum(1)
    return square[:, None] + square[None] - 2 * product(x, x.T, name)


@experiment(
    name="07-neighbours",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "Who is my nearest neighbour, when the map moves away from the origin?",
        "地图离原点越来越远，谁是我最近的邻居？",
    ),
)
def neighbours(budget: Budget) -> Iterator[dict]:
    """Share of right nearest neighbours among 300 points; distances by |x|² + |y|² - 2 x·y, offset growing."""
    for seed in budget.loop(range(5), desc=both("clouds of points", "点云")):
        points = torch.randn(300, 16, generator=torch.Generator().manual_seed(seed))
        for offset in (0, 1, 3, 10, 30, 100, 300):
            moved = points + offset
            truth = (
                torch.cdist(moved.double(), moved.double(), compute_mode="donot_use_mm_for_euclid_dist")
                .fill_diagonal_(torch.inf)
                .argmin(1)
            )
            stories = {name: (moved, name) for name in NAMES}
            stories["tf32, mean removed"] = (moved - moved.mean(0), "tf32")
            for story, (x, name) in stories.items():
                found = _squared_distances(x, name).fill_diagonal_(torch.inf).argmin(1)
                yield {"seed": seed, "offset": offset, "story": story, "share": (found == truth).double().mean().item()}


# --- 07-solve -----------------------------------------------------------------------------------------------

STORIES_SAID = {
    "all float32": both("all float32", "全用 float32"),
    "all TF32": both("all TF32", "全用 TF32"),
    "step TF32, residual float32": both("step TF32, residual float32", "修正量 TF32，残差 float32"),
}


def _final(record: Record) -> dict[str, list[float]]:
    turns = {row["turn"] for row in record.rows}
    return (
        {story: pick_rows(record, "relative", story=story, turn=max(turns)) for story in STORIES_SAID} if turns else {}
    )


def headline_solve(record: Record) -> Text:
    final = {story: median(values) for story, values in _final(record).items() if values}
    if len(final) < 3:
        return TOO_NOISY
    if final["all TF32"] < 10 * final["all float32"]:
        return both("TF32 everywhere solves this nearly as well as float32.", "全用 TF32，解得也和 float32 差不多。")
    return {
        "a": both(
            "A float32 residual alone does not help: TF32 still limits the solution.",
            "光残差用 float32 没有用，精度还是 TF32 的。",
        ),
        "b": both(
            "Only the residual needs float32; the correction may be TF32.",
            "只有残差必须用 float32，修正量用 TF32 就够。",
        ),
        "c": both("Mixing the two formats is worse than TF32 everywhere.", "两种格式混着用，比全用 TF32 还差。"),
    }.get(
        settle_solve(record)["07-bet-solve"] or "",
        both(
            "A float32 residual helps, but float32 everywhere is better.", "残差用 float32 有帮助，但不如全用 float32。"
        ),
    )


def say_solve(record: Record) -> Text:
    final = _final(record)
    if not final or not all(final.values()):
        return NOTHING
    en = "; ".join(f"{STORIES_SAID[story]['en']} {spread(final[story], sci)}" for story in STORIES_SAID)
    zh = "；".join(f"{STORIES_SAID[story]['zh']} {spread(final[story], sci)}" for story in STORIES_SAID)
    return both(f"Relative error of the solution after the last turn: {en}.", f"最后一轮之后，解的相对误差：{zh}。")


def draw_solve(record: Record, bets: dict) -> SvgPicture:
    """The error after the last turn; the bet says how far the lowest bar reaches."""
    final = {story: median(values) for story, values in _final(record).items() if values}
    rows = [
        Bar(word(STORIES_SAID[story]), error, one_in(error), quiet=place < 2)
        for place, (story, error) in enumerate(final.items())
    ]
    plain, low, bet = final["all float32"], final["all TF32"], None
    said = {
        "a": (t("as with TF32", "和全 TF32 一样"), low),
        "b": (t("as with float32", "和全 float32 一样"), plain),
        "c": (t("worse than TF32", "比全 TF32 还差"), 2 * low),
    }
    if mine := said.get(bets.get("07-bet-solve", "")):
        bet = Bet(mine[0], rows=[2], span=(0, mine[1]))
    return bars(rows, bet)


def settle_solve(record: Record) -> dict[str, str | None]:
    final = {story: median(values) for story, values in _final(record).items() if values}
    if len(final) < 3:
        return {"07-bet-solve": None}
    plain, low, mixed = final["all float32"], final["all TF32"], final["step TF32, residual float32"]
    if low < 10 * plain:
        return {"07-bet-solve": None}  # nothing lies between the two
    answer = "b" if mixed < 5 * plain else "a" if 0.3 * low < mixed < 3 * low else "c" if mixed > 3 * low else None
    return {"07-bet-solve": answer}


@experiment(
    name="07-solve",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "Solving A x = b in steps: which half of the step needs float32?",
        "迭代求解 A x = b：一步之中，哪一半需要 float32？",
    ),
)
def solve(budget: Budget) -> Iterator[dict]:
    """x ← x + M (b - A x), M an inverse of A; residual and step each computed in a format of their own."""
    stories = {
        "all float32": ("float32", "float32"),
        "all TF32": ("tf32", "tf32"),
        "step TF32, residual float32": ("float32", "tf32"),
    }
    for seed in budget.loop(range(7), desc=both("systems", "方程组")):
        random = torch.Generator().manual_seed(seed)
        a = torch.eye(128) * 12 + torch.randn(128, 128, generator=random) / 2
        b = torch.randn(128, 1, generator=random)
        exact, inverse = torch.linalg.solve(a.double(), b.double()), torch.linalg.inv(a)
        for story, (residual, step) in stories.items():
            x = torch.zeros(128, 1)
            for turn in range(1, 9):
                x = x + product(inverse, b - product(a, x, residual), step)
                yield {"seed": seed, "story": story, "turn": turn, "relative": relative_error(x, exact)}


# --- 07-noise -----------------------------------------------------------------------------------------------

SOURCES = {
    "batch": both("which 64 samples were drawn", "抽到哪 64 个样本"),
    "tf32": both("TF32 inputs", "输入舍入到 TF32"),
    "bfloat16": both("bfloat16 inputs", "输入舍入到 bfloat16"),
}


def headline_noise(record: Record) -> Text:
    return {
        "a": both("TF32 changes the gradient more than another batch does.", "TF32 的舍入比换一批样本更影响梯度。"),
        "b": both(
            "TF32 changes the gradient about as much as another batch does.",
            "TF32 的舍入和换一批样本，对梯度的影响同一量级。",
        ),
        "c": both(
            "Another batch changes the gradient far more than TF32 does.",
            "换一批样本对梯度的影响，远比 TF32 的舍入大。",
        ),
    }.get(settle_noise(record)["07-bet-noise"] or "", TOO_NOISY)


def say_noise(record: Record) -> Text:
    if len(record.rows) < 6:
        return NOTHING
    seen = {name: [row[name] for row in record.rows] for name in SOURCES}
    ratios = [row["batch"] / row["tf32"] for row in record.rows if row["tf32"]]
    return both(
        f"Drawing another batch moved the gradient by {spread(seen['batch'], sci)} of its length, "
        f"TF32 inputs by {spread(seen['tf32'], sci)}: the draw weighs {spread(ratios, sci)} times as much.",
        f"换一个 batch，梯度偏移了自身长度的 {spread(seen['batch'], sci)}；TF32 输入只让它偏移 {spread(seen['tf32'], sci)}："
        f"前者是后者的 {spread(ratios, sci)} 倍。",
    )


def draw_noise(record: Record, bets: dict) -> SvgPicture:
    """By how much of its length the gradient moved; the bet outlines what moves it more."""
    moved = {name: median([row[name] for row in record.rows]) for name in SOURCES}
    rows = [
        Bar(word(SOURCES[name]), far, t(f"moved by {100 * far:.2g} %", f"偏了 {100 * far:.2g}%"), name == "bfloat16")
        for name, far in moved.items()
    ]
    said = {
        "a": (t("the rounding", "舍入"), [1]),
        "b": (t("both alike", "差不多"), [0, 1]),
        "c": (t("the samples", "换样本"), [0]),
    }
    mine = said.get(bets.get("07-bet-noise", ""))
    return bars(rows, Bet(mine[0], rows=mine[1]) if mine else None)


def settle_noise(record: Record) -> dict[str, str | None]:
    if len(record.rows) < 6:
        return {"07-bet-noise": None}
    interval = median_interval([row["batch"] / row["tf32"] for row in record.rows])
    low, high = interval.low, interval.high
    return {"07-bet-noise": "c" if low > 10 else "a" if high < 0.5 else "b" if low > 0.5 and high < 10 else None}


def _gradient(x: Tensor, y: Tensor, first: Tensor, second: Tensor, name: str) -> Tensor:
    """Gradient of the mean squared error of tanh(x first) second, every product rounded; one flat vector."""
    hidden = torch.tanh(product(x, first, name))
    wrong = 2 * (product(hidden, second, name) - y) / len(x)
    back = product(wrong, second.T, name) * (1 - hidden * hidden)
    return torch.cat([product(x.T, back, name).flatten(), product(hidden.T, wrong, name).flatten()])


@experiment(
    name="07-noise",
    lesson=LESSON,
    version=1,
    needs="cpu",
    seconds=15,
    title=both(
        "What moves a gradient more: the draw of the batch, or the rounding?",
        "谁让梯度偏得更多：抽到哪个 batch，还是舍入？",
    ),
)
def noise(budget: Budget) -> Iterator[dict]:
    """A small network: distance of a batch's gradient from that of all data, and what rounding adds to it."""
    random = torch.Generator().manual_seed(0)
    x, teacher = torch.randn(4096, 32, generator=random), torch.randn(32, 1, generator=random)
    y = torch.tanh(x @ teacher) + 0.1 * torch.randn(4096, 1, generator=random)
    first = torch.randn(32, 64, generator=random) / 6
    second = torch.randn(64, 1, generator=random) / 8
    whole = _gradient(x, y, first, second, "float32")
    for draw in budget.loop(range(31), desc=both("batches", "batch")):
        chosen = torch.randperm(4096, generator=random)[:64]
        batch = _gradient(x[chosen], y[chosen], first, second, "float32")
        row: dict[str, Any] = {"draw": draw, "batch": relative_error(batch, whole)}
        for name in ("tf32", "bfloat16"):
            row[name] = relative_error(_gradient(x[chosen], y[chosen], first, second, name), batch)
        yield row
