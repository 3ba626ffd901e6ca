"""Two experts on a number, and their average: a tree of counts, and a Student t.

Each gives a log-term per class for each cell, from the sums alone. Both are normalised over classes, p_k(c | x), and
averaged with weights ∝ exp Σ log p_k(own class | x), each row left out. Cuts, ω and these weights hardly depend on any
one row, so rows left out do not change them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes.cached_property import cached_property
from tallybayes.events.families.cells import Cells, Places, Split
from tallybayes.events.families.leave_one_out import ExactColumn, downdate
from tallybayes.events.families.normal import Moments, by_class, estimate_normal, over_all
from tallybayes.events.families.tree import Level, left
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.statistic import Statistic

__all__ = ["Experts", "Plan", "Student", "Tree", "normalise"]

_MOST_LOSS = 1e6  # nats, of one value: finite, so that terms and losses can be compared
_KEPT_TERMS = 1 << 21  # doubles: 16 MB
_LEAST_LOG = -600.0  # of a number whose exponential is accurate
_PRIOR_ROWS = 0.5  # of each class, in the class prior by which experts are weighed


@dataclass(frozen=True, eq=False)
class Plan:
    """What leaving a row out does not change: cells, ω of each level, and the logs of the experts' weights (2, F)."""

    cells: Cells
    omegas: tuple[Floats, ...]
    log_weights: Floats


@dataclass(frozen=True, eq=False)
class Tree:
    """The counts of a tree's nodes, level by level."""

    splits: tuple[Split, ...]
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, cells: Cells, counts: Floats) -> Tree:
        """Return the tree of cells with the given counts (ΣK, C)."""
        return cls(cells.splits, tuple(_level(split, counts) for split in cells.splits))

    def with_omegas(self, omegas: tuple[Floats, ...]) -> Tree:
        """Return the tree with other probabilities of α."""
        for level, omega in zip(self.levels, omegas, strict=True):
            level.__dict__["omega"] = omega
        return self

    def log_terms(self, size: int, classes: int) -> Floats:  # (ΣK, C)
        """Return the log-ratio of each cell's leaf in each class."""
        return self._sum([level.log_ratios() for level in self.levels], size, classes)

    def log_terms_without_one(self, size: int, classes: int) -> tuple[Floats, Floats]:
        """Return the log-ratios without a row of weight 1: in the other classes, and in its own."""
        pairs = [level.log_ratios_without_one() for level in self.levels]
        return self._sum([one for one, _ in pairs], size, classes), self._sum([own for _, own in pairs], size, classes)

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
        shares = [np.log(np.maximum(level.shares, np.finfo(float).tiny))[:, None] for level in self.levels]
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
    floor: float

    @cached_property
    def _own(self) -> Moments:  # of (F, C)
        return Moments(*(part.T for part in by_class(self.statistic)))

    @cached_property
    def _whole(self) -> Moments:  # of (F, 1)
        return Moments(*(part[:, None] for part in over_all(self.statistic)))

    def _log(self, own: Moments, whole: Moments, x: Floats) -> Floats:
        """Return the log-densities that follow from moments; finite, also where a difference overflows."""
        normal = estimate_normal(own, whole, EstimateOptions("bayes", np.ones(1), 0, self.floor), 1.0)
        return np.maximum(normal.log_density(x), -_MOST_LOSS)

    def log_terms(self) -> Floats:  # (ΣK, C)
        """Return the log-density of each cell's value in each class."""
        column = self.cells.column
        return self._log(_take(self._own, column), _take(self._whole, column), self.cells.value[:, None])

    def log_terms_without_one(self, counts: Floats) -> tuple[Floats, Floats]:  # (ΣK, C) each
        """Return the log-densities without a row of weight 1: in the other classes, and in its own."""
        column, x = self.cells.column, self.cells.value[:, None]
        own, whole = _take(self._own, column), _take(self._whole, column)
        c, some = np.broadcast_to(np.arange(counts.shape[1]), counts.shape), np.asarray(counts > 0)
        pooled = np.asarray(self.cells.pooled > 0)[:, None]
        less_whole = self._less(whole, x, np.ones_like(x), column[:, None], None, pooled)
        less = self._less(own, x, np.ones_like(counts), np.broadcast_to(column[:, None], c.shape), c, some)
        return self._log(own, less_whole, x), self._log(less, less_whole, x)

    def log_terms_without(self, cell: Places, own: Places, weight: Floats) -> Floats:  # (k, C)
        """Return the log-densities of rows left out."""
        column, x = self.cells.column[cell], self.cells.value[cell]
        rows, every = np.arange(len(cell)), np.ones((len(cell), 1), bool)
        by = Moments(*(part.copy() for part in _take(self._own, column)))
        whole = self._less(_take(self._whole, column), x[:, None], weight[:, None], column[:, None], None, every)
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
        n, mean, m2 = (np.where(nothing, 0.0, part) for part in less)
        return Moments(n, np.where(np.isfinite(mean), mean, 0.0), np.maximum(np.nan_to_num(m2), 0.0))

    def variances(self) -> Floats:  # (ΣK, C)
        """Return the variance of the log-density of each cell's value."""
        options = EstimateOptions("map", np.ones(1), 0, self.floor)
        column = self.cells.column
        normal = estimate_normal(_take(self._own, column), _take(self._whole, column), options, 1.0)
        return normal.variance(self.cells.value[:, None])


