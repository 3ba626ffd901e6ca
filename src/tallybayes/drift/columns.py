"""Compare the columns of two evidences, each column by the sums that its event model keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes.buckets import Buckets
from tallybayes.display.number_format import NumberFormat
from tallybayes.drift import two_samples
from tallybayes.drift.two_samples import TwoSampleTest
from tallybayes.events.event import Event
from tallybayes.events.families.gamma_rates import totals
from tallybayes.events.families.normal import over_all
from tallybayes.events.inputs import Floats
from tallybayes.events.statistic import Statistic
from tallybayes.evidence.evidence import Evidence
from tallybayes.schema.schema import Block

__all__ = ["LEAST_ROWS", "Change", "ColumnDrift", "compare_columns"]

LEAST_ROWS = 30  # rows on each side; with fewer, a value's share has to move by a quarter or more to be noticed
_CELLS = 10  # cells of a column of numbers, of about equal weight: the custom of the population stability index
_TOKENS = 1000  # tokens of a text column that are tested, the most frequent: rarer ones tell little
_CHANGES = 5  # the largest changes kept of each column


@dataclass(frozen=True)
class Change:
    """A share or parameter that moved: what it is, its figure in the fitted rows, and in the new ones."""

    what: str
    fitted: float
    new: float


@dataclass(frozen=True)
class ColumnDrift:
    """How far one column has changed.

    Attributes
    ----------
    column, event : str
        Its name and its event model.
    p : float
        The p-value of "no change", this column taken alone; NaN if there are too few rows, or nothing to test.
    adjusted : float
        The p-value by Benjamini and Hochberg, corrected for the number of columns.
    distance : float
        The total variation: the least share of rows that would need another value for both sides to agree.
    chance : float
        The distance that chance alone gives on average, without any change.
    missing_fitted, missing_new : float
        The share of rows without a value.
    unseen : float
        The share of new values that no fitted row had: for numbers, those outside the range. NaN where not counted.
    changes : tuple of Change
        The largest changes, largest first.
    """

    column: str
    event: str
    p: float
    adjusted: float
    distance: float
    chance: float
    missing_fitted: float
    missing_new: float
    unseen: float
    changes: tuple[Change, ...]


class _Found(NamedTuple):
    """The figures of one column."""

    comparison: TwoSampleTest
    changes: tuple[Change, ...]
    unseen: float = np.nan


class _Sides(NamedTuple):
    """The sums of one block in the fitted rows and in the new rows, with the same values."""

    fitted: Statistic
    new: Statistic

    @property
    def rows(self) -> tuple[float, float]:
        """The weight of all rows on each side."""
        return float(self.fitted.rows.sum().to_float()), float(self.new.rows.sum().to_float())

    def sums(self, name: str) -> tuple[Floats, Floats]:
        """Return one sum over all classes, on each side."""
        return self.fitted.sums[name].sum(axis=0).to_float(), self.new.sums[name].sum(axis=0).to_float()


# The weight of the rows without a value, fitted and new.
_Absent: TypeAlias = tuple[float, float]
_Compare: TypeAlias = Callable[[int, _Absent], _Found]
_Formats: TypeAlias = Sequence[NumberFormat | None]  # how the numbers of each column are written


def compare_columns(fitted: Evidence, new: Evidence) -> tuple[ColumnDrift, ...]:
    """Compare each column of two evidences of one schema; p-values are not corrected yet."""
    found: dict[str, ColumnDrift] = {}
    for block, mine, theirs in zip(fitted.schema.blocks, fitted.statistics, new.statistics, strict=True):
        sides = _Sides(*mine.align(theirs))
        formats = [fitted.schema.number_format(name) for name in block.columns]
        found.update(zip(block.columns, _compare_block(block, sides, formats), strict=True))
    return tuple(found[name] for name in fitted.schema.columns)


def _compare_block(block: Block, sides: _Sides, formats: _Formats) -> Iterator[ColumnDrift]:
    absent, (n, m) = _absent(sides), sides.rows
    compare = _comparing(block.event, sides, formats) if min(n, m) >= LEAST_ROWS else None
    for f, name in enumerate(block.columns):
        gone = float(absent[0][f]), float(absent[1][f])
        shares = gone[0] / n if n else np.nan, gone[1] / m if m else np.nan
        found = _UNKNOWN if compare is None else compare(f, gone)
        p, distance, chance = found.comparison
        yield ColumnDrift(name, block.event.spec, p, p, distance, chance, *shares, found.unseen, found.changes)


_UNKNOWN = _Found(TwoSampleTest(np.nan, np.nan, np.nan), ())


def _of_cells(cells: tuple[Floats, Floats], name: Callable[[int], str], unseen: float, absent: _Absent) -> _Found:
    """Compare the counts of values, a missing one being one more."""
    first, second = (np.append(one, gone) for one, gone in zip(cells, absent, strict=True))
    gaps = np.abs(first / first.sum() - second / second.sum())
    largest = [int(k) for k in np.argsort(-gaps, kind="stable")[:_CHANGES] if first[k] or second[k]]
    changes = tuple(
        Change("missing" if k == len(first) - 1 else name(k), float(one), float(other))
        for k, one, other in zip(largest, (first / first.sum())[largest], (second / second.sum())[largest], strict=True)
    )
    return _Found(two_samples.compare_counts(first, second), changes, unseen)


def _of_parameters(
    compare: Callable[[], tuple[TwoSampleTest, tuple[Change, ...]]], unseen: float, sides: _Sides, absent: _Absent
) -> _Found:
    """Compare parameters of the rows that have a value, and the share of the rows that have none."""
    (n, m), (a, b) = sides.rows, absent
    gaps = two_samples.compare_counts(np.array([n - a, a]), np.array([m - b, b]))
    missing = (Change("missing", a / n, b / m),) if a or b else ()
    if min(n - a, m - b) < LEAST_ROWS:
        return _Found(gaps, missing)
    own, changes = compare()
    p = two_samples.join(np.array([own.p, gaps.p])) if missing else own.p
    there = min(1 - a / n, 1 - b / m)  # the share of rows whose values can agree
    distance, chance = (there * mine + rest for mine, rest in zip(own[1:], gaps[1:], strict=True))
    return _Found(TwoSampleTest(p, distance, chance), (*changes, *missing)[:_CHANGES], unseen)


def _absent(sides: _Sides) -> tuple[Floats, Floats]:  # (F,) each
    """Return the weight of the rows without a value, on each side.

    A null that is a value counts as none.
    """
    if "missing" in sides.fitted.declared:
        return sides.sums("missing")
    if not sides.fitted.labels:  # counts, where nothing is missing
        width = next(iter(sides.fitted.sums.values())).shape[1]
        return np.zeros(width), np.zeros(width)
    n, m = sides.rows
    first, second = sides.sums("counts")
    columns = range(len(sides.fitted.labels))
    a, b = np.full(len(columns), n), np.full(len(columns), m)
    for f in columns:
        at = _valued(sides.fitted, f)
        a[f], b[f] = n - first[at].sum(), m - second[at].sum()
    return np.maximum(a, 0.0), np.maximum(b, 0.0)


def _valued(statistic: Statistic, f: int) -> npt.NDArray[np.intp]:
    """Return the positions of a column's values that are not null."""
    at = statistic.values_of(f)
    array = statistic.labels[f].array
    return at[~array.is_null().to_numpy(zero_copy_only=False)] if array.null_count else at


