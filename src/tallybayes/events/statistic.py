"""The sufficient statistic of a block of columns: named arrays of plain sums.

Because all are sums, this file adds, subtracts and aligns them, and has their zero, for every event model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.errors import CannotMerge
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact

__all__ = ["Index", "Labels", "Statistic", "Sum"]

Index: TypeAlias = npt.NDArray[np.intp]
# Of columns whose values are counted. A tuple has one kind; `Any` spares every event a check for the other.
Labels: TypeAlias = tuple[Any, ...]
T = TypeVar("T")

_KEPT = 1 << 16  # numbers of a derived array that is kept: half a megabyte


@dataclass(frozen=True)
class Sum:
    """A sum that an event model keeps: a number per class and column, or per class and value.

    Attributes
    ----------
    axis : {"column", "value"}
        What the second axis lists.
    signed : bool
        Whether the sum of some rows may be below zero.
    sparse : bool
        Whether most numbers are zero, so that only the others are stored.
    """

    axis: Literal["column", "value"]
    signed: bool = False
    sparse: bool = False


@dataclass(frozen=True, eq=False)
class Statistic:
    """The sums of one block of columns.

    Attributes
    ----------
    rows : Exact, shape (C,)
        The weight of all rows of each class.
    sums : mapping of str to Exact, shape (C, F) or (C, V)
        One per name in `declared`. V is the number of values of all columns, one column after the other.
    declared : mapping of str to Sum
        The event model's declaration of each sum: its second axis, and its sign.
    labels : tuple of Categories or Buckets, length F
        The values seen in each column; empty unless a sum has the axis "value".
    """

    rows: Exact
    sums: Mapping[str, Exact]
    declared: Mapping[str, Sum]
    labels: Labels = ()

    @classmethod
    def of_counted(
        cls, declared: Mapping[str, Sum], rows: Exact, counted: Mapping[str, Exact], labels: Labels
    ) -> Statistic:
        """Return what an event has counted, given the weight of the rows of each class."""
        sums = dict(counted)
        if "present" in sums:  # missing weight is stored instead, since it is mostly zero
            sums["missing"] = _missing(rows, sums.pop("present"), declared)
        return cls(rows, {k: sums[k] for k in declared}, declared, labels).without_unused_values()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statistic):
            return NotImplemented
        return self.rows == other.rows and self.sums == other.sums and self.labels == other.labels

    __hash__ = None  # type: ignore[assignment]

    def add(self, other: Statistic, rows: Exact) -> Statistic:
        """Return the sums of both; classes must be aligned, values are aligned here."""
        if self.labels == other.labels:
            return self._replace(rows, {k: self.sums[k] + other.sums[k] for k in self.sums}, self.labels)
        if not other.sizes.any():  # aligning no values takes as long as aligning some
            axes = {k: sum_.axis for k, sum_ in self.declared.items()}
            sums = {k: v if axes[k] == "value" else v + other.sums[k] for k, v in self.sums.items()}
            return self._replace(rows, sums, self.labels)
        labels, mine, theirs = self.labels[0].join_all(self.labels, other.labels)
        size, sums, like = sum(map(len, labels)), {}, None
        rising = any(one.sparse for one in self.declared.values()) and _rise(mine) and _rise(theirs)
        for k, sum_ in self.declared.items():
            one, two = self.sums[k], other.sums[k]
            if sum_.axis == "column":
                sums[k] = one + two
            elif not sum_.sparse and _is_plain(one) and _is_plain(two):
                sums[k] = _add_at(one, mine, two, theirs, size)
            elif rising and isinstance(one, SparseExact) and isinstance(two, SparseExact):
                sums[k], like = one.add_moved(mine, two, theirs, size, like)
            else:
                sums[k] = _moved(one, mine, size) + _moved(two, theirs, size)
        return self._replace(rows, sums, labels)

    def subtract(self, other: Statistic, rows: Exact) -> Statistic:
        """Return the sums less those of `other`, without the values that no row has any more."""
        left, right = self.align(other)
        sums = {k: left.sums[k] - right.sums[k] for k in left.sums}
        return self._replace(rows, sums, left.labels).without_unused_values()

    def with_classes(self, index: Index, rows: Exact) -> Statistic:
        """Return the sums among more classes: class c becomes class ``index[c]``."""
        size = rows.shape[0]
        return self._replace(rows, {k: v.spread(index, size) for k, v in self.sums.items()}, self.labels)

    def of_classes(self, index: Index, rows: Exact) -> Statistic:
        """Return the sums of some of the classes only."""
        kept = self._replace(rows, {k: v.take(index) for k, v in self.sums.items()}, self.labels)
        return kept.without_unused_values()

    def of_columns(self, index: Index) -> Statistic:
        """Return the sums of some of the columns, in the given order."""
        values = np.concatenate([self.values_of(f) for f in index]) if self.labels and len(index) else index
        axis = {"column": np.asarray(index, np.intp), "value": np.asarray(values, np.intp)}
        sums = {k: v.take(axis[self.declared[k].axis], axis=1) for k, v in self.sums.items()}
        return self._replace(self.rows, sums, tuple(self.labels[f] for f in index) if self.labels else ())

    def values_of(self, f: int) -> Index:
        """Return the positions of a column's values on the axis "value"."""
        start = self._starts[f]
        return np.arange(start, start + self.sizes[f])

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:  # (F,)
        """The position of each column's first value."""
        return self.sizes.cumsum() - self.sizes

    def derive(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` computes from the sums, computed on first use and kept under a name."""
        if name not in self._derived:
            self._derived[name] = make()
        found: T = self._derived[name]
        return found

    @cached_property
    def _derived(self) -> dict[str, Any]:
        return {}

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:  # (F,)
        """The number of values of each column."""
        return np.array([len(labels) for labels in self.labels], np.int64)

    def present(self) -> Exact:  # (C, F)
        """Return the weight of the entries that are not missing; a small array is kept."""
        missing = self.sums["missing"]

        def make() -> Exact:
            return self.rows.repeat(missing.shape[1]) - missing

        return self.derive("present", make) if math.prod(missing.shape) <= _KEPT else make()

    def without_unused_values(self) -> Statistic:
        """Return the sums without the values that no row has."""
        if not self.labels:
            return self
        used = np.zeros(int(self.sizes.sum()), bool)
        for name, sum_ in self.declared.items():
            if sum_.axis == "value":
                used |= self.sums[name].used()
        return self.of_values(used)

    def of_values(self, kept: npt.NDArray[np.bool_]) -> Statistic:
        """Return the sums of some of the values, given a mask of all columns' values."""
        if kept.all():
            return self
        parts = np.split(kept, np.cumsum(self.sizes)[:-1])
        labels = tuple(old.take(part) for old, part in zip(self.labels, parts, strict=True))
        sums = {k: v.take(kept, axis=1) if self.declared[k].axis == "value" else v for k, v in self.sums.items()}
        return self._replace(self.rows, sums, labels)

    @property
    def has_weight(self) -> bool:
        """Whether anything at all has been counted."""
        return any(not value.is_zero for value in self.sums.values())

    def check(self) -> None:
        """Raise unless some rows could have these sums: only those declared signed may be below zero."""
        for name, value in self.sums.items():
            if not self.declared[name].signed and value.has_negative():
                raise CannotMerge(NEVER_THERE)
        if "missing" not in self.sums:
            return
        present = self.present()
        nothing = ~present.nonzero()
        others = [k for k, sum_ in self.declared.items() if sum_.axis == "column" and k != "missing"]
        left_over = any(self.sums[k].nonzero()[nothing].any() for k in others)
        if left_over or present.negative().any():
            raise CannotMerge(NEVER_THERE)

    def align(self, other: Statistic) -> tuple[Statistic, Statistic]:
        """Return both sums among the values of both."""
        if self.labels == other.labels:
            return self, other
        labels, left, right = self.labels[0].join_all(self.labels, other.labels)
        size = sum(map(len, labels))
        return self._with_labels(labels, left, size), other._with_labels(labels, right, size)

    def _with_labels(self, labels: Labels, index: Index, size: int) -> Statistic:
        """Return the sums among other values: value v becomes value ``index[v]`` of `size`, where they add up."""
        axes = {k: sum_.axis for k, sum_ in self.declared.items()}
        sums = {k: _moved(v, index, size) if axes[k] == "value" else v for k, v in self.sums.items()}
        return self._replace(self.rows, sums, labels)

    def _replace(self, rows: Exact, sums: Mapping[str, Exact], labels: Labels) -> Statistic:
        return Statistic(rows, sums, self.declared, labels)


def _missing(rows: Exact, present: Exact, declared: Mapping[str, Sum]) -> Exact:  # (C, F)
    """Return the weight of the rows of each class less that of the values that are present."""
    whole, some = rows.to_limbs(), present.to_limbs()
    alike = whole.base == some.base and whole.limbs.shape[-1] == some.limbs.shape[-1]
    if alike and (whole.limbs[:, None] == some.limbs).all():  # as a rule: none is missing
        return Exact.zeros(present.shape)
    return Statistic(rows, {"missing": present}, declared).present().settle()


def _moved(value: Exact, index: Index, size: int) -> Exact:
    """Return a sum whose column v becomes column ``index[v]`` of `size`; neighbours of one place add up."""
    apart = index[1:] != index[:-1]
    if apart.all():
        return value if len(index) == size else value.spread(index, size, axis=1)
    first = np.concatenate([[0], np.flatnonzero(apart) + 1])
    return value.group(first, axis=1).spread(index[first], size, axis=1)


def _rise(places: Index) -> bool:
    """Return whether places rise."""
    return bool((places[1:] > places[:-1]).all())


def _is_plain(value: Exact) -> bool:
    """Return whether numbers are counts of less than 2^31, which add up without a carry."""
    return value.is_whole and not value.is_zero


def _add_at(one: Exact, mine: Index, other: Exact, theirs: Index, size: int) -> Exact:  # (C, size)
    """Return the plain sums of both, moved; in one step, since new memory for each side takes longer than adding."""
    total = np.zeros((one.shape[0], size), np.int64)
    for value, places in ((one, mine), (other, theirs)):
        kernels.add_columns(value.limbs[..., 0], places, total)
    return Exact.from_counts(total)


NEVER_THERE = (
    "cannot subtract: wanted rows that were counted before, got rows that were not (a count would fall below zero). "
    "Forget only rows that were learned, with the same weights."
)
