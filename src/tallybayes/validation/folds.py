"""Each fold's rows scored by the evidence of other rows: counted once, added or subtracted, never refitted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import engines
from tallybayes.encode import Rows
from tallybayes.encoded import Floats
from tallybayes.errors import BadData
from tallybayes.estimate import Choices
from tallybayes.evidence import Evidence, count
from tallybayes.model import Model
from tallybayes.posterior import ImpossibleRowWarning
from tallybayes.score import add_scores
from tallybayes.scorer import Scorer
from tallybayes.validation.assign import Places
from tallybayes.validation.rows import Kept

__all__ = ["Folded", "Held", "Training"]

# From the evidence of some folds (class c of the k-th as class k·C + c) and their number: what each is scored by.
Training: TypeAlias = Callable[[Evidence, int], Iterable[Evidence]]

# Rows of fewer bytes are counted before a thread has started.
_THREAD_BYTES = 8 << 20
# No more rows are scored before the threads have started that would share them.
_FEW_ROWS = 8192
# Sums of at most so many classes and values are held at a time, all folds together; more folds take another pass.
_MOST_CELLS = 1 << 24


class Held(NamedTuple):
    """Rows of one piece, sorted by fold."""

    batch: pa.RecordBatch
    rows: npt.NDArray[np.intp]  # (m,) where the rows stood
    starts: npt.NDArray[np.intp]  # (K + 1,) where each fold begins among them


@dataclass(frozen=True)
class Folded:
    """What it takes to score the folds of one repeat.

    Attributes
    ----------
    total : Model
        The evidence of all rows, and how belief is made of it.
    rows : Kept
        The rows; their evidence is the total.
    place : ndarray of int32, shape (n,)
        The fold of each row; −1 for a row that is not held out.
    folds : int
        How many folds.
    threads : int
        How many threads count and score.
    """

    total: Model
    rows: Kept
    place: Places
    folds: int
    threads: int

    def waves(self) -> Iterator[range]:
        """Runs of folds whose sums fit into memory together."""
        cells = sum(int(np.prod(s.shape)) for part in self.total.evidence.statistics for s in part.sums.values())
        size = max(1, _MOST_CELLS // max(1, cells))
        for start in range(0, self.folds, size):
            yield range(start, min(start + size, self.folds))

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

    def score(self, training: Training, scores: Floats, priors: Floats) -> None:
        """Score the rows of each fold by the evidence that `training` gives for it.

        Parameters
        ----------
        training : callable
            What each fold is scored by; nothing at all leaves its rows as they are.
        scores : ndarray, shape (n, C)
            OUT: the log joint of each row that is held out with each class; −∞ for a class without evidence.
        priors : ndarray, shape (K, C)
            OUT: the log of each fold's class prior.
        """
        for wave in self.waves():
            pieces: Iterable[Held] = self.pieces(wave)
            if self.rows.whole is not None:
                pieces = list(pieces)
            counted = self.counted(wave, pieces)
            models = [self.model(evidence) for evidence in training(counted, len(wave))]
            for k, model in zip(wave, models, strict=True):
                priors[k] = -np.inf if model is None else self._among(model, model.belief.log_prior)
            for held in pieces if self.rows.whole is not None else self.pieces(wave):
                self._score(held, models, scores)

    def model(self, evidence: Evidence) -> Model | None:
        """The model of one fold: what is believed, given the evidence of other rows; None if there is none."""
        if not len(evidence.classes):
            return None
        return Model(evidence, _known_prior(self.total, evidence))

    def probabilities(self, evidence: Evidence, part: pa.RecordBatch) -> Floats:  # (n, C)
        """The probability of each class for each of some rows, by the model of some evidence."""
        model = self.model(evidence)
        assert model is not None, "no evidence"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleRowWarning)
            p = Scorer(model.schema, model.belief, model.choices, normalised=True).many([part], self.threads)
        return np.exp(self._among(model, np.log(p))) if len(model.classes) < len(self.total.classes) else p

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

    def _score(self, held: Held, models: list[Model | None], scores: Floats) -> None:
        out = np.full((len(held.rows), len(self.total.classes)), np.nan)
        for model, start, stop in zip(models, held.starts[:-1], held.starts[1:], strict=True):
            if model is None or start == stop:
                continue
            part = held.batch.slice(start, stop - start)
            try:
                out[start:stop] = self._among(model, self._scored(model, part))
            except BadData:
                _row_by_row(model, part, held.rows[start:stop])
                raise
        scores[held.rows] = out

    def _scored(self, model: Model, part: pa.RecordBatch) -> Floats:
        """The log joint of each row with each class that the model knows."""
        if part.num_rows > _FEW_ROWS:
            return Scorer(model.schema, model.belief, model.choices, normalised=False).many([part], self.threads)
        out = np.empty((part.num_rows, len(model.classes)))
        add_scores(model.schema, model.belief, model.choices, Rows(part, 0, model.schema.missing), out)
        return out

    def _among(self, model: Model, values: Floats) -> Floats:
        """Values of a model's classes as values of all classes; −∞ for those it does not know."""
        if len(model.classes) == len(self.total.classes):
            return values
        spread = np.full((*values.shape[:-1], len(self.total.classes)), -np.inf)
        spread[..., self.total.evidence.classes.find(model.evidence.classes.array)] = values
        return spread


def _known_prior(total: Model, evidence: Evidence) -> Choices:
    """The choices, with a given class prior cut down to the classes that there is evidence of."""
    choices = total.choices
    if isinstance(choices.prior, str) or len(evidence.classes) == len(total.classes):
        return choices
    given = np.exp(total.belief.log_prior)[total.evidence.classes.find(evidence.classes.array)]
    return replace(choices, prior=(given / given.sum()).tolist() if given.any() else "uniform")


def _row_by_row(model: Model, part: pa.RecordBatch, index: npt.NDArray[np.intp]) -> None:
    """Raise what is wrong with a row, under the number that it has for the user."""
    for i, at in enumerate(index):
        rows = Rows(part.slice(i, 1), int(at), model.schema.missing)
        add_scores(model.schema, model.belief, model.choices, rows, np.empty((1, len(model.classes))))


def _taken(batch: pa.RecordBatch, index: npt.NDArray[np.intp]) -> pa.RecordBatch:
    if len(index) == batch.num_rows and (index[1:] > index[:-1]).all():
        return batch  # sorted by fold as they came
    return batch.take(pa.array(index))
