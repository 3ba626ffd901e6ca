"""The score of a row: log prior plus the sum over columns, the only place where columns are summed.

A missing value adds nothing: the column is summed out, which for independent columns means left out.
"""

from __future__ import annotations

import numpy as np

from tallybayes.encode import Rows
from tallybayes.encoded import Dense, Encoded, Floats
from tallybayes.errors import BadData, wanted
from tallybayes.estimate import Belief, Choices, how_for, log_prior
from tallybayes.events.base import ClassCodes, Weights
from tallybayes.evidence import Evidence
from tallybayes.schema import Block, Schema

__all__ = ["add_scores", "leave_one_out"]


def add_scores(schema: Schema, belief: Belief, choices: Choices, rows: Rows, out: Floats) -> None:
    """Write each row's log joint probability with each class into `out`.

    Parameters
    ----------
    schema, belief, choices
        The model.
    rows : Rows
        What to score.
    out : ndarray, shape (n, C)
        Where to; what stands there is overwritten.
    """
    out[:] = belief.log_prior
    for block, parameters in zip(schema.blocks, belief.parameters, strict=True):
        slots = block.event.slots(parameters) or None
        data = rows.encode(block, slots, unseen=choices.unseen)
        with rows.refusing(block):
            block.event.score(parameters, data, out)
        # max is NaN where an entry is, and −∞ where no class is possible: both may mean an infinite value
        if isinstance(data, Dense) and not np.isfinite(out.max(axis=1, initial=-np.inf)).all():
            _refuse_infinite(block, data, rows.first)


def leave_one_out(
    evidence: Evidence, choices: Choices, rows: Rows, classes: ClassCodes, weights: Weights
) -> Floats:  # (n, C)
    """Each row's log joint probability with each class, had the row never been counted.

    Parameters
    ----------
    evidence : Evidence
        What was counted, these rows among it.
    choices : Choices
        How belief is made of it.
    rows : Rows
        Rows that are part of the evidence.
    classes : ndarray of int32, shape (n,)
        Their classes, as positions among the classes of the evidence.
    weights : ndarray, shape (n,), or None
        Their weights.
    """
    n = len(rows)
    weight = np.tile(evidence.rows.to_float(), (n, 1))
    weight[np.arange(n), classes] = evidence.rows.less((classes,), np.ones(n) if weights is None else weights)
    out = log_prior(weight, evidence.classes, choices.prior)
    for block, statistic in zip(evidence.schema.blocks, evidence.statistics, strict=True):
        data: Encoded = rows.encode(block, statistic.labels or None)
        block.event.leave_one_out(statistic, how_for(block, choices), data, classes, weights, out)
    out[weight <= 0] = -np.inf  # a class that only this row had would not be known
    return out


def _refuse_infinite(block: Block, data: Dense, first: int) -> None:
    for f in range(data.width):
        infinite = np.isinf(data.column(f))
        if infinite.any():
            at = int(np.argmax(infinite))
            got = f"{data.column(f)[at].item()!r} (row {first + at + 1})"
            raise BadData(wanted(f"column {block.columns[f]!r}", "finite numbers", got, "Make the value missing"))
