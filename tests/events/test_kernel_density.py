"""The kernel density of a number equals its plain twin, and rows left out of it are as if never counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

import tallybayes as tb
from tallybayes.events.families.cells import Cells
from tallybayes.events.families.kernel_density import KernelDensity

WIDTHS, MASSES = (10, 20), (4.0, 32.0)


@st.composite
def densities(draw):
    """Return cells of some columns, a few of them without rows, and a density on them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    C, sizes = draw(st.sampled_from([2, 3, 7])), draw(st.lists(st.sampled_from([1, 3, 40]), min_size=1, max_size=3))
    counts = rng.poisson(draw(st.sampled_from([0.3, 3.0, 300.0])), (sum(sizes), C)).astype(float)
    if draw(st.booleans()):
        counts *= 0.25
    at = np.concatenate([np.sort(rng.normal(size=size)) for size in sizes])
    cells = Cells(np.array(sizes), at, at, at, counts.sum(axis=1))
    return KernelDensity(cells, counts, np.maximum(counts.sum(axis=0), 1.0))


def places(density: KernelDensity) -> np.ndarray:
    """Return the normal scores of cells, in sixteenths; that of the nearest where no row is."""
    cells, found = density.cells, np.zeros(len(density.counts))
    for start, size in zip(cells.starts, cells.sizes, strict=True):
        some = start + np.flatnonzero(cells.pooled[start : start + size])
        for k in range(start, start + size):
            if len(some):
                mine = some[np.argmin(np.abs(cells.value[some] - cells.value[k]))]
                below = cells.pooled[start:mine].sum() + cells.pooled[mine] / 2
                found[k] = np.clip(16 * ndtri(below / cells.pooled[start : start + size].sum()), -64, 64)
    return found


def plain(density: KernelDensity, k: int, counts: np.ndarray) -> np.ndarray:
    """Return the log-ratios of cell k, given the counts of all cells: (C,)."""
    cells, place = density.cells, density._places
    f = cells.column[k]
    mine = range(cells.starts[f], cells.starts[f] + cells.sizes[f])
    totals, out = counts[mine].sum(axis=0), 0.0
    for width, weights in zip(WIDTHS, density.weights[:, f].reshape(2, 2), strict=True):
        far = np.array([abs(int(place[j]) - int(place[k])) / width for j in mine])
        near = (np.clip(1 - far**2, 0, None) ** 3) @ counts[mine]
        scaled = totals.sum() * near / near.sum() if near.sum() > 1e-9 else totals
        for alpha, weight in zip(MASSES, weights, strict=True):
            out = out + weight * (scaled + alpha) / (totals + alpha)
    return np.log(out)


@given(densities())
@settings(max_examples=60, deadline=None)
def test_terms_equal_those_of_the_plain_twin(density):
    some = np.add.reduceat(density.cells.pooled, density.cells.starts)[density.cells.column] > 0
    assert np.abs(density._places - 64 - places(density))[some].max(initial=0.0) <= 0.5 + 0.01
    terms, counts = density.log_terms(), density.counts
    for k in range(len(counts)):
        np.testing.assert_allclose(terms[0, k], plain(density, k, counts), atol=1e-9)


@given(densities(), st.sampled_from([0.25, 1.0, 2.0]))
@settings(max_examples=60, deadline=None)
def test_a_row_left_out_is_as_if_never_counted(density, weight):
    counts = density.counts
    cell, own = np.nonzero(counts >= weight)
    found = density.log_terms_without(cell, own, np.full(len(cell), weight))
    terms = density.log_terms()
    for k, c, left in zip(cell, own, found, strict=True):
        less = counts.copy()
        less[k, c] -= weight
        np.testing.assert_allclose(left, plain(density, k, less), atol=1e-9)
        if weight == 1:
            np.testing.assert_allclose(
                np.where(np.arange(counts.shape[1]) == c, terms[2, k], terms[1, k]), left, atol=1e-9
            )


def test_the_weights_of_widths_and_masses_are_those_of_rows_left_out():
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, (30, 2)).astype(float) + 1
    at = np.arange(30.0)
    density = KernelDensity(Cells(np.array([30]), at, at, at, counts.sum(axis=1)), counts, counts.sum(axis=0))
    logs = np.zeros(4)
    for e in range(4):
        one = KernelDensity(density.cells, counts, density.rows).chosen(np.eye(4)[:, e, None])
        for k in range(30):
            for c in range(2):
                less, prior = counts.copy(), density.rows + 0.5
                less[k, c] -= 1
                prior[c] -= 1
                p = prior * np.exp(plain(one, k, less))
                logs[e] += counts[k, c] * np.log(p[c] / p.sum())
    np.testing.assert_allclose(
        density.weights[:, 0], np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum(), atol=1e-6
    )


def test_two_humps_are_told_from_the_hollow_between_them():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    x = np.where(y == 0, rng.normal(size=300), rng.normal(size=300) * 0.7 + rng.choice([-3.0, 3.0], 300))
    loss = {}
    for method in ("student", "tree", "kernel", "average"):
        events = {"x": f"histogram(method='{method}')"}
        found = tb.validate({"x": x, "y": y}, "y", "10-fold", events=events, calibrate=None)
        loss[method] = found.evaluation.log_loss
    assert loss["kernel"] < loss["tree"] < loss["student"]
    assert loss["average"] == pytest.approx(loss["kernel"], abs=0.01)
