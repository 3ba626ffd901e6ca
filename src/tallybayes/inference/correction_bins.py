"""The bins of a column whose values have a correction each: runs of the cells of its likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.events.likelihood import Likelihood

__all__ = ["NO_BINS", "CorrectionBins", "bins_of", "bins_of_rows"]

_MOST_VALUES = 24  # values of a column with a correction of their own; the rarest share one
_BINS = 16  # of a column of numbers


@dataclass(frozen=True)
class CorrectionBins:
    """The bins of a column's corrections.

    Attributes
    ----------
    cells : Categories, ndarray or None
        The values that have a bin each, or the bounds between bins of numbers; None without bins.
    of_cell : ndarray of int32, shape (V,)
        The bin of each cell of the likelihood; of categories, also that of a value never seen.
    size : int
        The number of bins; the last is that of missing values.
    """

    cells: Categories | Floats | None
    of_cell: npt.NDArray[np.int32]
    size: int

    def find(self, cell: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """Return the bins of some cells; one that does not exist stands for a missing value."""
        return np.asarray(np.append(self.of_cell, np.int32(self.size - 1))[np.minimum(cell, len(self.of_cell))])


NO_BINS = CorrectionBins(None, np.zeros(0, np.int32), 0)


def bins_of(likelihood: Likelihood, columns: int) -> list[CorrectionBins]:
    """Return the bins of each column: runs of its likelihood's cells, chosen by the weight of all rows."""
    first = likelihood.cells(0)
    if first is None:
        return [NO_BINS] * columns
    if isinstance(first, Categories):
        return [_bins_of_values(likelihood, f) for f in range(columns)]
    return _bins_of_numbers(likelihood, columns)


def bins_of_rows(
    bins: Sequence[CorrectionBins], likelihood: Likelihood, data: Encoded, present: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32] | None:  # (F, n)
    """Return the bin of each row's value, given which values are present (n, F); None without bins."""
    if bins[0].cells is None:
        return None
    missing, found = np.array([one.size - 1 for one in bins], np.int32), likelihood.find_cells(data)
    if isinstance(found, np.ndarray):
        sizes = np.array([len(one.of_cell) for one in bins], np.int64)
        return kernels.bin_codes(found.T, np.concatenate([one.of_cell for one in bins]), sizes, missing)
    out = np.empty((len(bins), len(present)), np.int32)
    for f, (one, cell) in enumerate(zip(bins, found, strict=True)):
        out[f] = one.find(np.where(present[:, f], cell, len(one.of_cell)))
    return out


def _bins_of_values(likelihood: Likelihood, f: int) -> CorrectionBins:
    """Return the bins of a column of values: one for each of the most frequent, and one for the others."""
    cells, weight = likelihood.cells(f), likelihood.cell_weights(f)
    assert isinstance(cells, Categories)
    many = len(cells) > _MOST_VALUES
    often = np.sort(np.argsort(-weight, kind="stable")[: _MOST_VALUES - 1]) if many else np.arange(len(cells))
    place = np.full(len(cells) + 1, len(often), np.int32)  # a value never seen: with the rare ones
    place[often] = np.arange(len(often))
    return CorrectionBins(cells.take(often) if many else cells, place, len(often) + 2)


def _bins_of_numbers(likelihood: Likelihood, columns: int) -> list[CorrectionBins]:
    """Return the bins of columns of numbers: runs of cells with about as much of the weight each, but for the first."""
    cells = [likelihood.cells(f) for f in range(columns)]
    sizes = np.array([len(one) for one in cells if one is not None], np.int64)
    weights = np.concatenate([likelihood.cell_weights(f) for f in range(columns)])
    places, cuts, counts = kernels.cut_runs(np.concatenate(cells), weights, sizes, _BINS)  # type: ignore[arg-type]
    of_cells, of_cuts = ([0, *np.cumsum(each).tolist()] for each in (sizes, counts))
    bounds = zip(of_cells, of_cells[1:], of_cuts, of_cuts[1:], strict=False)
    return [CorrectionBins(cuts[i:j], places[a:b], j - i + 2) for a, b, i, j in bounds]
