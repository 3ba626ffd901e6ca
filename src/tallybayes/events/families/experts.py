"""Three experts on a number, and their average: a tree of counts, a Student t, and a kernel density.

Each gives a log-term per class for each cell, from the sums alone. They are normalised over classes, p_k(c | x), and
averaged with weights ∝ exp Σ log p_k(own class | x), each row left out. Cuts depend on no class; ω and these weights
hardly depend on any one row, so rows left out do not change them. But together those of a thousand columns would tell
its class: where rows are few, they are chosen without the row's fold.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.events.families.cells import Cells, Places, Split
from tallybayes.events.families.kernel_density import KernelDensity
from tallybayes.events.families.leave_one_out import ExactColumn, downdate
from tallybayes.events.families.normal import (
    FAR_FROM_ZERO,
    Moments,
    by_class,
    coefficients,
    estimate_normal,
    filled,
    over_all,
)
from tallybayes.events.families.tree import ALPHAS, Level, left
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic

__all__ = ["Experts", "Plan", "Student", "Tree", "normalise"]

_MOST_LOSS = 1e6  # nats, of one value: finite, so that terms and losses can be compared
_KEPT_TERMS = 1 << 21  # doubles: 16 MB
_LEAST_LOG = -600.0  # of a number whose exponential is accurate
_PRIOR_ROWS = 0.5  # of each class, in the class prior by which experts are weighed
_NO_PAIRS = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Plan:
    """What leaving a row out does not change.

    That is cells, ω of each level, the weights of the kernels, and the logs of the experts' weights.
    """

    cells: Cells
    omegas: Floats  # (levels, A, F)
    kernel_weights: Floats  # (h · α, F)
    log_weights: Floats  # (3, F)


@dataclass(frozen=True, eq=False)
class Tree:
    """The counts of a tree's nodes, level by level."""

    splits: tuple[Split, ...]
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, cells: Cells, counts: Floats, omegas: Floats) -> Tree:
        """Return the tree of cells with the given counts (ΣK, C) and probabilities of α."""
        tree = cls(cells.splits, tuple(_level(split, counts) for split in cells.splits))
        for level, omega in zip(tree.levels, omegas, strict=True):
            level.__dict__["omega"] = omega
        return tree

    def log_terms_without(self, cell: Places, own: Places, weight: Floats) -> Floats:  # (k, C)
        """Return the log-ratios of rows left out."""
        out = np.zeros((len(cell), self.levels[0].counts.shape[1] if self.levels else 1))
        for split, level in zip(self.splits, self.levels, strict=True):
            node = split.node[cell]
            some = np.flatnonzero(node >= 0)
            out[some] += level.log_ratios_without(node[some], own[some], weight[some])
        return out

    def log_pooled(self, size: int) -> Floats:  # (ΣK, 1)
        """Return the log of the pooled share of each cell's leaf."""
        shares = [kernels.log(np.maximum(level.shares, np.finfo(float).tiny))[:, None] for level in self.levels]
        return self._sum(shares, size, 1)

    def variances(self, size: int, classes: int) -> Floats:  # (ΣK, C)
        """Return the variance of the log-share of each cell's leaf."""
        return self._sum([level.variances() for level in self.levels], size, classes)

    def _sum(self, tables: list[Floats], size: int, classes: int) -> Floats:  # (ΣK, C)
        out = np.zeros((size, classes))
        for split, table in zip(self.splits, tables, strict=True):
            some = split.node >= 0
            out[some] += table[split.node[some]]
        return out


