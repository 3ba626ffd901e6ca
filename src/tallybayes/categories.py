"""Categories: the sorted distinct values of the label, or of a categorical column.

Because they are sorted and unique, two models that have seen the same values have them in the same order. Values may
be text, whole numbers, booleans, dates, times or real numbers (NumPy users hold classes in float arrays); all values
of one column are of one kind. A null comes last, where missing is declared a value of its own.

Every value passes through `plain_values` first, so values that are equal have one form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.cached_property import cached_property
from tallybayes.errors import CannotMerge, wanted
from tallybayes.kernels import count_classes
from tallybayes.kernels.text import merge_vocabularies
from tallybayes.plain_values import as_kind, cast_plain, decoded, kind, outside_range, plain, plain_type, where_lost

__all__ = ["OUTSIDE", "Categories", "encode"]

# The code of a value that the type of its kind cannot hold; −1 is the code of a missing one.
OUTSIDE = -2
# Largest minus smallest value: integer columns with a smaller span are encoded by table, which is faster than hashing.
_TABLE_SPAN = 1 << 16

# Values: a few are looked up among those listed; listing more would take longer than a merge.
_FEW, _LISTED = 64, 256
# Texts are looked up in a dict, made once, where a hash of all for each slice of rows would take longer.
_WORTH, _MOST_LISTED = 4, 1 << 20
_MOST_TABLE = 1 << 22  # whole numbers: 16 MB

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
        unique = pc.unique(decoded(pc.unique(array)))  # a dictionary may repeat a value
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

    def _has_all(self, other: Categories) -> bool:
        """Return whether all values of a few are among these; False where looking them up is no quicker."""
        if len(other) > _FEW or len(self) > _LISTED or other.array.type != self.array.type:
            return False
        return all(value in self.positions for value in other.values)

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
        if self == other or len(other) == 0 or self._has_all(other):
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
        if self._has_all(other):
            places = np.array([self.positions[value] for value in other.values], np.intp)
            return self, np.arange(len(self)), places
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
        values = decoded(values)
        type_, plain = self.array.type, (pa.string(), pa.int64(), pa.bool_())
        if len(values) <= _FEW and len(self) <= _LISTED and values.type == type_ in plain and not values.null_count:
            return np.array([self.positions.get(value, -1) for value in values.to_pylist()], np.intp)
        if len(values) == len(self) and values.type == type_ and values.equals(self.array):  # far quicker than a table
            return np.arange(len(self))
        if len(self) == 0 or values.null_count == len(values):
            hits = self.array.null_count and len(values)
            return np.full(len(values), len(self) - 1 if hits else -1, np.intp)
        like = as_kind(values, self.array.type, where)
        if pa.types.is_string(like.type) and not like.null_count and _WORTH * len(like) < len(self) <= _MOST_LISTED:
            return np.array([self.positions.get(value, -1) for value in like.to_pylist()], np.intp)
        found = pc.fill_null(pc.index_in(like, value_set=self.array), -1)
        if self.array.null_count and like.null_count > values.null_count:  # no null, though it has become one
            found = pc.if_else(pc.and_(like.is_null(), values.is_valid()), -1, found)
        return np.asarray(found.to_numpy(zero_copy_only=False), np.intp)

    def place_integers(self, values: npt.NDArray[np.integer[Any]]) -> Codes | None:
        """Return the position of each whole number, the number of categories for any other; None without a table.

        Examples
        --------
        >>> Categories.of([3, 7]).place_integers(np.array([7, 4, -1, 3]))
        array([1, 2, 2, 0], dtype=int32)
        """
        if self._table is None or values.dtype == np.uint64:
            return None
        low, table = self._table
        # Anything outside is put at the table's last entry, which is for values never seen.
        place = values.astype(np.int64, copy=False) - low
        return table[np.where((place < 0) | (place >= len(table)), len(table) - 1, place)]

    @cached_property
    def _table(self) -> tuple[int, Codes] | None:
        """The lowest value, and the position of each whole number from there on; None where that takes too much."""
        if not len(self) or self.array.type != pa.int64() or self.array.null_count:
            return None
        values = self.array.to_numpy()
        low, span = int(values[0]), int(values[-1]) - int(values[0]) + 1
        if span > _MOST_TABLE or abs(low) > 1 << 62:
            return None
        table = np.full(span + 1, len(values), np.int32)
        table[values - low] = np.arange(len(values), dtype=np.int32)
        return low, table

    def take(self, index: npt.NDArray[Any]) -> Categories:
        """Return the categories at the given (rising) positions, or where a mask is true."""
        index = np.flatnonzero(index) if index.dtype == bool else index
        return self if len(index) == len(self) else Categories(self.array.take(pa.array(index)))

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return an array whose elements compare with ``==`` to the user's values."""
        if pa.types.is_string(self.array.type):
            return np.array(self.values, dtype=object if None in self.values else str)
        return np.asarray(self.array.to_numpy(zero_copy_only=False))


