from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import reference

FORMS = ["rows", "columns", "read-only columns", "slice", "fortran", "reversed"]


def ordinary(rng, shape):
    return rng.normal(size=shape)


def far_from_zero(rng, shape):
    return 1e8 + rng.normal(size=shape)


def whole(rng, shape):
    return rng.integers(-1000, 1000, shape).astype(float)


def subnormal(rng, shape):
    return rng.integers(-5, 5, shape) * 5e-324


def around_the_smallest_normal(rng, shape):
    return rng.normal(size=shape) * 2.0**-1022


def huge(rng, shape):
    return rng.uniform(-1, 1, shape) * 1.7e308


def of_any_size(rng, shape):
    return np.ldexp(rng.uniform(-1, 1, shape), rng.integers(-1070, 1024, shape))


def growing(rng, shape):
    return rng.normal(size=shape) * np.ldexp(1.0, np.linspace(-300, 300, shape[0]).astype(int))[:, None]


def zero_at_first(rng, shape):
    x = rng.normal(size=shape) * 1e20
    x[: shape[0] // 2] = 0.0
    return x


def a_few_outliers(rng, shape):
    x = rng.normal(size=shape)
    x[rng.random(shape) < 0.01] *= 1e60
    x[rng.random(shape) < 0.01] *= 1e-60
    return x


def powers_of_two(rng, shape):
    return np.ldexp(rng.choice([-1.0, 1.0], shape), rng.integers(-60, 60, shape))


def at_the_edge_of_the_window(rng, shape):
    x = np.ones(shape)
    edge = np.ldexp(1.0, 5 + rng.integers(-2, 3, shape))  # a window chosen from 1 ends at 2**5
    late = np.arange(shape[0])[:, None] > shape[0] // 2
    return np.where(
        late, np.nextafter(edge, rng.choice([-np.inf, np.inf, 16.0], shape)) * rng.choice([-1, 1], shape), x
    )


KINDS = [
    ordinary,
    far_from_zero,
    whole,
    subnormal,
    around_the_smallest_normal,
    huge,
    of_any_size,
    growing,
    zero_at_first,
    a_few_outliers,
    powers_of_two,
    at_the_edge_of_the_window,
]


WEIGHTS = [
    lambda rng, n: np.ones(n),
    lambda rng, n: rng.random(n),
    lambda rng, n: rng.integers(0, 5, n).astype(float),
    lambda rng, n: rng.choice([0.0, 1.0, 0.1, 5e-324, 1e300, 3.0, 1e-70], n),
]


def check(exact, each_isa, x, table, y, n_classes, order=2, weights=None):
    want = reference.power_sums(x, y, n_classes, order=order, weights=weights)
    for _ in each_isa():
        got = kernels.power_sums(table, y, n_classes, order=order, weights=weights)
        assert got.weight.limbs.shape[:-1] == (n_classes, x.shape[1])
        assert (exact(got.weight) == exact(want.weight)).all()
        assert (exact(got.first) == exact(want.first)).all()
        assert (got.second is None) == (order == 1)
        if want.second is not None:
            assert (exact(got.second) == exact(want.second)).all()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@examples(40)
def test_sums_are_those_of_rational_arithmetic(kind, each_isa, exact, as_table, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n, columns = data.draw(st.sampled_from([0, 1, 31, 32, 33, 200, 600])), data.draw(st.integers(0, 6))
    n_classes = data.draw(st.sampled_from([1, 2, 10, 300]))
    x = kind(rng, (n, columns))
    if data.draw(st.booleans()):
        x[rng.random(x.shape) < 0.1] = np.nan
    if data.draw(st.booleans()):
        with np.errstate(over="ignore"):
            x = np.nan_to_num(x.astype(np.float32), nan=np.nan, posinf=3e38, neginf=-3e38)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    order, weigh = data.draw(st.sampled_from([1, 2])), data.draw(st.sampled_from([None, *WEIGHTS]))
    table = as_table(x, data.draw(st.sampled_from(FORMS)))
    check(exact, each_isa, x, table, y, n_classes, order, None if weigh is None else weigh(rng, n))


@given(
    x=st.lists(st.floats(allow_infinity=False), min_size=32, max_size=64),
    weights=st.lists(st.floats(0, allow_infinity=False, allow_nan=False), min_size=64, max_size=64),
    weighted=st.booleans(),
)
@examples(60)
def test_any_floats_and_any_weights(each_isa, exact, x, weights, weighted):
    x = np.array(x)[:, None]
    y = np.arange(len(x), dtype=np.int32) % 2
    check(exact, each_isa, x, x, y, 2, weights=np.array(weights[: len(x)]) if weighted else None)


@pytest.mark.parametrize("kind", [ordinary, growing, of_any_size], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_tiles(kind, weighted, each_isa, exact):
    rng = np.random.default_rng(5)
    x = kind(rng, (3000, 5))
    x[::7, 2] = np.nan
    weights = rng.random(3000) if weighted else None
    check(exact, each_isa, x, x, rng.integers(0, 4, 3000).astype(np.int32), 4, weights=weights)


def test_wide_tables_are_summed_in_blocks_of_columns(each_isa, exact):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(40, 211))
    check(exact, each_isa, x, x, rng.integers(0, 2, 40).astype(np.int32), 2)


def test_columns_of_both_widths_may_be_mixed(each_isa, exact):
    rng = np.random.default_rng(7)
    columns = [rng.normal(size=100).astype(np.float32 if f % 2 else np.float64) for f in range(5)]
    check(exact, each_isa, np.stack([c.astype(float) for c in columns], 1), columns, np.zeros(100, np.int32), 1)


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
@examples(25)
def test_neither_order_nor_slicing_of_rows_is_felt(each_isa, exact, seed, kind):
    rng = np.random.default_rng(seed)
    x, y = kind(rng, (400, 3)), rng.integers(0, 3, 400).astype(np.int32)
    order, cut = rng.permutation(400), int(rng.integers(0, 401))
    for _ in each_isa():
        whole = kernels.power_sums(x, y, 3)
        other = kernels.power_sums(x[order], y[order], 3)
        head, tail = kernels.power_sums(x[:cut], y[:cut], 3), kernels.power_sums(x[cut:], y[cut:], 3)
        for a, b, c, d in zip(whole, other, head, tail, strict=True):
            assert a.base == b.base
            assert (a.limbs == b.limbs).all()
            assert (exact(c) + exact(d) == exact(a)).all()


def test_ordinary_data_need_few_limbs():
    rng = np.random.default_rng(0)
    sums = kernels.power_sums(rng.normal(size=(5000, 4)), rng.integers(0, 3, 5000).astype(np.int32), 3)
    assert sums.weight.limbs.shape[-1] == 1
    assert sums.first.limbs.shape[-1] <= 5
    assert sums.second.limbs.shape[-1] <= 8


@pytest.mark.parametrize("n", [5, 500])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_the_first_infinite_value_is_named(each_isa, n, value):
    x = np.ones((n, 6))
    x[0, 0] = np.nan
    x[n - 2, 4] = x[n - 2, 5] = x[n - 1, 0] = value
    for _ in each_isa():
        for weights in (None, np.ones(n)):
            with pytest.raises(kernels.NotFinite) as raised:
                kernels.power_sums(x, np.arange(n, dtype=np.int32) % 3, 3, weights=weights)
            assert (raised.value.row, raised.value.column, raised.value.value) == (n - 2, 4, value)
