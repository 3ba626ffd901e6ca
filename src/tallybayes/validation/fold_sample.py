"""The rows to calibrate by, for many folds at once: so many of the lowest hashes that each fold finds its own.

A fold's model is calibrated by those of the lowest hashes among the rows it was trained on. The lowest of all rows, a
few more than are chosen for one model, nearly always hold them for every fold.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.engines import PartitionInfo
from tallybayes.evidence import count_partitions, count_threads, row_sample
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.partial import NUMBER, PartialEvidence, merged, open_partial
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.schema.schema import Schema
from tallybayes.sources import Source
from tallybayes.validation.row_info_partitions import Arrived, PartitionedRows, again
from tallybayes.validation.split import IntCodes

__all__ = ["Pool", "Wanted"]

# How many of the rows are a fold's own is a matter of chance: so many standard deviations are kept besides their due,
# and so much more, since texts differ in length.
_SURE, _SPARE = 6.0, 1.1
# Folds whose training rows are so small a part of all that more would have to be kept get a pass of their own.
_MOST_ROOM = 4.0


class Wanted(NamedTuple):
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
        """The choice among no rows."""
        return BottomKSample(schema, room=self.room)

    def of(self, arrived: Arrived, schema: Schema) -> BottomKSample:
        """The choice among the rows of a partition, each with its number among all; run where they lie."""
        found = self.none(schema)
        for first, batch in arrived.kept.pieces():
            at = np.arange(first, first + batch.num_rows)
            batch = batch.append_column(NUMBER, pa.array(arrived.first + at))
            if self.fold is not None:
                batch = batch.filter(pa.array(self.fold.trained_on(arrived.place[:, at])))
            found = found + BottomKSample.of(RowBatch(batch, 0, schema.missing), schema, self.room)
        return found.few(self.share)


class Fold(NamedTuple):
    """A fold of a repeat, and whether it is scored by those before it rather than by all others."""

    repeat: int
    number: int
    before: bool

    def trained_on(self, place: IntCodes) -> npt.NDArray[np.bool_]:  # (n,)
        """Which rows it is scored by, given the folds of each, (R, n)."""
        own = place[self.repeat]
        return np.asarray((own >= 0) & (own < self.number) if self.before else own != self.number)


class Pool:
    """Rows to calibrate by, of which each fold finds its own.

    Parameters
    ----------
    schema : Schema
        What each column is.
    rows : PartitionedRows
        All rows.
    place : ndarray of int32, shape (R, n)
        The fold of each row in each repeat, all of them numbered from 0.
    folds : int
        How many folds a repeat has.
    before : bool
        Whether a fold is scored by those before it.
    """

    def __init__(self, schema: Schema, rows: PartitionedRows, place: IntCodes, folds: int, *, before: bool) -> None:
        self._schema, self._rows, self._place, self._folds, self._before = schema, rows, place, folds, before
        self._share = count_partitions.share_of(len(rows.sizes))
        self._chosen: BottomKSample | None = None

    @property
    def wanted(self) -> Wanted:
        """What to ask of each partition, so that every fold finds enough."""
        has_weight = self._weighty()
        sizes = np.bincount(self._place[:, has_weight].ravel() + 1, minlength=1)[1:]
        left = np.cumsum(sizes) - sizes if self._before else has_weight.sum() - sizes
        least = left[left > 0].min(initial=len(has_weight)) / max(1, has_weight.sum())
        room = _SPARE * (1 + _SURE * np.sqrt((1 - min(1.0, least)) / row_sample.MOST_ROWS)) / least
        return Wanted(min(_MOST_ROOM, float(room)), self._share)

    @property
    def filled(self) -> bool:
        """Whether the rows are here."""
        return self._chosen is not None

    def fill(self, sent: BottomKSample) -> None:
        """Take what all partitions sent."""
        self._chosen, batch = sent.resolved(), sent.rows()
        numbers = np.zeros(0, np.int64) if batch is None else batch.column(NUMBER).to_numpy()
        self._of = self._place[:, numbers]  # (R, m) the folds of the rows that are here
        self._all_here = len(numbers) == int(self._weighty().sum())

    def choice(self, k: int) -> BottomKSample:
        """The rows by which the model of fold k is calibrated."""
        assert self._chosen is not None, "filled"
        fold = Fold(k // self._folds, k, self._before)
        found = self._chosen.among(fold.trained_on(self._of), all_kept=self._all_here)
        return self._asked_for(fold) if found is None else found

    def _asked_for(self, fold: Fold) -> BottomKSample:
        """The same for one fold alone, in a pass of its own: few from each partition, and all of its own if too few."""
        for share in (self._share, 1.0):
            wanted = Wanted(1.0, share, fold)
            sent = count_partitions.PackedSchema.of(self._schema)
            work, merge = partial(_chosen_there, sent, wanted), partial(_merged_there, sent)
            both = open_partial(self._rows.partitions.fold(work, merge, self._rows.own(self._place)), self._schema)
            assert both.chosen is not None
            if both.chosen.complete:
                break
        assert both.chosen is not None
        return both.chosen

    def _weighty(self) -> npt.NDArray[np.bool_]:
        return np.ones(len(self._rows), bool) if self._rows.weights is None else self._rows.weights > 0


def _chosen_there(sent: count_partitions.PackedSchema, wanted: Wanted, rows: Source, told: PartitionInfo) -> bytes:
    """Of the rows of one partition those to calibrate by; run where they lie."""
    schema = sent.opened()
    arrived = again(rows, told, schema)
    return PartialEvidence(
        Evidence.empty(schema), wanted.none(schema) if arrived is None else wanted.of(arrived, schema)
    ).pack()


def _merged_there(sent: count_partitions.PackedSchema, packed: Iterable[bytes]) -> bytes:
    return merged(packed, count_threads.nothing(sent.opened(), choose=True))
