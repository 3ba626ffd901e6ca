"""Left-out terms of a sample of rows, column by column, and the weights that are fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import engines, kernels
from tallybayes.cached_property import cached_property
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes
from tallybayes.events.event import Weights as RowWeights
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Floats
from tallybayes.events.product import Product
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_hash import Hashes
from tallybayes.inference.block_terms import AddTerms, BlockTerms, PairedTerms, coded_terms
from tallybayes.inference.choices import Choices
from tallybayes.inference.correction_bins import NO_BINS, CorrectionBins
from tallybayes.inference.dropped_columns import DroppedColumns, row_keys
from tallybayes.inference.leave_one_out import prior_without
from tallybayes.inference.missing_terms import MissingTerms
from tallybayes.inference.temperature import own_scores
from tallybayes.inference.terms import FittedWeights, LateTerms, Terms, less_last
from tallybayes.inference.terms_of_block import Again, RowsLeftOut
from tallybayes.inference.weights import ColumnWeight, ColumnWeights, share_of_others

__all__ = ["ColumnTerms"]

_MOST_CORRECTIONS = 20_000  # of all columns and classes: more take longer to fit than to count
# Rows with columns dropped count as a fifth of the whole ones: most rows to be answered are whole. With many rows a
# fifth of them is enough.
_PARTIAL, _MANY_ROWS = 5, 1000
_NO_KEYS = np.zeros(0, np.uint64)
_AT_ONCE = 1 << 20  # terms that are added up in some half a millisecond: to wake a thread takes a tenth of that
_LARGEST = 1e4  # a log of a prior this far below the others is as good as impossible


Places: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ColumnTerms:
    """Left-out terms of rows, and the columns that they belong to.

    Attributes
    ----------
    evidence : Evidence
        The evidence, which includes the rows.
    rows : RowBatch
        The rows.
    columns : tuple of str
        The columns.
    prior : ndarray, shape (n, C)
        The log of the class prior without each row.
    blocks : tuple of BlockTerms
        The log-likelihood of each value without its row, block by block of columns; 0 where it is missing, −∞ is a
        large negative number.
    offset : ndarray, shape (F,)
        The weight of each term before calibration: 1, or 0 for an interaction that has to earn its weight.
    free : ndarray of bool, shape (F,)
        Which interactions are fitted without a penalty.
    made_of : tuple of tuple of int
        The columns that each term is made of: itself, or those of an interaction.
    bins : tuple of CorrectionBins
        The corrections of each column.
    missing : tuple of MissingTerms
        The columns with missing values, and what that tells.
    again : mapping of int to callable
        How to compute a term once more for some rows that keep only some columns (rows, parts), where it is neither as
        it was nor 0: that of all pairs.
    hashes : ndarray of int64, shape (n,), or None
        The hashes of the rows' content, if they are known.
    threads : int
        The number of threads that add up terms; results do not depend on it.
    """

    evidence: Evidence
    rows: RowBatch
    columns: tuple[str, ...]
    prior: Floats
    blocks: tuple[BlockTerms, ...]
    present: npt.NDArray[np.bool_]  # (n, columns that are not made of others)
    offset: Floats
    free: npt.NDArray[np.bool_]
    made_of: tuple[tuple[int, ...], ...]
    bins: tuple[CorrectionBins, ...]
    missing: tuple[MissingTerms, ...] = ()
    again: Mapping[int, Again] = field(default_factory=dict)
    hashes: Hashes | None = None
    threads: int = 1

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
        hashes: Hashes | None = None,
        folds: Folds | None = None,
        threads: int = 1,
    ) -> ColumnTerms:
        """Return the terms of rows that are part of the evidence; `binned` prepares corrections too.

        Hashes are those of `row_hashes` without weights, if they are known. With folds, what event models choose is
        chosen without the fold of each row.
        """
        prior = prior_without(evidence, choices, classes, weights)
        (n, C), schema = prior.shape, evidence.schema
        names = tuple(name for block in schema.blocks for name in block.columns)
        present, offset, free = np.ones((n, len(schema.columns)), bool), np.ones(len(names)), np.zeros(len(names), bool)
        unknown = np.isneginf(prior)
        new = unknown if unknown.any() else None
        left = RowsLeftOut(evidence, choices, rows, classes, weights, binned, new, folds)
        parts = left.blocks(threads)
        for part in parts:
            if part.present is not None:
                present[:, part.terms.columns] = part.present
        made_of: list[tuple[int, ...]] = []
        place = {name: u for u, name in enumerate(names)}
        for block in schema.blocks:
            u = len(made_of)
            if isinstance(block.event, Product):
                offset[u], free[u] = block.event.base, block.event.free
                made_of.append(tuple(place.get(name, -1) for name in block.event.at_weight_one().columns))
            else:
                made_of += [(u + f,) for f in range(len(block.columns))]
        terms, bins = tuple(part.terms for part in parts), tuple(one for part in parts for one in part.bins)
        if sum(one.size for one in bins) * C > _MOST_CORRECTIONS:
            bins = (NO_BINS,) * len(names)
            terms = tuple(block.without_bins() for block in terms)
        missing = tuple(one for part in parts for one in part.missing)
        again = {part.terms.start: part.again for part in parts if part.again is not None}
        given = prior, terms, present, offset, free, tuple(made_of), bins, missing, again
        return cls(evidence, rows, names, *given, hashes, threads)

    def with_products(self, other: ColumnTerms) -> ColumnTerms:
        """Return these terms and those of products, of the same rows."""
        place = {name: u for u, name in enumerate(self.columns)}
        blocks = other.evidence.schema.products
        made_of = [tuple(place[part.column] for part in block.event.parts) for block in blocks]  # type: ignore[attr-defined]
        return replace(
            self,
            columns=self.columns + other.columns,
            blocks=self.blocks + tuple(replace(one, start=one.start + len(self.columns)) for one in other.blocks),
            offset=np.concatenate([self.offset, other.offset]),
            free=np.concatenate([self.free, other.free]),
            made_of=(*self.made_of, *made_of),
            bins=self.bins + other.bins,
        )

    @cached_property
    def terms(self) -> Floats:  # (F, C, n)
        """The terms of each row."""
        return np.concatenate([block.dense() for block in self.blocks])

    @property
    def share(self) -> Floats:  # (n,)
        """The share of the other columns that each row has."""
        return share_of_others(self._n_present.astype(np.float64), self.present.shape[1])

    @cached_property
    def _n_present(self) -> Places:  # (n,)
        """The number of columns that each row has."""
        n, F = self.present.shape
        return np.full(n, F) if self.present.all() else self.present.sum(axis=1)

    def to_fit(self, classes: ClassCodes, weights: RowWeights, *, partial: bool = True, threads: int = 1) -> LateTerms:
        """Return the terms as the fit takes them: of every row, and of some rows with columns dropped.

        Rows to be answered may lack columns at random, which rows to learn from do not: without the second part, what
        a missing value tells in whole rows would be believed of any row.
        """
        n, F = self.present.shape
        each = 1 if n < _MANY_ROWS else _PARTIAL
        keys = row_keys(self.rows, self.evidence.schema, self.hashes) if partial else _NO_KEYS
        dropped = DroppedColumns.of(keys, each, self.present, self.made_of)
        some, absent = dropped.rows, len(self.missing)
        offset = np.concatenate([self.offset, np.zeros(absent)])
        target = np.concatenate([np.where(self._soft, 0.0, 1.0), np.ones(absent)])
        free = np.concatenate([self.free, np.zeros(absent, bool)])
        corrections = np.array([one.size for one in self.bins if one.size], np.int64)
        share = share_of_others(np.concatenate([self._n_present, dropped.left.sum(axis=1)]).astype(np.float64), F)
        own, weight = np.concatenate([classes, classes[some]]), np.ones(n) if weights is None else weights
        weight = np.concatenate([weight, weight[some] * (each / _PARTIAL)])

        def write(rows: slice) -> Terms:
            written = self._of_rows(rows, dropped, threads)
            mine, classes, weights = (np.ascontiguousarray(one[rows]) for one in (share, own, weight))
            kept = dropped.left.mean(axis=1) if rows == slice(None) else None  # few rows are taken with their copies
            return Terms(*written, offset, target, free, corrections, mine, classes, weights, kept, threads)

        return LateTerms(target, share, own, len(self.evidence.classes) - 1, write)

    @cached_property
    def _first_corrections(self) -> npt.NDArray[np.int64]:  # (F,)
        """The number of the first correction of each column."""
        sizes = np.array([one.size for one in self.bins], np.int64)
        return np.cumsum(sizes) - sizes

    def _of_rows(
        self, rows: slice, dropped: DroppedColumns, threads: int
    ) -> tuple[Floats, npt.NDArray[np.float32], npt.NDArray[np.int32], kernels.CodedTerms]:  # (C − 1, k), (T, C − 1, k)
        """Return plain scores, the terms that each row has by itself, their numbers, and the tables of others.

        Whole rows come before those that keep only some columns. Missing values have terms of their own, after all
        others.
        """
        whole, after = _split(rows, len(self.present), len(dropped.rows))
        dropped, plain = dropped.take(after), self.plain_scores[whole].T
        n, U, D = plain.shape[1], len(self.columns), len(plain) - 1
        some, left, k = dropped.rows, dropped.left, n + len(dropped.rows)
        widths = [len(block.columns) if block.by_row else 0 for block in self.blocks]
        ends = np.cumsum([0, *widths]).tolist()
        terms, base = np.empty((ends[-1] + len(self.missing), D, k), np.float32), np.empty((D, k))

        def write(block: BlockTerms, out: npt.NDArray[np.float32]) -> kernels.CodedTerms | None:
            at = np.array(block.columns)
            sizes = np.array([self.bins[u].size for u in block.columns])
            return block.to_fit(whole, dropped, self._first_corrections[at], sizes, out)

        given = [(block, terms[a:b]) for block, a, b in zip(self.blocks, ends, ends[1:], strict=False)]
        tables = list(engines.in_threads(given, write, threads))
        for one, out in zip(self.missing, terms[ends[-1] :], strict=True):
            out[:, :n], out[:, n:] = less_last(one.terms[:, whole]), less_last(one.dropped(some, left[:, one.column]))
        columns = [block.columns for block in self.blocks if block.by_row]
        numbers = np.concatenate([*columns, range(U, U + len(self.missing))]).astype(np.int32)
        for place, term_of in self.again.items():
            terms[numbers == place, :, n:] = less_last(term_of(some, left[:, list(self.made_of[place])]))
        base[:, :n], base[:, n:] = less_last(plain), self._base_of_dropped(dropped, terms[:, :, n:], numbers)
        return base, terms, numbers, coded_terms(tables, k, D)

    def _base_of_dropped(
        self, dropped: DroppedColumns, terms: npt.NDArray[np.float32], numbers: npt.NDArray[np.int32]
    ) -> Floats:  # (C − 1, rows)
        """Return the plain scores of rows that keep only some columns, less the last class's."""
        scores, shared = np.maximum(self.prior[dropped.rows], -_LARGEST), np.ones(len(self.columns), bool)
        shared[numbers[numbers < len(shared)]] = False
        for block in self.blocks:
            if isinstance(block, PairedTerms) and shared[block.start]:
                block.add_scores(block.dropped(dropped), self.offset[block.columns], scores)
        factors = np.concatenate([self.offset, np.zeros(len(self.missing))])[numbers]
        return less_last(scores.T) + kernels.weighted_sum(factors, terms)

    @property
    def _soft(self) -> npt.NDArray[np.bool_]:  # (U,)
        """Which terms are interactions that have to earn their weight."""
        return np.asarray(np.array([len(parts) > 1 for parts in self.made_of]) & (self.offset == 0))

    @cached_property
    def plain_scores(self) -> Floats:  # (n, C)
        """The scores of the rows without weights, each left out; finite."""
        return np.asarray(np.maximum(self.prior, -_LARGEST) + self._total(self.offset))

    def _total(self, factors: Floats) -> Floats:  # (n, C)
        """Return the sum of all terms, each times a factor."""
        return self._sum(lambda block: block.weighted(factors[block.columns]), np.zeros(self.prior.shape[1]))

    def _sum(self, part: Callable[[BlockTerms], AddTerms], start: Floats) -> Floats:  # (n, C)
        """Return numbers of each class plus the terms of each row, which a part of each block adds; on threads."""
        (n, C), out = self.prior.shape, np.empty_like(self.prior)
        threads = self.threads if n * len(self.columns) * C > _AT_ONCE else 1
        parts = list(engines.in_threads([(block,) for block in self.blocks], part, threads))

        def add(rows: slice) -> None:
            out[rows] = start
            for add_terms in parts:
                add_terms(rows, out[rows])

        engines.map_rows(n, add, threads=threads, rows=max(1, -(-n // threads)))
        return out

    def fitted_scores(self, fitted: FittedWeights) -> Floats:  # (n, C)
        """Return the scores of the rows under fitted numbers, each left out; finite."""
        F = len(self.columns)
        scale = fitted.scale[:F] - self.offset

        def part(block: BlockTerms) -> AddTerms:
            at = np.array(block.columns)
            return block.fitted(scale[at], fitted.table, self._first_corrections[at])

        more = self._sum(part, fitted.bias)
        for one, weight in zip(self.missing, fitted.scale[F:], strict=True):
            more += weight * one.terms.T
        return np.asarray(self.plain_scores + (self.share**fitted.fading)[:, None] * more)

    def scores(self, weights: ColumnWeights, corrections: Floats) -> Floats:  # (n, C)
        """Return the calibrated scores of the rows, each left out."""
        more = self._total(weights.of(self.columns, self.offset) - self.offset) + corrections
        return np.asarray(self.prior + self._total(self.offset) + self.share[:, None] ** weights.fading * more)

    def has_class(self, classes: ClassCodes) -> npt.NDArray[np.bool_]:  # (n,)
        """Return which rows have a possible class without themselves."""
        return np.asarray(own_scores(self.plain_scores, classes) > -_LARGEST / 2)

    def of_columns(self, some: npt.NDArray[np.intp], classes: ClassCodes, weights: RowWeights) -> Terms:
        """Return the terms of some columns as the fit takes them, a table for each.

        They are those of the rows as they are.
        """
        terms, sizes = self.terms[some], np.array([self.bins[u].size for u in some], np.int64)
        n, C, total = len(classes), self.prior.shape[1], int(sizes.sum())
        bins = np.full((len(self.columns), n), -1, np.int32)
        for block in self.blocks:
            found = block.bins_of_rows()
            if found is not None:
                bins[block.columns] = found
        none = np.full(len(some), -1, np.int32)
        return Terms(
            less_last(np.maximum(self.prior, -_LARGEST).T + terms.sum(axis=0)),
            (terms[:, :-1] - terms[:, -1:]).astype(np.float32),
            np.arange(len(some), dtype=np.int32),
            kernels.CodedTerms(bins[some], sizes, np.zeros((total, C - 1)), none, np.arange(total, dtype=np.int32)),
            np.ones(len(some)),
            np.ones(len(some)),
            np.zeros(len(some), bool),
            sizes[sizes > 0],
            share_of_others(self.present[:, some].sum(axis=1).astype(np.float64), len(some)),
            classes,
            weights,
        )

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
        return ColumnWeights(self.evidence.classes, columns, bias, fitted.fading)


def _split(rows: slice, n: int, k: int) -> tuple[slice, slice]:
    """Return which of n whole rows, and of k rows after them, a slice of all takes.

    Examples
    --------
    >>> _split(slice(None, None, 4), 10, 7)  # 0, 4, 8, and 12 and 16 of all
    (slice(0, 10, 4), slice(2, 7, 4))
    """
    start, stop, step = rows.indices(n + k)
    after = max(start, start - (start - n) // step * step)
    return slice(start, min(stop, n), step), slice(after - n, max(stop - n, 0), step)
