"""The groups of the numbers that a fit of weights finds, and how strongly each is drawn to 0.

With a precision α a number x of curvature h is drawn to s·x, s = h / (h + α). Before any row is seen, log α is normal
around that of a usual precision. The marginal likelihood times that prior is greatest where
Σs = α·Σ(s·x)² + 2·log(α / usual), but for the share of numbers that are distinct. It is found by bisection
(`kernels.find_precisions`): going from one α to the next by that equation takes many steps where x is nothing but
chance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.inputs import Floats
from tallybayes.inference.terms import Terms

__all__ = ["BIAS", "CORRECTION", "FREE", "INTERACTION", "WEIGHT", "first_precisions", "groups_of", "in_groups"]

# The kinds of groups: t, ω, b, all of β, weights of interactions, free ones, and the corrections of each column.
WEIGHT, BIAS, CORRECTION, INTERACTION, FREE, _TABLE = 1, 2, 3, 4, 5, 6

_LEAST, _MOST = 0.02, 1e4  # precisions: numbers are never free of their prior, and beyond the last they are at 0
# Some five percent apart, which no loss shows.
_LOGS = np.linspace(float(kernels.log(_LEAST)), float(kernels.log(_MOST)), 257)
_ALPHAS = kernels.exp(_LOGS)
_SPREAD = 1.0  # of the logarithm of a precision, before any row is seen: a factor of e, in two cases of three
_FIRST = 4.0  # the first precision of each group: numbers of about ±½
_SOFT = 0.1  # the precision of the weights of interactions: the linear penalty does the shrinking
# What to expect of weights: that they differ by 0.7, from columns that repeat others to those that count twice; of a
# bias or a correction: some 0.3 nats, as much as turns a doubtful decision.
_USUAL_WEIGHT, _USUAL_CORRECTION = 2.0, 10.0
_EXPECTED = kernels.log(np.array([_USUAL_CORRECTION, _USUAL_WEIGHT, *[_USUAL_CORRECTION] * 4]))
# The least precision of weights: they differ by a whole column's evidence. Larger ones would feed on the row left out,
# as a negative common weight does.
_LEAST_OF_EACH = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])


def groups_of(terms: Terms) -> kernels.Groups:
    """Return the groups of t, ω, b and β, one after the other."""
    C = len(terms.base) + 1
    of = np.empty(1 + len(terms.target) + C + terms.corrections * C, np.int32)
    own, rest = of[1 : 1 + len(terms.target)], of[1 + len(terms.target) :]
    of[0], own[...], rest[:C] = 0, WEIGHT, BIAS
    soft = terms.target == 0
    own[soft] = np.where(terms.free[soft], FREE, INTERACTION)
    rest[C:] = np.repeat(np.arange(_TABLE, _TABLE + len(terms.tables)), terms.tables * C)
    # A number added to all classes changes nothing, and one added to all values of a column is a bias. So of C numbers
    # C − 1 are distinct, each known by C / (C − 1) times as many rows; and of V values V − 1.
    some = 1 - len(terms.tables) / max(1, terms.corrections)
    known = max(1, C - 1) / C
    distinct = np.array([1.0, 1.0, known, known * some, 1.0, 1.0])
    told = np.array([1.0, 1.0, 1 / known, 1 / known, 1.0, 1.0])
    return in_groups(of, told, distinct, _EXPECTED, _LEAST_OF_EACH, terms.repetition)


def in_groups(
    of: npt.NDArray[np.int32], told: Floats, distinct: Floats, expected: Floats, least: Floats, repetition: float = 1.0
) -> kernels.Groups:
    """Return groups of numbers, see `kernels.Groups`.

    Examples
    --------
    >>> numbers, one = np.repeat([0.5, 0.05], 1000), np.ones(6)                         # 1 / (½² − 1 / 100); chance
    >>> groups = in_groups(np.repeat([1, 2], 1000).astype(np.int32), one, one, kernels.log(10 * one), 0 * one)
    >>> found = kernels.find_precisions(groups, np.full(2000, 100.0), numbers, 0 * one, [1, 2])
    >>> found.precision[1:3].round().tolist()
    [4.0, 5838.0]
    """
    return kernels.Groups(of, told, distinct, expected, least, _ALPHAS, _LOGS, 2 / _SPREAD**2, repetition)


def first_precisions(terms: Terms, common: float) -> Floats:
    """Return the precision of each group to begin with, given that of the common weight."""
    precision = np.full(_TABLE + len(terms.tables), _FIRST)
    precision[0], precision[INTERACTION] = common, _SOFT
    return precision