@dataclass(frozen=True, eq=False)
class Student:
    """The Student t of each class and column, as `gaussian` has it under the rule "bayes" with α = 1."""

    statistic: Statistic
    cells: Cells
    counts: Floats  # (ΣK, C)
    floor: float

    @cached_property
    def own(self) -> Moments:  # of (F, C)
        """The moments of each class."""
        return Moments(*(np.ascontiguousarray(part.T) for part in by_class(self.statistic)))

    @cached_property
    def whole(self) -> Moments:  # of (F, 1)
        """The moments over all classes."""
        return Moments(*(part[:, None] for part in over_all(self.statistic)))

    def _log(self, own: Moments, whole: Moments, x: Floats) -> Floats:
        """Return the log-densities that follow from moments; finite, also where a difference overflows."""
        normal = estimate_normal(own, whole, EstimateOptions("bayes", np.ones(1), 0, self.floor), 1.0)
        return np.maximum(normal.log_density(x), -_MOST_LOSS)

    def log_terms_without_one(self, some: Places) -> tuple[Floats, Floats]:  # (k, C) each
        """Return the log-densities of some cells without a row of weight 1: in the other classes, and in its own."""
        column, x, counts = self.cells.column[some], self.cells.value[some][:, None], self.counts[some]
        own, whole = _take(self.own, column), _take(self.whole, column)
        c = np.broadcast_to(np.arange(counts.shape[1]), counts.shape)
        pooled = np.asarray(self.cells.pooled[some] > 0)[:, None]
        less_whole = self._less(whole, x, np.ones_like(x), column[:, None], None, pooled)
        columns = np.broadcast_to(column[:, None], c.shape)
        less = self._less(own, x, np.ones_like(counts), columns, c, np.asarray(counts > 0))
        return self._log(own, less_whole, x), self._log(less, less_whole, x)

    def log_terms_without(self, cell: Places, own: Places, weight: Floats) -> Floats:  # (k, C)
        """Return the log-densities of rows left out."""
        column, x = self.cells.column[cell], self.cells.value[cell]
        rows, every = np.arange(len(cell)), np.ones((len(cell), 1), bool)
        by = Moments(*(part.copy() for part in _take(self.own, column)))
        whole = self._less(_take(self.whole, column), x[:, None], weight[:, None], column[:, None], None, every)
        mine = Moments(*(part[rows, own][:, None] for part in by))
        less = self._less(mine, x[:, None], weight[:, None], column[:, None], own[:, None], every)
        for part, new in zip(by, less, strict=True):
            part[rows, own] = new[:, 0]
        return self._log(by, whole, x[:, None])

    def _less(
        self,
        moments: Moments,
        x: Floats,
        weight: Floats,
        column: Places,
        classes: Places | None,
        needed: npt.NDArray[np.bool_],
    ) -> Moments:
        """Return moments without a row, exact where doubles cancel and a row is there to be left out."""
        weight = np.minimum(weight, moments.n)
        less, fine = downdate(moments, x + np.zeros_like(weight), weight)
        exact: dict[int, ExactColumn] = {}
        for at in zip(*np.nonzero(~fine & needed), strict=True):
            f = int(column[at])
            of = exact.setdefault(f, ExactColumn(self.statistic, f))
            c = None if classes is None else int(classes[at])
            for part, new in zip(less, of.without(c, x[at[0], 0], float(weight[at])), strict=True):
                part[at] = new
        nothing = ~(less.n > 0)
        n, mean, m2, rest = (np.where(nothing, 0.0, part) for part in less)
        fine = np.isfinite(mean) & np.isfinite(rest)
        mean, rest = np.where(fine, mean, 0.0), np.where(fine, rest, 0.0)
        return Moments(n, mean, np.maximum(np.nan_to_num(m2), 0.0), rest)

    def variances(self) -> Floats:  # (ΣK, C)
        """Return the variance of the log-density of each cell's value."""
        options = EstimateOptions("map", np.ones(1), 0, self.floor)
        column = self.cells.column
        normal = estimate_normal(_take(self.own, column), _take(self.whole, column), options, 1.0)
        return normal.variance(self.cells.value[:, None])


