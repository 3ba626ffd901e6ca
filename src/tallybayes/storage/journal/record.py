"""What a journal holds: changes to a model as bytes, and the receipts of those that are committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.errors import BadData, wanted

__all__ = ["Change", "Receipt", "Record", "forgetting", "learning", "pack_rows", "unpack_rows"]


@dataclass(frozen=True)
class Change:
    """A change to a model: rows to learn, rows to forget, both at once, or a calibration.

    Attributes
    ----------
    learned, forgotten : bytes or None
        Labelled rows as an Arrow stream (`pack_rows`).
    calibration : bytes or None
        A calibration (`model_file.dump_calibration`).
    key : str or None
        The idempotency key: a change is made once, however often it is sent with the same key.

    Examples
    --------
    >>> rows = pa.table({"x": ["p"], "y": ["no"]})
    >>> Change(learned=pack_rows(rows)).operation, Change(pack_rows(rows), pack_rows(rows)).operation
    ('learn', 'move')
    """

    learned: bytes | None = None
    forgotten: bytes | None = None
    calibration: bytes | None = None
    key: str | None = None

    @property
    def operation(self) -> str:
        """The name of the change: "learn", "forget", "move" (both) or "calibrate"."""
        if self.calibration is not None:
            return "calibrate"
        if self.learned is not None:
            return "learn" if self.forgotten is None else "move"
        return "forget"

    @cached_property
    def to_learn(self) -> pa.Table | None:
        """The rows to learn."""
        return None if self.learned is None else unpack_rows(self.learned)

    @cached_property
    def to_forget(self) -> pa.Table | None:
        """The rows to forget."""
        return None if self.forgotten is None else unpack_rows(self.forgotten)

    def same_as(self, other: Change) -> bool:
        """Return whether the content is the same: Arrow may write the same rows as different bytes."""
        if (self.learned, self.forgotten, self.calibration) == (other.learned, other.forgotten, other.calibration):
            return True
        if self.operation != other.operation or self.calibration is not None:
            return False
        return bool(self.to_learn == other.to_learn and self.to_forget == other.to_forget)

    @property
    def rows(self) -> int:
        """The number of rows learned and forgotten."""
        return sum(one.num_rows for one in (self.to_learn, self.to_forget) if one is not None)


@dataclass(frozen=True)
class Receipt:
    """The proof that a change is committed.

    Changes that wait at the same moment share one transaction, and then also both hashes.

    Attributes
    ----------
    position : int
        The place in the journal, from 1.
    key : str or None
        The idempotency key.
    operation : str
        "learn", "forget", "move" or "calibrate".
    rows : int
        The number of rows.
    before, after : str
        The hash of the evidence before and after the transaction.
    time : str
        When it was committed, in UTC.
    """

    position: int
    key: str | None
    operation: str
    rows: int
    before: str
    after: str
    time: str

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain values."""
        return vars(self).copy()


@dataclass(frozen=True)
class Record:
    """A committed change with its receipt."""

    receipt: Receipt
    change: Change


def learning(rows: pa.Table, key: str | None = None) -> Change:
    """Return the change that learns rows."""
    change = Change(learned=pack_rows(rows), key=key)
    vars(change)["to_learn"] = rows  # not to be unpacked again
    return change


def forgetting(rows: pa.Table, key: str | None = None) -> Change:
    """Return the change that forgets rows."""
    change = Change(forgotten=pack_rows(rows), key=key)
    vars(change)["to_forget"] = rows
    return change


_PLAIN = pa.ipc.IpcWriteOptions()  # made once: by default each writer asks the environment


def pack_rows(rows: pa.Table) -> bytes:
    """Return rows as the bytes of an Arrow stream; raise if there are none."""
    if not rows.num_rows:
        raise BadData(wanted("the rows", "at least one", "none"))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_PLAIN) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue())


def unpack_rows(content: bytes) -> pa.Table:
    """Return the rows that `pack_rows` was given."""
    return pa.ipc.open_stream(content).read_all()
