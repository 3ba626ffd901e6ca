"""Numbers that may be normal together: which columns, and their maps to normal scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tallybayes.encoding.bins import Cells
from tallybayes.events.bernoulli import Bernoulli
from tallybayes.events.correlation import MOST_NUMBERS, Correlation, ScoredColumn
from tallybayes.events.event import as_event
from tallybayes.events.inputs import Floats
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.schema.schema import Block, Schema
from tallybayes.structure.products import free_name

__all__ = ["correlation_of", "normal_scores"]

_PRESENT = 0.75  # of the rows must have a number: a row that lacks one of them says nothing together
_KNOTS = 33  # of a map: a fifth of a standard deviation apart
_UNITS = 1024  # of a score, in a standard deviation


def correlation_of(schema: Schema, rows: SampledRows, columns: Sequence[str]) -> Block | None:
    """Return the correlation of some columns of numbers, the first of them if there are many.

    Parameters
    ----------
    schema : Schema
        The type of each column.
    rows : SampledRows
        Rows that show the ranks of values.
    columns : sequence of str
        The columns, the most telling first; those that are not numbers are left out.
    """
    cells, parts = Cells(rows.rows), list[ScoredColumn]()
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    for name in columns:
        b, f = schema.place(name)
        block = schema.blocks[b]
        if block.event.input != "dense" or isinstance(block.event, Bernoulli) or len(parts) == MOST_NUMBERS:
            continue
        part = normal_scores(name, cells.numbers(block, f), weights)
        if part is not None:
            parts.append(part)
    if len(parts) < 2:
        return None
    short = [part.column for part in parts[: 3 if len(parts) == 3 else 2]]
    rest = len(parts) - len(short)
    name = " & ".join(short if not rest else [short[0], f"{rest + 1} others"])
    return Block(as_event(Correlation(tuple(parts))), (free_name(schema, name),))


def normal_scores(column: str, numbers: npt.NDArray[np.floating], weights: Floats) -> ScoredColumn | None:
    """Return the map of a column to normal scores; None if it is mostly missing, or has one value.

    Examples
    --------
    >>> found = normal_scores("x", np.array([1.0, 2.0, 2.0, 9.0]), np.ones(4))
    >>> found.values, found.scores
    ((1.0, 2.0, 9.0), (-1178, 0, 1178))
    """
    from scipy.special import ndtri  # slow to import

    present = np.flatnonzero(np.isfinite(numbers) & (weights > 0))
    if weights[present].sum() < _PRESENT * weights.sum():
        return None
    values, place = np.unique(numbers[present].astype(np.float64), return_inverse=True)
    if len(values) < 2:
        return None
    count = np.bincount(place, weights[present])
    scores = ndtri((np.cumsum(count) - count / 2) / count.sum())
    if len(values) > _KNOTS:
        near = np.searchsorted(scores, np.linspace(scores[0], scores[-1], _KNOTS))
        kept = np.unique(np.clip(near, 0, len(values) - 1))
        values, scores = values[kept], scores[kept]
    return ScoredColumn(column, tuple(values.tolist()), tuple(np.rint(_UNITS * scores).astype(int).tolist()))
