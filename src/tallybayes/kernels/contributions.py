"""Wrappers of the kernels that return a score's terms column by column.

``factors`` (n, C) holds the factor of each class's terms in their sum: 1 for a class and −1 for its rival give each
column's contribution for the one against the other. A class with factor 0 adds nothing, even if its term is −∞. ``out``
is (n, F); the other arguments are those of the functions that score.
"""

from __future__ import annotations

from typing import Literal

from . import _native
from .types import Codes, Columns, Floats, Sizes


def terms_dense(
    columns: Columns,
    mean: Floats,
    scale: Floats,
    constant: Floats,
    power: Floats | None,
    factors: Floats,
    out: Floats,
    *,
    rest: Floats | None = None,
) -> None:
    """Add the terms of ``score_gaussian`` (power None) or ``score_student`` to out, by column.

    Examples
    --------
    >>> import numpy as np
    >>> out, one = np.zeros((1, 1)), np.ones((2, 1))
    >>> terms_dense(np.array([[3.0]]), np.array([[1.0], [3.0]]), one, 0 * one, None, np.array([[1.0, -1.0]]), out)
    >>> out.tolist()      # −(3 − 1)² − (−(3 − 3)²)
    [[-4.0]]
    """
    _native.terms_dense(columns, mean, scale, constant, power, factors, out, rest)


def terms_codes(
    columns: Codes,
    table: Floats,
    sizes: Sizes,
    factors: Floats,
    out: Floats,
    *,
    low: int = 0,
    outside: Literal["skip", "last"] = "skip",
) -> None:
    """Add the terms of ``score_codes`` to out, by column.

    Examples
    --------
    >>> import numpy as np
    >>> out, table = np.zeros((1, 2)), np.array([[1.0, 2.0], [3.0, 5.0], [10.0, 20.0]])
    >>> terms_codes(np.array([[1, 0]]), table, [2, 1], np.array([[1.0, -1.0]]), out)
    >>> out.tolist()
    [[-2.0, -10.0]]
    """
    if outside not in ("skip", "last"):
        raise ValueError(f"outside: wanted 'skip' or 'last', got {outside!r}")
    _native.terms_codes(columns, table, sizes, factors, out, low, outside == "last")
