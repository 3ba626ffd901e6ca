"""The fold of each row: by class, by group or by order; always the same for the same seed.

Folds are numbered from 0; −1 is a row that is never held out. Only labels, groups and order are used, never a feature.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes.errors import BadOption, wanted
from tallybayes.validation.plan import Plan

IntCodes: TypeAlias = npt.NDArray[np.int32]
# Blocks of a prequential validation by default: enough to see a trend.
_BLOCKS = 20


def assign(plan: Plan, classes: IntCodes, groups: IntCodes | None, seed: int) -> IntCodes:  # (R, n)
    """Assign a fold to each row, for each repeat.

    `classes` (n,) and `groups` (n,) are codes; rows of a group stay together.
    """
    _check_size(plan, len(classes), None if groups is None else int(groups.max(initial=-1)) + 1)
    streams = [np.random.default_rng([seed, repeat]) for repeat in range(plan.repeats)]
    if plan.kind == "holdout":
        return np.stack([holdout(classes, plan.share, rng, groups) for rng in streams])
    if groups is None:
        return np.stack([stratified(classes, plan.folds, rng) for rng in streams])
    return np.stack([grouped(classes, groups, plan.folds, rng) for rng in streams])


def _check_size(plan: Plan, rows: int, groups: int | None) -> None:
    """Raise unless there are enough rows and groups for the folds."""
    least = max(plan.folds, 2)
    if groups is not None and groups < least:
        do = f"Choose how='{groups}-fold'" if groups > 1 else "Group the rows by something that differs"
        raise BadOption(wanted("groups", f"at least {least}", str(groups), do))
    if rows < least:
        do = "Choose fewer folds, or how='loo'" if rows > 1 else ""
        raise BadOption(wanted("how", f"at most as many folds as rows ({rows})", repr(plan.how), do))


def stratified(classes: IntCodes, folds: int, rng: np.random.Generator) -> IntCodes:  # (n,)
    """Assign folds of equal size and equal class shares, to within a row.

    The rows are shuffled, sorted by class, and assigned to the folds in turn.

    Examples
    --------
    >>> fold = stratified(np.array([0, 0, 0, 0, 1, 1], np.int32), 2, np.random.default_rng(0))
    >>> np.bincount(fold).tolist(), np.bincount(fold[:4]).tolist()
    ([3, 3], [2, 2])
    """
    fold = np.empty(len(classes), np.int32)
    fold[_shuffled_by_class(classes, rng)] = np.arange(len(classes), dtype=np.int32) % folds
    return fold


def holdout(classes: IntCodes, share: float, rng: np.random.Generator, groups: IntCodes | None = None) -> IntCodes:
    """Assign fold 0 to a share of each class, −1 to the rest; groups are never split.

    Examples
    --------
    >>> fold = holdout(np.array([0, 0, 0, 0, 0, 0, 1, 1, 1], np.int32), 1 / 3, np.random.default_rng(0))
    >>> (fold[:6] == 0).sum().item(), (fold[6:] == 0).sum().item()
    (2, 1)
    """
    n = len(classes)
    fold = np.full(n, -1, np.int32)
    if groups is None:
        held = min(max(round(n * share), 1), n - 1)
        # Every (n / held)-th row in the order of classes: each class gives its share, to within a row.
        fold[_shuffled_by_class(classes, rng)[(np.arange(held) * n + n // 2) // held]] = 0
        return fold
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    held = int(np.argmin(np.abs(np.cumsum(sizes[order])[:-1] - n * share))) + 1
    fold[np.isin(groups, order[:held])] = 0
    return fold


def grouped(classes: IntCodes, groups: IntCodes, folds: int, rng: np.random.Generator) -> IntCodes:  # (n,)
    """Assign whole groups to folds, the largest first, each to the fold with least of its classes.

    Examples
    --------
    >>> groups = np.array([0, 0, 0, 1, 1, 2], np.int32)
    >>> fold = grouped(np.zeros(6, np.int32), groups, 2, np.random.default_rng(0))
    >>> fold[0] == fold[1] == fold[2] != fold[3] == fold[4] == fold[5]
    np.True_
    """
    G, C = int(groups.max()) + 1, int(classes.max()) + 1
    members = np.bincount(groups * np.int64(C) + classes, minlength=G * C).reshape(G, C).astype(np.float64)
    # One more column counts all rows, so that sizes are balanced as well as classes.
    members = np.column_stack([members, members.sum(axis=1)])
    members /= np.maximum(members.sum(axis=0), 1)
    order = rng.permutation(G)
    order = order[np.argsort(-members[order, -1], kind="stable")]
    load, place = np.zeros((folds, C + 1)), np.empty(G, np.int32)
    for group in order:
        place[group] = k = int(np.argmin(load @ members[group]))
        load[k] += members[group]
    return place[groups]


def blocks(n: int, size: int | None, order: npt.NDArray[np.intp] | None) -> IntCodes:  # (n,)
    """Return the block of each row, in the given order.

    Examples
    --------
    >>> blocks(5, 2, None)
    array([0, 0, 1, 1, 2], dtype=int32)
    """
    size = -(-n // _BLOCKS) if size is None else size
    if size >= n:
        raise BadOption(wanted("how", f"blocks of fewer rows than there are ({n})", f"'prequential({size})'"))
    place = np.empty(n, np.int32)
    place[slice(None) if order is None else order] = np.arange(n, dtype=np.int32) // np.int32(size)
    return place


def _shuffled_by_class(classes: IntCodes, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the row numbers sorted by class, in random order within a class."""
    shuffled = rng.permutation(len(classes))
    # NumPy sorts 16 bits by radix, several times as fast as more.
    narrow = classes.astype(np.int16) if classes.max(initial=0) < 1 << 15 else classes
    return shuffled[np.argsort(narrow[shuffled], kind="stable")]
