"""The weight of missing values is exact, whatever the weights of rows."""

from __future__ import annotations

import pytest

import tallybayes as tb


@pytest.mark.parametrize(
    "weights", [[1.0, 0.4946989402863131, 0.25], [1e300, 1e-300, 1.0], [0.5627357352457344, 1e-53, 2.0]]
)
def test_missing_values_have_weights_of_any_size(weights: list[float]) -> None:
    rows = {"x": [None, 0.0, 1.0], "w": weights, "y": ["p", "q", "r"]}
    model = tb.fit(rows, "y", weights="w", calibrate=None)
    (statistic,) = model.evidence.statistics
    assert statistic.sums["missing"].to_float().ravel().tolist() == [weights[0], 0.0, 0.0]