def _comparing(event: Event, sides: _Sides, formats: _Formats) -> _Compare | None:
    """Return the comparison of a block's columns by the sums it keeps; None for sums of another kind."""
    declared = sides.fitted.declared
    if "documents" in declared:
        return _tokens(sides)
    if "counts" in declared and declared["counts"].axis == "value":
        return _numbers(sides, formats) if event.labels is Buckets else _values(sides)
    if "counts" in declared:
        return _faces(sides)
    if "ones" in declared:
        return _ones(sides)
    if "second" in declared:
        return _normals(sides)
    return _rates(sides, whole=event.discrete) if "first" in declared else None


def _values(sides: _Sides) -> _Compare:
    """Compare the counts of values."""
    first, second = sides.sums("counts")

    def compare(f: int, absent: _Absent) -> _Found:
        at = _valued(sides.fitted, f)
        a, b = first[at], second[at]
        values, start = sides.fitted.labels[f].array, int(sides.fitted.values_of(f)[0]) if len(at) else 0
        unseen = float(b[a == 0].sum() / b.sum()) if b.any() else np.nan
        return _of_cells((a, b), lambda k: str(values[int(at[k]) - start].as_py()), unseen, absent)

    return compare


def _numbers(sides: _Sides, formats: _Formats) -> _Compare:
    """Compare the counts of cells that have about equal weight in both sides together."""
    first, second = sides.sums("counts")

    def compare(f: int, absent: _Absent) -> _Found:
        at, buckets = sides.fitted.values_of(f), sides.fitted.labels[f]
        a, b = first[at], second[at]
        starts = _cell_starts(a + b)
        ends = np.append(starts[1:], len(a)) - 1
        cells = (np.add.reduceat(a, starts), np.add.reduceat(b, starts)) if len(a) else (a, b)
        used = np.flatnonzero(a)
        inside = b[used[0] : used[-1] + 1].sum() if len(used) else 0.0
        unseen = float(1 - inside / b.sum()) if b.any() else np.nan
        return _of_cells(cells, lambda k: _interval(buckets, int(starts[k]), int(ends[k]), formats[f]), unseen, absent)

    return compare


