"""How many numbers a model has to learn, and how many it would be if columns were not independent given the class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tallybayes.display.tables import Grid, Result, plain
from tallybayes.events.gaussian import Gaussian
from tallybayes.events.lognormal import Lognormal
from tallybayes.model import Model

__all__ = ["Parameters", "parameters"]

# Numbers of more digits are shown by their size: Python refuses to write out those of thousands.
_DIGITS = 15
_WRITTEN = 4000


@dataclass(frozen=True)
class Parameters(Result):
    """Free parameters: those of the naive model, and those of the full joint distribution of the same columns.

    Attributes
    ----------
    classes, columns : int
        How many there are.
    prior : int
        For the class: one less than there are classes. The other two figures are without it.
    naive : int
        Of all columns by themselves, in all classes: 2n for n yes-or-no columns and two classes.
    joint : int or None
        Of all columns together, in all classes: 2(2ⁿ − 1). None where there is no one full joint model.
    undefined : tuple of str
        The columns because of which there is none: counts, waits and words come together in more ways than one.

    Notes
    -----
    With C classes and columns of K₁, ..., Kₙ values the naive model has C · Σ (Kᵢ − 1), the full joint one
    C · (Π Kᵢ − 1). Where d columns are Gaussian as well, the joint model has a Gaussian of full covariance for each of
    the Π Kᵢ combinations, with d + d(d + 1)/2 parameters each.
    """

    classes: int
    columns: int
    prior: int
    naive: int
    joint: int | None
    undefined: tuple[str, ...] = ()

    def shown(self) -> Grid:
        """Both counts."""
        rows = (("naive Bayes", _size(self.naive)), ("full joint", "–" if self.joint is None else _size(self.joint)))
        columns = f"{self.columns:,} column{'s' * (self.columns != 1)}"
        notes = [f"{self.classes} classes, {columns}; for the class itself {self.prior} more."]
        if self.undefined:
            notes.append(f"No full joint model is at hand for {', '.join(self.undefined[:8])}.")
        return Grid("", ("model", "free parameters"), rows, tuple(notes))

    def to_dict(self) -> dict[str, Any]:
        """Plain values; beyond 4,000 digits `joint` is None and only its logarithm is given."""
        log10 = None if self.joint is None else math.log10(max(self.joint, 1))
        written = self.joint if log10 is not None and log10 < _WRITTEN else None
        names = ("classes", "columns", "prior", "naive", "undefined")
        return {**{n: plain(getattr(self, n)) for n in names}, "joint": written, "log10_joint": log10}


def parameters(model: Model) -> Parameters:
    """How many numbers a model has to learn, and how many it would be without independence."""
    C, values, gaussians, each = len(model.classes), 1, 0, 0
    undefined: list[str] = []
    for block, likelihood in zip(model.schema.blocks, model.belief.likelihoods, strict=True):
        each += likelihood.n_parameters
        if likelihood.n_values is not None:
            values *= math.prod(likelihood.n_values)
        elif isinstance(block.event, Gaussian | Lognormal):
            gaussians += len(block.columns)
        else:
            undefined.extend(block.columns)
    shapes = gaussians + gaussians * (gaussians + 1) // 2
    joint = None if undefined else C * (values - 1 + values * shapes)
    return Parameters(C, len(model.schema.columns), C - 1, C * each, joint, tuple(undefined))


def _size(count: int) -> str:
    """A whole number, written out if it is short.

    Examples
    --------
    >>> _size(2046), _size(2**784)
    ('2,046', '1.02e+236')
    """
    if count < 10**_DIGITS:
        return f"{count:,}"
    exponent = int(math.log10(count))
    return f"{10 ** (math.log10(count) - exponent):.2f}e+{exponent}"
