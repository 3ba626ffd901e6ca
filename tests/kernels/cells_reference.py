"""Twins of the kernels that make cells of buckets and cut them into trees, column by column in plain Python."""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes import kernels

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


def ends(keys: npt.NDArray[np.int64], shift: int) -> tuple[Floats, Floats, Floats]:
    """Return low, middle and high of buckets."""
    most = np.finfo(np.float64).max
    low = kernels.unordered(keys)
    high = np.clip(kernels.unordered(keys | ((1 << shift) - 1)), -most, most)
    return low, (low if shift == 0 else low / 2 + high / 2), high


def choose_cells(keys: Any, sizes: Any, shifts: Any, weights: Floats, *, most: int, between: int) -> tuple[Any, ...]:
    """Return sizes, low, value, high and weights of the cells."""
    cuts = np.cumsum(sizes)[:-1]
    each = zip(np.split(keys, cuts), shifts, np.split(weights, cuts), strict=True)
    columns = [_of_column(*ends(k, int(s)), w, most, between) for k, s, w in each]
    return np.array([len(one[0]) for one in columns]), *map(np.concatenate, zip(*columns, strict=True))


def cut_cells(
    sizes: Any, low: Floats, value: Floats, high: Floats, weights: Floats, *, leaves: int, depth: int, least: float
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the node of each cell in each level, and the number of nodes."""
    nodes, counts = [], []
    for one in zip(*(np.split(part, np.cumsum(sizes)[:-1]) for part in (low, value, high, weights)), strict=True):
        occupied = one[3] > 0
        levels = _tree([0.0, *np.cumsum(one[3][occupied]).tolist()], leaves, depth, least)
        counts.append(levels.max(axis=1, initial=-1) + 1)
        empty = np.full((depth, len(occupied)), -1)
        nodes.append(levels[:, _nearest(*one[:3], occupied)] if occupied.any() else empty)
    starts = np.cumsum(counts, axis=0) - counts
    placed = [np.where(node < 0, -1, node + start[:, None]) for node, start in zip(nodes, starts, strict=True)]
    return np.concatenate(placed, axis=1).astype(np.int32), np.array(counts).T


def count_cells(keys: Any, sizes: Any, shifts: Any, weights: Floats, edges: Floats, cells: Any) -> Floats:
    """Return the weight of each class in each cell."""
    out, start, at = np.zeros((sum(cells), len(weights))), 0, 0
    for f, (size, shift, width) in enumerate(zip(sizes, shifts, cells, strict=True)):
        middle = ends(keys[at : at + size], int(shift))[1]
        place = start + np.searchsorted(edges[start - f : start - f + width - 1], middle, side="right")
        np.add.at(out, place, weights[:, at : at + size].T)
        start, at = start + width, at + size
    return out


def _of_column(low: Floats, value: Floats, high: Floats, counts: Floats, most: int, between: int) -> Sequence[Floats]:
    """Return low, value, high and pooled weight of the cells of one column."""
    if not len(low):
        nothing = np.zeros(1)
        return nothing, nothing, nothing, nothing
    if len(low) > most:  # runs of about equal weight
        middle = np.cumsum(counts) - counts / 2
        run = np.floor(middle / np.cumsum(counts)[-1] * most)
        first = np.flatnonzero(np.diff(run, prepend=-1))
        share = counts / np.cumsum(counts)[-1]  # so that no sum exceeds the largest value
        low, high = low[first], high[np.append(first[1:], len(high)) - 1]
        value = np.clip(_sums(value * share, first) / _sums(share, first), low, high)
        counts = _sums(counts, first)
    steps = (np.arange(between) + 0.5) / between
    points = low[0] * (1 - steps) + high[-1] * steps
    after = np.minimum(np.searchsorted(low, points), len(low) - 1)
    reach = (high[-1] / 2 - low[0] / 2) / between  # half of the distance between points
    alone = (after > 0) & (points - high[after - 1] > reach) & (low[after] - points > reach)
    parts = [np.concatenate([mine, points[alone]]) for mine in (low, value, high)]
    order = np.argsort(parts[1], kind="stable")
    weight = np.concatenate([counts, np.zeros(int(alone.sum()))])
    return *(part[order] for part in parts), weight[order]


def _sums(values: Floats, first: Places) -> Floats:
    """Return the sums of runs, added up one by one."""
    return np.array([np.cumsum(run)[-1] for run in np.split(values, first[1:])])


def _nearest(low: Floats, value: Floats, high: Floats, occupied: npt.NDArray[np.bool_]) -> Places:
    """Return the occupied cell, among those, that each cell goes with: itself, or the nearer neighbour."""
    after = np.minimum(np.cumsum(occupied) - occupied, occupied.sum() - 1)  # of a cell that is occupied: itself
    before = np.maximum(after - 1, 0)
    some = np.flatnonzero(occupied)
    nearer = value - high[some[before]] <= low[some[after]] - value
    return np.asarray(np.where(occupied | ~nearer, after, before))


def _tree(cumulative: list[float], leaves: int, depth: int, least: float) -> npt.NDArray[np.intp]:  # (depth, n)
    """Return the nodes of a column's occupied cells: two for each parent that is cut; −1 below others."""
    cuts, whole = _cuts(cumulative, leaves, depth, least), (0, len(cumulative) - 1)
    levels, parents = np.full((depth, len(cumulative) - 1), -1, np.intp), [whole]
    for node in levels:
        children: list[tuple[int, int]] = []
        for a, b in parents:
            c = cuts.get((a, b))
            if c is not None:
                node[a:c], node[c:b] = len(children), len(children) + 1
                children += [(a, c), (c, b)]
        parents = children
    return levels


def _cuts(cumulative: list[float], leaves: int, deepest: int, least: float) -> dict[tuple[int, int], int]:
    """Return where nodes are cut, heaviest first, each where the weight on both sides is most equal."""
    cuts: dict[tuple[int, int], int] = {}
    waiting = [(-cumulative[-1], 0, len(cumulative) - 1, 0)]
    while waiting and len(cuts) < leaves - 1:
        weight, a, b, depth = heapq.heappop(waiting)
        if b - a < 2 or -weight < 2 * least or depth == deepest:
            continue
        half = (cumulative[a] + cumulative[b]) / 2
        c = bisect.bisect_left(cumulative, half, a + 1, b - 1)
        if c > a + 1 and half - cumulative[c - 1] <= cumulative[c] - half:
            c -= 1
        cuts[a, b] = c
        for low, high in ((a, c), (c, b)):
            heapq.heappush(waiting, (cumulative[low] - cumulative[high], low, high, depth + 1))
    return cuts


def cut_runs(value: Floats, weights: Floats, sizes: Any, bins: int) -> tuple[Any, ...]:
    """Return the run of each cell, where runs begin, and how many cuts each column has."""
    ends = np.cumsum(sizes)[:-1]
    each = list(zip(np.split(value, ends), np.split(weights, ends), strict=True))
    cuts = [_run_cuts(*one, bins) for one in each]
    places = [np.searchsorted(cut, one[0], side="right") for cut, one in zip(cuts, each, strict=True)]
    return np.concatenate(places), np.concatenate(cuts), np.array([len(cut) for cut in cuts])


def _run_cuts(value: Floats, weight: Floats, bins: int) -> Floats:
    reached = np.cumsum(weight)
    if not len(value) or not reached[-1] > 0:  # no row has a value
        return np.zeros(0)
    bounds = value[np.searchsorted(reached, np.arange(1, bins) / bins * reached[-1], side="right")]
    return np.unique(bounds[bounds > value[0]])


def pair_codes(
    columns: Sequence[Any], sizes: Any, classes: Any, n_classes: int, *, low: int, last: bool
) -> npt.NDArray[np.int32]:  # (F, n)
    """Return the pair of code and class of each row, one by one."""
    out = np.zeros((len(columns), len(classes)), np.int32)
    for f, column in enumerate(columns):
        for i, own in enumerate(classes):
            code = int(column[i]) - low
            inside = 0 <= code < sizes[f]
            row = code if inside else sizes[f] - 1
            out[f, i] = row * n_classes + own if inside or last else sizes[f] * n_classes
    return out


def code_terms(columns: Sequence[Any], values: Floats, sizes: Any) -> Floats:  # (F, D, n)
    """Return the values of each code, one by one."""
    starts = np.cumsum(sizes) - sizes
    out = np.zeros((len(columns), values.shape[1], len(columns[0])))
    for f, column in enumerate(columns):
        for i, code in enumerate(map(int, column)):
            if 0 <= code < sizes[f]:
                out[f, :, i] = values[starts[f] + code]
    return out


def pair_rows(by_pair: Floats, sizes: Any, *, least: float) -> tuple[Floats, bool]:
    """Return terms of pairs as rows, one column after the other, each followed by zeros."""
    out = []
    for part in np.split(by_pair, np.cumsum(sizes)[:-1], axis=1):
        greatest = part.max(axis=0)
        less = np.maximum(part - np.where(np.isfinite(greatest), greatest, 0.0), least)
        out += [less.T, np.zeros((1, len(by_pair)))]
    rows = np.concatenate(out)
    return rows, not np.isnan(rows).any()


def shift_rows(rows: Floats, *, least: float) -> tuple[Floats, bool]:
    """Return rows as columns, less the largest of each that is finite."""
    out = pair_rows(rows.T, [len(rows)], least=least)[0][:-1].T
    return out, not np.isnan(rows).any()


def bin_codes(columns: Sequence[Any], places: Any, sizes: Any, missing: Any) -> npt.NDArray[np.int32]:
    """Return the bin of each code, one by one."""
    starts = np.cumsum(sizes) - sizes
    each = zip(columns, starts, sizes, missing, strict=True)
    return np.array([[places[a + v] if 0 <= v < k else m for v in map(int, c)] for c, a, k, m in each], np.int32)


def pair_terms(pairs: Any, values: Floats, sizes: Any, places: Any) -> tuple[Floats, Any]:
    """Return the terms of rows, (F, D, n), and their bins."""
    last = (np.asarray(sizes) - 1)[:, None]
    known = np.where((pairs >= 0) & (pairs <= last), pairs, last)
    return code_terms(known, values, sizes), bin_codes(known, places, sizes, np.full(len(sizes), -1))
