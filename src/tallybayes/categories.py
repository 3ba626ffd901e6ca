"""Names of things that rows can be: the classes, and the values of a categorical column.

Labels are sorted and unique, so two models that have seen the same things name them in the same order. They may be
text, whole numbers, booleans, dates, times or (since NumPy users hold classes in float arrays) real numbers; all of
one column are of one kind. A null stands last where missing is declared a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
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
# A column of integers spanning less than this is numbered by a table, which is faster than hashing.
_TABLE_SPAN = 1 << 16

Codes = npt.NDArray[np.int32]


class Categories:
    """Sorted, unique values of one kind.

    Examples
    --------
    >>> Categories.of(["no", "yes", "no"]).values
    ('no', 'yes')
    >>> Categories.of(["no"]) | Categories.of(["maybe"])
    Labels('maybe', 'no')
    """

    def __init__(self, array: pa.Array) -> None:
        # Nothing is of no kind, and neither is a null alone, which goes with labels of any kind.
        self.array = array if array.null_count < len(array) else pa.nulls(len(array))

    @classmethod
    def of(cls, values: Iterable[Any] | pa.Array) -> Self:
        """The distinct values, in order; a null comes last."""
        array = plain(values if isinstance(values, pa.Array) else pa.array(list(values)))
        unique = pc.unique(array)
        if isinstance(unique, pa.DictionaryArray):
            unique = unique.dictionary_decode()
        return cls(unique.take(pc.sort_indices(unique)))

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """As Python objects."""
        return tuple(self.array.to_pylist())

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The place of each value."""
        return {value: place for place, value in enumerate(self.values)}

    @cached_property
    def kind(self) -> str:
        """What they are, in words."""
        return kind(self.array.type)

    def __len__(self) -> int:
        return len(self.array)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        return self is other or bool(self.array.equals(other.array))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labels({', '.join(map(repr, self.values))})"

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
        """The labels of both, and where in them those of each are.

        Examples
        --------
        >>> union, mine, theirs = Categories.of(["no", "yes"]).join(Categories.of(["maybe", "no"]))
        >>> union, mine.tolist(), theirs.tolist()
        (Labels('maybe', 'no', 'yes'), [1, 2], [0, 1])
        """
        if all(pa.types.is_string(side.array.type) and not side.array.null_count for side in (self, other)):
            union, mine, theirs = merge_vocabularies(self.array, other.array)  # a pass over both, where `|` sorts
            return Categories(union), mine.astype(np.intp, copy=False), theirs.astype(np.intp, copy=False)
        both = self | other
        return both, both.find(self.array), both.find(other.array)

    def find(self, values: pa.Array, *, where: str = "labels") -> npt.NDArray[np.intp]:
        """The position of each value, −1 where it is not among the labels.

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
        """The labels at the given (rising) positions, or where a mask is true."""
        index = np.flatnonzero(index) if index.dtype == bool else index
        return self if len(index) == len(self) else Categories(self.array.take(pa.array(index)))

    def to_numpy(self) -> npt.NDArray[Any]:
        """As an array whose elements compare with ``==`` to what the user gave."""
        if pa.types.is_string(self.array.type):
            return np.array(self.values, dtype=object if None in self.values else str)
        return np.asarray(self.array.to_numpy(zero_copy_only=False))


def kind(type_: pa.DataType) -> str:
    """The kind of label that an Arrow type holds, in words."""
    return next((name for name, known in _KINDS.items() if known == type_), str(type_))


def plain_types() -> dict[str, pa.DataType]:
    """The one Arrow type of each kind of label."""
    return dict(_KINDS)


def plain(array: pa.Array) -> pa.Array:
    """The same values in the one Arrow type of their kind (text, int64, bool, date, time, float64).

    A dictionary stays a dictionary, of plain values.
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
    """Values cast to the kind of the labels where nothing is lost by it (3 and 3.0 are the same label)."""
    numeric = (pa.int64(), pa.float64(), pa.bool_())
    inner = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if inner == type_:
        return values.dictionary_decode()
    if inner in numeric and type_ in numeric:
        if inner == pa.float64() and type_ != inner:
            # 2.5 is no whole number: it is a value never seen, not an error.
            whole = pc.equal(values, pc.round(values))
            values = pc.if_else(whole, values, pa.scalar(None, inner))
        return values.cast(pa.int64()).cast(type_) if type_ == pa.bool_() else values.cast(type_)
    first = next((v for v in values.to_pylist() if v is not None), None)
    raise BadData(wanted(where, f"{kind(type_)} as in training", f"{kind(inner)} (first: {first!r})"))


def encode(array: pa.Array, *, null_is_label: bool = False) -> tuple[Codes, Categories]:
    """Each value's position among the distinct values of this array.

    Parameters
    ----------
    array : pyarrow.Array
        Values of any kind that labels can be.
    null_is_label : bool
        Whether a null is a label of its own; otherwise its code is −1.

    Examples
    --------
    >>> codes, labels = encode(pa.array(["b", "a", None, "b"]))
    >>> codes, labels
    (array([ 1,  0, -1,  1], dtype=int32), Labels('a', 'b'))
    """
    array = plain(array)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if pa.types.is_integer(array.type) and array.null_count == 0 and len(array):
        quick = _encode_small_integers(array.to_numpy())
        if quick is not None:
            return quick
    if pa.types.is_null(array.type):
        return np.full(len(array), 0 if null_is_label else -1, np.int32), Categories(array[: bool(null_is_label)])
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = coded.indices.fill_null(-1) if coded.indices.null_count else coded.indices
    used = indices.to_numpy().astype(np.int32)
    return _rank(used, coded.dictionary, null_is_label)


def _rank(used: Codes, dictionary: pa.Array, null_is_label: bool) -> tuple[Codes, Categories]:
    """Codes into a dictionary (which may repeat, hold nulls or hold values that no row has) as codes into labels."""
    seen = np.zeros(len(dictionary), bool)
    seen[used[used >= 0]] = True
    if pa.types.is_floating(dictionary.type):
        dictionary = pc.if_else(pc.is_nan(dictionary), pa.scalar(None, dictionary.type), dictionary)
    labels = Categories.of(dictionary.filter(pa.array(seen)).drop_null())
    rank = np.full(len(dictionary) + 1, -1, np.int32)  # the last entry is where a null's −1 looks
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
