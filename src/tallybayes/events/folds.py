"""Folds of rows: what is chosen for a column is chosen without the fold of the row that is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats

__all__ = ["Folds"]


@dataclass(frozen=True)
class Folds:
    """The fold of each row.

    Attributes
    ----------
    of : ndarray of int, shape (n,)
        The folds, from 0 on.
    weights : ndarray, shape (n,), or None
        The whole weights of the rows, of which one copy at most is left out; None where all are 1.
    """

    of: npt.NDArray[np.int32]
    weights: Floats | None = None

    def __iter__(self) -> Iterator[npt.NDArray[np.intp]]:
        """Yield the rows of each fold, by increasing number."""
        return (np.flatnonzero(self.of == k) for k in np.unique(self.of))

    def weights_of(self, rows: npt.NDArray[np.intp]) -> Floats | None:  # (k,)
        """Return the whole weights of some rows."""
        return None if self.weights is None else self.weights[rows]
