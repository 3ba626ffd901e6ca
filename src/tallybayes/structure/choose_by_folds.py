"""Choose how bold a structure may be, by nested folds.

The choice is between pairs that pay for their weight, and free pairs and triples.

Interactions that are chosen by the labels look better on the rows that they were chosen by. So everything, choosing
included, is done again without a fold of the rows, which is then predicted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import Interaction
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.inference.calibrated_belief import CalibratedBelief
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms, rows_to_weigh
from tallybayes.inference.estimate import estimate
from tallybayes.inference.fit_weights import fit_fading
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.schema.schema import Block
from tallybayes.structure.choose_pairs import PairSearch
from tallybayes.structure.products import counted_alone

__all__ = ["choose_by_folds"]

_FOLDS = 5
_ENOUGH = 1000  # rows predicted: their mean loss has a small error
_FEWEST = 400  # rows: with fewer, free interactions follow chance
_MOST_ROWS = 20_000  # that take part in folds: more would choose the same


def choose_by_folds(evidence: Evidence, choices: Choices, sample: SampledRows) -> list[Block]:
    """Return pairs that pay for their weight, or free interactions if these predict new rows surely better.

    The correlation of numbers is among them where rows left out say so.

    Parameters
    ----------
    evidence : Evidence
        The evidence of all rows.
    choices : Choices
        How the columns are estimated; every smoothing is a number.
    sample : SampledRows
        Some of the rows.
    """
    search, rows = PairSearch(evidence, choices, sample), sample.with_others(evidence, _MOST_ROWS)
    careful = search.find(correlated=True)
    if len(rows) < _FEWEST or not any(isinstance(block.event, Interaction) for block in careful):
        return careful
    soft, free = _Candidate(free=False), _Candidate(free=True)
    for fold in _folds(rows.classes):
        train, test = rows.take(np.setdiff1d(np.arange(len(rows)), fold)), rows.take(fold)
        counted = count_rows(evidence.schema, train.rows)
        place = counted.classes.find(evidence.classes.array).astype(np.int32)
        train, test = (replace(part, classes=place[part.classes]) for part in (train, test))
        test = test.take(np.flatnonzero(test.classes >= 0))  # a class may be in this fold alone
        within = PairSearch(counted, choices, train)
        for one in (soft, free):
            one.predict(within, train, test)
        if len(free.losses) >= _ENOUGH:
            break
    return search.find(free=True, correlated=True) if free.is_surely_below(soft) else careful


def _folds(classes: npt.NDArray[np.int32]) -> list[npt.NDArray[np.intp]]:
    """Return folds with about the same share of each class.

    Rows are in the order of their hashes, so at random.
    """
    order = np.argsort(classes, kind="stable")
    return [np.sort(order[k::_FOLDS]) for k in range(_FOLDS)]


class _Candidate:
    """A way to choose products, and the losses of the rows that it predicted."""

    def __init__(self, *, free: bool) -> None:
        self.free, self.losses, self.weights = free, np.zeros(0), np.zeros(0)

    def is_surely_below(self, other: _Candidate) -> bool:
        """Return whether the mean loss is lower by more than its standard error."""
        difference = self.losses - other.losses
        mean = float(np.average(difference, weights=self.weights))
        error = np.sqrt(np.average((difference - mean) ** 2, weights=self.weights) / len(difference))
        return bool(mean < -error)

    def predict(self, search: PairSearch, train: SampledRows, test: SampledRows) -> None:
        """Learn from some rows, and predict others."""
        counted, products = search.evidence, search.find(free=self.free, correlated=True)
        if products:
            counted = counted.with_products(count_rows(counted_alone(counted.schema, products), train.rows))
        p = _predict(counted, search.choices, train, test)[np.arange(len(test)), test.classes]
        weights = np.ones(len(test)) if test.weights is None else test.weights
        self.losses = np.concatenate([self.losses, -np.log(np.maximum(p, np.finfo(float).tiny))])
        self.weights = np.concatenate([self.weights, weights])


def _predict(evidence: Evidence, choices: Choices, train: SampledRows, test: SampledRows) -> Floats:  # (n, C)
    """Return the probabilities of rows under evidence whose weights are fitted to its own rows."""
    schema, belief = evidence.schema, estimate(evidence, choices)
    own = train.with_others(evidence, rows_to_weigh(len(schema.terms), len(evidence.classes)))
    terms = ColumnTerms.of(evidence, choices, own.rows, own.classes, own.left)
    fitted = fit_fading(terms.to_fit(own.classes, own.weights), len(own), common=False, precision=1.0)
    weighted = terms.weights(fitted).apply(belief, schema, evidence.classes).contrasted()
    calibrated = CalibratedBelief(schema, choices, belief.contrasted(), weighted, fading=fitted.fading)
    out = np.empty((len(test), len(evidence.classes)))
    calibrated.score(calibrated.encode(test.rows), out, test.rows)
    kernels.softmax(out)
    return out
