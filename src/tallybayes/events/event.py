"""The contract of an event model.

An event model says what a block of columns is, what to count of it (`count`), which likelihood the counts make
(`estimate`), and how probable rows would be had they never been counted (`without_rows`). Everything else, from adding
evidence to the model file, is written once elsewhere.

Notation in this folder: n rows, C classes, F columns, V values; α is the weight of the prior in rows or counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.errors import CannotMerge
from tallybayes.events.inputs import Codes, Dense, Floats, Sparse
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels
from tallybayes.events.statistic import NEVER_THERE, Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = [
    "AddScores",
    "ClassCodes",
    "Counted",
    "Drawn",
    "EstimateOptions",
    "Event",
    "LeftOut",
    "Pixels",
    "Weights",
]

ClassCodes: TypeAlias = npt.NDArray[np.int32]
Weights: TypeAlias = Floats | None
AddScores: TypeAlias = Callable[[EstimateOptions, Floats], None]
Counted: TypeAlias = tuple[Mapping[str, Exact], tuple[Categories, ...]]


@dataclass(frozen=True)
class LeftOut:
    """Rows made ready to be scored as if they had never been counted, by one rule or smoothing after another.

    Attributes
    ----------
    add : callable
        Takes options and ``out`` (n, C). Adds to ``out[i, c]`` the log-probability of row i under class c, estimated
        from all rows but row i.
    measure : callable
        Gives the sizes.
    """

    add: AddScores
    measure: Callable[[], Floats]

    @cached_property
    def sizes(self) -> Floats:  # (n,)
        """How much each row says, found when it is asked for: see `Event.length`."""
        return self.measure()


class Event(ABC):
    """The base of all event models; a subclass with a `name` is registered by being defined."""

    name: ClassVar[str] = ""
    input: ClassVar[Literal["dense", "codes", "bag", "text"]] = "dense"
    domain: ClassVar[str] = "finite numbers"
    discrete: ClassVar[bool] = False
    sums: ClassVar[Mapping[str, Sum]] = {}
    registry: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.name:
            Event.registry[cls.name] = cls

    @abstractmethod
    def count(self, data: Any, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """The sums of these rows, by name, and the values seen of each column (if the event has values)."""

    @abstractmethod
    def estimate(self, statistic: Statistic, options: EstimateOptions) -> Likelihood:
        """Return the likelihood, given the sums."""

    def estimate_each(self, statistic: Statistic, options: EstimateOptions, groups: int) -> list[Likelihood] | None:
        """Return the likelihoods of several groups of classes at once, where that is quicker; None: one group by one.

        Of C classes a group, class c of group k stands at k·C + c; no class is empty.
        """
        return None

    @abstractmethod
    def without_rows(self, statistic: Statistic, data: Any, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return counted rows, ready to be scored as if each had never been counted."""

    def length(self, data: Any) -> Floats:  # (n,)
        """How much each row says: values that are not missing; a zero of sparse rows is a value.

        Probabilities are made honest by it: the more values speak, the more they repeat each other.
        """
        if isinstance(data, Sparse):
            return np.full(len(data), float(data.width))
        total = np.zeros(len(data))
        if isinstance(data, Dense) and isinstance(data.columns, np.ndarray):
            for rows in chunks(len(data)):  # row-major: column by column each line of memory would be fetched F times
                total[rows] = data.width - np.count_nonzero(np.isnan(data.columns[rows]), axis=1)
        elif isinstance(data, Dense):
            for column in data.each():
                total += ~np.isnan(column)
        elif isinstance(data, Codes):
            for f, labels in enumerate(data.labels):
                code = data.of_column(f, slice(0, len(data)))
                total += (code >= 0) & (code < len(labels))  # what was never seen says next to nothing
        return total

    def empirical_bayes_alpha(self, statistic: Statistic) -> Floats | None:  # (F,)
        """The smoothing under which each column's counts are most probable; None where α is no matter of counts."""
        return None

    def invalid(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
        """Where values are not what the event `domain` (None: nowhere); NaN, being missing, is fit."""
        return None

    def check(self, statistic: Statistic) -> None:
        """Raise unless these sums can be those of some rows."""
        statistic.check()
        if not self.consistent(statistic):
            raise CannotMerge(NEVER_THERE)

    def consistent(self, statistic: Statistic) -> bool:
        """Whether the sums can be those of some rows, beyond what each sum's sign says."""
        return True

    @classmethod
    def test_variants(cls) -> list[Event]:
        """The event model as its default options make it, and in each form that behaves differently: what tests try."""
        return [cls()]

    @property
    def spec(self) -> str:
        """The event as it is written in an option or a file: its name, and the options that differ from default."""
        options = ", ".join(f"{k}={v!r}" for k, v in self.options().items())
        return f"{self.name}({options})" if options else self.name

    def options(self) -> dict[str, Any]:
        """The options that differ from their default."""
        given = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}  # type: ignore[arg-type]
        return {k: value for k, (value, default) in given.items() if value != default}


def negative_or_infinite(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where values are what no count, rate or wait can be; NaN, being missing, is fit."""
    return np.asarray((values < 0) | np.isinf(values))


def chunks(n: int, size: int = 4096) -> Sequence[slice]:
    """Row slices small enough that a few (rows, C) temporaries stay in cache."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
