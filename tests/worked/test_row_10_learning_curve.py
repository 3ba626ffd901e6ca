"""Row 10: accuracy on a test set as training data grows; naive Bayes is good with little data."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

import tallybayes as tb

X, Y = load_breast_cancer(return_X_y=True)


def test_accuracy_grows_with_the_training_data_and_is_good_with_little() -> None:
    curve = tb.learning_curve(X, Y, sizes=[4, 8, 16, 32], shuffles=20, compare=())
    mean = curve.mean("accuracy")[0]
    assert mean[-1] > mean[0]
    assert mean[1] > 0.88
    low, high = curve.band("accuracy")
    assert (high - low)[0, 0] > (high - low)[0, -1]


def test_the_same_rows_make_the_whole_curve_without_refitting() -> None:
    curve = tb.learning_curve(X, Y, sizes=[379], shuffles=1, compare=())
    held = tb.validate(X, Y, "holdout")
    assert abs(curve.accuracy[0, 0, 0] - held.evaluation.accuracy) < 0.05
    assert np.isfinite(curve.log_loss).all()
