"""Rows to scores or probabilities: many on all cores, a few by the short way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes import engines
from tallybayes.encoding import few_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.inputs import Floats
from tallybayes.inference.estimate import Belief, Choices
from tallybayes.inference.posterior import Temperature, normalise
from tallybayes.inference.score import add_encoded, add_scores, add_variances
from tallybayes.schema.schema import Schema

__all__ = ["SCORED_ROWS", "Scorer"]

# Rows scored at a time: their scores stay in cache from the first column to the normaliser.
SCORED_ROWS = 8192


@dataclass(frozen=True)
class Scorer:
    """What it takes to score rows; `normalised` makes probabilities of the scores, `temperature` honest ones."""

    schema: Schema
    belief: Belief
    choices: Choices
    normalised: bool
    temperature: Temperature | None = None

    def few(self, rows: Any) -> Floats | None:  # (n, C)
        """Scores of a few plain rows, by the short way; None where the ordinary way has something to say."""
        if not isinstance(rows, np.ndarray | list) or len(rows) > few_rows.MOST_ROWS:
            return None
        encoded = few_rows.encode(rows, self.schema, self.belief.likelihoods, self.choices.unseen)
        if encoded is None:
            return None
        out = self._room(len(rows))
        sizes = self._sizes(len(rows))
        add_encoded(self.schema, self.belief, encoded, out, sizes)
        if self.temperature is not None:
            self.temperature.apply(out, self.belief.log_prior, sizes)
        if not np.isfinite(out.max(axis=1)).all():
            return None
        if self.normalised:
            normalise(out, self.belief.log_prior)
        return out

    def many(self, source: Iterable[pa.RecordBatch], threads: int, *, partial: bool = False) -> Floats:  # (n, C)
        """Scores of the rows of record batches; with `partial`, a column that is not there is missing in every row."""

        def fill(rows: RowBatch, out: Floats) -> None:
            sizes = self._sizes(len(rows))
            add_scores(self.schema, self.belief, self.choices, rows, out, sizes)
            if self.temperature is not None:
                self.temperature.apply(out, self.belief.log_prior, sizes)
            if self.normalised:
                normalise(out, self.belief.log_prior, first=rows.first)

        return self._sliced(source, threads, fill, partial=partial)

    def scores_and_variances(
        self, source: Iterable[pa.RecordBatch], threads: int, *, partial: bool = False
    ) -> tuple[Floats, Floats, Floats]:  # (n, C), (n, C), (n,)
        """Scores, the variance of each, and by what they are to be multiplied before they are normalised."""

        def fill(rows: RowBatch, out: Floats) -> None:
            scores, variances = np.empty((2, len(rows), out.shape[-1]))
            sizes = None if self.temperature is None else np.zeros(len(rows))
            add_scores(self.schema, self.belief, self.choices, rows, scores, sizes)
            add_variances(self.schema, self.belief, self.choices, rows, variances)
            out[:, 0], out[:, 1] = scores, variances
            out[:, 2] = 1.0 if self.temperature is None or sizes is None else self.temperature.at(sizes)[:, None]

        parts = self._sliced(source, threads, fill, 3, partial=partial)
        return parts[:, 0], parts[:, 1], parts[:, 2, 0]

    def _sliced(
        self,
        source: Iterable[pa.RecordBatch],
        threads: int,
        fill: Callable[[RowBatch, Floats], None],
        *each: int,
        partial: bool,
    ) -> Floats:  # (n, *each, C)
        """What `fill` writes for slices of the rows."""
        parts, first = [], 0
        for batch in source:
            out = self._room(batch.num_rows, *each)

            def work(piece: pa.RecordBatch, start: int, out: Floats = out, before: int = first) -> None:
                rows = RowBatch(piece, before + start, self.schema.missing, partial=partial)
                fill(rows, out[start : start + piece.num_rows])

            engines.map_slices(batch, work, threads=threads, rows=SCORED_ROWS)
            parts.append(out)
            first += batch.num_rows
        if not parts:
            return self._room(0, *each)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _sizes(self, n: int) -> Floats | None:
        """Room for how much each row says, where it matters."""
        return np.zeros(n) if self.temperature is not None and self.temperature.by_size else None

    def _room(self, *shape: int) -> Floats:
        return np.empty((*shape, len(self.belief.log_prior)))
