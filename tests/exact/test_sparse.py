"""Sparse exact arrays: every operation equals that of the dense array."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact
from tests.examples import examples

NUMBERS = st.one_of(
    st.just(0.0), st.just(0.0), st.integers(0, 3).map(float), st.sampled_from([0.1, 1e300, 2.0**-900, 2.0**40, 3.0**33])
)


def arrays(height: int, width: int) -> st.SearchStrategy[Any]:
    """Draw numbers (R, V), mostly zeros."""
    numbers = st.lists(NUMBERS, min_size=height * width, max_size=height * width)
    return numbers.map(lambda values: np.array(values, np.float64).reshape(height, width))


PAIRS = st.tuples(st.integers(1, 4), st.integers(0, 5)).flatmap(lambda shape: st.tuples(*[arrays(*shape)] * 2))


def of(values: Any) -> tuple[Exact, SparseExact]:
    whole = Exact.of(values)
    return whole, SparseExact.from_whole(whole)


def same(got: Exact, want: Exact, *, scattered: bool = True) -> None:
    """Assert that both are equal to the bit, and that the sparse one stores no zeros."""
    assert got == want
    assert got.shape == want.shape
    assert (got.base, got.is_zero) == (want.base, want.is_zero)
    np.testing.assert_array_equal(got.limbs, want.limbs)
    assert isinstance(got, SparseExact) == scattered
    if isinstance(got, SparseExact):
        assert got == SparseExact.from_whole(want)
        assert got.values.nonzero().all()


@examples(200)
@given(PAIRS)
def test_sums_and_differences_are_those_of_the_whole(pair: Any) -> None:
    (a, few_a), (b, few_b) = map(of, pair)
    same(few_a + few_b, a + b)
    same((few_a + few_b) - few_b, a)
    same(few_a - few_b, a - b)
    same(few_a + b, a + b, scattered=b.is_zero)
    assert a + few_b == a + b
    assert (few_a == few_b) == (a == b)
    for axis in (0, 1):
        same((few_a + few_b).sum(axis), (a + b).sum(axis), scattered=False)
    if len(a.shape) > 1:
        assert few_a.others() == a.others()
    np.testing.assert_array_equal((few_a - few_b).negative(), (a - b).negative())
    np.testing.assert_array_equal((few_a - few_b).nonzero(), (a - b).nonzero())
    np.testing.assert_array_equal((few_a - few_b).used(), (a - b).used())
    np.testing.assert_array_equal((few_a + few_b).to_float(), (a + b).to_float())


@examples(200)
@given(PAIRS, st.data())
def test_rows_and_columns_are_taken_and_spread_as_those_of_the_whole(pair: Any, data: st.DataObject) -> None:
    whole, few = of(pair[0])
    for axis in (0, 1):
        size = whole.shape[axis]
        index = np.array(data.draw(st.lists(st.integers(0, size - 1), max_size=6) if size else st.just([])), np.intp)
        same(few.take(index, axis), whole.take(index, axis))
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
        same(few.take(mask, axis), whole.take(mask, axis))
        places = np.array(data.draw(st.permutations(range(size + 2)))[:size], np.intp)
        for at in (places, np.sort(places)):
            same(few.spread(at, size + 2, axis), whole.spread(at, size + 2, axis))


@examples(100)
@given(PAIRS, st.data())
def test_entries_less_something_are_those_of_the_whole(pair: Any, data: st.DataObject) -> None:
    whole, few = of(pair[0])
    height, width = whole.shape
    cells = st.tuples(st.integers(0, height - 1), st.integers(0, max(width - 1, 0)))
    rows, columns = np.array(data.draw(st.lists(cells, max_size=8 if width else 0)), np.intp).reshape(-1, 2).T
    taken = np.array(data.draw(st.lists(NUMBERS, min_size=len(rows), max_size=len(rows))), np.float64)
    got = few.less((rows, columns), taken)
    np.testing.assert_array_equal(got, whole.less((rows, columns), taken))


def test_arrays_stand_side_by_side() -> None:
    values = np.array([[0.0, 1.0, 0.0], [2.0**-50, 0.0, 3.0]])
    parts = [of(values)[1], of(values[:, :0])[1], of(values[:, ::-1])[1]]
    same(SparseExact.side_by_side(parts), Exact.of(np.hstack([values, values[:, :0], values[:, ::-1]])))
    assert SparseExact.side_by_side(parts[:1]) is parts[0]


def test_zeros_take_no_entries() -> None:
    _, few = of(np.zeros((3, 1000)))
    assert few.is_zero
    assert len(few.places.rows) == 0
    same(few - few, Exact.zeros((3, 1000)))
    with pytest.raises(TypeError):
        hash(few)


def test_it_survives_pickling() -> None:
    whole, few = of(np.array([[0.0, 0.1], [7.0, 0.0]]))
    same(pickle.loads(pickle.dumps(few)), whole)
