"""Mutual information of columns with the class, in bits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from tallybayes.events.event import Event
from tallybayes.events.families.bag import BagTable
from tallybayes.events.histogram import Histogram
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import Interaction
from tallybayes.events.likelihood import Likelihood
from tallybayes.events.product import Product
from tallybayes.events.statistic import Statistic
from tallybayes.events.text.text import Text
from tallybayes.model import Model

if TYPE_CHECKING:
    from tallybayes.explain.tables import Table

_BINS = 16  # of a column of numbers, at most
_BIN_ROWS = 20  # with fewer in a bin, the correction for bias outweighs what the bins tell
_FAR = 0.05  # from 1, of a density's integral over the points that show it


def mutual_information(shares: Floats, prior: Floats) -> Floats:  # (...,)
    """Return each value's part of the mutual information, given P(value | class) (..., C).

    Examples
    --------
    >>> mutual_information(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]))      # half a bit each
    array([0.5, 0.5])
    """
    joint = shares * prior
    value = joint.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(joint > 0, shares / value, 1.0)
    bits = xlogy(joint, ratio).sum(axis=-1) / np.log(2)
    return np.asarray(np.maximum(bits, 0.0))  # below 0 by rounding only


def counted_information(tables: Iterable[Table]) -> dict[str, float]:
    """Return the mutual information in the raw counts of categorical columns, corrected for bias.

    In bits, and without smoothing: it measures what these rows show. Columns whose tables hold parameters or words are
    left out.

    Notes
    -----
    In N rows, a column of K values that is independent of C classes has (K − 1)(C − 1) / 2N nats on average (G. A.
    Miller 1955); this bias is subtracted.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("ppqq") * 100, "z": list("rsrs") * 100, "y": ["no", "no", "yes", "yes"] * 100}
    >>> {name: round(bits, 3) for name, bits in counted_information(tb.fit(rows, "y").tables().columns).items()}
    {'x': 0.998, 'z': 0.0}
    """
    found = {}
    for table in tables:
        if table.counts is None or table.profile.kind != "values" or table.event == Interaction.name:
            continue
        if table.counts.any():
            found[table.column] = _counted(table.counts)
    return found


def information(model: Model) -> Floats:  # (F,)
    """Return the mutual information of each column with the class, in the order of the model's terms.

    For a bag of counts or a text, it is that of one count or one word through this column. For an interaction it is
    what the cells tell beyond their parts; for all pairs, that of a parent's pairs on average.
    """
    prior = np.exp(model.belief.log_prior)
    bits: dict[str, float] = {}
    for block, likelihood in zip(model.schema.blocks, model.belief.likelihoods, strict=True):
        if isinstance(likelihood, BagTable):
            shares = np.exp(likelihood.log - np.logaddexp.reduce(likelihood.log, axis=0))
            bits.update(zip(block.columns, mutual_information(shares, prior).tolist(), strict=True))
            continue
        for f, name in enumerate(block.columns):
            bits[name] = _of_column(block.event, likelihood, f, prior)
    return np.array([bits[name] for name in model.schema.terms])


def _beyond_parts(counts: Floats) -> float:
    """Return the information of cells (C, A, B, ...) less that of their parts, corrected for bias; at least 0."""
    axes = range(1, counts.ndim)
    parts = [counts.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    return max(0.0, _counted(counts.reshape(len(counts), -1).T) - sum(_counted(part.T) for part in parts))


def _counted(counts: Floats) -> float:
    """Return the mutual information in counts (V, C), less its bias (G. A. Miller 1955), in bits."""
    totals = counts.sum(axis=0)
    if not totals.sum():
        return 0.0
    shares = counts / np.where(totals > 0, totals, 1.0)
    values, classes = (counts.sum(axis=1) > 0).sum(), (totals > 0).sum()
    bias = (values - 1) * (classes - 1) / (2 * totals.sum() * np.log(2))
    return max(0.0, float(mutual_information(shares, totals / totals.sum()).sum() - bias))


def _of_column(event: Event, likelihood: Likelihood, f: int, prior: Floats) -> float:
    if isinstance(event, Product):
        weight, tables = event.tables(likelihood.statistic)
        return weight * sum(map(_beyond_parts, tables))
    profile = likelihood.profile(f)
    if not len(profile.values):
        return 0.0
    if isinstance(event, Text):
        return _of_words(event, profile.log, prior)
    density = np.exp(profile.log)
    if profile.kind == "values":
        total = density.sum(axis=0)
        return float(mutual_information(density / np.where(total > 0, total, 1.0), prior).sum())
    values = np.asarray(profile.values, np.float64)
    mass = np.trapezoid(density, values, axis=0)
    if isinstance(event, Histogram) and not np.allclose(mass, 1.0, atol=_FAR):  # a spike, as of zeros, or long tails
        return _of_buckets(likelihood.statistic, f)
    # the profile covers all but a negligible part of the density
    return float(np.trapezoid(mutual_information(density, prior), values))


def _of_buckets(statistic: Statistic, f: int) -> float:
    """Return the information of bins that hold about as much of the weight each, corrected for bias."""
    counts = statistic.sums["counts"].take(statistic.values_of(f), axis=1).to_float().T
    weight = counts.sum(axis=1)
    if not weight.any():
        return 0.0
    bins = np.clip(weight.sum() // _BIN_ROWS, 2, _BINS)
    run = np.floor((np.cumsum(weight) - weight / 2) / weight.sum() * bins)
    return _counted(np.add.reduceat(counts, np.flatnonzero(np.diff(run, prepend=-1)), axis=0))


def _of_words(event: Text, log: Floats, prior: Floats) -> float:
    if event.bag == "bernoulli":
        present = np.exp(log) / (1 + np.exp(log))
        return float((mutual_information(present, prior) + mutual_information(1 - present, prior)).sum())
    return float(mutual_information(np.exp(log - np.logaddexp.reduce(log, axis=0)), prior).sum())
