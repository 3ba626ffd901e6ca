"""Leave-one-out scores: counted rows scored as if each had never been counted, from the evidence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes, Event, LeftOut, Weights
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import log_prior, options_for

__all__ = ["LeftOutRows", "leave_one_out", "left_out", "prior_without"]

_SLICE_ROWS = 1024  # rows that a thread leaves out at a time: documents of some dozen words take a millisecond


class LeftOutRows:
    """Rows of the evidence, ready to be scored as if each had never been counted.

    Parameters
    ----------
    evidence : Evidence
        The evidence, which includes these rows.
    rows : RowBatch
        Rows that are part of the evidence.
    classes : ndarray of int32, shape (n,)
        Their classes, as positions among the classes of the evidence.
    weights : ndarray, shape (n,), or None
        Their weights.
    folds : Folds, or None
        The fold of each row, where what event models choose is to be chosen without it.
    """

    def __init__(
        self,
        evidence: Evidence,
        rows: RowBatch,
        classes: ClassCodes,
        weights: Weights,
        folds: Folds | None = None,
    ) -> None:
        self._evidence, self._classes, self._weights = evidence, classes, weights
        self._parts = []
        for block, statistic in zip(evidence.schema.blocks, evidence.statistics, strict=True):
            data: Encoded = rows.encode(block, statistic.labels or None)
            self._parts.append(left_out(block.event, statistic, data, classes, weights, folds))

    @property
    def sizes(self) -> Floats:  # (n,)
        """The length of each row."""
        return np.sum([part.sizes for part in self._parts], axis=0) if self._parts else np.zeros(len(self._classes))

    def scores(self, choices: Choices, weights: TokenWeights | None = None, *, threads: int = 1) -> Floats:  # (n, C)
        """Return each row's log joint probability with each class, under resolved choices.

        With weights of tokens these are scores to be tempered by them.
        """
        out = prior_without(self._evidence, choices, self._classes, self._weights)
        unknown = np.isneginf(out)  # a class that only this row had would not exist
        for block, part in zip(self._evidence.schema.blocks, self._parts, strict=True):
            with np.errstate(all="ignore"):  # the caller refuses NaN
                _add(part, options_for(block, choices, weights), out, threads)
        out[unknown] = -np.inf
        return out


def left_out(
    event: Event, statistic: Statistic, data: Encoded, classes: ClassCodes, weights: Weights, folds: Folds | None
) -> LeftOut:
    """Return counted rows to be left out; with folds, what the event model chooses is chosen without each row's."""
    found = None if folds is None else event.without_rows_of_folds(statistic, data, classes, weights, folds)
    return event.without_rows(statistic, data, classes, weights) if found is None else found


def _add(part: LeftOut, options: EstimateOptions, out: Floats, threads: int) -> None:
    """Add the scores of one block, on threads if slices of its rows can share the work."""
    if threads == 1 or part.under is None:
        part.add(options, out)
        return

    def over(n: int, work: Callable[[slice], None], rows: int) -> None:
        engines.map_rows(n, work, threads=threads, rows=rows)

    add = part.under(options, over)

    def work(rows: slice) -> None:
        with np.errstate(all="ignore"):  # a thread has its own
            add(rows, out[rows])

    over(len(out), work, _SLICE_ROWS)


def leave_one_out(
    evidence: Evidence, choices: Choices, rows: RowBatch, classes: ClassCodes, weights: Weights
) -> Floats:  # (n, C)
    """Return the scores of `LeftOutRows` under one set of choices."""
    return LeftOutRows(evidence, rows, classes, weights).scores(choices)


def prior_without(evidence: Evidence, choices: Choices, classes: ClassCodes, weights: Weights) -> Floats:  # (n, C)
    """Return the log of the class prior without each row."""
    if weights is not None or len(classes) <= len(evidence.classes):  # never classes × classes
        return _prior_of(evidence, choices, classes, np.ones(len(classes)) if weights is None else weights)
    each = np.arange(len(evidence.classes), dtype=np.int32)
    return np.take(_prior_of(evidence, choices, each, np.ones(len(each))), classes, axis=0)


def _prior_of(evidence: Evidence, choices: Choices, classes: ClassCodes, weights: Floats) -> Floats:  # (n, C)
    n = len(classes)
    weight = np.empty((n, len(evidence.classes)))
    weight[:] = evidence.rows.to_float()
    weight[np.arange(n), classes] = evidence.rows.less((classes,), weights)
    prior = log_prior(weight, evidence.classes, choices.prior)
    prior[weight <= 0] = -np.inf
    return prior
