"""Left-out terms of a sample of rows, column by column, and the weights that are fitted to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes
from tallybayes.events.event import Weights as RowWeights
from tallybayes.events.families.tree import Level
from tallybayes.events.inputs import Codes, Dense, Encoded, Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import options_for
from tallybayes.inference.fit_weights import FittedWeights, Terms
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.posterior import refuse_nan
from tallybayes.inference.weights import ColumnWeight, ColumnWeights, share_of_others

__all__ = ["ColumnTerms", "rows_to_weigh"]

_MOST_VALUES = 24  # values of a column with a correction of their own; the rarest share one
_BINS = 16  # of a column of numbers
_MOST_CORRECTIONS = 20_000  # of all columns and classes: more take longer to fit than to count
# Numbers of all terms (32 MB): beyond, more rows no longer change the weights; and the rows taken in any case.
_MOST_CELLS, _FEWEST_ROWS = 1 << 22, 2000
# Rows with columns dropped count as a fifth of the whole ones: most rows to be answered are whole. With many rows a
# fifth of them is enough.
_PARTIAL, _MANY_ROWS = 5, 1000
_LARGEST = 1e4  # a term this far below the largest is as good as impossible; beyond, products lose their digits


def rows_to_weigh(columns: int, classes: int) -> int:
    """Return how many rows are enough to fit the weights of so many columns and classes."""
    return max(_FEWEST_ROWS, _MOST_CELLS // max(1, columns * classes))


@dataclass(frozen=True)
class _Bins:
    """The bins of a column's corrections, and the bin of each row; the last of all is that of missing values."""

    cells: Categories | Floats | None
    codes: npt.NDArray[np.int32]  # (n,)
    size: int


@dataclass(frozen=True)
class _Missing:
    """What it tells that a column is missing or not: log-ratios to the share of all classes."""

    column: int
    ratios: Floats  # (2, C) of a value, and of none
    terms: Floats  # (C, n) of rows left out

    def dropped(self, some: npt.NDArray[np.intp], kept: npt.NDArray[np.bool_]) -> Floats:  # (C, n)
        """Return the terms of some rows in which the column may have been dropped."""
        return np.where(kept, self.terms[:, some], self.ratios[1][:, None])


