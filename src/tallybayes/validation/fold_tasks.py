"""Tasks that count, sample and score the rows of folds in each partition."""

from __future__ import annotations

import operator
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
from tallybayes.events.inputs import Dense, Floats
from tallybayes.evidence.count import Summing
from tallybayes.evidence.evidence import Evidence, count, count_classes
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.inference.estimate import Belief
from tallybayes.inference.score import add_encoded, add_scores, map_rows
from tallybayes.model import Model
from tallybayes.schema.schema import Schema
from tallybayes.sources import Source
from tallybayes.storage.portable_models import PortableModels
from tallybayes.validation.fold_sample import Sampling
from tallybayes.validation.row_info import open_partition, pieces
from tallybayes.validation.split import IntCodes
from tallybayes.validation.training import one_after_another

# Bytes; counting fewer takes less time than starting a thread.
_THREAD_BYTES = 8 << 20


@dataclass(frozen=True)
class CountFolds(Summing):
    """A count of some folds, and a sample of all rows.

    Class c of the k-th fold is stored as class k·C + c.
    """

    schema: Schema  # the type of each column
    classes: Categories  # the classes in the evidence of all rows
    columns: Sequence[str]  # the columns that were read to count all rows
    folds: range  # the folds to count
    sampling: Sampling | None  # the rows to sample, if any

    def zero(self) -> PartialEvidence:
        """Return the result for no rows."""
        sample = None if self.sampling is None else self.sampling.none(self.schema)
        return PartialEvidence(Evidence.empty(self.schema), sample)

    def run(self, rows: Source, info: engines.PartitionInfo) -> PartialEvidence:
        """Count and sample the rows of one partition."""
        rows, own = open_partition(rows, info.own, self.schema, self.classes)
        assert own.classes is not None
        evidence, sample = Evidence.empty(self.schema), self.zero().chosen
        for at, batch in pieces(rows):
            encoded = RowBatch(batch, at.start, self.schema.missing)  # once for all repeats
            repeats = own.place[:, at] if self.folds else ()
            counted = [self._count(encoded, place, own.classes[at], info.threads) for place in repeats]
            some = [one for one in counted if len(one.classes)]
            evidence = evidence + one_after_another(some) if some else evidence
            if self.sampling is not None and sample is not None:
                sample = sample + self.sampling.of(batch, own.first + at.start, own.place[:, at], self.schema)
        if self.sampling is not None and sample is not None and self.sampling.share < 1:
            sample = sample.few(self.sampling.share)
        return PartialEvidence(evidence, sample)

    def _count(self, rows: RowBatch, place: IntCodes, classes: IntCodes, threads: int) -> Evidence:
        """Return the evidence of the folds in a batch."""
        batch = rows.batch
        # Code −1 is a class without weight in any row; it is not a class of the evidence.
        some = (place >= self.folds.start) & (place < self.folds.stop) & (classes >= 0)
        if not some.any():
            return Evidence.empty(self.schema)
        code = (place - self.folds.start) * np.int64(len(self.classes)) + classes
        if batch.nbytes < _THREAD_BYTES and some.all():
            first = int(code.min())
            labels = Categories(pa.array(np.arange(first, int(code.max()) + 1)))
            return count_classes(self.schema, rows, (code - first).astype(np.int32), labels)
        batch = batch.set_column(batch.schema.get_field_index(self.schema.label), self.schema.label, pa.array(code))
        return engines.fold(
            [batch if some.all() else batch.filter(pa.array(some))],
            lambda part, first: count(self.schema, part, first),
            operator.add,
            Evidence.empty(self.schema),
            threads=1 if batch.nbytes < _THREAD_BYTES else threads,
        )


class Scores(NamedTuple):
    """Scores of rows for each class, before and after calibration; the same array where there is none."""

    scores: Floats  # (m, C)
    calibrated: Floats  # (m, C)


