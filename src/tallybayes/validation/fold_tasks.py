"""What is done with the rows of folds in each partition: they are counted, sampled and scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.categories import Categories
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData
from tallybayes.events.inputs import Floats
from tallybayes.evidence.count import Summing
from tallybayes.evidence.evidence import Evidence, count
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.inference.estimate import Belief
from tallybayes.inference.score import add_scores
from tallybayes.model import Model
from tallybayes.schema.schema import Schema
from tallybayes.sources import Source
from tallybayes.storage.transit import Models
from tallybayes.validation.fold_sample import Sampling
from tallybayes.validation.row_info import opened, pieces
from tallybayes.validation.split import IntCodes

__all__ = ["CountFolds", "ScoreFolds", "among"]

# Rows of fewer bytes are counted before a thread has started.
_THREAD_BYTES = 8 << 20
# Rows scored at a time: their scores stay in cache from the first column to the last.
_FEW_ROWS = 8192


@dataclass(frozen=True)
class CountFolds(Summing):
    """The evidence of some folds, class c of the k-th of them as class k·C + c; and a sample of all rows.

    Attributes
    ----------
    schema : Schema
        What each column is.
    classes : Categories
        The classes that the evidence of all rows knows.
    columns : sequence of str
        The columns that were read to count all rows.
    folds : range
        The folds to count.
    sampling : Sampling or None
        The rows to sample, if any.
    """

    schema: Schema
    classes: Categories
    columns: Sequence[str]
    folds: range
    sampling: Sampling | None

    def zero(self) -> PartialEvidence:
        """Return the result for no rows."""
        sample = None if self.sampling is None else self.sampling.none(self.schema)
        return PartialEvidence(Evidence.empty(self.schema), sample)

    def run(self, rows: Source, info: engines.PartitionInfo) -> PartialEvidence:
        """Count and sample the rows of one partition."""
        rows, own = opened(rows, info.own, self.schema, self.classes)
        assert own.classes is not None
        evidence, sample = Evidence.empty(self.schema), self.zero().chosen
        for at, batch in pieces(rows):
            for place in own.place[:, at] if self.folds else ():
                evidence = evidence + self._counted(batch, place, own.classes[at], info.threads)
            if self.sampling is not None and sample is not None:
                sample = sample + self.sampling.of(batch, own.first + at.start, own.place[:, at], self.schema)
        if self.sampling is not None and sample is not None and self.sampling.share < 1:
            sample = sample.few(self.sampling.share)
        return PartialEvidence(evidence, sample)

    def _counted(self, batch: pa.RecordBatch, place: IntCodes, classes: IntCodes, threads: int) -> Evidence:
        """The evidence of the folds in a batch."""
        # A class that has no weight in any row is none.
        some = (place >= self.folds.start) & (place < self.folds.stop) & (classes >= 0)
        if not some.any():
            return Evidence.empty(self.schema)
        code = (place - self.folds.start) * np.int64(len(self.classes)) + classes
        batch = batch.set_column(batch.schema.get_field_index(self.schema.label), self.schema.label, pa.array(code))
        return engines.fold(
            [batch if some.all() else batch.filter(pa.array(some))],
            lambda part, first: count(self.schema, part, first),
            lambda one, other: one + other,
            Evidence.empty(self.schema),
            threads=1 if batch.nbytes < _THREAD_BYTES else threads,
        )


@dataclass(frozen=True)
class ScoreFolds(engines.Task[Floats]):
    """The scores of the rows in some folds, repeat by repeat, and in the last column their temperature.

    Attributes
    ----------
    schema, classes, columns, folds
        As in `CountFolds`.
    models : Models
        The model by which each fold is scored.
    """

    schema: Schema
    classes: Categories
    columns: Sequence[str]
    folds: range
    models: Models

    def run(self, rows: Source, info: engines.PartitionInfo) -> Floats:  # (m, C + 1)
        """Score the rows of one partition."""
        rows, own = opened(rows, info.own, self.schema, self.classes)
        out = np.full((*own.place.shape, len(self.classes) + 1), np.nan)
        beliefs = self.models.beliefs
        for at, batch in pieces(rows):
            for place, scores in zip(own.place[:, at], out[:, at], strict=True):
                for k, held in _by_fold(batch, place, self.folds):
                    model, belief = self.models.models[k], beliefs[k]
                    if model is not None and belief is not None:
                        scores[held.rows] = self._scored(model, belief, held, at.start, info.threads)
        out[..., -1][np.isnan(out[..., -1])] = 1.0
        held_out = (own.place >= self.folds.start) & (own.place < self.folds.stop)
        return out.reshape(-1, out.shape[-1]) if held_out.all() else out[held_out]

    def pack(self, result: Floats) -> bytes:
        """Return the numbers as bytes."""
        return result.tobytes()

    def unpack(self, content: bytes) -> Floats:
        """Return the numbers that were packed."""
        return np.frombuffer(content).reshape(-1, len(self.classes) + 1)

    def _scored(self, model: Model, belief: Belief, held: _Held, first: int, threads: int) -> Floats:  # (m, C + 1)
        """The log joint of each row with each class, and by what it is multiplied to make probabilities of it."""
        out = np.empty((len(held.rows), len(model.classes)))
        sizes = None if model.temperature is None else np.zeros(len(out))

        def work(piece: pa.RecordBatch, start: int) -> None:
            here = slice(start, start + piece.num_rows)
            rows = RowBatch(piece, start, model.schema.missing)
            add_scores(model.schema, belief, model.choices, rows, out[here], None if sizes is None else sizes[here])

        try:
            engines.map_slices(held.batch, work, threads=threads, rows=_FEW_ROWS)
        except BadData:
            _row_by_row(model, held, first)
            raise
        temperature = np.ones(len(out))
        if sizes is not None and model.temperature is not None:
            temperature = model.temperature.at(sizes)
        return np.column_stack([among(self.classes, model, out), temperature])


class _Held(NamedTuple):
    """Rows of one fold, and where they stand in their piece."""

    batch: pa.RecordBatch
    rows: npt.NDArray[np.intp]  # (m,)


def _by_fold(batch: pa.RecordBatch, place: IntCodes, folds: range) -> Iterator[tuple[int, _Held]]:
    """The rows of each of some folds that has any."""
    narrow = place.astype(np.int16) if folds.stop < 1 << 15 else place
    order = np.argsort(narrow, kind="stable")  # of sixteen bits, by radix
    starts = np.searchsorted(place[order], np.arange(folds.start, folds.stop + 1))
    index = order[starts[0] : starts[-1]]
    held = _taken(batch, index)
    for k in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
        at = slice(starts[k] - starts[0], starts[k + 1] - starts[0])
        yield k, _Held(held.slice(at.start, at.stop - at.start), index[at])


def _taken(batch: pa.RecordBatch, index: npt.NDArray[np.intp]) -> pa.RecordBatch:
    if len(index) == batch.num_rows and (index[1:] > index[:-1]).all():
        return batch  # sorted by fold as they came
    return sources.take(batch, index)


def among(classes: Categories, model: Model, values: Floats) -> Floats:
    """Return values of a model's classes as values of all classes; −∞ for those it does not know."""
    if len(model.classes) == len(classes):
        return values
    spread = np.full((*values.shape[:-1], len(classes)), -np.inf)
    spread[..., classes.find(model.evidence.classes.array)] = values
    return spread


def _row_by_row(model: Model, held: _Held, first: int) -> None:
    """Raise what is wrong with a row, under the number that it has for the user."""
    for i, at in enumerate(held.rows):
        rows = RowBatch(held.batch.slice(i, 1), first + int(at), model.schema.missing)
        add_scores(model.schema, model.belief, model.choices, rows, np.empty((1, len(model.classes))))
