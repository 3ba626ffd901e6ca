"""Row 13: true and false positives and negatives, sensitivity and specificity."""

from __future__ import annotations

import pytest

from tallybayes.evaluation import Confusion, confusion

from .weather import NOMINAL


def test_the_matrix_on_the_slide() -> None:
    seen = Confusion.from_counts(tp=60, fn=30, fp=80, tn=20)["positive"]
    assert (seen.tp, seen.fn, seen.fp, seen.tn) == (60, 30, 80, 20)
    assert round(seen.sensitivity, 4) == 0.6667
    assert seen.specificity == 0.2


def test_the_same_from_any_predictions() -> None:
    true = ["ill"] * 90 + ["well"] * 100
    said = ["ill"] * 60 + ["well"] * 30 + ["ill"] * 80 + ["well"] * 20
    seen = confusion(true, said, ["ill", "well"])
    assert seen.matrix.tolist() == [[60, 30], [80, 20]]
    assert (round(seen["ill"].sensitivity, 4), seen["ill"].specificity) == (0.6667, 0.2)
    assert (seen["well"].tp, seen["well"].fn, seen["well"].fp, seen["well"].tn) == (20, 80, 30, 60)


def test_the_same_from_a_models_predictions() -> None:
    import tallybayes as tb

    model = tb.fit(NOMINAL, "play", estimate="mle")
    seen = confusion(NOMINAL["play"], model.predict(NOMINAL), model.classes)
    right = sum(one == other for one, other in zip(NOMINAL["play"], model.predict(NOMINAL), strict=True))
    assert seen.accuracy == pytest.approx(right / 14)
    assert seen["yes"].tp + seen["yes"].fn == 9
    assert seen["yes"].sensitivity == seen["no"].specificity
