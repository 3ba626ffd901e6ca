"""Categories: the sorted distinct values of the label, or of a categorical column.

Because they are sorted and unique, two models that have seen the same values have them in the same order. Values may
be text, whole numbers, booleans, dates, times or real numbers (NumPy users hold classes in float arrays); all values
of one column are of one kind. A null comes last, where missing is declared a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.errors import BadData, CannotMerge, wanted
from tallybayes.kernels.text import merge_vocabularies

__all__ = ["Categories", "encode", "kind", "plain", "plain_types"]

_TIME = pa.timestamp("us")
_KINDS = {
    "text": pa.string(),
    "whole numbers": pa.int64(),
    "booleans": pa.bool_(),
    "dates": pa.date32(),
    "times": _TIME,
    "numbers": pa.float64(),
    "nothing": pa.null(),
}
# Largest minus smallest value: integer columns with a smaller span are encoded by table, which is faster than hashing.
_TABLE_SPAN = 1 << 16

Codes = npt.NDArray[np.int32]


class Categories:
    """Sorted, unique values of one kind.

    Examples
    --------
    >>> Categories.of(["no", "yes", "no"]).values
    ('no', 'yes')
    >>> Categories.of(["no"]) | Categories.of(["maybe"])
    Categories('maybe', 'no')
    """

    def __init__(self, array: pa.Array) -> None:
        # An empty array, or nulls alone, has no kind of its own and merges with values of any kind.
        self.array = array if array.null_count < len(array) else pa.nulls(len(array))

    @classmethod
    def empty(cls) -> Self:
        """Return no values."""
        return cls(pa.nulls(0))

    @classmethod
    def of(cls, values: Iterable[Any] | pa.Array) -> Self:
        """Return the distinct values, sorted; a null comes last."""
        array = plain(values if isinstance(values, pa.Array) else pa.array(list(values)))
        unique = pc.unique(array)
        if isinstance(unique, pa.DictionaryArray):
            unique = unique.dictionary_decode()
        return cls(unique.take(pc.sort_indices(unique)))

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """The values as Python objects."""
        return tuple(self.array.to_pylist())

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each value."""
        return {value: position for position, value in enumerate(self.values)}

    @cached_property
    def kind(self) -> str:
        """The kind of the values, in words."""
        return kind(self.array.type)

    def __len__(self) -> int:
        return len(self.array)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        return self is other or bool(self.array.equals(other.array))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Categories({', '.join(map(repr, self.values))})"

    def __or__(self, other: Categories) -> Categories:
        if self == other or len(other) == 0:
            return self
        if len(self) == 0:
            return other
        kinds = {side.array.type for side in (self, other)} - {pa.null()}
        if len(kinds) > 1:
            left, right = f"{self.kind} (such as {self.values[0]!r})", f"{other.kind} (such as {other.values[0]!r})"
            raise CannotMerge(wanted("labels", f"all of one kind, {left}", right, "Give both the same type"))
        [type_] = kinds
        return Categories.of(pa.concat_arrays([self.array.cast(type_), other.array.cast(type_)]))

    def join(self, other: Categories) -> tuple[Categories, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the union, and the positions in it of the values of each side.

        Examples
        --------
        >>> union, mine, theirs = Categories.of(["no", "yes"]).join(Categories.of(["maybe", "no"]))
        >>> union, mine.tolist(), theirs.tolist()
        (Categories('maybe', 'no', 'yes'), [1, 2], [0, 1])
        """
        if all(pa.types.is_string(side.array.type) and not side.array.null_count for side in (self, other)):
            union, mine, theirs = merge_vocabularies(self.array, other.array)  # one pass; `|` sorts
            return Categories(union), mine.astype(np.intp, copy=False), theirs.astype(np.intp, copy=False)
        both = self | other
        return both, both.find(self.array), both.find(other.array)

    @staticmethod
    def join_all(
        mine: Sequence[Categories], theirs: Sequence[Categories]
    ) -> tuple[tuple[Categories, ...], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the union for each column, and the places of each side's values among those of all columns."""
        joined = [left.join(right) for left, right in zip(mine, theirs, strict=True)]
        starts = np.cumsum([0, *(len(both) for both, _, _ in joined)])
        left, right = (
            np.concatenate([start + places[side] for start, places in zip(starts, joined, strict=False)])
            for side in (1, 2)
        )
        return tuple(both for both, _, _ in joined), left, right

    def find(self, values: pa.Array, *, where: str = "labels") -> npt.NDArray[np.intp]:
        """Return the position of each value, −1 if it is not one of the categories.

        Examples
        --------
        >>> Categories.of(["no", "yes"]).find(pa.array(["yes", "perhaps"]))
        array([ 1, -1])
        """
        values = plain(values)
        if len(self) == 0 or len(values) == 0 or pa.types.is_null(values.type):
            hits = self.array.null_count and len(values)
            return np.full(len(values), len(self) - 1 if hits else -1, np.intp)
        if values.type != self.array.type:
            values = _as_kind(values, self.array.type, where)
        found = pc.index_in(values, value_set=self.array)
        return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), np.intp)

    def take(self, index: npt.NDArray[Any]) -> Categories:
        """Return the categories at the given (rising) positions, or where a mask is true."""
        index = np.flatnonzero(index) if index.dtype == bool else index
        return self if len(index) == len(self) else Categories(self.array.take(pa.array(index)))

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return an array whose elements compare with ``==`` to the user's values."""
        if pa.types.is_string(self.array.type):
            return np.array(self.values, dtype=object if None in self.values else str)
        return np.asarray(self.array.to_numpy(zero_copy_only=False))


