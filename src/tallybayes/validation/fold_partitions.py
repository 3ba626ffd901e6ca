"""Rows scored where they lie, each by the evidence of others: models go out as bytes, scores come back.

After the pass that counts all rows, leaving one out takes one: a row's own part is known to whoever has the row. Folds
take two, however often they are drawn: the evidence of each fold, merged in a tree, and the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from tallybayes.engines import PartitionInfo
from tallybayes.events.inputs import Floats
from tallybayes.evidence import count_partitions
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.partial import PartialEvidence, merged, open_partial
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.kernels.text import Tokenizer
from tallybayes.model import Model
from tallybayes.sources import Source
from tallybayes.storage import model_file
from tallybayes.validation.fold_sample import Pool, Wanted
from tallybayes.validation.fold_scorer import FoldScorer
from tallybayes.validation.folds import LocalFolds
from tallybayes.validation.leave_one_out import each_left_out
from tallybayes.validation.row_info import LocalRows
from tallybayes.validation.row_info_partitions import PartitionedRows, again
from tallybayes.validation.split import IntCodes

__all__ = ["PartitionedFolds", "each_left_out_afar"]


def each_left_out_afar(total: Model, rows: PartitionedRows) -> tuple[Floats, Floats]:  # (n, C), (n,)
    """Each row's scores by all others, and how far they are believed."""
    answers = rows.partitions.each(partial(_left_out_there, _PackedModels.of([total])), rows.own())
    both = _scores_in(b"".join(answers), total)
    return both[:, :-1], both[:, -1]


@dataclass(frozen=True)
class PartitionedFolds(FoldScorer):
    """The folds of all repeats, of rows that lie elsewhere; fold k of repeat r is fold r·K + k.

    Attributes
    ----------
    rows : PartitionedRows
        The rows; their evidence is the total.
    place : ndarray of int32, shape (R, n)
        The fold of each row in each repeat; −1 for a row that is not held out.
    pool : Pool
        The rows to calibrate by.
    """

    rows: PartitionedRows
    place: IntCodes
    pool: Pool

    @classmethod
    def of(
        cls, total: Model, rows: PartitionedRows, place: IntCodes, folds: int, threads: int, *, before: bool
    ) -> PartitionedFolds:
        """The same, given the fold of each row within its repeat."""
        first = np.arange(len(place), dtype=np.int32)[:, None] * np.int32(folds)
        numbered = np.where(place < 0, np.int32(-1), place + first)
        pool = Pool(total.schema, rows, numbered, folds, before=before)
        return cls(total, len(place) * folds, threads, before, rows, numbered, pool)

    def score(self, scores: Floats, priors: Floats, temperature: Floats) -> None:
        """Score the rows of each fold by the evidence of the others, or of those before it.

        Parameters
        ----------
        scores : ndarray, shape (R, n, C)
            OUT: the log joint of each row that is held out with each class.
        priors : ndarray, shape (R·K, C)
            OUT: the log of each fold's class prior.
        temperature : ndarray, shape (R, n)
            OUT: by what each row's scores are multiplied to make honest probabilities of them, where that is not 1.
        """
        training, _ = self.training()
        own, sent = self.rows.own(self.place), _PackedModels.of([self.total])
        for wave in self.waves():
            evidence = training(self._counted(wave, sent, own), len(wave))
            models = [self.model(k, others) for k, others in zip(wave, evidence, strict=True)]
            for k, model in zip(wave, models, strict=True):
                priors[k] = -np.inf if model is None else self.among(model, model.belief.log_prior)
            answers = self.rows.partitions.each(
                partial(_scored_there, sent, _PackedModels.of(models), wave, self.folds), own
            )
            held = (self.place >= wave.start) & (self.place < wave.stop)
            for at, answer in zip(self.rows.slices(), answers, strict=True):
                both, mine = _scores_in(answer, self.total), held[:, at]
                scores[:, at][mine], temperature[:, at][mine] = both[:, :-1], both[:, -1]

    def chosen(self, k: int, model: Model) -> BottomKSample:
        """Of the rows by which fold k is scored those that calibrate its model."""
        return self.pool.choice(k)

    def _counted(self, wave: range, sent: _PackedModels, own: Sequence[bytes]) -> Evidence:
        """The evidence of some folds, and with it, the first time, the rows to calibrate by."""
        open_ones = self.total.choices.open(self.total.schema) and not self.pool.filled
        wanted = self.pool.wanted if open_ones else None
        work = partial(_counted_there, sent, wave, self.folds, wanted)
        merge = partial(_merged_there, count_partitions.PackedSchema.of(self.total.schema), wanted)
        both = open_partial(self.rows.partitions.fold(work, merge, own), self.total.schema)
        if both.chosen is not None:
            self.pool.fill(both.chosen)
        return both.evidence


