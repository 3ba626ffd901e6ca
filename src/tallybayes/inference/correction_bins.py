"""The bins of a column whose values have a correction each: runs of the cells of its likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import Likelihood

__all__ = ["CorrectionBins", "bins_of", "no_bins"]

_MOST_VALUES = 24  # values of a column with a correction of their own; the rarest share one
_BINS = 16  # of a column of numbers


@dataclass(frozen=True)
class CorrectionBins:
    """The bins of a column's corrections, and the bin of each row.

    The last of all is that of missing values.
    """

    cells: Categories | Floats | None
    codes: npt.NDArray[np.int32]  # (n,)
    size: int


def no_bins(n: int) -> CorrectionBins:
    """Return no bins, for n rows."""
    return CorrectionBins(None, np.full(n, -1, np.int32), 0)


def bins_of(
    likelihood: Likelihood, f: int, found: npt.NDArray[np.integer] | None, present: npt.NDArray[np.bool_]
) -> CorrectionBins:
    """Return the bins of column f: runs of its likelihood's cells, chosen by the weight of all rows."""
    cells, weight = likelihood.cells(f), likelihood.cell_weights(f)
    if cells is None or found is None:
        return no_bins(len(present))
    kept: Categories | Floats
    if isinstance(cells, Categories):
        many = len(cells) > _MOST_VALUES
        often = np.sort(np.argsort(-weight, kind="stable")[: _MOST_VALUES - 1]) if many else np.arange(len(cells))
        kept = cells.take(often)
        place = np.full(len(cells) + 1, len(often), np.int32)  # a value never seen: with the rare ones
        place[often] = np.arange(len(often))
    else:
        kept = _cuts(cells, weight)
        place = np.searchsorted(kept, cells, side="right").astype(np.int32)
    size = len(kept) + 1
    if not present.all():
        found = np.where(present, found, len(place))
        place = np.append(place, np.int32(size))
    return CorrectionBins(kept, place[found], size + 1)


def _cuts(values: Floats, weight: Floats) -> Floats:
    """Return the lowest values of bins that hold about as much of the weight each, but for the first bin.

    Examples
    --------
    >>> _cuts(np.array([1.0, 2.0, 3.0]), np.array([1.0, 6.0, 1.0]))
    array([2., 3.])
    """
    reached = np.cumsum(weight)
    if not reached[-1] > 0:  # no row has a value
        return np.zeros(0)
    bounds = values[np.searchsorted(reached, np.arange(1, _BINS) / _BINS * reached[-1], side="right")]
    return np.unique(bounds[bounds > values[0]])
