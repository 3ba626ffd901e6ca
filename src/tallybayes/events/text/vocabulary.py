"""The vocabulary of a column of texts, and its table of log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.events.families.dirichlet import contrast, log_share
from tallybayes.events.inputs import Floats
from tallybayes.exact.sparse import SparseExact
from tallybayes.kernels.text import Lookup

if TYPE_CHECKING:
    from tallybayes.events.text.text import Text

__all__ = ["Words", "log_shares", "log_shares_outside"]


@dataclass(frozen=True)
class Words:
    """The vocabulary of one column, and the log-probabilities of its tokens.

    A document's score is `base`, plus `table` for each token (each occurrence, or each distinct token).
    """

    vocabulary: Categories
    table: Floats  # (V, C)
    base: Floats  # (C,)
    unknown: Floats | None  # (C,)
    distinct: bool
    event: Text = field(repr=False)
    needed: npt.NDArray[np.bool_] | None = None  # (V, C) tokens without which a text is impossible

    @cached_property
    def lookup(self) -> Lookup:
        """The vocabulary as a table to look tokens up in."""
        return Lookup(self.vocabulary.array.cast(pa.string()), self.event.tokens)

    @property
    def present(self) -> Floats:  # (V, C)
        """The probability that a text has each token, where `table` holds log-odds of presence."""
        odds = kernels.exp(self.table)
        return np.asarray(odds / (1 + odds) if self.needed is None else np.where(self.needed, 1.0, odds / (1 + odds)))

    def contrast(self) -> Words:
        """Return the words less the part of the log-probabilities that all classes share."""
        unknown = None if self.unknown is None else contrast(self.unknown[None, :])[0]
        table, base = contrast(self.table), self.base - self.base.max()
        new = Words(self.vocabulary, table, base, unknown, self.distinct, self.event, self.needed)
        if "lookup" in self.__dict__:
            new.__dict__["lookup"] = self.lookup
        return new


def log_shares(counts: SparseExact, totals: Floats, alpha: float, size: int) -> Floats:  # (V, C)
    """Return the log-share of each token in each class; all tokens that a class lacks share one."""
    table = np.tile(log_share(0.0, totals, alpha, size), (counts.shape[1], 1))
    rows = counts.places.rows
    table[counts.places.columns(), rows] = log_share(counts.values.to_float(), totals[rows], alpha, size)
    return table


def log_shares_outside(counts: SparseExact, totals: Floats, alpha: float, size: int) -> Floats:  # (V, C)
    """Return the log-share of each token outside of each class; classes without it share one; α is above 0."""
    whole, log_total = counts.sum(axis=0), kernels.log(totals + alpha * size)
    rows, columns = counts.places.rows, counts.places.columns()
    table = kernels.log(whole.to_float() + alpha)[:, None] - log_total
    outside = whole.take(columns) - counts.values
    table[columns, rows] = kernels.log(outside.to_float() + alpha) - log_total[rows]
    return np.asarray(table)
