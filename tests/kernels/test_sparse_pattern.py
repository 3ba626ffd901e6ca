"""Sparsity patterns agree with their plain twin, and invalid ones are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.kernels import _native, sparse_pattern
from tests.examples import examples

from . import reference


@st.composite
def places(draw: st.DrawFn, width: int) -> Any:
    """Return starts and rows of some entries in `width` columns of six rows."""
    columns = draw(st.lists(st.sets(st.integers(0, 5)), min_size=width, max_size=width))
    starts = np.cumsum([0, *map(len, columns)], dtype=np.int64)
    return starts, np.array([row for column in columns for row in sorted(column)], np.int32)


@examples(200)
@given(st.integers(0, 5).flatmap(lambda width: st.tuples(places(width), places(width))))
def test_the_union_of_patterns_is_that_of_the_twin(both: Any) -> None:
    left, right = both
    got = sparse_pattern.join_places(*left, *right)
    want = reference.join_places(*left, *right)
    for mine, twin in zip(got, want, strict=True):
        assert mine.dtype == twin.dtype
        np.testing.assert_array_equal(mine, twin)


@examples(200)
@given(places(4), st.lists(st.tuples(st.integers(-1, 6), st.integers(0, 3)), max_size=12))
def test_entries_are_found_where_the_twin_finds_them(given_places: Any, cells: list[tuple[int, int]]) -> None:
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T.copy()
    got = sparse_pattern.find_places(*given_places, rows, columns)
    np.testing.assert_array_equal(got, reference.find_places(*given_places, rows, columns))


GOOD = np.array([0, 2, 3]), np.array([1, 4, 0], np.int32)


@pytest.mark.parametrize(
    ("starts", "rows", "message"),
    [
        (np.array([0, 2, 3]), np.array([4, 1, 0], np.int32), "right: wanted entries that rise"),
        (np.array([0, 2, 3]), np.array([1, 1, 0], np.int32), "right: wanted entries that rise"),
        (np.array([0, 2, 9]), GOOD[1], "right: wanted entries that rise"),
        (np.array([0, 2, 1]), GOOD[1], "right: wanted entries that rise"),
        (np.array([1, 2, 3]), GOOD[1], "right: wanted entries that rise"),
        (np.array([0, 1, 2]), GOOD[1], "right: wanted entries that rise"),
        (np.array([-1, 2, 3]), GOOD[1], "right: wanted entries that rise"),
        (np.array([0, 2, 3]), np.array([-1, 4, 0], np.int32), "wanted entries that rise"),
        (np.array([0, 3]), GOOD[1], "right: wanted as many columns"),
        (np.zeros(0, np.int64), GOOD[1], "starts: wanted one more"),
        (np.zeros((3, 1), np.int64), GOOD[1], "starts: wanted 1 axes"),
    ],
)
def test_an_invalid_pattern_is_refused(starts: Any, rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sparse_pattern.join_places(*GOOD, starts, rows)


@pytest.mark.parametrize("column", [-1, 2])
def test_a_cell_outside_of_the_matrix_is_refused(column: int) -> None:
    with pytest.raises(ValueError, match="of_columns: wanted columns that there are"):
        sparse_pattern.find_places(*GOOD, np.array([0]), np.array([column]))


@examples(200)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12), st.sampled_from("fdbhiq"))
def test_ranges_are_copied_one_after_the_other(found: list[tuple[int, int]], kind: str) -> None:
    values = np.arange(18).astype(kind)
    starts, lengths = np.array(found, np.int64).reshape(-1, 2).T.copy()
    got = sparse_pattern.copy_ranges(values, starts, lengths)
    assert got.dtype == values.dtype
    np.testing.assert_array_equal(got, reference.copy_ranges(values, starts, lengths))


@pytest.mark.parametrize(
    ("start", "length"), [(-1, 1), (4, 1), (3, 1), (0, 4), (2, 2**62), (2**62, 2), (-(2**63), 1), (1, 0)], ids=str
)
def test_a_range_outside_of_the_values_is_refused(start: int, length: int) -> None:
    out = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="starts: wanted ranges of the values that fill out, got others"):
        _native.copy_ranges(np.arange(3), np.array([start]), np.array([length]), out)
    assert out.tolist() == [0]
