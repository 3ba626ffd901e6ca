"""Rows as the kernels take them: real columns, coded columns, sparse rows, or texts.

Data is copied only where it must be: a NumPy matrix stays that matrix, Arrow columns stay their buffers. Missing is
NaN in `Dense` and −1 in `Codes`; `Sparse` has no missing values, an absent entry is a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels
from tallybayes.cached_property import cached_property
from tallybayes.categories import Categories

__all__ = ["Codes", "Data", "Dense", "Encoded", "Sparse", "Texts"]

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.integer | np.floating | np.bool_]
Value: TypeAlias = Hashable  # of a column, as a user writes it: text, number, date, ...


@dataclass(frozen=True)
class Dense:
    """Real columns: one row-major matrix, or a sequence of one-dimensional arrays."""

    columns: npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]  # (n, F) or F × (n,)

    def __len__(self) -> int:
        return len(self.columns) if isinstance(self.columns, np.ndarray) else len(self.columns[0])

    @property
    def width(self) -> int:
        """F, the number of columns."""
        return self.columns.shape[1] if isinstance(self.columns, np.ndarray) else len(self.columns)

    def column(self, f: int) -> npt.NDArray[Any]:  # (n,)
        """Return one column, not copied."""
        return self.columns[:, f] if isinstance(self.columns, np.ndarray) else self.columns[f]

    def some(self, at: slice) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]:
        """Return some columns, not copied."""
        return self.columns[:, at] if isinstance(self.columns, np.ndarray) else self.columns[at]

    def each(self) -> Iterator[Floats]:
        """Yield the columns as float64."""
        for f in range(self.width):
            yield self.column(f).astype(np.float64, copy=False)

    def map(self, function: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Dense:
        """Return the columns with a function applied to every element."""
        if isinstance(self.columns, np.ndarray):
            return Dense(function(self.columns))
        return Dense(tuple(function(column) for column in self.columns))

    def take(self, index: npt.NDArray[np.intp]) -> Dense:
        """Return some of the rows, copied."""
        return self.map(lambda column: column.take(index, axis=0))

    @cached_property
    def cells(self) -> dict[int, tuple[object, npt.NDArray[np.uint8]]]:
        """The cells of the values, kept by those who look for them: scores and explanations ask for the same."""
        return {}

    @cached_property
    def all_finite(self) -> bool:
        """Whether no value is missing or infinite: asked first, it spares most rows the masks below."""
        if isinstance(self.columns, np.ndarray):
            return bool(np.isfinite(self.columns).all())
        return all(np.isfinite(column).all() for column in self.columns)

    def absent(self) -> npt.NDArray[np.bool_] | None:  # (n, F)
        """Return the mask of missing values; None if there are none."""
        if self.all_finite:
            return None
        mask = np.isnan(self.columns) if isinstance(self.columns, np.ndarray) else None
        if mask is None:
            mask = np.stack([np.isnan(column) for column in self.columns], axis=1)
        return mask if mask.any() else None

    def infinite(self) -> npt.NDArray[np.bool_] | None:  # (n,)
        """Return which rows have an infinite value; None if there are none."""
        if self.all_finite:
            return None
        columns = self.columns if isinstance(self.columns, tuple) else (self.columns,)
        masks = [mask.reshape(len(self), -1).any(axis=1) for column in columns if (mask := np.isinf(column)).any()]
        return np.logical_or.reduce(masks) if masks else None

    def first(self) -> Floats:  # (F,)
        """Return the first row."""
        row = self.columns[0] if isinstance(self.columns, np.ndarray) else [column[0] for column in self.columns]
        return np.asarray(row, np.float64)

    def matrix(self) -> Floats:  # (n, F)
        """Return the columns as one float64 matrix."""
        if isinstance(self.columns, np.ndarray):
            return self.columns.astype(np.float64, copy=False)
        return np.column_stack([column.astype(np.float64, copy=False) for column in self.columns])


@dataclass(frozen=True)
class Codes:
    """Columns of small whole numbers, each naming a value by its place in a table.

    A code v of column f stands for table row ``offsets[f] + v − low``. A code beyond its column's part of the table is
    missing (``outside="skip"``) or a value never seen (``outside="last"``, the part's last row).
    """

    columns: npt.NDArray[Any] | tuple[npt.NDArray[Any], ...]  # (n, F) or F × (n,)
    sizes: npt.NDArray[np.int64]  # (F,) the number of table rows of each column
    labels: tuple[Categories, ...]  # (F,) the values of the table rows
    low: int = 0
    outside: Literal["skip", "last"] = "skip"
    rows: npt.NDArray[np.intp] | None = None  # (Σ sizes,) each row's index in the model's table, if not its own
    settle: Callable[[], Codes] | None = None  # where low and sizes are a guess from the first rows: recode by all rows

    def __len__(self) -> int:
        return len(self.columns) if isinstance(self.columns, np.ndarray) else len(self.columns[0])

    def column(self, f: int) -> npt.NDArray[np.integer[Any]]:  # (n,)
        """Return one column, not copied."""
        return self.columns[:, f] if isinstance(self.columns, np.ndarray) else self.columns[f]

    def of_column(self, f: int, rows: slice) -> npt.NDArray[np.intp]:
        """Return some rows of a column as positions among its labels: past the last if unseen, −1 if missing."""
        code = self.column(f)[rows].astype(np.intp) - self.low
        if self.rows is None:
            return code
        size, (starts, slots) = int(self.sizes[f]), self._starts
        code = np.where((code < 0) | (code >= size), size - 1, code)
        return np.asarray(self.rows[starts[f] + code] - slots[f])

    def positions(self) -> npt.NDArray[np.intp] | None:  # (Σ sizes,)
        """Return the position among its column's labels of each code, past the last if unseen; None if codes are."""
        return None if self.rows is None else np.asarray(self.rows - np.repeat(self._starts[1], self.sizes))

    @cached_property
    def _starts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:  # (F,) each
        """Each column's first table row here, and in the model's table."""
        slots = self._lengths + 1
        return np.cumsum(self.sizes) - self.sizes, np.cumsum(slots) - slots

    def absent(self) -> npt.NDArray[np.bool_] | None:  # (n, F)
        """Return the mask of missing values; None if there are none."""
        if self.outside == "last":
            return None
        if isinstance(self.columns, np.ndarray):
            mask = self._beyond(self.columns, self.sizes)
        else:
            mask = np.stack([self._beyond(*one) for one in zip(self.columns, self.sizes, strict=True)], axis=1)
        return mask if mask.any() else None

    def labelled(self) -> npt.NDArray[np.int64]:  # (n,)
        """Return how many values of each row have a label: neither missing nor never seen."""
        total = np.zeros(len(self), np.int64)
        if self.rows is not None:  # in one pass over the rows, as hashes are added up
            slots, lengths = np.repeat(self._starts[1], self.sizes), np.repeat(self._lengths, self.sizes)
            known = (self.rows >= slots) & (self.rows < slots + lengths)
            kernels.hash_codes(self.columns, known.astype(np.int64), self.sizes, total, low=self.low)
        elif isinstance(self.columns, np.ndarray):
            total += len(self.labels) - self._beyond(self.columns, self._lengths).sum(axis=1)
        else:
            for column, length in zip(self.columns, self._lengths, strict=True):
                total += ~self._beyond(column, length)
        return total

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int64]:  # (F,)
        return np.array([len(labels) for labels in self.labels], np.int64)

    def _beyond(self, codes: npt.NDArray[Any], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return np.asarray((codes < self.low) | (codes >= self.low + sizes))

    def first(self) -> npt.NDArray[np.intp]:  # (F,)
        """Return the first row as positions among the labels: past the last if unseen, −1 if missing."""
        row = self.columns[0] if isinstance(self.columns, np.ndarray) else np.array([c[0] for c in self.columns])
        code = row.astype(np.intp) - self.low
        if self.rows is None:
            return code
        starts, slots = self._starts
        code = np.where((code < 0) | (code >= self.sizes), self.sizes - 1, code)
        return np.asarray(self.rows[starts + code] - slots)

    def table(self, table: Floats) -> Floats:
        """Return the model's table in the order in which these codes index it."""
        return table if self.rows is None else table[self.rows]


@dataclass(frozen=True)
class Sparse:
    """Compressed sparse rows; `indptr` may begin anywhere, as in a slice."""

    indptr: npt.NDArray[Any]  # (n + 1,)
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]
    width: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def parts(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the three arrays, in the order the kernels take them."""
        small = self.data.dtype.kind in "biu" and self.data.dtype.itemsize < 4  # booleans, which no kernel takes
        data = self.data.astype(np.int32) if small else self.data
        return self.indptr, self.indices, data

    def entries(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return row, column and value of every stored entry."""
        start, stop = int(self.indptr[0]), int(self.indptr[-1])
        row, column = np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.indices[start:stop]
        outside = np.flatnonzero((column < 0) | (column >= self.width))  # NumPy would count from the end
        if len(outside):
            raise kernels.BadIndex(int(row[outside[0]]), int(column[outside[0]]))
        return row, column, self.data[start:stop]

    def rows(self, rows: slice) -> Sparse:
        """Return a slice of the rows, from its start to its stop."""
        return Sparse(self.indptr[rows.start : rows.stop + 1], self.indices, self.data, self.width)

    def absent(self) -> None:
        """Return None: an absent entry is a zero, not a missing value."""

    def first(self) -> Sparse:
        """Return the first row alone."""
        return Sparse(self.indptr[:2], self.indices, self.data, self.width)

    def dense(self) -> Dense:
        """Return the rows with the zeros written out."""
        matrix = np.zeros((len(self), self.width))
        row, column, value = self.entries()
        np.add.at(matrix, (row, column), value)
        return Dense(matrix)


@dataclass(frozen=True)
class Texts:
    """Columns of text, as Arrow string arrays; missing is null."""

    columns: tuple[pa.Array, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def absent(self) -> npt.NDArray[np.bool_] | None:  # (n, F)
        """Return the mask of missing texts; None if there are none."""
        if not any(column.null_count for column in self.columns):
            return None
        return np.stack([column.is_null().to_numpy(zero_copy_only=False) for column in self.columns], axis=1)


Encoded: TypeAlias = Dense | Codes | Sparse | Texts


def as_number(value: Value) -> float:
    """Return a value of a column of numbers."""
    return float(cast("float", value))


def real_columns(data: Encoded) -> Iterator[Floats]:
    """Yield the columns of dense rows as float64."""
    if not isinstance(data, Dense):
        raise TypeError(f"wanted dense rows, got {type(data).__name__}: the event model needs a method of its own")
    return data.each()


if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    # What an event model takes, and the likelihood it estimates: `Event[Dense]` takes real columns. `Event` alone takes
    # whatever the encoder made of its columns, by `Event.input`.
    Data = TypeVarWithDefault("Data", bound=Encoded, contravariant=True, default=Encoded)
else:
    Data = TypeVar("Data", contravariant=True)
