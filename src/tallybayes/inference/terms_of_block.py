"""The left-out terms of a block of columns, wide blocks in pieces that threads can share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallybayes import engines
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.events.event import ClassCodes, LeftOut
from tallybayes.events.event import Weights as RowWeights
from tallybayes.events.folds import Folds
from tallybayes.events.inputs import Encoded, Floats
from tallybayes.events.likelihood import EstimateOptions
from tallybayes.events.product import Product
from tallybayes.events.statistic import Statistic
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.block_terms import BlockTerms, PairedTerms, RowTerms, shifted
from tallybayes.inference.choices import Choices
from tallybayes.inference.correction_bins import NO_BINS, CorrectionBins, bins_of, bins_of_rows
from tallybayes.inference.estimate import options_for
from tallybayes.inference.leave_one_out import LeftOutRows, left_out
from tallybayes.inference.missing_terms import MissingTerms, missing_terms
from tallybayes.schema.column_names import names
from tallybayes.schema.schema import Block

__all__ = ["Again", "RowsLeftOut", "TermsOfBlock"]

# Columns times squared classes of a piece: with ten classes, 25 columns, which take some 15 ms. A piece costs 2 ms.
_PIECE = 2500

Places: TypeAlias = npt.NDArray[np.intp]
Again: TypeAlias = Callable[[Places, npt.NDArray[np.bool_]], Floats]


@dataclass(frozen=True)
class TermsOfBlock:
    """The terms of a block or of a piece of it.

    Attributes
    ----------
    terms : BlockTerms
        The terms.
    bins : list of CorrectionBins
        The corrections of each column.
    present : ndarray of bool, shape (n, F), or None
        Which rows have a value of each column; None if all have.
    missing : list of MissingTerms
        The columns with missing values, and what that tells.
    again : callable, or None
        How to compute the term once more for some rows that keep only some columns.
    """

    terms: BlockTerms
    bins: list[CorrectionBins]
    present: npt.NDArray[np.bool_] | None
    missing: list[MissingTerms]
    again: Again | None


@dataclass(frozen=True)
class RowsLeftOut:
    """Rows to be left out of the evidence that includes them.

    Attributes
    ----------
    evidence : Evidence
        The evidence.
    choices : Choices
        How columns are estimated.
    rows : RowBatch
        The rows.
    classes : ndarray of int32, shape (n,)
        Their classes.
    weights : ndarray, shape (n,), or None
        Their weights.
    binned : bool
        Whether to prepare corrections.
    unknown : ndarray of bool, shape (n, C), or None
        Which class only the row had; None if there is no such row.
    folds : Folds, or None
        The fold of each row, where what event models choose is to be chosen without it.
    """

    evidence: Evidence
    choices: Choices
    rows: RowBatch
    classes: ClassCodes
    weights: RowWeights
    binned: bool
    unknown: npt.NDArray[np.bool_] | None
    folds: Folds | None = None

    def blocks(self, threads: int) -> list[TermsOfBlock]:
        """Return the terms of all blocks, on threads; the pieces do not depend on their number."""
        return list(engines.in_threads(list(self._pieces()), self._of_piece, threads))

    def _pieces(self) -> Iterator[tuple[int, Block, Statistic, Places | None]]:
        """Yield the place of its first column, block and statistic, and which of the columns make up each piece."""
        start, C = 0, len(self.evidence.classes)
        for block, statistic in zip(self.evidence.schema.blocks, self.evidence.statistics, strict=True):
            F = len(block.columns)
            pieces = max(1, min(F, F * C**2 // _PIECE))
            if pieces == 1:
                yield start, block, statistic, None
            else:
                for at in np.array_split(np.arange(F), pieces):
                    yield start, block, statistic, at
            start += F

    def _of_piece(self, start: int, block: Block, statistic: Statistic, at: Places | None) -> TermsOfBlock:
        if at is None:
            return self._of(start, block, statistic)
        some = replace(block, columns=names(block.columns[at[0] : at[-1] + 1]))
        return self._of(start + int(at[0]), some, statistic.of_columns(at))

    def _of(self, start: int, block: Block, statistic: Statistic) -> TermsOfBlock:
        event, options, F = block.event, options_for(block, self.choices), len(block.columns)
        data: Encoded = self.rows.encode(block, statistic.labels or None)
        if isinstance(event, Product):
            event = event.at_weight_one()
        absent = None if event.product else data.absent()
        present = np.ones((len(self.classes), F), bool) if absent is None else ~absent
        left = left_out(event, statistic, data, self.classes, self.weights, self.folds)
        with np.errstate(all="ignore"):  # NaN is refused where terms are shifted
            likelihood = event.estimate(statistic, options) if self.binned and not event.product else None
            bins = [NO_BINS] * F if likelihood is None else bins_of(likelihood, F)
            pairs = None if left.pairs is None or self.unknown is not None else left.pairs(options)
            terms: BlockTerms
            if pairs is not None:
                terms = PairedTerms.of(start, pairs, self.classes, bins)
            else:
                dense, at = np.empty((F, len(self.evidence.classes), len(self.classes))), 0
                for some in self._each(left, options, block):
                    shifted(self._known(some), dense[at : at + len(some)])
                    at += len(some)
                codes = None if likelihood is None else bins_of_rows(bins, likelihood, data, present)
                terms = RowTerms(start, dense, codes)
        again = None
        if isinstance(event, Product) and event.partial:
            again = functools.partial(self._of_kept_parts, event, statistic, data, options)
        missing = list[MissingTerms]()
        if likelihood is not None:
            shares, rows = likelihood.missing(), self.evidence.rows.to_float()
            for f in np.flatnonzero((shares.max(axis=0) > 0) & (shares.min(axis=0) < 1)).tolist():
                given = rows, shares[:, f], present[:, f], self.classes, self.weights
                missing.append(missing_terms(start + f, *given))
        return TermsOfBlock(terms, bins, None if absent is None else present, missing, again)

    def _known(self, term: Floats) -> Floats:
        return term if self.unknown is None else np.where(self.unknown, 0.0, term)

    def _each(self, left: LeftOut, options: EstimateOptions, block: Block) -> Iterator[Floats]:
        """Yield the terms of the columns of a block, some of them at a time, (k, n, C).

        Where it must be, they are made from the evidence of one column alone.
        """
        if left.columns is not None:
            yield from left.columns(options)
        elif len(block.columns) == 1:
            out = np.zeros((len(self.classes), len(self.evidence.classes)))
            left.add(options, out)
            yield out[None]
        else:
            prior = self._scores(())
            for name in block.columns:
                yield (self._scores((name,)) - prior)[None]

    def _scores(self, columns: tuple[str, ...]) -> Floats:  # (n, C)
        some = self.evidence.select(columns)
        return LeftOutRows(some, self.rows, self.classes, self.weights, self.folds).scores(self.choices)

    def _of_kept_parts(
        self,
        event: Product,
        statistic: Statistic,
        data: Encoded,
        options: EstimateOptions,
        some: npt.NDArray[np.intp],
        kept: npt.NDArray[np.bool_],
    ) -> Floats:  # (C, n)
        """Return the left-out terms of some rows that keep only some columns."""
        out = np.zeros((len(some), len(self.evidence.classes)))
        left = event.without_rows_and_parts(statistic, data, self.classes, self.weights, some, kept)
        left.add(options, out)
        return shifted(out)
