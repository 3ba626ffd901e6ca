"""Counts that threads carry from batch to batch, and merge once at the end.

For columns of numbers, to begin, to finish and to merge the counts of a batch takes as long as to count 30,000 of its
rows. Sums are plain sums over the rows, so it does not matter which thread has counted which of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from tallybayes.categories import Categories
from tallybayes.engines import in_threads
from tallybayes.events.cell_hashes import CellHashes
from tallybayes.events.event import ClassCodes, RowCounter
from tallybayes.events.inputs import Encoded
from tallybayes.events.statistic import Statistic
from tallybayes.evidence.evidence import Evidence
from tallybayes.exact.array import Exact
from tallybayes.schema.schema import Schema

__all__ = ["Carried"]

_MOST_ROWS = (1 << 32) - 1  # that a counter may hold


@dataclass
class _Held:
    """A counter of one block, and what it has counted so far."""

    labels: Categories  # the classes that its codes stand for
    counter: RowCounter
    rows: npt.NDArray[np.int64]  # (C,)


class Carried:
    """Counters of blocks, each of which one thread uses at a time.

    Parameters
    ----------
    schema : Schema
        The type of each column; rows have no weights.
    """

    def __init__(self, schema: Schema) -> None:
        self._alone = [replace(schema, blocks=(block,)) for block in schema.blocks]
        self._idle: list[list[_Held]] = [[] for _ in schema.blocks]
        self._done: list[list[Evidence]] = [[] for _ in schema.blocks]

    def add(
        self, k: int, data: Encoded, classes: ClassCodes, labels: Categories, totals: Exact, hashes: CellHashes | None
    ) -> bool:
        """Count and hash rows of a block; return False if that has to be done at once.

        Parameters
        ----------
        k : int
            The number of the block.
        data : Encoded
            Its columns.
        classes, labels
            The code of each row's class, and the classes that codes stand for.
        totals : Exact, shape (C,)
            The number of rows of each class.
        hashes : CellHashes, optional
            Where the cells' hashes go.
        """
        held = self._take(k, labels, len(classes))
        if held is None:
            return False
        rows = totals.to_float().astype(np.int64)
        if held.labels == labels:
            held.rows += rows
        else:
            places = held.labels.find(labels.array)
            held.rows[places] += rows
            classes = places.astype(np.int32)[classes]
        held.counter.add(data, classes, hashes)
        self._idle[k].append(held)
        return True

    def _take(self, k: int, labels: Categories, n: int) -> _Held | None:
        """Return a counter for rows of these classes, or None; nobody else has it meanwhile."""
        try:
            held = self._idle[k].pop()
        except IndexError:
            return self._new(k, labels)
        union = held.labels | labels
        if union == held.labels and held.rows.sum() + n <= _MOST_ROWS:
            return held
        self._done[k].append(self._finish(k, held))
        return self._new(k, union)

    def _new(self, k: int, labels: Categories) -> _Held | None:
        [block] = self._alone[k].blocks
        counter = block.event.counter(len(block.columns), len(labels))
        return None if counter is None else _Held(labels, counter, np.zeros(len(labels), np.int64))

    def _finish(self, k: int, held: _Held) -> Evidence:
        """Return the sums of a block, as if they were of no rows: those are counted with the other blocks."""
        [block], none = self._alone[k].blocks, Exact.zeros((len(held.labels),))
        counted = Statistic.of_counted(block.event.sums, Exact.from_counts(held.rows), *held.counter.finish())
        return Evidence(self._alone[k], held.labels, none, (replace(counted, rows=none),))

    def complete(self, evidence: Evidence, threads: int) -> Evidence:
        """Return the evidence of rows with the sums that were carried."""
        left = [(k, held) for k, idle in enumerate(self._idle) for held in idle]
        for (k, _), sums in zip(left, in_threads(left, self._finish, threads), strict=True):
            self._done[k].append(sums)
        statistics = list(evidence.statistics)
        for k, done in enumerate(self._done):
            if done:
                whole = Evidence(self._alone[k], evidence.classes, evidence.rows, (statistics[k],))
                [statistics[k]] = reduce(add, [*done, whole]).without_empty_classes().statistics
        return replace(evidence, statistics=tuple(statistics))
