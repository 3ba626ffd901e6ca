"""A bottom-k sample of messages for each class: the same messages whatever their order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes.events.inputs import Floats
from tallybayes.kernels.mail import MailTokens, select

__all__ = ["MessageSample", "Sampled"]

# Messages of a class whose tokens are kept for calibration: 6 KB each, and enough for one false positive in a thousand.
MOST_OF_A_CLASS = 8000
_BATCH = 512  # messages: as many as a thread scores at a time


class Sampled(NamedTuple):
    """Messages in the order of their ids, with their classes, and how many messages each stands for."""

    batches: list[MailTokens]
    classes: npt.NDArray[np.int32]  # (n,)
    weights: Floats  # (n,)


class MessageSample:
    """The messages with the lowest ids of each class, collected batch by batch."""

    def __init__(self, most: int = MOST_OF_A_CLASS) -> None:
        self._most = most
        self._batches: list[MailTokens] = []
        self._classes: list[npt.NDArray[np.int32]] = []
        self._seen: dict[int, int] = {}

    def add(self, tokens: MailTokens, classes: npt.NDArray[np.int32]) -> None:
        """Add a batch."""
        for c, n in zip(*np.unique(classes, return_counts=True), strict=True):
            self._seen[int(c)] = self._seen.get(int(c), 0) + int(n)
        self._batches.append(tokens)
        self._classes.append(classes)
        if sum(map(len, self._batches)) > 2 * self._most * len(self._seen) + 2 * len(tokens):
            kept = self.take()
            self._batches, self._classes = kept.batches, [kept.classes]

    def take(self) -> Sampled:
        """Return the sample."""
        if not self._batches:
            return Sampled([], np.zeros(0, np.int32), np.zeros(0))
        which = np.repeat(np.arange(len(self._batches)), [len(batch) for batch in self._batches])
        rows = np.concatenate([np.arange(len(batch)) for batch in self._batches])
        ids, classes = np.concatenate([batch.ids() for batch in self._batches]), np.concatenate(self._classes)
        order = np.lexsort((ids, classes))
        nth = np.arange(len(order)) - np.searchsorted(classes[order], classes[order])
        kept = order[nth < self._most]
        kept = kept[np.lexsort((classes[kept], ids[kept]))]
        found = classes[kept]
        share = {c: n / max(int((found == c).sum()), 1) for c, n in self._seen.items()}
        slices = [kept[first : first + _BATCH] for first in range(0, len(kept), _BATCH)]
        batches = [select(self._batches, which[one], rows[one]) for one in slices]
        return Sampled(batches, found, np.array([share[int(c)] for c in found]))
