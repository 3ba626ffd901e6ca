"""Leaks: columns that alone tell one class from all others, by counts of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from tallybayes.events.inputs import Floats
from tallybayes.reporting.distributions import ClassedRows, as_numbers, present, quantile_bins

_BINS = 32  # bins of a column, each with as many rows; finer ones would fit chance
_TOLD = 0.9  # share of a class's entropy; a column with more is rarely known before the class is
_FEWEST = 20  # rows of a class, and of all other classes; with fewer it may be chance


class Leak(NamedTuple):
    """A column that alone tells a class from all others."""

    of: Any  # the class
    column: str
    share: float  # the share of the entropy of "is it this class?" that the column tells
    missing: bool  # whether already knowing that the column is missing tells it


def leaks(sample: ClassedRows, columns: Sequence[str]) -> tuple[Leak, ...]:
    """Return the columns that give single classes away, the most telling first.

    The share is mutual information over entropy, less what chance adds to as many bins (Miller and Madow).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallybayes.schema.schema import Schema
    >>> rows = pa.record_batch({"x": list("abc") * 40, "y": ["in", "out", "out"] * 40})
    >>> [one[:2] for one in leaks(ClassedRows.of(rows, Schema("y", None, (), ()), ("in", "out")), ["x"])]
    [('in', 'x'), ('out', 'x')]
    """
    rows = np.bincount(sample.codes[sample.codes >= 0], minlength=len(sample.classes))
    enough = np.flatnonzero((rows >= _FEWEST) & (rows.sum() - rows >= _FEWEST))
    found = []
    for name in columns:
        known, bins = _bins(sample, name)
        share = _told(sample.count(bins, int(bins.max(initial=0)) + 1))
        absent = _told(sample.count(known.astype(np.intp), 2))
        found += [Leak(sample.classes[c], name, share[c], absent[c] >= _TOLD) for c in enough if share[c] >= _TOLD]
    return tuple(sorted(found, key=lambda one: -one.share))


def _bins(sample: ClassedRows, column: str) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Return whether each row has a value, and its bin; missing values have their own."""
    values = present(sample.rows.column(column))
    known = pc.is_valid(values).to_numpy(zero_copy_only=False)
    numbers = as_numbers(values)
    if numbers is not None:
        bins = quantile_bins(numbers, _BINS)
    else:
        codes = values.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
        sizes = np.bincount(codes[codes >= 0], minlength=1)
        rank = np.empty(len(sizes), np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        bins = np.where(codes >= 0, np.minimum(rank[np.maximum(codes, 0)], _BINS - 1), -1)
    return known, bins + 1


def _told(counts: Floats) -> Floats:  # (C,)
    """Return the share of each class's entropy that the bins (B, C) tell."""
    total = counts.sum()
    each = counts.sum(axis=1, keepdims=True)
    whole = _entropy(counts.sum(axis=0) / max(total, 1.0))
    given = (each / max(total, 1.0) * _entropy(counts / np.where(each > 0, each, 1.0))).sum(axis=0)
    bias = (np.count_nonzero(each) - 1) / (2 * max(total, 1.0) * np.log(2))
    return np.asarray(np.divide(whole - given - bias, whole, out=np.zeros(len(whole)), where=whole > 0))


def _entropy(p: Floats) -> Floats:
    """Return the entropy in bits of a class with probability p against the others."""
    p = np.clip(p, 1e-300, 1.0)
    q = np.clip(1 - p, 1e-300, 1.0)
    return np.asarray(-(p * np.log2(p) + q * np.log2(q)))
