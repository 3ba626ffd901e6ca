"""Calibration: the choice of smoothing and temperature by leave-one-out scores.

No row has to be held back, and nothing is fitted twice: leave-one-out scores come from the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms, most_rows
from tallybayes.inference.fit_weights import fit_weights
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.posterior import Temperature
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.inference.score import SCORED_ROWS
from tallybayes.inference.temperature import Start, fit_temper, losses
from tallybayes.inference.weights import ColumnWeights
from tallybayes.schema.schema import Schema

__all__ = ["Calibration", "Tried", "calibrate"]

# Smoothings tried are powers of ten, four to a decade: the loss hardly changes between two of them.
_PER_DECADE = 4
_LOWEST, _HIGHEST = -5 * _PER_DECADE, 3 * _PER_DECADE
_FEWEST = 30  # rows: fewer do not give a usable standard error, and the smoothing stays 1
_ENOUGH = 1e-5  # relative slope at which the temperature is precise enough to compare smoothings
_FIRST = (0, -4, -8)  # 1, 0.1, 0.01: the search starts at the best of these


class Tried(NamedTuple):
    """A smoothing that was tried for some columns, its mean leave-one-out loss and standard error."""

    columns: str
    alpha: float
    log_loss: float
    error: float


@dataclass(frozen=True)
class Calibration:
    """The smoothings and the temperature chosen by leave-one-out scores.

    Attributes
    ----------
    alphas : mapping of str to float
        The smoothing of each name or glob that was to be tuned; "*" stands for all columns to tune.
    temperature : Temperature or None
        What scores are multiplied by.
    rows : int
        The number of rows left out, one at a time.
    unscored : int
        The number of them that could not be scored, being the only row of their class.
    before, after : float
        Their mean log-loss at a temperature of 1, and at the one chosen; None where there is none.
    tried : tuple of Tried
        The smoothings tried, with their losses.
    stale : bool
        Whether rows or choices changed since.
    """

    alphas: Mapping[str, float] = field(default_factory=dict)
    temperature: Temperature | None = None
    rows: int = 0
    unscored: int = 0
    before: float | None = None
    after: float | None = None
    tried: tuple[Tried, ...] = ()
    stale: bool = False
    weights: ColumnWeights | None = None

    def outdated(self) -> Calibration:
        """Return the calibration marked as stale."""
        return replace(self, stale=True)

    def __or__(self, other: Calibration | None) -> Calibration:
        """Return the calibration with more rows; the order of the two does not matter."""
        return self if other is None else max(self, other, key=lambda one: (one.rows, str(one.to_dict())))

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain numbers."""
        return {
            "alphas": dict(self.alphas),
            "temper": None if self.temperature is None else {"a": self.temperature.a, "b": self.temperature.b},
            "rows": self.rows,
            "unscored": self.unscored,
            "before": self.before,
            "after": self.after,
            "tried": [one._asdict() for one in self.tried],
            "stale": self.stale,
        }


def calibrate(evidence: Evidence, choices: Choices, sample: BottomKSample, threads: int | None = None) -> Calibration:
    """Choose smoothing and temperature, where the choices leave them open, by a sample of rows.

    Parameters
    ----------
    evidence : Evidence
        The evidence, which includes the sample.
    choices : Choices
        What to choose.
    sample : BottomKSample
        The rows.
    threads : int, optional
        The number of threads that score; one per core by default.
    """
    found = SampledRows.of(evidence, sample)
    if found is None:
        return Calibration()
    return _Search(evidence, choices, found.rows, found.classes, found.weights, engines.default_threads(threads)).run()


