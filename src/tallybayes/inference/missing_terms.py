"""What it tells of the class that a column has no value in a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes.events.event import ClassCodes
from tallybayes.events.event import Weights as RowWeights
from tallybayes.events.families.tree import Level
from tallybayes.events.inputs import Floats

__all__ = ["MissingTerms", "missing_terms"]


@dataclass(frozen=True)
class MissingTerms:
    """What it tells that a column is missing or not: log-ratios to the share of all classes."""

    column: int
    ratios: Floats  # (2, C) of a value, and of none
    terms: Floats  # (C, n) of rows left out

    def dropped(self, some: npt.NDArray[np.intp], kept: npt.NDArray[np.bool_]) -> Floats:  # (C, n)
        """Return the terms of some rows in which the column may have been dropped."""
        return np.where(kept, self.terms[:, some], self.ratios[1][:, None])


def missing_terms(
    u: int,
    rows: Floats,
    share: Floats,
    present: npt.NDArray[np.bool_],
    classes: ClassCodes,
    weights: RowWeights,
) -> MissingTerms:
    """Return what missing values of column u tell.

    It follows from the rows of each class and the share that lacks a value.
    """
    nothing = np.zeros(2, np.intp)
    level = Level(np.stack([rows * (1 - share), rows * share]), nothing, rows[None], nothing[:1])
    value = np.where(present, 0, 1)
    terms = level.log_ratios_without(value, classes, 1.0 if weights is None else weights)
    return MissingTerms(u, level.log_ratios(), np.ascontiguousarray(terms.T))