@dataclass(frozen=True, eq=False)
class Experts:
    """All experts on the same cells, ω of each level, and the logs of their weights."""

    cells: Cells
    counts: Floats  # (ΣK, C)
    student: Student
    density: KernelDensity
    log_rows: Floats  # (2, C): of the class prior by which experts are weighed, and of that with a row less
    terms: Floats  # (3, 3, ΣK, C): see `kernels.expert_terms`
    omegas: Floats  # (levels, A, F)
    log_weights: Floats  # (3, F)

    @classmethod
    def of(cls, statistic: Statistic, cells: Cells, floor: float, methods: tuple[bool, bool, bool]) -> Experts:
        """Return the experts that follow from the sums; `methods` says which of them take part."""
        experts = cls._found(statistic, cells, floor)
        return replace(experts, log_weights=experts._mixed(_NO_PAIRS, methods, cells=False).log_weights)

    @classmethod
    def planned(cls, statistic: Statistic, plan: Plan, floor: float) -> Experts:
        """Return the experts on cells, ω and weights that were chosen before."""
        return replace(cls._found(statistic, plan.cells, floor, plan), log_weights=plan.log_weights)

    @classmethod
    def _found(cls, statistic: Statistic, cells: Cells, floor: float, plan: Plan | None = None) -> Experts:
        """Return the experts with equal weights."""
        counts, rows = cells.count(statistic), statistic.rows.to_float()
        density = KernelDensity(cells, counts, rows)
        if plan is not None:
            density = density.chosen(plan.kernel_weights)
        student = Student(statistic, cells, counts, floor)
        whole, options = student.whole, EstimateOptions("bayes", np.ones(1), 0, floor)
        own, shift = filled(student.own, whole), _shift(whole)
        both = coefficients(np.array([own.n, np.maximum(own.n - 1.0, 0.0)]), 1.0, options)
        full, less = (kernels.Coefficients(*(part[k] for part in both)) for k in (0, 1))
        nodes, n_nodes = cells.nodes
        terms = np.empty((3, 3, *counts.shape))
        found = kernels.expert_terms(
            cells.value - shift[cells.column, 0],
            counts,
            cells.sizes,
            nodes,
            n_nodes.sum(axis=1),
            ALPHAS,
            np.array([own.n, own.mean - shift + own.rest, own.m2]),
            np.concatenate([whole.n, whole.mean - shift + whole.rest, whole.m2], axis=1).T.copy(),
            full,
            less,
            floor=floor,
            omegas=None if plan is None else plan.omegas,
            out=terms[:2],
        )
        some = np.flatnonzero(found.lost)
        if len(some):  # few: moments of hardly any rows
            terms[1, 1, some], terms[1, 2, some] = student.log_terms_without_one(some)
        density.log_terms(out=terms[2])
        equal, log_rows = np.zeros((3, len(cells.sizes))), kernels.log(np.array([rows, left(rows, 1.0)]) + _PRIOR_ROWS)
        return cls(cells, counts, student, density, log_rows, terms, found.omegas, equal)

    @property
    def plan(self) -> Plan:
        """What leaving a row out does not change."""
        return Plan(self.cells, self.omegas, self.density.weights, self.log_weights)

    @cached_property
    def tree(self) -> Tree:
        """The counts of the tree's nodes."""
        return Tree.of(self.cells, self.counts, self.omegas)

    def _mixed(
        self, pairs: npt.NDArray[np.int64], methods: tuple[bool, bool, bool] | None = None, *, cells: bool = True
    ) -> kernels.MixedExperts:
        """Return the average for all cells and for rows left out; with methods, its weights are found too."""
        used, weights = (methods, None) if methods else ((True, True, True), self.log_weights)
        given = self.terms, self.counts, self.cells.sizes, self.log_rows, pairs
        return kernels.mix_experts(*given, used=used, log_weights=weights, mixed=cells)

    @cached_property
    def mixed(self) -> Floats:  # (ΣK, C)
        """The log of Σ_k w_k p_k(c | x) for each cell."""
        mixed = self._mixed(_NO_PAIRS).mixed
        assert mixed is not None
        return mixed

    def mixed_without(self, cell: Places, own: Places, weight: Floats) -> Floats:  # (k, C)
        """Return the same for rows of some weight left out."""
        each = self.tree, self.student, self.density
        terms = [one.log_terms_without(cell, own, weight) for one in each]
        return self._mix(terms, self.cells.column[cell])

    def without_pairs(self, f: int, pair: Places) -> Floats:  # (C, k)
        """Return the same for rows of weight 1 left out of column f; pair is cell · C + class.

        All pairs are computed on first use and kept, unless that would take too much memory.
        """
        C, start = self.counts.shape[1], int(self.cells.starts[f])
        if self.pairs is not None:
            return np.take(self.pairs[:, start * C : (start + int(self.cells.sizes[f])) * C], pair, axis=1)
        seen, place = np.unique(pair, return_inverse=True)
        return np.take(self._mixed(start * C + seen, cells=False).left_out, place, axis=1)

    @cached_property
    def pairs(self) -> Floats | None:  # (C, ΣK · C)
        """The same for all pairs of a cell and a class; None if they are too many to keep."""
        if self.counts.size * self.counts.shape[1] > _KEPT_TERMS:
            return None
        return self._mixed(np.arange(self.counts.size), cells=False).left_out

    def log_density(self) -> Floats:  # (ΣK, 1)
        """Return the log of Σ_k w_k Σ_c p_k(x | c): the part of the density that all classes share."""
        tree, student, density = self.terms[:, 0]
        with np.errstate(over="ignore"):
            width = np.minimum(np.bincount(self.leaves, self.cells.widths), np.finfo(float).max)[self.leaves]
        pooled = self.tree.log_pooled(len(width)) - kernels.log(width)[:, None]
        weight = self.log_weights[:, self.cells.column][:, :, None]
        parts = [w + _log_sum(one) for w, one in zip(weight, (tree + pooled, student, density + pooled), strict=True)]
        return np.asarray(functools.reduce(kernels.logaddexp, parts))

    @cached_property
    def leaves(self) -> Places:  # (ΣK,)
        """The leaf of each cell, numbered through all columns."""
        change = np.diff(self.cells.column, prepend=-1) != 0
        for split in self.tree.splits:
            change |= np.diff(split.node, prepend=-2) != 0
        return np.cumsum(change) - 1

    def variances(self) -> Floats:  # (ΣK, C)
        """Return the variance of each cell's term: that of the experts, averaged."""
        w = kernels.exp(self.log_weights)[:, self.cells.column][:, :, None]
        each = self.tree.variances(*self.counts.shape), self.student.variances(), self.density.variances()
        return np.asarray(w[0] * each[0] + w[1] * each[1] + w[2] * each[2])

    def _mix(self, terms: tuple[Floats, ...] | list[Floats], column: Places) -> Floats:
        weights = self.log_weights[:, column][:, :, None]
        logs = [weight + normalise(one) for weight, one in zip(weights, terms, strict=True)]
        with np.errstate(divide="ignore"):
            mixed = kernels.log(kernels.exp(logs[0]) + kernels.exp(logs[1]) + kernels.exp(logs[2]))
        low = np.flatnonzero((mixed < _LEAST_LOG).any(axis=1))  # exponentials of these underflow
        mixed[low] = functools.reduce(kernels.logaddexp, [log[low] for log in logs])
        return np.asarray(mixed)


