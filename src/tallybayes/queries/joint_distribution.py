"""The joint distribution of a model whose columns depend on each other given the class.

A tree of pairs, one cell for all columns, and each parent of "aode" are factor graphs without cycles: P(x | c) is the
product of the columns' own shares and of a factor for each group of columns, made to sum to 1 in each class. So a sum
over the columns that a query does not name is exact (sum-product), and rows are drawn from a root outwards. Columns are
in slots: the values, or the bins, in which they were counted together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import logsumexp

from tallybayes.cached_property import cached_property
from tallybayes.encoding.product import code_numbers, code_values
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import BINS, Interaction, InteractionTable, Part
from tallybayes.events.likelihood import Likelihood
from tallybayes.events.one_dependence import OneDependenceTable
from tallybayes.model import Model

__all__ = ["JointDistribution", "joint_distribution"]

_POOL = 4096  # numbers drawn at least, to find some in each bin


class _Factor(NamedTuple):
    """How many times as probable each cell of some columns is as if they were independent."""

    columns: tuple[str, ...]
    table: Floats  # (C, *slots)


def joint_distribution(model: Model) -> JointDistribution | None:
    """Return the distribution of a model's dependent columns; None if all are independent given the class.

    Interactions that only calibration weighs are no part of it.
    """
    parts: dict[str, Part] = {}
    tree: list[_Factor] = []
    graphs: list[tuple[_Factor, ...]] = []
    for likelihood in model.belief.likelihoods:
        if isinstance(likelihood, InteractionTable) and likelihood.event.base:
            names = tuple(part.column for part in likelihood.event.parts)
            shape = (likelihood.log.shape[1], *likelihood.event.shape)
            tree.append(_Factor(names, np.exp(likelihood.log.T).reshape(shape)))
        elif isinstance(likelihood, OneDependenceTable):
            event = likelihood.event
            names = tuple(part.column for part in event.parts)
            pairs = [_Factor((names[f], names[g]), likelihood.joint(p)) for p, (f, g) in enumerate(event.pairs)]
            graphs += [tuple(pairs[p] for p in event.pairs_of(j)) for j in range(len(names))]
        else:
            continue
        parts |= {part.column: part for part in likelihood.event.parts}
    if tree:
        graphs.append(tuple(tree))
    return JointDistribution(model, parts, tuple(graphs)) if graphs else None


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """Columns in slots, and the factors that join them.

    Attributes
    ----------
    model : Model
        The model.
    parts : mapping of str to Part
        The slots of each column.
    graphs : tuple of tuple of _Factor
        The factor graphs that are averaged: one, or one for each parent.
    """

    model: Model
    parts: Mapping[str, Part]
    graphs: tuple[tuple[_Factor, ...], ...]

    def log_probability(self, given: Mapping[str, Floats]) -> Floats:  # (C,)
        """Return the log-probability, in each class, of what is given of some columns (C, slots); others are any."""
        each = [
            _Forest(graph, {**self.shares, **given}).log - forest.log
            for graph, forest in zip(self.graphs, self._whole, strict=True)
        ]
        return np.asarray(logsumexp(each, axis=0) - np.log(len(each)))

    def draw(
        self, c: int, n: int, given: Mapping[str, Floats], rng: np.random.Generator
    ) -> dict[str, npt.NDArray[np.intp]]:
        """Draw the slots of n rows of a class, from a root outwards."""
        forests = [_Forest(graph, {**self.shares, **given}) for graph in self.graphs]
        log = np.array([one.log[c] - whole.log[c] for one, whole in zip(forests, self._whole, strict=True)])
        p = np.exp(log - logsumexp(log))
        graph = rng.choice(len(forests), n, p=p / p.sum())
        found = {name: np.zeros(n, np.intp) for name in self.parts}
        for g in np.unique(graph):
            rows = np.flatnonzero(graph == g)
            for name, slots in forests[g].draw(c, len(rows), rng).items():
                found[name][rows] = slots
        return found

    def at(self, column: str, log_p: Floats, value: Any) -> Floats:  # (C, slots)
        """Return what one value of a column gives: its probability (C,) in its slot; in all if it has none."""
        part = self.parts[column]
        slot = self._slots(part, pa.array([value]))[0]
        shares = self.shares[column]
        weight = shares / shares.sum(axis=1, keepdims=True) if slot < 0 else np.arange(shares.shape[1]) == slot
        return np.asarray(np.exp(log_p)[:, None] * weight)

    def grouped(self, column: str, p: Floats) -> Floats:  # (C, slots)
        """Return the sum of the probabilities (V, C) of a column's values in each slot."""
        b, f = self.model.schema.place(column)
        slots = self._slots(self.parts[column], self.model.evidence.statistics[b].labels[f].array)
        out = np.zeros((p.shape[1], len(self.parts[column].names)))
        np.add.at(out.T, slots[slots >= 0], p[slots >= 0])
        return out

    @cached_property
    def shares(self) -> dict[str, Floats]:
        """The share of each slot of each column in each class."""
        found = {}
        for column, part in self.parts.items():
            b, f = self.model.schema.place(column)
            likelihood = self.model.belief.likelihoods[b]
            if part.kind == BINS:
                found[column] = self._of_bins(column)
            else:
                found[column] = self.grouped(column, np.exp(likelihood.profile(f).log))
        return found

    def _of_bins(self, column: str) -> Floats:  # (C, slots)
        """Return the shares of bins as they were counted together with other columns."""
        for likelihood in self.model.belief.likelihoods:
            if not isinstance(likelihood, InteractionTable | OneDependenceTable):
                continue
            names = [part.column for part in likelihood.event.parts]
            if column not in names:
                continue
            k = names.index(column)
            counts = _margin(likelihood, k)
            return np.asarray((counts + 1 / counts.shape[1]) / (counts.sum(axis=1, keepdims=True) + 1))
        raise KeyError(column)

    @cached_property
    def _whole(self) -> list[_Forest]:
        return [_Forest(graph, self.shares) for graph in self.graphs]

    def _slots(self, part: Part, values: pa.Array) -> npt.NDArray[np.int32]:
        if part.kind == BINS:
            return code_numbers(part, values.cast(pa.float64()).to_numpy(zero_copy_only=False))
        return code_values(part, values, null_is_label=self.model.schema.missing == "category")

    def values(
        self, c: int, slots: Mapping[str, npt.NDArray[np.intp]], block: int, rng: np.random.Generator
    ) -> dict[str, pa.Array]:
        """Draw a value inside each slot, for the dependent columns of a block.

        A number is one of many that the column alone gives in this class; where none of them is in the bin, which is
        next to impossible there, it is the bin's edge.
        """
        schema, likelihood = self.model.schema, self.model.belief.likelihoods[block]
        mine = [(f, name) for f, name in enumerate(schema.blocks[block].columns) if name in slots]
        if not mine:
            return {}
        n = len(slots[mine[0][1]])
        dense = schema.blocks[block].event.input != "codes"
        pool = likelihood.sample(c, max(_POOL, 4 * n), rng) if dense else None
        found = {}
        for f, name in mine:
            part, wanted_slots = self.parts[name], slots[name]
            if pool is None:
                found[name] = self._listed(likelihood, f, c, part, wanted_slots, rng)
                continue
            numbers = np.asarray(pool[f], np.float64)
            found[name] = pa.array(_inside(part, numbers, code_numbers(part, numbers), wanted_slots, rng))
        return found

    def _listed(
        self, likelihood: Likelihood, f: int, c: int, part: Part, slots: npt.NDArray[np.intp], rng: np.random.Generator
    ) -> pa.Array:
        labels, p = likelihood.statistic.labels[f].array, np.exp(likelihood.profile(f).log[:, c])
        own, at = self._slots(part, labels), np.zeros(len(slots), np.intp)
        for slot in np.unique(slots):
            some, rows = np.flatnonzero(own == slot), np.flatnonzero(slots == slot)
            at[rows] = some[rng.choice(len(some), len(rows), p=p[some] / p[some].sum())]
        return labels.take(pa.array(at))