@dataclass(frozen=True)
class ScoreFolds(engines.Task[Scores]):
    """The scores of the rows in some folds, repeat by repeat; NaN for a fold without training evidence."""

    # schema, classes, columns, folds: as in `CountFolds`
    schema: Schema
    classes: Categories
    columns: Sequence[str]
    folds: range
    models: PortableModels  # the model that scores each fold

    def run(self, rows: Source, info: engines.PartitionInfo) -> Scores:
        """Score the rows of one partition."""
        rows, own = open_partition(rows, info.own, self.schema, self.classes)
        shape, beliefs = (*own.place.shape, len(self.classes)), self.models.beliefs
        scores = np.empty(shape)
        calibrated = np.empty(shape) if self.models.calibrated else scores
        for at, batch in pieces(rows):
            numbers = self._numbers(batch, at.start)
            for r, place in enumerate(own.place[:, at]):
                held = _sorted(batch, place, self.folds)
                plain = None if numbers is None else self._score_numbers(held, numbers, beliefs)
                found = self._score(held, beliefs, at.start, info.threads) if plain is None else plain
                scores[r, at][held.rows] = found.scores
                if calibrated is not scores:
                    calibrated[r, at][held.rows] = found.calibrated
        held_out = (own.place >= self.folds.start) & (own.place < self.folds.stop)
        first = scores.reshape(-1, shape[-1]) if held_out.all() else scores[held_out]
        if not self.models.calibrated:
            return Scores(first, first)
        return Scores(first, calibrated.reshape(-1, shape[-1]) if held_out.all() else calibrated[held_out])

    def pack(self, result: Scores) -> bytes:
        """Return the numbers as bytes."""
        return b"".join(part.tobytes() for part in (result if self.models.calibrated else result[:1]))

    def unpack(self, content: bytes) -> Scores:
        """Return the numbers that were packed."""
        parts = np.frombuffer(content).reshape(1 + self.models.calibrated, -1, len(self.classes))
        return Scores(parts[0], parts[-1])

    def _numbers(self, batch: pa.RecordBatch, first: int) -> list[Dense] | None:
        """Return the columns of few rows, encoded once for all folds; None where each fold has its own codes.

        For a fold of a thousand rows, encoding takes several times as long as scoring.
        """
        if self.models.given is None or batch.nbytes >= _THREAD_BYTES:
            return None
        rows = RowBatch(batch, first, self.schema.missing)
        encoded = [rows.encode(block) for block in self.schema.blocks]
        numbers = [data for data in encoded if isinstance(data, Dense)]
        return numbers if len(numbers) == len(encoded) else None

    def _score_numbers(self, held: _Held, numbers: list[Dense], beliefs: Sequence[Belief | None]) -> Scores | None:
        """Return the scores by beliefs that know all classes; None where any is not finite, and may be an error."""
        scores = np.empty((len(held.rows), len(self.classes)))
        for k, at in held.folds():
            belief, index = beliefs[k], held.rows[at]
            assert belief is not None
            add_encoded(self.schema, belief, [data.take(index) for data in numbers], scores[at])
        return Scores(scores, scores) if np.isfinite(scores).all() else None

    def _score(self, held: _Held, beliefs: Sequence[Belief | None], first: int, threads: int) -> Scores:
        shape = len(held.rows), len(self.classes)
        scores = np.full(shape, np.nan)
        batch = held.batch()
        out = Scores(scores, np.full(shape, np.nan) if self.models.calibrated else scores)
        for k, at in held.folds():
            model, belief = self.models.models[k], beliefs[k]
            if model is None or belief is None:
                continue
            part = batch.slice(at.start, at.stop - at.start)
            all_known = len(model.classes) == len(self.classes)
            size = part.num_rows, len(model.classes)
            mine = out.scores[at] if all_known else np.empty(size)
            after = out.calibrated[at] if all_known else np.empty(size)
            try:
                _score(model, belief, part, mine, after if self.models.calibrated else None, threads)
            except BadData:
                _score_singly(model, part, first + held.rows[at])
                raise
            if not all_known:
                out.scores[at] = among(self.classes, model, mine)
                if self.models.calibrated:
                    out.calibrated[at] = among(self.classes, model, after)
        return out


def _score(
    model: Model, belief: Belief, part: pa.RecordBatch, out: Floats, calibrated: Floats | None, threads: int
) -> None:
    """Write the log joint of each row and class of the model, and the calibrated scores."""

    def work(rows: RowBatch, out: Floats, calibrated: Floats | None) -> None:
        if calibrated is None:
            add_scores(model.schema, belief, model.choices, rows, out)
        else:
            model._calibrated_belief.score_both(belief, rows, out, calibrated)

    map_rows(part, work, out, calibrated, threads=threads, missing=model.schema.missing)


class _Held(NamedTuple):
    """Rows of some folds, sorted by fold."""

    piece: pa.RecordBatch  # the rows of all folds, in the order of the data
    rows: npt.NDArray[np.intp]  # (m,) the position of each row in its piece
    starts: npt.NDArray[np.intp]  # (K + 1,) the position of each fold's first row

    def folds(self) -> Iterator[tuple[int, slice]]:
        """Yield the number of each fold that has rows, and their range."""
        for k in np.flatnonzero(self.starts[1:] > self.starts[:-1]).tolist():
            yield k, slice(self.starts[k], self.starts[k + 1])

    def batch(self) -> pa.RecordBatch:
        """Return the rows in the order of their folds."""
        in_order = len(self.rows) == self.piece.num_rows and (self.rows[1:] > self.rows[:-1]).all()
        return self.piece if in_order else sources.take(self.piece, self.rows)


def _sorted(batch: pa.RecordBatch, place: IntCodes, folds: range) -> _Held:
    """Return the rows of some folds, sorted by fold."""
    narrow = place.astype(np.int16) if folds.stop < 1 << 15 else place
    order = np.argsort(narrow, kind="stable")  # NumPy sorts 16 bits by radix
    starts = np.searchsorted(place[order], np.arange(folds.start, folds.stop + 1))
    return _Held(batch, order[starts[0] : starts[-1]], starts - starts[0])


def among(classes: Categories, model: Model, values: Floats, fill: float = -np.inf) -> Floats:
    """Return values of a model's classes as values of all classes; `fill` for those not in the model."""
    if len(model.classes) == len(classes):
        return values
    spread = np.full((*values.shape[:-1], len(classes)), fill)
    spread[..., classes.find(model.evidence.classes.array)] = values
    return spread


def _score_singly(model: Model, part: pa.RecordBatch, index: npt.NDArray[np.intp]) -> None:
    """Score row by row, so that the error names the row by the user's row number."""
    for i, at in enumerate(index):
        rows = RowBatch(part.slice(i, 1), int(at), model.schema.missing)
        add_scores(model.schema, model.belief, model.choices, rows, np.empty((1, len(model.classes))))
