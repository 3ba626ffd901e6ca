"""Evidence of repeats side by side: the same sums as those of `+`, whatever the values and event models."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.exact.array import Exact
from tallybayes.validation.training import one_after_another


def test_exact_numbers_on_other_grids_are_joined_without_loss() -> None:
    parts = [
        Exact.of([[1e-300, -2.0]]),
        Exact.zeros((2, 2)),
        Exact.of([[1e300, 0.1], [3.0, -1e-5]]),
        Exact.of([[7, 8]]),
    ]
    joined = Exact.concatenate(parts)
    assert joined == Exact.of(np.concatenate([part.to_float() for part in parts]))
    assert Exact.concatenate([Exact.zeros((2,)), Exact.zeros((1,))]) == Exact.zeros((3,))


@pytest.mark.parametrize("events", ["gaussian", "histogram", "categorical", "bernoulli", "text"])
@pytest.mark.parametrize("same_values", [True, False], ids=["the same values", "other values"])
def test_evidence_of_classes_that_rise_from_part_to_part_is_their_sum(events: str, same_values: bool) -> None:
    rng, parts = np.random.default_rng(0), []
    for part in range(3):
        numbers = np.arange(8) if same_values else rng.integers(0, 6, 8) + part
        x = [f"word{n} word{n % 3}" for n in numbers] if events == "text" else (numbers / 2).tolist()
        if events in ("categorical", "bernoulli"):
            x = (numbers % 2).tolist() if events == "bernoulli" else [str(n) for n in numbers]
        rows = {"x": x, "fold": rng.permutation(8) % 2 + 2 * part}
        parts.append(tb.fit(rows, "fold", events={"x": events}, calibrate=None).evidence)
    assert one_after_another(parts) == reduce(add, parts)
    assert one_after_another(parts[:1]) == parts[0]
