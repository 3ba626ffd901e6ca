from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tallybayes.kernels import MOST_BUCKETS
from tests.examples import examples

from . import reference

FORMS = ["rows", "columns", "read-only columns", "slice", "fortran", "reversed"]
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1.0, 1e308, -1e308, np.inf, -np.inf, np.nan]


@st.composite
def numbers(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, columns = draw(st.sampled_from([0, 1, 7, 32, 33, 255, 256, 257, 3000])), draw(st.sampled_from([0, 1, 3, 8, 9]))
    x = rng.normal(size=(n, columns))
    if draw(st.booleans()):
        x *= 10.0 ** rng.integers(-300, 300, x.shape)
    if draw(st.booleans()):
        x = np.rint(rng.normal(size=(n, columns)) * 10)
    x[rng.random(x.shape) < 0.1] = draw(st.sampled_from(EXTREMES))
    with np.errstate(over="ignore"):
        return x.astype(draw(st.sampled_from([np.float64, np.float32]))), draw(st.sampled_from(FORMS))


@given(drawn=numbers())
@examples(40)
def test_buckets(each_isa, as_table, drawn):
    x, form = drawn
    want = reference.find_buckets(x)
    for _ in each_isa():
        got = kernels.find_buckets(as_table(x, form))
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            if x.shape[1] or form != "columns":
                assert (one.tolist() == other.tolist()) or one.size == other.size == 0


def finite(x):
    """Return numbers with the largest in place of infinite ones, which are refused where numbers are added up."""
    return np.clip(x, np.finfo(x.dtype).min, np.finfo(x.dtype).max)


@given(drawn=numbers(), seed=st.integers(0, 2**32), classes=st.sampled_from([1, 2, 5]))
@examples(40)
def test_counted_buckets(each_isa, as_table, drawn, seed, classes):
    x, form = finite(drawn[0]), drawn[1]
    own = np.random.default_rng(seed).integers(0, classes, len(x)).astype(np.int32)
    want = reference.count_buckets(x, own, classes)
    for _ in each_isa():
        _, got = kernels.count_numbers(as_table(x, form), own, classes)
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            assert (one.tolist() == other.tolist()) or one.size == other.size == 0


@given(
    seed=st.integers(0, 2**32),
    form=st.sampled_from(FORMS),
    classes=st.sampled_from([1, 7, 65]),
    kind=st.sampled_from(["sized", "some zeros", "some missing", "all kinds"]),
)
@examples(30)
def test_numbers_are_added_counted_and_hashed_in_one_pass_as_in_three(each_isa, as_table, seed, form, classes, kind):
    rng = np.random.default_rng(seed)
    n, width = int(rng.choice([0, 1, 40, 2100, 5000])), int(rng.choice([1, 2, 4, 11, 70]))
    x = rng.normal(size=(n, width)) * 10.0 ** rng.integers(-3, 3, width)
    some = rng.random(x.shape) < 0.01
    odd = {"sized": x[some], "some zeros": -0.0, "some missing": np.nan, "all kinds": rng.choice(EXTREMES, some.sum())}
    x[some] = odd[kind]
    with np.errstate(over="ignore"):
        x = finite(x.astype(rng.choice([np.float64, np.float32])))
    own, seeds = rng.integers(0, classes, n).astype(np.int32), rng.integers(-(2**63), 2**63 - 1, width)
    for _ in each_isa():
        table, hashes = as_table(x, form), np.full((3, n), 5)
        sums, buckets = kernels.count_numbers(table, own, classes, seeds=seeds, out=hashes[0])
        apart = kernels.power_sums(table, own, classes, seeds=seeds, out=hashes[1])
        kernels.hash_dense(table, seeds, hashes[2])
        assert (hashes == hashes[2]).all()
        for one, other in zip(sums, apart, strict=True):
            assert (reference.integers(one) == reference.integers(other)).all()
            assert one.base == other.base
        for one, other in zip(buckets, counted_by_codes(x, own, classes), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [40, 5000])
def test_an_infinite_number_is_refused_where_it_is_added_up(each_isa, n):
    x = np.ones((n, 3))
    x[30, 1] = -np.inf
    for _ in each_isa():
        with pytest.raises(kernels.NotFinite, match="row 30, column 1"):
            kernels.count_numbers(x, np.zeros(n, np.int32), 1)


def test_more_rows_and_columns_than_a_block_are_counted_alike():
    rng = np.random.default_rng(0)
    x, own = rng.normal(size=(20_000, 70)).round(3), rng.integers(0, 2, 20_000).astype(np.int32)
    for one, other in zip(kernels.count_numbers(x, own, 2)[1], counted_by_codes(x, own, 2), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("width", "n"), [(1, 7000), (4, 7000), (8, 7000), (11, 7000), (8, 9000), (11, 70_000)])
def test_columns_that_change_while_they_are_read_are_counted_alike(each_isa, width, n):
    rng = np.random.default_rng(width)
    kinds = [
        np.sort(rng.normal(size=n)),
        np.arange(n) // 7.0,  # a thousand values, one after the other
        np.where(np.arange(n) < 5000, rng.integers(-300, 300, n), rng.normal(size=n)),
        np.where(np.arange(n) < 4500, 1.0, 10.0 ** rng.integers(-250, 250, n)),
        np.exp(9 * rng.normal(size=n)) * rng.choice([-1, 1], n),
        np.where(rng.random(n) < 0.5, np.nan, np.where(rng.random(n) < 0.5, 0.0, 1000 + rng.normal(size=n))),
        np.full(n, np.nan),
    ]
    x, own = np.stack([kinds[f % len(kinds)] for f in range(width)], axis=1), rng.integers(0, 3, n).astype(np.int32)
    want = (reference.count_buckets if n < 10_000 else counted_by_codes)(x, own, 3)  # the twin is slow
    for _ in each_isa():
        for one, other in zip(kernels.count_numbers(x, own, 3)[1], want, strict=True):
            np.testing.assert_array_equal(one, other)


def counted_by_codes(x, own, classes):
    """Return the buckets that `count_numbers` gives, by the codes of `find_buckets`."""
    found = kernels.find_buckets(x)
    counts, _ = kernels.count_codes(tuple(found.codes), own, classes, found.sizes)
    order = np.lexsort((found.keys, np.repeat(np.arange(len(found.sizes)), found.sizes)))
    return counts.limbs[:, order, 0], found.keys[order], found.sizes, found.shifts


@given(seed=st.integers(0, 2**32), form=st.sampled_from(FORMS), classes=st.sampled_from([1, 3, 40, 65]))
@examples(30)
def test_many_rows_are_counted_alike(each_isa, as_table, seed, form, classes):
    rng = np.random.default_rng(seed)
    n, width = int(rng.choice([2048, 2049, 9000, 20_000])), int(rng.choice([1, 8, 9]))
    x = rng.normal(size=(n, width)) * 10.0 ** rng.choice([-300, -3, 0, 0, 0, 200], width)
    x += rng.choice([0, 0, 1e6], width)
    x = np.where(rng.random(width) < 0.3, np.rint(x), x)
    x[rng.random(x.shape) < rng.choice([0.0, 1e-3, 0.3])] = rng.choice(EXTREMES)
    with np.errstate(over="ignore"):
        x = finite(x.astype(rng.choice([np.float64, np.float32])))
    own = rng.integers(0, classes, n).astype(np.int32)
    want = counted_by_codes(x, own, classes)
    for _ in each_isa():
        for one, other in zip(kernels.count_numbers(as_table(x, form), own, classes)[1], want, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("value", [2.5, 0.0, np.nan])
def test_more_rows_than_a_small_counter_holds_are_counted(each_isa, value):
    n = 200_001
    x, own = np.full((n, 2), value), np.zeros(n, np.int32)
    for _ in each_isa():
        _, got = kernels.count_numbers(x, own, 1)
        assert got.counts.tolist() == ([[]] if np.isnan(value) else [[n, n]])


@pytest.mark.parametrize("bad", [-1, 2])
def test_classes_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="classes: wanted"):
        kernels.count_numbers(np.zeros((1, 1)), np.array([bad], np.int32), 2)
    with pytest.raises(ValueError, match="classes: wanted"):
        kernels.count_numbers(np.zeros((5000, 1)), np.full(5000, bad, np.int32), 2)


@given(drawn=numbers(), seed=st.integers(0, 2**32))
@examples(40)
def test_cells(each_isa, as_table, drawn, seed):
    x, form = drawn
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0, 1, 15, 16, 17, 200, 254], x.shape[1])
    edges = [
        np.sort(rng.choice(x[:, f][~np.isnan(x[:, f])].astype(float), size))
        if (~np.isnan(x[:, f])).any()
        else np.arange(size, dtype=float)
        for f, size in enumerate(sizes)
    ]
    flat = np.concatenate([*edges, np.zeros(0)])
    want = reference.find_cells(x, flat, sizes)
    for _ in each_isa():
        got = kernels.find_cells(as_table(x, form), flat, sizes)
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist() or got.size == want.size == 0


