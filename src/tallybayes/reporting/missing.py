"""The pattern of missing values: which columns are missing together, and in which classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from tallybayes.display.tables import Grid, Result, number
from tallybayes.events.inputs import Floats
from tallybayes.reporting.distributions import ClassedRows, present

_PATTERNS, _NAMED = 8, 5  # combinations that are listed, and columns that are named in one


class Pattern(NamedTuple):
    """Columns that are missing together, all others being there."""

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, eq=False, repr=False)
class MissingPattern(Result):
    """The combinations of columns that are missing in the same rows.

    Attributes
    ----------
    rows, complete : int
        The number of rows looked at, and of those without any missing value.
    patterns : tuple of Pattern
        The combinations, the most frequent first.
    columns : tuple of str
        The columns with missing values.
    shares : ndarray, shape (F, C)
        The share of each class's rows in which each of them is missing.
    classes : ndarray, shape (C,)
        The number of rows of each class.
    """

    rows: int
    complete: int
    patterns: tuple[Pattern, ...]
    columns: tuple[str, ...]
    shares: Floats
    classes: Floats

    def shown(self) -> Grid:
        """Return a table of the most frequent combinations."""
        rows = tuple(
            (_listed(one.columns), f"{one.rows:,}", f"{one.rows / max(self.rows, 1):.1%}".replace("%", " %"))
            for one in self.patterns[:_PATTERNS]
        )
        more = len(self.patterns) - _PATTERNS
        notes = (f"and {more:,} more combinations",) if more > 0 else ()
        return Grid("", ("missing together", "rows", "share"), rows, notes)


def missing_pattern(sample: ClassedRows, columns: Sequence[str]) -> MissingPattern:
    """Return which of the columns are missing together.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallybayes.schema.schema import Schema
    >>> rows = pa.record_batch({"a": [1, None, None], "b": ["p", None, None], "c": [1, 2, 3]})
    >>> found = missing_pattern(ClassedRows.of(rows, Schema("", None, (), ())), ["a", "b", "c"])
    >>> found.complete, found.patterns
    (1, (Pattern(columns=('a', 'b'), rows=2),))
    """
    absent = {name: pc.is_null(present(sample.rows.column(name))).to_numpy(zero_copy_only=False) for name in columns}
    names = tuple(name for name, gaps in absent.items() if gaps.any())
    n = len(sample.rows)
    rows = np.bincount(sample.codes[sample.codes >= 0], minlength=len(sample.classes)).astype(np.float64)
    if not names:
        return MissingPattern(n, n, (), (), np.zeros((0, len(sample.classes))), rows)
    gaps = np.stack([absent[name] for name in names], axis=1)  # (n, F)
    _, first, counts = np.unique(np.packbits(gaps, axis=1), axis=0, return_index=True, return_counts=True)
    found = [
        Pattern(tuple(name for name, gap in zip(names, gaps[k], strict=True) if gap), int(count))
        for k, count in zip(first, counts, strict=True)
    ]
    complete = sum(one.rows for one in found if not one.columns)
    patterns = sorted((one for one in found if one.columns), key=lambda one: (-one.rows, one.columns))
    counts = np.stack([sample.count(np.where(gaps[:, f], 0, -1), 1)[0] for f in range(len(names))])
    return MissingPattern(n, complete, tuple(patterns), names, counts / np.maximum(rows, 1.0), rows)


def _listed(columns: tuple[str, ...]) -> str:
    more = len(columns) - _NAMED
    return ", ".join(columns[:_NAMED]) + (f" and {number(more)} more" if more > 0 else "")
