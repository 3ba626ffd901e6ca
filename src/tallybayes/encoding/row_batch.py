"""Encode a record batch for event models: the one place where values are checked before counting.

Numbers become float columns with NaN for missing, categories become codes, sparse rows stay sparse. An invalid value
raises an error with the column, the value and the row (rows are counted from 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes import kernels, sources
from tallybayes.categories import OUTSIDE, Categories, encode
from tallybayes.encoding import product
from tallybayes.encoding.array_values import first_text, has_number, in_python
from tallybayes.encoding.direct_codes import direct_codes, guess_codes, signed
from tallybayes.errors import BadData, did_you_mean, wanted
from tallybayes.events import Event
from tallybayes.events.correlation import Correlation
from tallybayes.events.inputs import Codes, Dense, Encoded, Sparse, Texts
from tallybayes.events.interaction import BINS, Interaction, Part
from tallybayes.events.one_dependence import OneDependence
from tallybayes.kernels.text import BadText, BadTokens
from tallybayes.plain_values import kind
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Block, Missing

__all__ = ["RowBatch"]


class RowBatch:
    """A record batch whose columns are found by name, as fields or as columns of a matrix field.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        The rows.
    first : int
        The number of rows before these, for messages.
    missing : {"skip", "category", "error"}
        How to treat a null or NaN.
    partial : bool
        Whether an absent column counts as missing in every row, rather than as an error.
    """

    def __init__(
        self, batch: pa.RecordBatch, first: int = 0, missing: Missing = "skip", *, partial: bool = False
    ) -> None:
        self.batch, self.first, self.missing, self.partial = batch, first, missing, partial
        self._encoded: dict[int, tuple[Block, Encoded]] = {}
        self._members: list[tuple[int, NumberedNames | dict[str, int]]] | None = None
        self._slots: dict[Part, npt.NDArray[np.int32]] = {}
        self._matrices: dict[int, npt.NDArray[Any]] = {}
        self._labels: dict[str, tuple[npt.NDArray[np.int32], Categories]] = {}

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    @property
    def names(self) -> list[str]:
        """The names of all columns, including those of matrices."""
        return [name for field in self.batch.schema for name in _names(field)]

    def encode(self, block: Block, slots: Sequence[Categories] | None = None, *, unseen: str = "smooth") -> Encoded:
        """Return the block's columns as its event takes them.

        Parameters
        ----------
        block : Block
            The columns, and their event.
        slots : sequence of Categories, optional
            The values that codes refer to, one `Categories` per column, for scoring. By default the values found in
            these rows, for counting.
        unseen : {"smooth", "skip", "error"}
            Whether a value outside the slots is refused.
        """
        if slots is not None:
            return self._encode(block, slots, unseen)
        if id(block) not in self._encoded:  # counted rows may be hashed as well
            self._encoded[id(block)] = block, self._encode(block, None, unseen)
        return self._encoded[id(block)][1]

    def encode_label(self, name: str) -> tuple[npt.NDArray[np.int32], Categories]:
        """Return the code of each row's class, −1 where it is missing, and the classes found."""
        if name not in self._labels:  # counted rows may be hashed as well
            self._labels[name] = encode(self.column(name), where=f"label {name!r}", first=self.first)
        return self._labels[name]

    def _encode(self, block: Block, slots: Sequence[Categories] | None, unseen: str) -> Encoded:
        if isinstance(block.event, Interaction):
            parts = [self.slot(part, block.event) for part in block.event.parts]
            return product.join(block.event, parts, counted=slots is None)
        if isinstance(block.event, OneDependence):
            return product.beside(block.event, [self.slot(part, block.event) for part in block.event.parts])
        if isinstance(block.event, Correlation):
            return block.event.scores([self.numbers(name, block.event) for name in block.event.columns])
        field = self._whole(block.columns)
        if block.event.input == "text":
            return Texts(tuple(self._text(name) for name in block.columns))
        if block.event.input == "codes":
            return self._codes(block, field, slots, unseen)
        if field is not None and sources.kind_of(field) == "sparse":
            sparse = Sparse(*sources.sparse_of(self.batch.column(field.name), field))
            if block.event.input == "bag":
                return sparse  # counting checks every entry; scoring takes a negative count as it is
            return self._dense(block, _within(sparse).dense().columns)
        matrix = self._run(block.columns, field)
        if matrix is not None:
            return self._dense(block, matrix)
        return self._dense(block, tuple(self.numbers(name, block.event) for name in block.columns))

    def slot(self, part: Part, event: Event[Never]) -> npt.NDArray[np.int32]:
        """Return the slot of each row in a part, which several interactions may share."""
        if part not in self._slots:
            if part.kind == BINS:
                self._slots[part] = product.code_numbers(part, self.numbers(part.column, event))
            else:
                null_is_label = self.missing == "category"
                self._slots[part] = product.code_values(part, self.column(part.column), null_is_label=null_is_label)
        return self._slots[part]

    def column(self, name: str) -> pa.Array:
        """Return one column by name, a field or a column of a matrix."""
        at = self._field(name)
        if at >= 0:
            return self.batch.column(at)
        found = self._place(name)
        if found is not None:
            k, position = found
            field = self.batch.schema.field(k)
            if sources.kind_of(field) == "sparse":
                return pa.array(_column_of(Sparse(*sources.sparse_of(self.batch.column(k), field)), position))
            return pa.array(self._matrix(k)[:, position])
        if self.partial:
            return pa.nulls(len(self))
        have = [name for field in self.batch.schema for name in _names(field)[:20]]
        raise BadData(
            wanted("the rows", f"a column {name!r} as in training", "none of that name", did_you_mean(name, have))
        )

    def _field(self, name: str) -> int:
        """Return the position of the field of this name; −1 if there is none."""
        try:
            return int(self.batch.schema.get_field_index(name))
        except UnicodeEncodeError:  # a lone surrogate, which no field can have
            return -1

    def _place(self, name: str) -> tuple[int, int] | None:
        """Return the field that is a matrix with a column of this name, and the column's position there."""
        if self._members is None:
            fields = enumerate(self.batch.schema)
            self._members = [(k, _members(field)) for k, field in fields if sources.kind_of(field) != "column"]
        for k, members in self._members:
            if name in members:
                return k, members.index(name) if isinstance(members, NumberedNames) else members[name]
        return None

    def _of_matrix(self, name: str) -> npt.NDArray[Any] | None:
        """Return a column of a matrix of numbers, not copied; None if there is no such column."""
        found = self._place(name) if self._field(name) < 0 else None
        if found is None or sources.kind_of(self.batch.schema.field(found[0])) != "matrix":
            return None
        matrix = self._matrix(found[0])
        return matrix[:, found[1]] if matrix.dtype.kind in "iuf" else None

    @contextmanager
    def refusing(self, block: Block) -> Iterator[None]:
        """Turn a kernel's error about the block's columns into one sentence."""
        try:
            yield
        except (kernels.NotFinite, kernels.BadEntry) as bad:
            want, got, do = block.event.domain, repr(bad.value), "Remove the row, or make the value missing"
            row, column = bad.row, bad.column
        except kernels.BadIndex as bad:
            raise sources.index_outside(bad.index, len(block.columns)) from None
        except BadText as bad:
            want, got, do = "text in UTF-8", f"other bytes from byte {bad.byte + 1} on", "Convert it"
            row, column = bad.row, bad.column
        except BadTokens as bad:
            want, got, do = "a list of texts from the tokenizer", repr(bad.got), ""
            row, column = bad.row, bad.column
        else:
            return
        got = f"{got} (row {self.first + row + 1})"
        raise BadData(wanted(f"column {block.columns[column]!r}", want, got, do)) from None

    def _whole(self, columns: Sequence[str]) -> pa.Field | None:
        """Return the matrix field with exactly these columns in this order, if any."""
        for field in self.batch.schema:
            if sources.kind_of(field) != "column" and _names(field) == columns:
                return field
        return None

    def _run(self, columns: Sequence[str], whole: pa.Field | None) -> npt.NDArray[Any] | None:  # (n, F)
        """Return columns that follow each other in a matrix of numbers, not copied; None where they do not.

        `whole` is the field of just these columns, if there is one.
        """
        if whole is not None:
            return sources.matrix_of(self.batch.column(whole.name)) if sources.kind_of(whole) == "matrix" else None
        found = self._place(columns[0]) if columns else None
        if found is None or not set(self.batch.schema.names).isdisjoint(columns):
            return None
        (k, start), end = found, found[1] + len(columns)
        field = self.batch.schema.field(k)
        if sources.kind_of(field) != "matrix" or tuple(_names(field)[start:end]) != tuple(columns):
            return None
        matrix = self._matrix(k)[:, start:end]
        return matrix if matrix.dtype.kind in "iuf" else None

    def _matrix(self, k: int) -> npt.NDArray[Any]:  # (n, F)
        """Return the values of a field that is a matrix, whose columns may be read one at a time."""
        if k not in self._matrices:
            self._matrices[k] = sources.matrix_of(self.batch.column(k))
        return self._matrices[k]

    def numbers(self, name: str, event: Event[Never]) -> npt.NDArray[Any]:
        """Return a column as floats, null as NaN."""
        view = self._of_matrix(name)
        if view is not None:
            return view
        array = self.column(name)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_boolean(array.type):
            array = array.cast(pa.uint8())
        elif pa.types.is_decimal(array.type):
            array = array.cast(pa.float64())
        elif not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
            array = self._parsed(array, name, event)
        return np.asarray(array.to_numpy(zero_copy_only=False))

    def _text(self, name: str) -> pa.Array:
        """Return a column of text; refuse anything else."""
        array = self.column(name)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_null(array.type):
            array = array.cast(pa.string())
        if pa.types.is_string_view(array.type):
            array = array.cast(pa.large_string())
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            first = next((value for value in in_python(array) if value is not None), None)
            got = f"{kind(array.type)} (first: {first!r})"
            raise BadData(wanted(f"column {name!r}", "text", got, "Convert it to strings, or declare another event"))
        if self.missing == "error":
            self._refuse_missing(array.is_null().to_numpy(zero_copy_only=False), name)
        return array

    def _parsed(self, array: pa.Array, name: str, event: Event[Never]) -> pa.Array:
        """Parse text as numbers; refuse other text."""
        if pa.types.is_null(array.type):
            return array.cast(pa.float64())
        try:
            return array.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            row, value = first_text(array)
        got = f"text (first: {value!r}, row {self.first + row + 1})"
        do = f"Declare it categorical (events={{{name!r}: 'categorical'}})"
        if has_number(array):
            do += f", or {value!r} a missing value"
        raise BadData(wanted(f"column {name!r}", f"numbers for {event.name}", got, do))

    def _dense(self, block: Block, columns: Any) -> Dense:
        def floats(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)

        dense = Dense(columns).map(floats)
        if self.missing == "error":
            for f in _columns_with(np.isnan, dense):
                self._refuse_missing(np.isnan(dense.column(f)), block.columns[f])
        if type(block.event).invalid is not Event.invalid:
            for f in _columns_with(block.event.invalid, dense):
                self._check(block.event, dense.column(f), block.columns[f])
        return dense

    def _check(self, event: Event, values: npt.NDArray[Any], name: str) -> None:
        unfit = event.invalid(values)
        if unfit is None or not unfit.any():
            return
        at = int(np.argmax(unfit))
        got = f"{values[at].item()!r} (row {self.first + at + 1})"
        raise BadData(wanted(f"column {name!r}", f"{event.domain} for {event.name}", got))

    def _refuse_missing(self, mask: npt.NDArray[np.bool_], name: str) -> None:
        if mask.any():
            row = self.first + int(np.argmax(mask)) + 1
            do = "Fill it, or choose missing='skip'"
            raise BadData(wanted(f"column {name!r}", "a value in every row", f"a missing one (row {row})", do))

    def _codes(self, block: Block, field: pa.Field | None, slots: Sequence[Categories] | None, unseen: str) -> Codes:
        run = self._run(block.columns, field)
        if run is not None and run.dtype.kind in "iu":
            matrix = signed(run)
            if matrix is not None and unseen != "error":
                direct = guess_codes(matrix) if slots is None else direct_codes(matrix, slots)
                if direct is not None:
                    return direct
        columns, labels = [], []
        for f, name in enumerate(block.columns):
            array = self.column(name)
            if slots is not None and unseen != "error" and pa.types.is_integer(array.type) and not array.null_count:
                placed = slots[f].place_integers(array.to_numpy())
                if placed is not None:
                    columns.append(placed)
                    labels.append(slots[f])
                    continue
            codes, found = encode(
                array,
                null_is_label=self.missing == "category",
                where=f"column {name!r}",
                first=self.first,
                strict=slots is None or unseen == "error",
            )
            if self.missing == "error":
                self._refuse_missing(codes == -1, name)
            if slots is not None:
                codes, found = self._refer(codes, found, slots[f], name, unseen), slots[f]
            columns.append(codes)
            labels.append(found)
        sizes = np.array([len(known) + (slots is not None) for known in labels], np.int64)
        return Codes(tuple(columns), sizes, tuple(labels))

    def _refer(
        self, codes: npt.NDArray[np.int32], found: Categories, slot: Categories, name: str, unseen: str
    ) -> npt.NDArray[np.int32]:
        """Translate codes of the values found here to codes of the slot; other values get the code after its last."""
        if found == slot and not (codes == OUTSIDE).any():
            return codes
        place = np.full(len(found) + 2, -1, np.int32)  # the last entry is for missing values, whose code is −1
        place[:-2] = slot.find(found.array, where=f"column {name!r}")
        place[OUTSIDE] = len(slot)
        new = np.flatnonzero(place[:-2] < 0)
        if unseen == "error" and len(new):
            row = int(np.argmax(codes == new[0]))
            got = f"{found.values[new[0]]!r} (row {self.first + row + 1})"
            raise BadData(
                wanted(f"column {name!r}", "a value seen in training", got, "Choose unseen='smooth' or 'skip'")
            )
        place[new] = len(slot)
        return place[codes]


