"""Choose the columns that a model with weights needs, by rows left out and by nested folds."""

from __future__ import annotations

import numpy as np

from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.explain.eliminate import MOST_LOST, eliminate
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.nested_folds import FoldLosses, losses_of_fold, nested_folds
from tallybayes.inference.sampled_rows import SampledRows

__all__ = ["choose_columns"]

# Rows in which a column does not have its most frequent value, and a copy has the same: two rare values that were seen
# together once or twice will be seen apart, and each tells of its own class then.
_FEWEST_ALIKE = 20
# Rows in folds: a column of noise costs some 0.0002 nats, so twenty of them are told apart from the error of these.
_ENOUGH = 5000
# Standard errors, for 95 % confidence that folds are predicted no worse: with one, every sixth table would lose columns
# by luck, where it makes no difference on average.
_ERRORS = 1.645


def choose_columns(
    evidence: Evidence, choices: Choices, rows: SampledRows, most: int | None, held: set[str]
) -> list[str]:
    """Return the columns to keep.

    Columns that are dropped by the labels of rows look less needed on these rows than on new ones. So without a number
    of columns to keep, others than constants and copies are dropped only if nested folds, each without as many columns,
    are surely predicted no worse. The error of few rows is large: they drop columns only where that helps.

    Parameters
    ----------
    evidence : Evidence
        The evidence of the columns, without products.
    choices : Choices
        How the columns are estimated; every smoothing is a number.
    rows : SampledRows
        Rows of the evidence.
    most : int, optional
        The number of columns to keep.
    held : set of str
        Columns that stay, unless they are too many.
    """
    distinct = list(evidence.schema.columns) if most is not None else _distinct(evidence, choices, rows, held)
    if len(distinct) < len(evidence.schema.columns):
        evidence = evidence.select(distinct)
    rows = rows.with_others(evidence, len(rows))
    kept = _needed(evidence, choices, rows, len(distinct) if most is None else most, held)
    if most is not None or len(kept) == len(distinct):
        return kept
    losses = FoldLosses()
    for counted, train, test in nested_folds(evidence, rows, _ENOUGH):
        fewer = counted.select(_needed(counted, choices, train.with_others(counted, len(train)), len(kept), held))
        without, whole = (losses_of_fold(one, choices, train, test) for one in (fewer, counted))
        losses.add(without, whole, test)
    mean, error = losses.mean()
    return kept if mean + _ERRORS * error <= MOST_LOST else distinct


def _needed(evidence: Evidence, choices: Choices, rows: SampledRows, most: int, held: set[str]) -> list[str]:
    """Return the columns that an elimination leaves."""
    terms = ColumnTerms.of(evidence, choices, rows.rows, rows.classes, rows.left)
    stay, common = np.array([name in held for name in terms.columns]), choices.calibrate == "one"
    kept = eliminate(terms, rows.classes, rows.weights, most, stay, common=common)
    return [terms.columns[u] for u in kept]


def _distinct(evidence: Evidence, choices: Choices, rows: SampledRows, held: set[str]) -> list[str]:
    """Return the columns but for those that say the same of every row, or what an earlier one says of each."""
    nothing = np.zeros(len(rows))  # is left out: a term is that of the value, whatever the row's class
    terms = ColumnTerms.of(evidence, choices, rows.rows, rows.classes, nothing, binned=False)
    seen, kept = set[bytes](), list[str]()
    for name, term, present in zip(terms.columns, terms.terms, terms.present.T, strict=True):
        said = np.concatenate([term, present[None]])  # (C + 1, n)
        same, unlike = said.tobytes(), _unlike(said)
        is_copy = same in seen and unlike >= _FEWEST_ALIKE
        if name in held or (unlike and not is_copy):
            kept.append(name)
        seen.add(same)
    return kept or list(terms.columns)


def _unlike(said: Floats) -> int:
    """Return in how many rows a column says something else than in most."""
    _, counts = np.unique(said.T, axis=0, return_counts=True)
    return int(counts.sum() - counts.max())
