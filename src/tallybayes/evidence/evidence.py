"""Evidence: the exact sufficient statistics of rows, all that a model remembers of them.

It holds the weight of each class and one statistic per block of columns, all of them exact sums. Evidence adds (`+`),
subtracts (`−`), has an identity (`Evidence.empty`), and does not depend on the order, batches or threads of counting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from tallybayes.categories import Categories
from tallybayes.display.number_of import number_of
from tallybayes.encoding import few_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.class_totals import class_totals
from tallybayes.events.event import ClassCodes, Weights
from tallybayes.events.inputs import Encoded
from tallybayes.events.statistic import Statistic
from tallybayes.evidence.class_sums import ClassSums
from tallybayes.exact.array import Exact
from tallybayes.schema.schema import Block, Schema
from tallybayes.sources.missing import Markers

if TYPE_CHECKING:
    from tallybayes.evidence.carried import Carried
    from tallybayes.evidence.row_hash import RowHashes

__all__ = [
    "Evidence",
    "class_codes",
    "count",
    "count_classes",
    "count_encoded",
    "count_few",
    "count_rows",
    "no_class",
    "no_sums",
    "row_weights",
]


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(ClassSums):
    """The exact sums of some rows.

    Attributes
    ----------
    schema : Schema
        The type of each column.
    classes : Categories
        The classes seen, sorted.
    rows : Exact, shape (C,)
        The weight of each class.
    statistics : tuple of Statistic
        One per block of the schema.

    Examples
    --------
    >>> import tallybayes as tb
    >>> a = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y").evidence
    >>> b = tb.fit({"x": ["r", "p"], "y": ["maybe", "no"]}, "y").evidence
    >>> (a + b).classes, (a + b) - b == a
    (Categories('maybe', 'no', 'yes'), True)
    """

    schema: Schema
    classes: Categories
    rows: Exact
    statistics: tuple[Statistic, ...]

    def __repr__(self) -> str:
        classes, columns = number_of(len(self.classes), "class"), number_of(len(self.schema.columns), "column")
        rows = number_of(float(self.rows.sum().to_float()), "row")
        return f"<tallybayes.Evidence of {self.schema.label!r}: {classes}, {columns}, {rows}>"

    @classmethod
    def empty(cls, schema: Schema) -> Evidence:
        """Return the evidence of no rows: the identity of `+`."""
        rows = Exact.zeros((0,))
        statistics = tuple(no_sums(block, rows) for block in schema.blocks)
        return cls(schema, Categories(pa.nulls(0)), rows, statistics)

    def _replace(self, classes: Categories, rows: Exact, statistics: tuple[Statistic, ...]) -> Self:
        return replace(self, classes=classes, rows=rows, statistics=statistics)

    def _is_like(self, other: Self) -> bool:
        return self.schema.same_features(other.schema)

    def _conform(self, other: Self) -> Self:
        if other.schema is self.schema:
            return other
        self.schema.check_merges(other.schema)
        return replace(other._in_order_of(self.schema), schema=self.schema)

    def _check(self) -> None:
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            block.event.check(statistic)

    def select(self, columns: Sequence[str]) -> Evidence:
        """Return the evidence of some columns, as if the others had not been counted.

        Examples
        --------
        >>> import tallybayes as tb
        >>> rows = {"x": ["p", "q"], "z": [1.0, 2.0], "y": ["no", "yes"]}
        >>> both, alone = tb.fit(rows, "y"), tb.fit({"z": [1.0, 2.0], "y": ["no", "yes"]}, "y")
        >>> both.evidence.select(["z"]) == alone.evidence
        True
        """
        schema, selected = self.schema.select(columns), set(columns)
        statistics = []
        for block, statistic in zip(self.schema.blocks, self.statistics, strict=True):
            places = [f for f, name in enumerate(block.columns) if name in selected]
            if places:
                statistics.append(statistic.of_columns(np.array(places, np.intp)))
        return Evidence(schema, self.classes, self.rows, tuple(statistics))

    def with_products(self, counted: Evidence) -> Evidence:
        """Return the evidence with that of products.

        They were counted alone, in the same rows or in some of them.
        """
        same = counted._with_classes(self.classes)
        statistics = tuple(replace(one, rows=self.rows) for one in same.statistics)
        return replace(
            self, schema=self.schema.with_products(counted.schema.blocks), statistics=self.statistics + statistics
        )

    def _in_order_of(self, schema: Schema) -> Self:
        """Return the same sums with blocks and columns in the order of an equivalent schema."""
        if self.schema.blocks == schema.blocks:
            return self
        statistics = []
        for block in schema.blocks:
            mine = next(b for b, own in enumerate(self.schema.blocks) if own.event == block.event)
            place = {name: f for f, name in enumerate(self.schema.blocks[mine].columns)}
            statistics.append(self.statistics[mine].of_columns(np.array([place[name] for name in block.columns])))
        return replace(self, schema=schema, statistics=tuple(statistics))


def count(schema: Schema, batch: pa.RecordBatch, first: int = 0) -> Evidence:
    """Count one batch of rows.

    Parameters
    ----------
    schema : Schema
        The type of each column.
    batch : pyarrow.RecordBatch
        The rows, with label and weight among the columns.
    first : int
        The number of rows before these, for messages.
    """
    return count_rows(schema, RowBatch(batch, first, schema.missing))


def count_rows(
    schema: Schema, rows: RowBatch, hashes: RowHashes | None = None, carried: Carried | None = None
) -> Evidence:
    """Count rows whose encoded columns others may reuse, and hash what is read anyway if asked to.

    With `carried`, the sums of some blocks are added to those, and not returned.
    """
    return count_classes(schema, rows, *class_codes(rows, schema.label), hashes, carried)


def count_classes(
    schema: Schema,
    rows: RowBatch,
    classes: ClassCodes,
    labels: Categories,
    hashes: RowHashes | None = None,
    carried: Carried | None = None,
) -> Evidence:
    """Count rows, given the code of each row's class and the classes that codes stand for."""
    weights = row_weights(rows, schema.weight)
    total = class_totals(classes, len(labels), weights)
    statistics = []
    for k, block in enumerate(schema.blocks):
        data = rows.encode(block)
        with rows.refusing(block):
            cells = None if hashes is None else hashes.of(block, data)
            if carried is not None and carried.add(k, data, classes, labels, total, cells):
                statistics.append(no_sums(block, total))
                if hashes is not None:
                    hashes.leave_out(block)
                continue
            counted = None if hashes is None else hashes.count(block, data, classes, len(labels), weights)
            if counted is None:
                counted = block.event.count(data, classes, len(labels), weights)
        statistics.append(Statistic.of_counted(block.event.sums, total, *counted))
    return Evidence(schema, labels, total, tuple(statistics)).without_empty_classes()