class _Search:
    """The search for the best smoothings and temperature, over rows ready to be left out."""

    def __init__(
        self,
        evidence: Evidence,
        choices: Choices,
        rows: RowBatch,
        classes: npt.NDArray[np.int32],
        weights: Floats | None,
        threads: int,
    ) -> None:
        self.evidence, self.choices, self.classes, self.weights = evidence, choices, classes, weights
        self.threads, self.rows = threads, rows
        # A row of weight w > 1 stands for w copies: leave one copy out, count its loss w times.
        one = None if weights is None or (weights >= 1).all() else np.minimum(weights, 1.0)
        self.left_out = [
            (at, LeftOutRows(evidence, part, classes[at], None if one is None else one[at]))
            for at, part in _slices(rows, evidence.schema)
        ]
        self.sizes = np.concatenate([part.sizes for _, part in self.left_out])
        self.last: tuple[dict[str, float], Floats, npt.NDArray[np.intp]] | None = None
        self.start: Start | None = None
        self.has_weight: Floats | None = None
        self.tried: dict[tuple[str, int], tuple[Tried, Floats]] = {}

    def run(self) -> Calibration:
        alphas = dict.fromkeys(self.choices.tuned(self.evidence.schema), 1.0)
        n = len(self.classes)
        many = n if self.weights is None else float(self.weights.sum())
        scores, scored = self._scores(alphas)
        if not len(scored):  # no class has a second row
            return Calibration(alphas, None, n, n)
        if alphas and many >= _FEWEST:
            for _ in range(2 if len(alphas) > 1 else 1):  # one column's best smoothing depends on the others'
                self.tried.clear()
                for key in alphas:
                    alphas[key] = self._best(alphas, key)
            scores, scored = self._scores(alphas)
        weights = self._weight(scored)
        before, after, temperature = _mean(losses(scores, self.classes[scored]), weights)[0], None, None
        columns: ColumnWeights | None = None
        if self.choices.calibrate is not None and self._by_column():
            columns, after = self._weights(alphas, scored)
        elif self.choices.calibrate is not None:
            temperature, left, _ = fit_temper(
                scores, self.classes[scored], self.sizes[scored], self._weight(scored), start=self.start
            )
            after = _mean(left, weights)[0]
        tried = tuple(self.tried[at][0] for at in sorted(self.tried))
        return Calibration(alphas, temperature, n, n - len(scored), before, after, tried, weights=columns)

    def _by_column(self) -> bool:
        """Return whether each column is to have a weight: not of texts and bags, whose terms are their words.

        A column alone repeats nothing: its counts are the answer.
        """
        return not any(block.event.input in ("bag", "text") for block in self.evidence.schema.blocks)

    def _weights(self, alphas: Mapping[str, float], scored: npt.NDArray[np.intp]) -> tuple[ColumnWeights, float]:
        """Return the weights of columns, and the mean loss under them."""
        resolved, batch = self.choices.resolved(self.evidence, alphas), self.rows.batch
        if self.evidence.schema.products:  # sampled rows are sorted by hash, so the first are a sample of them
            scored = scored[: most_rows(len(self.evidence.schema.terms), len(self.evidence.classes))]
        rows = RowBatch(batch if len(scored) == len(batch) else batch.take(pa.array(scored)), 0, self.rows.missing)
        weights, classes = self._weight(scored), self.classes[scored]
        one = None if weights is None else np.minimum(weights, 1.0)
        terms = ColumnTerms.of(self.evidence, resolved, rows, classes, one)
        fitted = fit_weights(terms.to_fit(classes, weights), common=self.choices.calibrate == "one")
        total = float(len(scored)) if weights is None else float(weights.sum())
        return terms.weights(fitted), fitted.loss / total

    def _best(self, alphas: Mapping[str, float], key: str) -> float:
        """Return the smoothing nearest to 1 whose loss is within one standard error of the least.

        The standard error is that of the difference of losses. 1 is the default: few rows cannot tell it from the
        best, and it stays.
        """

        def loss(k: int) -> float:
            if (key, k) not in self.tried:
                self.tried[key, k] = self._try({**alphas, key: _alpha(k)}, key, k)
            return self.tried[key, k][0].log_loss

        best = _least(loss)
        losses_at_best = self.tried[key, best][1]
        while best != 0:
            nearer = best - 1 if best > 0 else best + 1
            loss(nearer)
            more, error = _mean(self.tried[key, nearer][1] - losses_at_best, self.has_weight)
            if not more <= error:
                break
            best = nearer
        return _alpha(best)

    def _try(self, alphas: Mapping[str, float], key: str, k: int) -> tuple[Tried, Floats]:
        scores, scored = self._scores(alphas)
        left = losses(scores, self.classes[scored])
        if self.choices.calibrate is not None:
            found = fit_temper(
                scores, self.classes[scored], self.sizes[scored], self._weight(scored), start=self.start, close=_ENOUGH
            )
            left, self.start = found.losses, found.end
        self.has_weight = self._weight(scored)
        return Tried(key, _alpha(k), *_mean(left, self.has_weight)), left

    def _scores(self, alphas: Mapping[str, float]) -> tuple[Floats, npt.NDArray[np.intp]]:
        """Return scores of the rows whose class has other rows, and their indices; the last result is cached."""
        if self.last is None or self.last[0] != alphas:
            self.last = dict(alphas), *self._left_out(alphas)
        return self.last[1:]

    def _left_out(self, alphas: Mapping[str, float]) -> tuple[Floats, npt.NDArray[np.intp]]:
        resolved = self.choices.resolved(self.evidence, alphas)
        scores = np.empty((len(self.classes), len(self.evidence.classes)))

        def work(k: slice) -> None:
            for at, part in self.left_out[k]:
                scores[at] = part.scores(resolved)

        engines.map_rows(len(self.left_out), work, threads=self.threads, rows=1)
        has_weight = np.ones(len(scores), bool) if self.weights is None else self.weights > 0
        scored = np.flatnonzero(np.isfinite(scores[np.arange(len(scores)), self.classes]) & has_weight)
        return scores[scored], scored

    def _weight(self, scored: npt.NDArray[np.intp]) -> Floats | None:
        return None if self.weights is None else self.weights[scored]


def _slices(rows: RowBatch, schema: Schema) -> list[tuple[slice, RowBatch]]:
    """Return the rows in slices for threads; bags and texts in one, since preparing them is costly.

    The slices do not depend on the number of threads, so neither do results.
    """
    n = len(rows)
    size = n if any(block.event.input in ("bag", "text") for block in schema.blocks) else SCORED_ROWS
    pieces = (slice(at, min(at + size, n)) for at in range(0, n, max(1, size)))
    return [(at, RowBatch(rows.batch.slice(at.start, at.stop - at.start), at.start, rows.missing)) for at in pieces]


def _least(loss: Callable[[int], float]) -> int:
    """Return the lattice point of least loss, descending from the best of a few points."""
    at = min(_FIRST, key=loss)
    for step in (2, 1):
        while True:
            around = [k for k in (at - step, at, at + step) if _LOWEST <= k <= _HIGHEST]
            better = min(around, key=loss)
            if better == at:
                break
            at = better
    return at


def _alpha(k: int) -> float:
    """Return the k-th smoothing of the lattice, to three digits."""
    return float(f"{10 ** (k / _PER_DECADE):.3g}")


def _mean(values: Floats, weights: Floats | None) -> tuple[float, float]:
    """Return the mean and its standard error."""
    total = len(values) if weights is None else float(weights.sum())
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weights) / total))
