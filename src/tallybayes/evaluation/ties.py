"""Ties: probabilities that differ by no more than rounding are the same.

The last bits of a logarithm or of a matrix product depend on the processor: NumPy, BLAS and the C library choose code
by what it has. Two rows with the same probability may come out as 0.6 and 0.6000000000000001 on one machine and the
other way round on the next. Their order and their bins must not depend on that.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes.kernels.types import Floats

# Log-odds this close are the same: so close are sums of thousands of logarithms whose last bits are all wrong.
CLOSE = 1e-12
# Near 1 doubles are too coarse for this; there a share of four last bits is the same.
_LAST_BITS = 1e-15


def last_of_each(falling: Floats) -> npt.NDArray[np.intp]:
    """Return the last position of each probability; those that differ by rounding only are one.

    Parameters
    ----------
    falling : ndarray, shape (n,)
        Probabilities, the highest first.

    Notes
    -----
    A run of near neighbours is one probability if all of it is within `CLOSE`. In a wider run, rows are so dense that
    they fill the smallest steps: they differ, and stay as they are.

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
