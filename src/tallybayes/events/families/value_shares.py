"""Log-shares of the values of categorical columns, from their counts: smoothed by an α, or averaged over it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.families.tree import Level
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import Exact

__all__ = ["averaged", "counts_of", "level_of", "log_shares", "log_table", "totals_of"]


def log_table(statistic: Statistic, options: EstimateOptions) -> Floats:  # (Σ (V + 1), C)
    """Return the log-probability of each value, and after each column's values that of one never seen."""
    log = log_shares(statistic, options, *counts_of(statistic))
    if options.averaged is None:
        return log
    level = level_of(statistic)
    return averaged(statistic, options, log, level.log_shares(), level.log_shares_unseen())


def level_of(statistic: Statistic) -> Level:
    """Return the counts as a level of a tree: the parent of a value is its column."""

    def make() -> Level:
        counts, totals = counts_of(statistic)
        columns = np.arange(len(statistic.sizes))
        return Level(counts, np.repeat(columns, statistic.sizes), totals, columns)

    return statistic.derive("level", make)


def averaged(
    statistic: Statistic, options: EstimateOptions, log: Floats, seen: Floats, unseen: Floats
) -> Floats:  # (Σ (V + 1), C)
    """Return a table with the columns that are averaged over α taken from `seen` (ΣV, C) and `unseen` (F, C)."""
    assert options.averaged is not None
    unseen = np.zeros_like(unseen) if options.unseen == "skip" else unseen
    averages = np.insert(seen, np.cumsum(statistic.sizes), unseen, axis=0)
    return np.where(np.repeat(options.averaged, statistic.sizes + 1)[:, None], averages, log)


def log_shares(
    statistic: Statistic,
    options: EstimateOptions,
    counts: Floats,
    totals: Floats,
    share: Callable[..., Floats] = log_share,
) -> Floats:  # (Σ (V + 1), C)
    """Return the log-share of each value, and after each column's values that of one never seen."""
    of = np.repeat(np.arange(len(statistic.labels)), statistic.sizes)
    size = statistic.sizes[:, None].astype(float)
    seen = share(counts, totals[of], options.alpha[of, None], size[of])
    unseen = np.zeros_like(totals)
    if options.unseen != "skip":
        unseen = share(0.0, totals, options.alpha[:, None], size + 1)
    return np.insert(seen, np.cumsum(statistic.sizes), unseen, axis=0)


def counts_of(statistic: Statistic) -> tuple[Floats, Floats]:
    """Return the counts (ΣV, C) and each column's totals (F, C)."""
    counts = statistic.sums["counts"].to_float().T
    return np.ascontiguousarray(counts), np.ascontiguousarray(totals_of(statistic).to_float().T)


def totals_of(statistic: Statistic) -> Exact:  # (C, F)
    """Return the weight of all values of each column."""
    counts, sizes = statistic.sums["counts"], statistic.sizes
    some = np.flatnonzero(sizes)
    if not len(some):
        return Exact.zeros((counts.shape[0], len(sizes)))
    return counts.group((np.cumsum(sizes) - sizes)[some]).spread(some, len(sizes), axis=1)
