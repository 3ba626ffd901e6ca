"""Likelihoods as plain data, in a few forms that any language can compute.

A form says what a term adds to each class's score.

`Likelihood.to_plain` returns one of these for each column. A form leaves out what all classes share: it cancels when
scores are normalised. An event model that answers in these forms can be exported to every target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.events.inputs import Floats
from tallybayes.kernels.text_types import TextOptions

if TYPE_CHECKING:
    from tallybayes.events.interaction import Part

__all__ = [
    "FORMS",
    "CellTable",
    "Domain",
    "Form",
    "IntervalTable",
    "LinearCounts",
    "LookupTable",
    "NamedDensity",
    "PlainTerm",
    "TokenTable",
]

# The numbers that a column may hold; "binary" is 0 and 1.
Domain: TypeAlias = Literal["any", "finite", "not negative", "positive", "binary"]
Form: TypeAlias = Literal["linear", "normal", "student", "lomax", "negative binomial"]
# The parameters of each form.
FORMS: Mapping[str, tuple[str, ...]] = {
    "linear": ("constant", "slope"),
    "normal": ("constant", "location", "scale"),
    "student": ("constant", "location", "scale", "power"),
    "lomax": ("constant", "scale", "power"),
    "negative binomial": ("constant", "slope", "size"),
}


@dataclass(frozen=True, eq=False)
class LookupTable:
    """An amount for each value of a column.

    Attributes
    ----------
    values : Categories
        The values, V of them.
    log : ndarray, shape (V + 1, C)
        The amount of each value; the last row is that of a value never seen.
    """

    kind: ClassVar[str] = "lookup"
    values: Categories
    log: Floats


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """An amount for each interval of numbers.

    Attributes
    ----------
    edges : ndarray, shape (K − 1,)
        The edges between intervals, rising; an edge belongs to the interval above it.
    log : ndarray, shape (K, C)
        The amount of each interval.
    domain : Domain
        The numbers that the column may hold.
    """

    kind: ClassVar[str] = "interval"
    edges: Floats
    log: Floats
    domain: Domain = "finite"


@dataclass(frozen=True, eq=False)
class LinearCounts:
    """An amount for each count: x times `log` (C,), where 0 · −∞ is 0. A missing count is 0."""

    kind: ClassVar[str] = "counts"
    log: Floats
    domain: Domain = "not negative"


@dataclass(frozen=True, eq=False)
class NamedDensity:
    """A log-density of numbers, in a form with a name and parameters for each class.

    Attributes
    ----------
    form : str
        One of the forms below; u is x, or log x with `of_log`.
    parameters : mapping of str to ndarray, shape (C,)
        The parameters of the form.
    domain : Domain
        The numbers that the column may hold.
    of_log : bool
        Whether the density is that of log x.

    Notes
    -----
    ====================  ==============================================================
    linear                constant + slope · u, where 0 · −∞ is 0
    normal                constant − (scale · (u − location − rest))²
    student               constant − power · log(1 + (scale · (u − location − rest))²)
    lomax                 constant − power · log(1 + scale · u)
    negative binomial     constant + slope · u + log Γ(size + u) − log Γ(size); 0 at u = 0
                          and −∞ above it where size is 0
    ====================  ==============================================================

    There is a rest, what the location has below its last digit, only where it matters: far from 0.
    """

    kind: ClassVar[str] = "density"
    form: Form
    parameters: Mapping[str, Floats]
    domain: Domain = "finite"
    of_log: bool = False

    def __post_init__(self) -> None:
        known, given = FORMS.get(self.form, ()), tuple(self.parameters)
        if given not in (known, (*known, "rest") if "location" in known else known) or self.domain not in get_args(
            Domain
        ):
            raise ValueError(f"density {self.form!r} of {', '.join(self.parameters)}")


@dataclass(frozen=True, eq=False)
class TokenTable:
    """An amount for each token of a text.

    Attributes
    ----------
    options : TextOptions
        How a text becomes tokens.
    vocabulary : Categories
        The tokens, V of them.
    log : ndarray, shape (V, C)
        The amount of each token.
    base : ndarray, shape (C,)
        The amount of every text that is not missing.
    unknown : ndarray, shape (C,), or None
        The amount of a token outside of the vocabulary; None if such tokens do not count.
    distinct : bool
        Whether a token counts once per text, however often it occurs.
    needed : ndarray of bool, shape (V, C), or None
        The tokens without which a text is impossible.
    worth : ndarray, shape (V,), or None
        The weight of each token, where tokens are weighted.
    worth_unknown : float
        The weight of a token outside of the vocabulary.
    """

    kind: ClassVar[str] = "tokens"
    options: TextOptions
    vocabulary: Categories
    log: Floats
    base: Floats
    unknown: Floats | None = None
    distinct: bool = False
    needed: npt.NDArray[np.bool_] | None = None
    worth: Floats | None = None
    worth_unknown: float = 1.0


@dataclass(frozen=True, eq=False)
class CellTable:
    """An amount for each combination of slots of several columns; nothing where one of them is missing.

    Attributes
    ----------
    parts : tuple of Part
        The columns and their slots.
    log : ndarray, shape (cells, C)
        The amount of each combination; the slots of the last part change fastest.
    factor : float
        What the amounts are multiplied by where the model has no weights.
    """

    kind: ClassVar[str] = "cells"
    parts: tuple[Part, ...]
    log: Floats
    factor: float = 1.0


PlainTerm: TypeAlias = LookupTable | IntervalTable | LinearCounts | NamedDensity | TokenTable | CellTable
