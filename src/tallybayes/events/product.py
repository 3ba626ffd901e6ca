"""Product: an event model whose column is made of several columns, counted together.

Its term is added to those of its parts. Before calibration it has the weight `base`: 0 where only a fitted weight makes
it count.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from tallybayes.events.event import ClassCodes, Event, LeftOut, Weights
from tallybayes.events.inputs import Data, Floats, Value
from tallybayes.events.statistic import Statistic

__all__ = ["Product"]


class Product(Event[Data]):
    """What several columns say together, beyond what each of them says alone.

    Attributes
    ----------
    parts : tuple
        The columns and how each is read, fixed before counting, so that sums add. A part has a `column`.
    base : {0.0, 1.0}
        The weight before calibration.
    free : bool
        Whether a fitted weight costs nothing: see `inference.fit_weights`.
    partial : bool
        Whether rows that lack some parts have a term, too: not one value, then, but what the others say together.
    """

    product: ClassVar[bool] = True
    partial: ClassVar[bool] = False
    parts: tuple[Any, ...]
    base: float
    free: bool

    def __post_init__(self) -> None:
        """Leave the parts as they are: no user gives them."""

    @property
    def spec(self) -> str:
        """The event's name: its parts are stored beside it."""
        return self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is made of."""
        return tuple(part.column for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the parts and weights as plain values, which `of` takes."""
        stored = {"parts": [list(part) for part in self.parts], "base": self.base}
        return stored | {"free": True} if self.free else stored

    @classmethod
    @abstractmethod
    def of(cls, parts: Sequence[Sequence[Any]], base: float, free: bool = False) -> Self:
        """Return the product that plain values describe; raise ValueError if they cannot."""

    def at_weight_one(self) -> Self:
        """Return the product with a weight of 1 before calibration."""
        return self if self.base == 1 else replace(self, base=1.0)  # type: ignore[type-var]

    def length(self, data: Data) -> Floats:
        """Return 0: the columns that it is made of are counted themselves."""
        return np.zeros(len(data))

    @abstractmethod
    def value(self, data: Data) -> Value:
        """Return the first row's value as `Likelihood.of_cell` takes it; None where it has none."""

    @abstractmethod
    def in_words(self, data: Data) -> str | None:
        """Return the first row's value in words; None where a part is missing."""

    @abstractmethod
    def tables(self, statistic: Statistic) -> tuple[float, Sequence[Floats]]:
        """Return how much each table counts, and tables of counts: (C, slots of a part, slots of another, ...).

        The weight is NaN where nothing is counted by value.
        """

    def of_parts(self, statistic: Statistic, kept: Sequence[int]) -> tuple[Product[Data], Statistic] | None:
        """Return the product of some parts and its sums, if those follow from the sums of all."""
        return None

    def without_rows_and_parts(
        self,
        statistic: Statistic,
        data: Data,
        classes: ClassCodes,
        weights: Weights,
        rows: npt.NDArray[np.intp],
        kept: npt.NDArray[np.bool_],
    ) -> LeftOut:
        """Return some of the rows as `without_rows` does, if only some parts (rows, parts) of each were known.

        For a product that is `partial`.
        """
        raise NotImplementedError(f"{self.name} has no term where a part is missing")
