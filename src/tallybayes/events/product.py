"""Product: an event model whose column is made of several columns, counted together.

Its term is added to those of its parts. Before calibration it has the weight `base`: 0 where only a fitted weight makes
it count.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from tallybayes.events.event import Event
from tallybayes.events.inputs import Data, Floats

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
    """

    product: ClassVar[bool] = True
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

    def length(self, data: Data) -> Floats:
        """Return 0: the columns that it is made of are counted themselves."""
        return np.zeros(len(data))

    @abstractmethod
    def value(self, data: Data) -> Hashable:
        """Return the first row's value as `Likelihood.of_cell` takes it; None where a part is missing."""

    @abstractmethod
    def in_words(self, data: Data) -> str | None:
        """Return the first row's value in words; None where a part is missing."""
