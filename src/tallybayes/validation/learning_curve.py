"""Learning curves: accuracy and log-loss by training size, beside logistic regression."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.arguments import between_0_and_1, is_number, listed, one_of, shown, whole_number
from tallybayes.display.tables import Grid, Result, number, plain
from tallybayes.encoding import open_rows
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.evaluation.losses import log_loss, true_probabilities
from tallybayes.events.inputs import Floats
from tallybayes.fitting import FitOptions
from tallybayes.inference.posterior import ImpossibleRowWarning
from tallybayes.model import Model
from tallybayes.validation import split
from tallybayes.validation.fold_tasks import among
from tallybayes.validation.folds import Folds
from tallybayes.validation.partners import FittedPartner, check_partners
from tallybayes.validation.plan import check_seed
from tallybayes.validation.row_info import Roles
from tallybayes.validation.split import IntCodes
from tallybayes.validation.validate import Learned, learner

Figure = Literal["accuracy", "log_loss"]
_FIGURES: tuple[Figure, ...] = ("accuracy", "log_loss")
_TITLES = {"accuracy": "accuracy", "log_loss": "log-loss"}

NAIVE = "naive Bayes"
# Default sizes: from 4 rows a class on, each half as large again as the one before.
_GROWTH, _ROWS_A_CLASS = 1.5, 4


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """Accuracy and log-loss of models by the number of training rows.

    Attributes
    ----------
    sizes : ndarray of int, shape (S,)
        The numbers of training rows.
    models : tuple of str
        "naive Bayes", and the models it is compared with.
    accuracy, log_loss : ndarray, shape (M, S, shuffles)
        On the held-out rows, for each model, size and shuffle.
    held_out : int
        The number of rows held out.
    seed : int
        The seed of the shuffles.
    """

    sizes: npt.NDArray[np.int64]
    models: tuple[str, ...]
    accuracy: Floats
    log_loss: Floats
    held_out: int
    seed: int

    def mean(self, figure: Figure = "accuracy") -> Floats:  # (M, S)
        """Return the mean over the shuffles."""
        return np.asarray(self._of(figure).mean(axis=2))

    def band(self, figure: Figure = "accuracy") -> tuple[Floats, Floats]:  # (M, S) each
        """Return the mean minus and plus a standard deviation over the shuffles."""
        values = self._of(figure)
        with np.errstate(invalid="ignore"):
            middle = values.mean(axis=2)
            spread = values.std(axis=2, ddof=1) if values.shape[2] > 1 else np.zeros_like(middle)
        return middle - spread, middle + spread

    def _of(self, figure: str) -> Floats:
        one_of("figure", figure, _TITLES)
        return self.accuracy if figure == "accuracy" else self.log_loss

    def ahead(self, figure: Figure = "log_loss") -> dict[str, int | None]:
        """Return the largest size up to which naive Bayes is not behind each other model.

        It is None where naive Bayes is behind from the first size on.
        """
        means = self.mean(figure)
        out: dict[str, int | None] = {}
        for name, other in zip(self.models[1:], means[1:], strict=True):
            good = means[0] >= other if figure == "accuracy" else means[0] <= other
            until = len(good) if good.all() else int(np.argmin(good))
            out[name] = int(self.sizes[until - 1]) if until else None
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the sizes at which naive Bayes is ahead, and on infinite log-losses."""
        notes = []
        by_accuracy, by_loss = self.ahead("accuracy"), self.ahead("log_loss")
        for name in self.models[1:]:
            until = f"{self._until(by_accuracy[name])} by accuracy, {self._until(by_loss[name])} by log-loss"
            notes.append(f"Naive Bayes is level with {name}, or ahead, {until}.")
        if np.isinf(self.log_loss).any():
            notes.append("Log-loss is infinite where the true class was in no training row and had probability 0.")
        return tuple(notes)

    def _until(self, size: int | None) -> str:
        if size is None:
            return "at no size"
        return "at every size" if size == self.sizes[-1] else f"up to {size} rows"

    def _columns(self) -> dict[str, Any]:
        models, sizes, shuffles = self.accuracy.shape
        places = np.indices((models, sizes, shuffles)).reshape(3, -1)
        where = {"model": [self.models[m] for m in places[0]], "rows": self.sizes[places[1]], "shuffle": places[2]}
        return where | {"accuracy": self.accuracy.ravel(), "log_loss": self.log_loss.ravel()}

    def shown(self) -> Grid:
        """Return the figures of each model by size, with their deviation over shuffles."""
        columns = ["rows"] + [f"{title}, {name}" for title in _TITLES.values() for name in self.models]
        rows = []
        for s, size in enumerate(self.sizes):
            cells = [str(size)]
            for figure in _FIGURES:
                middle, (low, high) = self.mean(figure)[:, s], self.band(figure)
                spread = (high[:, s] - low[:, s]) / 2
                cells += [f"{number(m, 3)} ± {number(d, 3)}" for m, d in zip(middle, spread, strict=True)]
            rows.append(tuple(cells))
        shuffles = self.accuracy.shape[2]
        title = f"Learning curve: {self.held_out} rows held out, mean of {shuffles} shuffles, seed {self.seed}"
        return Grid(title, tuple(columns), tuple(rows), self.notes)

    def points(self) -> list[dict[str, Any]]:
        """Return one plain record for each model, figure and size, for charts."""
        out = []
        for figure in _FIGURES:
            title, middle, (low, high) = _TITLES[figure], self.mean(figure), self.band(figure)
            for m, name in enumerate(self.models):
                for s, size in enumerate(self.sizes):
                    ends = {"mean": middle[m, s], "low": low[m, s], "high": high[m, s]}
                    out.append(plain({"model": name, "figure": title, "rows": size} | ends))
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; None where they are infinite."""
        return super().to_dict() | {"points": self.points(), "notes": list(self.notes)}

    def chart(self) -> Any:
        """Return an Altair chart of the means and their bands; ``chart().save("curve.png")`` writes it."""
        from tallybayes.display.charts.learning import learning_chart

        return learning_chart(self.points(), self.models)


def learning_curve(
    source: Any,
    label: Any,
    *,
    sizes: Sequence[int] | None = None,
    shuffles: int = 10,
    holdout: float = 1 / 3,
    compare: Sequence[str] = ("ridge", "lasso"),
    seed: int = 0,
    threads: int | None = None,
    weights: Any = None,
    **options: Any,
) -> LearningCurve:
    """Measure accuracy and log-loss on held-out rows as the number of training rows grows.

    Parameters
    ----------
    source, label, weights, **options
        As in `fit`.
    sizes : sequence of int, optional
        The numbers of training rows; by default from a few of each class to all, each half as many again.
    shuffles : int
        How often rows are held out and the others shuffled; figures are averaged over the shuffles.
    holdout : float
        The fraction of the rows that is held out.
    compare : sequence of {"ridge", "lasso"}
        Logistic regressions to compare with, each refitted on the same rows for every size and shuffle; ``()`` for
        none.
    seed : int
        The same seed draws the same rows.
    threads : int, optional
        The number of threads that count and score.

    Notes
    -----
    Naive Bayes is not refitted for each size: the rows between one size and the next are counted and added. Rows are
    shuffled so that the first m have, as nearly as possible, the class shares of all.

    Examples
    --------
    >>> import tallybayes as tb
    >>> rows = {"x": [0.0, 1.0, 0.5, 0.2] * 6 + [5.0, 6.0, 5.5, 5.2] * 6, "y": ["no"] * 24 + ["yes"] * 24}
    >>> curve = tb.learning_curve(rows, "y", sizes=[8, 32], shuffles=3, compare=())
    >>> curve.accuracy.shape, curve.mean("accuracy").tolist()           # naive Bayes alone, two sizes
    ((1, 2, 3), [[1.0, 1.0]])
    """
    _check(shuffles, holdout, compare)
    seed, workers = check_seed(seed), engines.default_threads(threads)
    fit_options = FitOptions.of(options)
    learn = learner(fit_options)

    def work(types: open_rows.Types | None) -> LearningCurve:
        rows, name, weight = open_rows.labelled(
            source, label, weights, fit_options.reading, types, columns=fit_options.columns
        )
        kept = engines.Threads(sources.buffered(rows.here()))
        learned = learn(kept, Roles(name, weight, {}), workers, calibrated=False)
        whole = pa.Table.from_batches(list(kept)).unify_dictionaries().combine_chunks().to_batches()[0]
        return _curve(learned, whole, sizes, shuffles, holdout, tuple(compare), seed, workers)

    return open_rows.reading(work)


def _check(shuffles: Any, share: Any, compare: Any) -> None:
    whole_number("shuffles", shuffles, least=1)
    between_0_and_1("holdout", share, "a number above 0 and below 1")
    check_partners("compare", compare)


def _curve(
    learned: Learned,
    whole: pa.RecordBatch,
    sizes: Sequence[int] | None,
    shuffles: int,
    share: float,
    compare: tuple[str, ...],
    seed: int,
    threads: int,
) -> LearningCurve:
    names = (NAIVE, *compare)
    splits: list[_Shuffle] = []
    for shuffle in range(shuffles):
        rng = np.random.default_rng([seed, shuffle])
        strata = learned.info.strata
        held = split.holdout(strata, share, rng) == 0
        splits.append(_Shuffle(learned, whole, np.flatnonzero(held), _shuffle(strata, ~held, rng), threads))
    wanted_sizes = _sizes(sizes, len(splits[0].order), len(learned.model.classes))
    figures = np.full((2, len(names), len(wanted_sizes), shuffles), np.nan)
    for shuffle, one in enumerate(splits):
        for m, name in enumerate(names):
            each = one.naive(wanted_sizes) if name == NAIVE else one.partner(name, wanted_sizes)
            for s, probabilities in enumerate(each):
                figures[:, m, s, shuffle] = one.figures(probabilities)
    return LearningCurve(wanted_sizes, names, figures[0], figures[1], len(splits[0].held), seed)


def _shuffle(strata: IntCodes, mask: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the rows of the mask, shuffled so that every prefix has about the same class shares."""
    rows = rng.permutation(np.flatnonzero(mask))
    own = strata[rows]
    order = np.argsort(own, kind="stable")
    sizes = np.bincount(own)
    # The j-th of a class of m rows is placed at (j + u) / m of the way, u uniform in [0, 1).
    rank = np.empty(len(rows))
    rank[order] = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows[np.argsort((rank + rng.random(len(rows))) / sizes[own], kind="stable")]


