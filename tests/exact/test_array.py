"""Large arrays of exact numbers add as small ones do."""

from __future__ import annotations

import numpy as np
import pytest

from tallybayes.exact.array import Exact

SIZE = (1 << 18) + 3  # one more than are measured beforehand


@pytest.mark.parametrize("limbs", [1, 3])
@pytest.mark.parametrize("bases", [(0, 0), (-2, -2), (0, 1)], ids=str)
@pytest.mark.parametrize(
    "values",
    [(0,), (0, 1, 2**31 - 1), (-(2**31), 5), (2**32, -(2**40)), (2**62, -(2**62)), (-(2**63), 2**63 - 1)],
    ids=str,
)
def test_a_sum_does_not_depend_on_the_size(values: tuple[int, ...], bases: tuple[int, int], limbs: int) -> None:
    rng = np.random.default_rng(len(values))
    left, right = (rng.choice(np.array(values, np.int64), (SIZE, limbs)) for _ in range(2))
    total = Exact(left, bases[0]) + Exact(right, bases[1])
    for some in (slice(0, 40), slice(SIZE - 40, SIZE)):
        part = Exact(left[some], bases[0]) + Exact(right[some], bases[1])
        assert total.take(np.arange(some.start, some.stop)) == part
        assert (total.to_float()[some] == part.to_float()).all()
    assert total - Exact(right, bases[1]) == Exact(left, bases[0])
    assert total.is_zero == (set(values) == {0})


@pytest.mark.parametrize("value", [0, 7, -7])
def test_what_was_added_is_in_canonical_form(value: int) -> None:
    ones = Exact(np.full((SIZE, 1), value))
    total = ones + Exact(np.zeros((SIZE, 1), np.int64))
    assert total == ones
    assert (total.limbs == value).all()
    assert total.is_whole
    assert (total + total).to_float().max() == 2 * value
