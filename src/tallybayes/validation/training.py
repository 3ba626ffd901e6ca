"""Training evidence of each fold: the total minus the fold, or the sum of the folds before it.

All folds are counted at once, each class of each fold as a class of its own: class c of fold k is class k·C + c. So the
total minus every fold is one subtraction, and the training evidence of a fold is a slice of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa

from tallybayes.categories import Categories
from tallybayes.events.statistic import Labels
from tallybayes.evidence.evidence import Evidence
from tallybayes.exact.array import Exact
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import Belief, log_prior, options_for


class OtherFolds:
    """Training evidence of each fold: all rows but its own.

    Examples
    --------
    >>> import tallybayes as tb
    >>> whole = tb.fit({"x": ["p", "q", "p"], "y": ["no", "yes", "yes"]}, "y").evidence
    >>> second = tb.fit({"x": ["q", "p"], "fold": [1, 3]}, "fold").evidence      # no, yes, no, yes
    >>> [str(left.classes) for left in OtherFolds(whole)(second, 2)]
    ["Categories('no', 'yes')", "Categories('no', 'yes')"]
    """

    def __init__(self, total: Evidence) -> None:
        self._total = total

    def __call__(self, counted: Evidence, folds: int) -> Iterator[Evidence]:
        """Return the total minus each fold."""
        total, C = self._total, len(self._total.classes)
        at = _codes(counted)
        each = np.tile(np.arange(C), folds)
        own = counted.rows.spread(at, folds * C)
        rows = total.rows.take(each) - own
        statistics = tuple(
            all_rows.of_classes(each, rows).subtract(fold.with_classes(at, own), rows)
            for all_rows, fold in zip(total.statistics, counted.statistics, strict=True)
        )
        left = self._left = Evidence(total.schema, total.classes, rows, statistics)
        self._folds = folds
        return (_part(left, k, total.classes) for k in range(folds))

    def beliefs(self, choices: Choices) -> list[Belief] | None:
        """Return the belief of each fold of the last call, estimated all at once; None where unsupported."""
        left, folds = self._left, self._folds
        alphas = choices.alpha.values() if isinstance(choices.alpha, Mapping) else [choices.alpha]
        if not left.rows.nonzero().all() or not {"evidence", "loo"}.isdisjoint(alphas):
            return None  # a class is empty, or a smoothing depends on the evidence
        resolved, each = choices.resolved(left, {}), []
        for block, statistic in zip(left.schema.blocks, left.statistics, strict=True):
            likelihoods = block.event.estimate_each(statistic, options_for(block, resolved), folds)
            if likelihoods is None:
                return None
            each.append(likelihoods)
        priors = log_prior(left.rows.to_float().reshape(folds, -1), left.classes, resolved.prior)
        return [Belief(prior, tuple(likelihoods)) for prior, *likelihoods in zip(priors, *each, strict=True)]


class EarlierBlocks:
    """Training evidence of each fold: the folds before it; the first has none."""

    def __init__(self, total: Evidence) -> None:
        self._classes = total.classes
        self._so_far = Evidence.empty(total.schema)

    def beliefs(self, choices: Choices) -> list[Belief] | None:
        """Return None: the classes differ from fold to fold."""
        return None

    def __call__(self, counted: Evidence, folds: int) -> Iterator[Evidence]:
        """Yield the sum of all folds before each, including those of earlier calls."""
        at, size = _codes(counted), folds * len(self._classes)
        rows = counted.rows.spread(at, size)
        statistics = tuple(statistic.with_classes(at, rows) for statistic in counted.statistics)
        parts = Evidence(counted.schema, self._classes, rows, statistics)
        for k in range(folds):
            yield self._so_far
            self._so_far = self._so_far + _part(parts, k, self._classes)


def one_after_another(parts: Sequence[Evidence]) -> Evidence:
    """Return the sum of evidence whose classes, which are numbers, rise from each part to the next.

    As the sum by `+`, in one step: ten repeats would be copied ten times, each time among more classes.

    Examples
    --------
    >>> import tallybayes as tb
    >>> a, b = (tb.fit({"x": ["p", "q"], "fold": folds}, "fold").evidence for folds in ([0, 1], [2, 3]))
    >>> one_after_another([a, b]) == a + b
    True
    """
    same = all(_labels(part) == _labels(parts[0]) for part in parts)
    if not same or any(one.sparse for s in parts[0].statistics for one in s.declared.values()):
        return reduce(add, parts)
    rows = Exact.concatenate([part.rows for part in parts])
    statistics = []
    for each in zip(*(part.statistics for part in parts), strict=True):
        sums = {name: Exact.concatenate([one.sums[name] for one in each]) for name in each[0].sums}
        statistics.append(replace(each[0], rows=rows, sums=sums))
    classes = Categories(pa.concat_arrays([part.classes.array for part in parts]))
    return Evidence(parts[0].schema, classes, rows, tuple(statistics))


def _labels(part: Evidence) -> list[Labels]:
    return [statistic.labels for statistic in part.statistics]


def _codes(counted: Evidence) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.asarray(counted.classes.array.to_numpy(zero_copy_only=False), np.intp)


def _part(parts: Evidence, k: int, classes: Categories) -> Evidence:
    """Return the evidence of classes k·C to k·C + C − 1 under their own names, without empty ones."""
    C = len(classes)
    codes = np.arange(k * C, k * C + C)
    some = parts.rows.nonzero()[codes]
    codes = codes[some]
    rows = parts.rows.take(codes)
    statistics = tuple(statistic.of_classes(codes, rows) for statistic in parts.statistics)
    return Evidence(parts.schema, classes.take(some), rows, statistics)
