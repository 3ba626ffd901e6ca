"""Row 7: digits 5 against 6 from black and white pixels: training is averaging, and predictions are probabilities."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb

datasets = pytest.importorskip("sklearn.datasets")


def small_digits() -> tuple[np.ndarray, np.ndarray]:
    """Fives and sixes of 8 × 8 pixels, black or white."""
    digits = datasets.load_digits()
    some = np.isin(digits.target, (5, 6))
    return (digits.data[some] > 7).astype(np.int8), digits.target[some]


def large_digits(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Digits of 28 × 28 pixels from 0 to 255, and which they are."""
    images, labels = (
        gzip.decompress((folder / "mnist" / f"{name}-{kind}-ubyte.gz").read_bytes())
        for kind in ("images-idx3", "labels-idx1")
    )
    return np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784), np.frombuffer(labels, np.uint8, offset=8)


def test_training_is_averaging_the_images() -> None:
    x, y = small_digits()
    seen = tb.fit(x, y, events="bernoulli", estimate="mle").picture((8, 8))
    for c, digit in enumerate((5, 6)):
        np.testing.assert_allclose(seen.average[c], x[y == digit].mean(axis=0).reshape(8, 8), rtol=1e-12)
    smoothed = tb.fit(x, y, events="bernoulli").picture((8, 8))
    five = x[y == 5]
    np.testing.assert_allclose(smoothed.average[0].ravel(), (five.sum(axis=0) + 1) / (len(five) + 2), rtol=1e-12)


def test_fives_are_distinguished_from_sixes_with_probabilities() -> None:
    x, y = small_digits()
    train = np.arange(len(y)) % 2 == 0
    model = tb.fit(x[train], y[train], events="bernoulli")
    assert (model.predict(x[~train]) == y[~train]).mean() > 0.98
    p = model.predict_proba(x[~train])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert -np.log(p[np.arange(len(p)), (y[~train] == 6).astype(int)]).mean() < 0.1
    assert model.predict_interval(x[~train][:1]).of(0).split()[0] in ("5", "6")


def test_what_the_pixels_say_together_with_the_prior_is_the_score() -> None:
    x, y = small_digits()
    model = tb.fit(x, y, events="bernoulli", calibrate=None)
    says = model.picture((8, 8)).against(6, 5)
    image = x[0].reshape(8, 8)
    log_odds = np.log(model.prior[6] / model.prior[5]) + np.where(image > 0, says.lit, says.dark).sum()
    scores = model.log_joint(x[:1])[0]
    assert log_odds == pytest.approx(scores[1] - scores[0], rel=1e-9)
    # A six closes its loop at the lower left; a five is open there.
    assert says.log_odds[5, 2] > 5


def test_handwritten_digits_at_full_size(data: Path) -> None:
    x, y = large_digits(data, "train")
    held, truth = large_digits(data, "t10k")
    event = "bernoulli(threshold=127)"
    two, rest = np.isin(y, (5, 6)), np.isin(truth, (5, 6))
    model = tb.fit(x[two], y[two], events=event)
    assert (model.predict(held[rest]) == truth[rest]).mean() > 0.95
    seen = tb.fit(x, y, events=event, calibrate=None).picture((28, 28))
    assert seen.classes == tuple(range(10))
    assert seen.average[1, 14, 14] > 0.7  # a one is a stroke through the middle,
    assert seen.average[0, 14, 14] < 0.2  # and a nought has a hole there
    five = (x[y == 5] > 127).mean(axis=0).reshape(28, 28)
    np.testing.assert_allclose(seen.average[5], five, atol=1e-3)
    assert len(str(seen).splitlines()) > 60
