"""Interaction: what the values of several columns say together, beyond what each of them says alone.

Counted: how often each combination of values, a cell, occurs in each class. With N_vw the count of a cell, N the total
of its class, and p_v, p_w the shares of the parts in the class,

    I(v, w) = log Σ_κ ω_κ (N_vw / (p_v p_w) + κ) / (N + κ)

is added to the log-likelihoods of the columns. κ pseudo-rows pull the cells to independence, where I = 0. ω_κ is the
posterior of κ: the Dirichlet-multinomial evidence of the counts. A part never seen says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories
from tallybayes.events.event import ClassCodes, Counted, InputKind, LeftOut, Weights
from tallybayes.events.families.dirichlet import contrast, leave_codes_out
from tallybayes.events.families.variance import trigamma
from tallybayes.events.inputs import Codes, Floats, Value
from tallybayes.events.likelihood import Drawn, EstimateOptions, Likelihood, Profile, Table
from tallybayes.events.plain_terms import CellTable
from tallybayes.events.product import Product
from tallybayes.events.statistic import Statistic, Sum
from tallybayes.exact.array import Exact

__all__ = [
    "BINS",
    "MOST_CELLS",
    "ROUNDING",
    "Interaction",
    "Part",
    "interaction_tables",
    "interaction_variances",
    "made_parts",
    "terms_without",
]

BINS = "bins"  # the kind of a part whose values are the edges between bins of numbers
MOST_CELLS = 1_000_000  # of an interaction: a table of twenty booleans
# Pseudo-rows of independence: from a table that the counts overrule at once to one that only thousands of rows change.
_KAPPAS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0)
_MOST_EDGES = 254  # of bins: a code has 8 bits, and one stands for missing
ROUNDING = 1e-12  # the share of a weight below which nothing is left of it


class Part(NamedTuple):
    """One column of an interaction, and the slots in which it is counted.

    Attributes
    ----------
    column : str
        The column.
    kind : str
        "bins", or the kind of its values (see `plain_values.plain_types`).
    values : tuple
        The edges of bins, or the values with a slot each, as plain numbers or text.
    names : tuple of str
        The slots in words. One more than there are values is for all other values; without it they count as missing.
    """

    column: str
    kind: str
    values: tuple[Any, ...]
    names: tuple[str, ...]


def made_parts(parts: Sequence[Sequence[Any]]) -> tuple[Part, ...]:
    """Return the parts that plain values describe; raise ValueError if they cannot."""
    made = tuple(Part(str(name), str(kind), tuple(values), tuple(names)) for name, kind, values, names in parts)
    others = (len(part.names) - len(part.values) for part in made)
    sound = all(more == 1 or (more == 0 and part.kind != BINS) for more, part in zip(others, made, strict=True))
    if not sound or any(part.kind == BINS and len(part.values) > _MOST_EDGES for part in made):
        raise ValueError("parts whose slots do not fit")
    return made


@dataclass(frozen=True)
class Interaction(Product[Codes]):
    """Cells of several columns: one column of a schema that is made of others.

    Parameters
    ----------
    parts : tuple of Part
        The columns and their slots, fixed before counting, so that counts add.
    base : {0.0, 1.0}
        The weight before calibration: 0 where only a fitted weight makes the interaction count.
    free : bool
        Whether that weight is fitted without a penalty: see `inference.fit_weights`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> xor = {"a": list("0011") * 9, "b": list("0101") * 9, "y": ["same", "other", "other", "same"] * 9}
    >>> model = tb.fit(xor, "y", structure="joint")
    >>> model.schema.terms, model.predict([{"a": "1", "b": "1"}]).tolist()
    (('a', 'b', 'a & b'), ['same'])
    """

    parts: tuple[Part, ...]
    base: float = 0.0
    free: bool = False

    name: ClassVar[str] = "interaction"
    discrete: ClassVar[bool] = True
    input: ClassVar[InputKind] = "codes"
    sums: ClassVar[dict[str, Sum]] = {"counts": Sum("value")}

    @classmethod
    def of(cls, parts: Sequence[Sequence[Any]], base: float, free: bool = False) -> Interaction:
        """Return the interaction that plain values describe; raise ValueError if they cannot."""
        made = made_parts(parts)
        sound = base in (0.0, 1.0) and isinstance(free, bool)
        if len(made) < 2 or not sound or math.prod(len(part.names) for part in made) > MOST_CELLS:
            raise ValueError("parts of an interaction")
        return cls(made, float(base), free)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of slots of each part."""
        return tuple(len(part.names) for part in self.parts)

    @property
    def size(self) -> int:
        """The number of cells."""
        return math.prod(self.shape)

    def cell_names(self, cells: Sequence[int]) -> tuple[str, ...]:
        """Return cells in words: the slots of their parts, joined by &."""
        places = np.unravel_index(np.asarray(cells, np.intp), self.shape)
        each = ([part.names[k] for k in place] for part, place in zip(self.parts, places, strict=True))
        return tuple(" & ".join(one) for one in zip(*each, strict=True))

    def value(self, data: Codes) -> int | None:
        """Return the cell of the first row."""
        if data.absent() is not None:
            return None
        return int(data.labels[0].values[data.first()[0]])

    def in_words(self, data: Codes) -> str | None:
        """Return the cell of the first row in words."""
        [cell] = data.first().tolist()
        return self.cell_names([cell])[0] if cell >= 0 else None

    def tables(self, statistic: Statistic) -> tuple[float, Sequence[Floats]]:
        """Return the one table of all parts."""
        return 1.0, [self.counts(statistic)]

    def consistent(self, statistic: Statistic) -> bool:
        """Return whether the values are cells."""
        cells = statistic.labels[0].values
        return all(isinstance(cell, int) and 0 <= cell < self.size for cell in cells)

    def count(self, data: Codes, classes: ClassCodes, n_classes: int, weights: Weights) -> Counted:
        """Count how often each cell occurs in each class."""
        counts, _ = kernels.count_codes(data.columns, classes, n_classes, data.sizes, weights=weights)
        return {"counts": Exact.from_limbs(counts)}, data.labels

    def estimate(self, statistic: Statistic, options: EstimateOptions) -> InteractionTable:
        """Return the interaction of each cell."""
        log = interaction_tables(self.counts(statistic), len(self.parts)).full
        return InteractionTable(statistic, options, self, _by_cell(log), self.base)

    def without_rows(self, statistic: Statistic, data: Codes, classes: ClassCodes, weights: Weights) -> LeftOut:
        """Return the rows, each to be taken from its class; the weights ω stay those of all rows."""
        counts = self.counts(statistic)

        def add(options: EstimateOptions, out: Floats) -> None:
            if not self.base:
                return
            part = np.zeros_like(out)
            if weights is None:
                found = interaction_tables(counts, len(self.parts))
                full, less = _by_cell(found.others), _by_cell(found.less)
                leave_codes_out(data.columns, data.sizes, full, less, classes, part)
            else:
                terms_without(counts, data.of_column(0, slice(0, len(data))), classes, weights, part)
            out += self.base * part

        return LeftOut(add, lambda: self.length(data))

    def counts(self, statistic: Statistic) -> Floats:  # (C, *shape)
        """Return the counts of all cells, seen or not."""
        cells = np.zeros((statistic.rows.shape[0], self.size))
        at = np.asarray(statistic.labels[0].values, np.intp)
        cells[:, at] = statistic.sums["counts"].to_float()
        return cells.reshape(-1, *self.shape)


