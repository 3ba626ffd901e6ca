"""Row 9: "don't throw away those probabilities": they come by default, calibrated, and decisions rest on them."""

from __future__ import annotations

import numpy as np

import tallybayes as tb


def said_three_times(n: int) -> dict[str, list[str]]:
    """One symptom, written down three times: naive Bayes takes it for three."""
    rng = np.random.default_rng(0)
    ill = rng.random(n) < 0.5
    cough = np.where(rng.random(n) < 0.8, ill, ~ill)
    told = ["yes" if c else "no" for c in cough]
    return {"cough": told, "coughs": told, "coughing": told, "ill": ["yes" if i else "no" for i in ill]}


def test_probabilities_are_calibrated_by_default_and_near_the_truth() -> None:
    model = tb.fit(said_three_times(2000), "ill")
    plain = model.with_(calibrate=None)
    row = [{"cough": "yes", "coughs": "yes", "coughing": "yes"}]
    assert plain.predict_proba(row)[0, 1] > 0.97
    assert abs(model.predict_proba(row)[0, 1] - 0.8) < 0.03
    assert model.predict(row).tolist() == plain.predict(row).tolist() == ["yes"]


def test_decisions_rest_on_them() -> None:
    model = tb.fit(said_three_times(2000), "ill")
    row = [{"cough": "yes", "coughs": "yes", "coughing": "yes"}]
    # To treat the healthy costs ten times what it costs to miss the ill: at four to one that is too much.
    costs = [[0, 1], [10, 0]]
    assert model.predict(row, costs=costs).tolist() == ["no"]
    assert model.with_(calibrate=None).predict(row, costs=costs).tolist() == ["yes"]
    assert model.predict(row, abstain=0.9).tolist() == [None]
