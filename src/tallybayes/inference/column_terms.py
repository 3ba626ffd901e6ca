"""Left-out terms of a sample of rows, column by column, and the weights that are fitted to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes
from tallybayes.events.event import Weights as RowWeights
from tallybayes.events.inputs import Codes, Dense, Encoded, Floats
from tallybayes.events.interaction import Interaction
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import options_for
from tallybayes.inference.fit_weights import FittedWeights, Terms
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.weights import ColumnWeight, ColumnWeights, share_of_others

__all__ = ["ColumnTerms", "at_weight_one", "most_rows"]

_MOST_VALUES = 24  # values of a column with a correction of their own; the rarest share one
_BINS = 16  # of a column of numbers
_MOST_CORRECTIONS = 20_000  # of all columns and classes: more take longer to fit than to count
_MOST_NUMBERS = 1 << 24  # of all terms (128 MB), with interactions: more rows hardly change their weights
_FEWEST_ROWS = 2000
_LARGEST = 1e4  # a term this far below the largest is as good as impossible; beyond, products lose their digits


@dataclass(frozen=True)
class _Bins:
    """The bins of a column's corrections, and the bin of each row; the last of all is that of missing values."""

    cells: Categories | Floats | None
    codes: npt.NDArray[np.int32]  # (n,)
    size: int


@dataclass(frozen=True)
class ColumnTerms:
    """Left-out terms of rows, and the columns that they belong to.

    Attributes
    ----------
    evidence : Evidence
        The evidence, which includes the rows.
    columns : tuple of str
        The columns, and products of them after.
    prior : ndarray, shape (n, C)
        The log of the class prior without each row.
    terms : ndarray, shape (U, C, n)
        The log-likelihood of each value without its row; 0 where it is missing, −∞ is a large negative number.
    offset : ndarray, shape (U,)
        The weight of each term before calibration: 1, or 0 for an interaction that only a fitted weight makes count.
    present : ndarray of bool, shape (n, F)
        Which columns each row has.
    bins : tuple of _Bins
        The corrections of each column.
    """

    evidence: Evidence
    columns: tuple[str, ...]
    prior: Floats
    terms: Floats
    offset: Floats
    present: npt.NDArray[np.bool_]
    bins: tuple[_Bins, ...]

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
        terms, present = np.zeros((len(names), C, n)), np.ones((n, len(evidence.schema.columns)), bool)
        offset = np.ones(len(names))
        bins: list[_Bins] = []
        unknown = np.isneginf(prior)  # a class that only this row had
        for u, name in enumerate(names):
            alone = evidence.select((name,))
            offset[u], alone = at_weight_one(alone)
            left = LeftOutRows(alone, rows, classes, weights).scores(choices)
            with np.errstate(invalid="ignore"):
                term = np.where(unknown, 0.0, left - prior)
            greatest = term.max(axis=1, keepdims=True)
            term -= np.where(np.isfinite(greatest), greatest, 0.0)
            terms[u] = np.maximum(term, -_LARGEST).T
            [block], [statistic] = alone.schema.blocks, alone.statistics
            if block.event.product:
                bins.append(_Bins(None, np.full(n, -1, np.int32), 0))
                continue
            data = rows.encode(block, statistic.labels or None)
            absent = data.absent()
            if absent is not None:
                present[:, u] = ~absent[:, 0]
            if not binned:
                continue
            likelihood = block.event.estimate(statistic, options_for(block, choices))
            bins.append(_bins_of(likelihood.cells(0), data, present[:, u]))
        if sum(one.size for one in bins) * C > _MOST_CORRECTIONS:
            bins = [_Bins(None, np.full(n, -1, np.int32), 0)] * len(names)
        return cls(evidence, names, prior, terms, offset, present, tuple(bins))

    def with_products(self, other: ColumnTerms) -> ColumnTerms:
        """Return these terms and those of products, of the same rows."""
        return replace(
            self,
            columns=self.columns + other.columns,
            terms=np.concatenate([self.terms, other.terms]),
            offset=np.concatenate([self.offset, other.offset]),
            bins=self.bins + other.bins,
        )

    @property
    def share(self) -> Floats:  # (n,)
        """The share of the other columns that each row has."""
        return share_of_others(self.present.sum(axis=1).astype(np.float64), self.present.shape[1])

    def to_fit(self, classes: ClassCodes, weights: RowWeights) -> Terms:
        """Return the terms as the fit takes them."""
        sizes = np.array([one.size for one in self.bins])
        starts = np.cumsum(sizes) - sizes
        tables = [
            np.where(one.codes < 0, -1, one.codes + at) for one, at in zip(self.bins, starts, strict=True) if one.size
        ]
        codes = np.array(tables, np.int32).reshape(len(tables), len(classes))
        prior = np.maximum(self.prior, -_LARGEST).T
        base = prior + self._plain()
        return Terms(base, self.terms, self.offset, codes, int(sizes.sum()), self.share, classes, weights)

    def scores(self, weights: ColumnWeights, corrections: Floats) -> Floats:  # (n, C)
        """Return the calibrated scores of the rows, each left out."""
        scale = weights.of(self.columns)
        more = np.tensordot(scale - self.offset, self.terms, 1).T + corrections
        return np.asarray(self.prior + self._plain().T + self.share[:, None] * more)

    def _plain(self) -> Floats:  # (C, n)
        """Return the sum of the terms that count before calibration."""
        return np.asarray((self.terms if self.offset.all() else self.terms[self.offset > 0]).sum(axis=0))

    def weights(self, fitted: FittedWeights) -> ColumnWeights:
        """Return fitted numbers as the weights of columns."""
        C, at, columns = self.prior.shape[1], 0, {}
        for u, (name, bins) in enumerate(zip(self.columns, self.bins, strict=True)):
            table = fitted.table[at : at + bins.size]
            at += bins.size
            known = 0 if bins.cells is None else len(bins.cells) + 1
            missing = table[known] if bins.size > known else np.zeros(C)
            columns[name] = ColumnWeight(float(fitted.scale[u]), bins.cells, table[:known], missing)
        return ColumnWeights(self.evidence.classes, columns, fitted.bias)


def most_rows(terms: int, n_classes: int) -> int:
    """Return the number of rows whose terms, with interactions among them, fit into memory."""
    return max(_FEWEST_ROWS, _MOST_NUMBERS // max(1, terms * n_classes))


def at_weight_one(evidence: Evidence) -> tuple[float, Evidence]:
    """Return the weight before calibration of one block's columns, and the evidence with a weight of 1."""
    [block] = evidence.schema.blocks
    if not isinstance(block.event, Interaction):
        return 1.0, evidence
    whole = replace(block, event=replace(block.event, base=1.0))
    return block.event.base, replace(evidence, schema=replace(evidence.schema, blocks=(whole,)))


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
    return _Bins(kept, codes.astype(np.int32), size + (not present.all()))


def _cuts(x: Floats) -> Floats:
    """Return the bounds of bins that hold about as many of the values each."""
    if not len(x):
        return np.zeros(0)
    ordered = np.sort(x)
    bounds = ordered[np.arange(1, _BINS) * len(x) // _BINS]
    return np.unique(bounds[bounds > ordered[0]])
