"""The bins of a column whose values have a correction each: runs of the cells of its likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.categories import Categories
from tallybayes.events.inputs import Encoded, Floats
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
    likelihood: Likelihood,
    data: Encoded,
    present: npt.NDArray[np.bool_],
    known: npt.NDArray[np.uint8] | None = None,
) -> list[CorrectionBins]:
    """Return the bins of each column: runs of its likelihood's cells, chosen by the weight of all rows.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood of the columns.
    data : Encoded
        The rows.
    present : ndarray of bool, shape (n, F)
        Which values are present.
    known : ndarray, shape (F, n), optional
        The cells of the rows, if they have been found before.
    """
    n, F = present.shape
    if likelihood.cells(0) is None:
        return [no_bins(n)] * F
    found = likelihood.find_cells(data) if known is None else known
    if isinstance(found, np.ndarray):
        return _bins_of_numbers(likelihood, found)
    return [_bins_of_values(likelihood, f, cell, present[:, f]) for f, cell in enumerate(found)]


def _bins_of_values(
    likelihood: Likelihood, f: int, found: npt.NDArray[np.integer], present: npt.NDArray[np.bool_]
) -> CorrectionBins:
    """Return the bins of a column of values: one for each of the most frequent, and one for the others."""
    cells, weight = likelihood.cells(f), likelihood.cell_weights(f)
    assert isinstance(cells, Categories)
    many = len(cells) > _MOST_VALUES
    often = np.sort(np.argsort(-weight, kind="stable")[: _MOST_VALUES - 1]) if many else np.arange(len(cells))
    place = np.full(len(cells) + 1, len(often), np.int32)  # a value never seen: with the rare ones
    place[often] = np.arange(len(often))
    size = len(often) + 1
    if not present.all():
        found = np.where(present, found, len(place))
        place = np.append(place, np.int32(size))
    return CorrectionBins(cells.take(often) if many else cells, place[found], size + 1)


def _bins_of_numbers(likelihood: Likelihood, found: npt.NDArray[np.uint8]) -> list[CorrectionBins]:
    """Return the bins of columns of numbers: runs of cells with about as much of the weight each, but for the first."""
    cells = [likelihood.cells(f) for f in range(len(found))]
    sizes = np.array([len(one) for one in cells if one is not None], np.int64)
    weights = np.concatenate([likelihood.cell_weights(f) for f in range(len(found))])
    places, cuts, counts = kernels.cut_runs(np.concatenate(cells), weights, sizes, _BINS)  # type: ignore[arg-type]
    codes = kernels.bin_codes(found.T, places, sizes, (counts + 1).astype(np.int32))
    each = zip(np.split(cuts, np.cumsum(counts)[:-1]), codes, strict=True)
    return [CorrectionBins(mine, code, len(mine) + 2) for mine, code in each]