def _sizes(given: Sequence[int] | None, most: int, classes: int) -> npt.NDArray[np.int64]:
    if given is None:
        default = [min(most, _ROWS_A_CLASS * classes)]
        while default[-1] < most:
            default.append(min(most, int(np.ceil(default[-1] * _GROWTH))))
        return np.array(default, np.int64)
    want = f"whole numbers from 1 to {most}, the rows not held out"
    items = listed("sizes", given, want)
    whole = all(is_number(one) and not isinstance(one, float | np.floating) for one in items)
    sizes = sorted({int(one) for one in items}) if whole else []
    if not sizes or sizes[0] < 1 or sizes[-1] > most:
        raise BadOption(wanted("sizes", want, shown(items)))
    return np.array(sizes, np.int64)


@dataclass(frozen=True)
class _Shuffle:
    """Rows held out, and the order in which the others are added to the training rows."""

    learned: Learned
    whole: pa.RecordBatch
    held: npt.NDArray[np.intp]
    order: npt.NDArray[np.intp]
    threads: int

    def naive(self, sizes: npt.NDArray[np.int64]) -> Iterator[Floats]:
        """Yield the probabilities of the held-out rows, by naive Bayes on each number of training rows."""
        total, info, columns = self.learned
        place = np.full(len(info), -1, np.int32)
        place[self.order] = np.searchsorted(sizes, np.arange(len(self.order)), side="right")
        place[place == len(sizes)] = -1  # beyond the largest size
        rows = engines.read(self.whole)
        folds = Folds(total, rows, info, columns, place[None], len(sizes) + 1, True, self.threads)
        held = self.batch(self.held)
        for wave, models in folds.models():
            for k, model in zip(wave, models.models, strict=True):
                if k > 0:
                    yield self._probabilities(model, held)

    def _probabilities(self, model: Model | None, held: pa.RecordBatch) -> Floats:  # (n, C)
        """Return the probabilities of all classes; 0 for a class not in the model."""
        assert model is not None, "no evidence"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleRowWarning)
            p = model.predict_proba(held, threads=self.threads)
        return among(self.learned.model.evidence.classes, model, p, fill=0.0)

    def partner(self, name: str, sizes: npt.NDArray[np.int64]) -> Iterator[Floats]:
        """Yield the same probabilities, by another model."""
        held, (total, info, _) = self.batch(self.held), self.learned
        for size in sizes:
            first = self.order[:size]
            first = first[info.classes[first] >= 0]
            weights = None if info.weights is None else info.weights[first]
            model = FittedPartner(name, total.schema, self.batch(first), info.classes[first], weights)
            yield model.probabilities(held, len(total.classes))

    def batch(self, index: npt.NDArray[np.intp]) -> pa.RecordBatch:
        """Return some of the rows."""
        return sources.take(self.whole, index)

    def figures(self, probabilities: Floats) -> tuple[float, float]:
        """Return accuracy and log-loss of the held-out rows."""
        info = self.learned.info
        true = info.classes[self.held].astype(np.intp)
        weights = None if info.weights is None else info.weights[self.held]
        some = (true >= 0) if weights is None else (true >= 0) & (weights > 0)
        if not some.any():
            raise BadData(wanted("learning curve", "held-out rows with a weight above 0", "none", "Raise holdout"))
        true, p, w = true[some], probabilities[some], None if weights is None else weights[some]
        return float(np.average(p.argmax(axis=1) == true, weights=w)), log_loss(true_probabilities(true, p), w).mean
