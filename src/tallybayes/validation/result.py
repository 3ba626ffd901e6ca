"""The result of `validate`: every row's scores by a model that has not seen it, and figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.display.tables import Grid, Result, number
from tallybayes.evaluation import Evaluation, evaluate
from tallybayes.evaluation.figures import FIGURES
from tallybayes.events.inputs import Floats
from tallybayes.inference.posterior import normalise
from tallybayes.validation.split import IntCodes

if TYPE_CHECKING:
    from tallybayes.model import Model


class Spread(NamedTuple):
    """A figure over all rows, its mean over the folds, and its spread."""

    overall: float  # over all scored rows of all repeats
    mean: float  # the mean over the folds; NaN for leave-one-out
    # over_folds, over_repeats: the standard deviation over folds and over repeats; NaN for fewer than two
    over_folds: float
    over_repeats: float


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Result):
    """The rows of a data set, each scored by a model without it.

    Attributes
    ----------
    how : str
        How rows were held out.
    seed : int
        The seed of the folds.
    categories : Categories
        The classes.
    class_codes : ndarray of int32, shape (n,)
        The class of each row, as its position in `classes`; −1 for a class whose rows weigh nothing.
    scores : ndarray, shape (n, C), or (R, n, C) of R repeats
        The log joint of each row and class; NaN where a row was not held out, −∞ for a class not in the training rows.
    folds : ndarray of int32, shape (n,) or (R, n)
        The fold in which each row was held out, −1 if in none. In leave-one-out, the row's own number.
    unknown : ndarray of bool, shape (n,) or (R, n)
        The rows whose true class was in none of their training rows.
    weights : ndarray, shape (n,), or None
        The weight of each row.
    notes : tuple of str
        Remarks beside the figures.
    fold_names : tuple or None
        The names of folds or groups given by the user.
    calibrated : ndarray, shape (n, C) or (R, n, C), or None
        The scores after calibration, where models are calibrated.
    positive : object
        The class that AUC, average precision and F1 are of, if there are two; by default the second.
    model : Model or None
        The model of all rows; for folds, before its calibration.
    """

    how: str
    seed: int
    categories: Categories
    class_codes: IntCodes
    scores: Floats
    folds: IntCodes
    unknown: npt.NDArray[np.bool_]
    weights: Floats | None
    notes: tuple[str, ...]
    fold_names: tuple[Any, ...] | None = None
    calibrated: Floats | None = None
    impossible_priors: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    positive: Any = None
    model: Model | None = field(default=None, repr=False)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of the columns of scores and probabilities."""
        return self.categories.values

    @property
    def repeats(self) -> int:
        """The number of times that the rows were split into folds."""
        return len(self.scores) if self.scores.ndim == 3 else 1

    @cached_property
    def labels(self) -> npt.NDArray[Any]:  # (n,)
        """The true class of each row; None for a class whose rows weigh nothing."""
        names = self.categories.to_numpy()
        if (self.class_codes < 0).any():
            names = np.concatenate([names.astype(object), [None]])
        return names[self.class_codes]

    @cached_property
    def scored(self) -> npt.NDArray[np.bool_]:  # (n,) or (R, n)
        """Which rows were held out and scored."""
        return ~np.isnan(self.scores[..., 0])

    @cached_property
    def probabilities(self) -> Floats:  # (n, C) or (R, n, C)
        """The probability of each class; NaN where a row was not scored.

        A row that is impossible under every class has the class prior of the model that scored it.
        """
        out = (self.scores if self.calibrated is None else self.calibrated).copy()
        some = self.scored & ~self._impossible
        part = out if some.all() else out[some]
        flat = part.reshape(-1, len(self.classes))
        normalise(flat, np.zeros(len(self.classes)))
        if part is not out:
            out[some] = flat
            out[self._impossible] = self.impossible_priors
        return out

    @cached_property
    def _impossible(self) -> npt.NDArray[np.bool_]:
        return impossible_rows(self.scores)

    @property
    def _counts(self) -> npt.NDArray[np.bool_]:
        """The rows that enter the figures: scored, and of a class with weight."""
        return self.scored & (self.class_codes >= 0)

    @property
    def scored_rows(self) -> int:
        """The number of rows that enter the figures."""
        return int(self._counts.reshape(self.repeats, -1).any(axis=0).sum())

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation of the probabilities of all rows, all repeats together."""
        return self._evaluate(self._counts)

    @cached_property
    def by_fold(self) -> tuple[Evaluation, ...]:
        """The evaluation of each fold, repeat after repeat; empty for leave-one-out."""
        folds = self.folds.reshape(self.repeats, -1)
        if self.how == "loo" and self.fold_names is None:
            return ()
        counts = self._counts.reshape(folds.shape)
        masks = ((r, counts[r] & (folds[r] == k)) for r in range(self.repeats) for k in range(int(folds[r].max()) + 1))
        return tuple(self._evaluate(self._of_repeat(r, mask)) for r, mask in masks if mask.any())

    @cached_property
    def by_repeat(self) -> tuple[Evaluation, ...]:
        """The evaluation of each repeat."""
        if self.repeats == 1:
            return (self.evaluation,)
        return tuple(self._evaluate(self._of_repeat(r, self._counts[r])) for r in range(self.repeats))

    def _of_repeat(self, r: int, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        if self.folds.ndim == 1:
            return mask
        whole = np.zeros(self.folds.shape, bool)
        whole[r] = mask
        return whole

    def _evaluate(self, mask: npt.NDArray[np.bool_]) -> Evaluation:
        rows = np.nonzero(mask)[-1]
        weights = None if self.weights is None else self.weights[rows]
        return evaluate(
            self.labels[rows], self.probabilities[mask], self.classes, weights=weights, positive=self.positive
        )

    @cached_property
    def figures(self) -> dict[str, Spread]:
        """Accuracy, log-loss and the others: over all rows, and their spread."""
        out = {}
        for name, figure in FIGURES.items():
            folds = np.array([figure.of(one) for one in self.by_fold])
            repeats = np.array([figure.of(one) for one in self.by_repeat])
            overall = float(figure.of(self.evaluation))
            out[name] = Spread(overall, _mean(folds), _deviation(folds), _deviation(repeats))
        return out

    def _columns(self) -> dict[str, Any]:
        repeats, n = self.repeats, len(self.class_codes)
        p = self.probabilities.reshape(repeats * n, -1)
        rows: dict[str, Any] = {"repeat": np.repeat(np.arange(repeats), n), "row": np.tile(np.arange(n), repeats)}
        rows |= {"fold": self.folds.ravel(), "true": np.tile(self.labels, repeats)}
        scored = self.scored.ravel()
        best = np.full(len(p), None, object)
        best[scored] = self.categories.to_numpy()[p[scored].argmax(axis=1)]
        rows["predicted"] = best
        return rows | {f"P({name})": p[:, c] for c, name in enumerate(self.classes)}

    def shown(self) -> Grid:
        """Return the figures, their mean over folds and their spread, and the notes."""
        columns = ["", "overall", "mean of folds", "sd of folds", "sd of repeats"]
        keep = [0, 1] + [2, 3] * bool(self.by_fold) + [4] * (self.repeats > 1)
        positive = self.evaluation.positive
        of = {} if positive is None else dict.fromkeys(("auc", "average_precision", "f1"), f" of {positive}")
        rows = [
            (f"{figure.title}{of.get(name, '')}", *map(number, self.figures[name]))
            for name, figure in FIGURES.items()
            if name != "f1" or positive is not None
        ]
        cut = tuple(tuple(row[k] for k in keep) for row in rows)
        title = f"Validation by {self.how}: {len(self.class_codes)} rows, {len(self.classes)} classes, seed {self.seed}"
        return Grid(title, tuple(columns[k] for k in keep), cut, self.notes)

    def chart(self) -> Any:
        """Return an Altair chart of how far the probabilities can be trusted."""
        return self.evaluation.chart()

    def summary(self) -> dict[str, Any]:
        """Return the figures, their spread and the whole evaluation, without single rows."""
        figures = self._named("how", "seed", "classes", rows=len(self.class_codes), repeats=self.repeats)
        return figures | self._named("figures", "evaluation", "notes")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the summary, and label, fold, probabilities and scores of every row."""
        return self.summary() | self._named("labels", "folds", "fold_names", "probabilities", "scores", "weights")


def impossible_rows(scores: Floats) -> npt.NDArray[np.bool_]:  # (n,) of (n, C)
    """Return the mask of rows that are −∞ under every class."""
    low = np.isneginf(scores)  # `any` over the whole array is much faster than `all` row by row
    return np.asarray(low.all(axis=-1)) if low.any() else np.zeros(scores.shape[:-1], bool)


def _mean(values: Floats) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _deviation(values: Floats) -> float:
    values = values[~np.isnan(values)]
    return float(np.std(values, ddof=1)) if len(values) > 1 and np.isfinite(values).all() else float("nan")