def _columns_with(fault: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_] | None], dense: Dense) -> Sequence[int]:
    """Return the columns to check: all, or for a matrix only those where `fault` is true somewhere."""
    if not isinstance(dense.columns, np.ndarray):
        return range(dense.width)
    found = fault(dense.columns)
    return () if found is None else np.flatnonzero(found.any(axis=0)).tolist()


def _names(field: pa.Field) -> Sequence[str]:
    if sources.kind_of(field) == "column":
        return (field.name,)
    given = sources.names_of(field)
    return NumberedNames(sources.width_of(field)) if given is None else given


def _members(field: pa.Field) -> NumberedNames | dict[str, int]:
    """Return the columns of a matrix field with their positions."""
    names = _names(field)
    return names if isinstance(names, NumberedNames) else {name: at for at, name in enumerate(names)}


def _within(sparse: Sparse) -> Sparse:
    """Return sparse rows whose indices are in the matrix; kernels look for others themselves."""
    sources.check_indices(sparse.indices[sparse.indptr[0] : sparse.indptr[-1]], sparse.width)
    return sparse


def _column_of(sparse: Sparse, position: int) -> npt.NDArray[np.float64]:
    row, column, value = _within(sparse).entries()
    here = column == position
    return np.asarray(np.bincount(row[here], value[here], minlength=len(sparse)), np.float64)
