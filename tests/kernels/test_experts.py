"""Compiled experts equal their plain twins, on every instruction set to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import kernels
from tallybayes.events.families.normal import coefficients
from tallybayes.events.families.tree import ALPHAS
from tallybayes.events.likelihood import EstimateOptions
from tests.examples import examples

from . import experts_reference as reference


@st.composite
def columns(draw):
    """Return the arguments of `expert_terms`: cells of some columns, cut into two and four."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    C, sizes = draw(st.sampled_from([1, 2, 3, 9])), draw(st.lists(st.sampled_from([1, 4, 7, 30]), max_size=3))
    K, spread = sum(sizes), draw(st.sampled_from([1.0, 1e-9, 1e160, 1e-200]))
    value = np.concatenate([np.zeros(0), *(np.sort(rng.normal(size=size)) for size in sizes)]) * spread
    counts = rng.poisson(draw(st.sampled_from([0.3, 2.0, 500.0])), (K, C)).astype(float)
    if draw(st.booleans()):
        counts *= 0.25
    levels, n_nodes = [], []
    for parts in (2, 4):
        node, first = np.full(K, -1, np.int32), 0
        for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
            if size >= 4:
                node[start : start + size] = first + np.arange(size) * parts // size
                first += parts
        levels.append(node)
        n_nodes.append(first)
    nodes = np.array(levels, np.int32).reshape(2, K)
    column = np.repeat(np.arange(len(sizes)), sizes)
    n = np.stack([np.bincount(column, counts[:, c], len(sizes)) for c in range(C)], axis=1)
    mean = rng.normal(size=n.shape) * spread
    m2 = np.where(n > 1, n * rng.exponential(size=n.shape) * min(spread, 1e150) ** 2, 0.0)
    whole = np.stack([n.sum(axis=1), mean.mean(axis=1), m2.sum(axis=1)])
    options = EstimateOptions("bayes", np.ones(1), 0, 1e-9)
    full, less = (coefficients(weight, 1.0, options) for weight in (n, np.maximum(n - 1, 0.0)))
    return value, counts, sizes, nodes, n_nodes, ALPHAS, np.stack([n, mean, m2]), whole, full, less


def near(got, want, exactness=1e-9):
    np.testing.assert_allclose(got, want, rtol=exactness, atol=exactness)


@given(drawn=columns(), chosen=st.booleans())
@examples(60)
def test_terms(each_isa, drawn, chosen):
    omegas = None
    if chosen:
        omegas = np.random.default_rng(0).dirichlet(np.ones(len(ALPHAS)), (2, len(drawn[2]))).swapaxes(1, 2).copy()
    want, digests = reference.expert_terms(*drawn, floor=1e-9, omegas=omegas), set()
    for _ in each_isa():
        got = kernels.expert_terms(*drawn, floor=1e-9, omegas=omegas)
        near(got.omegas, want.omegas, 1e-7)
        near(got.terms[0], want.terms[0], 1e-7)
        assert (got.lost == want.lost).all()
        near(got.terms[1, 0], want.terms[1, 0])
        fine = ~want.lost[:, None]
        near(np.where(fine, got.terms[1, 1], 0.0), np.where(fine, want.terms[1, 1], 0.0), 1e-7)
        some = fine & (drawn[1] > 0)
        near(np.where(some, got.terms[1, 2], 0.0), np.where(some, want.terms[1, 2], 0.0), 1e-7)
        digests.add(tuple(part.tobytes() for part in got))
    assert len(digests) == 1


@given(drawn=columns(), seed=st.integers(0, 2**32), size=st.sampled_from([0.1, 3.0, 900.0]), chosen=st.booleans())
@examples(60)
def test_average(each_isa, drawn, seed, size, chosen):
    rng = np.random.default_rng(seed)
    _, counts, sizes, *_ = drawn
    K, C = counts.shape
    terms = rng.normal(size=(3, 3, K, C)) * size
    rows = np.log(rng.uniform(1, 100, (2, C)))
    weights = np.log(rng.dirichlet(np.ones(3), len(sizes)).T) if chosen else None
    some = [(True, True, True), (True, False, False), (False, True, True), (False, False, True)]
    used = some[0] if chosen else some[seed % 4]
    pairs = np.sort(rng.choice(K * C, K * C // 2, replace=False)).astype(np.int64)
    want, digests = reference.mix_experts(terms, counts, sizes, rows, pairs, used=used, log_weights=weights), set()
    for _ in each_isa():
        got = kernels.mix_experts(terms, counts, sizes, rows, pairs, used=used, log_weights=weights)
        near(np.exp(got.log_weights), np.exp(want.log_weights), 1e-7)
        near(got.mixed, want.mixed, 1e-6)
        near(got.left_out, want.left_out, 1e-6)
        digests.add(tuple(part.tobytes() for part in got))
        again = kernels.mix_experts(terms, counts, sizes, rows, pairs, log_weights=got.log_weights, mixed=False)
        assert again.mixed is None
        assert (again.left_out == got.left_out).all()
    assert len(digests) == 1


def test_arguments_that_do_not_fit_are_refused():
    one, half = np.ones((1, 2)), kernels.Coefficients(*np.full((6, 1, 2), 0.5))
    node, moments = np.zeros((1, 1), np.int32), np.ones((3, 1, 2))
    given = np.zeros(1), one, [1], node, [2], np.ones(1), moments, np.ones((3, 1)), half, half
    with pytest.raises(ValueError, match="nodes: wanted"):
        kernels.expert_terms(*given[:3], node + 2, *given[4:], floor=1e-9)
    with pytest.raises(ValueError, match="n_nodes: wanted"):
        kernels.expert_terms(*given[:4], [1], *given[5:], floor=1e-9)
    terms, rows = np.zeros((3, 3, 1, 2)), np.zeros((2, 2))
    for pairs in ([2], [1, 0], [-1]):
        with pytest.raises(ValueError, match="pairs: wanted"):
            kernels.mix_experts(terms, one, [1], rows, np.array(pairs))
