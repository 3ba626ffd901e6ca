"""The kernel density of numbers in plain NumPy: the specification of the compiled one."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri


def places(sizes, low, value, high, pooled, *, steps: int, farthest: int) -> np.ndarray:  # (K,), not rounded
    """Return the normal score of each cell in steps, from 0 on; that of the nearest cell where no row is."""
    found, first = np.zeros(len(value)), 0
    for size in sizes:
        mine = slice(first, first + size)
        some = first + np.flatnonzero(pooled[mine])
        for k in range(first, first + size):
            if not len(some):
                continue
            away = [0.0 if j == k else value[k] - high[j] if j < k else low[j] - value[k] for j in some]
            at = some[int(np.argmin(away))]
            share = (pooled[first:at].sum() + pooled[at] / 2) / pooled[mine].sum()
            found[k] = farthest + np.clip(steps * ndtri(share), -farthest, farthest)
        first += size
    return found


def sums(counts, sizes, places, shapes) -> np.ndarray:  # (H, K, C)
    """Return the rows of each class near each cell, by their distance."""
    column = np.repeat(np.arange(len(sizes)), sizes)
    far = np.abs(places[:, None].astype(int) - places)
    near = np.minimum(far, shapes.shape[1] - 1)
    alike = (column[:, None] == column) & (far < shapes.shape[1])
    return np.stack([np.where(alike, shape[near], 0.0) @ counts for shape in shapes])


def left(count):
    """Return counts less a row; 0 where only rounding is left."""
    return np.where(count - 1 > 1e-12 * count, count - 1, 0.0)


def ratios(near, whole, rows, everything, alpha) -> np.ndarray:
    """Return (N · S_c / S + α) / (N_c + α); where no row is near, S_c is N_c."""
    scaled = np.where(whole > 0, near * everything / np.where(whole > 0, whole, 1.0), rows)
    return (scaled + alpha) / (rows + alpha)


def terms(counts, sizes, places, shapes, masses, prior, *, weights=None) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-terms, (3, K, C), and the weight of each width and mass in each column."""
    column = np.repeat(np.arange(len(sizes)), sizes)
    by_column = np.stack([counts[column == f].sum(axis=0) for f in range(len(sizes))])
    rows = by_column[column]
    everything = rows.sum(axis=1, keepdims=True)
    each = []
    for near in sums(counts, sizes, places, shapes):
        whole = near.sum(axis=1, keepdims=True)
        for alpha in masses:
            now = ratios(near, whole, rows, everything, alpha)
            other = ratios(near, left(whole), rows, left(everything), alpha)
            own = ratios(left(near), left(whole), left(rows), left(everything), alpha)
            each.append((now, other, own))
    if weights is None:
        log = np.empty((len(each), len(sizes)))
        for e, (_, other, own) in enumerate(each):
            other, own = prior[0] * other, prior[1] * own
            p = own / (other.sum(axis=1, keepdims=True) - other + own)
            log[e] = np.bincount(column, (counts * np.log(p)).sum(axis=1), len(sizes))
        weights = np.exp(log - log.max(axis=0))
        weights /= weights.sum(axis=0)
        weights[weights < 1e-12] = 0.0
    return np.log(sum(w[column, None] * np.stack(one) for w, one in zip(weights, each, strict=True))), weights
