"""The confusion matrix, and the figures derived from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tallybayes.cached_property import cached_property
from tallybayes.display.tables import Grid, Result, number
from tallybayes.errors import BadData, BadOption, CannotMerge, wanted
from tallybayes.evaluation.inputs import Places, class_names, places, position, row_weights
from tallybayes.evaluation.rates import Rates, divided
from tallybayes.events.inputs import Floats

_WIDEST = 12  # classes; a wider matrix is unreadable, so its most frequent mistakes are shown instead


class Averages(NamedTuple):
    """Figures averaged over the classes where they are defined."""

    sensitivity: float
    specificity: float
    precision: float
    f1: float

    @property
    def recall(self) -> float:
        """Another name for sensitivity."""
        return self.sensitivity


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Result):
    """The number of rows for each pair of true class and decided class.

    Attributes
    ----------
    classes : tuple
        The names of the classes.
    matrix : ndarray, shape (C, C)
        The number (weight) of rows, true × decided.

    Examples
    --------
    >>> seen = Confusion.from_counts(tp=60, fn=30, fp=80, tn=20)
    >>> round(seen["positive"].sensitivity, 4), seen["positive"].specificity
    (0.6667, 0.2)
    >>> print(seen)
    true ↓ decided →   negative   positive
    ──────────────────────────────────────
    negative                 20         80
    positive                 30         60
    """

    classes: tuple[Any, ...]
    matrix: Floats  # (C, C)

    @classmethod
    def from_counts(
        cls, *, tp: float, fp: float, tn: float, fn: float, classes: Iterable[Any] = ("negative", "positive")
    ) -> Confusion:
        """Build the matrix of two classes, negative and positive, from its four counts."""
        names = class_names(classes)
        if len(names) != 2:
            raise BadOption(wanted("classes", "two, negative and positive", f"{len(names)}"))
        matrix = np.array([[tn, fp], [fn, tp]], np.float64)
        if not (np.isfinite(matrix).all() and (matrix >= 0).all() and matrix.any()):
            got = f"tp={tp}, fp={fp}, tn={tn}, fn={fn}"
            raise BadData(wanted("counts", "numbers not below 0, not all of them 0", got))
        return cls(names, matrix)

    def __getitem__(self, name: Any) -> Rates:
        """Return the four counts of one class against all others, and their rates."""
        c = position(name, self.classes, "class")
        rates = self.rates
        return Rates(*(float(part[c]) for part in (rates.tp, rates.fp, rates.tn, rates.fn)))

    @cached_property
    def rates(self) -> Rates:
        """The counts and rates of all classes at once, as arrays of shape (C,)."""
        tp = np.diagonal(self.matrix).copy()
        fp, fn = self.matrix.sum(axis=0) - tp, self.matrix.sum(axis=1) - tp
        return Rates(tp, fp, self.total - tp - fp - fn, fn)

    @property
    def total(self) -> float:
        """The number (weight) of rows."""
        return float(self.matrix.sum())

    @property
    def support(self) -> Floats:  # (C,)
        """The number (weight) of rows of each class."""
        return np.asarray(self.matrix.sum(axis=1))

    @property
    def shares(self) -> Floats:  # (C, C)
        """The matrix with each row divided by its sum; NaN for a class without rows."""
        return np.asarray(divided(self.matrix, self.support[:, None]))

    @property
    def accuracy(self) -> float:
        """The share of rows decided correctly."""
        return float(np.trace(self.matrix) / self.total)

    @property
    def macro(self) -> Averages:
        """Averages with equal weight for each class; undefined figures (NaN) are left out."""
        return self._averaged(np.ones(len(self.classes)))

    @property
    def weighted(self) -> Averages:
        """Averages with each class weighted by its number of rows."""
        return self._averaged(self.support)

    @property
    def mcc(self) -> float:
        """Matthews' correlation of truth and decision.

        1 is perfect; 0 is no better than guessing, and is also returned where only one class is true or decided.

        Examples
        --------
        >>> Confusion.from_counts(tp=2, fp=1, tn=2, fn=1).mcc.__round__(4)        # (2·2 − 1·1) / √(3·3·3·3)
        0.3333
        """
        shares = self.matrix / self.total
        true, decided = shares.sum(axis=1), shares.sum(axis=0)
        together = np.trace(shares) - true @ decided
        spread = (1 - true @ true) * (1 - decided @ decided)
        # With a single class, rounding leaves a spread of a few last digits instead of 0: count the classes instead.
        one_class = min(np.count_nonzero(true), np.count_nonzero(decided)) < 2
        return 0.0 if one_class else float(together / np.sqrt(spread))

    @property
    def kappa(self) -> float:
        """Cohen's κ: agreement beyond chance, as a share of the most possible.

        NaN where chance alone gives full agreement.

        Examples
        --------
        >>> Confusion.from_counts(tp=20, fp=5, tn=15, fn=10).kappa.__round__(4)      # (0.7 − 0.5) / (1 − 0.5)
        0.4
        """
        shares = self.matrix / self.total
        true, decided = shares.sum(axis=1), shares.sum(axis=0)
        if np.count_nonzero(true + decided) < 2:
            return float("nan")
        chance = float(true @ decided)
        return (self.accuracy - chance) / (1 - chance)

    def flipped(self) -> Confusion:
        """Return the matrix with every decision reversed; two classes only.

        Examples
        --------
        >>> seen = Confusion.from_counts(tp=60, fn=30, fp=80, tn=20)      # false alarms 0.8, hits only 0.67
        >>> seen.flipped()["positive"].fpr, round(seen.flipped()["positive"].sensitivity, 4)
        (0.2, 0.3333)
        """
        if len(self.classes) != 2:
            raise BadOption(wanted("flipped", "two classes", f"{len(self.classes)}"))
        return Confusion(self.classes, self.matrix[:, ::-1].copy())

    def __add__(self, other: Confusion) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        if self.classes != other.classes:
            raise CannotMerge(wanted("cannot add", f"the classes {self.classes}", f"{other.classes}"))
        return Confusion(self.classes, self.matrix + other.matrix)

    def mistakes(self, most: int = 10) -> tuple[tuple[Any, Any, float], ...]:
        """Return the most frequent mistakes: true class, decided class, number of rows."""
        wrong = self.matrix.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        pairs = ((divmod(int(k), len(self.classes)), float(wrong.flat[k])) for k in order)
        return tuple((self.classes[i], self.classes[j], n) for (i, j), n in pairs if n > 0)

    def _columns(self) -> dict[str, Any]:
        decided = {f"n({name})": self.matrix[:, k] for k, name in enumerate(self.classes)}
        return {"true": list(map(str, self.classes)), **decided}

    def shown(self) -> Grid:
        """Return the matrix as a table, or only its most frequent mistakes if too wide."""
        names = [str(name) for name in self.classes]
        if len(names) <= _WIDEST:
            cells = zip(names, self.matrix.tolist(), strict=True)
            return Grid("", ("true ↓ decided →", *names), tuple((n, *map(number, row)) for n, row in cells))
        rows = tuple((str(true), str(decided), number(n)) for true, decided, n in self.mistakes())
        return Grid("Most frequent mistakes", ("true", "decided", "rows"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the matrix (true × decided), and figures per class and averaged."""
        per_class = [{"class": name, **self[name].to_dict()} for name in self.classes]
        return self._named("classes", "matrix", "accuracy", "mcc", "kappa", "macro", "weighted", per_class=per_class)

    def _averaged(self, weights: Floats) -> Averages:
        return Averages(*(_average(getattr(self.rates, name), weights) for name in Averages._fields))


