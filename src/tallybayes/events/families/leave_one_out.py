"""Leave-one-out for normal densities: take a row from the moments of its class and of the column.

The column's moments change too because the prior comes from them. Doubles are exact enough for the subtraction unless
hardly anything is left; those cells, few as a rule, use the exact sums. Rows that all weigh 1 use the compiled kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.events.event import AddScores, ClassCodes, Weights, chunks
from tallybayes.events.families.normal import (
    LARGEST,
    Moments,
    by_class,
    coefficients,
    estimate_normal,
    filled,
    over_all,
)
from tallybayes.events.inputs import Dense, Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic
from tallybayes.exact.array import nearest
from tallybayes.kernels import Columns

__all__ = ["ExactColumn", "downdate", "leave_normals_out"]

Each: TypeAlias = Callable[[EstimateOptions], Iterator[Floats]]
# A difference of doubles below this share of the minuend has lost digits that matter: use the exact sums instead.
_CANCELLED = 1e-4
_AT_ONCE = 1 << 16  # terms of columns that are left out at a time: they stay in the second cache until they are taken


def leave_normals_out(
    statistic: Statistic, data: Dense, classes: ClassCodes, weights: Weights
) -> tuple[AddScores, Each]:
    """Return a function that adds each value's log-density, given the moments without its row; and one for columns."""
    whole = over_all(statistic)
    own = filled(by_class(statistic), whole)

    def prepared(options: EstimateOptions) -> tuple[Floats, Floats, kernels.Coefficients, kernels.Coefficients]:
        full, less = (coefficients(n, options.alpha, options) for n in (own.n, np.maximum(own.n - 1, 0.0)))
        by, over = (np.stack([of.n, of.mean, np.minimum(of.m2, LARGEST), of.rest]) for of in (own, whole))
        return by, over, full, less

    def columns(options: EstimateOptions) -> Iterator[Floats]:
        by, over, full, less = prepared(options)
        n, C, F = len(classes), len(own.n), data.width
        step = max(1, _AT_ONCE // max(1, n * C))
        for f in range(0, F, step):
            at, out = slice(f, f + step), np.zeros((min(step, F - f), n, C))
            of, but = (kernels.Coefficients(*(part[:, at] for part in each)) for each in (full, less))
            leave(data.some(at), by[:, :, at], over[:, at], of, but, options, out, first=f)
            yield out

    def leave(
        some: Columns,
        by: Floats,
        over: Floats,
        full: kernels.Coefficients,
        less: kernels.Coefficients,
        options: EstimateOptions,
        out: Floats,
        first: int = 0,
    ) -> None:
        """Add some columns, the first of them by number, with exact sums where doubles do not suffice.

        `out` is (n, C), or (F, n, C) for each column by itself.
        """
        full, less = (kernels.Coefficients(*map(np.ascontiguousarray, each)) for each in (full, less))
        by, over, student = np.ascontiguousarray(by), np.ascontiguousarray(over), options.rule == "bayes"
        lost = kernels.leave_dense(some, classes, by, over, full, less, out, floor=options.floor, student=student)
        for f in np.unique(lost[:, 1]) if len(lost) else ():
            add_cells(lost[lost[:, 1] == f, 0], first + int(f), options, out[f] if out.ndim == 3 else out)

    def add(options: EstimateOptions, out: Floats) -> None:
        if weights is None:
            leave(data.columns, *prepared(options), options, out)
            return
        for f in range(data.width):
            for rows in chunks(len(data)):
                add_cells(np.arange(rows.start, rows.stop), f, options, out)

    def add_cells(rows: npt.NDArray[np.int64], f: int, options: EstimateOptions, out: Floats) -> None:
        """Add some rows of one column, of any weight, with exact sums where doubles do not suffice."""
        x = data.column(f)[rows].astype(np.float64)
        rows, x = rows[~np.isnan(x)], x[~np.isnan(x)]
        c, n, exact = classes[rows], len(rows), ExactColumn(statistic, f)
        w = np.ones(n) if weights is None else weights[rows]
        mine = _downdate(Moments(*(part[c, f] for part in own)), x, w, exact, c)
        others = _downdate(Moments(*(np.full(n, part[f]) for part in whole)), x, w, exact, None)
        # Classes share their coefficients among all rows: only the own class is estimated row by row.
        each = Moments(*(part[:, f] for part in own))
        normals = estimate_normal(each, Moments(*(part[:, None] for part in others)), options, options.alpha[f])
        log = normals.log_density(x[:, None])  # (n, C)
        log[np.arange(n), c] = estimate_normal(mine, others, options, options.alpha[f]).log_density(x)
        out[rows] += log

    return add, columns


class ExactColumn:
    """The exact sums of one column, by class and over all classes."""

    def __init__(self, statistic: Statistic, f: int) -> None:
        self._parts = [
            part.take(np.array([f]), axis=1)
            for part in (statistic.present(), statistic.sums["first"], statistic.sums["second"])
        ]
        self._totals = [part.sum(axis=0) for part in self._parts]

    def without(self, c: int | None, x: float, w: float) -> tuple[float, float, float, float]:
        """Return the moments of class c (None: of all) without a row of value x and weight w."""
        parts = self._totals if c is None else self._parts
        index = (0,) if c is None else (c, 0)
        weight, value = Fraction(float(w)), Fraction(float(x))
        terms = weight, weight * value, weight * value * value
        n, first, second = (part.fraction(*index) - term for part, term in zip(parts, terms, strict=True))
        if not n > 0:
            return 0.0, 0.0, 0.0, 0.0
        mean = nearest(first / n)
        rest = nearest(first / n - Fraction(mean)) if math.isfinite(mean) else 0.0
        return nearest(n), mean, nearest(second - first * first / n), rest


def _downdate(moments: Moments, x: Floats, w: Floats, exact: ExactColumn, own: ClassCodes | None) -> Moments:
    """Return the moments without a row of value x and weight w, row by row."""
    less, fine = downdate(moments, x, w)
    for i in np.flatnonzero(~fine):
        without = exact.without(None if own is None else int(own[i]), x[i], w[i])
        for part, value in zip(less, without, strict=True):
            part[i] = value
    return less


def downdate(moments: Moments, x: Floats, w: Floats) -> tuple[Moments, npt.NDArray[np.bool_]]:
    """Return the moments without a row of value x and weight w, and where doubles were exact enough for that."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        n = moments.n - w
        away = moments.deviation(x)
        rest = moments.rest - w * away / n  # the mean itself stays: its change is small against it, and loses nothing
        m2 = moments.m2 - w * away**2 * moments.n / n
    same = (moments.m2 == 0) & (n > _CANCELLED * moments.n)  # all values are x, the remaining ones too
    rest, m2 = np.where(same, moments.rest, rest), np.where(same, 0.0, m2)
    fine = same | ((m2 > _CANCELLED * moments.m2) & (n > _CANCELLED * moments.n))
    return Moments(n, moments.mean + np.zeros_like(n), m2, rest), fine