@dataclass(frozen=True)
class ColumnTerms:
    """Left-out terms of rows, and the columns that they belong to.

    Attributes
    ----------
    evidence : Evidence
        The evidence, which includes the rows.
    columns : tuple of str
        The columns.
    prior : ndarray, shape (n, C)
        The log of the class prior without each row.
    terms : ndarray, shape (F, C, n)
        The log-likelihood of each value without its row; 0 where it is missing, −∞ is a large negative number.
    bins : tuple of _Bins
        The corrections of each column.
    missing : tuple of _Missing
        The columns with missing values, and what that tells.
    """

    evidence: Evidence
    columns: tuple[str, ...]
    prior: Floats
    terms: Floats
    present: npt.NDArray[np.bool_]  # (n, F)
    bins: tuple[_Bins, ...]
    missing: tuple[_Missing, ...] = ()

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        choices: Choices,
        rows: RowBatch,
        classes: ClassCodes,
        weights: RowWeights,
        *,
        binned: bool = True,
    ) -> ColumnTerms:
        """Return the terms of rows that are part of the evidence; `binned` prepares corrections too."""
        prior = LeftOutRows(evidence.select(()), rows, classes, weights).scores(choices)
        n, C = prior.shape
        names = tuple(name for block in evidence.schema.blocks for name in block.columns)
        terms, present = np.zeros((len(names), C, n)), np.ones((n, len(names)), bool)
        bins: list[_Bins] = []
        missing: list[_Missing] = []
        unknown = np.isneginf(prior)  # a class that only this row had
        for u, name in enumerate(names):
            alone = evidence.select((name,))
            left = LeftOutRows(alone, rows, classes, weights).scores(choices)
            refuse_nan(left)
            with np.errstate(invalid="ignore"):
                term = np.where(unknown, 0.0, left - prior)
            greatest = term.max(axis=1, keepdims=True)
            term -= np.where(np.isfinite(greatest), greatest, 0.0)
            terms[u] = np.maximum(term, -_LARGEST).T
            [block], [statistic] = alone.schema.blocks, alone.statistics
            data = rows.encode(block, statistic.labels or None)
            absent = data.absent()
            if absent is not None:
                present[:, u] = ~absent[:, 0]
            if not binned:
                continue
            with np.errstate(all="ignore"):
                likelihood = block.event.estimate(statistic, options_for(block, choices))
            bins.append(_bins_of(likelihood.cells(0), data, present[:, u]))
            share = likelihood.missing()[:, 0]
            if share.max() > 0 and share.min() < 1:
                missing.append(_missing_of(u, evidence.rows.to_float(), share, present[:, u], classes, weights))
        if sum(one.size for one in bins) * C > _MOST_CORRECTIONS:
            bins = [_Bins(None, np.full(n, -1, np.int32), 0)] * len(names)
        return cls(evidence, names, prior, terms, present, tuple(bins), tuple(missing))

    def to_fit(self, classes: ClassCodes, weights: RowWeights) -> Terms:
        """Return the terms as the fit takes them: of every row, and of some rows with columns dropped.

        Rows to be answered may lack columns at random, which rows to learn from do not: without the second part, what
        a missing value tells in whole rows would be believed of any row.
        """
        n, U = self.present.shape
        each = 1 if n < _MANY_ROWS else _PARTIAL
        some = np.arange(0, n, each)
        left = self.present[some] & _some_columns(len(some), U)
        sizes = np.array([one.size for one in self.bins])
        tables = [
            np.concatenate([one.codes, np.where(left[:, u], one.codes[some], one.size - 1)]) + np.int32(at)
            for u, (one, at) in enumerate(zip(self.bins, np.cumsum(sizes) - sizes, strict=True))
            if one.size
        ]
        codes = np.array(tables, np.int32).reshape(len(tables), n + len(some))
        share = share_of_others(np.concatenate([self.present, left]).sum(axis=1).astype(np.float64), U)
        terms = np.concatenate([self.terms, self.terms[:, :, some] * left.T[:, None, :]], axis=2)
        prior = np.maximum(self.prior, -_LARGEST).T
        base = np.concatenate([prior, prior[:, some]], axis=1) + terms.sum(axis=0)
        absent = [np.concatenate([one.terms, one.dropped(some, left[:, one.column])], axis=1) for one in self.missing]
        weight = np.ones(n) if weights is None else weights
        return Terms(
            np.ascontiguousarray(base),
            np.ascontiguousarray(np.concatenate([terms, np.array(absent).reshape(-1, *terms.shape[1:])])),
            np.concatenate([np.ones(U), np.zeros(len(absent))]),
            codes,
            int(sizes.sum()),
            share,
            np.concatenate([classes, classes[some]]),
            np.concatenate([weight, weight[some] * (each / _PARTIAL)]),
        )

    def whole(self, some: npt.NDArray[np.intp], classes: ClassCodes, weights: RowWeights) -> Terms:
        """Return the terms of some columns as the fit takes them, of the rows as they are; a table for each column."""
        terms, bins = self.terms[some], [self.bins[u] for u in some]
        sizes = np.array([one.size for one in bins])
        starts = np.cumsum(sizes) - sizes
        codes = [one.codes + np.int32(at if one.size else 0) for one, at in zip(bins, starts, strict=True)]
        return Terms(
            np.ascontiguousarray(np.maximum(self.prior, -_LARGEST).T + terms.sum(axis=0)),
            terms,
            np.ones(len(some)),
            np.array(codes, np.int32),
            int(sizes.sum()),
            share_of_others(self.present[:, some].sum(axis=1).astype(np.float64), len(some)),
            classes,
            weights,
        )

    def scores(self, weights: ColumnWeights, corrections: Floats) -> Floats:  # (n, C)
        """Return the calibrated scores of the rows, each left out."""
        scale = weights.of(self.columns)
        share = share_of_others(self.present.sum(axis=1).astype(np.float64), len(self.columns))
        more = np.tensordot(scale - 1.0, self.terms, 1).T + corrections
        return np.asarray(self.prior + self.terms.sum(axis=0).T + share[:, None] * more)

    def weights(self, fitted: FittedWeights) -> ColumnWeights:
        """Return fitted numbers as the weights of columns."""
        C, at, columns = self.prior.shape[1], 0, {}
        for u, (name, bins) in enumerate(zip(self.columns, self.bins, strict=True)):
            table = fitted.table[at : at + bins.size]
            at += bins.size
            known = 0 if bins.cells is None else len(bins.cells) + 1
            missing = table[known] if bins.size > known else np.zeros(C)
            columns[name] = ColumnWeight(float(fitted.scale[u]), bins.cells, table[:known], missing)
        bias = fitted.bias
        for one, scale in zip(self.missing, fitted.scale[len(self.columns) :], strict=True):
            name, (there, gone) = self.columns[one.column], scale * one.ratios
            bias = bias + there
            columns[name] = replace(columns[name], missing=columns[name].missing + gone - there)
        return ColumnWeights(self.evidence.classes, columns, bias)


