"""Complement: like multinomial, but a class is scored by how badly all *other* classes explain the row.

Counted: the same counts as multinomial. Estimated: θ_k = (count of k outside the class + α) / (total outside + αV);
one count of a face adds −log θ_k to the class's score (Rennie et al., 2003). It is steadier where some classes have
few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tallybayes.cached_property import cached_property
from tallybayes.events.families.bag import BagEvent, BagTable, ShareVariance
from tallybayes.events.families.bag_counts import OutsideCounts
from tallybayes.events.families.bag_rows import BagRows
from tallybayes.events.families.dirichlet import LEAST_ALPHA, log_share, share
from tallybayes.events.families.sampling import counted
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import Drawn, EstimateOptions, Pixels, Table
from tallybayes.events.statistic import Statistic
from tallybayes.exact.sparse import SparseExact

__all__ = ["Complement"]


@dataclass(frozen=True)
class Complement(BagEvent):
    """Counts of the faces of one die, scored by the rolls of all other classes.

    Parameters
    ----------
    group : str
        Columns declared with different groups belong to different dice.

    Examples
    --------
    >>> import tallybayes as tb
    >>> words = {"cheap": [2, 0], "hello": [1, 3], "kind": ["spam", "ham"]}
    >>> model = tb.fit(words, "kind", events="complement")
    >>> model.table("cheap").values      # outside ham: (2+1)/(3+2), outside spam: (0+1)/(3+2)
    array([[0.6, 0.2]])
    """

    group: str = ""

    name: ClassVar[str] = "complement"

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> ComplementTable:
        """Return minus the log-share of each face among all other classes."""
        (counts, totals), alpha = _outside(statistic), _alpha(options)
        table = np.ascontiguousarray(-log_share(counts, totals, alpha[:, None], len(counts), alpha.sum()))
        return ComplementTable(statistic, options, table)

    def left_out(self, rows: BagRows, counts: SparseExact) -> OutsideCounts:
        """Return rows to be scored with their counts taken from outside every class but their own."""
        return OutsideCounts(rows, counts)


@dataclass(frozen=True, eq=False)
class ComplementTable(BagTable):
    """Minus the log-share of each face among all other classes."""

    @cached_property
    def _variance(self) -> ShareVariance:
        """The variances of the log-shares outside each class.

        Rows outside two classes partly overlap, and this ignores that: with three classes or more the variances are
        on the large side.
        """
        return ShareVariance.of(*_outside(self.statistic), _alpha(self.options))

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw each face at its rate in the class; complement has no shares inside a class."""
        rows = self.statistic.rows.to_float()[c]
        return list(counted(self.statistic.sums["counts"].to_float()[c] / max(rows, 1e-300), rng, n).T)

    def pixels(self) -> Pixels:
        """Return the share of each face within the class; lit is one roll that shows it, dark is none."""
        counts = self.statistic.sums["counts"]
        own = share(counts.to_float(), counts.sum(axis=1).to_float()[:, None], 0.0, counts.shape[1])
        return Pixels("share", own, np.zeros_like(own), self.log.T)

    def table(self, f: int) -> Table:
        """Return one row: the count in the class, and the share among all other classes."""
        counts = self.statistic.sums["counts"].take(np.array([f]), axis=1).to_float().T
        return ("share outside",), counts, np.exp(-self.log[f : f + 1])


def _outside(statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the counts outside each class (F, C), and their totals (C,)."""
    outside = statistic.sums["counts"].others()
    return outside.to_float().T, outside.sum(axis=1).to_float()


def _alpha(options: EstimateOptions) -> Floats:
    return np.maximum(options.alpha, LEAST_ALPHA)
