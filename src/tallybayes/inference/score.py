"""The score of a row: log prior plus the sum over columns, the only place where columns are summed.

A missing value adds nothing: the column is summed out, which for independent columns means left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext

import numpy as np

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Dense, Encoded, Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.estimate import Belief, Choices, log_prior, options_for
from tallybayes.schema.schema import Block, Schema

__all__ = ["LeftOutRows", "add_encoded", "add_scores", "add_variances", "encoded", "leave_one_out"]


def add_scores(
    schema: Schema, belief: Belief, choices: Choices, rows: RowBatch, out: Floats, sizes: Floats | None = None
) -> None:
    """Write each row's log joint probability with each class into `out`.

    Parameters
    ----------
    schema, belief, choices
        The model.
    rows : RowBatch
        What to score.
    out : ndarray, shape (n, C)
        Where to; what stands there is overwritten.
    sizes : ndarray, shape (n,), optional
        Where to write how much each row says.
    """
    add_encoded(schema, belief, encoded(schema, belief, choices, rows), out, sizes, rows)


def encoded(schema: Schema, belief: Belief, choices: Choices, rows: RowBatch) -> Iterator[Encoded]:
    """Rows as the event model of each block takes them, one block after the other."""
    for block, likelihood in zip(schema.blocks, belief.likelihoods, strict=True):
        yield rows.encode(block, likelihood.categories or None, unseen=choices.unseen)


def add_encoded(
    schema: Schema,
    belief: Belief,
    blocks: Iterable[Encoded],
    out: Floats,
    sizes: Floats | None = None,
    rows: RowBatch | None = None,
) -> None:
    """As `add_scores`, of rows that are encoded; `rows` put what is refused of them into a sentence."""
    out[:] = belief.log_prior
    if sizes is not None:
        sizes[:] = 0.0
    for block, likelihood, data in zip(schema.blocks, belief.likelihoods, blocks, strict=True):
        with nullcontext() if rows is None else rows.refusing(block):
            length = likelihood.add_log_prob(data, out)
        if sizes is not None:
            sizes += block.event.length(data) if length is None else length
        if rows is None:
            continue
        # The largest is NaN where an entry is, and −∞ where no class is possible: both may mean an infinite value. It
        # is looked for row by row only where something is not finite: along so short an axis that takes long.
        if isinstance(data, Dense) and not np.isfinite(out).all() and not np.isfinite(out.max(axis=1)).all():
            _refuse_infinite(block, data, rows.first)


def add_variances(schema: Schema, belief: Belief, choices: Choices, rows: RowBatch, out: Floats) -> None:
    """Write the variance of each row's log joint probability with each class into `out`.

    Columns that are independent given the class, each with parameters of its own, have variances that add. Classes
    are as independent of each other, so that the variance of a difference is the sum of both.

    Parameters
    ----------
    schema, belief, choices
        The model.
    rows : RowBatch
        Rows that `add_scores` has scored.
    out : ndarray, shape (n, C)
        Where to; what stands there is overwritten.
    """
    out[:] = belief.log_prior_variance
    for likelihood, data in zip(belief.likelihoods, encoded(schema, belief, choices, rows), strict=True):
        likelihood.add_variance(data, out)


class LeftOutRows:
    """Rows of the evidence, made ready to be scored as if they had never been counted.

    Parameters
    ----------
    evidence : Evidence
        What was counted, these rows among it.
    rows : RowBatch
        Rows that are part of the evidence.
    classes : ndarray of int32, shape (n,)
        Their classes, as positions among the classes of the evidence.
    weights : ndarray, shape (n,), or None
        Their weights.
    """

    def __init__(self, evidence: Evidence, rows: RowBatch, classes: ClassCodes, weights: Weights) -> None:
        self._evidence, self._classes, self._weights = evidence, classes, weights
        self._parts = []
        for block, statistic in zip(evidence.schema.blocks, evidence.statistics, strict=True):
            data: Encoded = rows.encode(block, statistic.labels or None)
            self._parts.append(block.event.without_rows(statistic, data, classes, weights))

    @property
    def sizes(self) -> Floats:  # (n,)
        """How much each row says."""
        return np.sum([part.sizes for part in self._parts], axis=0) if self._parts else np.zeros(len(self._classes))

    def scores(self, choices: Choices) -> Floats:  # (n, C)
        """Each row's log joint probability with each class, belief being made as `choices` (settled) say."""
        out = _prior_without(self._evidence, choices, self._classes, self._weights)
        unknown = np.isneginf(out)  # a class that only this row had would not be known
        for block, part in zip(self._evidence.schema.blocks, self._parts, strict=True):
            part.add(options_for(block, choices), out)
        out[unknown] = -np.inf
        return out


def leave_one_out(
    evidence: Evidence, choices: Choices, rows: RowBatch, classes: ClassCodes, weights: Weights
) -> Floats:  # (n, C)
    """Each row's log joint probability with each class, had the row never been counted: as `LeftOutRows` gives it."""
    return LeftOutRows(evidence, rows, classes, weights).scores(choices)


def _prior_without(evidence: Evidence, choices: Choices, classes: ClassCodes, weights: Weights) -> Floats:  # (n, C)
    """The log of the class prior without each row."""
    if weights is not None:
        return _prior_of(evidence, choices, classes, weights)
    each = np.arange(len(evidence.classes), dtype=np.int32)
    return np.take(_prior_of(evidence, choices, each, np.ones(len(each))), classes, axis=0)


def _prior_of(evidence: Evidence, choices: Choices, classes: ClassCodes, weights: Floats) -> Floats:  # (n, C)
    n = len(classes)
    weight = np.tile(evidence.rows.to_float(), (n, 1))
    weight[np.arange(n), classes] = evidence.rows.less((classes,), weights)
    prior = log_prior(weight, evidence.classes, choices.prior)
    prior[weight <= 0] = -np.inf
    return prior


def _refuse_infinite(block: Block, data: Dense, first: int) -> None:
    for f in range(data.width):
        infinite = np.isinf(data.column(f))
        if infinite.any():
            at = int(np.argmax(infinite))
            got = f"{data.column(f)[at].item()!r} (row {first + at + 1})"
            raise BadData(wanted(f"column {block.columns[f]!r}", "finite numbers", got, "Make the value missing"))
