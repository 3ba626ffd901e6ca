"""Cells of tokens, and a weight for each: what repeated words and rare words are worth.

A cell is the length of an n-gram, a band (how often the token was seen) and a spread (how far the classes differ in its
use). Naive Bayes counts words that come together as if each were news, and trusts a rare word as it trusts a common
one. A weight per cell corrects both. It is a correction for the *other* words, so it fades as they are missing:

    score = (1 − m) · (log prior + Σ L) + m · [v log prior + k · (log prior + Σ w L)],    m = (n − 1) / (n − 1 + 2),

n being the number of tokens, L their log-probabilities, w the weights of their cells, and
k = t · ((n + 1) / typical)^b, at most 1: a document of one token is answered as counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import kernels
from tallybayes.events.inputs import Floats

__all__ = ["BANDS", "EDGES", "TokenWeights", "cells", "n_cells", "orders"]

BANDS = 10  # log2 of how often a token was seen: 1, 2-3, 4-7, ..., 512 and more
EDGES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # of the spread, in nats
_SPREADS = len(EDGES) + 1
_MOST_ORDERS = 4  # longer n-grams share the weights of the fourth order
_COLDEST = 1e-3  # the least temperature: the prior may fade, and never turns round
_HALF = 2.0  # other tokens with which half of the correction holds; 1 to 4 do as well
Cells = npt.NDArray[np.intp]


@dataclass(frozen=True)
class TokenWeights:
    """A weight for each cell of tokens, and a temperature that depends on a document's length.

    Attributes
    ----------
    t, b : float
        The temperature of a document of typical length, and the power of the length.
    typical : float
        The typical number of tokens, plus 1.
    prior : float
        v, the share of the log prior that is added untempered: tempering flattens the prior, too.
    cells : tuple of float
        The weight of each cell: by order, then band, then spread.

    Examples
    --------
    >>> half = TokenWeights(0.5, 0.0, 10.0, 0.0, (1.0,) * 80)
    >>> half.at(np.array([0.0, 1.0, 3.0, 99.0]))      # one token is answered as counted
    array([1.  , 1.  , 0.75, 0.51])
    """

    t: float
    b: float
    typical: float
    prior: float
    cells: tuple[float, ...]

    @property
    def by_size(self) -> bool:
        """Whether the temperature depends on the length of a document: always."""
        return True

    def faded(self, lengths: Floats) -> tuple[Floats, Floats]:  # (n,), (n,)
        """Return m and k for documents of some lengths: the share of the correction, and the temperature in it."""
        others = np.maximum(lengths - 1.0, 0.0)
        grown = kernels.power((lengths + 1.0) / self.typical, self.b)
        return others / (others + _HALF), np.minimum(self.t * grown, 1.0)

    def at(self, lengths: Floats) -> Floats:  # (n,)
        """Return the temperature of documents, the factor of the class prior: (1 − m) + m (k + v)."""
        m, k = self.faded(lengths)
        return np.maximum(1.0 - m + m * (k + self.prior), _COLDEST)

    def factors(self, log_joint: Floats, log_prior: Floats, sizes: Floats | None = None) -> Floats:  # (n,)
        """Return the temperature of each row, as `Temperature.factors` does."""
        assert sizes is not None
        return self.at(sizes)

    def apply(self, log_joint: Floats, log_prior: Floats, sizes: Floats | None = None) -> None:
        """Multiply scores by the temperature, in place."""
        log_joint *= self.factors(log_joint, log_prior, sizes)[:, None]

    def blend(self, plain: Floats, weighted: Floats, lengths: Floats) -> Floats:  # (n, C)
        """Return the scores of documents before tempering, without the prior.

        Parameters
        ----------
        plain, weighted : ndarray, shape (n, C)
            The sums of the tokens' log-probabilities, and of those times the weights.
        lengths : ndarray, shape (n,)
            The numbers of tokens.
        """
        of_plain, of_weighted = self.parts(lengths)
        return np.asarray(of_plain[:, None] * plain + of_weighted[:, None] * weighted)

    def parts(self, lengths: Floats) -> tuple[Floats, Floats]:  # (n,), (n,)
        """Return the factors of the plain sum and of the weighted sum, before tempering."""
        m, k = self.faded(lengths)
        t = self.at(lengths)
        return (1.0 - m) / t, m * k / t

    def to_dict(self) -> dict[str, Any]:
        """Return the weights as plain numbers."""
        numbers = {"t": self.t, "b": self.b, "typical": self.typical, "prior": self.prior}
        return {**numbers, "cells": list(self.cells)}

    @classmethod
    def from_dict(cls, put: Mapping[str, Any]) -> TokenWeights:
        """Return the weights of plain numbers; ValueError if they are none.

        Examples
        --------
        >>> TokenWeights.from_dict({"t": 0.5, "b": 0.0, "typical": 9.0, "prior": 0.0, "cells": [1.0]})
        Traceback (most recent call last):
        ...
        ValueError: weights of tokens
        """
        t, b, typical, prior = (float(put[key]) for key in ("t", "b", "typical", "prior"))
        new = cls(t, b, typical, prior, tuple(map(float, put["cells"])))
        whole = len(new.cells) in [n * BANDS * _SPREADS for n in range(1, _MOST_ORDERS + 1)]
        finite = bool(np.isfinite((new.t, new.b, new.typical, new.prior, *new.cells)).all())
        if not whole or not finite or not (new.t > 0 and new.typical > 0):
            raise ValueError("weights of tokens")
        return new


def cells(order: Cells, seen: Floats, log: Floats) -> Cells:  # (V,)
    """Return the cell of each token.

    Parameters
    ----------
    order : ndarray of int, shape (V,)
        The length of the n-gram, less the shortest: see `orders`.
    seen : ndarray, shape (V,)
        How often it was seen.
    log : ndarray, shape (V, C)
        Its log-probabilities; their standard deviation over the classes is the spread.

    Examples
    --------
    >>> log = np.log([[0.1, 0.1], [0.1, 0.9]])     # equal in both classes; log 9 / 2 = 1.1 to either side
    >>> cells(np.array([0, 1]), np.array([1.0, 9.0]), log)     # (0, 0, 0); (1, 3, 5)
    array([  0, 109])
    """
    # A relative slack: counts less a fold's and scaled up again must not fall below the power of two that they are.
    band = np.minimum(np.frexp(np.maximum(seen, 1.0) * (1 + 1e-9))[1].astype(np.intp) - 1, BANDS - 1)
    return np.asarray((order * BANDS + band) * _SPREADS + np.digitize(log.std(axis=1), EDGES), np.intp)


def orders(tokens: pa.Array, ngrams: tuple[int, int], *, words: bool) -> Cells:  # (V,)
    """Return the length of each n-gram, less the shortest; at most 3.

    Examples
    --------
    >>> orders(pa.array(["be", "to be"]), (1, 2), words=True), orders(pa.array(["be"]), (1, 2), words=False)
    (array([0, 1]), array([1]))
    """
    most = n_orders(ngrams) - 1
    if most == 0:
        return np.zeros(len(tokens), np.intp)
    tokens = tokens.cast(pa.string())  # those of texts without any have no type
    length = pc.count_substring(tokens, " ") if words else pc.utf8_length(tokens)
    least = ngrams[0] - 1 if words else ngrams[0]
    return np.asarray(np.clip(length.to_numpy(zero_copy_only=False) - least, 0, most), np.intp)


def n_orders(ngrams: tuple[int, int]) -> int:
    """Return the number of lengths of n-grams that have weights of their own."""
    return min(ngrams[1] - ngrams[0] + 1, _MOST_ORDERS)


def n_cells(ngrams: tuple[int, int]) -> int:
    """Return the number of cells: orders times bands times spreads.

    Examples
    --------
    >>> n_cells((1, 1)), n_cells((1, 2))
    (80, 160)
    """
    return n_orders(ngrams) * BANDS * _SPREADS