def count_few(schema: Schema, rows: Any, among: Categories | None = None) -> Evidence | None:
    """Count a few dicts of plain values without Arrow, or return None if they are not plain enough.

    Rows of a few known classes are counted among these, to be added to sums by them.
    """
    encoded = few_rows.encode_to_count(rows, schema) if schema.weight is None else None
    if encoded is None:
        return None
    return count_encoded(schema, encoded, [row.get(schema.label) for row in rows], among)


def count_encoded(
    schema: Schema, encoded: Sequence[Encoded], classes_of_rows: list[Any], among: Categories | None = None
) -> Evidence | None:
    """Count encoded rows of plain classes; return None if a class is missing, or of another kind."""
    missing = no_class(schema)
    if any(_is_text_in(one, missing) for one in classes_of_rows):
        return None
    known = None if among is None else few_rows.encode_among(classes_of_rows, among)
    found = few_rows.encode_values(classes_of_rows) if known is None else known
    if found is None or (found[0] < 0).any():
        return None
    classes, labels = found
    total = class_totals(classes, len(labels), None)
    pairs = zip(schema.blocks, encoded, strict=True)
    counted = ((block.event, block.event.count(data, classes, len(labels), None)) for block, data in pairs)
    statistics = tuple(Statistic.of_counted(event.sums, total, *found) for event, found in counted)
    return Evidence(schema, labels, total, statistics)


def _is_text_in(value: object, texts: tuple[str, ...]) -> bool:
    """Return whether a value is one of some texts; frames and arrays cannot be compared with a text."""
    return isinstance(value, str) and value in texts


def no_class(schema: Schema) -> tuple[str, ...]:
    """Return the texts that stand for a missing class."""
    return Markers(schema.missing_values, schema.label).of(schema.label)


def no_sums(block: Block, rows: Exact) -> Statistic:
    """Return sums of zero, given the weight of the rows of each class."""
    event, width = block.event, len(block.columns)
    open_axis = any(sum_.axis == "value" for sum_ in event.sums.values())
    sizes = {"column": width, "value": 0}
    sums = {name: Exact.zeros((rows.shape[0], sizes[sum_.axis])) for name, sum_ in event.sums.items()}
    return Statistic(rows, sums, event.sums, (event.labels.empty(),) * width if open_axis else ())


def class_codes(rows: RowBatch, label: str) -> tuple[ClassCodes, Categories]:
    """Return each row's class code, and the classes found."""
    codes, labels = rows.encode_label(label)
    if (codes < 0).any():
        row = rows.first + int(np.argmax(codes < 0)) + 1
        do = "Leave out rows without a class"
        raise BadData(wanted(f"label {label!r}", "a class in every row", f"a missing one (row {row})", do))
    return codes, labels


def row_weights(rows: RowBatch, weight: str | None) -> Weights:
    """Return each row's weight; None where all are 1."""
    if weight is None:
        return None
    array: Any = rows.column(weight)
    try:
        values = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        want = "whole numbers of at most 2^53" if pa.types.is_integer(array.type) else "numbers not below 0"
        got = "larger ones" if pa.types.is_integer(array.type) else str(array.type)
        raise BadData(wanted(f"weight {weight!r}", want, got)) from None
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        got = f"{values[at].item()!r} (row {rows.first + at + 1})"
        raise BadData(wanted(f"weight {weight!r}", "finite numbers not below 0", got))
    return np.ascontiguousarray(values)
