"""Scores of rows: log prior plus a sum over columns. No other file sums columns.

A missing value adds nothing: the column is summed out, which for independent columns means left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines
from tallybayes.encoding.encode_rows import encode_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Dense, Encoded, Floats
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief
from tallybayes.inference.posterior import Tempering, normalise
from tallybayes.schema.schema import Block, Missing, Schema

__all__ = ["SCORED_ROWS", "Scorer", "add_encoded", "add_scores", "add_variances", "encoded", "map_rows"]


# Rows scored at a time: their scores stay in cache from the first column to the normaliser.
SCORED_ROWS = 8192
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
    out[:] = belief.log_prior
    if sizes is not None:
        sizes[:] = 0.0
    for block, likelihood, data in zip(schema.blocks, belief.likelihoods, blocks, strict=True):
        with nullcontext() if rows is None else rows.refusing(block):
            length = likelihood.add_log_prob(data, out)
        if sizes is not None:
            sizes += block.event.length(data) if length is None else length
        if rows is None:
            continue
        # The largest is NaN where an entry is, and −∞ where no class is possible: both may mean an infinite value.
        # The row-wise maximum is slow along so short an axis, so it is taken only where some score is not finite.
        if isinstance(data, Dense) and not np.isfinite(out).all() and not np.isfinite(out.max(axis=1)).all():
            _refuse_infinite(block, data, rows.first)


def add_variances(schema: Schema, belief: Belief, choices: Choices, rows: RowBatch, out: Floats) -> None:
    """Write the variance of each row's log joint probability with each class into `out`.

    Variances add because columns are independent given the class, each with its own parameters. Classes are
    independent of each other too, so the variance of a difference is the sum of both.

    Parameters
    ----------
    schema, belief, choices
        The model.
    rows : RowBatch
        Rows that `add_scores` has scored.
    out : ndarray, shape (n, C)
        OUT: the variances; earlier content is overwritten.
    """
    out[:] = belief.log_prior_variance
    for likelihood, data in zip(belief.likelihoods, encoded(schema, belief, choices, rows), strict=True):
        likelihood.add_variance(data, out)


def _refuse_infinite(block: Block, data: Dense, first: int) -> None:
    for f in range(data.width):
        infinite = np.isinf(data.column(f))
        if infinite.any():
            at = int(np.argmax(infinite))
            got = f"{data.column(f)[at].item()!r} (row {first + at + 1})"
            raise BadData(wanted(f"column {block.columns[f]!r}", "finite numbers", got, "Make the value missing"))


@dataclass(frozen=True)
class Scorer:
    """A belief that scores rows; `normalised` turns scores into probabilities, tempered by `temperature`."""

    schema: Schema
    belief: Belief
    choices: Choices
    normalised: bool
    temperature: Tempering | None = None

    def few(self, rows: Any) -> Floats | None:  # (n, C)
        """Score a few plain rows by a shortcut; None where only `many` can score them or word the error."""
        blocks = encode_rows(rows, self.schema, self.belief.likelihoods, self.choices.unseen)
        if blocks is None:
            return None
        out = self._room(len(rows))
        self._temper(blocks, out)
        if not np.isfinite(out.max(axis=1)).all():
            return None
        if self.normalised:
            normalise(out, self.belief.log_prior)
        return out

    def many(
        self,
        source: Iterable[pa.RecordBatch],
        threads: int,
        *,
        partial: bool = False,
        work: Callable[[RowBatch, Floats], None] | None = None,
        each: tuple[int, ...] = (),
    ) -> Floats:  # (n, *each, C)
        """Score the rows of record batches, or return what `work` writes for them.

        With `partial`, an absent column is missing in every row.
        """
        parts, first, missing = [], 0, self.schema.missing
        for batch in source:
            out = self._room(batch.num_rows, *each)
            map_rows(batch, work or self._score, out, threads=threads, missing=missing, first=first, partial=partial)
            parts.append(out)
            first += batch.num_rows
        if not parts:
            return self._room(0, *each)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _score(self, rows: RowBatch, out: Floats) -> None:
        self._temper(encoded(self.schema, self.belief, self.choices, rows), out, rows)
        if self.normalised:
            normalise(out, self.belief.log_prior, first=rows.first)

    def _temper(self, blocks: Iterable[Encoded], out: Floats, rows: RowBatch | None = None) -> None:
        """Write the scores of encoded rows, times their temperature."""
        sizes = np.zeros(len(out)) if self.temperature is not None and self.temperature.by_size else None
        add_encoded(self.schema, self.belief, blocks, out, sizes, rows)
        if self.temperature is not None:
            self.temperature.apply(out, self.belief.log_prior, sizes)

    def scores_and_variances(
        self, source: Iterable[pa.RecordBatch], threads: int, *, partial: bool = False
    ) -> tuple[Floats, Floats, Floats]:  # (n, C), (n, C), (n,)
        """Return scores, their variances, and the temperature of each row."""

        def fill(rows: RowBatch, out: Floats) -> None:
            scores, variances = np.empty((2, len(rows), out.shape[-1]))
            sizes = None if self.temperature is None else np.zeros(len(rows))
            add_scores(self.schema, self.belief, self.choices, rows, scores, sizes)
            add_variances(self.schema, self.belief, self.choices, rows, variances)
            out[:, 0], out[:, 1] = scores, variances
            out[:, 2] = 1.0 if self.temperature is None or sizes is None else self.temperature.at(sizes)[:, None]

        parts = self.many(source, threads, partial=partial, work=fill, each=(3,))
        return parts[:, 0], parts[:, 1], parts[:, 2, 0]

    def _room(self, *shape: int) -> Floats:
        return np.empty((*shape, len(self.belief.log_prior)))
