"""Tables counted one after the other, as if they were one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference
from .test_buckets import EXTREMES, FORMS, finite


def columns_that_change(rng, n, width):
    """Return columns of several kinds, some of which need coarser buckets towards their end."""
    kinds = [
        rng.normal(size=n),
        np.sort(rng.normal(size=n)) * 1e3,
        np.rint(rng.normal(size=n) * 10),
        np.where(np.arange(n) < n // 2, 1.0, 10.0 ** rng.integers(-250, 250, n)),
        np.where(rng.random(n) < 0.5, np.nan, 1000 + rng.normal(size=n)),
    ]
    x = np.stack([kinds[f] for f in rng.integers(0, len(kinds), width)], axis=1)
    x[rng.random(x.shape) < rng.choice([0.0, 1e-3])] = rng.choice(EXTREMES)
    return finite(x)


@given(seed=st.integers(0, 2**32), classes=st.sampled_from([1, 3, 64]))
@examples(40)
def test_tables_are_counted_and_hashed_as_if_they_were_one(each_isa, as_table, seed, classes):
    rng = np.random.default_rng(seed)
    n, width = int(rng.choice([1, 300, 2100, 9000])), int(rng.choice([1, 3, 8, 11, 70]))
    x, own = columns_that_change(rng, n, width), rng.integers(0, classes, n).astype(np.int32)
    seeds, cuts = rng.integers(-(2**63), 2**63 - 1, width), np.sort(rng.integers(0, n + 1, rng.integers(0, 5)))
    tables = [(part, str(rng.choice(FORMS))) for part in np.split(np.arange(n), cuts)]
    hashed = rng.random() < 0.5
    want_hashes, hashes = np.full(n, 5), np.full(n, 5)
    for _ in each_isa():
        want_hashes[:] = hashes[:] = 5
        given = {"seeds": seeds, "out": want_hashes} if hashed else {}
        want_sums, want = kernels.count_numbers(x, own, classes, **given)
        counter = kernels.NumberCounter(width, classes)
        for rows, form in tables:
            out = hashes[rows[0] : rows[-1] + 1] if len(rows) else hashes[:0]
            counter.add(as_table(x[rows], form), own[rows], **({"seeds": seeds, "out": out} if hashed else {}))
        sums, found = counter.finish()
        assert (hashes == want_hashes).all()
        for one, other in zip(sums, want_sums, strict=True):
            assert (reference.integers(one) == reference.integers(other)).all()
            assert one.base == other.base
        for one, other in zip(found, want, strict=True):
            np.testing.assert_array_equal(one, other)


def test_floats_and_doubles_may_follow_each_other():
    x = np.random.default_rng(0).normal(size=(6000, 5)).astype(np.float32)
    own = np.arange(6000, dtype=np.int32) % 3
    counter = kernels.NumberCounter(5, 3)
    counter.add(x[:2500], own[:2500])
    counter.add(tuple(x[2500:].T.astype(np.float64)), own[2500:])
    sums, found = counter.finish()
    want_sums, want = kernels.count_numbers(x, own, 3)
    for one, other in zip([*found, sums.first.limbs], [*want, want_sums.first.limbs], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_number_or_class_that_is_refused_ends_the_counter():
    for x, own, error in [
        (np.full((3, 1), np.inf), [0, 0, 0], kernels.NotFinite),
        (np.ones((3, 1)), [0, 2, 0], ValueError),
    ]:
        counter = kernels.NumberCounter(1, 2)
        with pytest.raises(error):
            counter.add(x, np.array(own, np.int32))
        with pytest.raises(ValueError, match="counter: wanted"):
            counter.finish()


def test_a_counter_takes_tables_of_its_width_and_ends_once():
    counter, none = kernels.NumberCounter(2, 1), np.zeros(0, np.int32)
    with pytest.raises(ValueError, match="counter: wanted"):
        counter.finish()
    with pytest.raises(ValueError, match="columns: wanted 2"):
        counter.add(np.zeros((0, 3)), none)
    counter.add(np.zeros((0, 2)), none)
    assert counter.finish()[1].sizes.tolist() == [0, 0]
    with pytest.raises(ValueError, match="counter: wanted"):
        counter.add(np.zeros((0, 2)), none)