class _Forest:
    """A factor graph without cycles, with messages sent to the roots."""

    def __init__(self, factors: Sequence[_Factor], shares: Mapping[str, Floats]) -> None:
        names = dict.fromkeys(name for factor in factors for name in factor.columns)
        names |= dict.fromkeys(shares)
        self._order, self._roots = _outwards(factors, tuple(names))
        self._belief = {name: np.array(shares[name]) for name in names}
        self.log = np.zeros(next(iter(shares.values())).shape[0])  # (C,) the log of the sum over all slots
        for column, factor, others in reversed(self._order):
            table = np.moveaxis(factor.table, 1 + factor.columns.index(column), 1)
            for name in reversed(others):  # the last axis first
                table = _sum_out(table, self._belief[name])
            self._belief[column] *= table
            top = self._belief[column].max(axis=1)
            with np.errstate(divide="ignore"):
                self.log += np.log(top)
            self._belief[column] /= np.where(top > 0, top, 1.0)[:, None]
        with np.errstate(divide="ignore"):
            for root in self._roots:
                self.log += np.log(self._belief[root].sum(axis=1))

    def draw(self, c: int, n: int, rng: np.random.Generator) -> dict[str, npt.NDArray[np.intp]]:
        """Draw the slots of n rows of a class."""
        found = {}
        for root in self._roots:
            p = self._belief[root][c]
            found[root] = rng.choice(len(p), n, p=p / p.sum())
        for column, factor, others in self._order:
            table = np.moveaxis(factor.table[c], factor.columns.index(column), 0)
            for k, name in enumerate(others):
                table = table * self._belief[name][c].reshape(-1, *(1,) * (len(others) - 1 - k))
            cells = np.zeros(n, np.intp)
            for slot in np.unique(found[column]):
                rows, p = np.flatnonzero(found[column] == slot), table[slot].ravel()
                cells[rows] = rng.choice(len(p), len(rows), p=p / p.sum())
            found |= zip(others, np.unravel_index(cells, table.shape[1:]), strict=True)
        return found