def confusion(labels: Any, predicted: Any, classes: Iterable[Any], *, weights: Any = None) -> Confusion:
    """Return the confusion matrix of labels and predictions.

    Parameters
    ----------
    labels, predicted : array_like, shape (n,)
        The true class and the predicted class of each row.
    classes : sequence
        The classes, in the order of the matrix.
    weights : array_like, shape (n,), optional
        The weight of each row; 2 is the row twice.

    Examples
    --------
    >>> seen = confusion(["a", "a", "b"], ["a", "b", "b"], ["a", "b"])
    >>> seen.matrix
    array([[1., 1.],
           [0., 1.]])
    >>> seen["b"].precision, seen["b"].recall
    (0.5, 1.0)
    """
    names = class_names(classes)
    true, decided = places(labels, names), places(predicted, names, "predicted")
    if len(true) != len(decided):
        raise BadData(wanted("predicted", f"{len(true)} rows, as many as labels", f"{len(decided)}"))
    return counted(true, decided, names, row_weights(weights, len(true)))


def counted(true: Places, decided: Places, classes: tuple[Any, ...], weights: Floats | None) -> Confusion:
    """Return the confusion matrix of class positions."""
    size = len(classes)
    flat = np.bincount(true * size + decided, weights=weights, minlength=size * size)
    return Confusion(classes, flat.reshape(size, size).astype(np.float64))


def _average(figures: Floats, weights: Floats) -> float:
    defined = ~np.isnan(figures)
    return float(divided(figures[defined] @ weights[defined], weights[defined].sum()))
