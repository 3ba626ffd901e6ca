"""The compiled kernel density equals its plain twin, on every instruction set to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tests.examples import examples

from . import density_reference as reference

SHAPES = np.maximum(1.0 - (np.arange(5) / np.array([3, 5])[:, None]) ** 2, 0.0) ** 3
MASSES = np.array([4.0, 32.0])
SCORES = {"steps": 4, "farthest": 8}
N_PLACES = 17


@st.composite
def columns(draw):
    """Return sizes and ends of the cells of some columns, and the rows of each class in them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    C, sizes = draw(st.sampled_from([1, 2, 3, 9])), draw(st.lists(st.sampled_from([1, 4, 7, 40]), max_size=3))
    counts = rng.poisson(draw(st.sampled_from([0.0, 0.1, 2.0, 500.0])), (sum(sizes), C)).astype(float)
    if draw(st.booleans()):
        counts *= 0.25
    apart = 3e-4  # cells do not overlap
    each = [np.sort(rng.normal(size=size)) + apart * np.arange(size) for size in sizes]
    value = np.concatenate([np.zeros(0), *each])
    return sizes, value - 1e-4, value, value + 1e-4, counts


@given(drawn=columns())
@examples(60)
def test_places(each_isa, drawn):
    *cells, counts = drawn
    want, digests = reference.places(*cells, counts.sum(axis=1), **SCORES), set()
    for _ in each_isa():
        got = kernels.density_places(*cells, counts.sum(axis=1), **SCORES)
        assert np.abs(got - want).max(initial=0.0) <= 0.5 + 0.01
        digests.add(got.tobytes())
    assert len(digests) == 1


@given(drawn=columns(), chosen=st.booleans())
@examples(60)
def test_terms_weights_and_sums(each_isa, drawn, chosen):
    *cells, counts = drawn
    sizes, C = cells[0], counts.shape[1]
    places, weights = kernels.density_places(*cells, counts.sum(axis=1), **SCORES), None
    if chosen:
        weights = np.random.default_rng(0).dirichlet(np.ones(4), len(sizes)).T.copy()
    rows = np.maximum(counts.sum(axis=0), 1.0)
    given = counts, sizes, places, SHAPES, MASSES, np.stack([rows, rows - 1]) + 0.5
    near = reference.sums(counts, sizes, places, SHAPES)
    want, digests = reference.terms(*given, weights=weights) if sizes else None, set()
    for _ in each_isa():
        terms, found = kernels.density_terms(*given, n_places=N_PLACES, weights=weights)
        sums = kernels.density_sums(counts, sizes, places, SHAPES, n_places=N_PLACES)
        np.testing.assert_allclose(sums, near, rtol=1e-12, atol=1e-12)
        if want is not None:
            np.testing.assert_allclose(terms, want[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found, want[1], rtol=1e-9, atol=1e-9)
        assert terms.shape == (3, len(counts), C)
        digests.add((terms.tobytes(), found.tobytes(), sums.tobytes()))
    assert len(digests) == 1


def test_terms_are_written_where_they_are_wanted():
    counts, places = np.diag([2.0, 3.0]), np.array([0, 16], np.int32)
    given = counts, [2], places, SHAPES, MASSES, np.ones((2, 2))
    out = np.empty((2, 3, 2, 2))
    terms, weights = kernels.density_terms(*given, n_places=N_PLACES, out=out[1])
    assert np.shares_memory(terms, out)
    again, _ = kernels.density_terms(*given, n_places=N_PLACES, weights=weights)
    np.testing.assert_array_equal(out[1], again)


@pytest.mark.parametrize("place", [-1, N_PLACES])
def test_places_outside_are_refused(place):
    with pytest.raises(ValueError, match="places"):
        kernels.density_sums(np.ones((1, 2)), [1], np.array([place], np.int32), SHAPES, n_places=N_PLACES)


def test_shapes_that_do_not_fit_are_refused():
    counts, places = np.ones((2, 3)), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="prior"):
        kernels.density_terms(counts, [2], places, SHAPES, MASSES, np.ones((2, 2)), n_places=1)
    given, weights = (counts, [2], places, SHAPES, MASSES, np.ones((2, 3))), np.ones((3, 1))
    with pytest.raises(ValueError, match="weights"):
        kernels.density_terms(*given, n_places=1, weights=weights)
    with pytest.raises(ValueError, match="shapes and masses"):
        kernels.density_sums(counts, [2], places, SHAPES[:0], n_places=1)
