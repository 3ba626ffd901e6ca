"""The contract of an event model.

An event model says what its columns hold, which sums to count (`count`), which likelihood follows from the sums
(`estimate`), and how probable rows would be had they never been counted (`without_rows`). Everything else, from adding
evidence to the model file, is written once elsewhere.

Notation in this folder: n rows, C classes, F columns, V values; α is the weight of the prior in rows or counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Generic, Literal, Never, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tallybayes.buckets import Buckets
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.errors import BadOption, CannotMerge, wanted
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Codes, Data, Dense, Floats, Numbers, Sparse
from tallybayes.events.likelihood import EstimateOptions, Likelihood
from tallybayes.events.options import Option, is_finite, is_number, is_plain, plain_option, shown
from tallybayes.events.statistic import NEVER_THERE, Labels, Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = [
    "AddScores",
    "AddSlice",
    "ClassCodes",
    "Counted",
    "Event",
    "InputKind",
    "LeftOut",
    "OverSlices",
    "RowCounter",
    "Weights",
    "as_event",
]

InputKind: TypeAlias = Literal["dense", "codes", "bag", "text"]
ClassCodes: TypeAlias = npt.NDArray[np.int32]
Weights: TypeAlias = Floats | None
AddScores: TypeAlias = Callable[[EstimateOptions, Floats], None]
AddSlice: TypeAlias = Callable[[slice, Floats], None]
OverSlices: TypeAlias = Callable[[int, Callable[[slice], None], int], object]
Counted: TypeAlias = tuple[Mapping[str, Exact], Labels]


@dataclass(frozen=True)
class PairTerms:
    """Terms of rows left out that depend on code and class alone, so that equal rows share them.

    Attributes
    ----------
    columns, sizes, low, last
        The codes of the rows: see `kernels.pair_codes`.
    by_pair : ndarray, shape (C, Σ sizes · C)
        The terms of each pair of a code and the class of a row left out.
    cell_of : ndarray, shape (Σ sizes,), or None
        The cell of the likelihood that each code stands for; None where codes are cells.
    """

    columns: npt.NDArray[np.integer] | tuple[npt.NDArray[np.integer], ...]
    sizes: npt.NDArray[np.int64]
    by_pair: Floats
    low: int = 0
    last: bool = False
    cell_of: npt.NDArray[np.intp] | None = None


@dataclass(frozen=True)
class LeftOut:
    """Counted rows, ready to be scored as if each had never been counted.

    One preparation serves every rule and smoothing that is tried.

    Attributes
    ----------
    add : callable
        Takes options and ``out`` (n, C). Adds to ``out[i, c]`` the log-probability of row i under class c, estimated
        from all rows but row i.
    measure : callable
        Returns the sizes.
    columns : callable, optional
        Takes options; yields what `add` adds for one column after the other, where that is quicker than to add each
        alone: some of them at a time, (k, n, C).
    pairs : callable, optional
        Takes options; returns the same for all columns, or None where that would take too much memory.
    under : callable, optional
        Takes options, and a function that runs work over slices of some size, such as on threads; returns a function
        that does as `add` for a slice of the rows, where slices can share the costly part: it takes the slice and its
        part of ``out``, and threads may call it.
    """

    add: AddScores
    measure: Callable[[], Floats]
    columns: Callable[[EstimateOptions], Iterator[Floats]] | None = None
    pairs: Callable[[EstimateOptions], PairTerms | None] | None = None
    under: Callable[[EstimateOptions, OverSlices], AddSlice] | None = None

    @cached_property
    def sizes(self) -> Floats:  # (n,)
        """The length of each row, measured on first use: see `Event.length`."""
        return self.measure()


class RowCounter(ABC, Generic[Data]):
    """Counts rows without weights, batch after batch, as if they were one batch."""

    @abstractmethod
    def add(self, data: Data, classes: ClassCodes, hashes: CellHashes | None) -> None:
        """Count some rows, and add cells' hashes if asked to."""

    @abstractmethod
    def finish(self) -> Counted:
        """Return the sums of all rows by name, and the values of each column; once."""