def kind(type_: pa.DataType) -> str:
    """Return the kind of values that an Arrow type holds, in words."""
    return next((name for name, plain_type in _KINDS.items() if plain_type == type_), str(type_))


def plain_types() -> dict[str, pa.DataType]:
    """Return the Arrow type used for each kind of value."""
    return dict(_KINDS)


def plain(array: pa.Array) -> pa.Array:
    """Cast values to the Arrow type of their kind: text, int64, bool, date, time, float64.

    A dictionary array stays one, with its values cast.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    type_ = array.type
    if pa.types.is_dictionary(type_):
        values = plain(array.dictionary)
        return array if values is array.dictionary else pa.DictionaryArray.from_arrays(array.indices, values)
    target = _plain_type(type_)
    return array if target == type_ else array.cast(target)


def _plain_type(type_: pa.DataType) -> pa.DataType:
    is_ = pa.types
    if is_.is_null(type_):
        return type_
    if is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_):
        return pa.string()
    if is_.is_integer(type_):
        return pa.int64()
    if is_.is_boolean(type_):
        return type_
    if is_.is_date(type_):
        return pa.date32()
    if is_.is_timestamp(type_):
        return _TIME
    if is_.is_floating(type_) or is_.is_decimal(type_):
        return pa.float64()
    raise BadData(wanted("labels", "text, numbers, booleans or dates", str(type_), "Convert the column first"))


def _as_kind(values: pa.Array, type_: pa.DataType, where: str) -> pa.Array:
    """Cast values to the categories' type where nothing is lost (3 and 3.0 are equal)."""
    numeric = (pa.int64(), pa.float64(), pa.bool_())
    inner = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if inner == type_:
        return values.dictionary_decode()
    if inner in numeric and type_ in numeric:
        if inner == pa.float64() and type_ != inner:
            # 2.5 is not a whole number: that is an unseen value, not an error.
            whole = pc.equal(values, pc.round(values))
            values = pc.if_else(whole, values, pa.scalar(None, inner))
        return values.cast(pa.int64()).cast(type_) if type_ == pa.bool_() else values.cast(type_)
    first = next((v for v in values.to_pylist() if v is not None), None)
    raise BadData(wanted(where, f"{kind(type_)} as in training", f"{kind(inner)} (first: {first!r})"))


def encode(array: pa.Array, *, null_is_label: bool = False) -> tuple[Codes, Categories]:
    """Encode each value as its position among the array's distinct values.

    Parameters
    ----------
    array : pyarrow.Array
        Values of any kind that categories can have.
    null_is_label : bool
        Whether a null is a category of its own; otherwise its code is −1.

    Examples
    --------
    >>> codes, labels = encode(pa.array(["b", "a", None, "b"]))
    >>> codes, labels
    (array([ 1,  0, -1,  1], dtype=int32), Categories('a', 'b'))
    """
    array = plain(array)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_integer(array.type) and array.null_count == 0 and len(array):
        by_table = _encode_small_integers(array.to_numpy())
        if by_table is not None:
            return by_table
    if pa.types.is_null(array.type):
        return np.full(len(array), 0 if null_is_label else -1, np.int32), Categories(array[: bool(null_is_label)])
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = coded.indices.fill_null(-1) if coded.indices.null_count else coded.indices
    used = indices.to_numpy().astype(np.int32)
    return _rank(used, coded.dictionary, null_is_label)


def _rank(used: Codes, dictionary: pa.Array, null_is_label: bool) -> tuple[Codes, Categories]:
    """Turn codes into a dictionary into codes into sorted categories.

    The dictionary may have repeated values, nulls, and values that no row has.
    """
    seen = np.zeros(len(dictionary), bool)
    seen[used[used >= 0]] = True
    if pa.types.is_floating(dictionary.type):
        dictionary = pc.if_else(pc.is_nan(dictionary), pa.scalar(None, dictionary.type), dictionary)
    labels = Categories.of(dictionary.filter(pa.array(seen)).drop_null())
    rank = np.full(len(dictionary) + 1, -1, np.int32)  # the last entry is for nulls, whose code is −1
    rank[:-1] = labels.find(dictionary)
    codes = rank[used]
    if null_is_label and (codes < 0).any():
        codes = np.where(codes < 0, np.int32(len(labels)), codes)
        labels = Categories(pa.concat_arrays([labels.array, pa.nulls(1, labels.array.type)]))
    return codes, labels


def _encode_small_integers(values: npt.NDArray[np.int64]) -> tuple[Codes, Categories] | None:
    low = int(values.min())
    if int(values.max()) - low >= _TABLE_SPAN:
        return None
    shifted = values - low if low else values
    seen = np.flatnonzero(np.bincount(shifted))
    codes = np.zeros(int(seen[-1]) + 1, np.int32)
    codes[seen] = np.arange(len(seen), dtype=np.int32)
    return codes[shifted], Categories(pa.array(seen + low, pa.int64()))