@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([2, 3, 40, 254]),
    spread=st.sampled_from(["even", "normal", "uneven", "equal", "infinite"]),
)
@examples(60)
def test_cells_of_many_values(each_isa, seed, size, spread):
    rng = np.random.default_rng(seed)
    x = 3 * rng.standard_normal((300, 2))
    x[rng.integers(0, 300, 9), 0] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 7.0]
    edges = {
        "even": np.linspace(-4, 4, size),
        "normal": rng.standard_normal(size),
        "uneven": np.exp(20 * rng.standard_normal(size)),
        "equal": rng.choice([1.0, np.nextafter(1.0, 2.0)], size),
        "infinite": rng.choice([-np.inf, -1e308, 0.5, 1e308, np.inf], size),
    }[spread]
    x[:size, 1] = edges
    flat, sizes = np.concatenate([np.sort(edges)] * 2), [size, size]
    want = reference.find_cells(x, flat, sizes)
    for _ in each_isa():
        assert (kernels.find_cells(x, flat, sizes) == want).all()


def sorted_buckets(x):
    """Return keys, sizes and shifts with the keys of each column sorted."""
    found = kernels.find_buckets(x)
    column = np.repeat(np.arange(len(found.sizes)), found.sizes)
    return found.keys[np.lexsort((found.keys, column))], found.sizes, found.shifts