class Event(ABC, Generic[Data]):
    """The base of all event models; a subclass with a `name` is registered."""

    name: ClassVar[str] = ""
    input: ClassVar[InputKind] = "dense"
    domain: ClassVar[str] = "finite numbers"
    discrete: ClassVar[bool] = False
    product: ClassVar[bool] = False  # whether a column is made of others; no user declares such an event
    sums: ClassVar[Mapping[str, Sum]] = {}
    labels: ClassVar[type[Categories] | type[Buckets]] = Categories
    registry: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.name and not cls.product:
            Event.registry[cls.name] = cast("type[Event]", cls)

    def __post_init__(self) -> None:
        """Make options plain; refuse what no file could spell, unless it spells the option `by_name`."""
        for f in fields(self):  # type: ignore[arg-type]
            value = plain_option(getattr(self, f.name))
            if is_number(value) and not is_finite(value):
                raise BadOption(wanted(f"{self.name} {f.name}", "a finite number", shown(value)))
            if not (is_plain(value) or ("by_name" in f.metadata and callable(value))):
                raise BadOption(wanted(f"{self.name} {f.name}", "text or numbers", shown(value)))
            object.__setattr__(self, f.name, value)

    @abstractmethod
    def count(self, data: Data, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Return the sums of the rows by name, and the values of each column."""

    def count_and_hash(
        self, data: Data, classes: ClassCodes, n_classes: int, weights: Weights, hashes: CellHashes
    ) -> Counted | None:
        """Return what `count` does, and add cells' hashes; None if that saves nothing."""
        return None

    def counter(self, width: int, n_classes: int) -> RowCounter[Data] | None:
        """Return a counter of batches, or None if merging what `count` returns is as quick."""
        return None

    @abstractmethod
    def estimate(self, statistic: Statistic, options: EstimateOptions) -> Likelihood[Data]:
        """Return the likelihood that follows from the sums."""

    def estimate_each(
        self, statistic: Statistic, options: EstimateOptions, groups: int
    ) -> list[Likelihood[Data]] | None:
        """Return the likelihoods of several groups, or None if no quicker than singly.

        With C classes per group, class c of group k is at index k·C + c; no class is empty.
        """
        return None

    @abstractmethod
    def without_rows(self, statistic: Statistic, data: Data, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return counted rows, ready to be scored as if each had never been counted."""

    def without_rows_of_folds(
        self, statistic: Statistic, data: Data, classes: ClassCodes, weights: Weights, folds: Folds
    ) -> LeftOut | None:
        """Return the same, with choices made without each row's fold.

        These are what stays as it is where a row is left out; None if there are none.
        """
        return None

    @property
    def takes_folds(self) -> bool:
        """Whether something is chosen that a row's fold could bias."""
        return type(self).without_rows_of_folds is not Event.without_rows_of_folds

    def length(self, data: Data) -> Floats:  # (n,)
        """Return the length of each row: the number of its values that are not missing.

        A zero of a sparse row is a value.

        Calibration depends on it: the more values a row has, the more they repeat each other.
        """
        if isinstance(data, Sparse) or (isinstance(data, Dense) and data.all_finite):
            return np.full(len(data), float(data.width))
        total = np.zeros(len(data))
        if isinstance(data, Dense) and isinstance(data.columns, np.ndarray):
            for rows in chunks(len(data)):  # row-major: column by column each line of memory would be fetched F times
                total[rows] = data.width - np.isnan(data.columns[rows]).sum(axis=1)
        elif isinstance(data, Dense):
            for column in data.each():
                total += ~np.isnan(column)
        elif isinstance(data, Codes):
            total += data.labelled()  # a value never seen hardly changes a score
        return total

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats | None:  # (F,)
        """Return each column's most probable smoothing, or None without counts by value."""
        return None

    def invalid(self, values: Numbers) -> npt.NDArray[np.bool_] | None:
        """Return a mask of values outside `domain`, where NaN is inside; or None."""
        return None

    def check(self, statistic: Statistic) -> None:
        """Raise unless some rows could have these sums."""
        statistic.check()
        if not self.consistent(statistic):
            raise CannotMerge(NEVER_THERE)

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether some rows could have these sums, beyond the sign of each sum."""
        return True

    @classmethod
    def test_variants(cls) -> list[Self]:
        """Return the variants that tests try: the default, and each form that behaves differently."""
        return [cls()]

    @property
    def spec(self) -> str:
        """The event as files spell it: its name, and options unlike their defaults."""
        options = ", ".join(f"{k}={v!r}" for k, v in self.options().items())
        return f"{self.name}({options})" if options else self.name

    def options(self) -> dict[str, Option]:
        """Return the options that differ from their default."""
        given = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}  # type: ignore[arg-type]
        # The type matters as well: 1.0 is a share of the documents, 1 is a number of them.
        return {k: v for k, (v, default) in given.items() if v != default or type(v) is not type(default)}


def as_event(event: Event[Never]) -> Event:
    """Return an event model of any data as one that takes what the encoder makes of its columns.

    The encoder goes by `Event.input`, which types cannot say: this is the one place that takes it on trust.
    """
    return cast("Event", event)


def negative_or_infinite(values: Numbers) -> npt.NDArray[np.bool_]:
    """Return a mask of values that no count, rate or wait can have; NaN is missing, not invalid."""
    return np.asarray((values < 0) | np.isinf(values))


def chunks(n: int, size: int = 4096) -> Sequence[slice]:
    """Return row slices small enough that a few (rows, C) temporaries stay in cache."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
