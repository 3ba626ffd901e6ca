"""Nested folds: everything chosen again without some rows, which are then predicted.

What is chosen by the labels of rows looks better on these rows than on new ones. Folds are predicted by choices that
have not seen them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.inference.calibrated_belief import CalibratedBelief
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.estimate import estimate
from tallybayes.inference.fit_weights import fit_fading
from tallybayes.inference.sample_size import rows_to_weigh
from tallybayes.inference.sampled_rows import SampledRows

__all__ = ["FoldLosses", "losses_of_fold", "nested_folds"]

_FOLDS = 5
_ENOUGH = 1000  # rows predicted: their mean loss has a small error


def nested_folds(
    evidence: Evidence, rows: SampledRows, enough: int = _ENOUGH
) -> Iterator[tuple[Evidence, SampledRows, SampledRows]]:
    """Yield the evidence of the rows without a fold, these rows, and the fold, until enough rows were in folds.

    Parameters
    ----------
    evidence : Evidence
        The evidence whose schema and classes the rows refer to.
    rows : SampledRows
        The rows.
    enough : int
        How many rows in folds are enough.
    """
    predicted = 0
    for fold in _folds(rows.classes):
        train, test = rows.take(np.setdiff1d(np.arange(len(rows)), fold)), rows.take(fold)
        counted = count_rows(evidence.schema, train.rows)
        place = counted.classes.find(evidence.classes.array).astype(np.int32)
        train, test = (replace(part, classes=place[part.classes]) for part in (train, test))
        test = test.take(np.flatnonzero(test.classes >= 0))  # a class may be in this fold alone
        yield counted, train, test
        predicted += len(test)
        if predicted >= enough:
            return


def _folds(classes: npt.NDArray[np.int32]) -> list[npt.NDArray[np.intp]]:
    """Return folds with about the same share of each class.

    Rows are in the order of their hashes, so at random.
    """
    order = np.argsort(classes, kind="stable")
    return [np.sort(order[k::_FOLDS]) for k in range(_FOLDS)]


class FoldLosses:
    """The losses of rows in folds under two ways to choose, the bolder one less the other."""

    def __init__(self) -> None:
        self._differences, self._weights = list[Floats](), list[Floats]()

    def add(self, bold: Floats, careful: Floats, test: SampledRows) -> None:
        """Add the losses of a fold under both."""
        self._differences.append(bold - careful)
        self._weights.append(np.ones(len(test)) if test.weights is None else test.weights)

    def mean(self) -> tuple[float, float]:
        """Return the mean difference, below 0 where the bolder way is better, and its standard error."""
        difference, weights = (np.concatenate([np.zeros(0), *part]) for part in (self._differences, self._weights))
        if not weights.sum() > 0:
            return 0.0, 0.0
        mean = float(np.average(difference, weights=weights))
        return mean, float(np.sqrt(np.average((difference - mean) ** 2, weights=weights) / len(difference)))


def losses_of_fold(evidence: Evidence, choices: Choices, train: SampledRows, test: SampledRows) -> Floats:  # (n,)
    """Return the losses of the rows of a fold, under weights that are fitted to the rows of the evidence.

    Parameters
    ----------
    evidence : Evidence
        The evidence of the rows to learn from.
    choices : Choices
        How the columns are estimated; every smoothing is a number.
    train, test : SampledRows
        These rows, and those of the fold.
    """
    schema, belief = evidence.schema, estimate(evidence, choices)
    own = train.with_others(evidence, rows_to_weigh(len(schema.terms), len(evidence.classes)))
    terms = ColumnTerms.of(evidence, choices, own.rows, own.classes, own.left)
    common = choices.calibrate == "one"
    fitted = fit_fading(terms.to_fit(own.classes, own.weights), len(own), common=common, precision=1.0)
    weighted = terms.weights(fitted).apply(belief, schema, evidence.classes).contrasted()
    calibrated = CalibratedBelief(schema, choices, belief.contrasted(), weighted, fading=fitted.fading)
    out = np.empty((len(test), len(evidence.classes)))
    calibrated.score(calibrated.encode(test.rows), out, test.rows)
    kernels.softmax(out)
    return np.asarray(-kernels.log(np.maximum(out[np.arange(len(test)), test.classes], np.finfo(float).tiny)))
