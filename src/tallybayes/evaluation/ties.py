"""Ties: probabilities that differ by no more than rounding are the same.

The last bits of a logarithm or of a matrix product depend on the processor: NumPy, BLAS and the C library choose code
by what it has. Two rows of which the same is true may so come out as 0.6 and 0.6000000000000001 on one machine and
the other way round on the next. What is said of them, which comes first and in which bin, must not hang on that.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.kernels.types import Floats

# Log-odds so close are the same: sums of thousands of logarithms, of which each has its last bit wrong, are.
CLOSE = 1e-12
# Near 1 a probability has no room for this; there the same is what lies within so large a share: four last bits.
_LAST_BITS = 1e-15


def last_of_each(falling: Floats) -> npt.NDArray[np.intp]:
    """Where each probability is last met, of those that differ by more than rounding.

    Parameters
    ----------
    falling : ndarray, shape (n,)
        Probabilities, the highest first.

    Notes
    -----
    Rows are the same if all of a run of near neighbours lie within `CLOSE` of each other. A run that is longer than
    this is of rows so many that the smallest steps between them are filled: they differ, and stay as they are.

    Examples
    --------
    >>> last_of_each(np.array([0.9, 0.6 + 1e-16, 0.6, 0.6, 0.2, 0.2 - 1e-9]))
    array([0, 3, 4, 5])
    """
    top = falling[:-1]
    step, width = top - falling[1:], top * (CLOSE * (1 - top) + _LAST_BITS)
    far = step > width
    near = (step > 0) & ~far
    if not near.any():
        return np.append(np.flatnonzero(far), len(falling) - 1)
    last = np.append(np.flatnonzero(far), len(falling) - 1)  # of runs of near neighbours
    first = np.append(0, last[:-1] + 1)
    long = falling[first] - falling[last] > np.append(width, np.inf)[first]  # a last row by itself is no long run
    return np.append(np.flatnonzero(far | (near & np.repeat(long, last - first + 1)[:-1])), len(falling) - 1)
