"""Sums that may be negative are stored, merged and forgotten like any others, whatever their name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.events import Event
from tallybayes.events.lognormal import Lognormal
from tallybayes.events.statistic import Sum


@pytest.fixture
def log_sum() -> Iterator[Event]:
    """An event model with the sum Σ log x under its own name."""

    @dataclass(frozen=True)
    class LogSum(Lognormal):
        name: ClassVar[str] = "log_sum"
        sums: ClassVar[dict[str, Sum]] = {**Lognormal.sums, "logs": Sum("column", signed=True)}

        def count(self, *given):
            sums, labels = super().count(*given)
            return {**sums, "logs": sums["first"]}, labels

    yield LogSum()
    del Event.registry["log_sum"]


def test_a_signed_sum_of_any_name_is_merged_and_forgotten(log_sum: Event) -> None:
    x, y = np.array([0.1, 0.2, 0.5, 3.0, 0.01, 0.3]), np.array(list("aabbab"))
    whole, part = (tb.fit({"x": x[:k], "y": y[:k]}, "y", events=log_sum, calibrate=None) for k in (6, 4))
    rest = {"x": x[4:], "y": y[4:]}
    assert (whole.evidence.statistics[0].sums["logs"].to_float() < 0).any()
    assert part.learn(rest).evidence == whole.evidence
    assert whole.forget(rest).evidence == part.evidence
    with pytest.raises(tb.errors.CannotMerge):
        part.forget({"x": [9.0, 9.0, 9.0], "y": list("aaa")})
