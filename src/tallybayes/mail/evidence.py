"""The evidence of a mail filter: in how many messages of each class each token is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.categories import Categories
from tallybayes.errors import CannotMerge, wanted
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.evidence.class_sums import ClassSums
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact, SparsityPattern
from tallybayes.kernels.mail import GROUPS, VERSION, MailCounts

__all__ = ["MailEvidence", "TokenTable"]

# The tokens of a group, sorted, and their counts: where the entries of each begin, their classes and values.
TokenTable: TypeAlias = tuple[
    npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]
]
SUMS: Mapping[str, Sum] = {"messages": Sum("value", sparse=True)}


@dataclass(frozen=True, eq=False)
class MailEvidence(ClassSums):
    """Exact counts of messages, by class and by token.

    It adds and subtracts like other evidence. Its one statistic has two columns, header and body, whose values are the
    tokens' hashes: sorting them is what makes equal counts equal bytes, and of text it would take most of the time.

    Attributes
    ----------
    version : str
        How messages were split into tokens.
    classes : Categories
        The classes that have messages, sorted.
    rows : Exact, shape (C,)
        The messages of each class.
    statistics : tuple of one Statistic
        The messages of each class that have each token.
    """

    version: str
    classes: Categories
    rows: Exact
    statistics: tuple[Statistic, ...]

    @classmethod
    def of(cls, counts: MailCounts, names: Sequence[str], version: str = VERSION) -> MailEvidence:
        """Return the evidence in a table of counts, whose classes have these names."""
        totals = dict(zip(names, counts.totals().tolist(), strict=True))
        some = sorted(name for name in names if totals[name])
        place = np.full(len(names), -1, np.int32)
        place[[names.index(name) for name in some]] = np.arange(len(some), dtype=np.int32)
        rows = Exact.from_counts(np.array([totals[name] for name in some], np.int64))
        labels, parts = [], []
        for group in range(len(GROUPS)):
            keys, starts, classes, values = counts.items(group)
            codes = place[classes]
            if list(names) != sorted(names):
                order = np.lexsort((codes, np.repeat(np.arange(len(keys)), np.diff(starts))))
                codes, values = codes[order], values[order]
            parts.append(SparseExact(SparsityPattern(starts, codes, len(some)), Exact.from_counts(values)))
            # Made of a buffer, because pa.array would import pandas.
            labels.append(Categories(pa.Array.from_buffers(pa.int64(), len(keys), [None, pa.py_buffer(keys)])))
        sums = {"messages": SparseExact.side_by_side(parts)}
        return cls(
            version, Categories(pa.array(some, pa.string())), rows, (Statistic(rows, sums, SUMS, tuple(labels)),)
        )

    def tables(self) -> Iterator[TokenTable]:
        """Yield the tokens and counts of each group."""
        [statistic] = self.statistics
        for group in range(len(GROUPS)):
            one = statistic.of_columns(np.array([group]))
            numbers = one.sums["messages"]
            assert isinstance(numbers, SparseExact)
            values = numbers.values.to_float().astype(np.int64)
            keys = one.labels[0].array.cast(pa.int64()).to_numpy()
            yield keys, numbers.places.starts, numbers.places.rows, values

    def _replace(self, classes: Categories, rows: Exact, statistics: tuple[Statistic, ...]) -> Self:
        return replace(self, classes=classes, rows=rows, statistics=statistics)

    def _is_like(self, other: Self) -> bool:
        return self.version == other.version

    def _conform(self, other: Self) -> Self:
        if self.version != other.version:
            do = "Train both with the same version of tallybayes"
            raise CannotMerge(wanted("cannot merge mail filters", f"tokens {self.version}", f"{other.version}", do))
        return other
