"""The kernels of experts in plain NumPy: the specification of the compiled ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from tallybayes.kernels import Coefficients, ExpertTerms, MixedExperts

Floats = NDArray[np.float64]


def _left(count: Floats) -> Floats:
    less = count - 1.0
    return np.where(less > 1e-12 * count, less, 0.0)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _tree(counts, column, nodes, n_nodes, alphas, omegas):
    """Return the three terms of the tree, and ω of each level."""
    columns = int(column.max(initial=-1)) + 1
    terms, chosen = np.zeros((3, *counts.shape)), []
    for level, (node, size) in enumerate(zip(nodes, n_nodes, strict=True)):
        by_node, group = np.zeros((size, counts.shape[1])), np.zeros(size, int)
        some = node >= 0
        np.add.at(by_node, node[some], counts[some])
        group[node[some]] = column[some]
        total = np.repeat(by_node[::2] + by_node[1::2], 2, axis=0)
        pooled, whole = by_node.sum(axis=1), total.sum(axis=1)
        share, less = _share(pooled, whole), _share(_left(pooled), _left(whole))
        if omegas is None:
            log = np.zeros((len(alphas), columns))
            for a, alpha in enumerate(alphas):
                with np.errstate(invalid="ignore"):
                    gain = gammaln(by_node + alpha * share[:, None]) - gammaln(alpha * share[:, None])
                np.add.at(log[a], group, np.where(by_node > 0, gain, 0.0).sum(axis=1))
                np.add.at(log[a], group[::2], -(gammaln(total[::2] + alpha) - gammaln(alpha)).sum(axis=1))
            omega = np.exp(log - logsumexp(log, axis=0))
            omega[omega < 1e-12] = 0.0
            omega /= omega.sum(axis=0)
        else:
            omega = omegas[level]
        chosen.append(omega)

        def average(count: Floats, total: Floats, share: Floats, omega: Floats = omega, group=group) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = np.where(share[:, None] > 0, count / share[:, None], 0.0)
            each = zip(alphas, omega[:, group], strict=True)
            return sum(w[:, None] * (scaled + alpha) / (total + alpha) for alpha, w in each)

        tables = (
            average(by_node, total, share),
            average(by_node, total, less),
            average(_left(by_node), _left(total), less),
        )
        for out, table in zip(terms, tables, strict=True):
            out[some] += np.log(table)[node[some]]
    return terms, np.array(chosen).reshape(len(n_nodes), len(alphas), columns)


def _without(n, mean, m2, x):
    """Return moments without a row, and where doubles are exact enough for that."""
    w = np.minimum(n, 1.0)
    rest = n - w
    with np.errstate(all="ignore"):
        away = x - mean
        centre, left = mean - w * away / rest, m2 - w * away**2 * n / rest
    same = (m2 == 0) & (rest > 1e-4 * n)
    fine = same | ((left > 1e-4 * m2) & (rest > 1e-4 * n))
    nothing = ~(rest > 0)
    centre, left = np.where(same, mean, centre), np.where(same, 0.0, left)
    used = fine & ~nothing
    return rest, np.where(used, centre, 0.0), np.where(used, left, 0.0), fine | nothing


def _student(x, own, whole, k: Coefficients, floor):
    """Return the log-density at x, given moments of the class and of the whole column."""
    (_, mean, m2), (N, M, M2) = own, whole
    with np.errstate(all="ignore"):
        variance = np.where(N > 0, np.minimum(M2, 1e300) / N, 0.0)
        least = np.maximum(floor * np.where(variance > 0, variance, np.clip(M**2, 1.0, 1e300)), 1e-300)
        apart = mean - M
        scale2 = k.share * (np.minimum(m2, 1e300) + k.between * np.minimum(apart**2, 1e300)) + k.whole * variance
        scale2 = np.clip(scale2, least, 1e300)
        z = np.abs(x - (mean - k.pull * apart)) * np.sqrt(1 / (k.freedom * scale2))
        log = np.where(z < 1e150, np.log1p(np.minimum(z, 1e150) ** 2), 2 * np.log(np.maximum(z, 1.0)))
        return np.maximum(k.constant - 0.5 * np.log(scale2) - (k.freedom + 1) / 2 * log, -1e6)


def expert_terms(
    value: Floats,
    counts: Floats,
    sizes: Sequence[int],
    nodes: NDArray[np.int32],
    n_nodes: Sequence[int],
    alphas: Floats,
    moments: Floats,
    whole: Floats,
    full: Coefficients,
    less: Coefficients,
    *,
    floor: float,
    omegas: Floats | None = None,
) -> ExpertTerms:
    """Return the terms of a tree of counts and of a Student t for each cell."""
    column, x = np.repeat(np.arange(len(sizes)), sizes), value[:, None]
    tree, chosen = _tree(counts, column, nodes, n_nodes, alphas, omegas)
    own, over = tuple(part[column] for part in moments), tuple(part[column][:, None] for part in whole)
    by, by_less = (Coefficients(*(part[column] for part in of)) for of in (full, less))
    *over_less, whole_fine = _without(*over, x)
    *own_less, fine = _without(*own, x)
    student = (
        _student(x, own, over, by, floor),
        _student(x, own, over_less, by, floor),
        _student(x, own_less, over_less, by_less, floor),
    )
    some = counts.sum(axis=1) > 0
    lost = some & (~whole_fine[:, 0] | ((counts > 0) & ~fine).any(axis=1))
    return ExpertTerms(np.array([tree, student]), chosen, lost)


def mix_experts(
    terms: Floats,
    counts: Floats,
    sizes: Sequence[int],
    log_rows: Floats,
    pairs: NDArray[np.int64],
    *,
    used: tuple[bool, bool, bool] = (True, True, True),
    log_weights: Floats | None = None,
    mixed: bool = True,
) -> MixedExperts:
    """Return the average of three experts, weighted by how well each predicts the classes of rows left out."""
    C, column = counts.shape[1], np.repeat(np.arange(len(sizes)), sizes)
    if log_weights is None:
        scores = np.full((3, len(sizes)), -np.inf)
        for e in np.flatnonzero(used):
            other, own = log_rows[0] + terms[e, 1], log_rows[1] + terms[e, 2]
            lost = np.zeros(counts.shape)
            for c in range(C):
                each = np.where(np.arange(C) == c, own, other)
                lost[:, c] = np.minimum(logsumexp(each, axis=1) - own[:, c], 1e6)
            scores[e] = -np.bincount(column, (counts * np.where(counts > 0, lost, 0.0)).sum(axis=1), len(sizes))
        log_weights = scores - logsumexp(scores, axis=0)

    def average(each: Floats, column: NDArray[np.intp]) -> Floats:
        normal = each - logsumexp(each, axis=2, keepdims=True)
        return logsumexp(log_weights[:, column][:, :, None] + normal, axis=0)

    cell, own = np.divmod(pairs, C)
    left = np.where(np.arange(C) == own[:, None], terms[:, 2, cell], terms[:, 1, cell])
    return MixedExperts(log_weights, average(terms[:, 0], column) if mixed else None, average(left, column[cell]).T)
