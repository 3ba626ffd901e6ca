"""A model as plain numbers: what every value of every column adds to the score of each class.

    score    = (1 − m) · plain + m · weighted
    plain    = log prior + Σ factor · L
    weighted = log prior + bias + Σ (weight · L + correction + missing)

L is what a term adds (`events.plain_terms`), and m a power (`fading`) of the share of the other columns that a row has.
With a temperature t instead of weights, score = t · plain. Weights of tokens are a temperature and a second sum: see
`score_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.display.number_of import number_of
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import Likelihood
from tallybayes.events.plain_terms import PlainTerm
from tallybayes.inference.posterior import Tempering
from tallybayes.inference.weights import ColumnWeights
from tallybayes.schema.schema import Block, Schema

if TYPE_CHECKING:
    from tallybayes.model import Model

__all__ = ["Scorecard", "ScoredTerm", "scorecard_of"]


@dataclass(frozen=True, eq=False)
class ScoredTerm:
    """A term of the score: a column, or a product of columns.

    Attributes
    ----------
    name : str
        The column, or the name of the product.
    event : str
        The event model, as an option spells it.
    plain : PlainTerm
        What a value adds to the score of each class.
    weight : float
        The factor of that in the weighted score.
    correction : ndarray, shape (cells, C), or None
        What is added in the weighted score for each value or interval.
    missing : ndarray, shape (C,)
        What is added in the weighted score where the value is missing.
    """

    name: str
    event: str
    plain: PlainTerm
    weight: float
    correction: Floats | None
    missing: Floats


@dataclass(frozen=True, eq=False)
class Scorecard:
    """A model that only scores: plain numbers, and no evidence to learn or forget by.

    `tallybayes.from_json` returns one, and a `Model` makes one for each export.

    Attributes
    ----------
    schema : Schema
        The columns, each in a block of its own.
    categories : Categories
        The classes.
    unseen : {"smooth", "skip", "error"}
        How a value never seen in training is scored.
    log_prior : ndarray, shape (C,)
        The log of the class prior.
    terms : tuple of ScoredTerm
        The terms of the score.
    bias : ndarray, shape (C,), or None
        What is added to the log prior in the weighted score; None where there are no weights.
    temperature : Temperature, TokenWeights or None
        The factor of the scores, where there are no weights.
    fading : int
        The power of the share of other columns: see `inference.weights`.
    """

    schema: Schema
    categories: Categories
    unseen: str
    log_prior: Floats
    terms: tuple[ScoredTerm, ...]
    bias: Floats | None
    temperature: Tempering | None
    fading: int = 1

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, sorted; the order of the columns of all arrays of probabilities."""
        return self.categories.values

    def __repr__(self) -> str:
        classes, columns = number_of(len(self.classes), "class"), number_of(len(self.schema.columns), "column")
        return f"<tallybayes.Scorecard of {self.schema.label!r}: {classes}, {columns}>"

    def predict_proba(self, rows: Any) -> Floats:  # (n, C)
        """Return the probability of each class for each row, in the order of `classes`.

        Examples
        --------
        >>> import tallybayes as tb
        >>> card = tb.from_json(tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1).to_json())
        >>> card.predict_proba([{"x": "p"}]).round(4)
        array([[0.6667, 0.3333]])
        """
        from tallybayes.export.score_rows import score_batch

        rows = open_rows.one_row(rows, self.schema)
        partial = open_rows.are_named_cells(rows)

        def read(types: open_rows.Types | None) -> Floats:
            parts, first = [np.zeros((0, len(self.classes)))], 0
            for batch in open_rows.to_score(rows, self.schema, types):
                parts.append(score_batch(self, RowBatch(batch, first, self.schema.missing, partial=partial)))
                first += batch.num_rows
            return np.concatenate(parts)

        return open_rows.reading(read)

    def predict(self, rows: Any) -> npt.NDArray[Any]:  # (n,)
        """Return the most probable class of each row."""
        return np.asarray(self.categories.to_numpy()[np.argmax(self.predict_proba(rows), axis=1)])


def scorecard_of(model: Model) -> Scorecard:
    """Return the numbers by which a model scores rows."""
    belief, weights, classes = model._calibrated_belief, model._weights, model.evidence.classes
    blocks, terms = [], []
    for block, likelihood in zip(model._viewed.schema.blocks, belief.plain.likelihoods, strict=True):
        for f, (name, plain) in enumerate(zip(block.columns, likelihood.to_plain(), strict=True)):
            blocks.append(Block(block.event, (name,)))
            terms.append(ScoredTerm(name, block.event.spec, plain, *_weighting(weights, name, likelihood, f, classes)))
    return Scorecard(
        schema=replace(model.schema, blocks=tuple(blocks)),
        categories=classes,
        unseen=model.choices.unseen,
        log_prior=belief.plain.log_prior,
        terms=tuple(terms),
        bias=None if weights is None else weights.bias_of(classes),
        temperature=belief.temperature,
        fading=belief.fading,
    )


def _weighting(
    weights: ColumnWeights | None, name: str, likelihood: Likelihood, f: int, classes: Categories
) -> tuple[float, Floats | None, Floats]:
    """Return weight, corrections and term of missing values of column f."""
    one = None if weights is None else weights.columns.get(name)
    if weights is None or one is None:
        return 1.0, None, np.zeros(len(classes))
    index, cells = weights.classes.find(classes.array), likelihood.cells(f)
    corrected = one.cells is not None and cells is not None
    correction = one.additions(cells, index) if cells is not None and corrected else None
    return one.weight, correction, np.append(one.missing, 0.0)[index]  # a new class has none