def encode(
    array: pa.Array, *, null_is_label: bool = False, where: str = "labels", first: int = 0, strict: bool = True
) -> tuple[Codes, Categories]:
    """Encode each value as its position among the array's distinct values.

    Parameters
    ----------
    array : pyarrow.Array
        Values of any kind that categories can have.
    null_is_label : bool
        Whether a null is a category of its own; otherwise its code is −1.
    where : str
        The name of the values in messages.
    first : int
        The number of rows before these, for messages.
    strict : bool
        Whether to refuse a value that the type of its kind cannot hold; otherwise its code is `OUTSIDE`.

    Examples
    --------
    >>> codes, labels = encode(pa.array(["b", "a", None, "b"]))
    >>> codes, labels
    (array([ 1,  0, -1,  1], dtype=int32), Categories('a', 'b'))
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_integer(array.type) and array.null_count == 0 and len(array):
        by_table = _encode_small_integers(array.to_numpy())
        if by_table is not None:
            return by_table
    if pa.types.is_null(array.type):
        return np.full(len(array), 0 if null_is_label else -1, np.int32), Categories(array[: bool(null_is_label)])
    if not pa.types.is_dictionary(array.type) and plain_type(array.type) == pa.float64():
        array = array.cast(pa.float64())  # not every decimal can be dictionary-encoded
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = coded.indices.fill_null(-1) if coded.indices.null_count else coded.indices
    used = indices.to_numpy().astype(np.int32)
    dictionary = coded.dictionary
    seen = np.zeros(len(dictionary), bool)
    seen[used[used >= 0]] = True
    values = cast_plain(dictionary, plain_type(dictionary.type))
    lost = where_lost(dictionary, values) & seen
    if strict and lost.any():
        at = int(np.argmax(lost[used] & (used >= 0)))
        raise outside_range(dictionary, int(used[at]), first + at + 1, where)
    return _rank(used, values, seen, lost, null_is_label=null_is_label)


def _rank(
    used: Codes, values: pa.Array, seen: npt.NDArray[np.bool_], lost: npt.NDArray[np.bool_], *, null_is_label: bool
) -> tuple[Codes, Categories]:
    """Turn codes of values into codes of sorted categories.

    The values may be repeated or null, those that no row has are not `seen`, and those `lost` are outside.
    """
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    labels = Categories.of((values if seen.all() else values.filter(pa.array(seen))).drop_null())
    rank = np.full(len(values) + 1, -1, np.int32)  # the last entry is for nulls, whose code is −1
    rank[:-1] = np.where(lost, OUTSIDE, labels.find(values))
    codes = rank[used]
    if null_is_label and (codes == -1).any():
        codes = np.where(codes == -1, np.int32(len(labels)), codes)
        labels = Categories(pa.concat_arrays([labels.array, pa.nulls(1, labels.array.type)]))
    return codes, labels


def _encode_small_integers(values: npt.NDArray[np.integer[Any]]) -> tuple[Codes, Categories] | None:
    low, high = int(values.min()), int(values.max())
    if high - low >= _TABLE_SPAN or high >= 1 << 63:
        return None
    shifted = (values.astype(np.int64, copy=False) - low if low else values).astype(np.int32)
    seen = np.flatnonzero(count_classes(shifted, high - low + 1))
    if len(seen) == high - low + 1:  # each number is its own code
        return shifted, Categories(pa.array(seen + low, pa.int64()))
    codes = np.zeros(int(seen[-1]) + 1, np.int32)
    codes[seen] = np.arange(len(seen), dtype=np.int32)
    return codes[shifted], Categories(pa.array(seen + low, pa.int64()))
