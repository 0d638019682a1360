"""`compare_over`: the same comparison at every point of a grid, such as sizes and types."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from course.i18n import t
from course.timing import store, validation
from course.timing.clock import Clock, end_progress, progress
from course.timing.comparing import compare
from course.timing.render import card, table, text_table
from course.timing.results import Comparison, Paired
from course.timing.sentences import interval, short_verdict
from course.units import format_ms

MOST_NAMED = 6
"""Points named one by one in the sentence."""

Point = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """Comparisons over a grid. cells: (point, Comparison) in order; a point is {axis: value}.

    failed: (point, what went wrong in words). complete: False after an interrupt.
    """

    axes: dict[str, tuple[Any, ...]]
    cells: tuple[tuple[Point, Comparison], ...]
    failed: tuple[tuple[Point, str], ...] = ()
    complete: bool = True

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Grid:
        """The grid that `dataclasses.asdict`, perhaps by way of JSON, made `plain`."""
        return cls(
            {name: tuple(values) for name, values in plain["axes"].items()},
            tuple((point, Comparison.from_plain(cell)) for point, cell in plain["cells"]),
            tuple((point, words) for point, words in plain["failed"]),
            plain["complete"],
        )

    def at(self, **point: Any) -> Comparison:
        """The comparison at one point: grid.at(n=64). Raises TimingError where there is none."""
        found = next((cell for where, cell in self.cells if where == point), None)
        if found is None:
            raise validation.TimingError(
                t(
                    f"There is no comparison at {_said(point)}, only at {'; '.join(_said(where) for where, _ in self.cells)}.",
                    f"在 {_said(point)} 没有比较，只有：{'；'.join(_said(where) for where, _ in self.cells)}。",
                )
            )
        return found

    def __getitem__(self, name: str) -> tuple[Paired, ...]:
        """One candidate at every point, in order. Raises TimingError for a name that is none of them."""
        return tuple(cell[name] for _, cell in self.cells)

    def rows(self) -> list[dict[str, Any]]:
        """One tidy row a point and candidate, as `Comparison.rows()` with the axes in front (an axis wins its name)."""
        return [{**point, **row, **point} for point, cell in self.cells for row in cell.rows()]

    def sentence(self) -> str:
        """Where each candidate is faster, slower, the same, undecided."""
        said = []
        for name in self.cells[0][1].pairs:
            where: dict[str, list[str]] = {}
            for point, cell in self.cells:
                where.setdefault(short_verdict(cell[name]), []).append(_said(point))
            said.append(
                f"{name} "
                + t("; ", "；").join(
                    f"{verdict}{_listed(points, len(self.cells))}" for verdict, points in where.items()
                )
            )
        base = self.cells[0][1].baseline
        return t(f"Against {base}: {'. '.join(said)}.", f"与 {base} 相比：{'。'.join(said)}。")

    def plot(self, ax: Any = None, dark: bool | None = None) -> Any:
        """The ratios over the first axis with their intervals; see `course.figures.grid_plot`."""
        from course.figures.timing import grid_plot

        return grid_plot(self.rows(), list(self.axes), self.sentence(), ax, dark)

    def save(self, path: Any) -> Path:
        """Write it to a JSON file, with this machine's passport; `load` reads it."""
        return store.write(path, "Grid", asdict(self))

    def _table(self) -> tuple[list[str], list[list[str]]]:
        names = list(self.cells[0][1].pairs)
        header = [*self.axes, self.cells[0][1].baseline, *names]
        lines = []
        for point, cell in self.cells:
            figures = [_figures(cell[name]) for name in names]
            lines.append(
                [*(str(point[axis]) for axis in self.axes), format_ms(cell.medians_ms[cell.baseline]), *figures]
            )
        return [str(cell) for cell in header], lines

    def _notes(self) -> list[str]:
        notes = [f"{_said(point)}: {words}" for point, words in self.failed]
        for point, cell in self.cells:
            notes += [f"{_said(point)}: {note}" for note in cell.notes]
        return notes if self.complete else [*notes, validation.interrupted_note()]

    def __str__(self) -> str:
        return "\n".join(
            [
                self.sentence(),
                *(f"  {line}" for line in text_table(*self._table())),
                *(f"  ! {note}" for note in self._notes()),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(self.sentence(), table(*self._table()), self._notes())


def _said(point: Point) -> str:
    return ", ".join(f"{axis}={value}" for axis, value in point.items())


def _listed(points: Sequence[str], of: int) -> str:
    if len(points) == of > 1:
        return t(" everywhere", "（处处如此）")
    if len(points) > MOST_NAMED:
        return t(f" at {len(points)} of {of} points", f"（{of} 处中的 {len(points)} 处）")
    return t(f" at {'; '.join(points)}", f"（{'；'.join(points)}）")


def _figures(pair: Paired) -> str:
    ratio, span = interval(pair)
    return f"{ratio} ({span}) {short_verdict(pair)}" if pair.low is not None else short_verdict(pair)


def compare_over(
    axes: Mapping[str, Sequence[Any]],
    candidates: Mapping[str, Callable[..., Any]],
    baseline: str | None = None,
    *,
    inputs: Callable[..., Any] | None = None,
    max_time: float = 1.0,
    ci: float = 0.005,
    gate: float = 0.02,
    device: Any = None,
    clock: str | Clock = "auto",
    cache: str = "hot",
    same: bool | float = True,
    seed: int | None = None,
) -> Grid:
    """`compare` at every point of a grid: compare_over({"n": [64, 256]}, {"mm": mm, "einsum": einsum}, inputs=make).

    inputs: called once a point with the axes as keywords, outside the time; what it returns goes to every candidate
    (a dict as keywords, a tuple as arguments, anything else as the one argument). Without it the candidates get the
    axes as keywords. max_time: seconds a point. The rest: as in `compare`.

    A point where something raises is left out and named. An interrupt returns the points so far (none: Interrupted).
    Raises TimingError, in words, for odd input, and where every point raises.
    """
    points = _points(axes)
    validation.require_candidates(candidates, baseline)
    validation.require_positive(max_time=max_time)
    cells: list[tuple[Point, Comparison]] = []
    failed: list[tuple[Point, str]] = []
    complete = True
    bar = progress(max_time * len(points), t("comparing over the grid", "逐点比较"))
    try:
        for point in points:
            try:
                with validation.interrupts_propagate():
                    bound = _bound(candidates, inputs, point)
                    cells.append(
                        (
                            point,
                            compare(
                                bound,
                                baseline,
                                ci,
                                max_time,
                                gate,
                                device=device,
                                clock=clock,
                                cache=cache,
                                same=same,
                                seed=seed,
                            ),
                        )
                    )
            except validation.TimingError as error:
                failed.append((point, str(error)))
            bar.update(max_time)
    except KeyboardInterrupt:
        if not validation.swallow_interrupt(bool(cells)):
            with validation.interrupts_in_words():
                raise
        complete = False
    finally:
        end_progress(bar)
    if not cells:
        raise validation.TimingError(f"{_said(failed[0][0])}: {failed[0][1]}")
    return Grid({name: tuple(values) for name, values in axes.items()}, tuple(cells), tuple(failed), complete)


def _points(axes: Any) -> list[Point]:
    """Every combination of the axes. Raises TimingError unless it is a dict of names and non-empty lists."""
    good = (
        isinstance(axes, Mapping)
        and axes
        and all(
            isinstance(name, str) and isinstance(values, Sequence) and not isinstance(values, str) and values
            for name, values in axes.items()
        )
    )
    if not good:
        raise validation.TimingError(
            t(
                'The grid is a dict of names and lists with something in them, such as {"n": [64, 256]}.',
                '网格要写成“名字 → 非空列表”的字典，例如 {"n": [64, 256]}。',
            )
        )
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def _bound(
    candidates: Mapping[str, Callable[..., Any]], inputs: Callable[..., Any] | None, point: Point
) -> dict[str, Callable[[], Any]]:
    """The candidates with their inputs at this point."""
    for name, f in candidates.items():
        if not callable(f):
            validation.require_callable(name, f)
    if inputs is None:
        return {name: partial(f, **point) for name, f in candidates.items()}
    with validation.named_errors("inputs", 1):
        made = inputs(**point)
    if isinstance(made, Mapping):
        return {name: partial(f, **made) for name, f in candidates.items()}
    given = made if isinstance(made, tuple) else (made,)
    return {name: partial(f, *given) for name, f in candidates.items()}
