"""`compare`: event models, estimates and structures on the same folds, beside other kinds of models."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.display.progress import parts, span
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.evaluation import Evaluation, evaluate
from tallybayes.evaluation.losses import true_probabilities
from tallybayes.events import Event, registered
from tallybayes.events.inputs import Floats
from tallybayes.fitting import FitOptions, fit
from tallybayes.inference.choices import Choices
from tallybayes.inference.posterior import ImpossibleRowWarning
from tallybayes.schema.infer import infer
from tallybayes.schema.schema import Schema
from tallybayes.validation.comparison import Candidate, Comparison
from tallybayes.validation.partners import PARTNERS, FittedPartner, check_partners, default_partners
from tallybayes.validation.plan import parse
from tallybayes.validation.result import Validation
from tallybayes.validation.validate import validate

DEFAULT = "as inferred"
# Whole numbers with at most this many distinct values may be codes of categories.
_FEW = 20
_FIRST = 0.1  # share of the time that the first candidate takes, of about ten
_NUMBERS = ("histogram", "gaussian")  # what numbers are inferred as
# Names of candidates that are not named after their event model.
_NAMED = {
    "poisson": "Poisson numbers",
    "categorical": "whole numbers as categories",
    "bins": "numbers in ten bins",
    "mdl": "numbers in bins by MDL",
}
_BAGS = {
    "single words, each as often as it is there": "text",
    "words present or absent": 'text(bag="bernoulli")',
    "each word once per text": 'text(bag="binary")',
    "complement of the other classes": 'text(bag="complement")',
    "words and pairs of words": "text(ngrams=(1, 2))",
}
_ESTIMATES: dict[str, dict[str, Any]] = {
    "posterior mode": {"estimate": "map"},
    "maximum likelihood": {"estimate": "mle"},
    "smoothing by leave-one-out": {"alpha": "loo"},
    "smoothing by marginal likelihood": {"alpha": "evidence"},
    "no calibration": {"calibrate": None},
}
# Rungs of the ladder, lowest first.
_STRUCTURES = {
    "pairs of columns": "pairs",
    "a tree of pairs": "tan",
    "all pairs, averaged over parents": "aode",
    "pairs and triples by nested folds": "auto",
}


def compare(
    source: Any,
    label: Any,
    how: str = "10-fold",
    *,
    partners: Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    weights: Any = None,
    **options: Any,
) -> Comparison:
    """Compare ways to model the same rows on the same folds, and recommend one.

    Parameters
    ----------
    source, label, weights, **options
        As in `fit`; every candidate starts from these options. The rows are kept in memory.
    how : str
        Folds as in `validate`: "10-fold", "5-fold", "10x10".
    partners : sequence of {"ridge", "lasso", "forest", "lightgbm", "xgboost", "catboost", "ebm"}, optional
        Models to compare with: logistic regressions, penalised by squared or by absolute coefficients; a random
        forest; boosted trees of other packages. By default "ridge", "forest" and the packages that are installed.
    seed : int
        The seed of the folds.
    threads : int, optional
        The number of threads.

    Notes
    -----
    Candidates are tried only where the values allow them: lognormal for numbers above 0, exponential for those not
    below 0, Poisson for whole ones, other bags for text, pairs of columns for tables. Each is compared row by row with
    the default, the inferred event models, so the standard error is that of the difference and not of each loss.

    Recommended is the simplest candidate whose loss is within one standard error of the best one's, if it is surely
    below the default's: see `Comparison.recommended`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": list("pppqqq") * 20, "y": ["no", "no", "yes", "yes", "yes", "no"] * 20}
    >>> tb.compare(rows, "y", partners=()).recommended.name
    'as inferred'
    """
    if parse(how).kind != "folds":
        raise BadOption(wanted("how", "folds, such as '10-fold' or '10x10'", repr(how)))
    partners = default_partners() if partners is None else check_partners("partners", partners)

    fit_options = FitOptions.of(options)
    reading = fit_options.reading

    def load(types: open_rows.Types | None) -> tuple[pa.Table, str, str | None]:
        rows, name, weight = open_rows.labelled(source, label, weights, reading, types, columns=fit_options.columns)
        return pa.Table.from_batches(list(rows), rows.schema), name, weight

    table, name, weight = open_rows.reading(load)
    if not table.num_rows:
        raise BadData(wanted("compare", "rows to compare on", "none"))
    base = {
        key: value
        for key, value in options.items()
        if key not in vars(reading) and (value is not None or key == "calibrate")
    }
    validation_options = {"how": how, "seed": seed, "threads": threads, "weights": weight}
    with span(0.0, _FIRST):
        comparer = _Comparer(table, name, weight, base, validation_options)
    with span(_FIRST, 1.0):
        return comparer.compare(partners)


class _Comparer:
    """A table, the folds of the default candidate, and the means to try others on them."""

    def __init__(
        self, table: pa.Table, label: str, weight: str | None, base: dict[str, Any], how: dict[str, Any]
    ) -> None:
        self._table, self._label, self._weight, self._base, self._how = table, label, weight, base, how
        began = time.perf_counter()
        self._first = self._validate({})
        self._seconds = time.perf_counter() - began
        self._losses = _losses(self._first)
        self._of: dict[str, Floats] = {}  # the losses of each candidate
        self._notes = self._first.notes
        given = self._first.weights
        self._weights = np.ones(len(self._losses)) if given is None else given
        self._schema = self._inferred()

    def compare(self, partners: Sequence[str]) -> Comparison:
        """Return all candidates, the lowest log-loss first."""
        found = [self._candidate(DEFAULT, "default", {}, self._first, self._seconds)]
        alone = [(name, kind, {"events": events}) for kind, name, events in self._events()]
        alone += [(name, "estimate", choice) for name, choice in self._estimates()]
        structures = self._structures()
        total = len(alone) + 1 + len(structures) + len(partners)  # those alone, the best of them together, ...
        found += [self._try(*one) for one in parts(alone, total)]
        best = [one for kind in ("numbers", "words", "estimate") if (one := _best(found, kind)) is not None]
        if len(best) > 1:
            several = (" + ".join(one.name for one in best), "several", _joined(best))
            found += [self._try(*one) for one in parts([several], total, len(alone))]
        done = len(alone) + 1
        for name, choice in parts(structures, total, done):
            try:
                found.append(self._try(name, "structure", choice))
            except BadOption as error:  # too many values to count all pairs of
                self._notes += (f"Not compared: {error}",)
        found.append(self._prior())
        found += [self._partner(partner) for partner in parts(partners, total, done + len(structures))]
        # The same but for the last bits, which another processor may round otherwise, stay in the order of trying.
        ranked = self._beside_best(sorted(found, key=lambda one: round(one.log_loss, 12)))
        how, seed, rows = self._how["how"], self._how["seed"], self._table.num_rows
        return Comparison(self._label, how, seed, rows, tuple(ranked), self._notes, self._schema.events())

    def _validate(self, choice: Mapping[str, Any]) -> Validation:
        with warnings.catch_warnings():  # impossible rows show as an infinite loss
            warnings.simplefilter("ignore", ImpossibleRowWarning)
            return validate(self._table, self._label, **self._how, **(self._base | dict(choice)))

    def _try(self, name: str, kind: str, choice: dict[str, Any]) -> Candidate:
        began = time.perf_counter()
        validation = self._validate(choice)
        return self._candidate(name, kind, choice, validation, time.perf_counter() - began)

    def _candidate(
        self, name: str, kind: str, choice: dict[str, Any], validation: Validation, seconds: float
    ) -> Candidate:
        return self._judged(name, kind, choice, validation.evaluation, _losses(validation), seconds)

    def _judged(
        self, name: str, kind: str, choice: dict[str, Any], scores: Evaluation, losses: Floats, seconds: float
    ) -> Candidate:
        self._of[name] = losses
        ahead, error = self._ahead(self._losses, losses)
        figures = scores.accuracy, scores.log_loss, scores.brier, scores.auc
        return Candidate(name, kind, choice, *figures, ahead, error, seconds=seconds)

    def _estimates(self) -> list[tuple[str, dict[str, Any]]]:
        """Return other estimates than the given one."""
        pairs = self._base.get("structure") in ("pairs", "auto")  # which nothing but calibration weighs
        given = set(_hashable(self._base))
        return [
            (name, choice)
            for name, choice in _ESTIMATES.items()
            if not (pairs and "calibrate" in choice) and not set(choice.items()) <= given
        ]

    def _structures(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the rungs of the ladder, for tables whose structure is not given."""
        columns = [block for block in self._schema.blocks if block.event.input in ("bag", "text")]
        open_ = "structure" not in self._base and self._base.get("calibrate", "auto") in ("auto", "loo")
        if columns or not open_ or len(self._schema.columns) < 2:
            return []
        return [(name, {"structure": rung}) for name, rung in _STRUCTURES.items()]

    def _beside_best(self, ranked: list[Candidate]) -> list[Candidate]:
        """Return the candidates with the distance of each from the best of ours, and its error."""
        best = next((one for one in ranked if one.kind not in ("partner", "prior")), ranked[0])

        def measured(one: Candidate) -> Candidate:
            above_best, error = self._ahead(self._of[one.name], self._of[best.name])
            return replace(one, above_best=above_best, above_best_error=error)

        return [measured(one) for one in ranked]

    def _ahead(self, before: Floats, losses: Floats) -> tuple[float, float]:
        """Return by how much a mean loss is below another, row by row, and the standard error of that."""
        with np.errstate(invalid="ignore"):
            difference = before - losses
        difference[np.isnan(difference) | (self._weights == 0)] = 0.0  # both infinite, or a row that does not count
        mean = float(np.average(difference, weights=self._weights))
        if not np.isfinite(mean):
            return mean, float("nan")
        spread = float(np.average((difference - mean) ** 2, weights=self._weights))
        return mean, float(np.sqrt(spread / max(1, len(difference) - 1)))

    def _inferred(self) -> Schema:
        source = sources.read(self._table)
        options = {key: self._base[key] for key in ("events", "missing") if key in self._base}
        choices = Choices(self._base.get("estimate", "bayes"), calibrate=self._base.get("calibrate", "auto"))
        first = self._table.to_batches()[0]
        return infer(
            source.schema,
            self._label,
            weight=self._weight,
            where=source.name,
            first=lambda: first,
            numbers=choices.numbers,
            text=choices.text,
            **options,
        )

    def _events(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """Yield other event models for columns of the inferred one, where their values allow them."""
        declared = self._base.get("events") or {}
        declared = dict(declared) if isinstance(declared, Mapping) else {"*": declared}
        inferred = self._schema.events()
        numbers = {name: self._table.column(name) for name, event in inferred.items() if event in _NUMBERS}
        numbers = {name: column for name, column in numbers.items() if pa.types.is_primitive(column.type)}
        for name, event in registered().items():
            others = ((column, values) for column, values in numbers.items() if inferred[column] != name)
            suited = {column: name for column, values in others if _suits(event(), values)}
            if suited:
                yield "numbers", _NAMED.get(name, f"{name} numbers"), suited | declared
        texts = [name for name, event in inferred.items() if event.startswith("text")]
        for name, bag in _BAGS.items():
            if any(inferred[one] != bag for one in texts):
                yield "words", name, dict.fromkeys(texts, bag) | declared

    def _prior(self) -> Candidate:
        """Return the candidate that predicts the class shares of the training rows and reads no column."""
        classes, codes = len(self._first.classes), self._first.class_codes

        def shares(train: npt.NDArray[np.bool_], test: npt.NDArray[np.bool_]) -> Floats:
            counts = np.bincount(codes[train], self._weights[train], classes) + 1e-9
            return np.tile(counts / counts.sum(), (int(test.sum()), 1))

        return self._by_folds("the class prior alone", "prior", shares)

    def _partner(self, partner: str) -> Candidate:
        model = fit(
            self._table, self._label, weights=self._weight, **(self._base | {"calibrate": None, "structure": "naive"})
        )
        batch = self._table.combine_chunks().to_batches()[0]
        classes, weights = self._first.class_codes.astype(np.int32), self._first.weights

        def predict(train: npt.NDArray[np.bool_], test: npt.NDArray[np.bool_]) -> Floats:
            w = None if weights is None else weights[train]
            fitted = FittedPartner(partner, model.schema, batch.filter(pa.array(train)), classes[train], w)
            return fitted.probabilities(batch.filter(pa.array(test)), len(model.classes))

        return self._by_folds(PARTNERS[partner].title, "partner", predict)

    def _by_folds(self, name: str, kind: str, predict: Any) -> Candidate:
        """Return a candidate that is refitted for each fold; `predict` takes training and test masks."""
        first, began = self._first, time.perf_counter()
        folds = first.folds.reshape(first.repeats, -1)
        p = np.empty((*folds.shape, len(first.classes)))
        known = first.class_codes >= 0
        for repeat, fold in enumerate(folds):
            for k in range(int(fold.max()) + 1):
                p[repeat, fold == k] = predict((fold != k) & known, fold == k)
        rows = np.tile(np.flatnonzero(known), first.repeats)
        weights = None if first.weights is None else first.weights[rows]
        scores = evaluate(first.labels[rows], p[:, known].reshape(len(rows), -1), first.classes, weights=weights)
        return self._judged(name, kind, {}, scores, _mean_loss(p, first.class_codes), time.perf_counter() - began)


def _losses(validation: Validation) -> Floats:  # (n,)
    p = validation.probabilities.reshape(validation.repeats, -1, len(validation.classes))
    return _mean_loss(p, validation.class_codes)


def _mean_loss(p: Floats, codes: Any) -> Floats:  # (n,) of (R, n, C)
    """Return the loss of each row, averaged over the repeats; 0 for a row of no weight."""
    with np.errstate(divide="ignore"):
        losses = [-np.log(true_probabilities(np.maximum(codes, 0), one)) for one in p]
    return np.asarray(np.where(codes < 0, 0.0, np.mean(losses, axis=0)))


def _best(found: Iterable[Candidate], kind: str) -> Candidate | None:
    better = (one for one in found if one.kind == kind and one.surely_better)
    return min(better, key=lambda one: one.log_loss, default=None)


def _joined(best: Iterable[Candidate]) -> dict[str, Any]:
    """Return the options of several candidates together."""
    options: dict[str, Any] = {}
    for one in best:
        events = {"events": options.get("events", {}) | one.options["events"]} if "events" in one.options else {}
        options |= one.options | events
    return options


def _hashable(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((key, value) for key, value in options.items() if value is None or isinstance(value, str | float | int))


def _suits(event: Event, values: pa.ChunkedArray) -> bool:
    """Return whether an event model allows a column's values, which must be whole if it is discrete."""
    if event.input == "codes":
        return bool(pa.types.is_integer(values.type) and pc.count_distinct(values).as_py() <= _FEW)
    if event.input != "dense" or (event.discrete and not _whole(values)):  # a bag is made of many columns
        return False
    invalid = event.invalid(values.drop_null().to_numpy().astype(np.float64))
    return len(values) > values.null_count and (invalid is None or not invalid.any())


def _whole(values: pa.ChunkedArray) -> bool:
    whole = pa.types.is_integer(values.type)
    return bool(whole or pc.all(pc.equal(values.drop_null(), pc.floor(values.drop_null()))).as_py())
