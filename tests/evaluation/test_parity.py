"""Where scikit-learn has a figure, ours is the same: with weights, ties and absent classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.calibration import calibration_curve

import tallybayes as tb
from sklearn import metrics
from tallybayes.evaluation import calibration, confusion, roc

from .rows import Rows, some_rows

CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}


def evaluated(rows: Rows) -> tb.Evaluation:
    return tb.evaluate(rows.labels, rows.probabilities, rows.classes, weights=rows.weights)


def decided(rows: Rows) -> np.ndarray:
    return np.array(rows.classes)[rows.probabilities.argmax(axis=1)]


@given(some_rows())
def test_the_confusion_matrix_and_accuracy(rows: Rows) -> None:
    seen = confusion(rows.labels, decided(rows), rows.classes, weights=rows.weights)
    theirs = metrics.confusion_matrix(rows.labels, decided(rows), labels=rows.classes, sample_weight=rows.weights)
    np.testing.assert_allclose(seen.matrix, theirs, **CLOSE)
    np.testing.assert_allclose(evaluated(rows).confusion.matrix, theirs, **CLOSE)
    accuracy = metrics.accuracy_score(rows.labels, decided(rows), sample_weight=rows.weights)
    assert seen.accuracy == pytest.approx(accuracy, rel=1e-12)


@given(some_rows())
def test_sensitivity_precision_and_f1_of_each_class(rows: Rows) -> None:
    seen = evaluated(rows)
    options = {"labels": rows.classes, "sample_weight": rows.weights, "zero_division": np.nan}
    theirs = metrics.precision_recall_fscore_support(rows.labels, decided(rows), **options)
    for ours, figure in zip((seen.precision, seen.recall, seen.f1), theirs[:3], strict=True):
        np.testing.assert_allclose(ours, figure, **CLOSE)
    for mean, how in ((seen.macro, "macro"), (seen.weighted, "weighted")):
        averages = metrics.precision_recall_fscore_support(rows.labels, decided(rows), average=how, **options)[:3]
        ours = np.array([mean.precision, mean.recall, mean.f1])
        there = ~np.isnan(ours)  # where no class with rows has the figure, theirs is 0
        np.testing.assert_allclose(ours[there], np.array(averages)[there], **CLOSE)


@given(some_rows(most_classes=2))
def test_specificity_is_the_sensitivity_of_the_other_class(rows: Rows) -> None:
    seen = evaluated(rows)
    np.testing.assert_allclose(seen.specificity, seen.sensitivity[::-1], **CLOSE)


@given(some_rows())
def test_matthews_correlation_and_kappa(rows: Rows) -> None:
    seen = evaluated(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mcc = metrics.matthews_corrcoef(rows.labels, decided(rows), sample_weight=rows.weights)
        kappa = metrics.cohen_kappa_score(
            rows.labels, decided(rows), labels=list(rows.classes), sample_weight=rows.weights
        )
    matrix = seen.confusion.matrix
    if min(np.count_nonzero(matrix.sum(axis=0)), np.count_nonzero(matrix.sum(axis=1))) > 1:
        assert seen.mcc == pytest.approx(mcc, rel=1e-9, abs=1e-9)
    else:  # theirs is 0, or what rounding leaves of it
        assert seen.mcc == 0
    if np.count_nonzero(matrix.sum(axis=0) + matrix.sum(axis=1)) > 1:
        assert seen.kappa == pytest.approx(kappa, rel=1e-9, abs=1e-9)
    else:
        assert np.isnan(seen.kappa)


@given(some_rows())
def test_log_loss_and_brier_score(rows: Rows) -> None:
    seen = evaluated(rows)
    codes = np.searchsorted(rows.classes, rows.labels)
    options = {"labels": range(len(rows.classes)), "sample_weight": rows.weights}
    assert seen.log_loss == pytest.approx(metrics.log_loss(codes, rows.probabilities, **options), rel=1e-9)
    true = np.eye(len(rows.classes))[codes]
    squares = ((rows.probabilities - true) ** 2).sum(axis=1) / (2 if len(rows.classes) == 2 else 1)
    assert seen.brier == pytest.approx(np.average(squares, weights=rows.weights), rel=1e-9)


@given(some_rows(most_classes=2, least_rows=4))
def test_the_roc_curve_and_its_area(rows: Rows) -> None:
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    is_positive = rows.labels == "bee"
    if not (weights[is_positive].sum() and weights[~is_positive].sum()):
        return
    curve = evaluated(rows).roc
    score = rows.probabilities[:, 1]
    fpr, tpr, thresholds = metrics.roc_curve(is_positive, score, sample_weight=rows.weights, drop_intermediate=False)
    assert curve.auc == pytest.approx(
        metrics.roc_auc_score(is_positive, score, sample_weight=rows.weights), rel=1e-9, abs=1e-12
    )
    # ours leaves out points on a straight line: the others are among theirs, and the line goes through theirs
    for ours, x, y in zip(curve.thresholds, curve.fpr, curve.tpr, strict=True):
        k = np.flatnonzero(thresholds == ours)
        np.testing.assert_allclose([fpr[k], tpr[k]], [[x], [y]], **CLOSE)
    after = np.clip(np.searchsorted(-curve.thresholds, -thresholds), 1, len(curve.thresholds) - 1)
    rise, run = np.diff(curve.tpr)[after - 1], np.diff(curve.fpr)[after - 1]
    off = rise * (fpr - curve.fpr[after]) - run * (tpr - curve.tpr[after])
    np.testing.assert_allclose(off, 0, atol=1e-12)


@given(some_rows(most_classes=4, least_rows=30))
def test_the_macro_average_area(rows: Rows) -> None:
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    if len(rows.classes) == 2 or any(weights[rows.labels == name].sum() == 0 for name in rows.classes):
        return
    theirs = metrics.roc_auc_score(
        rows.labels, rows.probabilities, multi_class="ovr", labels=rows.classes, sample_weight=rows.weights
    )
    assert evaluated(rows).auc == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@given(some_rows(most_classes=2))
def test_the_bins_of_the_calibration(rows: Rows) -> None:
    happened, p = rows.labels == "bee", rows.probabilities[:, 1]
    seen = calibration(happened, p, bins=5)
    observed, confidence = calibration_curve(happened, p, n_bins=5, pos_label=True)
    np.testing.assert_allclose(seen.observed[seen.count > 0], observed, **CLOSE)
    np.testing.assert_allclose(seen.confidence[seen.count > 0], confidence, **CLOSE)


@given(some_rows(least_rows=4))
def test_a_weight_of_two_is_the_row_twice_and_of_zero_is_no_row(rows: Rows) -> None:
    weights = np.arange(len(rows.labels)) % 3
    weighted = tb.evaluate(rows.labels, rows.probabilities, rows.classes, weights=weights).to_dict()
    again = np.repeat(np.arange(len(weights)), weights)
    repeated = tb.evaluate(rows.labels[again], rows.probabilities[again], rows.classes).to_dict()
    assert weighted.keys() == repeated.keys()
    for name in ("accuracy", "log_loss", "brier", "ece", "auc", "mcc", "kappa"):
        ours, theirs = (np.nan if one[name] is None else one[name] for one in (weighted, repeated))
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True), name
    for ours, theirs in zip(weighted["roc"], repeated["roc"], strict=True):
        assert [ours["low"], ours["high"]] == pytest.approx([theirs["low"], theirs["high"]], rel=1e-9)


def test_the_greater_of_two_labels_is_the_positive_one() -> None:
    assert roc([0, 1], [0.1, 0.9]).positive == 1
    assert roc(np.array([False, True]), [0.1, 0.9]).positive is True
    assert roc(["yes", "no"], [0.1, 0.9]).positive == "yes"
