"""The contributions of the words of a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.events.inputs import Floats, Texts
from tallybayes.events.text.likelihood import TextLikelihood
from tallybayes.kernels.text import vectorise
from tallybayes.model import Model


@dataclass(frozen=True)
class TextContributions:
    """The distinct words of a text in one column."""

    column: str  # the text column
    words: tuple[str, ...]  # the distinct tokens (K,), in the order of the vocabulary
    times: Floats  # (K,): how often each is counted
    log: Floats  # (K, C): the term of all its occurrences for each class
    known: npt.NDArray[np.bool_]  # (K,): whether it is in the model's vocabulary
    # counts, documents: (K, C): the number of occurrences and of texts in each class
    counts: Floats
    documents: Floats


def spoken_words(model: Model, blocks: list[Any]) -> Iterator[TextContributions]:
    """Yield the words of the first row's texts by column, except missing texts."""
    for block, likelihood, data in zip(
        model.schema.blocks, model._calibrated_belief.plain.likelihoods, blocks, strict=True
    ):
        if not isinstance(likelihood, TextLikelihood) or not isinstance(data, Texts):
            continue
        statistic = likelihood.statistic
        for f, (name, words) in enumerate(zip(block.columns, likelihood.columns, strict=True)):
            text = data.columns[f].slice(0, 1)
            if text.null_count:
                continue
            found = vectorise(text, likelihood.event.tokens)
            tokens = tuple(found.vocabulary.to_pylist())
            times = np.zeros(len(tokens))
            times[found.indices] = 1.0 if words.distinct else found.data
            known = words.vocabulary.find(pa.array(tokens, pa.string())) >= 0
            length = float(times.sum() if words.unknown is not None else times[known].sum())
            log = likelihood.profile_in(f, tokens, length).log
            at = statistic.values_of(f)
            place = statistic.labels[f].find(pa.array(tokens, pa.string()))
            counted = [_counts(statistic.sums[key], at, place) for key in ("tokens", "documents")]
            yield TextContributions(name, tokens, times, times[:, None] * log, known, *counted)


def _counts(sums: Any, at: npt.NDArray[np.intp], place: npt.NDArray[np.intp]) -> Floats:  # (K, C)
    seen = place >= 0
    counts = np.zeros((len(place), sums.shape[0]))
    if seen.any():
        counts[seen] = sums.take(at[place[seen]], axis=1).to_float().T
    return counts
