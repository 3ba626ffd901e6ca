from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.kernels.cell_sums import sum_cells
from tests.examples import examples

from . import reference


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 2, 30]),
    n_columns=st.sampled_from([1, 5, 40]),
    n_classes=st.sampled_from([0, 1, 2, 3, 20]),
    n_cells=st.sampled_from([1, 2, 80]),
)
@examples(100)
def test_sums(seed, n, n_columns, n_classes, n_cells):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 9, n))])
    columns, times = rng.integers(0, n_columns, starts[-1]), rng.integers(0, 4, starts[-1]) * rng.choice([0.3, 1.0])
    table = rng.normal(size=(n_columns, n_classes)) * 10.0 ** rng.integers(-3, 4)
    cells, at = rng.integers(0, n_cells, n_columns), rng.permutation(n + 3)[:n]
    got, want = (np.full((n_cells, n + 3, n_classes), 7, np.float32) for _ in range(2))
    sum_cells(starts, columns, times, table, cells, at, got)
    reference.sum_cells(starts, columns, times, table, cells, at, want)
    assert np.array_equal(got, want)


GOOD = {
    "starts": np.array([0, 2]),
    "columns": np.array([0, 1]),
    "times": np.ones(2),
    "table": np.ones((2, 3)),
    "cells": np.array([0, 1]),
    "at": np.array([0]),
    "out": np.zeros((2, 1, 3), np.float32),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("starts", np.array([0])),
        ("starts", np.array([0, 3])),
        ("starts", np.array([-1, 2])),
        ("starts", np.array([2, 0])),
        ("columns", np.array([0, 2])),
        ("columns", np.array([0, -1])),
        ("times", np.ones(3)),
        ("table", np.ones((2, 2))),
        ("table", np.ones((1, 3))),
        ("cells", np.array([0, 2])),
        ("cells", np.array([-1, 0])),
        ("at", np.array([1])),
        ("at", np.array([-1])),
        ("out", np.zeros((2, 0, 3), np.float32)),
    ],
)
def test_what_is_outside_of_the_arrays_is_refused(name, value):
    sum_cells(**GOOD)
    with pytest.raises(ValueError, match="wanted"):
        sum_cells(**{**GOOD, name: value})
