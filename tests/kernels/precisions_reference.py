"""The most probable precisions in plain NumPy: the specification of the compiled ones."""

from __future__ import annotations

from typing import Any

import numpy as np

KINDS, CORRECTIONS = 6, 3


def most_probable(h, x2, distinct, expected, groups) -> tuple[float, float]:
    """Return the middle, on a logarithmic scale, of the two lattice points around the precision, and its logarithm."""
    low, high = 0, len(groups.alphas) - 1
    while high - low > 1:
        middle = (low + high) // 2
        alpha, log = groups.alphas[middle], groups.logs[middle]
        s = h / (h + alpha)
        more = distinct * s.sum() > alpha * (s**2 * x2).sum() + groups.strength * (log - expected)
        low, high = (middle, high) if more else (low, middle)
    return np.sqrt(groups.alphas[low] * groups.alphas[high]), (groups.logs[low] + groups.logs[high]) / 2


def members(groups, g) -> Any:
    """Return the numbers of a group; of the corrections, those of all tables."""
    return np.flatnonzero(groups.of >= KINDS if g == CORRECTIONS else groups.of == g)


def find_precisions(groups, curvature, numbers, precision, kinds) -> tuple[Any, float]:
    """Return the precision of each group, and how many numbers are decided."""
    found = precision.copy()

    def undrawn(mine, told):
        h = told * curvature[mine]
        drawn = np.divide(precision[groups.of[mine]], h, out=np.zeros_like(h), where=h > 0)
        return h / groups.repetition, (numbers[mine] * (1 + drawn)) ** 2

    for g in kinds:
        if not len(members(groups, g)):
            continue
        told, distinct = groups.told[g], groups.distinct[g]
        alpha, log = most_probable(*undrawn(members(groups, g), told), distinct, groups.expected[g], groups)
        found[g] = max(groups.least[g], groups.repetition * alpha)
        for t in range(KINDS, len(precision) if g == CORRECTIONS else 0):
            mine = undrawn(np.flatnonzero(groups.of == t), told)
            found[t] = groups.repetition * most_probable(*mine, distinct, log, groups)[0]
    return found, decided(groups, curvature, found)


def decided(groups, curvature, precision) -> float:
    """Return how many numbers the rows decide, and not their prior."""
    total = 0.0
    for g in range(KINDS):
        mine = members(groups, g)
        h = groups.told[g] * curvature[mine]
        total += groups.distinct[g] * (h / (h + precision[groups.of[mine]])).sum()
    return total
