"""The contract of an event model.

An event model says five things of a block of columns: what to remember (`count`), what to believe given what is
remembered (`estimate`), how probable a row is under each class (`score`), how probable it would be had it never
been counted (`leave_one_out`), and how far all that may be off, so little having been counted (`variance`). Everything
else, from adding evidence to the model file, is written once elsewhere.

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
from tallybayes.events.inputs import Codes, Dense, Encoded, Floats, Sparse
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Pixels, Profile, weigh
from tallybayes.events.statistic import NEVER_THERE, Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = [
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
Counted: TypeAlias = tuple[Mapping[str, Exact], tuple[Categories, ...]]


@dataclass(frozen=True)
class LeftOut:
    """Rows made ready to be scored as if they had never been counted, by one rule or smoothing after another.

    Attributes
    ----------
    add : callable
        Takes how belief is made and scores (n, C), to which it adds.
    measure : callable
        Gives the sizes.
    """

    add: Callable[[EstimateOptions, Floats], None]
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
    sums: ClassVar[Mapping[str, Sum]] = {}
    registry: ClassVar[dict[str, type[Event]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.name:
            Event.registry[cls.name] = cls

    @abstractmethod
    def count(self, data: Any, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """The sums of these rows, by name, and the values seen of each column (if the event has values)."""

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> Likelihood:
        """Return the likelihood, given the sums."""
        return Adapter(statistic, options, self, self.parameters(statistic, options))

    def parameters(self, statistic: Statistic, options: EstimateOptions) -> Any:
        """The parameters believed in, given the sums."""
        raise NotImplementedError

    def estimate_each(self, statistic: Statistic, options: EstimateOptions, groups: int) -> list[Likelihood] | None:
        """Return the likelihoods of several groups of classes at once, where that is quicker; None: one group by one.

        Of C classes a group, class c of group k stands at k·C + c; no class is empty.
        """
        return None

    def score(self, parameters: Any, data: Any, out: Floats) -> Floats | None:
        """Add to ``out[i, c]`` the log-probability of row i's values under class c; its `length` if that comes free."""
        raise NotImplementedError

    def terms(self, parameters: Any, data: Any, asked: Floats, out: Floats) -> None:
        """Add to ``out[i, f]`` what column f says of row i: the sum of its log-probabilities times ``asked[i, c]``.

        Unless an event knows a quicker way, what it `profile` of each value.
        """
        for f, x in enumerate(data.each()):
            here = np.flatnonzero(~np.isnan(x))
            out[here, f] += weigh(self.profile(parameters, f, x[here]).log, asked[here])

    def profile(self, parameters: Any, f: int, at: Sequence[Any] | None = None) -> Profile:
        """What column f says of each class at some values: those given, or those that show it best."""
        raise NotImplementedError

    def of_cell(self, parameters: Any, f: int, value: Any) -> tuple[Floats, float]:
        """One value."""
        return self.profile(parameters, f, [value]).log[0], 1.0

    def support(self, statistic: Statistic, data: Any) -> Floats:  # (F, C)
        """On how much of each class the terms of the first row rest: rows with a value, unless it counts otherwise."""
        return statistic.present().to_float().T

    @abstractmethod
    def leave_one_out(
        self,
        statistic: Statistic,
        options: EstimateOptions,
        data: Any,
        classes: ClassCodes,
        weights: Weights,
        out: Floats,
    ) -> None:
        """Add to ``out[i, c]`` the log-probability of row i under class c had row i never been counted."""

    def without_rows(self, statistic: Statistic, data: Any, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Rows made ready for `leave_one_out` under any rule and smoothing."""

        def add(options: EstimateOptions, out: Floats) -> None:
            self.leave_one_out(statistic, options, data, classes, weights, out)

        return LeftOut(add, lambda: self.length(data))

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

    def variance(self, statistic: Statistic, options: EstimateOptions) -> Any:
        """What is not known of the parameters, given the sums: what `add_variance` takes."""
        raise NotImplementedError

    def add_variance(self, doubts: Any, data: Any, out: Floats) -> None:
        """Add to ``out[i, c]`` the variance of the log-probability of row i's values under class c.

        The variance over what the parameters may be, given the sums; ∞ where nothing is known. Unless an event says
        otherwise, its doubts are parameters with minus a variance in place of each log-probability, and are scored.
        """
        minus = np.zeros_like(out)
        self.score(doubts, data, minus)
        out -= minus

    def sample(self, statistic: Statistic, parameters: Any, c: int, size: int, rng: np.random.Generator) -> Drawn:
        """Values drawn for each column, given class c, such as `count` would take."""
        raise NotImplementedError

    def missing(self, statistic: Statistic) -> Floats:  # (C, F)
        """The share of missing values of each class and column; 0 where that is not remembered."""
        if "missing" not in statistic.sums:
            return np.zeros(
                next(sum_.shape for name, sum_ in statistic.sums.items() if self.sums[name].axis == "column")
            )
        missing, rows = statistic.sums["missing"].to_float(), statistic.rows.to_float()[:, None]
        return np.divide(missing, rows, out=np.zeros_like(missing), where=rows > 0)

    def pixels(self, statistic: Statistic, parameters: Any) -> Pixels | None:
        """What the columns look like as pixels; None where they are no picture."""
        return None

    def table(self, statistic: Statistic, parameters: Any, f: int) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        """Row names, counts (or None) and values of one column's table."""
        raise NotImplementedError

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

    def contrast(self, parameters: Any) -> Any:
        """The parameters less what they say of all classes alike, where that is easily told apart.

        What all classes share cancels when probabilities are made of scores, but not before it has cost digits: over a
        million columns the shared part is millions, and the differences that decide are rounded to its last bit.
        """
        return parameters

    def n_values(self, statistic: Statistic) -> tuple[int, ...] | None:
        """How many values each column has, where these can be listed; None where there is no end of them."""
        return None

    def n_parameters(self, statistic: Statistic, parameters: Any) -> int:
        """How many numbers the parameters of a class are that can be chosen freely.

        Unless an event says otherwise, one for each sum that is kept of a column (what is missing apart), or, where
        values are counted, one for each value but the last of its column.
        """
        listed = sum(max(len(labels) - 1, 0) for labels in statistic.labels)
        sizes = {"value": listed, "column": statistic.sums["missing"].shape[1] if "missing" in self.sums else 0}
        return sum(sizes[sum_.axis] for name, sum_ in self.sums.items() if name != "missing")

    def categories(self, parameters: Any) -> tuple[Categories, ...]:
        """The values of each column that the parameters speak of (empty unless `input` is "codes")."""
        return ()

    def log_prob(self, parameters: Any, data: Encoded, n_classes: int) -> Floats:  # (n, C)
        """The log-probability of each row's values under each class."""
        out = np.zeros((len(data), n_classes))
        self.score(parameters, data, out)
        return out

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


@dataclass(frozen=True, eq=False)
class Adapter(Likelihood):
    """The likelihood of an event model whose methods take its parameters."""

    event: Event
    parameters: Any

    def add_log_prob(self, data: Any, out: Floats) -> Floats | None:
        return self.event.score(self.parameters, data, out)

    @cached_property
    def _variance(self) -> Any:
        return self.event.variance(self.statistic, self.options)

    def add_variance(self, data: Any, out: Floats) -> None:
        self.event.add_variance(self._variance, data, out)

    def add_terms(self, data: Any, weights: Floats, out: Floats) -> None:
        self.event.terms(self.parameters, data, weights, out)

    def profile(self, f: int, at: Sequence[Any] | None = None) -> Profile:
        return self.event.profile(self.parameters, f, at)

    def of_cell(self, f: int, value: Any) -> tuple[Floats, float]:
        return self.event.of_cell(self.parameters, f, value)

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        return self.event.sample(self.statistic, self.parameters, c, n, rng)

    def table(self, f: int) -> tuple[tuple[Any, ...], Floats | None, Floats]:
        return self.event.table(self.statistic, self.parameters, f)

    def contrasted(self) -> Adapter:
        return Adapter(self.statistic, self.options, self.event, self.event.contrast(self.parameters))

    def support(self, data: Any) -> Floats:
        return self.event.support(self.statistic, data)

    def missing(self) -> Floats:
        return self.event.missing(self.statistic)

    def pixels(self) -> Pixels | None:
        return self.event.pixels(self.statistic, self.parameters)

    @property
    def n_values(self) -> tuple[int, ...] | None:
        return self.event.n_values(self.statistic)

    @property
    def n_parameters(self) -> int:
        return self.event.n_parameters(self.statistic, self.parameters)

    @property
    def categories(self) -> tuple[Categories, ...]:
        return self.event.categories(self.parameters)


def negative_or_infinite(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where values are what no count, rate or wait can be; NaN, being missing, is fit."""
    return np.asarray((values < 0) | np.isinf(values))


def chunks(n: int, size: int = 4096) -> Sequence[slice]:
    """Row slices small enough that a few (rows, C) temporaries stay in cache."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
