"""Scores of rows: log prior plus a sum over columns. No other file sums columns.

A missing value adds nothing: the column is summed out, which for independent columns means left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines
from tallybayes.encoding.encode_rows import encode_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Dense, Encoded, Floats
from tallybayes.events.interaction import InteractionTable
from tallybayes.events.product_codes import ProductCodes
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief
from tallybayes.inference.posterior import refuse_nan
from tallybayes.schema.schema import Block, Missing, Schema

__all__ = ["SCORED_ROWS", "add_encoded", "add_scores", "add_variances", "encoded", "map_rows", "rows_at_a_time"]


# Rows scored at a time, at least: their scores stay in cache from the first column to the normaliser.
SCORED_ROWS = 8192
# Scores of a slice, 2 MiB: a core's share of a common third cache. Those that the second cache holds are read sooner,
# but to begin four times as many slices took longer.
_CACHED = 1 << 18
_FILLED = 512  # numbers that are copied as fast as more
T = TypeVar("T")


def map_rows(
    batch: pa.RecordBatch,
    work: Callable[..., T],
    *arrays: npt.NDArray[Any] | None,
    threads: int,
    missing: Missing,
    first: int = 0,
    partial: bool = False,
    rows: int = SCORED_ROWS,
) -> list[T]:
    """Return the results of work on each slice of a batch, in order.

    Parameters
    ----------
    batch : RecordBatch
        The rows.
    work : callable
        Takes the rows of a slice, and the same rows of each array.
    *arrays : ndarray, shape (n, ...), or None
        Numbers beside the rows, to be read or filled; None is passed on.
    threads : int
        The number of slices processed at a time.
    missing : {"skip", "category", "error"}
        How to treat a null or NaN.
    first : int
        The number of rows before the batch, for messages.
    partial : bool
        Whether an absent column is missing in every row, rather than an error.
    rows : int
        The number of rows of a slice.
    """
    pieces = (
        (
            RowBatch(batch.slice(at, rows), first + at, missing, partial=partial),
            *(None if one is None else one[at : at + rows] for one in arrays),
        )
        for at in range(0, batch.num_rows, rows)
    )
    return list(engines.in_threads(pieces, work, threads))


def rows_at_a_time(n: int, classes: int, threads: int) -> int:
    """Return how many of n rows to score at a time: a slice has a fixed cost for each column, so not too few.

    Every thread gets as many slices, so that none idles at the end.

    Examples
    --------
    >>> rows_at_a_time(1_000_000, 2, threads=2), rows_at_a_time(1_000_000, 10, threads=2)
    (125000, 25000)
    >>> rows_at_a_time(20_000, 2, threads=2), rows_at_a_time(1000, 2, threads=2)
    (10000, 8192)
    """
    most = max(SCORED_ROWS, min(-(-n // threads), _CACHED // max(1, classes)))
    rounds = -(-n // (most * threads))
    return most if n <= most else -(-n // (rounds * threads))


def add_scores(
    schema: Schema, belief: Belief, choices: Choices, rows: RowBatch, out: Floats, sizes: Floats | None = None
) -> None:
    """Write each row's log joint probability with each class into `out`.

    Parameters
    ----------
    schema, belief, choices
        The model.
    rows : RowBatch
        The rows to score.
    out : ndarray, shape (n, C)
        OUT: the scores; earlier content is overwritten.
    sizes : ndarray, shape (n,), optional
        OUT: the length of each row.
    """
    add_encoded(schema, belief, encoded(schema, belief, choices, rows), out, sizes, rows)


def encoded(schema: Schema, belief: Belief, choices: Choices, rows: RowBatch) -> Iterable[Encoded]:
    """Encode rows for the event model of each block, one block after the other."""
    blocks = encode_rows(rows, schema, belief.likelihoods, choices.unseen)
    assert blocks is not None
    return blocks


def add_encoded(
    schema: Schema,
    belief: Belief,
    blocks: Iterable[Encoded],
    out: Floats,
    sizes: Floats | None = None,
    rows: RowBatch | None = None,
) -> None:
    """Write the scores of encoded rows, as `add_scores`; `rows` are needed only to word errors."""
    _fill_rows(out, belief.log_prior)
    if sizes is not None:
        sizes[:] = 0.0
    together: list[ProductCodes] = []
    for b, (block, likelihood, data) in enumerate(zip(schema.blocks, belief.likelihoods, blocks, strict=True)):
        if isinstance(data, ProductCodes) and isinstance(likelihood, InteractionTable):
            if b in belief.interactions.kept:
                together.append(data)
            continue
        with nullcontext() if rows is None else rows.refusing(block), np.errstate(all="ignore"):
            length = likelihood.add_log_prob(data, out)
        if sizes is not None:
            sizes += block.event.length(data) if length is None else length
        if rows is None:
            continue
        # The largest is NaN where an entry is, and −∞ where no class is possible: both may mean an infinite value.
        # The row-wise maximum is slow along so short an axis, so it is taken only where some score is not finite.
        if isinstance(data, Dense) and not np.isfinite(out).all() and not np.isfinite(out.max(axis=1)).all():
            _refuse_infinite(block, data, rows.first)
            refuse_nan(out, rows.first)
    if together:
        belief.interactions.add_log_prob(together, out)


def _fill_rows(out: Floats, row: Floats) -> None:
    """Write the row to all rows of `out`; NumPy copies short rows one by one, and many at once sooner."""
    many = _FILLED // max(1, len(row))
    if many > 1 and len(out) > many and out.flags.c_contiguous:
        whole = len(out) // many * many
        out[:whole].reshape(-1, many * len(row))[:] = np.tile(row, many)
        out = out[whole:]
    out[:] = row


def add_variances(belief: Belief, blocks: Iterable[Encoded], out: Floats) -> None:
    """Write the variance of each encoded row's log joint probability with each class into `out` (n, C).

    Variances add because columns are independent given the class, each with its own parameters. Classes are
    independent of each other too, so the variance of a difference is the sum of both.
    """
    out[:] = belief.log_prior_variance
    for likelihood, data in zip(belief.likelihoods, blocks, strict=True):
        likelihood.add_variance(data, out)


def _refuse_infinite(block: Block, data: Dense, first: int) -> None:
    for f in range(data.width):
        infinite = np.isinf(data.column(f))
        if infinite.any():
            at = int(np.argmax(infinite))
            got = f"{data.column(f)[at].item()!r} (row {first + at + 1})"
            raise BadData(wanted(f"column {block.columns[f]!r}", "finite numbers", got, "Make the value missing"))
