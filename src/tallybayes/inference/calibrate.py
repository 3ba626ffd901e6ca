"""Choose smoothing, weights and temperature by leave-one-out scores.

No row has to be held back, and nothing is fitted twice: leave-one-out scores come from the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines
from tallybayes.cached_property import cached_property
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.calibration import Calibration, Tried
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.fit_weights import fit_fading, fit_weights
from tallybayes.inference.halves import halves, has_few_rows
from tallybayes.inference.leave_one_out import LeftOutRows, prior_without
from tallybayes.inference.posterior import Tempering, refuse_nan
from tallybayes.inference.sample_size import (
    has_few_terms,
    most_rows_to_calibrate,
    rows_for_one_weight,
    rows_to_calibrate,
    rows_to_weigh,
)
from tallybayes.inference.sampled_rows import SampledRows, at_most_one
from tallybayes.inference.score import SCORED_ROWS
from tallybayes.inference.temperature import Start, fit_temper, losses, own_scores
from tallybayes.inference.terms import Terms
from tallybayes.inference.text_view import TextView, viewed, views
from tallybayes.inference.token_weights import fit_token_weights
from tallybayes.inference.weight_one import with_products
from tallybayes.inference.weights import ColumnWeights, share_of_others
from tallybayes.schema.schema import Schema

__all__ = ["calibrate", "rows_needed"]

# Smoothings tried are powers of ten, four to a decade: the loss hardly changes between two of them.
_PER_DECADE = 4
_LOWEST, _HIGHEST = -5 * _PER_DECADE, 3 * _PER_DECADE
_FEWEST = 30  # rows: fewer do not give a usable standard error; the smoothing stays 1
# Documents that choose a view: on the first number, losses that differ by 0.01 differ by more than their error. With
# many classes a document takes longer, and the losses of views differ by more: the second is documents times classes.
_FEW_TO_CHOOSE, _CELLS_TO_CHOOSE = 2_000, 50_000
_FEW = 50  # rows: with fewer, all columns have one weight
_PRIOR_OF_FEW = 500.0  # rows: over their number, the precision with which one weight is drawn to 1
_IMPOSSIBLE = 1e4  # a score this far below the others is as good as impossible
_MOST_LOSS = 708.0  # nats: a row less probable than the least double is as good as impossible
_SURE = 100  # rows: with fewer, chance decides whether columns seem to tell something
_HEAVIEST = 1e100  # squares of slopes, which weights multiply, are doubles
_ENOUGH = 1e-5  # relative slope at which the temperature is precise enough to compare smoothings
_FIRST = (0, -4, -8)  # 1, 0.1, 0.01: the search starts at the best of these


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
    workers, choice = engines.default_threads(threads), views(evidence)
    if choice:
        rows = SampledRows.of(evidence, sample)
        return Calibration() if rows is None else _choose_view(evidence, choices, choice, rows, workers)
    evidence = viewed(evidence, None)
    rows = None
    many = not has_few_terms(*_size(evidence)) and not has_few_rows(evidence, _FEW)
    if many and _only_weighs(evidence.schema, choices):  # copying them takes long
        rows = SampledRows.in_place(evidence, sample, rows_for_one_weight(*_size(evidence)))
    if rows is None:
        rows = SampledRows.of(evidence, sample, _most_rows(evidence, choices))
    return Calibration() if rows is None else _Search(evidence, choices, rows, threads=workers).run()


def _choose_view(
    evidence: Evidence, choices: Choices, choice: Sequence[TextView], rows: SampledRows, threads: int
) -> Calibration:
    """Return the calibration of the view under which the documents are most probable, chosen by the first of them."""

    def search(view: TextView, rows: SampledRows) -> tuple[float, Calibration]:
        found = _Search(viewed(evidence, view), choices, rows, threads=threads)
        calibration = replace(found.run(), view=view)
        return found.surprise, calibration

    n, classes = len(rows), len(evidence.classes)
    few = rows.first(min(max(_FEW_TO_CHOOSE, n // 4), max(_FEW_TO_CHOOSE // 4, _CELLS_TO_CHOOSE // max(1, classes))))
    found = engines.in_threads(((view, few) for view in choice), search, threads)
    _, best = min(found, key=lambda each: each[0])
    if len(few) == n:
        return best
    assert best.view is not None
    return search(best.view, rows)[1]


def _size(evidence: Evidence) -> tuple[int, int]:
    return len(evidence.schema.columns), len(evidence.classes)


def _by_column(schema: Schema) -> bool:
    """Return whether each column is to have a weight: not of texts and bags, whose terms are their words."""
    return not any(block.event.input in ("bag", "text") for block in schema.blocks)


def _most_rows(evidence: Evidence, choices: Choices) -> int | None:
    """Return how many rows are enough; None where something else than weights of columns is to be chosen."""
    return rows_to_calibrate(*_size(evidence)) if _only_weighs(evidence.schema, choices) else None


def _only_weighs(schema: Schema, choices: Choices) -> bool:
    """Return whether weights of columns are all that is to be chosen."""
    return choices.calibrate is not None and not choices.tuned(schema) and _by_column(schema)


def rows_needed(schema: Schema, choices: Choices) -> Callable[[int], int] | None:
    """Return how many rows of a sample are enough, given the number of classes of some of the rows; None for all."""
    only = choices.structure == "naive" and _only_weighs(schema, choices)
    return partial(most_rows_to_calibrate, len(schema.columns)) if only else None


class _Search:
    """The search for the best smoothings and temperature, over rows ready to be left out."""

    def __init__(self, evidence: Evidence, choices: Choices, sampled: SampledRows, *, threads: int) -> None:
        # A given prior is that of the rows to come; these rows have the shares they were counted with.
        learned = isinstance(choices.prior, str) and choices.prior == "learned"
        self.choices = choices if learned else replace(choices, prior="learned")
        self.evidence, self.rows, self.classes, self.hashes = evidence, sampled.rows, sampled.classes, sampled.hashes
        self.weights, self.order = sampled.weights, sampled.order
        weights = self.weights
        self.threads = threads
        self.surprise = np.inf  # minus the log-evidence per document, where weights of tokens are fitted
        if weights is not None and weights.max(initial=0.0) > _HEAVIEST:
            self.weights = weights * (_HEAVIEST / weights.max())  # only their shares matter from here on
        self.last: tuple[dict[str, float], Floats, npt.NDArray[np.intp]] | None = None
        self.start: Start | None = None
        self.has_weight: Floats | None = None
        self.tried: dict[tuple[str, int], tuple[Tried, Floats]] = {}

    @cached_property
    def left_out(self) -> list[tuple[slice, LeftOutRows]]:
        """The rows, ready to be left out, in slices."""
        one, parts = at_most_one(self.weights), _slices(self.rows, self.evidence.schema)
        left = ((at, part, None if one is None else one[at]) for at, part in parts)
        return [
            (at, LeftOutRows(self.evidence, part, self.classes[at], weights, self._halves(part, at)))
            for at, part, weights in left
        ]

    def _halves(self, rows: RowBatch, index: slice | npt.NDArray[np.intp]) -> Folds | None:
        """Return the halves of some rows; None where there are enough rows, or nothing is chosen by halves."""
        chosen = any(block.event.takes_folds for block in self.evidence.schema.blocks)
        if not chosen or not has_few_rows(self.evidence, _FEW):
            return None
        hashes = None if self.hashes is None else self.hashes[index]
        return halves(rows, self.evidence, hashes, None if self.weights is None else self.weights[index])

    @cached_property
    def sizes(self) -> Floats:  # (n,)
        """The length of each row."""
        return np.concatenate([part.sizes for _, part in self.left_out])

    def run(self) -> Calibration:
        alphas = dict.fromkeys(self.choices.tuned(self.evidence.schema), 1.0)
        weighted = self.choices.calibrate is not None and _by_column(self.evidence.schema)
        if alphas or not weighted:
            n = len(self.classes)
            many = n if self.weights is None else float(self.weights.sum())
            if not len(self._scores(alphas)[1]):  # no class has a second row
                return Calibration(alphas, None, n, n)
            if alphas and many >= _FEWEST:
                for _ in range(2 if len(alphas) > 1 else 1):  # one column's best smoothing depends on the others'
                    self.tried.clear()
                    for key in alphas:
                        alphas[key] = self._best(alphas, key)
        found = self._fit_weights(alphas) if weighted else self._fit_temperature(alphas)
        tried = tuple(self.tried[at][0] for at in sorted(self.tried))
        return replace(found, tried=tried) if tried else found

    def _fit_temperature(self, alphas: Mapping[str, float]) -> Calibration:
        """Return the weights of tokens, or the temperature, under the smoothings."""
        scores, scored = self._scores(alphas)
        n, weights = len(self.classes), self._weight(scored)
        before, after = _average(losses(scores, self.classes[scored]), weights), None
        temperature: Tempering | None = None
        if self.choices.calibrate is not None:
            rows = self.rows, self.classes, self.weights
            fitted = fit_token_weights(self.evidence, self._resolved(alphas), *rows, threads=self.threads)
            if fitted is not None:
                temperature, after, self.surprise = fitted.weights, fitted.loss, fitted.evidence
            else:
                given = scores, self.classes[scored], self.sizes[scored], weights
                found = fit_temper(*given, start=self.start, threads=self.threads)
                temperature, after = found.temperature, _average(found.losses, weights)
        return Calibration(alphas, temperature, n, n - len(scored), before, after)

    def _fit_weights(self, alphas: Mapping[str, float]) -> Calibration:
        """Return the weights of columns under the smoothings, fitted on as many rows as it takes."""
        size = _size(self.evidence)
        if not has_few_terms(*size) or len(self.classes) < _FEW:
            return self._fit_common_weight(alphas)
        n = min(len(self.classes), rows_to_weigh(*size))
        some = np.arange(n)  # in the order of hashes: a random sample
        terms = self._terms(alphas, some)
        has_weight = np.ones(n, bool) if self.weights is None else self.weights[:n] > 0
        scored = np.flatnonzero(terms.has_class(self.classes[:n]) & has_weight)
        if not len(scored):  # no class has a second row
            return Calibration(alphas, None, n, n)
        if len(scored) < n:
            terms = self._terms(alphas, scored)
        classes, weights = self.classes[scored], self._weight(scored)
        common, precision = self.choices.calibrate == "one", _precision(classes, weights)
        given = terms.to_fit(classes, weights, threads=self.threads)
        fitted = fit_fading(given, len(classes), common=common, precision=precision)
        left = losses(terms.fitted_scores(fitted), classes)
        before, after = (_average(each, weights) for each in (losses(terms.plain_scores, classes), left))
        chosen = 0 if has_few_rows(self.evidence, _FEW) else len(terms.columns)
        prior = _prior_if_below(losses(terms.prior, classes), left, weights, fitted.effective + chosen)
        return Calibration(alphas, None, n, n - len(scored), before, after, weights=terms.weights(fitted), prior=prior)

    def _fit_common_weight(self, alphas: Mapping[str, float]) -> Calibration:
        """Return one weight for all columns, where they or the classes are too many for one each."""
        evidence = with_products(self.evidence)
        n = min(len(self.classes), rows_for_one_weight(len(evidence.schema.columns), len(evidence.classes)))
        first = SampledRows(self.rows, self.classes, self.weights, self.hashes, self.order).first(n)
        few = _Search(evidence, self.choices, first, threads=self.threads)
        scores, scored = few._scores(alphas)
        if not len(scored):
            return Calibration(alphas, None, n, n)
        classes, weights, width = few.classes[scored], few._weight(scored), len(evidence.schema.columns)
        share = share_of_others(few.sizes[scored], width)
        prior = prior_without(evidence, self._resolved(alphas), classes, at_most_one(weights))
        with np.errstate(invalid="ignore"):
            terms = np.where(np.isfinite(prior), _near_best(scores - prior), 0.0)
        prior = np.maximum(prior, -_IMPOSSIBLE)
        terms_of_one = Terms.of_one(prior, terms, share, classes, weights)
        fitted = fit_weights(terms_of_one, common=True, precision=_precision(classes, weights))
        weight = float(fitted.scale[0])
        after = prior + (1 + share * (weight - 1))[:, None] * terms
        before, left = (_average(losses(found, classes), weights) for found in (scores, after))
        columns = ColumnWeights.common(weight, evidence.schema.terms, evidence.classes)
        return Calibration(alphas, None, n, n - len(scored), before, left, weights=columns)

    def _terms(self, alphas: Mapping[str, float], index: npt.NDArray[np.intp]) -> ColumnTerms:
        batch = self.rows.batch
        rows = RowBatch(batch if len(index) == len(batch) else batch.take(pa.array(index)), 0, self.rows.missing)
        one = at_most_one(self._weight(index))
        hashes = None if self.hashes is None else self.hashes[index]
        given = self.evidence, self._resolved(alphas), rows, self.classes[index], one
        return ColumnTerms.of(*given, hashes=hashes, folds=self._halves(rows, index), threads=self.threads)

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
            given = scores, self.classes[scored], self.sizes[scored], self._weight(scored)
            found = fit_temper(*given, start=self.start, close=_ENOUGH, threads=self.threads)
            left, self.start = found.losses, found.end
        self.has_weight = self._weight(scored)
        return Tried(key, _alpha(k), *_mean(left, self.has_weight)), left

    def _scores(self, alphas: Mapping[str, float]) -> tuple[Floats, npt.NDArray[np.intp]]:
        """Return scores of the rows whose class has other rows, and their indices; the last result is cached."""
        if self.last is None or self.last[0] != alphas:
            self.last = dict(alphas), *self._left_out(alphas)
        return self.last[1:]

    def _left_out(self, alphas: Mapping[str, float]) -> tuple[Floats, npt.NDArray[np.intp]]:
        resolved = self._resolved(alphas)
        scores = np.empty((len(self.classes), len(self.evidence.classes)))
        within = self.threads if len(self.left_out) == 1 else 1  # threads that work on a slice

        def work(k: slice) -> None:
            for at, part in self.left_out[k]:
                scores[at] = part.scores(resolved, threads=within)

        engines.map_rows(len(self.left_out), work, threads=self.threads, rows=1)
        has_weight = np.ones(len(scores), bool) if self.weights is None else self.weights > 0
        own = own_scores(scores, self.classes)
        refuse_nan(own)
        able = np.isfinite(own) & has_weight
        scored = np.flatnonzero(able) if self.order is None else self.order[able[self.order]]
        return (scores if self.order is None and able.all() else scores[scored]), scored

    def _resolved(self, alphas: Mapping[str, float]) -> Choices:
        return self.choices.resolved(self.evidence, alphas)

    def _weight(self, scored: npt.NDArray[np.intp]) -> Floats | None:
        return None if self.weights is None else self.weights[scored]


def _prior_if_below(of_prior: Floats, left: Floats, weights: Floats | None, decided: float) -> float | None:
    """Return the mean log-loss of the class shares, if that of new rows is surely above it.

    Rows that weights were fitted to are more probable than new ones, together by as many nats as numbers were decided
    by them (Akaike 1973): the weights, and of each column which of its densities to believe.
    """
    if len(left) < _SURE:
        return None
    more, error = _mean(np.minimum(left, _MOST_LOSS) - of_prior, weights)
    return _average(of_prior, weights) if more + decided / len(left) > error else None


def _near_best(terms: Floats) -> Floats:  # (n, C)
    """Return terms of which none is infinite; only how far they are from the largest of their row matters."""
    if (terms < -_IMPOSSIBLE).any():  # each of thousands of columns may be improbable in every class
        top = terms.max(axis=1, keepdims=True)
        terms = terms - np.where(np.isfinite(top), top, 0.0)
    return np.asarray(np.maximum(terms, -_IMPOSSIBLE))


def _precision(classes: npt.NDArray[np.int32], weights: Floats | None) -> float:
    """Return how strongly the common weight is drawn to 1.

    The errors of a few dozen rows are a matter of luck.
    """
    return 1.0 + _PRIOR_OF_FEW / max(1.0, len(classes) if weights is None else float(weights.sum()))


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


def _average(values: Floats, weights: Floats | None) -> float:
    mean = float(values.mean() if weights is None else np.average(values, weights=weights))
    if np.isnan(mean):
        refuse_nan(values)
    return mean


def _mean(values: Floats, weights: Floats | None) -> tuple[float, float]:
    """Return the mean and its standard error."""
    mean, total = _average(values, weights), len(values) if weights is None else float(weights.sum())
    with np.errstate(over="ignore"):  # hardly any weight: the error may be infinite
        return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weights) / total))