@dataclass(frozen=True, eq=False)
class InteractionTable(Likelihood[Codes]):
    """The interaction of each cell, times a weight."""

    event: Interaction
    log: Floats  # (cells, C)
    factor: float

    @cached_property
    def weighted(self) -> Floats:  # (cells, C)
        """The interaction of each cell times the weight."""
        return self.factor * self.log

    def add_log_prob(self, data: Codes, out: Floats) -> None:
        """Look up each cell."""
        if self.factor:
            kernels.score_codes(data.columns, self.weighted, data.sizes, out, low=0, outside="skip")

    def add_terms(self, data: Codes, weights: Floats, out: Floats) -> None:
        """Add the term of each cell, weighted."""
        if self.factor:
            kernels.terms_codes(data.columns, self.weighted, data.sizes, weights, out, low=0, outside="skip")

    def add_variance(self, data: Codes, out: Floats) -> None:
        """Look up the variance of each cell's log-share."""
        if self.factor:
            kernels.score_codes(data.columns, self._variances, data.sizes, out, low=0, outside="skip")

    @cached_property
    def _variances(self) -> Floats:  # (cells, C)
        return self.factor**2 * _by_cell(
            interaction_variances(self.event.counts(self.statistic), len(self.event.parts))
        )

    def profile(self, f: int, at: Sequence[Value] | None = None) -> Profile:
        """Return the interaction of each cell seen, or of some cells, given in words or by number."""
        cells = self.statistic.labels[0].values
        names = self.event.cell_names(cells)
        place: dict[Value, Value] = dict(zip(names, cells, strict=True))
        values = names if at is None else tuple(at)
        found = np.array([place.get(value, value) for value in values], np.intp)
        return Profile("values", values, self.weighted[found])

    def support(self, data: Codes) -> Floats:  # (1, C)
        """Return the weight of the rows of each class in the same cell."""
        cell = int(data.first()[0])
        counts = self.event.counts(self.statistic).reshape(self.log.shape[1], -1)
        return counts[:, cell][None] if cell >= 0 else np.zeros((1, len(counts)))

    def sample(self, c: int, n: int, rng: np.random.Generator) -> Drawn:
        """Draw nothing: an interaction has no values of its own."""
        return []

    def table(self, f: int) -> Table:
        """Return a row per cell seen: counts, and how many times as probable as if the parts were independent."""
        cells = self.statistic.labels[0].values
        counts = self.statistic.sums["counts"].to_float().T
        return self.event.cell_names(cells), counts, np.exp(self.log[list(cells)])

    def to_plain(self) -> tuple[CellTable, ...]:
        """Return the table of all cells, before it is weighted."""
        return (CellTable(self.event.parts, self.log, self.factor),)

    def missing(self) -> Floats:  # (C, 1)
        """Return the share of rows in which a part is missing."""
        rows, known = self.statistic.rows.to_float(), self.statistic.sums["counts"].to_float().sum(axis=1)
        share = np.divide(rows - known, rows, out=np.zeros_like(rows), where=rows > 0)
        return np.asarray(share[:, None])

    def scaled(self, weights: Floats, additions: Mapping[int, Floats]) -> InteractionTable:
        """Return the interaction with another weight, whatever it was."""
        return replace(self, factor=float(weights[0]))

    def contrasted(self) -> InteractionTable:
        """Return each cell's interactions less the largest."""
        return replace(self, log=contrast(self.log))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of a class, beyond those of the columns."""
        counts = self.event.counts(self.statistic).sum(axis=0)
        axes = range(counts.ndim)
        used = [np.count_nonzero(counts.sum(axis=tuple(a for a in axes if a != k))) for k in axes]
        return int(math.prod(used) - 1 - sum(size - 1 for size in used)) if counts.any() else 0

    @property
    def categories(self) -> tuple[Categories, ...]:
        """The cells seen."""
        return self.statistic.labels


class InteractionTables(NamedTuple):
    """Interactions of counts, for rows that were counted and for rows left out.

    Attributes
    ----------
    full : ndarray
        The interactions given all rows.
    others, less : ndarray
        Those of a row left out: in other classes than its own, and in its own, which has a row less.
    omega : ndarray
        The weight of each κ, on the last axis.
    """

    full: Floats
    others: Floats
    less: Floats
    omega: Floats


def interaction_tables(counts: Floats, parts: int) -> InteractionTables:
    """Return the interactions of counts (..., C, A, B, ...), the last `parts` axes being those of the parts.

    Examples
    --------
    >>> xor = np.array([[[8.0, 0.0], [0.0, 8.0]], [[0.0, 8.0], [8.0, 0.0]]])
    >>> np.exp(interaction_tables(xor, 2).full[0]).round(2)      # nearly twice as often as if independent, or hardly
    array([[1.87, 0.13],
           [0.13, 1.87]])
    """
    omega = _posterior(counts, parts)
    full, less = (_log_ratio(np.maximum(counts - gone, 0.0), *_shares(counts, parts, gone), omega) for gone in (0, 1))
    least = _rarest(counts, parts)  # a part that only one row has is unseen without it
    return InteractionTables(
        np.where(least > 0, full, 0.0), np.where(least > 1, full, 0.0), np.where(least > 1, less, 0.0), omega
    )


def interaction_variances(counts: Floats, parts: int) -> Floats:
    """Return the variance of each cell's log-share, given counts (C, A, B, ...)."""
    kappa = float(_posterior(counts, parts) @ np.asarray(_KAPPAS))
    shares, total = _shares(counts, parts, 0)
    return np.asarray(trigamma(counts + kappa * shares) - trigamma(total + kappa))


