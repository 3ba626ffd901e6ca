"""The rows as they are read for the first time: their classes and weights are noted, and they are kept while few.

What is kept in memory is read once. A larger file is read again for each pass, in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import sources
from tallybayes.categories import Categories, encode
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import class_codes, row_weights
from tallybayes.validation.split import IntCodes

__all__ = ["LocalRows", "Notes", "RecordingSource", "RowInfo", "check_named", "hidden_of"]

# Rows of no more bytes are kept, whatever they come from.
_KEPT_BYTES = 256 << 20
# Of more, so many bytes are in hand at a time.
_PIECE_BYTES = 64 << 20


class Notes:
    """What is noted of rows as they come: their classes, their weights, and what else is asked for.

    Parameters
    ----------
    label, weight : str
        The columns of classes and of weights.
    beside : mapping of str to str
        The columns of groups, folds or order, by what they are.
    """

    def __init__(self, label: str, weight: str | None, beside: Mapping[str, str]) -> None:
        self._label, self._weight, self._beside = label, weight, beside
        self._classes: list[tuple[IntCodes, Categories]] = []
        self._weights: list[Floats] = []
        self._others: dict[str, list[pa.Array]] = {role: [] for role in beside}
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Note the rows of a batch."""
        rows = RowBatch(batch, self._rows)
        self._classes.append(class_codes(rows, self._label))
        weights = row_weights(rows, self._weight)
        if weights is not None:
            self._weights.append(weights)
        for role, name in self._beside.items():
            self._others[role].append(rows.column(name))
        self._rows += batch.num_rows

    def known(self, classes: Categories) -> dict[str, Any]:
        """What `RowInfo` holds, of the rows so far, given the classes that the evidence knows."""
        own = Categories.of([])
        for _, found in self._classes:
            own = own | found
        none = np.zeros(0, np.intp)
        place = [own.find(found.array)[codes] for codes, found in self._classes]
        known = [classes.find(found.array)[codes] for codes, found in self._classes]
        return {
            "strata": np.concatenate([none, *place]).astype(np.int32),
            "classes": np.concatenate([none, *known]).astype(np.int32),
            "found": own,
            "weights": None if self._weight is None else np.concatenate([np.zeros(0), *self._weights]),
            "others": {role: pa.chunked_array(parts).combine_chunks() for role, parts in self._others.items() if parts},
        }


class RecordingSource:
    """A source whose rows are noted as they are read.

    Parameters
    ----------
    source : Source
        The rows.
    label, weight : str
        The columns of classes and of weights.
    beside : mapping of str to str
        The columns of groups, folds or order, by what they are.
    aside : bool
        Whether those are no features: they are then not handed on.
    """

    def __init__(
        self, source: sources.Source, label: str, weight: str | None, beside: Mapping[str, str], *, aside: bool
    ) -> None:
        self._source, self._label, self._weight, self._beside = source, label, weight, dict(beside)
        check_named(source, self._beside)
        hidden = hidden_of(label, weight, beside, aside=aside)
        self._names = [name for name in source.schema.names if name not in hidden]
        self._narrow = bool(hidden)
        fields = pa.schema([source.schema.field(name) for name in self._names])
        self._bare = replace(source, schema=fields, start=self._cut) if hidden else source
        self.source = replace(source, schema=fields, start=self._read)

    def _cut(self) -> Iterator[pa.RecordBatch]:
        return (batch.select(self._names) for batch in self._source)

    def _read(self) -> Iterator[pa.RecordBatch]:
        # Reading may begin more than once (a look at the first rows); what was noted before is then forgotten.
        self._notes = Notes(self._label, self._weight, self._beside)
        self._kept: list[pa.RecordBatch] | None = []
        self._bytes = 0
        for batch in self._source:
            self._notes.add(batch)
            batch = batch.select(self._names) if self._narrow else batch
            self._keep(batch)
            yield batch

    def _keep(self, batch: pa.RecordBatch) -> None:
        if self._kept is None:
            return
        self._kept.append(batch)
        self._bytes += batch.nbytes
        if self._bytes > _KEPT_BYTES and self._source.again:
            self._kept = None

    def kept(self, classes: Categories) -> LocalRows:
        """What was noted, once all rows have been read.

        Parameters
        ----------
        classes : Categories
            The classes that the evidence knows.
        """
        whole = None if self._kept is None else _one(self._kept)
        return LocalRows(**self._notes.known(classes), source=self._bare, whole=whole)


@dataclass(frozen=True)
class RowInfo:
    """What is known of each row.

    Attributes
    ----------
    strata : ndarray of int32, shape (n,)
        The class of each row among all classes found.
    classes : ndarray of int32, shape (n,)
        The class of each row among those of the evidence; −1 for one that has no weight in any row.
    found : Categories
        All classes found.
    weights : ndarray, shape (n,), or None
        The weight of each row.
    others : mapping of str to Array
        Groups, folds and order, as far as given.
    """

    strata: IntCodes
    classes: IntCodes
    found: Categories
    weights: Floats | None
    others: Mapping[str, pa.Array]

    def __len__(self) -> int:
        return len(self.strata)

    def codes(self, role: str) -> tuple[IntCodes, Categories]:
        """Groups or folds as numbers from 0, in the order of their values."""
        codes, labels = encode(self.others[role])
        if (codes < 0).any():
            got = f"a missing one (row {int(np.argmax(codes < 0)) + 1})"
            raise BadData(wanted(role, "a value in every row", got))
        return codes, labels

    def order(self) -> npt.NDArray[np.intp] | None:
        """The rows in the order asked for; None if it is their own."""
        if "order" not in self.others:
            return None
        codes, _ = self.codes("order")
        return np.argsort(codes, kind="stable")


@dataclass(frozen=True)
class LocalRows(RowInfo):
    """Rows that can be gone through again here.

    Attributes
    ----------
    source : Source
        The rows.
    whole : RecordBatch or None
        All of them, where they are few enough.
    """

    source: sources.Source
    whole: pa.RecordBatch | None

    def pieces(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows, piece by piece, and how many came before each."""
        if self.whole is not None:
            yield 0, self.whole
            return
        first = 0
        for batch in self.source:
            size = max(1, batch.num_rows * _PIECE_BYTES // max(1, batch.nbytes))
            for start in range(0, batch.num_rows, size):
                yield first + start, batch.slice(start, size)
            first += batch.num_rows

    def all_kept(self) -> LocalRows:
        """The same rows, all of them in memory."""
        return self if self.whole is not None else replace(self, whole=_one(list(self.source)))


def hidden_of(label: str, weight: str | None, beside: Mapping[str, str], *, aside: bool) -> set[str]:
    """The columns of groups, folds and order that are not handed on, being no features."""
    return set(beside.values()) - {label, *([] if weight is None else [weight])} if aside else set()


def check_named(source: sources.Source, beside: Mapping[str, str]) -> None:
    """Raise unless the columns of groups, folds and order are there."""
    for role, name in beside.items():
        if name not in source.schema.names:
            have = source.schema.names
            raise BadData(wanted(role, f"a column of {source.name}, or an array", repr(name), did_you_mean(name, have)))


def _one(kept: list[pa.RecordBatch]) -> pa.RecordBatch:
    return kept[0] if len(kept) == 1 else pa.concat_batches(kept)
