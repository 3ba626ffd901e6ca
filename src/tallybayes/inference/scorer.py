"""Score rows of any kind, a few plain ones by a shortcut, with the belief and its calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.encoding.encode_rows import encode_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.engines import threads_to_score
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.inference.calibrated_belief import CalibratedBelief
from tallybayes.inference.posterior import normalise, normalise_possible
from tallybayes.inference.score import map_rows, rows_at_a_time

__all__ = ["Scorer", "Uncertain"]

_BYTES = 8  # of a number


class Uncertain(NamedTuple):
    """Calibrated scores, their variances, and the variances before calibration, (n, C) each."""

    scores: Floats
    variances: Floats
    counted: Floats


@dataclass(frozen=True)
class Scorer:
    """A calibrated belief that scores rows; `normalised` turns scores into probabilities."""

    belief: CalibratedBelief
    normalised: bool

    def _encode(self, rows: Any) -> Iterable[Encoded] | None:
        belief = self.belief
        return encode_rows(rows, belief.schema, belief.plain.likelihoods, belief.choices.unseen)

    def few(self, rows: Any) -> Floats | None:  # (n, C)
        """Score a few plain rows by a shortcut; None where only `many` can score them or word the error."""
        out = self._few_scores(rows)
        if out is None:
            return None
        possible = normalise_possible(out) if self.normalised else np.isfinite(out.max(axis=1)).all()
        return out if possible else None

    def _few_scores(self, rows: Any) -> Floats | None:  # (n, C)
        blocks = self._encode(rows)
        if blocks is None:
            return None
        out = self._room(_length(rows))
        self.belief.score(blocks, out)
        return out

    def few_with_variances(self, rows: Any) -> Uncertain | None:
        """Return the scores and variances of a few plain rows by a shortcut; None as in `few`."""
        blocks = self._encode(rows)
        if blocks is None:
            return None
        found = Uncertain(*(self._room(_length(rows)) for _ in range(3)))
        self.belief.score_with_variance(list(blocks), *found)
        return found if np.isfinite(found.scores.max(axis=1)).all() else None

    def many(
        self,
        source: Iterable[pa.RecordBatch],
        threads: int,
        *,
        partial: bool = False,
        first: int = 0,
        work: Callable[[RowBatch, Floats], None] | None = None,
        each: tuple[int, ...] = (),
    ) -> Floats:  # (n, *each, C)
        """Score the rows of record batches, or return what `work` writes for them.

        With `partial`, an absent column is missing in every row. `first` rows come before these.
        """
        parts = []
        for batch in source:
            out = self._room(batch.num_rows, *each)
            map_rows(batch, work or self._score, out, first=first, partial=partial, **self._slices(batch, threads))
            parts.append(out)
            first += batch.num_rows
        if not parts:
            return self._room(0, *each)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def best_of_few(self, rows: Any) -> npt.NDArray[np.int64] | None:  # (n,)
        """Return the most probable class of a few plain rows by a shortcut; None as in `few`."""
        scores = self._few_scores(rows)
        if scores is None:
            return None
        best = np.empty(len(scores), np.int64)
        return best if kernels.best_class(scores, best) else None

    def best_of_many(
        self, source: Iterable[pa.RecordBatch], threads: int, *, partial: bool = False, first: int = 0
    ) -> npt.NDArray[np.int64]:  # (n,)
        """Return the most probable class of each row of record batches, without probabilities."""
        parts = [np.zeros(0, np.int64)]
        for batch in source:
            out = np.empty(batch.num_rows, np.int64)
            map_rows(batch, self._decide, out, first=first, partial=partial, **self._slices(batch, threads))
            parts.append(out)
            first += batch.num_rows
        return parts[1] if len(parts) == 2 else np.concatenate(parts)

    def _decide(self, rows: RowBatch, out: npt.NDArray[np.int64]) -> None:
        scores = self._room(len(rows))
        self.belief.score(self.belief.encode(rows), scores, rows)
        if not kernels.best_class(scores, out):  # rows that no class makes possible, or no numbers
            normalise(scores, self.belief.plain.log_prior, first=rows.first)
            out[:] = scores.argmax(axis=1)

    def _score(self, rows: RowBatch, out: Floats) -> None:
        self.belief.score(self.belief.encode(rows), out, rows)
        if self.normalised:
            normalise(out, self.belief.plain.log_prior, first=rows.first)

    def scores_and_variances(
        self, source: Iterable[pa.RecordBatch], threads: int, *, partial: bool = False, first: int = 0
    ) -> Uncertain:
        """Return calibrated scores, and their variances with and without calibration."""

        def fill(rows: RowBatch, out: Floats) -> None:
            scores, variances, counted = np.empty((3, len(rows), out.shape[-1]))
            self.belief.score_with_variance(list(self.belief.encode(rows)), scores, variances, counted, rows)
            out[:, 0], out[:, 1], out[:, 2] = scores, variances, counted

        parts = self.many(source, threads, partial=partial, first=first, work=fill, each=(3,))
        return Uncertain(parts[:, 0], parts[:, 1], parts[:, 2])

    def _slices(self, batch: pa.RecordBatch, threads: int) -> dict[str, Any]:
        """Return how to slice a batch among threads; its bytes tell how many values it has, texts included."""
        n, classes = batch.num_rows, len(self.belief.plain.log_prior)
        workers = threads_to_score(batch.nbytes // _BYTES, classes, threads)
        rows, missing = rows_at_a_time(n, classes, workers), self.belief.schema.missing
        return {"threads": workers, "missing": missing, "rows": rows}

    def _room(self, *shape: int) -> Floats:
        return np.empty((*shape, len(self.belief.plain.log_prior)))


def _length(rows: Any) -> int:
    """Return the number of rows; a sparse matrix has no length."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