def _log_ratio(counts: Floats, shares: Floats, total: Floats, omega: Floats) -> Floats:
    """Return log Σ_κ ω_κ (N / (p_v p_w) + κ) / (N_c + κ)."""
    ratio, out = counts / shares, np.zeros(counts.shape)
    for k, kappa in enumerate(_KAPPAS):
        weight = omega[..., k].reshape(*omega.shape[:-1], *(1,) * (counts.ndim - omega.ndim + 1))
        out += weight * (ratio + kappa) / (total + kappa)
    return kernels.log(out)


def _posterior(counts: Floats, parts: int) -> Floats:  # (..., κ)
    """Return the posterior of κ given the counts, all κ being equally probable before."""
    shares, total = _shares(counts, parts, 0)
    axes, seen = tuple(range(counts.ndim - parts - 1, counts.ndim)), counts > 0
    n, p, logs = counts[seen], shares[seen], []
    for kappa in _KAPPAS:
        cells = np.zeros(counts.shape)
        cells[seen] = kernels.log_gamma(n + kappa * p) - kernels.log_gamma(kappa * p)
        whole = kernels.log_gamma(total + kappa) - kernels.log_gamma(np.asarray(float(kappa)))
        logs.append(cells.sum(axis=axes) - whole.sum(axis=axes))
    log = np.stack(logs, axis=-1)
    omega = kernels.exp(log - log.max(axis=-1, keepdims=True))
    return np.asarray(omega / omega.sum(axis=-1, keepdims=True))


