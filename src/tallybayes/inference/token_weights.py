"""Weights of tokens for a model of one column of texts, fitted on a sample of its documents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats, Texts
from tallybayes.events.text.column import columns_of
from tallybayes.events.text.fold_terms import FOLDS, FoldTerms
from tallybayes.events.text.text import Text
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.cell_weights import FittedCellWeights, fit_cell_weights
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import log_prior

__all__ = ["fit_token_weights"]

_FEWEST = 100  # documents: fewer can bear a temperature, and no more
_MOST = 200_000  # documents times classes: 64 MB of terms for single words; more change the log-loss by less than 0.002


def fit_token_weights(
    evidence: Evidence,
    choices: Choices,
    rows: RowBatch,
    classes: npt.NDArray[np.int32],
    weights: Floats | None,
    threads: int = 1,
) -> FittedCellWeights | None:
    """Return the weights of tokens, and the losses of the first documents; None where they cannot be fitted.

    They are fitted for one column of texts, in a bag of counts, smoothed, and a hundred documents or more.

    Parameters
    ----------
    evidence : Evidence
        The evidence, which includes the rows.
    choices : Choices
        Resolved choices: a number for each smoothing.
    rows : RowBatch
        A sample of rows in an order of its own, whatever the order of all rows: see `BottomKSample.rows`.
    classes : ndarray of int, shape (n,)
        Their classes, as positions among those of the evidence.
    weights : ndarray, shape (n,), or None
        Their weights.
    threads : int
        The number of threads; the result does not depend on it.
    """
    blocks, C = evidence.schema.blocks, len(evidence.classes)
    if len(blocks) != 1 or len(blocks[0].columns) != 1 or C < 2 or min(len(rows), _MOST // C) < _FEWEST:
        return None
    event, alpha = blocks[0].event, float(choices.alphas(blocks[0])[0])
    if not isinstance(event, Text) or event.bag == "bernoulli" or alpha == 0:
        return None
    data, some = rows.encode(blocks[0]), slice(0, _MOST // C)
    assert isinstance(data, Texts)
    part, texts = next(columns_of(evidence.statistics[0])), data.columns[0][some]
    each = None if weights is None else weights[some]
    folds = FoldTerms(event, part, texts, classes[some], each)
    terms = folds.empty()
    engines.map_rows(FOLDS, lambda one: folds.write_fold(one.start, alpha, terms), threads=threads, rows=1)
    if (terms.lengths > 0).sum() < _FEWEST:
        return None
    prior = log_prior(evidence.rows.to_float(), evidence.classes, choices.prior)
    return fit_cell_weights(terms, classes[some], prior, each)
