"""The kernels of what columns say together, as plainly as possible."""

from __future__ import annotations

import numpy as np

from .reference import _columns

__all__ = ["distances", "interpolate", "score_cells"]


def score_cells(columns, lows, sizes, members, lengths, table, out):
    """Add the rows of the table that combinations of codes point to."""
    codes, first, start = list(_columns(columns)), 0, 0
    for length in lengths:
        mine = members[start : start + length]
        shape = [int(sizes[p]) for p in mine]
        part = table[first : first + int(np.prod(shape))].reshape(*shape, out.shape[1])
        for i in range(len(out)):
            cell = [int(codes[p][i]) - int(lows[p]) for p in mine]
            if all(0 <= code < size for code, size in zip(cell, shape, strict=True)):
                out[i] += part[tuple(cell)]
        first, start = first + int(np.prod(shape)), start + length


def interpolate(columns, knots, heights, sizes):
    """Return the height at each number, rounded, and whether one is missing."""
    found, ends = [], np.cumsum(sizes)
    for column, size, end in zip(_columns(columns), sizes, ends, strict=True):
        at, up = knots[end - size : end] / 2, heights[end - size : end]
        x = column.astype(np.float64) / 2
        k = np.clip(np.searchsorted(at, x, side="right") - 1, 0, size - 2)
        with np.errstate(invalid="ignore"):
            share = np.clip((x - at[k]) / (at[k + 1] - at[k]), 0.0, 1.0)
        found.append(np.rint(up[k] + share * (up[k + 1] - up[k])))
    return found, any(np.isnan(one).any() for one in found)


def distances(columns, mean, root, out):
    """Write the squared length of root.T @ (x - mean), summed from the first column to the last."""
    x = [column.astype(np.float64) for column in _columns(columns)]
    for c in range(out.shape[1]):
        total = np.zeros(len(out))
        for j in range(len(x)):
            part = np.zeros(len(out))
            for i in range(j + 1):
                part = part + root[c, i, j] * (x[i] - mean[c, i])
            total = total + part * part
        out[:, c] = total
