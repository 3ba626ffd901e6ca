"""The minimum of a function, and the fit of weighted terms: their numbers, and how strongly each is drawn to 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from .types import Floats
from .weigh import CodedTerms

__all__ = ["FittedTerms", "FoundPrecisions", "Groups", "Limits", "find_precisions", "fit_terms", "minimise"]


class Limits(NamedTuple):
    """The most steps, and the decrease to expect at which to end, relative to the value plus `least`."""

    steps: int
    gain: float
    least: float


class Groups(NamedTuple):
    """Numbers in groups that are drawn to 0 by one precision each.

    There are six kinds of groups, each a group but for the fourth: its numbers are in tables, the groups from 6 on.

    Attributes
    ----------
    of : int32 ndarray, shape (N,)
        The group of each number; tables one after the other.
    told : float64 ndarray, shape (6,)
        By how many times as many rows the numbers of a kind are known.
    distinct : float64 ndarray, shape (6,)
        The share of the numbers that do not follow from others.
    expected : float64 ndarray, shape (6,)
        The logarithm of the precision to expect.
    least : float64 ndarray, shape (6,)
        The least precision.
    alphas, logs : float64 ndarray, shape (M,)
        Precisions to try, rising, and their logarithms.
    strength : float
        How strongly a precision is expected.
    repetition : float
        How many times larger the variance of a slope is than if no row repeated another.
    """

    of: NDArray[np.int32]
    told: Floats
    distinct: Floats
    expected: Floats
    least: Floats
    alphas: Floats
    logs: Floats
    strength: float
    repetition: float


class FoundPrecisions(NamedTuple):
    """The precision of each group, and how many numbers the rows decide, and not their prior."""

    precision: Floats  # (G,)
    decided: float


class FittedTerms(NamedTuple):
    """The numbers, the precision of each group, and how many numbers the rows decide.

    `steps` has the last steps with the changes of the slope of the loss alone along them.
    """

    numbers: Floats  # (1 + U + C + K·C,)
    precision: Floats  # (G,)
    steps: Floats  # (S, 2, 1 + U + C + K·C)
    decided: float


def minimise(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, value: float, slope: Floats, limits: Limits
) -> Floats:  # (K,)
    """Return a point near the minimum of a smooth function, by L-BFGS.

    Parameters
    ----------
    function : callable
        Takes a point; returns value and slope.
    start, slope : float64 ndarray, shape (K,)
        The first point, and the slope there.
    value : float
        The value there.
    limits : Limits

    Examples
    --------
    >>> minimise(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(1), 9.0, np.full(1, -6.0),
    ...          Limits(20, 1e-12, 1.0)).round(6)
    array([3.])
    """
    return np.asarray(_native.minimise(function, start, value, slope, *limits))


def find_precisions(
    groups: Groups, curvature: Floats, numbers: Floats, precision: Floats, kinds: Sequence[int]
) -> FoundPrecisions:
    """Find the most probable precision of groups of numbers, as the last precisions drew them.

    Without a prior a number would be x = number · (1 + precision / h), h = told · curvature. The most probable α is
    where distinct · Σs = α · Σs²x² + strength · (log α − expected), s = h / (h + α), to the lattice's spacing. A table
    of corrections is expected to have the precision of all of them.

    Parameters
    ----------
    groups : Groups
    curvature, numbers : float64 ndarray, shape (N,)
        That of the loss by each number, and the numbers.
    precision : float64 ndarray, shape (G,)
        The precision of each group.
    kinds : sequence of int
        The kinds to find; others stay.

    Examples
    --------
    >>> alphas, one = np.exp(np.linspace(-4, 4, 1025)), np.ones(6)
    >>> groups = Groups(np.zeros(9, np.int32), one, one, 0 * one, 0 * one, alphas, np.log(alphas), 0.0, 1.0)
    >>> found = find_precisions(groups, np.full(9, 100.0), np.full(9, 0.26**0.5), np.zeros(6), [0])
    >>> found.precision[0].round(1).item()                                                   # 1 / (0.26 − 1 / 100)
    4.0
    """
    return FoundPrecisions(*_native.find_precisions(groups, curvature, numbers, precision, kinds))


def fit_terms(
    base: Floats,
    terms: NDArray[np.float32],
    numbers: NDArray[np.int32],
    coded: CodedTerms,
    classes: NDArray[np.int32],
    weights: Floats | None,
    share: Floats,
    *,
    target: Floats,
    first: Floats,
    groups: Groups,
    kinds: Sequence[int],
    start: Floats,
    precision: Floats,
    steps: Floats,
    rounds: Sequence[Limits],
    wall: float,
    function: Callable[[Floats, bool], tuple[float, Floats, Floats]] | None = None,
) -> FittedTerms:
    """Minimise the loss of weighted terms with a prior, by L-BFGS, and find its precisions between rounds.

    The numbers are a common weight t, weights w, the bias of each class and corrections: those of `weigh_terms`, with
    ``scale = first + t * target + w``.

    Parameters
    ----------
    base, terms, numbers, coded, classes, weights, share
        As `weigh_terms` takes them.
    target, first : float64 ndarray, shape (U,)
    groups : Groups
        The groups of the numbers.
    kinds : sequence of int
        The kinds of groups whose precisions are found before each round but the first.
    start : float64 ndarray, shape (1 + U + C + K·C,)
        The first numbers.
    precision : float64 ndarray, shape (G,)
        The first precision of each group.
    steps : float64 ndarray, shape (S, 2, 1 + U + C + K·C)
        Steps of a loss like this one and the changes of its slope, oldest first.
    rounds : sequence of Limits
        Where each round ends.
    wall : float
        Times the curvature by t, that of the wall which keeps t from falling below -1.
    function : callable, optional
        Takes numbers, and whether curvatures are needed; returns loss, slope and curvatures in place of the compiled
        ones: those of rows on several threads. Curvatures that are not needed are empty.
    """
    given = base, terms, numbers, coded, classes, weights, share
    begin = start, precision, steps
    return FittedTerms(*_native.fit_terms(given, target, first, groups, kinds, *begin, rounds, wall, function))