def _bins_of(cells: Categories | Floats | None, data: Encoded, present: npt.NDArray[np.bool_]) -> _Bins:
    n = len(present)
    if isinstance(cells, Categories) and isinstance(data, Codes):
        code = data.of_column(0, slice(0, n))
        counts = np.bincount(code[present], minlength=len(cells))
        often = (
            np.argsort(-counts, kind="stable")[: _MOST_VALUES - 1]
            if len(cells) > _MOST_VALUES
            else np.arange(len(cells))
        )
        often = np.sort(often)
        place = np.full(len(cells) + 1, len(often), np.int32)
        place[often] = np.arange(len(often))
        kept: Categories | Floats = cells.take(often)
        codes = np.where(present, place[np.where(present, code, 0)], len(often) + 1)
        size = len(often) + 1
    elif cells is not None and isinstance(data, Dense):
        x = data.column(0).astype(np.float64)
        kept = _cuts(x[present])
        codes = np.where(present, np.searchsorted(kept, np.where(present, x, 0.0), side="right"), len(kept) + 1)
        size = len(kept) + 1
    else:
        return _Bins(None, np.full(n, -1, np.int32), 0)
    return _Bins(kept, codes.astype(np.int32), size + 1)


def _cuts(x: Floats) -> Floats:
    """Return the bounds of bins that hold about as many of the values each."""
    if not len(x):
        return np.zeros(0)
    ordered = np.sort(x)
    bounds = ordered[np.arange(1, _BINS) * len(x) // _BINS]
    return np.unique(bounds[bounds > ordered[0]])


def _some_columns(n: int, columns: int) -> npt.NDArray[np.bool_]:  # (n, F)
    """Return which columns each row keeps when some are dropped: any number of them, the same for the same n and F."""
    draws = np.random.Generator(np.random.PCG64(0)).random((n, columns + 1))
    rank = np.argsort(np.argsort(draws[:, 1:], axis=1), axis=1)
    return np.asarray(rank < 1 + np.floor(draws[:, :1] * columns))


def _missing_of(
    u: int,
    rows: Floats,
    share: Floats,
    present: npt.NDArray[np.bool_],
    classes: ClassCodes,
    weights: RowWeights,
) -> _Missing:
    """Return what missing values of column u tell, given the rows of each class and the share that lacks a value."""
    nothing = np.zeros(2, np.intp)
    level = Level(np.stack([rows * (1 - share), rows * share]), nothing, rows[None], nothing[:1])
    value = np.where(present, 0, 1)
    terms = level.log_ratios_without(value, classes, 1.0 if weights is None else weights)
    return _Missing(u, level.log_ratios(), np.ascontiguousarray(terms.T))
