"""The rows to calibrate by, for many folds at once: so many of the lowest hashes that each fold finds its own.

A fold's model is calibrated by those of the lowest hashes among the rows it was trained on. The lowest of all rows, a
few more than are chosen for one model, nearly always hold them for every fold.
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

__all__ = ["Fold", "FoldSample", "Sampling"]

# How many of the rows are a fold's own is a matter of chance: so many standard deviations are kept besides their due,
# and so much more, since texts differ in length.
_SURE, _SPARE = 6.0, 1.1
# Folds whose training rows are so small a part of all that more would have to be kept get a pass of their own.
_MOST_ROOM = 4.0


class Fold(NamedTuple):
    """A fold of a repeat, and whether it is scored by those before it rather than by all others."""

    repeat: int
    number: int
    before: bool

    def trained_on(self, place: IntCodes) -> npt.NDArray[np.bool_]:  # (n,)
        """Return which rows it is scored by, given the folds of each, (R, n)."""
        own = place[self.repeat]
        return np.asarray((own >= 0) & (own < self.number) if self.before else own != self.number)


class Sampling(NamedTuple):
    """Which rows each partition sends.

    Attributes
    ----------
    room : float
        How many times as many rows as calibrate one model.
    share : float
        Of these the share that each partition sends.
    fold : Fold or None
        The fold for which they are, of whose training rows alone they are chosen; None: of all rows.
    """

    room: float
    share: float
    fold: Fold | None = None

    def none(self, schema: Schema) -> BottomKSample:
        """Return the sample of no rows."""
        return BottomKSample(schema, room=self.room)

    def of(self, batch: pa.RecordBatch, first: int, place: IntCodes, schema: Schema) -> BottomKSample:
        """Return the sample of a batch, each row with its number among all.

        Parameters
        ----------
        batch : RecordBatch
            The rows.
        first : int
            How many of all rows come before them.
        place : ndarray of int32, shape (R, n)
            The fold of each in each repeat.
        schema : Schema
            What each column is.
        """
        batch = batch.append_column(NUMBER, pa.array(np.arange(first, first + batch.num_rows)))
        if self.fold is not None:
            batch = batch.filter(pa.array(self.fold.trained_on(place)))
        return BottomKSample.of(RowBatch(batch, 0, schema.missing), schema, self.room)


@dataclass
class FoldSample:
    """A sample of all rows, of which each fold finds its own.

    Attributes
    ----------
    info : RowInfo
        What is known of all rows.
    place : ndarray of int32, shape (R, n)
        The fold of each row in each repeat, all of them numbered from 0.
    folds : int
        How many folds a repeat has.
    before : bool
        Whether a fold is scored by those before it.
    take : callable
        Takes the sample of one fold alone, in a pass of its own.
    """

    info: RowInfo
    place: IntCodes
    folds: int
    before: bool
    take: Callable[[Sampling], BottomKSample]
    _sample: BottomKSample | None = None

    @property
    def _share(self) -> float:
        return count.share_of(len(self.info.sizes))

    @property
    def sampling(self) -> Sampling | None:
        """What to ask of each partition, so that every fold finds enough; None once that is here."""
        if self._sample is not None:
            return None
        has_weight = self.info.has_weight()
        sizes = np.bincount(self.place[:, has_weight].ravel() + 1, minlength=1)[1:]
        left = np.cumsum(sizes) - sizes if self.before else has_weight.sum() - sizes
        least = left[left > 0].min(initial=len(has_weight)) / max(1, has_weight.sum())
        room = _SPARE * (1 + _SURE * np.sqrt((1 - min(1.0, least)) / row_sample.MOST_ROWS)) / least
        return Sampling(min(_MOST_ROOM, float(room)), self._share)

    def fill(self, sample: BottomKSample) -> None:
        """Take the sample of all rows."""
        self._sample, batch = sample.resolved(), sample.rows()
        numbers = np.zeros(0, np.int64) if batch is None else batch.column(NUMBER).to_numpy()
        self._of = self.place[:, numbers]  # (R, m) the folds of the rows that are here
        self._all_here = len(numbers) == int(self.info.has_weight().sum())

    def of(self, k: int) -> BottomKSample:
        """Return the rows by which the model of fold k is calibrated."""
        assert self._sample is not None, "filled"
        fold = Fold(k // self.folds, k, self.before)
        found = self._sample.among(fold.trained_on(self._of), all_kept=self._all_here)
        return self._alone(fold) if found is None else found

    def _alone(self, fold: Fold) -> BottomKSample:
        """The same for one fold alone: few rows from each partition, and all of its own if these are too few."""
        found = self.take(Sampling(1.0, self._share, fold))
        return found if found.complete else self.take(Sampling(1.0, 1.0, fold))
