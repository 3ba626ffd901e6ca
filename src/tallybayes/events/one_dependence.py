"""One-dependence: what all pairs of columns say together, averaged over the column that the others depend on.

Averaged one-dependence estimators (AODE: Webb, Boughton and Wang 2005) let every column depend on the class and on one
other column, the parent, and average over parents:

    P(x | c) = mean over parents j of P(x_j | c) Π_{i ≠ j} P(x_i | x_j, c)

With I_ij = log P(x_i | x_j, c) / P(x_i | c), the interaction of a pair of values (see `interaction`), this is the naive
likelihood times mean_j exp Σ_{i ≠ j} I_ij. The logarithm of that mean is the one term which is added here. Counted: how
often each value, and each pair of values, occurs in each class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.errors import BadOption, wanted
from tallybayes.events.event import ClassCodes, Counted, InputKind, LeftOut, Weights
from tallybayes.events.families.dirichlet import leave_codes_out
from tallybayes.events.inputs import Codes, Floats, Value
from tallybayes.events.interaction import (
    MOST_CELLS,
    ROUNDING,
    Part,
    interaction_tables,
    interaction_variances,
    made_parts,
    terms_without,
)
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Profile, Table, weigh
from tallybayes.events.plain_terms import PlainTerm
from tallybayes.events.product import Product
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = ["OneDependence", "OneDependenceTable"]

_AT_ONCE = 1 << 20  # cells of rows and pairs (4 MB) that are looked up together

_Slots = tuple[npt.NDArray[np.int32], ...]


@dataclass(frozen=True)
class OneDependence(Product[Codes]):
    """All pairs of some columns: one column of a schema that is made of others.

    Parameters
    ----------
    parts : tuple of Part
        The columns and their slots, fixed before counting, so that counts add.

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": list("0011") * 9, "b": list("0101") * 9, "y": ["same", "other", "other", "same"] * 9}
    >>> model = tb.fit(xor, "y", structure="aode")
    >>> model.schema.terms, model.predict([{"a": "1", "b": "1"}]).tolist()
    (('a', 'b', 'all pairs'), ['same'])
    """

    parts: tuple[Part, ...]

    name: ClassVar[str] = "aode"
    partial: ClassVar[bool] = True
    discrete: ClassVar[bool] = True
    input: ClassVar[InputKind] = "codes"
    sums: ClassVar[dict[str, Sum]] = {"counts": Sum("value")}

    @property
    def base(self) -> float:  # type: ignore[override]
        """The weight before calibration: AODE has no other."""
        return 1.0

    @property
    def free(self) -> bool:  # type: ignore[override]
        """Whether a fitted weight costs nothing."""
        return False

    @classmethod
    def of(cls, parts: Sequence[Sequence[Any]], base: float = 1.0, free: bool = False) -> OneDependence:
        """Return the event that plain values describe; raise ValueError if they cannot."""
        made = cls(made_parts(parts))
        if len(made.parts) < 2 or made.size > MOST_CELLS:
            raise ValueError("parts of all pairs")
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as plain values."""
        return {"parts": [list(part) for part in self.parts]}

    @cached_property
    def shape(self) -> npt.NDArray[np.int64]:
        """The number of slots of each part."""
        return np.array([len(part.names) for part in self.parts], np.int64)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of parts, in the order in which their cells are numbered."""
        return tuple(combinations(range(len(self.parts)), 2))

    @property
    def size(self) -> int:
        """The number of cells: a slot of a part, or a pair of slots."""
        singles = int(self.shape.sum())
        return singles + (singles**2 - int((self.shape**2).sum())) // 2

    def value(self, data: Codes) -> None:
        """Return None: the first row has many pairs, not one value."""

    def in_words(self, data: Codes) -> str | None:
        """Return how the first row's pairs are put together; None where it has none."""
        return "on average over parents" if np.count_nonzero(data.first() >= 0) > 1 else None

    def tables(self, statistic: Statistic) -> tuple[float, Sequence[Floats]]:
        """Return the tables of all pairs; each is heard from two parents, of as many as there are columns."""
        return 2 / len(self.parts), self.counts(statistic)[1]

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether the values are cells."""
        cells = statistic.labels[0].values
        return all(isinstance(cell, int) and 0 <= cell < self.size for cell in cells)

    def count(self, data: Codes, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count how often each slot and each pair of slots occurs in each class."""
        singles, _ = kernels.count_codes(data.columns, classes, n_classes, data.sizes, weights=weights)
        pairs = kernels.count_pairs(data.columns, classes, n_classes, data.sizes, weights=weights)
        one, two = Exact.from_limbs(singles), Exact.from_limbs(pairs)
        first, cells = one.shape[1], np.arange(self.size)
        counts = one.spread(cells[:first], self.size, axis=1) + two.spread(cells[first:], self.size, axis=1)
        return {"counts": counts}, (Categories(pa.array(cells)),)

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> OneDependenceTable:
        """Return the interactions of all pairs."""
        return OneDependenceTable(statistic, options, self)

    def without_rows(self, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class; the weights ω of pseudo-rows stay those of all rows."""
        table = self.estimate(statistic, EstimateOptions("bayes", np.ones(1)))

        def add(options: EstimateOptions, out: Floats) -> None:
            for rows in _chunks(len(out), len(self.pairs)):
                slots = tuple(column[rows] for column in data.columns)
                w = None if weights is None else weights[rows]
                out[rows] += table.log_mean_without(slots, classes[rows], w)

        return LeftOut(add, lambda: self.length(data))

    def counts(self, statistic: Statistic) -> tuple[Floats, list[Floats]]:
        """Return the weight of each slot in all classes, and the table (C, A, B) of each pair."""
        cells = np.zeros((statistic.rows.shape[0], self.size))
        cells[:, np.asarray(statistic.labels[0].values, np.intp)] = statistic.sums["counts"].to_float()
        first = int(self.shape.sum())
        shapes = [(int(self.shape[f]), int(self.shape[g])) for f, g in self.pairs]
        each = np.split(cells[:, first:], np.cumsum([a * b for a, b in shapes])[:-1], axis=1)
        return cells[:, :first].sum(axis=0), [t.reshape(-1, a, b) for t, (a, b) in zip(each, shapes, strict=True)]

    def cells(self, slots: _Slots) -> list[npt.NDArray[np.int32]]:
        """Return the cell of each row in the table of each pair; −1 where a part is missing."""
        found = []
        for f, g in self.pairs:
            cell = slots[f] * np.int32(self.shape[g]) + slots[g]
            cell[(slots[f] < 0) | (slots[g] < 0)] = -1
            found.append(cell)
        return found

    def pairs_of(self, j: int) -> list[int]:
        """Return the pairs that a part is in."""
        return [p for p, pair in enumerate(self.pairs) if j in pair]

    def of_parts(self, statistic: Statistic, kept: Sequence[int]) -> tuple[OneDependence, Statistic]:
        """Return the event of some of the parts, in their order, and its sums: those of a count without the others."""
        place, mine, start, here = np.full(self.size, -1, np.int64), set(kept), 0, 0
        sizes = self.shape.tolist()
        cells: list[tuple[tuple[int, ...], int]] = [((f,), sizes[f]) for f in range(len(sizes))]
        cells += [((f, g), sizes[f] * sizes[g]) for f, g in self.pairs]
        for parts, size in cells:
            if mine.issuperset(parts):
                place[start : start + size] = np.arange(here, here + size)
                here += size
            start += size
        found = place[np.asarray(statistic.labels[0].values, np.intp)]
        fewer = statistic.of_values(found >= 0)
        labels = (Categories(pa.array(found[found >= 0])),)
        event = OneDependence(tuple(part for f, part in enumerate(self.parts) if f in mine))
        return event, replace(fewer, labels=labels)

    def without_rows_and_parts(
        self,
        statistic: Statistic,
        data: Codes,
        classes: ClassCodes,
        weights: Weights,
        rows: npt.NDArray[np.intp],
        kept: npt.NDArray[np.bool_],
    ) -> LeftOut:
        """Return some of the rows, with the parts that are not kept missing."""
        columns = (
            np.where(keep, column[rows], np.int32(-1)) for column, keep in zip(data.columns, kept.T, strict=True)
        )
        left = None if weights is None else weights[rows]
        return self.without_rows(statistic, replace(data, columns=tuple(columns)), classes[rows], left)


@dataclass(frozen=True, eq=False)
class OneDependenceTable(Likelihood[Codes]):
    """The logarithm of the mean over parents, times a weight.

    It has no contrast: what all classes share in one parent's sum is not what they share in another's.
    """

    event: OneDependence
    factor: float = 1.0

    def add_log_prob(self, data: Codes, out: Floats) -> None:
        """Add the term of each row."""
        for rows, slots in self._parts(data):
            out[rows] += self.factor * self._log_mean(slots)

    def add_terms(self, data: Codes, weights: Floats, out: Floats) -> None:
        """Add the term of each row, weighted."""
        for rows, slots in self._parts(data):
            out[rows, 0] += weigh(self.factor * self._log_mean(slots), weights[rows])

    def add_variance(self, data: Codes, out: Floats) -> None:
        """Add the variance of each row's term, to the first order in the interactions of its pairs."""
        for rows, slots in self._parts(data):
            sums = self._sums(slots, self._tables)
            share = _shares(sums, self._may_be_parent(slots))  # the slope of the mean in each parent's sum
            part = np.zeros((len(slots[0]), sums.shape[2]))
            for (f, g), cell, table in zip(self.event.pairs, self.event.cells(slots), self._variances, strict=True):
                seen = cell >= 0
                part[seen] += (share[f] + share[g])[seen] ** 2 * table[cell[seen]]
            out[rows] += self.factor**2 * part

    def _parts(self, data: Codes) -> Iterator[tuple[slice, _Slots]]:
        for rows in _chunks(len(data), len(self.event.pairs)):
            yield rows, tuple(column[rows] for column in data.columns)

    def _log_mean(self, slots: _Slots) -> Floats:  # (n, C)
        return _log_mean(self._sums(slots, self._tables), self._may_be_parent(slots))

    def log_mean_without(self, slots: _Slots, classes: ClassCodes, weights: Weights) -> Floats:  # (n, C)
        """Return the terms of rows that were counted, each left out."""
        gone = np.ones(len(classes)) if weights is None else weights
        parents = self._may_be_parent(slots, gone)
        if weights is not None:
            return _log_mean(self._sums_without(slots, classes, weights), parents)
        sums = np.zeros((len(slots), len(classes), len(self._counts[1][0])))
        cells = self.event.cells(slots)
        others, less = self._left_out
        for j, sums_of_parent in enumerate(sums):
            mine = self.event.pairs_of(j)
            columns, sizes = tuple(cells[p] for p in mine), self._sizes[mine]
            leave_codes_out(columns, sizes, others[j], less[j], classes, sums_of_parent)
        return _log_mean(sums, parents)

    def _sums(self, slots: _Slots, tables: Sequence[Floats]) -> Floats:  # (F, n, C)
        """Return the sum of the interactions with each parent."""
        sums = np.zeros((len(slots), len(slots[0]), tables[0].shape[1]))
        cells = self.event.cells(slots)
        for j, out in enumerate(sums):
            mine = self.event.pairs_of(j)
            kernels.score_codes(tuple(cells[p] for p in mine), tables[j], self._sizes[mine], out)
        return sums

    def _sums_without(self, slots: _Slots, classes: ClassCodes, weights: Floats) -> Floats:  # (F, n, C)
        """Return the same for rows of a weight each, left out."""
        sums = np.zeros((len(slots), len(classes), len(self._counts[1][0])))
        for (f, g), cell, counts in zip(self.event.pairs, self.event.cells(slots), self._counts[1], strict=True):
            part = np.zeros(sums.shape[1:])
            terms_without(counts, cell, classes, weights, part)
            sums[f] += part
            sums[g] += part
        return sums

    def _may_be_parent(self, slots: _Slots, gone: Floats | None = None) -> npt.NDArray[np.bool_]:  # (F, n)
        """Return which values are present and have been seen, also without their row if it is left out.

        One row is enough, as in Weka. The authors asked for 30, since a parent of few rows gave wild estimates; here
        such a parent is drawn to independence, and says what naive Bayes says.
        """
        seen, starts = self._counts[0], np.cumsum(self.event.shape) - self.event.shape
        weight = np.stack([seen[start + slot] for start, slot in zip(starts, slots, strict=True)])
        left = weight if gone is None else weight - gone
        return np.asarray((np.stack(slots) >= 0) & (left > ROUNDING * weight))

    @cached_property
    def _counts(self) -> tuple[Floats, list[Floats]]:
        return self.event.counts(self.statistic)

    @cached_property
    def _sizes(self) -> npt.NDArray[np.int64]:
        """The number of cells of each pair."""
        return np.array([self.event.shape[f] * self.event.shape[g] for f, g in self.event.pairs], np.int64)

    @cached_property
    def _each(self) -> list[tuple[Floats, Floats, Floats]]:
        """The interactions (cells, C) of each pair: of all rows; of rows left out, in other classes and their own."""
        found: list[tuple[Floats, Floats, Floats]] = [()] * len(self._sizes)  # type: ignore[list-item]
        for group, counts in self._by_shape():
            tables = interaction_tables(counts, 2)
            for k, p in enumerate(group):
                found[p] = (_by_cell(tables.full[k]), _by_cell(tables.others[k]), _by_cell(tables.less[k]))
        return found

    def _by_shape(self) -> Iterator[tuple[list[int], Floats]]:
        """Yield pairs whose tables have one shape, and their counts (pairs, C, A, B)."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for p, table in enumerate(self._counts[1]):
            groups.setdefault(table.shape, []).append(p)
        for group in groups.values():
            yield group, np.stack([self._counts[1][p] for p in group])

    def _of_parents(self, tables: Sequence[Floats]) -> list[Floats]:
        """Return the tables of all pairs with each parent, one below the other."""
        return [np.concatenate([tables[p] for p in self.event.pairs_of(j)]) for j in range(len(self.event.parts))]

    @cached_property
    def _tables(self) -> list[Floats]:
        return self._of_parents([full for full, _, _ in self._each])

    @cached_property
    def _left_out(self) -> tuple[list[Floats], list[Floats]]:
        return self._of_parents([one for _, one, _ in self._each]), self._of_parents([own for _, _, own in self._each])

    @cached_property
    def _variances(self) -> list[Floats]:  # (cells, C) for each pair
        return [_by_cell(interaction_variances(counts, 2)) for counts in self._counts[1]]

    def joint(self, p: int) -> Floats:  # (C, A, B)
        """Return how many times as probable each cell of a pair is as if its parts were independent."""
        f, g = self.event.pairs[p]
        return np.exp(self._each[p][0].T.reshape(-1, self.event.shape[f], self.event.shape[g]))

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the interaction of each pair of columns, on average over the rows of a class."""
        names, _, bits = self.table(f)
        some = list(range(len(names)) if at is None else map(names.index, at))
        return Profile("values", tuple(names[k] for k in some), np.log(2) * bits[some])

    def support(self, data: Codes) -> Floats:  # (1, C)
        """Return the weight of the rows of each class with the same pair of values, on average over pairs."""
        cells = self.event.cells(tuple(column[:1] for column in data.columns))
        found = [t.reshape(len(t), -1)[:, c[0]] for t, c in zip(self._counts[1], cells, strict=True) if c[0] >= 0]
        return np.mean(found, axis=0)[None] if found else np.zeros((1, self.statistic.rows.shape[0]))

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw nothing: the term has no values of its own."""
        return []

    def table(self, f: int) -> Table:
        """Return a row per pair of columns: the bits that its values share in each class."""
        names = tuple(" & ".join(self.event.parts[k].column for k in pair) for pair in self.event.pairs)
        return names, None, np.stack([_shared_bits(counts) for counts in self._counts[1]])

    def to_plain(self) -> tuple[PlainTerm, ...]:
        """Refuse: the logarithm of a mean is no sum of terms."""
        want = "a score that is a sum of terms"
        raise BadOption(wanted("export", want, "structure 'aode'", "Fit with structure 'pairs' or 'tan'"))

    def missing(self) -> Floats:  # (C, 1)
        """Return 0: the columns have their own missing values."""
        return np.zeros((self.statistic.rows.shape[0], 1))

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> OneDependenceTable:
        """Return the term with another weight."""
        return replace(self, factor=float(weights[0]))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of a class, beyond those of the columns."""
        used = ((counts.sum(axis=(0, 1)) > 0, counts.sum(axis=(0, 2)) > 0) for counts in self._counts[1])
        return sum(max(int(a.sum()) - 1, 0) * max(int(b.sum()) - 1, 0) for a, b in used)

    @property
    def categories(self) -> tuple[Categories, ...]:
        """The cells seen."""
        return self.statistic.labels


def _chunks(rows: int, pairs: int) -> Iterator[slice]:
    """Yield rows whose cells fit into the cache."""
    step = max(1, _AT_ONCE // max(1, pairs))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _log_mean(sums: Floats, parents: npt.NDArray[np.bool_]) -> Floats:  # (n, C)
    """Return the log of the mean of exp(sums) (F, n, C) over the parents (F, n).

    It is 0 where there are none.

    Examples
    --------
    >>> np.exp(_log_mean(np.log([[[1.0]], [[3.0]], [[9.0]]]), np.array([[True], [True], [False]])))
    array([[2.]])
    """
    number = parents.sum(axis=0)[:, None]
    masked = np.where(parents[:, :, None], sums, -np.inf)
    top = np.where(number > 0, masked.max(axis=0), 0.0)
    total = kernels.exp(masked - top).sum(axis=0)
    return np.where(number > 0, top + kernels.log(np.maximum(total, np.finfo(float).tiny) / np.maximum(number, 1)), 0.0)


def _shares(sums: Floats, parents: npt.NDArray[np.bool_]) -> Floats:  # (F, n, C)
    """Return the share of each parent in the sum of exp(sums)."""
    masked = np.where(parents[:, :, None], sums, -np.inf)
    top = masked.max(axis=0)
    each = kernels.exp(masked - np.where(np.isfinite(top), top, 0.0))
    return np.asarray(each / np.maximum(each.sum(axis=0), np.finfo(float).tiny))


def _shared_bits(counts: Floats) -> Floats:  # (C,)
    """Return the mutual information of two parts in each class, as counted (C, A, B)."""
    total = counts.sum(axis=(1, 2), keepdims=True)
    p = counts / np.where(total > 0, total, 1.0)
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=2, keepdims=True)
    ratio = np.divide(p, independent, out=np.ones_like(p), where=p > 0)
    return np.asarray((p * np.log2(ratio)).sum(axis=(1, 2)))


def _by_cell(table: Floats) -> Floats:  # (cells, C)
    return np.ascontiguousarray(table.reshape(len(table), -1).T)
