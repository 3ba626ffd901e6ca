"""What scoring folds takes wherever their rows lie: as many at a time as fit into memory, and a model for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief
from tallybayes.model import Model
from tallybayes.validation.training import EarlierBlocks, OtherFolds

__all__ = ["FoldScorer"]

# Sums of at most so many classes and values are held at a time, all folds together; more folds take another pass.
_MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class FoldScorer(ABC):
    """Folds, each to be scored by the evidence of others.

    Attributes
    ----------
    total : Model
        The evidence of all rows, and how belief is made of it.
    folds : int
        How many folds.
    threads : int
        How many threads count and score.
    before : bool
        Whether a fold is scored by those before it, rather than by all others.
    """

    total: Model
    folds: int
    threads: int
    before: bool

    @abstractmethod
    def chosen(self, k: int, model: Model) -> BottomKSample:
        """Of the rows by which fold k is scored those that calibrate its model."""

    def waves(self) -> Iterator[range]:
        """Runs of folds whose sums fit into memory together."""
        cells = sum(int(np.prod(s.shape)) for part in self.total.evidence.statistics for s in part.sums.values())
        size = max(1, _MOST_CELLS // max(1, cells))
        for start in range(0, self.folds, size):
            yield range(start, min(start + size, self.folds))

    def training(self) -> tuple[OtherFolds | EarlierBlocks, Callable[[], list[Belief] | None]]:
        """The evidence by which each fold is scored, given theirs; and all beliefs at once, if they are to be had."""
        training = EarlierBlocks(self.total.evidence) if self.before else OtherFolds(self.total.evidence)
        choices = self.total.choices
        return training, lambda: None if choices.open(self.total.schema) else training.beliefs(choices)

    def model(self, k: int, evidence: Evidence) -> Model | None:
        """The model by which fold k is scored, given the evidence of its training rows; None if there is none."""
        if not len(evidence.classes):
            return None
        model = Model(evidence, _known_prior(self.total, evidence))
        if not model.choices.open(model.schema):
            return model
        return model._calibrated(self.chosen(k, model), self.threads)

    def among(self, model: Model, values: Floats) -> Floats:
        """Values of a model's classes as values of all classes; −∞ for those it does not know."""
        if len(model.classes) == len(self.total.classes):
            return values
        spread = np.full((*values.shape[:-1], len(self.total.classes)), -np.inf)
        spread[..., self.known(model)] = values
        return spread

    def known(self, model: Model) -> npt.NDArray[np.intp]:
        """Where a model's classes stand among all."""
        return self.total.evidence.classes.find(model.evidence.classes.array)


def _known_prior(total: Model, evidence: Evidence) -> Choices:
    """The choices, with a given class prior cut down to the classes that there is evidence of."""
    choices = total.choices
    if isinstance(choices.prior, str) or len(evidence.classes) == len(total.classes):
        return choices
    given = np.exp(total.belief.log_prior)[total.evidence.classes.find(evidence.classes.array)]
    return replace(choices, prior=(given / given.sum()).tolist() if given.any() else "uniform")
