"""Row 16: prior and conditional tables by hand, and R's e1071 naiveBayes on iris (normal densities, n − 1)."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

from .weather import NOMINAL


def test_the_tables_made_by_hand_are_the_tables_of_the_model() -> None:
    chosen = {
        "sunny": ["yes" if o == "sunny" else "no" for o in NOMINAL["outlook"]],
        "hot": ["yes" if t == "hot" else "no" for t in NOMINAL["temperature"]],
        "windy": ["yes" if w == "true" else "no" for w in NOMINAL["windy"]],
        "play": NOMINAL["play"],
    }
    model = tb.fit(chosen, "play", estimate="mle")
    by_hand = {}
    for column in ("sunny", "hot", "windy"):
        counts = np.zeros((2, 2))
        for value, play in zip(chosen[column], chosen["play"], strict=True):
            counts[["no", "yes"].index(value), ["no", "yes"].index(play)] += 1
        by_hand[column] = counts / counts.sum(axis=0)
        np.testing.assert_allclose(model.table(column).values, by_hand[column], rtol=1e-15)
    product = by_hand["sunny"][1] * by_hand["hot"][0] * by_hand["windy"][1] * np.array([5, 9]) / 14
    day = [{"sunny": "yes", "hot": "no", "windy": "yes"}]
    np.testing.assert_allclose(np.exp(model.log_joint(day))[0], product, rtol=1e-14)


def test_iris_is_classified_as_e1071_does(data) -> None:
    path = data / "iris" / "iris.csv.gz"
    model = tb.fit(path, "label", estimate="mle", variance="n-1", calibrate=None)
    # The confusion matrix that e1071 prints for naiveBayes(iris[,1:4], iris[,5]): 47 and 47 of 50, setosa all right.
    import pyarrow.csv

    labels = pyarrow.csv.read_csv(path).column("label").to_numpy(zero_copy_only=False)
    predicted = model.predict(path)
    table = [[int(((labels == t) & (predicted == p)).sum()) for t in model.classes] for p in model.classes]
    assert table == [[50, 0, 0], [0, 47, 3], [0, 3, 47]]


def test_iris_means_and_deviations_are_those_that_e1071_prints() -> None:
    sklearn = pytest.importorskip("sklearn.datasets", reason="iris comes with scikit-learn")
    iris = sklearn.load_iris()
    model = tb.fit(iris.data, iris.target_names[iris.target], estimate="mle", variance="n-1")
    length = model.table("x0")
    assert length.values[0].round(3).tolist() == [5.006, 5.936, 6.588]
    assert length.values[1].round(7).tolist() == [0.3524897, 0.5161711, 0.6358796]
