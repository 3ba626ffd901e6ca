"""Multinomial: columns are counts of the faces of one die, rolled many times.

Each row is such rolls: the words of a text.

Counted: how often each face came up in each class. Estimated: φ_k = (count_k + α) / (total + α·V), V the number of
columns. The columns of one such block compete for the same probability; `group` keeps several dice apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tallybayes.cached_property import cached_property
from tallybayes.events.event import ClassCodes, LeftOut, Weights
from tallybayes.events.families.bag import BagEvent, BagTable, ShareVariance, entries_of
from tallybayes.events.families.bag_counts import OwnCounts, WholeCounts
from tallybayes.events.families.bag_rows import BagRows
from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.families.sampling import counted, mean_length
from tallybayes.events.inputs import Dense, Floats, Sparse
from tallybayes.events.likelihood import Drawn, EstimateOptions, Pixels, Table
from tallybayes.events.statistic import Statistic
from tallybayes.exact.sparse import SparseExact

__all__ = ["Multinomial"]


@dataclass(frozen=True)
class Multinomial(BagEvent):
    """Counts of the faces of one die, a die for each class.

    Parameters
    ----------
    group : str
        Columns declared with different groups belong to different dice.

    Examples
    --------
    >>> import tallybayes as tb
    >>> words = {"cheap": [2, 0], "hello": [1, 3], "kind": ["spam", "ham"]}
    >>> model = tb.fit(words, "kind", events="multinomial")
    >>> model.table("cheap").values      # ham: (0+1)/(3+2), spam: (2+1)/(3+2)
    array([[0.2, 0.6]])
    """

    group: str = ""

    name: ClassVar[str] = "multinomial"

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> MultinomialTable:
        """Return the log-share of each face, smoothed."""
        counts, totals = _counts(statistic)
        table = log_share(counts, totals, options.alpha[:, None], len(counts), options.alpha.sum())
        return MultinomialTable(statistic, options, table)

    def without_rows(
        self, statistic: Statistic, data: Dense | Sparse, classes: ClassCodes, weights: Weights
    ) -> LeftOut:
        """Return the rows; those of weight 1 are left out of whole counts by a kernel."""
        counts = statistic.sums["counts"]
        if weights is not None or not counts.is_whole:
            return super().without_rows(statistic, data, classes, weights)
        bag = data if isinstance(data, Sparse) else entries_of(data)
        each = WholeCounts(bag, classes, counts)
        return LeftOut(each.add, lambda: each.lengths, under=each.under)

    def left_out(self, rows: BagRows, counts: SparseExact) -> OwnCounts:
        """Return rows to be scored with their counts taken from their own class."""
        return OwnCounts(rows, counts)


@dataclass(frozen=True, eq=False)
class MultinomialTable(BagTable):
    """The log-share of each face in each class."""

    @cached_property
    def _variance(self) -> ShareVariance:
        """The variances of the log-shares of the faces."""
        return ShareVariance.of(*_counts(self.statistic), self.options.alpha)

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw rolls of the die, Poisson many about the mean length of the class's rows."""
        length = mean_length(self.statistic.sums["counts"].sum(axis=1).to_float(), self.statistic.rows.to_float())
        return list(counted(length[c] * np.exp(self.log[:, c]), rng, n).T)

    def pixels(self) -> Pixels:
        """Return the share of each face; lit is one roll that shows it, dark is none."""
        return Pixels("share", np.exp(self.log).T, np.zeros_like(self.log).T, self.log.T)

    def table(self, f: int) -> Table:
        """Return one row: the count and the probability of this face."""
        counts = self.statistic.sums["counts"].take(np.array([f]), axis=1).to_float().T
        return ("share",), counts, np.exp(self.log[f : f + 1])


def _counts(statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the counts (F, C) and their totals (C,)."""
    counts = statistic.sums["counts"]
    return np.ascontiguousarray(counts.to_float().T), counts.sum(axis=1).to_float()