def _sum_out(table: Floats, belief: Floats) -> Floats:
    """Sum over the last axis of a table (C, ..., S), each slot times its belief (C, S)."""
    return np.asarray((table * belief.reshape(len(belief), *(1,) * (table.ndim - 2), -1)).sum(axis=-1))


def _outwards(
    factors: Sequence[_Factor], names: Sequence[str]
) -> tuple[list[tuple[str, _Factor, list[str]]], list[str]]:
    """Return each factor with the column nearest to a root and its other columns, roots first; and the roots."""
    order, roots, seen, used = [], [], set[str](), set[int]()
    for name in names:
        if name in seen:
            continue
        roots.append(name)
        seen.add(name)
        waiting = [name]
        while waiting:
            column = waiting.pop(0)
            for k, factor in enumerate(factors):
                if k in used or column not in factor.columns:
                    continue
                used.add(k)
                others = [one for one in factor.columns if one != column]
                assert seen.isdisjoint(others), "a factor graph with a cycle"
                order.append((column, factor, others))
                seen.update(others)
                waiting += others
    return order, roots


def _margin(likelihood: InteractionTable | OneDependenceTable, k: int) -> Floats:  # (C, slots)
    """Return the counts of the slots of part k in each class."""
    event = likelihood.event
    if isinstance(event, Interaction):
        counts = event.counts(likelihood.statistic)
        return np.asarray(counts.sum(axis=tuple(axis for axis in range(1, counts.ndim) if axis != k + 1)))
    p = event.pairs_of(k)[0]
    return np.asarray(event.counts(likelihood.statistic)[1][p].sum(axis=2 if event.pairs[p][0] == k else 1))


def _inside(
    part: Part,
    numbers: Floats,
    own: npt.NDArray[np.int32],
    slots: npt.NDArray[np.intp],
    rng: np.random.Generator,
) -> Floats:  # (n,)
    """Return a number of each slot's bin, out of numbers whose bins are known."""
    out, edges = np.zeros(len(slots)), part.values
    for slot in np.unique(slots):
        some, rows = np.flatnonzero(own == slot), np.flatnonzero(slots == slot)
        if len(some):
            out[rows] = numbers[rng.choice(some, len(rows))]
        else:
            out[rows] = edges[slot] if slot < len(edges) else np.nextafter(edges[-1], np.inf)
    return out
