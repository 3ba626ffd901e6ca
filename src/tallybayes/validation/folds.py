"""Cross-validation: each fold scored by evidence of other rows, added or subtracted and never refitted.

After the pass that counts all rows, all folds of all repeats take two more: one for the evidence of each fold and the
calibration rows, one for the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.display.progress import parts
from tallybayes.engines import Partitioned
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.fitting import add_structure
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief
from tallybayes.model import Model
from tallybayes.storage.portable_models import PortableModels
from tallybayes.validation.fold_sample import FoldSample, Sampling
from tallybayes.validation.fold_tasks import CountFolds, ScoreFolds, among
from tallybayes.validation.row_info import PartitionRows, RowInfo
from tallybayes.validation.split import IntCodes
from tallybayes.validation.training import EarlierBlocks, OtherFolds

# Cells of sums (class times value) that all folds of a pass hold together; further folds take another pass.
_MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Folds:
    """The folds of all repeats, each scored by the evidence of others.

    Fold k of repeat r is r·K + k.
    """

    total: Model  # the model of all rows: their evidence and the choices
    rows: Partitioned
    info: RowInfo  # class, weight and partition of each
    columns: Sequence[str]  # the columns that were read to count them
    given: IntCodes  # (R, n): the fold of each row within each repeat; −1 for a row that is not held out
    folds: int  # the number of folds in a repeat
    before: bool  # whether a fold is scored by the folds before it, rather than by all others
    threads: int  # the number of threads that count and score

    @cached_property
    def place(self) -> IntCodes:  # (R, n)
        """The fold of each row in each repeat, numbered across repeats."""
        first = np.arange(len(self.given), dtype=np.int32)[:, None] * np.int32(self.folds)
        return np.where(self.given < 0, np.int32(-1), self.given + first)

    @cached_property
    def _own(self) -> list[PartitionRows]:
        return self.info.own(self.place)

    @cached_property
    def _sample(self) -> FoldSample:
        def take(sampling: Sampling) -> BottomKSample:
            found = self._passed(range(0), sampling).chosen
            assert found is not None
            return found

        return FoldSample(self.info, self.place, self.folds, self.before, take)

    def score(self, scores: Floats, priors: Floats, calibrated: Floats | None) -> None:
        """Score the rows of each fold by the evidence of the others, or of those before it.

        OUT: `scores` (R, n, C), the log joint of each held-out row, −∞ for a class without evidence and NaN in a fold
        without training evidence; `priors` (R·K, C), the log prior of each fold; `calibrated` (R, n, C), the
        calibrated scores, where models are calibrated.
        """
        schema, classes = self.total.schema, self.total.evidence.classes
        for wave, models in self.models():
            priors[wave.start : wave.stop] = _priors(models, classes)
            task = ScoreFolds(schema, classes, self.columns, wave, models)
            held = (self.place >= wave.start) & (self.place < wave.stop)
            found = self.rows.each(task, own=self._own, threads=self.threads)
            for at, both in zip(self.info.slices(), found, strict=True):
                mine = held[:, at]
                for to, part in zip((scores, calibrated), both, strict=True):
                    if to is None:
                        continue
                    if mine.all():
                        to[:, at] = part.reshape(*mine.shape, len(classes))
                    else:
                        to[:, at][mine] = part

    def models(self) -> Iterator[tuple[range, PortableModels]]:
        """Yield the models that score the folds, as many folds at a time as fit into memory."""
        total = self.total
        training = EarlierBlocks(total.evidence) if self.before else OtherFolds(total.evidence)
        calibrated = total.choices.open(total.schema)
        for wave in self._waves():
            found = self._passed(wave, self._sample.sampling if calibrated else None)
            if found.chosen is not None:
                self._sample.fill(found.chosen)
            evidence = training(found.evidence, len(wave))
            beliefs = None if calibrated else training.beliefs(total.choices)
            yield wave, self._portable(wave, evidence, beliefs)

    def _portable(self, wave: range, evidence: Iterator[Evidence], beliefs: list[Belief] | None) -> PortableModels:
        if beliefs is not None:  # then only workers elsewhere need models, each with evidence of its own
            pairs = zip(wave, evidence, strict=True)
            return PortableModels(lambda: tuple(self.model(k, others) for k, others in pairs), tuple(beliefs))
        each = parts(list(zip(wave, evidence, strict=True)), len(self.given) * self.folds, wave.start)
        models = tuple(self.model(k, others) for k, others in each)
        return PortableModels(lambda: models)

    def model(self, k: int, evidence: Evidence) -> Model | None:
        """Return the model that scores fold k, given its training evidence; None if that is empty."""
        if not len(evidence.classes):
            return None
        choices = _known_prior(self.total, evidence)
        if not choices.open(evidence.schema):
            return Model(evidence, choices)
        sample = self._sample.of(k)
        # Interactions rest on the sampled rows: 50,000 of them fill their cells, and another pass would add little.
        found = add_structure(PartialEvidence(evidence, sample), choices, None, self.threads)
        return Model(found.evidence, choices)._calibrated(sample, self.threads)

    def _waves(self) -> Iterator[range]:
        """Yield ranges of folds whose sums fit into memory together."""
        cells = sum(int(np.prod(s.shape)) for part in self.total.evidence.statistics for s in part.sums.values())
        size, folds = max(1, _MOST_CELLS // max(1, cells)), len(self.given) * self.folds
        for start in range(0, folds, size):
            yield range(start, min(start + size, folds))

    def _passed(self, wave: range, sampling: Sampling | None) -> PartialEvidence:
        """Count some folds and sample the rows, in one pass."""
        task = CountFolds(self.total.schema, self.total.evidence.classes, self.columns, wave, sampling)
        return self.rows.fold(task, own=self._own, threads=self.threads)


def _priors(models: PortableModels, classes: Categories) -> Floats:  # (K, C)
    """Return the log prior of each fold's model; −∞ for a class that it does not know."""
    if models.given is not None:
        return np.stack([belief.log_prior for belief in models.given])
    out = np.full((len(models.models), len(classes)), -np.inf)
    for prior, model, belief in zip(out, models.models, models.beliefs, strict=True):
        if model is not None and belief is not None:
            prior[:] = among(classes, model, belief.log_prior)
    return out


def _known_prior(total: Model, evidence: Evidence) -> Choices:
    """Return the choices, with a class prior given by the user restricted to the classes in the evidence."""
    choices = total.choices
    if isinstance(choices.prior, str) or len(evidence.classes) == len(total.classes):
        return choices
    given = np.exp(total.belief.log_prior)[total.evidence.classes.find(evidence.classes.array)]
    return replace(choices, prior=(given / given.sum()).tolist() if given.any() else "uniform")