def normalise(log: Floats) -> Floats:
    """Return logs (n, C) less the log of the sum of their exponentials.

    Examples
    --------
    >>> np.exp(normalise(np.log([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    return np.asarray(log - _log_sum(log))


def _log_sum(log: Floats) -> Floats:  # (n, 1)
    by_class = log.T.copy()  # NumPy is slow to reduce a short last axis
    top = by_class.max(axis=0)
    by_class -= top
    return np.asarray(top + kernels.log(kernels.exp(by_class).sum(axis=0)))[:, None]


def _level(split: Split, counts: Floats) -> Level:
    """Return a level's counts by node."""
    n = 2 * len(split.column)
    cells = np.flatnonzero(split.node >= 0)
    node = split.node[cells]
    first = np.flatnonzero(np.diff(node, prepend=-1))  # the cells of a node are neighbours
    child = np.zeros((n, counts.shape[1]))
    child[node[first]] = np.add.reduceat(counts[cells], first, axis=0)
    return Level(child, np.repeat(np.arange(len(split.column)), 2), child[::2] + child[1::2], split.column)


def _take(moments: Moments, column: Places) -> Moments:
    return Moments(*(part[column] for part in moments))


def _shift(whole: Moments) -> Floats:  # (F, 1)
    """Return what to subtract from columns whose values are far from 0, so that their deviations keep their digits."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = (whole.m2 > 0) & (np.abs(whole.mean) > FAR_FROM_ZERO * np.sqrt(whole.m2 / whole.n))
    return np.where(far & np.isfinite(whole.mean), whole.mean, 0.0)
