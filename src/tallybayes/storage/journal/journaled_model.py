"""`JournaledModel`: a model whose every change is in a journal before it is made."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from tallybayes.encoding.few_rows import MOST_ROWS
from tallybayes.errors import JournalError, KeyReused, TallyError, wanted
from tallybayes.evidence.serialize import evidence_hash
from tallybayes.model import Model
from tallybayes.storage import model_file
from tallybayes.storage.journal.journal import Journal
from tallybayes.storage.journal.record import Change, Receipt, Record

__all__ = ["SNAPSHOT_EVERY", "JournaledModel", "apply"]

SNAPSHOT_EVERY = 1000  # records: replaying as many takes about a second
_PAGE = 1024  # records that are replayed together
_KEPT = 2  # snapshots: one may be read by a process that starts while the next is written
# In one transaction rows are learned before any are forgotten, so that every prefix of the journal is a valid state.
_ORDER = {"learn": 0, "move": 1, "forget": 2, "calibrate": 3}


class JournaledModel:
    """A model, its journal and its snapshots; used by one thread.

    Opening one starts at the newest snapshot and makes the changes that the journal has after it. The evidence is then
    the same, to the bit, as that of a fit on the rows of the base model and of all committed changes.

    Parameters
    ----------
    base : Model
        The model before the first change.
    journal : Journal
        The journal.
    folder : Path
        Where snapshots are written, as POSITION.tally.
    every : int
        The number of records between two snapshots.

    Attributes
    ----------
    model : Model
        The model with all changes so far.
    position : int
        The position of the last change.
    hash : str
        The hash of the model's evidence.
    snapshot_error : TallyError or None
        Why the last snapshot could not be written; the journal has the changes all the same.

    Examples
    --------
    >>> import tempfile, tallybayes as tb
    >>> from tallybayes.storage.journal.open_journal import open_journal
    >>> from tallybayes.storage.journal.record import pack_rows
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = open_journal(Path(folder, "journal.sqlite"), "m")
    ...     kept = JournaledModel(model, journal, Path(folder))
    ...     [receipt] = kept.change([Change(pack_rows(pa.table({"x": ["p"], "y": ["yes"]})))])
    ...     print(receipt.position, receipt.rows, receipt.after == kept.hash)
    ...     journal.close()
    1 1 True
    """

    def __init__(self, base: Model, journal: Journal, folder: Path, *, every: int = SNAPSHOT_EVERY) -> None:
        self._journal, self._folder, self._every = journal, folder, every
        self.snapshot_error: TallyError | None = None
        journal.begin(evidence_hash(base.evidence))
        self.position, self.model = self._newest_snapshot() or (0, base)
        self.hash = evidence_hash(self.model.evidence)
        self._check_snapshot()
        self._saved = self.position
        self.follow()

    def follow(self) -> bool:
        """Make the changes that others have appended; return whether there were any."""
        first, page = self.position, list[Record]()
        # Transactions are replayed as they were made, since buckets that a forgotten row has widened stay wide. Those
        # that only learn add up in any grouping, and are counted together.
        for _, records in groupby(
            self._journal.read(self.position), lambda one: (one.receipt.before, one.receipt.after)
        ):
            transaction = list(records)
            learns = all(one.receipt.operation == "learn" for one in transaction)
            if page and (not learns or len(page) >= _PAGE):
                self._replay(page)
                page = []
            page += transaction
            if not learns:
                self._replay(page)
                page = []
        if page:
            self._replay(page)
        return self.position > first

    def _replay(self, records: Sequence[Record]) -> None:
        last, model = records[-1].receipt, apply(self.model, [record.change for record in records])
        if evidence_hash(model.evidence) != last.after:
            want, got = f"evidence {last.after[:12]} at {last.position}", "another"
            do = "It was altered, or written by another version"
            raise JournalError(wanted(self._journal.name, want, got, do))
        self._advance(model, last)

    def change(self, changes: Sequence[Change]) -> list[Receipt | TallyError]:
        """Commit changes in one transaction, and return a receipt, or the reason for a refusal, for each.

        A change that cannot be made is refused alone. If the transaction itself fails, this raises, and none is made.
        """
        with self._journal.transaction():
            self.follow()
            answers: dict[int, Receipt | TallyError] = {}
            fresh: dict[int, Change] = {}
            same: dict[int, int] = {}
            by_key: dict[str, int] = {}
            for i, change in enumerate(changes):
                if change.key is None:
                    fresh[i] = change
                elif (known := self._journal.find(change.key)) is not None:
                    answers[i] = known.receipt if known.change.same_as(change) else _reused(change.key)
                elif (first := by_key.setdefault(change.key, i)) == i:
                    fresh[i] = change
                elif changes[first].same_as(change):
                    same[i] = first
                else:
                    answers[i] = _reused(change.key)
            model, refused = _apply_valid(self.model, fresh)
            answers |= refused
            records = self._records({i: one for i, one in fresh.items() if i not in refused}, model)
            self._journal.append(list(records.values()))
        if records:
            self._advance(model, list(records.values())[-1].receipt)
            self._save_sometimes()
        answers |= {i: record.receipt for i, record in records.items()}
        answers |= {i: answers[first] for i, first in same.items()}
        return [answers[i] for i in range(len(changes))]

    def save(self) -> None:
        """Write a snapshot of the model with its position, and remove those no longer needed."""
        model_file.save(self.model, self._path(self.position))
        self._saved = self.position
        for old in sorted(self._snapshots())[:-_KEPT]:
            self._path(old).unlink(missing_ok=True)

    def _records(self, changes: dict[int, Change], model: Model) -> dict[int, Record]:
        """Return the records of accepted changes, in the order of their positions."""
        after = evidence_hash(model.evidence) if changes else self.hash
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        ordered = sorted(changes, key=lambda i: _ORDER[changes[i].operation])
        return {
            i: Record(
                Receipt(position, one.key, one.operation, one.rows, self.hash, after, now),
                one,
            )
            for position, i in enumerate(ordered, self.position + 1)
            for one in [changes[i]]
        }

    def _advance(self, model: Model, last: Receipt) -> None:
        self.model, self.position, self.hash = model, last.position, last.after

    def _save_sometimes(self) -> None:
        if self.position - self._saved < self._every:
            return
        try:
            self.save()
            self.snapshot_error = None
        except TallyError as error:  # the journal has the changes, and the next snapshot may succeed
            self.snapshot_error, self._saved = error, self.position

    def _path(self, position: int) -> Path:
        return self._folder / f"{position}.tally"

    def _snapshots(self) -> list[int]:
        return [int(one.stem) for one in self._folder.glob("*.tally") if one.stem.isdecimal()]

    def _newest_snapshot(self) -> tuple[int, Model] | None:
        for position in sorted(self._snapshots(), reverse=True):
            try:
                return position, model_file.load(self._path(position))
            except TallyError:
                if self._path(position).exists():  # otherwise another process has written a newer one
                    raise
        return None

    def _check_snapshot(self) -> None:
        """Raise unless the snapshot is a state that the journal went through."""
        if not self.position:
            return
        where = f"snapshot {str(self._path(self.position))!r}"
        found = self._journal.receipts(self.position - 1, 1)
        if not found:
            last = self._journal.last()
            got = f"{0 if last is None else last.position} records"
            do = "Restore the journal, or serve the snapshot as a model of its own"
            raise JournalError(wanted(where, f"a journal of at least {self.position} records", got, do))
        if found[0].after != self.hash:
            do = "Remove the snapshot: the journal is then replayed from its start"
            raise JournalError(wanted(where, f"the evidence {found[0].after[:12]} of the journal", self.hash[:12], do))


def apply(model: Model, changes: Iterable[Change]) -> Model:
    """Return a model with changes made: rows of the same columns are counted together.

    All rows are learned before any are forgotten.
    """
    for is_calibration, run in groupby(changes, key=lambda one: one.calibration is not None):
        part = list(run)
        if is_calibration:
            last = part[-1].calibration
            assert last is not None
            model = model_file.with_calibration(model, last)
            continue
        for rows in _together(one.to_learn for one in part):
            model = model.learn(_few(rows))
        for rows in _together(one.to_forget for one in part):
            model = model.forget(_few(rows))
    return model


def _together(given: Iterable[pa.Table | None]) -> list[pa.Table]:
    """Return rows of the same columns and types as one table each."""
    tables: dict[str, list[pa.Table]] = {}
    for table in given:
        if table is not None:
            tables.setdefault(table.schema.to_string(show_field_metadata=True), []).append(table)
    return [pa.concat_tables(each).combine_chunks() for each in tables.values()]


def _few(rows: pa.Table) -> pa.Table | list[dict[str, object]]:
    """Return a few rows as dicts, which are counted more quickly if they are plain, to the same evidence."""
    return rows.to_pylist() if rows.num_rows <= MOST_ROWS else rows


def _apply_valid(model: Model, changes: dict[int, Change]) -> tuple[Model, dict[int, Receipt | TallyError]]:
    """Return the model with all valid changes made, and why the others are refused."""
    ordered = sorted(changes, key=lambda i: _ORDER[changes[i].operation])
    try:
        return apply(model, [changes[i] for i in ordered]), {}
    except TallyError:  # one by one, then
        refused: dict[int, Receipt | TallyError] = {}
        tried = model
        for i in ordered:
            try:
                tried = apply(tried, [changes[i]])
            except TallyError as error:
                refused[i] = error
        return apply(model, [changes[i] for i in ordered if i not in refused]), refused


def _reused(key: str) -> KeyReused:
    return KeyReused(wanted("Idempotency-Key", "one key for one change", f"{key!r} with other rows than before"))
