"""How much a column tells of the class, by what is believed of it: mutual information, in bits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from tallybayes.events.event import Event
from tallybayes.events.families.bag import BagTable
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import Likelihood
from tallybayes.events.text.text import Text
from tallybayes.model import Model

if TYPE_CHECKING:
    from tallybayes.explain.tables import Table

__all__ = ["counted_information", "information", "mutual_information"]


def mutual_information(shares: Floats, prior: Floats) -> Floats:  # (...,)
    """Bits that each value tells: its part of the mutual information, shares (..., C) of it given each class.

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
    """How much columns of values tell of the class by what was counted, less what comes of counting few rows (in bits).

    Smoothing keeps what is believed of few rows from being certain; this asks what these rows show. Columns whose
    tables hold parameters, or words, are left out.

    Notes
    -----
    Of N rows, a column of K values that has nothing to do with C classes tells (K − 1)(C − 1) / 2N nats on average
    (G. A. Miller 1955).

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("ppqq") * 100, "z": list("rsrs") * 100, "y": ["no", "no", "yes", "yes"] * 100}
    >>> {name: round(bits, 3) for name, bits in counted_information(tb.fit(rows, "y").tables().columns).items()}
    {'x': 0.998, 'z': 0.0}
    """
    found = {}
    for table in tables:
        if table.counts is None or table.profile.kind != "values":
            continue
        totals = table.counts.sum(axis=0)
        if not totals.sum():
            continue
        shares = table.counts / np.where(totals > 0, totals, 1.0)
        values, classes = (table.counts.sum(axis=1) > 0).sum(), (totals > 0).sum()
        by_chance = (values - 1) * (classes - 1) / (2 * totals.sum() * np.log(2))
        told = mutual_information(shares, totals / totals.sum()).sum()
        found[table.column] = max(0.0, float(told - by_chance))
    return found


def information(model: Model) -> Floats:  # (F,)
    """How much each column tells of the class, in the order of the model's columns.

    Of a bag of counts and of a text it is what one count, or one word, tells through this column.
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
    return np.array([bits[name] for name in model.schema.columns])


def _of_column(event: Event, likelihood: Likelihood, f: int, prior: Floats) -> float:
    says = likelihood.profile(f)
    if not len(says.values):
        return 0.0
    if isinstance(event, Text):
        return _of_words(event, says.log, prior)
    density = np.exp(says.log)
    if says.kind == "values":
        total = density.sum(axis=0)
        return float(mutual_information(density / np.where(total > 0, total, 1.0), prior).sum())
    # what lies beyond the values shown is next to nothing
    return float(np.trapezoid(mutual_information(density, prior), np.asarray(says.values, np.float64)))


def _of_words(event: Text, log: Floats, prior: Floats) -> float:
    if event.bag == "bernoulli":
        there = np.exp(log) / (1 + np.exp(log))
        return float((mutual_information(there, prior) + mutual_information(1 - there, prior)).sum())
    return float(mutual_information(np.exp(log - np.logaddexp.reduce(log, axis=0)), prior).sum())
