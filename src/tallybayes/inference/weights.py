"""Weights of columns: what calibration fits, and how a belief takes them on.

The score of a row is (1 − m) · plain + m · weighted, m a power of the share of the other columns that the row has. So a
row that names one column is answered by that column's counts, and a whole row by the weighted belief.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from tallybayes.categories import Categories
from tallybayes.display.number_of import number_of
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.families.weighted_likelihood import WeightedLikelihood
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import Likelihood
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.choices import Choices
from tallybayes.inference.common_weight import CommonWeight
from tallybayes.inference.estimate import Belief
from tallybayes.inference.score import add_scores
from tallybayes.schema.schema import Schema

__all__ = ["ColumnWeight", "ColumnWeights", "share_of_others"]

_SHOWN = 10  # weights that one line of text has room for


@dataclass(frozen=True, eq=False)
class ColumnWeight:
    """The weight of a column, and what is added to its terms.

    Attributes
    ----------
    weight : float
        The factor of its log-likelihood.
    cells : Categories, ndarray or None
        The values that have a correction each, or the bounds between the bins that have one; None for no corrections.
    table : ndarray, shape (K, C)
        The corrections: one for each value and one for all others, or one for each bin.
    missing : ndarray, shape (C,)
        What is added where the value is missing.
    """

    weight: float
    cells: Categories | Floats | None
    table: Floats
    missing: Floats

    def additions(self, cells: Categories | Floats, index: Any) -> Floats:  # (V, C)
        """Return the correction of each cell of a likelihood, among the model's classes."""
        if isinstance(self.cells, Categories) and isinstance(cells, Categories):
            found = self.cells.find(cells.array)
            place = np.where(found < 0, len(self.cells), found)
        else:
            place = np.searchsorted(np.asarray(self.cells), np.asarray(cells), side="right")
        return _among(self.table[place], index)


@dataclass(frozen=True, eq=False)
class ColumnWeights:
    """The weights of all columns, and the bias of each class.

    Attributes
    ----------
    classes : Categories
        The classes that corrections and bias refer to.
    columns : mapping of str to ColumnWeight
        The weight of each column; one that is not named has 1.
    bias : ndarray, shape (C,)
        What is added to the log of the class prior.
    fading : int
        The power in m: the higher, the sooner weights fade where columns are missing. Columns that repeat each other
        need weights even in twos and threes; columns that only tell together need them in whole rows alone.
    """

    classes: Categories
    columns: Mapping[str, ColumnWeight]
    bias: Floats
    fading: int = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnWeights) and _plain(self) == _plain(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the weights alone: tables of corrections would fill pages."""
        first = [f"{name} {one.weight:.3g}" for name, one in islice(self.columns.items(), _SHOWN)]
        more = [f"and {len(self.columns) - _SHOWN:,} more"] if len(self.columns) > _SHOWN else []
        return f"<weights of {number_of(len(self.columns), 'column')}: {', '.join(first + more)}>"

    @classmethod
    def common(cls, weight: float, columns: Sequence[str], classes: Categories) -> ColumnWeights:
        """Return the same weight for all columns, without corrections."""
        nothing = np.zeros(len(classes))
        one = ColumnWeight(weight, None, nothing[None][:0], nothing)
        return cls(classes, CommonWeight(columns, one), nothing)

    def apply(self, belief: Belief, schema: Schema, classes: Categories) -> Belief:
        """Return the belief of whole rows: each column's terms weighted and corrected."""
        index = self.classes.find(classes.array) if len(classes) else np.zeros(0, np.intp)
        likelihoods = tuple(
            self._weighted(likelihood, block.columns, index)
            for block, likelihood in zip(schema.blocks, belief.likelihoods, strict=True)
        )
        return replace(belief, log_prior=belief.log_prior + _among(self.bias, index), likelihoods=likelihoods)

    def corrections(self, belief: Belief, choices: Choices, evidence: Evidence, rows: RowBatch) -> Floats:  # (n, C)
        """Return what is added to the scores of whole rows, beside weighted terms: bias and corrections."""
        nothing = {name: replace(one, weight=0.0) for name, one in self.columns.items()}
        alone = replace(self, columns=nothing).apply(belief, evidence.schema, evidence.classes)
        out = np.empty((len(rows), len(evidence.classes)))
        add_scores(evidence.schema, alone, choices, rows, out)
        out -= belief.log_prior
        out[~np.isfinite(out)] = 0.0  # impossible with or without corrections
        return out

    def bias_of(self, classes: Categories) -> Floats:  # (C,)
        """Return the bias of each of the given classes."""
        return _among(self.bias, self.classes.find(classes.array))

    def of(self, names: Sequence[str], otherwise: Floats | None = None) -> Floats:  # (F,)
        """Return the weight of each of some columns; 1, or what is given, for a column without one."""
        plain = np.ones(len(names)) if otherwise is None else otherwise
        found = (self.columns.get(name) for name in names)
        return np.array([one if mine is None else mine.weight for mine, one in zip(found, plain, strict=True)])

    def _weighted(self, likelihood: Likelihood, names: Sequence[str], index: Any) -> Likelihood:
        if isinstance(self.columns, CommonWeight) and self.columns.names == names:  # which has no corrections
            return likelihood.scaled(np.full(len(names), self.columns.weight.weight), {})
        mine = [self.columns.get(name) for name in names]
        scale = np.array([1.0 if one is None else one.weight for one in mine])
        additions: dict[int, Floats] = {}
        missing = np.zeros((len(names), len(index)))
        for f, one in enumerate(mine):
            cells = None if one is None else likelihood.cells(f)
            if one is None:
                continue
            missing[f] = _among(one.missing, index)
            if one.cells is not None and cells is not None:
                additions[f] = one.additions(cells, index)
        weighted = likelihood.scaled(scale, additions)
        return (
            WeightedLikelihood(weighted.statistic, weighted.options, weighted, missing) if missing.any() else weighted
        )


def share_of_others(present: Floats, columns: int, fading: int = 1) -> Floats:  # (n,)
    """Return a power of the share of the other columns that rows have, given how many they have in all.

    Examples
    --------
    >>> share_of_others(np.array([0.0, 1.0, 2.0, 5.0]), 5)
    array([0.  , 0.  , 0.25, 1.  ])
    """
    share = np.maximum(present - 1.0, 0.0) / max(columns - 1, 1)
    power = share if fading else np.ones_like(share)
    for _ in range(fading - 1):  # NumPy's power has other bits on other processors
        power = power * share
    return power


def _among(values: Floats, index: Any) -> Floats:
    """Return values (..., C) of the fitted classes for the model's classes; 0 for a class that is new."""
    padded = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
    return np.asarray(padded[..., index])


def _plain(weights: ColumnWeights) -> Any:
    def cells(one: ColumnWeight) -> Any:
        return (
            one.cells.values if isinstance(one.cells, Categories) else None if one.cells is None else one.cells.tolist()
        )

    return (
        weights.classes.values,
        weights.bias.tolist(),
        weights.fading,
        {k: (one.weight, cells(one), one.table.tolist(), one.missing.tolist()) for k, one in weights.columns.items()},
    )
