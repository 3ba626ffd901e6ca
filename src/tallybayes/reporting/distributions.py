"""The distribution of each column in each class, before any model: counts of bins or of values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.display.number_format import NumberFormat
from tallybayes.display.tables import Grid, Result, number
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import class_codes
from tallybayes.explain.number_axis import NumberAxis, find_axis
from tallybayes.schema.schema import Schema
from tallybayes.sources import plain_value

BINS, VALUES = 24, 10  # of a column of numbers, and of names: more cannot be told apart in a small picture
# A column has heavy tails if its range is this many times that between its outer percentiles, which is drawn then.
_HEAVY, _OUTER = 2.0, (1.0, 99.0)
_LONG = 60  # characters; texts longer than this on average are shown by their length

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Result):
    """The rows of each class by the values of one column.

    Attributes
    ----------
    column : str
        The column.
    kind : {"numbers", "values", "lengths"}
        Whether bins are ranges of numbers, values, or ranges of the number of characters of a text.
    bins : tuple of str
        The name of each bin (B,).
    counts : ndarray, shape (B, C)
        The rows of each class in each bin.
    missing : ndarray, shape (C,)
        The rows of each class without a value.
    low, high : float
        The range of numbers that the bins cover; NaN for values.
    cut : bool
        Whether some numbers are outside this range: they are counted in the first and the last bin.
    axis : NumberAxis or None
        The axis on which bins are equally wide, if not a plain one. The number that it leaves out has a bin of its own.
    """

    column: str
    kind: str
    bins: tuple[str, ...]
    classes: tuple[Any, ...]
    counts: Floats
    missing: Floats
    low: float = float("nan")
    high: float = float("nan")
    cut: bool = False
    axis: NumberAxis | None = None

    def shown(self) -> Grid:
        """Return a table of the rows of each class in each bin."""
        rows = [(name, *map(number, counts)) for name, counts in zip(self.bins, self.counts, strict=True)]
        rows += [("missing", *map(number, self.missing))] * bool(self.missing.any())
        return Grid(self.column, ("", *map(str, self.classes)), tuple(rows))


@dataclass(frozen=True, eq=False)
class ClassedRows:
    """A sample of rows, and the class of each."""

    rows: RowBatch
    classes: tuple[Any, ...]
    codes: Codes  # (n,): the place of each row's class

    @classmethod
    def of(cls, sample: pa.RecordBatch, schema: Schema, classes: tuple[Any, ...] | None = None) -> ClassedRows:
        """Return the rows with their classes; with one class for all if the rows have no label."""
        rows = RowBatch(sample, 0, schema.missing)
        if classes is None:
            return cls(rows, ("rows",), np.zeros(len(rows), np.intp))
        codes, found = class_codes(rows, schema.label)
        place = {name: k for k, name in enumerate(classes)}
        places = np.array([place.get(name, -1) for name in found.values], np.intp)
        return cls(rows, classes, places[codes])

    def count(self, bins: Codes, size: int) -> Floats:  # (size, C)
        """Count the rows of each class in each bin; a negative bin or class is left out."""
        some = (bins >= 0) & (self.codes >= 0)
        cells = bins[some] * len(self.classes) + self.codes[some]
        return (
            np.bincount(cells, minlength=size * len(self.classes)).reshape(size, len(self.classes)).astype(np.float64)
        )


def distribution(
    sample: ClassedRows,
    column: str,
    *,
    stretched: bool = False,
    format_: NumberFormat | None = None,
    calendar: bool = False,
) -> Distribution:
    """Count a column's values by class.

    Where `stretched`, bins of numbers with heavy tails are not equally wide, and a spike has one of its own. The format
    writes numbers as dates or times. The values of a `calendar`, such as months, are in their own order.

    Examples
    --------
    >>> from tallybayes.schema.schema import Schema
    >>> rows = pa.record_batch({"x": ["b", "a", "a", None], "y": ["no", "no", "yes", "yes"]})
    >>> found = distribution(ClassedRows.of(rows, Schema("y", None, (), ()), ("no", "yes")), "x")
    >>> found.bins, found.counts.tolist(), found.missing.tolist()
    (('a', 'b'), [[1.0, 1.0], [1.0, 0.0]], [0.0, 1.0])
    """
    values = present(sample.rows.column(column))
    known = pc.is_valid(values).to_numpy(zero_copy_only=False)
    missing = sample.count(np.where(known, -1, 0).astype(np.intp), 1)[0]
    numbers = as_numbers(values)
    kind = "numbers"
    if numbers is None and _is_long(values):
        kind, numbers = "lengths", as_numbers(pc.utf8_length(values))
    if numbers is None:
        names, bins = _in_order(values) if calendar else _common(values)
        return Distribution(column, "values", names, sample.classes, sample.count(bins, len(names)), missing)
    plain = format_ is None and not pa.types.is_temporal(values.type)
    axis = find_axis(numbers) if stretched and plain else None
    if axis is not None:
        names, bins = _on_axis(axis, numbers)
        counts = sample.count(bins, len(names))
        ends = [end for end in (axis.low, axis.high, axis.spike) if end is not None]
        low, high = min(ends), max(ends)
        return Distribution(column, kind, names, sample.classes, counts, missing, low, high, axis.cuts, axis)
    edges, cut = _edges(numbers[np.isfinite(numbers)])
    inside = np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, len(edges) - 2)
    bins = np.where(np.isfinite(numbers), inside, -1).astype(np.intp)
    write = partial(_end, kind=values.type) if format_ is None else format_.text
    # A day is in the middle of its bin: the bin ends with the last day that is in it.
    inner = 0.5 if format_ is not None and format_.kind == "dates" and edges[0] % 1 else 0.0
    names = tuple(f"{write(low + inner)} to {write(high - inner)}" for low, high in itertools.pairwise(edges.tolist()))
    counts = sample.count(bins, len(names))
    return Distribution(
        column, kind, names, sample.classes, counts, missing, float(edges[0]), float(edges[-1]), cut=cut
    )


def _on_axis(axis: NumberAxis, numbers: Floats) -> tuple[tuple[str, ...], Codes]:
    """Return the names of bins that are equally wide on an axis, and the bin of each number."""
    edges = axis.cut(BINS)
    names = [f"{low:.4g} to {high:.4g}" for low, high in itertools.pairwise(edges)]
    bins = np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, BINS - 1)
    at = spike_bin(axis)
    if at is not None:
        names.insert(at, f"{axis.spike:.4g}")
        bins = np.where(numbers == axis.spike, at, bins + (bins >= at))
    return tuple(names), np.where(np.isfinite(numbers), bins, -1).astype(np.intp)


def spike_bin(axis: NumberAxis) -> int | None:
    """Return the place of the bin of the number that an axis leaves out; None if it leaves out none."""
    return None if axis.spike is None else int(np.clip(np.searchsorted(axis.cut(BINS), axis.spike), 0, BINS))


def present(column: pa.Array) -> pa.Array:
    """Return the column as plain values, NaN as missing."""
    column = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    column = column.cast(pa.string()) if pa.types.is_null(column.type) else column
    return pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column


def as_numbers(column: pa.Array) -> Floats | None:  # (n,)
    """Return numbers and dates as numbers, missing as NaN; None for a column of names."""
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.cast(pa.timestamp("us"), safe=False) if not pa.types.is_time(kind) else column
        column = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def observed_range(numbers: Floats) -> tuple[float, float, bool]:
    """Return the range to draw: all numbers, or without the outer percentiles if tails are heavy.

    Examples
    --------
    >>> observed_range(np.arange(101.0))
    (0.0, 100.0, False)
    >>> observed_range(np.append(np.arange(1000.0), 1e9))
    (10.0, 990.0, True)
    """
    low, high = float(numbers.min()), float(numbers.max())
    inner_low, inner_high = (float(np.round(end, 12)) for end in np.percentile(numbers, _OUTER))
    if 0 < inner_high - inner_low < (high - low) / _HEAVY:
        return inner_low, inner_high, True
    return low, high, False


def _edges(numbers: Floats) -> tuple[Floats, bool]:
    """Return the edges of the bins, and whether numbers are outside them."""
    if not len(numbers):
        return np.array([0.0, 1.0]), False
    low, high, cut = observed_range(numbers)
    if not high > low:
        return np.array([low, np.nextafter(low, np.inf)]), cut
    if (numbers == np.floor(numbers)).all() and high - low < 2**52:  # whole numbers are centres of bins
        step = max(1.0, float(np.ceil((high - low + 1) / BINS)))
        return np.asarray(np.arange(low, high + step + 0.5, step) - 0.5), cut
    return np.linspace(low, high, BINS + 1), cut


def _common(values: pa.Array) -> tuple[tuple[str, ...], Codes]:
    """Return the names of the most frequent values, all others as one, and the bin of each row."""
    counted = pc.value_counts(values.drop_null())
    found, counts = counted.field("values"), counted.field("counts").to_numpy()
    order = np.argsort(-counts, kind="stable")
    shown = order if len(order) <= VALUES else order[: VALUES - 1]
    bins = pc.index_in(values, found.take(pa.array(shown))).fill_null(len(shown)).to_numpy(zero_copy_only=False)
    names = [str(plain_value(found[int(k)])) for k in shown]
    names += [f"{len(order) - len(shown):,} more values"] * (len(order) > len(shown))
    known = pc.is_valid(values).to_numpy(zero_copy_only=False)
    return tuple(names), np.where(known, bins, -1).astype(np.intp)


def _in_order(values: pa.Array) -> tuple[tuple[str, ...], Codes]:
    """Return all values, sorted, and the bin of each row."""
    found = pc.unique(values.drop_null()).sort()
    bins = pc.index_in(values, found).fill_null(-1).to_numpy(zero_copy_only=False)
    return tuple(map(str, found.to_pylist())), bins.astype(np.intp)


def _is_long(values: pa.Array) -> bool:
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return False
    return (pc.mean(pc.utf8_length(values)).as_py() or 0.0) > _LONG


def _end(value: float, kind: pa.DataType) -> str:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return str(np.datetime64(int(value), "us").astype("datetime64[D]"))
    return f"{value:.4g}"


def quantile_bins(numbers: Floats, most: int) -> Codes:  # (n,)
    """Return the bin of each number between quantiles; −1 for missing ones."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return np.full(len(numbers), -1, np.intp)
    edges = np.unique(np.quantile(finite, np.linspace(0, 1, most + 1)[1:-1], method="lower"))
    bins = np.searchsorted(edges, numbers, "right")
    return np.where(np.isfinite(numbers), bins, -1).astype(np.intp)


def distributions(sample: ClassedRows, columns: Sequence[str], schema: Schema) -> tuple[Distribution, ...]:
    """Count the values of several columns by class, as the schema reads them."""
    dates = {
        part for name, reading in schema.readings.items() if reading.kind == "dates" for part in reading.columns(name)
    }
    return tuple(
        distribution(sample, name, stretched=True, format_=schema.number_format(name), calendar=name in dates)
        for name in columns
    )
