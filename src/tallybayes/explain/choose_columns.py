"""Choose the columns that a model with weights needs, by rows left out and by nested folds."""

from __future__ import annotations

import numpy as np

from tallybayes.evidence.evidence import Evidence
from tallybayes.explain.eliminate import eliminate
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms
from tallybayes.inference.nested_folds import FoldLosses, losses_of_fold, nested_folds
from tallybayes.inference.sampled_rows import SampledRows

__all__ = ["choose_columns"]

_NO_WORSE = 0.0005  # nats: half the usual error of a difference over a thousand rows


def choose_columns(
    evidence: Evidence, choices: Choices, rows: SampledRows, most: int | None, held: set[str]
) -> list[str]:
    """Return the columns to keep.

    Columns that are dropped by the labels of rows look less needed on these rows than on new ones. So without a number
    of columns to keep, others than copies are dropped only if nested folds are predicted no worse without them.

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
    rows = rows.with_others(evidence, len(rows))
    terms = ColumnTerms.of(evidence, choices, rows.rows, rows.classes, rows.left)
    if most is not None:
        return _needed(terms, choices, rows, most, held)
    distinct = _without_copies(terms, held)
    if len(distinct) < len(terms.columns):
        evidence = evidence.select(distinct)
        terms = ColumnTerms.of(evidence, choices, rows.rows, rows.classes, rows.left)
    kept = _needed(terms, choices, rows, len(distinct), held)
    if len(kept) == len(distinct):
        return kept
    losses = FoldLosses()
    for counted, train, test in nested_folds(evidence, rows):
        own = train.with_others(counted, len(train))
        inner = ColumnTerms.of(counted, choices, own.rows, own.classes, own.left)
        fewer = counted.select(_needed(inner, choices, own, len(distinct), held))
        without, whole = (losses_of_fold(one, choices, train, test) for one in (fewer, counted))
        losses.add(without, whole, test)
    return kept if losses.mean()[0] <= _NO_WORSE else distinct


def _needed(terms: ColumnTerms, choices: Choices, rows: SampledRows, most: int, held: set[str]) -> list[str]:
    """Return the columns that an elimination leaves."""
    stay, common = np.array([name in held for name in terms.columns]), choices.calibrate == "one"
    kept = eliminate(terms, rows.classes, rows.weights, most, stay, common=common)
    return [terms.columns[u] for u in kept]


def _without_copies(terms: ColumnTerms, held: set[str]) -> list[str]:
    """Return the columns but for those whose terms are those of an earlier one: they cannot say anything else."""
    seen, kept = set[bytes](), list[str]()
    for name, term in zip(terms.columns, terms.terms, strict=True):
        same = term.tobytes()
        if name in held or same not in seen:
            kept.append(name)
        seen.add(same)
    return kept
