"""Evidence rebuilt from a header and arrays.

Content that passes the checksum is still rebuilt through the same checks as fresh counts, so forged bytes are refused
like damaged ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, Literal, Never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.buckets import Buckets
from tallybayes.categories import Categories
from tallybayes.encoding.product import is_coded
from tallybayes.errors import BadModelFile
from tallybayes.events import Event, parse
from tallybayes.events.correlation import Correlation
from tallybayes.events.event import as_event
from tallybayes.events.interaction import Interaction, Part
from tallybayes.events.one_dependence import OneDependence
from tallybayes.events.product import Product
from tallybayes.events.statistic import Statistic
from tallybayes.evidence.container import SPARSE, Tensors, require, text
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.serialize import DECLARED, DECLARED_PER_BYTE, code_type, is_sparse
from tallybayes.exact.array import Exact
from tallybayes.exact.sparse import SparseExact, SparsityPattern
from tallybayes.kernels import MOST_BUCKETS
from tallybayes.plain_values import plain, plain_types
from tallybayes.schema.column_names import NumberedNames, names
from tallybayes.schema.schema import Block, Schema
from tallybayes.sources.missing import AUTO
from tallybayes.sources.reading import Reading

__all__ = ["Reader", "get_event"]

# A double spans 2^-1074 to 2^1024 and a weighted square thrice that: no valid sum needs more limbs.
_MOST_LIMBS = 400
# A double's sign and exponent have 12 bits: without the 54 others, a column has at most 1,024 buckets.
_MOST_SHIFT = 55
_ZERO_SUMS = 4  # an event model has three sums at most, and all of them may be zero
# The values of a column are the same in most partitions: cache this many lists of at most this many bytes.
_LISTS, _LIST_BYTES = 4096, 1 << 12
_PRODUCTS: tuple[type[Product[Never]], ...] = (Interaction, Correlation, OneDependence)


class Reader:
    """Rebuilds evidence from header and arrays, trusting none of them."""

    def __init__(self, header: dict[str, Any], tensors: Tensors) -> None:
        self.header, self.tensors = header, tensors
        self.room = max(DECLARED, DECLARED_PER_BYTE * sum(array.nbytes for array in tensors.values()))
        self.zeros = _ZERO_SUMS * self.room  # numbers that all sums without an array may declare together

    def evidence(self) -> Evidence:
        """Return the evidence that `put` was given."""
        header = self.header
        blocks = tuple(Block(get_event(b), self.names(b["columns"])) for b in header["blocks"])
        weight = None if header["weight"] is None else text(header["weight"])
        columns = self.names(header["columns"])
        schema = Schema(text(header["label"]), weight, blocks, columns, header["missing"], *self.texts())
        require(schema.missing in ("skip", "category", "error"), "missing")
        own = [block.columns for block in blocks if not block.event.product]
        require(_divides(schema.columns, own), "columns, each in one block")
        if schema.products:  # terms of many columns are costly to list
            require(len(set(schema.terms)) == len(schema.terms), "columns that differ")
        parts = {p for b in schema.products for p in b.event.parts}  # type: ignore[attr-defined]
        if parts:
            require({part.column for part in parts} <= set(schema.columns), "parts that are columns")
            require(all(is_coded(part) for part in parts if isinstance(part, Part)), "parts with distinct values")
        classes = self.labels("classes", header["classes"])
        rows = self.exact("rows", header["rows"], (len(classes),))
        require(bool(rows.nonzero().all()) and not rows.negative().any(), "class weights above 0")
        statistics = tuple(
            self.statistic(b, block, stored, rows)
            for b, (block, stored) in enumerate(zip(blocks, header["blocks"], strict=True))
        )
        return Evidence(schema, classes, rows, statistics)

    def texts(self) -> tuple[Literal["auto"] | tuple[str, ...], dict[str, Reading]]:
        """Return the texts that stand for a missing value, and the readings of columns."""
        missing = self.header.get("missing_values", ())  # version 0.1 took every text as a value
        stored = self.header.get("readings", {})
        readings = {text(name): Reading(kind, tuple(map(text, options))) for name, (kind, *options) in stored.items()}
        for reading in readings.values():
            require(reading.valid, "readings")
        return (AUTO if missing == AUTO else tuple(map(text, missing))), readings

    def statistic(self, b: int, block: Block, stored: dict[str, Any], rows: Exact) -> Statistic:
        """Return the statistic of a block."""
        declared = block.event.sums
        width = len(block.columns)
        read: Callable[..., Any] = self.buckets if block.event.labels is Buckets else self.labels
        found = tuple(read(f"{b}.labels.{f}", one) for f, one in enumerate(stored["labels"]))
        labelled = any(sum_.axis == "value" for sum_ in declared.values())
        require(len(found) == (width if labelled else 0), "labels for each column")
        sizes = {"column": width, "value": sum(map(len, found))}
        require(set(stored["sums"]) == set(declared), f"sums of {block.event.name}")
        shape = {k: (rows.shape[0], sizes[sum_.axis]) for k, sum_ in declared.items()}
        sums = {k: self.sum(f"{b}.{k}", stored["sums"][k], shape[k], scattered=s.sparse) for k, s in declared.items()}
        statistic = Statistic(rows, sums, declared, found)
        block.event.check(statistic)
        require(statistic.without_unused_values() is statistic, "values that occur")
        return statistic

    def sum(self, name: str, stored: Any, shape: tuple[int, int], *, scattered: bool) -> Exact:
        """Return a sum of a block, stored as a table or sparsely."""
        if not isinstance(stored, dict):
            value = self.exact(name, stored, shape)  # format 1 has tables of any size
            return SparseExact.from_whole(value) if scattered else value
        few = self.sparse(name, stored["sparse"], shape)
        require(is_sparse(few, scattered=scattered), f"{name} as a table")
        return few if scattered else few.whole()

    def sparse(self, name: str, base: Any, shape: tuple[int, int]) -> SparseExact:
        """Return an array of exact numbers that was stored sparsely."""
        n_classes, width = shape
        classes, lengths = self.tensors[name + SPARSE[0]], self.tensors[name + SPARSE[1]]
        code = code_type(n_classes)
        require(classes.dtype == lengths.dtype == code and classes.ndim == 1 and lengths.shape == (width,), name)
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        require(int(starts[-1]) == len(classes) and bool((classes < n_classes).all()), name)
        rises = classes[1:] > classes[:-1]
        first = starts[1:-1]
        rises[first[(first > 0) & (first < len(classes))] - 1] = True  # another column begins
        require(bool(rises.all()), f"{name} sorted and different")
        values = self.exact(name, base, classes.shape)
        require(bool(values.nonzero().all()), f"{name} without zeros")
        return SparseExact(SparsityPattern(starts, classes.astype(np.int32), n_classes), values)

    def exact(self, name: str, base: Any, shape: tuple[int, ...]) -> Exact:
        """Return an array of exact numbers."""
        if base is None:
            require(name not in self.tensors, name)
            self.zeros -= prod(shape)
            require(prod(shape) <= self.room and self.zeros >= 0, f"as many numbers as {name} declares")
            return Exact.zeros(shape)
        stored = self.tensors[name]
        require(stored.dtype == np.uint32 and stored.shape[:-1] == shape and isinstance(base, int), name)
        require(0 < stored.shape[-1] <= _MOST_LIMBS and abs(base) <= _MOST_LIMBS, name)
        limbs = stored.astype(np.int64)
        limbs[..., -1] = stored[..., -1].view(np.int32)
        value = Exact(limbs, base)
        require(value.base == base and value.limbs.shape == limbs.shape, f"{name} in canonical form")
        return value

    def labels(self, name: str, stored: dict[str, Any]) -> Categories:
        """Return the classes, or the values of a column."""
        type_ = plain_types()[stored["kind"]]
        count, null = stored["count"], stored["null"]
        require(isinstance(count, int) and count >= 0 and isinstance(null, bool), name)
        if type_ == pa.string():
            joined, ends = self.tensors[f"{name}.bytes"], self.tensors[f"{name}.ends"]
            require(joined.ndim == ends.ndim == 1, name)
            if joined.nbytes + ends.nbytes <= _LIST_BYTES:
                return _few_texts(joined.tobytes(), joined.dtype.str, ends.tobytes(), ends.dtype.str, count, null)
            array = _get_text(joined, ends)
        elif type_ == pa.null():
            require(count <= 1, name)
            array = pa.nulls(count)
        else:
            values = self.tensors[name]
            require(values.ndim == 1, name)
            array = pa.array(values.astype(bool)) if type_ == pa.bool_() else plain(pa.array(values).cast(type_))
        return _sorted(array, count, null, name)

    def buckets(self, name: str, stored: dict[str, Any]) -> Buckets:
        """Return the buckets of a column of numbers."""
        keys, shift = self.tensors[name], stored["shift"]
        require(isinstance(shift, int) and 0 <= shift < _MOST_SHIFT and (len(keys) > 0 or shift == 0), name)
        require(keys.dtype == np.int64 and keys.ndim == 1 and len(keys) <= MOST_BUCKETS, name)
        require(bool((keys[1:] > keys[:-1]).all()), f"{name} sorted and different")
        require(not (keys & ((1 << shift) - 1)).any(), f"{name} without low bits")
        found = Buckets(keys, shift)
        require(bool(np.isfinite(found.low).all()), f"{name} of finite numbers")
        return found

    def names(self, stored: Any) -> Any:
        """Return names of columns."""
        if isinstance(stored, dict):
            require(isinstance(stored["numbered"], int) and 0 < stored["numbered"] <= self.room, "columns")
            return NumberedNames(stored["numbered"])
        return names(text(one) for one in stored)


def _divides(columns: Sequence[str], blocks: Sequence[Sequence[str]]) -> bool:
    """Return whether each column is in one block; numbered names, which may be millions, are not made."""
    numbered = [block for block in blocks if isinstance(block, NumberedNames)]
    listed = [name for block in blocks if not isinstance(block, NumberedNames) for name in block]
    if len(numbered) > 1 or sum(map(len, numbered)) + len(listed) != len(columns):
        return False  # numbered names all begin with x0
    known = columns if isinstance(columns, NumberedNames) else frozenset(columns)
    first: Sequence[str] = numbered[0] if numbered else ()
    covered = isinstance(columns, NumberedNames) or all(name in known for name in first)
    apart = len(known) == len(columns) and len(set(listed)) == len(listed)
    return covered and apart and all(name in known and name not in first for name in listed)


def get_event(stored: dict[str, Any]) -> Event:
    """Return the event model of a stored block."""
    if "parts" not in stored:
        return parse(stored["event"])
    kind = next((one for one in _PRODUCTS if one.name == stored["event"]), None)
    if kind is None:
        raise BadModelFile("a product of columns")
    return as_event(kind.of(**{name: stored[name] for name in ("parts", "base", "free") if name in stored}))


def _sorted(array: pa.Array, count: int, null: bool, name: str) -> Categories:
    """Return the values as categories; raise unless their number is `count` and they are sorted and distinct."""
    if null and array.type != pa.null():
        array = pa.concat_arrays([array, pa.nulls(1, array.type)])
    require(len(array) == count, name)
    found = Categories(array)
    require(count == 0 or _rises(array, found), f"{name} sorted and different")
    return found


def _rises(array: pa.Array, found: Categories) -> bool:
    """Return whether values are sorted and distinct; texts are compared pair by pair, which is quicker than sorting."""
    if array.type != pa.string() or array.null_count:
        return Categories.of(array) == found
    return len(array) < 2 or bool(pc.all(pc.less(array[:-1], array[1:])).as_py())


@lru_cache(_LISTS)
def _few_texts(joined: bytes, joined_type: str, ends: bytes, ends_type: str, count: int, null: bool) -> Categories:
    array = _get_text(np.frombuffer(joined, joined_type), np.frombuffer(ends, ends_type))
    return _sorted(array, count, null, "labels")


def _get_text(joined: npt.NDArray[Any], ends: npt.NDArray[Any]) -> pa.Array:
    require(joined.dtype == np.uint8 and ends.dtype == np.int64, "text")
    bounds = np.concatenate([np.zeros(1, np.int64), ends])
    require(bool((bounds[1:] >= bounds[:-1]).all()) and int(bounds[-1]) == len(joined), "text")
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(np.ascontiguousarray(joined))]
    array = pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
    array.validate(full=True)  # offsets in order, and text that is UTF-8
    return array.cast(pa.string())
