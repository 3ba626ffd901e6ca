"""Each fold's rows scored by the evidence of other rows: counted once, added or subtracted, never refitted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence, count
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.estimate import Belief
from tallybayes.inference.posterior import ImpossibleRowWarning
from tallybayes.inference.score import add_scores
from tallybayes.model import Model
from tallybayes.sources import Source
from tallybayes.validation.fold_scorer import FoldScorer
from tallybayes.validation.row_info import LocalRows
from tallybayes.validation.split import IntCodes

__all__ = ["Held", "LocalFolds"]


# Rows of fewer bytes are counted before a thread has started.
_THREAD_BYTES = 8 << 20
# Rows scored at a time: their scores stay in cache from the first column to the last.
_FEW_ROWS = 8192


class Held(NamedTuple):
    """Rows of one piece, sorted by fold."""

    batch: pa.RecordBatch
    rows: npt.NDArray[np.intp]  # (m,) where the rows stood
    starts: npt.NDArray[np.intp]  # (K + 1,) where each fold begins among them


class Pass(NamedTuple):
    """Some folds: the evidence by which each is scored, a way to their rows, and to all beliefs at once if there is."""

    folds: range
    evidence: Iterator[Evidence]
    pieces: Callable[[], Iterable[Held]]
    beliefs: Callable[[], list[Belief] | None]


@dataclass(frozen=True)
class LocalFolds(FoldScorer):
    """The folds of one repeat, of rows that are read here.

    Attributes
    ----------
    rows : LocalRows
        The rows; their evidence is the total.
    place : ndarray of int32, shape (n,)
        The fold of each row; −1 for a row that is not held out.
    """

    rows: LocalRows
    place: IntCodes

    def pieces(self, wave: range) -> Iterator[Held]:
        """The rows of some folds, sorted by fold, piece by piece."""
        bounds = np.arange(wave.start, wave.stop + 1)
        for first, batch in self.rows.pieces():
            place = self.place[first : first + batch.num_rows]
            narrow = place.astype(np.int16) if self.folds < 1 << 15 else place
            order = np.argsort(narrow, kind="stable")  # of sixteen bits, by radix
            starts = np.searchsorted(place[order], bounds)
            index = order[starts[0] : starts[-1]]
            if not len(index):
                continue
            yield Held(_taken(batch, index), first + index, starts - starts[0])

    def score(self, scores: Floats, priors: Floats, temperature: Floats) -> None:
        """Score the rows of each fold by the evidence of the others, or of those before it.

        Parameters
        ----------
        scores : ndarray, shape (n, C)
            OUT: the log joint of each row that is held out with each class; −∞ for a class without evidence. Rows of
            a fold that there is no evidence for stay as they are.
        priors : ndarray, shape (K, C)
            OUT: the log of each fold's class prior.
        temperature : ndarray, shape (n,)
            OUT: by what each row's scores are multiplied to make honest probabilities of them, where that is not 1.
        """
        for wave, training, pieces, beliefs in self.passes():
            models = [self.model(k, evidence) for k, evidence in zip(wave, training, strict=True)]
            believed: list[Any] = beliefs() or [None if model is None else model.belief for model in models]
            for k, model, belief in zip(wave, models, believed, strict=True):
                priors[k] = -np.inf if model is None else self.among(model, belief.log_prior)
            for held in pieces():
                self.score_held(held, models, believed, scores, temperature)

    def passes(self) -> Iterator[Pass]:
        """The folds, as many at a time as fit into memory."""
        training, beliefs = self.training()
        for wave in self.waves():
            if self.rows.whole is None:
                evidence = training(self.counted(wave, self.pieces(wave)), len(wave))
                yield Pass(wave, evidence, partial(self.pieces, wave), beliefs)
            else:
                kept = list(self.pieces(wave))
                yield Pass(wave, training(self.counted(wave, kept), len(wave)), partial(list, kept), beliefs)

    def chosen(self, k: int, model: Model) -> BottomKSample:
        """Of the rows by which fold k is scored those that calibrate its model."""
        schema = model.schema
        return model._choose(self.training_rows(k), schema.label, weights=schema.weight, threads=self.threads)

    def training_rows(self, k: int) -> Source:
        """The rows by which fold k is scored."""

        def start() -> Iterator[pa.RecordBatch]:
            for first, batch in self.rows.pieces():
                place = self.place[first : first + batch.num_rows]
                yield batch.filter(pa.array((place >= 0) & (place < k) if self.before else place != k))

        return replace(self.rows.source, rows=None, again=True, start=start)

    def probabilities(self, k: int, evidence: Evidence, part: pa.RecordBatch) -> Floats:  # (n, C)
        """The probability of each class for each of some rows, by the model of fold k."""
        model = self.model(k, evidence)
        assert model is not None, "no evidence"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleRowWarning)
            p = model.predict_proba(part, threads=self.threads)
        if len(model.classes) == len(self.total.classes):
            return p
        spread = np.zeros((len(p), len(self.total.classes)))
        spread[:, self.known(model)] = p
        return spread

    def counted(self, wave: range, pieces: Iterable[Held]) -> Evidence:
        """The evidence of some folds, class c of the k-th of them as class k·C + c."""
        schema, C = self.total.schema, len(self.total.classes)
        at, whole = self.rows.source.schema.get_field_index(schema.label), self.rows.whole

        def marked() -> Iterator[pa.RecordBatch]:
            for held in pieces:
                classes = self.rows.classes[held.rows]
                code = (self.place[held.rows] - wave.start) * np.int64(C) + classes
                batch = held.batch.set_column(at, schema.label, pa.array(code))
                some = classes >= 0  # a class that has no weight in any row is none
                if some.any():
                    yield batch if some.all() else batch.filter(pa.array(some))

        return engines.fold(
            marked(),
            lambda batch, first: count(schema, batch, first),
            lambda left, right: left + right,
            Evidence.empty(schema),
            threads=1 if whole is not None and whole.nbytes < _THREAD_BYTES else self.threads,
        )

    def score_held(
        self, held: Held, models: Sequence[Model | None], believed: Sequence[Any], scores: Floats, temperature: Floats
    ) -> None:
        """Score rows of some folds, each by its model and what that believes."""
        out = np.full((len(held.rows), len(self.total.classes)), np.nan)
        for model, belief, start, stop in zip(models, believed, held.starts[:-1], held.starts[1:], strict=True):
            if model is None or start == stop:
                continue
            part = held.batch.slice(start, stop - start)
            try:
                mine, sizes = self._scored(model, belief, part)
            except BadData:
                _row_by_row(model, part, held.rows[start:stop])
                raise
            out[start:stop] = self.among(model, mine)
            if sizes is not None and model._temperature is not None:
                temperature[held.rows[start:stop]] = model._temperature.at(sizes)
        scores[held.rows] = out

    def _scored(self, model: Model, belief: Belief, part: pa.RecordBatch) -> tuple[Floats, Floats | None]:
        """The log joint of each row with each class that the model knows; and how much each row says, if it matters."""
        out = np.empty((part.num_rows, len(model.classes)))
        sizes = None if model._temperature is None else np.zeros(part.num_rows)

        def work(piece: pa.RecordBatch, start: int) -> None:
            here = slice(start, start + piece.num_rows)
            rows = RowBatch(piece, start, model.schema.missing)
            size = None if sizes is None else sizes[here]
            add_scores(model.schema, belief, model.choices, rows, out[here], size)

        engines.map_slices(part, work, threads=self.threads, rows=_FEW_ROWS)
        return out, sizes


def _row_by_row(model: Model, part: pa.RecordBatch, index: npt.NDArray[np.intp]) -> None:
    """Raise what is wrong with a row, under the number that it has for the user."""
    for i, at in enumerate(index):
        rows = RowBatch(part.slice(i, 1), int(at), model.schema.missing)
        add_scores(model.schema, model.belief, model.choices, rows, np.empty((1, len(model.classes))))


def _taken(batch: pa.RecordBatch, index: npt.NDArray[np.intp]) -> pa.RecordBatch:
    if len(index) == batch.num_rows and (index[1:] > index[:-1]).all():
        return batch  # sorted by fold as they came
    return sources.take(batch, index)
