"""Calibration rows for all folds in one pass: a sample large enough to contain every fold's own.

A fold's model is calibrated by the bottom-k sample of its training rows. A somewhat larger bottom-k sample of all rows
nearly always contains that of every fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.evidence import count, row_sample
from tallybayes.evidence.partial import NUMBER
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.schema.schema import Schema
from tallybayes.validation.row_info import RowInfo
from tallybayes.validation.split import IntCodes

# How many sampled rows a fold trains on is random: keep this many standard deviations above the expected number, and a
# tenth more since texts differ in length.
_SURE, _SPARE = 6.0, 1.1
# Times the usual sample; a fold with so few training rows that more would be needed takes a pass of its own.
_MOST_ROOM = 4.0


class Fold(NamedTuple):
    """A fold of a repeat; `before` says that it is scored by the folds before it, not by all others."""

    repeat: int
    number: int
    before: bool

    def trained_on(self, place: IntCodes) -> npt.NDArray[np.bool_]:  # (n,)
        """Return the mask of its training rows; `place`, (R, n), holds the fold of each row."""
        own = place[self.repeat]
        return np.asarray((own >= 0) & (own < self.number) if self.before else own != self.number)


class Sampling(NamedTuple):
    """The sample that each partition sends."""

    room: float  # the size of the sample, as a multiple of the one that calibrates one model
    share: float  # the fraction of the sample that each partition sends
    fold: Fold | None = None  # the fold whose training rows are sampled; None samples all rows

    def none(self, schema: Schema) -> BottomKSample:
        """Return the sample of no rows."""
        return BottomKSample(schema, room=self.room)

    def of(self, batch: pa.RecordBatch, first: int, place: IntCodes, schema: Schema) -> BottomKSample:
        """Return the sample of a batch, each row with its number among all.

        `first` is the number of rows before the batch, `place` (R, n) the fold of each row in each repeat.
        """
        batch = batch.append_column(NUMBER, pa.array(np.arange(first, first + batch.num_rows)))
        if self.fold is not None:
            batch = batch.filter(pa.array(self.fold.trained_on(place)))
        return BottomKSample.of(RowBatch(batch, 0, schema.missing), schema, self.room)


@dataclass
class FoldSample:
    """A sample of all rows that contains the sample of each fold."""

    info: RowInfo  # class, weight and partition of all rows
    place: IntCodes  # (R, n): the fold of each row in each repeat; fold k of repeat r is r·K + k
    folds: int  # the number of folds in a repeat
    before: bool  # whether a fold is scored by the folds before it
    take: Callable[[Sampling], BottomKSample]  # takes the sample of one fold, in a pass of its own
    _sample: BottomKSample | None = None

    @property
    def _share(self) -> float:
        return count.share_of(len(self.info.sizes))

    @property
    def sampling(self) -> Sampling | None:
        """The sample to take of each partition so that every fold has enough; None once it is taken."""
        if self._sample is not None:
            return None
        has_weight = self.info.has_weight()
        sizes = np.bincount(self.place[:, has_weight].ravel() + 1, minlength=1)[1:]
        left = np.cumsum(sizes) - sizes if self.before else has_weight.sum() - sizes
        least = left[left > 0].min(initial=len(has_weight)) / max(1, has_weight.sum())
        room = _SPARE * (1 + _SURE * np.sqrt((1 - min(1.0, least)) / row_sample.MOST_ROWS)) / least
        return Sampling(min(_MOST_ROOM, float(room)), self._share)

    def fill(self, sample: BottomKSample) -> None:
        """Store the sample of all rows."""
        self._sample, batch = sample.resolved(), sample.rows()
        numbers = np.zeros(0, np.int64) if batch is None else batch.column(NUMBER).to_numpy()
        self._of = self.place[:, numbers]  # (R, m) the folds of the sampled rows
        self._all_sampled = len(numbers) == int(self.info.has_weight().sum())

    def of(self, k: int) -> BottomKSample:
        """Return the rows that calibrate the model of fold k."""
        assert self._sample is not None, "filled"
        fold = Fold(k // self.folds, k, self.before)
        found = self._sample.among(fold.trained_on(self._of), all_kept=self._all_sampled)
        if found is not None:
            return found
        # A pass of its own: few rows from each partition, or all of them if these are too few.
        found = self.take(Sampling(1.0, self._share, fold))
        return found if found.complete else self.take(Sampling(1.0, 1.0, fold))