@dataclass(frozen=True, eq=False)
class Experts:
    """Both experts on the same cells, and the logs of their weights."""

    cells: Cells
    counts: Floats  # (ΣK, C)
    tree: Tree
    student: Student
    log_weights: Floats  # (2, F)

    @classmethod
    def of(cls, statistic: Statistic, cells: Cells, floor: float, methods: tuple[bool, bool]) -> Experts:
        """Return the experts that follow from the sums; `methods` says which of them take part."""
        counts = cells.count(statistic)
        student = Student(statistic, cells, floor)
        none = np.zeros((2, len(cells.sizes)))
        alone = cls(cells, counts, Tree.of(cells, counts), student, none)
        experts = replace(alone, log_weights=alone._weigh(statistic.rows.to_float(), methods))
        experts.__dict__["_without_one"] = alone._without_one  # they do not depend on the weights
        return experts

    @classmethod
    def planned(cls, statistic: Statistic, plan: Plan, floor: float) -> Experts:
        """Return the experts on cells, ω and weights that were chosen before."""
        counts = plan.cells.count(statistic)
        tree = Tree.of(plan.cells, counts).with_omegas(plan.omegas)
        return cls(plan.cells, counts, tree, Student(statistic, plan.cells, floor), plan.log_weights)

    @property
    def plan(self) -> Plan:
        """What leaving a row out does not change."""
        return Plan(self.cells, tuple(level.omega for level in self.tree.levels), self.log_weights)

    def _weigh(self, rows: Floats, methods: tuple[bool, bool]) -> Floats:  # (2, F)
        """Return the logs of weights ∝ the probability of all rows' classes, each row left out, times the prior."""
        C = len(rows)
        full, less = np.log(rows + _PRIOR_ROWS), np.log(left(rows, 1.0) + _PRIOR_ROWS)
        scores = np.full((2, len(self.cells.sizes)), -np.inf)
        for k, (used, (other, own)) in enumerate(zip(methods, self._without_one, strict=True)):
            if not used:
                continue
            log_other, log_own = full + other, less + own
            top = np.maximum(log_other.max(axis=1, keepdims=True), log_own.max(axis=1, keepdims=True))
            each = np.exp(log_other - top)
            total = each.sum(axis=1, keepdims=True)
            # all classes but its own; a difference that cancels is small against what is left
            others = np.maximum(total - each, np.finfo(float).eps * total) if C > 1 else np.zeros_like(each)
            with np.errstate(divide="ignore", over="ignore"):
                loss = np.log1p(others / np.exp(log_own - top))
            lost = (self.counts * np.where(self.counts > 0, np.minimum(loss, _MOST_LOSS), 0.0)).sum(axis=1)
            scores[k] = -np.add.reduceat(lost, self.cells.starts)
        top = scores.max(axis=0)
        return np.asarray(scores - top - np.log(np.exp(scores - top).sum(axis=0)))

    @cached_property
    def new(self) -> tuple[Floats, Floats]:  # (ΣK, C) each
        """The log-terms of each expert for a new row."""
        return self.tree.log_terms(*self.counts.shape), self.student.log_terms()

    @cached_property
    def _without_one(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """The log-terms of each expert for a row left out: in the other classes, and in its own."""
        return self.tree.log_terms_without_one(*self.counts.shape), self.student.log_terms_without_one(self.counts)

    def mixed(self) -> Floats:  # (ΣK, C)
        """Return log Σ_k w_k p_k(c | x) for each cell."""
        return self._mix(self.new, self.cells.column)

    def mixed_without(self, cell: Places, own: Places, weight: Floats | None) -> Floats:  # (k, C)
        """Return the same for rows left out, of weight 1 unless given."""
        if weight is not None:
            terms = [one.log_terms_without(cell, own, weight) for one in (self.tree, self.student)]
            return self._mix(terms, self.cells.column[cell])
        both, rows = [], np.arange(len(cell))
        for other, mine in self._without_one:
            one = other[cell]
            one[rows, own] = mine[cell, own]
            both.append(one)
        return self._mix(both, self.cells.column[cell])

    def terms_of_pairs(self, f: int, pair: Places) -> Floats:  # (k, C)
        """Return the terms of rows of weight 1 left out of column f; pair is cell · C + class.

        All pairs are computed on first use and kept, unless that would take too much memory.
        """
        C, start = self.counts.shape[1], int(self.cells.starts[f])
        if self.counts.size * C <= _KEPT_TERMS:
            return np.asarray(self._pairs[start * C + pair])
        seen, place = np.unique(pair, return_inverse=True)
        return self.mixed_without(start + seen // C, seen % C, None)[place]

    @cached_property
    def _pairs(self) -> Floats:  # (ΣK · C, C)
        cell, own = np.divmod(np.arange(self.counts.size), self.counts.shape[1])
        return self.mixed_without(cell, own, None)

    def log_density(self) -> Floats:  # (ΣK, 1)
        """Return the log of Σ_k w_k Σ_c p_k(x | c): the part of the density that all classes share."""
        tree, student = self.new
        with np.errstate(over="ignore"):
            width = np.minimum(np.bincount(self.leaves, self.cells.widths), np.finfo(float).max)[self.leaves]
        tree = tree + self.tree.log_pooled(len(width)) - np.log(width)[:, None]
        weight = self.log_weights[:, self.cells.column][:, :, None]
        return np.asarray(np.logaddexp(weight[0] + _log_sum(tree), weight[1] + _log_sum(student)))

    @cached_property
    def leaves(self) -> Places:  # (ΣK,)
        """The leaf of each cell, numbered through all columns."""
        change = np.diff(self.cells.column, prepend=-1) != 0
        for split in self.tree.splits:
            change |= np.diff(split.node, prepend=-2) != 0
        return np.cumsum(change) - 1

    def variances(self) -> Floats:  # (ΣK, C)
        """Return the variance of each cell's term: that of the experts, averaged."""
        w = np.exp(self.log_weights)[:, self.cells.column][:, :, None]
        return np.asarray(w[0] * self.tree.variances(*self.counts.shape) + w[1] * self.student.variances())

    def _mix(self, terms: tuple[Floats, ...] | list[Floats], column: Places) -> Floats:
        w, normal = self.log_weights[:, column][:, :, None], [normalise(one) for one in terms]
        with np.errstate(divide="ignore"):
            mixed = np.log(np.exp(w[0] + normal[0]) + np.exp(w[1] + normal[1]))
        low = np.flatnonzero((mixed < _LEAST_LOG).any(axis=1))  # exponentials of these underflow
        mixed[low] = np.logaddexp(w[0][low] + normal[0][low], w[1][low] + normal[1][low])
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
    return np.asarray(top + np.log(np.exp(by_class, out=by_class).sum(axis=0)))[:, None]


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
