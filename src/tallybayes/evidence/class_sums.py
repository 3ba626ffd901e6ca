"""Exact sums by class, which add and subtract: the algebra that evidence and pair counts share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from tallybayes.categories import Categories
from tallybayes.errors import CannotMerge
from tallybayes.events.statistic import NEVER_THERE, Statistic
from tallybayes.exact.array import Exact

__all__ = ["ClassSums"]


class ClassSums(ABC):
    """The base of sums by class; a subclass is a frozen dataclass with these fields and its own.

    Attributes
    ----------
    classes : Categories
        The classes seen, sorted.
    rows : Exact, shape (C,)
        The weight of each class.
    statistics : tuple of Statistic
        The sums, with one row per class.
    """

    classes: Categories
    rows: Exact
    statistics: tuple[Statistic, ...]

    @abstractmethod
    def _replace(self, classes: Categories, rows: Exact, statistics: tuple[Statistic, ...]) -> Self:
        """Return the same kind of sums with other numbers."""

    @abstractmethod
    def _is_like(self, other: Self) -> bool:
        """Return whether both describe the same columns in the same way."""

    @abstractmethod
    def _conform(self, other: Self) -> Self:
        """Return `other` in the layout of `self`; raise CannotMerge if it describes other columns."""

    def _check(self) -> None:
        """Raise CannotMerge unless these can be the sums of some rows."""
        for statistic in self.statistics:
            statistic.check()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        same = self._is_like(other) and self.classes == other.classes
        return same and self.rows == other.rows and self.statistics == other.statistics

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Self) -> Self:
        other = self._conform(other)
        if not len(other.classes):
            return self
        if not len(self.classes):
            return other
        left, right = self._align(other)
        rows = left.rows + right.rows
        pairs = zip(left.statistics, right.statistics, strict=True)
        return self._replace(left.classes, rows, tuple(a.add(b, rows) for a, b in pairs))

    def __sub__(self, other: Self) -> Self:
        left, right = self._align(self._conform(other))
        rows = left.rows - right.rows
        if rows.negative().any():
            raise CannotMerge(NEVER_THERE)
        pairs = zip(left.statistics, right.statistics, strict=True)
        difference = self._replace(left.classes, rows, tuple(a.subtract(b, rows) for a, b in pairs))
        difference._check()
        return difference.without_empty_classes()

    def without_empty_classes(self) -> Self:
        """Return the sums of the classes that have rows."""
        some = self.rows.nonzero()
        if some.all():
            return self
        if any(s.of_classes(np.flatnonzero(~some), self.rows.take(~some)).has_weight for s in self.statistics):
            raise CannotMerge(NEVER_THERE)
        rows = self.rows.take(some)
        kept = tuple(s.of_classes(np.flatnonzero(some), rows) for s in self.statistics)
        return self._replace(self.classes.take(some), rows, kept)

    def _align(self, other: Self) -> tuple[Self, Self]:
        """Return both with the same classes."""
        if self.classes == other.classes:
            return self, other
        classes = self.classes | other.classes
        return self._with_classes(classes), other._with_classes(classes)

    def _with_classes(self, classes: Categories) -> Self:
        if classes == self.classes:
            return self
        index = classes.find(self.classes.array)
        rows = self.rows.spread(index, len(classes))
        return self._replace(classes, rows, tuple(s.with_classes(index, rows) for s in self.statistics))
