"""A belief with its calibration: scores as predictions use them.

Every calibrated score is a mixture, a · plain + m · weighted: with weights of columns a = 1 − m and m is a power of
the share of the other columns that the row has; with a temperature a is the temperature and m is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief
from tallybayes.inference.posterior import Tempering
from tallybayes.inference.score import add_encoded, add_variances, encoded
from tallybayes.inference.weights import share_of_others
from tallybayes.schema.schema import Schema

__all__ = ["CalibratedBelief", "Mixture"]


_FEW = 8  # classes: NumPy multiplies such short rows one by one, so their columns are sooner done


class Mixture(NamedTuple):
    """The factors of the plain and of the weighted score of each row."""

    plain: Floats  # (n,)
    weighted: Floats  # (n,)


@dataclass(frozen=True)
class CalibratedBelief:
    """A belief, and the weights or the temperature that calibrate its scores.

    Attributes
    ----------
    schema : Schema
        The columns.
    choices : Choices
        How unseen values are treated.
    plain : Belief
        The belief that follows from the evidence.
    weighted : Belief or None
        The same with weighted columns, for whole rows.
    temperature : Temperature, TokenWeights or None
        The factor of the scores, where there are no weights.
    fading : int
        How weights fade where columns are missing: see `ColumnWeights`.
    """

    schema: Schema
    choices: Choices
    plain: Belief
    weighted: Belief | None = None
    temperature: Tempering | None = None
    fading: int = 1

    def encode(self, rows: RowBatch) -> Iterable[Encoded]:
        """Return the rows as the likelihoods take them."""
        return encoded(self.schema, self.plain, self.choices, rows)

    def score(self, blocks: Iterable[Encoded], out: Floats, rows: RowBatch | None = None) -> Mixture:
        """Write the calibrated scores of encoded rows into `out`; return how they are mixed."""
        if self.weighted is None:
            return self._score_at_temperature(blocks, out, rows)
        blocks, sizes = list(blocks), np.zeros(len(out))
        add_encoded(self.schema, self.weighted, blocks, out, sizes, rows)
        share = share_of_others(sizes, len(self.schema.columns), self.fading)
        if (share == 1).all():
            return Mixture(1 - share, share)
        plain = np.empty_like(out)
        add_encoded(self.schema, self.plain, blocks, plain, None, rows)
        mixture = Mixture(1 - share, share)
        out[:] = mix(mixture, plain, out)
        return mixture

    def score_both(self, whole: Belief, rows: RowBatch, plain: Floats, out: Floats) -> None:
        """Write the log joint under the whole belief, which is not contrasted, and the calibrated scores."""
        blocks = list(self.encode(rows))
        add_encoded(self.schema, whole, blocks, plain, None, rows)
        self.score(blocks, out, rows)

    def prior(self, mixture: Mixture) -> Floats:  # (n, C)
        """Return the part of the class prior in calibrated scores."""
        plain = _times(mixture.plain, self.plain.log_prior)
        return plain if self.weighted is None else plain + _times(mixture.weighted, self.weighted.log_prior)

    def score_with_variance(
        self,
        blocks: Sequence[Encoded],
        out: Floats,
        variances: Floats,
        counted: Floats,
        rows: RowBatch | None = None,
    ) -> None:
        """Write calibrated scores, their variances, and the variances before calibration."""
        mixture = self.score(blocks, out, rows)
        add_variances(self.plain, blocks, counted)
        if self.weighted is None:
            variances[:] = (mixture.plain**2)[:, None] * counted
            return
        # (a + m·w)² ≤ a + m·w² for a = 1 − m: never too small, and two passes suffice for any row.
        add_variances(self.weighted, blocks, variances)
        with np.errstate(invalid="ignore"):
            variances *= mixture.weighted[:, None]
            variances += mixture.plain[:, None] * counted
        variances[np.isinf(counted)] = np.inf  # unknown without calibration is unknown with it

    def _score_at_temperature(self, blocks: Iterable[Encoded], out: Floats, rows: RowBatch | None) -> Mixture:
        temperature = self.temperature
        sizes = np.zeros(len(out)) if temperature is not None and temperature.by_size else None
        add_encoded(self.schema, self.plain, blocks, out, sizes, rows)
        if temperature is None:
            return Mixture(np.ones(len(out)), np.zeros(len(out)))
        factors = temperature.factors(out, self.plain.log_prior, sizes)
        out *= factors[:, None]
        return Mixture(factors, np.zeros(len(out)))


def _times(factors: Floats, row: Floats) -> Floats:  # (n, C)
    """Return the row (C,) times each factor (n,)."""
    if len(row) > _FEW:
        return np.asarray(factors[:, None] * row)
    out = np.empty((len(factors), len(row)))
    for c, value in enumerate(row):
        np.multiply(factors, value, out=out[:, c])
    return out


def mix(mixture: Mixture, plain: Floats, weighted: Floats) -> Floats:  # (n, C)
    """Return the mixture of two scores; −∞ in the plain one is −∞, whatever its factor."""
    part = mixture.weighted[:, None]
    with np.errstate(invalid="ignore"):  # a weighted score may overflow where the plain one does not
        out = mixture.plain[:, None] * plain + part * np.where(part > 0, weighted, 0.0)
    return np.where(np.isneginf(plain), -np.inf, out) if np.isneginf(plain).any() else out
