"""Validation by subtraction, compared with scikit-learn's cross_val_score, which fits a model for each fold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut, RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

import tallybayes as tb
from benchmarks.clock import best, each
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds, times

# The same as GaussianNB: normal densities, maximum likelihood, no calibration.
_CHOICES: dict[str, Any] = {"events": "gaussian", "estimate": "mle", "calibrate": None}


def run(repeat: int) -> str:
    """Measure everything and return the table; a cross marks a missed target."""
    table = Growing("work", "tallybayes", "scikit-learn", "ratio", "target")
    X, y = _rows(1_000, 20)
    _beside(table, "leave-one-out, 1,000 × 20", X, y, "loo", LeaveOneOut(), 1000, repeat)
    X, y = _rows(10_000, 20)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    _beside(table, "ten times ten-fold, 10,000 × 20", X, y, "10x10", folds, 20, repeat)
    _one_pass(table, repeat)
    return table.markdown()


def _rows(n: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(0.2 * y[:, None], 1.0, (n, width)), y


def _beside(table: Growing, what: str, X: Any, y: Any, how: str, folds: Any, want: float, repeat: int) -> None:
    mine = _least(partial(tb.validate, X, y, how, **_CHOICES), 4 * repeat)
    peer = _least(partial(cross_val_score, GaussianNB(), X, y, cv=folds), min(repeat, 2))
    cross = "" if peer / mine >= want else f" {MISSED}"
    table.add(f"{what}, plain", seconds(mine), seconds(peer), f"{times(peer / mine)}{cross}", f"{want:g}×")
    default = _least(partial(tb.validate, X, y, how), 2)
    table.add(f"{what}, by default", seconds(default), seconds(peer), times(peer / default), "–")


def _one_pass(table: Growing, repeat: int) -> None:
    """Measure what leave-one-out adds to a fit, compared with one prediction of the same rows."""
    X, y = _rows(200_000, 50)
    model = tb.fit(X, y, **_CHOICES)
    works = (
        partial(tb.validate, X, y, "loo", **_CHOICES),
        partial(tb.fit, X, y, **_CHOICES),
        partial(model.predict_proba, X),
    )
    # They alternate, so that other load affects all.
    validated, fitted, once = np.min([[best(work, 1).seconds for work in works] for _ in range(2 * repeat)], axis=0)
    mine = validated - fitted
    cross = "" if mine <= 4 * once else f" {MISSED}"
    what = f"leave-one-out, 200,000 × 50, after counting ({seconds(fitted)})"
    table.add(what, seconds(mine), "–", f"{mine / once:.1f} × predict_proba{cross}", "at most 4 ×")


def _least(work: Callable[[], Any], repeat: int) -> float:
    work()
    return each(work, repeat)