def _shares(counts: Floats, parts: int, gone: float) -> tuple[Floats, Floats]:
    """Return the product of the parts' shares in each class, and the class's total, with some weight gone."""
    axes = tuple(range(counts.ndim - parts, counts.ndim))
    total = np.maximum(counts.sum(axis=axes, keepdims=True) - gone, 0.0)
    shares = np.ones(counts.shape)
    for axis in axes:
        margin = np.maximum(counts.sum(axis=tuple(a for a in axes if a != axis), keepdims=True) - gone, 0.0)
        shares *= (margin + 1 / counts.shape[axis]) / (total + 1)
    return shares, total


def _rarest(counts: Floats, parts: int) -> Floats:
    """Return the weight, over all classes, of the rarest part of each cell."""
    everywhere = counts.sum(axis=counts.ndim - parts - 1, keepdims=True)
    axes = tuple(range(counts.ndim - parts, counts.ndim))
    margins = [everywhere.sum(axis=tuple(a for a in axes if a != axis), keepdims=True) for axis in axes]
    least = margins[0]
    for margin in margins[1:]:
        least = np.minimum(least, margin)
    return np.asarray(least)


def _by_cell(table: Floats) -> Floats:  # (cells, C)
    """Return a table (C, A, B, ...) with a row for each cell."""
    return np.ascontiguousarray(table.reshape(len(table), -1).T)


def terms_without(
    counts: Floats, cell: npt.NDArray[np.integer], classes: ClassCodes, weights: Floats, out: Floats
) -> None:
    """Add the interactions of rows that have a cell and a weight each, without the row."""
    parts = counts.ndim - 1
    rows = np.flatnonzero((cell >= 0) & (weights > 0))
    found = interaction_tables(counts, parts)
    at, own, w = np.unravel_index(cell[rows], counts.shape[1:]), classes[rows], weights[rows]
    left = _rarest(counts, parts)[0][at]
    terms = found.full.reshape(len(counts), -1)[:, cell[rows]].T.copy()
    total = _less(counts.sum(axis=tuple(range(1, counts.ndim)))[own], w)
    shares = np.ones(len(rows))
    for k, place in enumerate(at):
        margin = counts.sum(axis=tuple(a for a in range(1, counts.ndim) if a != k + 1))
        shares *= (_less(margin[own, place], w) + 1 / counts.shape[k + 1]) / (total + 1)
    terms[np.arange(len(rows)), own] = _log_ratio(_less(counts[(own, *at)], w), shares, total, found.omega)
    out[rows] += np.where((left > w * (1 + ROUNDING))[:, None], terms, 0.0)


def _less(weight: Floats, gone: Floats) -> Floats:
    """Return a weight less another; 0 where only rounding is left."""
    left = weight - gone
    return np.where(left > ROUNDING * weight, left, 0.0)