def _cell_starts(weight: Floats) -> npt.NDArray[np.intp]:
    """Return the first bucket of each cell: cut at ranks of both sides together, which favours neither."""
    if len(weight) <= _CELLS:
        return np.arange(len(weight))
    rank = (np.cumsum(weight) - weight / 2) / weight.sum()
    return np.flatnonzero(np.diff(np.floor(rank * _CELLS), prepend=-1))


def _interval(buckets: Buckets, start: int, end: int, format_: NumberFormat | None) -> str:
    """Return the range of some buckets in words."""
    low, high = float(buckets.low[start]), float(buckets.high[end])
    if format_ is not None:
        return " to ".join(dict.fromkeys(map(format_.text, (low, high))))
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _tokens(sides: _Sides) -> _Compare:
    """Compare the share of texts that have each of the most frequent tokens."""
    (first, second), (often, later) = sides.sums("documents"), sides.sums("tokens")

    def compare(f: int, absent: _Absent) -> _Found:
        at, labels = sides.fitted.values_of(f), sides.fitted.labels[f].array
        a, b = first[at], second[at]
        n, m = (rows - gone for rows, gone in zip(sides.rows, absent, strict=True))
        top = np.argsort(-(a + b), kind="stable")[:_TOKENS]

        def compared() -> tuple[TwoSampleTest, tuple[Change, ...]]:
            p = two_samples.join(two_samples.compare_shares(a[top], b[top], n, m)) if len(top) else 1.0
            order = np.argsort(-np.abs(a[top] / n - b[top] / m), kind="stable")[:_CHANGES]
            changes = (Change(labels[int(k)].as_py(), float(a[k] / n), float(b[k] / m)) for k in top[order])
            return TwoSampleTest(p, *_token_distance(often[at], later[at], top)), tuple(changes)

        unseen = float(later[at][often[at] == 0].sum() / later[at].sum()) if later[at].any() else np.nan
        return _of_parameters(compared, unseen, sides, absent)

    return compare


def _token_distance(first: Floats, second: Floats, top: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Return the distance of token shares and that of chance; tokens that are not tested count as one."""
    cells = [np.append(one[top], max(0.0, one.sum() - one[top].sum())) for one in (first, second)]
    if not (cells[0].any() and cells[1].any()):
        return (0.0, 0.0) if not (cells[0].any() or cells[1].any()) else (1.0, 0.0)
    return two_samples.compare_counts(cells[0], cells[1])[1:]


def _ones(sides: _Sides) -> _Compare:
    """Compare shares of "yes"."""
    sums = sides.sums("ones")

    def compare(f: int, absent: _Absent) -> _Found:
        yes = [float(one[f]) for one in sums]
        cells = [np.array([n - gone - one, one]) for n, gone, one in zip(sides.rows, absent, yes, strict=True)]
        return _of_cells((cells[0], cells[1]), lambda k: ("no", "yes")[k], np.nan, absent)

    return compare


def _faces(sides: _Sides) -> _Compare:
    """Compare each column's share of all counts; every count is taken as drawn by itself, as the event model does."""
    sums = sides.sums("counts")

    def compare(f: int, absent: _Absent) -> _Found:
        if not (sums[0].any() and sums[1].any()):
            return _UNKNOWN
        a, b = (np.array([one.sum() - one[f], one[f]]) for one in sums)
        change = Change("share of counts", float(a[1] / a.sum()), float(b[1] / b.sum()))
        return _Found(two_samples.compare_counts(a, b), (change,))

    return compare


def _normals(sides: _Sides) -> _Compare:
    """Compare mean and variance."""
    moments = [over_all(one) for one in sides]

    def compare(f: int, absent: _Absent) -> _Found:
        def compared() -> tuple[TwoSampleTest, tuple[Change, ...]]:
            one, other = ((float(x.n[f]), float(x.mean[f]), float(x.m2[f])) for x in moments)
            spreads = (float(np.sqrt(m2 / n)) for n, _, m2 in (one, other))
            changes = Change("mean", one[1], other[1]), Change("standard deviation", *spreads)
            return two_samples.compare_normals(one, other), changes

        return _of_parameters(compared, np.nan, sides, absent)

    return compare


def _rates(sides: _Sides, *, whole: bool) -> _Compare:
    """Compare the means of counts, or of waiting times."""
    sums = [totals(one)[1] for one in sides]
    test = two_samples.compare_rates if whole else two_samples.compare_waits

    def compare(f: int, absent: _Absent) -> _Found:
        def compared() -> tuple[TwoSampleTest, tuple[Change, ...]]:
            one, other = ((float(x.n[f]), float(x.total[f])) for x in sums)
            return test(one, other), (Change("mean", one[1] / one[0], other[1] / other[0]),)

        return _of_parameters(compared, np.nan, sides, absent)

    return compare
