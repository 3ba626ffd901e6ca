"""What the columns of an event model say one by one: the terms whose sum a score is.

Terms are asked for by a weight for each class (`asked`): 1 for a class and −1 for its rival give what each column says
for the one against the other. A class of which nothing is asked (0) adds nothing, even where its term is −∞.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tallybayes.events.inputs import Dense, Floats

__all__ = ["Profile", "add_terms_of", "weigh", "weigh_table"]

# How many numbers (rows × classes × columns) are worked out at a time.
_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Profile:
    """What a column says of each class, value by value.

    Attributes
    ----------
    kind : {"values", "numbers", "counts", "words"}
        Whether all values are listed; or some of a scale, between which there are others; or counts from 0 on; or
        words, any of which a text may have.
    values : sequence
        The values (K,).
    log : ndarray, shape (K, C)
        The logarithm of the probability (or density) of each under each class.
    """

    kind: Literal["values", "numbers", "counts", "words"]
    values: Sequence[Any]
    log: Floats


def weigh(terms: Floats, asked: Floats) -> Floats:
    """Terms (n, C) or (n, C, F) times what is asked of each class (n, C), summed over classes.

    Examples
    --------
    >>> weigh(np.array([[-1.0, -3.0, -np.inf]]), np.array([[2.0, -1.0, 0.0]]))
    array([1.])
    """
    factors = asked if terms.ndim == 2 else asked[:, :, None]
    with np.errstate(invalid="ignore"):  # 0 · −∞ is worked out, and not used
        return np.asarray(np.where(factors == 0, 0.0, factors * terms).sum(axis=1))


def weigh_table(table: Floats, asked: Floats) -> Floats:
    """A table (F, C) weighed for each row of `asked` (n, C): (n, F).

    Examples
    --------
    >>> weigh_table(np.array([[-1.0, -3.0], [-np.inf, -1.0]]), np.array([[1.0, -1.0], [0.0, 2.0]]))
    array([[  2., -inf],
           [ -6.,  -2.]])
    """
    impossible = np.isneginf(table)
    if not impossible.any():
        return np.asarray(asked @ table.T)
    out = asked @ np.where(impossible, 0.0, table).T
    for_it, against_it = (((sign * asked) > 0) @ impossible.T for sign in (1.0, -1.0))
    out[against_it] = np.inf
    out[for_it] = -np.inf
    return np.asarray(out)


def add_terms_of(log_density: Callable[[Floats], Floats], data: Dense, asked: Floats, out: Floats) -> None:
    """Add the terms of densities that take all columns at once, (n, 1, F) to (n, C, F), to `out` (n, F)."""
    n, C = asked.shape
    step = max(1, _AT_ONCE // max(1, C * data.width))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part = data.map(lambda values, rows=rows: values[rows])  # type: ignore[misc]
        x = part.matrix()
        gone = np.isnan(x)
        terms = weigh(log_density(np.where(gone, 1.0, x)[:, None, :]), asked[rows])
        out[rows] += np.where(gone, 0.0, terms)
