"""Terms of documents by the counts without their fold, summed by cell of tokens.

A cell depends on counts, and so on the document itself: a token near the edge of two cells would change its cell with
the class of the one document left out, which gives the class away. Without a whole fold, all its documents see the same
cells.

Notation: n documents, C classes, G cells, V tokens, U those of a fold, α the pseudo-count of a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.events.families.dirichlet import log_share
from tallybayes.events.inputs import Floats
from tallybayes.events.text.column import Column
from tallybayes.events.text.token_cells import cells, n_cells, orders
from tallybayes.kernels.cell_sums import sum_cells
from tallybayes.kernels.text import Lookup

if TYPE_CHECKING:
    from tallybayes.events.text.text import Text

__all__ = ["CellTerms", "FoldTerms"]

FOLDS = 10  # the counts without a fold are nine tenths of all or more, near those that new documents meet
_NOTHING = 1e-9  # a smaller share of a count is left by rounding


class CellTerms(NamedTuple):
    """The log-probabilities of documents, summed by cell, and the number of their tokens.

    Cells are the first axis: of many, few are in use, and zeros that are never written take no memory.
    """

    terms: npt.NDArray[np.float32]  # (G, n, C)
    lengths: Floats  # (n,)
    used: npt.NDArray[np.bool_]  # (G,) cells that some document has


class _Entries(NamedTuple):
    """The tokens of a fold's documents, one document after the other."""

    starts: npt.NDArray[np.int64]  # where those of each document begin
    row: npt.NDArray[np.intp]  # position in the fold
    token: npt.NDArray[np.int64]  # position in U
    times: Floats


class FoldTerms:
    """Documents, ready to be scored by the counts without their fold.

    Parameters
    ----------
    event : Text
        The event model: any bag but "bernoulli".
    part : Column
        The sums of all documents, these included.
    texts : pyarrow.Array, length n
        The documents, in an order that does not depend on how they were read: folds are dealt in it, class by class.
    classes : ndarray of int, shape (n,)
        Their classes.
    weights : ndarray, shape (n,), optional
        Their weights.
    """

    def __init__(
        self,
        event: Text,
        part: Column,
        texts: pa.Array,
        classes: npt.NDArray[np.integer],
        weights: Floats | None = None,
    ) -> None:
        self.event, self.part, self.classes = event, part, np.asarray(classes, np.intp)
        self.weights = np.ones(len(classes)) if weights is None else weights
        self.found = Lookup(part.labels.array.cast(pa.string()), event.tokens).vectorise(texts)
        self.fold = np.empty(len(classes), np.intp)
        self.fold[np.argsort(classes, kind="stable")] = np.arange(len(classes)) % FOLDS
        self.counts, self.view = event._counts(part), event._view(part)
        self.documents = part.documents.sum(axis=0)
        self.present = part.present.to_float()
        self.totals = self.counts.columns(np.flatnonzero(self.view)).sum(axis=1).to_float()  # (C,)
        self.orders = orders(part.labels.array, event.ngrams, words=event.analyzer == "word")

    def terms(self, alpha: float) -> CellTerms:
        """Return the terms of all documents under a smoothing above 0."""
        out = self.empty()
        for f in range(FOLDS):
            self.write_fold(f, alpha, out)
        return out

    def empty(self) -> CellTerms:
        """Return room for the terms of all documents, which `write_fold` fills."""
        n, C, G = len(self.classes), len(self.totals), n_cells(self.event.ngrams)
        return CellTerms(np.zeros((G, n, C), np.float32), np.zeros(n), np.zeros(G, bool))

    def write_fold(self, f: int, alpha: float, out: CellTerms) -> None:
        """Write the terms of the documents of one fold; threads may write several folds at a time."""
        rows = np.flatnonzero(self.fold == f)
        if len(rows):
            self._write(rows, alpha, out)

    def _write(self, rows: npt.NDArray[np.intp], alpha: float, out: CellTerms) -> None:
        """Write the terms of some documents by the counts without them."""
        used, (starts, row, token, times) = self._entries(rows)
        own, weight, C = self.classes[rows], self.weights[rows], len(self.totals)
        whole = self.counts.columns(used).to_float().T  # (U, C)
        taken = np.bincount(token * C + own[row], weight[row] * times, minlength=whole.size).reshape(whole.shape)
        left = np.where(whole - taken > _NOTHING * whole, whole - taken, 0.0)
        documents = self.documents.take(used).to_float()
        others = float((self.present - np.bincount(own, weight, minlength=C)).sum())
        kept = self.event._kept(documents - np.bincount(token, weight[row], minlength=len(used)), others)
        kept &= left.any(axis=1)
        before = self.view[used]
        totals = np.maximum(self.totals - whole[before].sum(axis=0), 0.0) + left[kept].sum(axis=0)
        size = int(self.view.sum() - before.sum() + kept.sum())
        seen, sign = left.sum(axis=1), 1.0
        if self.event.bag == "complement":
            left, totals, sign = seen[:, None] - left, totals.sum() - totals, -1.0
        log = sign * log_share(left, totals, alpha, max(size, 1))  # (U, C)
        smooth = self.event.unknown == "smooth"
        log[~kept] = sign * log_share(0.0, totals, alpha, size + 1) if smooth else 0.0
        log -= log.mean(axis=1, keepdims=True)
        seen *= self.present.sum() / max(others, 1.0)
        cell = cells(np.where(kept, self.orders[used], 0), np.where(kept, seen, 0.0), log)
        sum_cells(starts, token, times, log, cell, rows, out.terms)
        out.used[cell] = True
        out.lengths[rows] = np.bincount(row, np.where((kept | smooth)[token], times, 0.0), minlength=len(rows))

    def _entries(self, rows: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], _Entries]:
        """Return the tokens of some documents, and where each is used."""
        first, lengths = self.found.indptr[rows], np.diff(self.found.indptr)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        at = np.repeat(first - starts[:-1], lengths) + np.arange(starts[-1])
        tokens = self.found.indices[at]
        seen = np.zeros(len(self.view), bool)
        seen[tokens] = True
        place = np.cumsum(seen, dtype=np.int64) - 1
        times = np.ones(len(at)) if self.event.bag == "binary" else self.found.data[at].astype(np.float64)
        return np.flatnonzero(seen), _Entries(starts, np.repeat(np.arange(len(rows)), lengths), place[tokens], times)
