"""Weights of tokens in cells, fitted on documents left out with their fold.

`events.text.token_cells` has the formula of a score. First the common temperature t and the power b of a document's
length are found, then the weights w of cells and the prior's share v around them,

    w = 1 + d_all + d_order + d_order,band + d_order,spread + d_cell,

each d of a level drawn from N(0, 1/λ of the level), d_all and v from N(0, 1): convex, solved by Newton's method. Each λ
is the one under which the documents are most probable (MacKay's evidence).

Notation: n documents, C classes, G cells, P numbers: d of each level, and v. J (G + 1, P) is the 0/1 matrix that adds
up the numbers of each cell, and keeps v.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import engines
from tallybayes.events.event import chunks
from tallybayes.events.inputs import Floats
from tallybayes.events.text.fold_terms import CellTerms
from tallybayes.events.text.token_cells import BANDS, EDGES, TokenWeights

__all__ = ["FittedCellWeights", "fit_cell_weights"]

Floats32 = npt.NDArray[np.float32]
# Powers of the length: at −1 a longer document says no more than a short one, above 0 its tokens say more than alone.
_POWERS = np.arange(-8, 3) / 8
_LEAST = 1e-3  # of t: below, the tokens say nothing
_SHAPE, _RATE = 2.0, 0.1  # prior of each λ: a weight differs from its parent's by about √(0.1 / 2) = 0.22
_LEAST_PRECISION = 1.0
_ROUNDS = 5  # λ and d in turn; more rounds change the log-loss by less than 0.005
_STEPS = 15
_IMPOSSIBLE = -1e8  # log-probability of a class that is not expected; unlike −∞, its product with 0 is 0
_CLOSE, _NEAR = 1e-6, 1e-4  # nats per document: a smaller gain ends the last search, and those before
_CACHED = 1 << 18  # numbers whose squares are added up at a time: 1 MiB
_DIGITS = 6  # of the numbers kept: what BLAS may compute differently is rounded off


class FittedCellWeights(NamedTuple):
    """The weights, the mean log-loss of the documents under them, and minus the log-evidence per document."""

    weights: TokenWeights
    loss: float
    evidence: float


class _Documents(NamedTuple):
    """Documents left out: the class prior, scores without weights, terms by cell, classes and weights.

    Scores have a row for each class: NumPy is slow along an axis as short as most numbers of classes.
    """

    log_prior: Floats  # (C,) 0 for a class that is not expected
    scores: Floats  # (C, n)
    cells: CellTerms
    classes: npt.NDArray[np.integer]  # (n,)
    weights: Floats  # (n,)

    def own(self, scores: Floats) -> Floats:  # (n,)
        return np.asarray(scores[self.classes, np.arange(len(self.classes))])

    def loss(self, scores: Floats) -> float:
        return float(self.weights @ (_log_total(scores) - self.own(scores)))


def fit_cell_weights(
    cells: CellTerms, classes: npt.NDArray[np.integer], log_prior: Floats, weights: Floats | None = None
) -> FittedCellWeights:
    """Return the weights of cells under which the classes of documents left out are most probable.

    Parameters
    ----------
    cells : CellTerms
        The documents' log-probabilities by cell, from counts without their fold.
    classes : ndarray of int, shape (n,)
        Their classes.
    log_prior : ndarray, shape (C,)
        The log of the class prior.
    weights : ndarray, shape (n,), optional
        The documents' weights.
    """
    possible = np.isfinite(log_prior)  # documents of a class that is not expected have no say
    each = np.where(possible[classes], 1.0 if weights is None else weights, 0.0)
    scores = np.tile(np.maximum(log_prior, _IMPOSSIBLE), (len(classes), 1))
    for g in np.flatnonzero(cells.used):
        scores += cells.terms[g]
    documents = _Documents(np.where(possible, log_prior, 0.0), scores.T.copy(), cells, classes, each)
    with engines.one_blas_thread():  # matrices of some hundred rows
        common = _common(documents)
        found, prior, loss, evidence = _Levels(documents, common).fit()
    t, b, typical, v = map(_rounded, (common.t, common.b, common.typical, prior))
    kept = TokenWeights(t, b, typical, v, tuple(map(_rounded, found)))
    return FittedCellWeights(kept, loss, evidence)


def _common(documents: _Documents) -> TokenWeights:
    """Return one temperature for all cells, and the power of the length, of least loss."""
    lengths = documents.cells.lengths
    typical = float(np.exp(np.average(np.log1p(lengths), weights=documents.weights * (lengths > 0))))
    found, t = [], 0.3
    for b in _POWERS:
        m, _ = TokenWeights(1.0, float(b), typical, 0.0, ()).faded(lengths)
        t = max(_one_factor(documents, 1.0 - m, m * ((lengths + 1.0) / typical) ** b, t), _LEAST)
        one = TokenWeights(t, float(b), typical, 0.0, ())
        found.append((documents.loss(one.at(lengths) * documents.scores), one))
    return min(found, key=lambda each: each[0])[1]


def _one_factor(documents: _Documents, plain: Floats, tempered: Floats, t: float) -> float:
    """Return t such that the scores times (plain + t · tempered) have the least loss."""
    x, base, each = tempered * documents.scores, plain * documents.scores, documents.weights
    own = documents.own(x)
    for _ in range(30):
        p = _softmax(base + t * x)
        px = p * x
        mean = px.sum(axis=0)
        curve = each @ ((px * x).sum(axis=0) - mean * mean)
        most = 0.5 * abs(t) + 0.02
        step = float(np.clip(each @ (mean - own) / (curve + 1e-9), -most, most))
        t -= step
        if abs(step) < _NEAR * abs(t):
            break
    return t


class _Levels:
    """The search for the weights of cells and of the prior, around a common temperature.

    Only what a class has more than the first matters: x (C − 1, n, full + 1) is that of the others, by cell that some
    document has, and of the prior.
    """

    def __init__(self, documents: _Documents, common: TokenWeights) -> None:
        terms = documents.cells.terms
        self.documents, self.n_cells = documents, len(terms)
        m, k = common.faded(documents.cells.lengths)
        used = np.flatnonzero(documents.cells.used)  # cells that no document has need no search
        self.full = used[[bool(terms[g].any()) for g in used]]
        n, C, prior = terms.shape[1], len(documents.log_prior), documents.log_prior
        self.x: Floats32 = np.empty((C - 1, n, len(self.full) + 1), np.float32)
        factor = (m * k).astype(np.float32)[:, None]
        for rows in chunks(n, max(1, _CACHED // (C * max(1, len(self.full))))):  # transposed within the cache
            part = terms[self.full, rows]
            self.x[:, rows, :-1] = ((part[:, :, 1:] - part[:, :, :1]) * factor[rows]).transpose(2, 1, 0)
        self.x[:, :, -1] = np.outer(prior[1:] - prior[0], m)
        self.base = (1.0 - m + m * k) * documents.scores
        self.matrix, self.level = _levels(self.n_cells, self.full)
        self.J = self.matrix[np.append(self.full, self.n_cells)]

    def fit(self) -> tuple[Floats, float, float, float]:
        """Return the weights of cells, that of the prior, the mean loss, and minus the log-evidence per document."""
        precision, theta = np.where(self.level == 0, 1.0, _SHAPE / _RATE), np.zeros(len(self.level))
        for turn in range(_ROUNDS):
            last = turn == _ROUNDS - 1
            theta, value, H = self._newton(precision, theta, _CLOSE if last else _NEAR)
            if not last:
                settled = 1 - precision * np.diag(np.linalg.inv(H + np.diag(precision)))
                for one in range(1, self.level.max() + 1):
                    i = self.level == one
                    new = (settled[i].sum() + _SHAPE) / ((theta[i] ** 2).sum() + _RATE)
                    precision[i] = max(_LEAST_PRECISION, new)
        root = np.sqrt(precision)
        volume = np.linalg.slogdet(np.eye(len(root)) + H / root / root[:, None])[1]
        found, total = self.matrix @ theta, self.documents.weights.sum()
        loss = self.documents.loss(self._scores(theta)) / total
        return 1 + found[:-1], float(found[-1]), loss, float((value + volume / 2) / total)

    def _scores(self, theta: Floats) -> Floats:  # (C, n)
        scores = self.base.copy()
        scores[1:] += self.x @ (self.J @ theta).astype(np.float32)
        return scores

    def _newton(self, precision: Floats, theta: Floats, close: float) -> tuple[Floats, float, Floats]:
        """Return the numbers of least loss plus penalty, that sum, and the curvature of the loss (P, P)."""

        def value(scores: Floats, theta: Floats) -> float:
            return self.documents.loss(scores) + float(precision @ (theta * theta)) / 2

        scores, total = self._scores(theta), self.documents.weights.sum()
        now = value(scores, theta)
        for _ in range(_STEPS):
            gradient, H = self._derivatives(_softmax(scores))
            step, part = np.linalg.solve(H + np.diag(precision), gradient + precision * theta), 1.0
            while (new := value(tried := self._scores(theta - part * step), theta - part * step)) > now and part > 1e-3:
                part /= 2
            if new > now:
                break
            theta, scores, gain, now = theta - part * step, tried, now - new, new
            if gain < close * total:
                break
        return theta, now, H

    def _derivatives(self, p: Floats) -> tuple[Floats, Floats]:  # (P,), (P, P)
        """Return the slope and the curvature of the loss where the classes have probabilities p (C, n)."""
        n, each = len(self.documents.classes), self.documents.weights
        over = p * each
        over[self.documents.classes, np.arange(n)] -= each
        slope = sum(one @ x for one, x in zip(over[1:].astype(np.float32), self.x, strict=True))
        H = np.zeros((len(self.J), len(self.J)))
        for rows in chunks(n, _CACHED // self.x.shape[2]):
            for part in self._deviations(p[:, rows].astype(np.float32), rows):
                H += part.T @ part
        return self.J.T @ slope, self.J.T @ H @ self.J

    def _deviations(self, p: Floats32, rows: slice) -> Iterator[Floats32]:
        """Yield matrices (n, width) whose squares add up to the covariance of x over the classes."""
        x, each = self.x[:, rows], self.documents.weights[rows].astype(np.float32)
        if len(p) == 2:  # the deviations of both are parts of their difference
            yield x[0] * np.sqrt(p[0] * p[1] * each)[:, None]
            return
        mean = sum(share[:, None] * one for share, one in zip(p[1:], x, strict=True))
        root = np.sqrt(p * each)[:, :, None]
        yield mean * root[0]
        for one, factor in zip(x, root[1:], strict=True):
            yield (one - mean) * factor


def _levels(n_cells: int, full: npt.NDArray[np.intp]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return the matrix (G + 1, P) and the level of each number; numbers without documents are left out."""
    spreads, cell = len(EDGES) + 1, np.arange(n_cells)
    order, band, spread = cell // (BANDS * spreads), cell // spreads % BANDS, cell % spreads
    keys = [0 * cell, order, order * BANDS + band, order * spreads + spread, cell]
    if order[-1] == 0:
        del keys[1]  # the same as the level above
    levels = [(key[:, None] == np.unique(key[full])).astype(np.float64) for key in keys]
    sizes = [one.shape[1] for one in levels]
    matrix = np.zeros((n_cells + 1, sum(sizes) + 1))
    matrix[:-1, :-1] = np.hstack(levels)
    matrix[-1, -1] = 1.0
    return matrix, np.append(np.repeat(np.arange(len(sizes)), sizes), 0)


def _log_total(scores: Floats) -> Floats:  # (n,)
    largest = scores.max(axis=0)
    return np.asarray(np.log(np.exp(scores - largest).sum(axis=0)) + largest)


def _softmax(scores: Floats) -> Floats:  # (C, n)
    p = np.exp(scores - scores.max(axis=0))
    return np.asarray(p / p.sum(axis=0))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