@given(seed=st.integers(0, 2**32), n=st.sampled_from([0, 1, 700, 1024, 3000]), digits=st.sampled_from([0, 2, 9]))
@examples(40)
def test_buckets_of_parts_join_to_those_of_all_rows(seed, n, digits):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(digits) * [1.0, 1e-9, 1e12]
    parts = [sorted_buckets(x[:k]) + sorted_buckets(x[k:]) for k in (0, n // 3, n)]
    whole = sorted_buckets(x)
    for part in parts:
        got, want = kernels.join_buckets(*part), reference.join_buckets(*part)
        assert all((one == other).all() for one, other in zip(got, want, strict=True))
        assert all((one == other).all() for one, other in zip(got[:3], whole, strict=True))
    assert (whole[1] <= MOST_BUCKETS).all()


@given(seed=st.integers(0, 2**32), few=st.sampled_from([0, 1, 2, 9]), digits=st.sampled_from([1, 2, 9]))
@examples(60)
def test_a_few_keys_are_inserted_where_a_merge_puts_them(seed, few, digits):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(int(rng.choice([100, 1023, 1500])), 3)).round(digits) * [1.0, 1e-9, 1e12]
    known, new = x[rng.integers(0, len(x), (few, 3)), [0, 1, 2]], rng.normal(size=(few, 3)).round(digits)
    y = np.where(rng.random((few, 3)) < 0.5, known, new * [1.0, 1e-9, 1e12])
    y[rng.random(y.shape) < 0.1] = rng.choice([1e300, -1e300, 0.0, np.nan])
    for part in (sorted_buckets(x) + sorted_buckets(y), sorted_buckets(y) + sorted_buckets(x)):
        got, want = kernels.join_buckets(*part), reference.join_buckets(*part)
        assert all((one == other).all() for one, other in zip(got, want, strict=True))


@pytest.mark.parametrize("order", ["given", "reversed", "sorted"])
def test_the_order_of_rows_does_not_matter(order):
    x = np.random.default_rng(0).normal(size=(5000, 1))
    other = {"given": x, "reversed": x[::-1].copy(), "sorted": np.sort(x, axis=0)}[order]
    assert all((one == two).all() for one, two in zip(sorted_buckets(x), sorted_buckets(other), strict=True))


@pytest.mark.parametrize("bad", [[3.0, 2.0], np.zeros(255)], ids=["falling", "too many"])
def test_edges_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="edges: wanted"):
        kernels.find_cells(np.zeros((2, 1)), np.asarray(bad), [len(bad)])
    with pytest.raises(ValueError, match="edges: wanted"):
        kernels.find_cells(np.zeros((2, 1)), np.zeros(2), [1])


