"""The number of free parameters of a model, and of the full joint distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tallybayes.display.number_of import number_of
from tallybayes.display.tables import Grid, Result, plain
from tallybayes.events.gaussian import Gaussian
from tallybayes.events.lognormal import Lognormal
from tallybayes.model import Model

# Longer numbers are shown in scientific notation: Python refuses to print thousands of digits.
_DIGITS = 15
_WRITTEN = 4000


@dataclass(frozen=True, repr=False)
class Parameters(Result):
    """Free parameters of the naive model, and of the full joint distribution.

    Attributes
    ----------
    classes, columns : int
        The numbers of classes and columns.
    prior : int
        Those of the class prior: the number of classes minus 1. `naive` and `joint` do not include it.
    naive : int
        Those of all columns separately, in all classes: 2n for n binary columns and two classes.
    joint : int or None
        Those of all columns together, in all classes: 2(2ⁿ − 1). None if no single full joint model is defined.
    undefined : tuple of str
        The columns for which none is defined: counts, waiting times, histograms and words have more than one.
    interactions : int
        Those of the columns that the model counts together, beyond `naive`.

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
    interactions: int = 0

    def shown(self) -> Grid:
        """Return a table of both counts."""
        rows = [("naive Bayes", _size(self.naive)), ("full joint", "–" if self.joint is None else _size(self.joint))]
        if self.interactions:
            rows.insert(1, ("with interactions", _size(self.naive + self.interactions)))
        columns = number_of(self.columns, "column")
        notes = [f"{self.classes} classes, {columns}; for the class itself {self.prior} more."]
        if self.undefined:
            notes.append(f"No full joint model is defined for {', '.join(self.undefined[:8])}.")
        return Grid("", ("model", "free parameters"), tuple(rows), tuple(notes))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; beyond 4,000 digits `joint` is None and only its logarithm is given."""
        log10 = None if self.joint is None else math.log10(max(self.joint, 1))
        written = self.joint if log10 is not None and log10 < _WRITTEN else None
        names = ("classes", "columns", "prior", "naive", "undefined", "interactions")
        return {**{n: plain(getattr(self, n)) for n in names}, "joint": written, "log10_joint": log10}


def parameters(model: Model) -> Parameters:
    """Count the free parameters of a model, and of the full joint distribution."""
    C, values, gaussians, each, together = len(model.classes), 1, 0, 0, 0
    undefined: list[str] = []
    for block, likelihood in zip(model.schema.blocks, model.belief.likelihoods, strict=True):
        if block.event.product:
            together += likelihood.n_parameters
            continue
        each += likelihood.n_parameters
        if likelihood.n_values is not None:
            values *= math.prod(likelihood.n_values)
        elif isinstance(block.event, Gaussian | Lognormal):
            gaussians += len(block.columns)
        else:
            undefined.extend(block.columns)
    shapes = gaussians + gaussians * (gaussians + 1) // 2
    joint = None if undefined else C * (values - 1 + values * shapes)
    return Parameters(C, len(model.schema.columns), C - 1, C * each, joint, tuple(undefined), C * together)


def _size(count: int) -> str:
    """Return a whole number as text, in scientific notation if it is long.

    Examples
    --------
    >>> _size(2046), _size(2**784)
    ('2,046', '1.02e+236')
    """
    if count < 10**_DIGITS:
        return f"{count:,}"
    exponent = int(math.log10(count))
    return f"{10 ** (math.log10(count) - exponent):.2f}e+{exponent}"