class _PackedModels(NamedTuple):
    """Models as they travel: as bytes, and the functions that make words, which bytes do not hold, by column."""

    models: tuple[bytes | None, ...]
    tokenizers: tuple[tuple[str, Tokenizer], ...]

    @classmethod
    def of(cls, models: Sequence[Model | None]) -> _PackedModels:
        """The models, ready to go."""
        functions = (model.schema.tokenizers() for model in models if model is not None)
        contents = tuple(None if model is None else model_file.dump(model) for model in models)
        return cls(contents, tuple(next(functions, {}).items()))

    def opened(self) -> tuple[Model | None, ...]:
        """The models, where they have arrived."""
        return _arrived(self)

    def only(self) -> Model:
        """The model, where there is but one."""
        [model] = self.opened()
        assert model is not None
        return model


@lru_cache(2)
def _arrived(sent: _PackedModels) -> tuple[Model | None, ...]:
    """The models, remembered: a worker has many partitions, and to make beliefs takes longer than to score by them."""
    functions = dict(sent.tokenizers)
    models = (None if one is None else model_file.parse_bytes(one) for one in sent.models)
    return tuple(model_file.with_tokenizer(one, functions) if one and functions else one for one in models)


def _left_out_there(sent: _PackedModels, rows: Source, told: PartitionInfo) -> bytes:
    """The scores of the rows of one partition, each by all others; run where they lie."""
    total = sent.only()
    arrived = again(rows, told, total.schema, total.evidence.classes)
    return b"" if arrived is None else np.column_stack(each_left_out(total, arrived.kept, 1)).tobytes()


def _counted_there(
    sent: _PackedModels, wave: range, folds: int, wanted: Wanted | None, rows: Source, told: PartitionInfo
) -> bytes:
    """The evidence of some folds, as far as their rows lie in one partition; and of all rows some to calibrate by."""
    total = sent.only()
    arrived = again(rows, told, total.schema, total.evidence.classes)
    evidence = Evidence.empty(total.schema)
    if arrived is None:
        return PartialEvidence(evidence, None if wanted is None else wanted.none(total.schema)).pack()
    for folded in _each_repeat(total, arrived.kept, arrived.place, folds):
        evidence = evidence + folded.counted(wave, folded.pieces(wave))
    return PartialEvidence(evidence, None if wanted is None else wanted.of(arrived, total.schema)).pack()


def _merged_there(sent: count_partitions.PackedSchema, wanted: Wanted | None, packed: Iterable[bytes]) -> bytes:
    schema = sent.opened()
    return merged(packed, PartialEvidence(Evidence.empty(schema), None if wanted is None else wanted.none(schema)))


def _scored_there(
    sent: _PackedModels, models: _PackedModels, wave: range, folds: int, rows: Source, told: PartitionInfo
) -> bytes:
    """The scores of those rows of one partition that are in some folds, repeat by repeat."""
    total, each = sent.only(), models.opened()
    arrived = again(rows, told, total.schema, total.evidence.classes)
    if arrived is None:
        return b""
    believed = [None if model is None else model.belief for model in each]
    answers = []
    for folded in _each_repeat(total, arrived.kept, arrived.place, folds):
        scores, temperature = np.full((len(arrived.kept), len(total.classes)), np.nan), np.ones(len(arrived.kept))
        for held in folded.pieces(wave):
            folded.score_held(held, each, believed, scores, temperature)
        mine = (folded.place >= wave.start) & (folded.place < wave.stop)
        answers.append(np.column_stack([scores[mine], temperature[mine]]).tobytes())
    return b"".join(answers)


def _each_repeat(total: Model, kept: LocalRows, place: IntCodes, folds: int) -> Iterator[LocalFolds]:
    for one in place:
        yield LocalFolds(total, folds, 1, before=False, rows=kept, place=one)


def _scores_in(answer: bytes, total: Model) -> Floats:  # (m, C + 1)
    """Scores, and in the last column how far they are believed."""
    return np.frombuffer(answer).reshape(-1, len(total.classes) + 1)