def test_keys_and_shifts_that_are_none_are_refused():
    one, shift = np.array([1, 2]), np.array([0])
    with pytest.raises(ValueError, match="keys: wanted"):
        kernels.join_buckets(one[::-1].copy(), [2], shift, one, [2], shift)
    with pytest.raises(ValueError, match="shifts: wanted"):
        kernels.join_buckets(one, [2], np.array([64]), one, [2], shift)


@given(seed=st.integers(0, 2**32), rows=st.integers(0, 3), width=st.integers(0, 9), size=st.integers(1, 9))
@examples(60)
def test_counts_are_added_at_their_places(seed, rows, width, size):
    rng = np.random.default_rng(seed)
    values, places = rng.integers(-(2**63), 2**63 - 1, (rows, width)), rng.integers(0, size, width)
    got, want = np.ones((2, rows, size), np.int64)
    kernels.add_columns(values, places, got)
    reference.add_columns(values, places, want)
    assert (got == want).all()


@pytest.mark.parametrize(
    ("values", "places", "out", "message"),
    [
        (np.ones((1, 2), int), np.array([0, 2]), np.zeros((1, 2), int), "places: wanted columns that out has"),
        (np.ones((1, 2), int), np.array([-1, 0]), np.zeros((1, 2), int), "places: wanted columns that out has"),
        (np.ones((1, 2), int), np.array([0]), np.zeros((1, 2), int), "places: wanted length 2"),
        (np.ones((2, 2), int), np.array([0, 1]), np.zeros((1, 2), int), "out: wanted length 2"),
        (np.ones((2, 1), int), np.array([0]), np.zeros((2, 4), int)[:, ::2], "out: wanted a C-contiguous array"),
        (np.ones(2, int), np.array([0, 1]), np.zeros((1, 2), int), "values: wanted 2 axes"),
    ],
)
def test_columns_that_cannot_be_added_are_refused(values, places, out, message):
    with pytest.raises(ValueError, match=message):
        kernels.add_columns(values, places, out)


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_only_whole_numbers_are_added_to_columns(wrong):
    given = [np.ones((1, 2), int), np.array([0, 1]), np.zeros((1, 2), int)]
    given[wrong] = given[wrong].astype(float)
    with pytest.raises(TypeError, match="wanted int64"):
        kernels.add_columns(*given)
