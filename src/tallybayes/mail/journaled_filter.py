"""`JournaledFilter`: a mail filter whose every change is in a journal before it is acknowledged."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from tallybayes.errors import CannotMerge, JournalError, TallyError, wanted
from tallybayes.kernels.mail import GROUPS, MailTokens, message_of, tokenise
from tallybayes.mail.file import load, read_bytes
from tallybayes.mail.header import message_id
from tallybayes.mail.mail_filter import MailFilter, check_name
from tallybayes.storage.journal.journal import Journal
from tallybayes.storage.journal.record import Change, Receipt, Record, pack_rows, unpack_rows

__all__ = ["SNAPSHOT_EVERY", "JournaledFilter", "request"]

SNAPSHOT_EVERY = 1000  # records: replaying as many takes about half a second
_ALTERED = "It was altered, or written by another version"
_KEPT = 2  # snapshots: one may be read by a process that starts while the next is written
_SNAPSHOT = re.compile(r"([0-9]+)-([0-9a-f]{16})\.tally")  # its position, and the hash of the journal up to there


def request(message: bytes, *, learn: str | None = None, forget: str | None = None) -> Change:
    """Return the wish to learn a message in one class, to forget it in another, or both.

    The journal keeps the tokens of messages as hashes, and none of their text.
    """
    for name in (learn, forget):
        if name is not None:
            check_name(name)
    tokens = tokenise([message])
    learned, forgotten = (None if name is None else _pack(name, tokens) for name in (learn, forget))
    return Change(learned, forgotten, key=message_id(message))


class JournaledFilter:
    """A mail filter, its journal and its snapshots; changed by one thread, read by many.

    Opening one starts at the newest snapshot and makes the changes that the journal has after it. The evidence is then
    the same, to the bit, as that of a filter that learned the messages of the base and of all committed changes.

    A message has one class. The key of a change is the message's id; the journal's keys are ID.1, ID.2 and so on, one
    for each change of the message's class, so that none is made twice.

    Parameters
    ----------
    path : Path
        The filter before the first change, a file that is never written.
    journal : Journal
        The journal.
    folder : Path
        Where snapshots are written.
    every : int
        The number of records between two snapshots.

    Attributes
    ----------
    mail : MailFilter
        The filter with all changes so far. Use it at once: a failed transaction replaces it.
    position : int
        The position of the last change.
    hash : str
        The SHA-256 of the base and all changes: equal histories give equal filters.
    snapshot_error : TallyError or None
        Why the last snapshot could not be written; the journal has the changes all the same.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes.storage.journal.sqlite import SqliteJournal
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mail.tally")
    ...     MailFilter().save(path)
    ...     journal = SqliteJournal(Path(folder, "journal.sqlite"), "mail")
    ...     kept = JournaledFilter(path, journal, Path(folder))
    ...     wish = request(b"Message-ID: <1@x.org>\\n\\nBuy!", learn="spam")
    ...     [first], [second] = kept.change([wish]), kept.change([wish])
    ...     print(kept.mail.totals, first == second)
    ...     [third] = kept.change([request(b"Message-ID: <1@x.org>\\n\\nBuy!", learn="ham")])
    ...     print(kept.mail.totals, third.operation)
    ...     journal.close()
    {'spam': 1} True
    {'ham': 1} move
    """

    mail: MailFilter
    position: int
    hash: str
    snapshot_error: TallyError | None = None

    def __init__(self, path: Path, journal: Journal, folder: Path, *, every: int = SNAPSHOT_EVERY) -> None:
        self._path, self._journal, self._folder, self._every = path, journal, folder, every
        self._saved, self._failed = 0, False
        self._base = hashlib.sha256(read_bytes(path)).hexdigest()
        journal.begin(self._base)
        self._restore()

    def follow(self) -> bool:
        """Make the changes that others have appended; return whether there were any."""
        if self._failed:
            self._restore()
        before = self.position
        for record in self._journal.read(self.position):
            _apply(self.mail, record.change)
            self.position, self.hash = record.receipt.position, _hash(self.hash, record.change)
            if self.hash != record.receipt.after:
                raise JournalError(wanted(self._journal.name, f"the change at {self.position}", "another", _ALTERED))
        return self.position != before

    def change(self, changes: Sequence[Change]) -> list[Receipt | TallyError]:
        """Commit changes in one transaction, and return a receipt, or the reason for a refusal, for each.

        A change that was made before is not made again; its receipt is that of the first time. If the transaction
        itself fails, this raises, and none is made.
        """
        try:
            with self._journal.transaction():
                self.follow()
                answers = [self._change(one) for one in changes]
        except BaseException:
            self._failed = True  # the filter has changes that are not in the journal
            raise
        self._save_sometimes()
        return answers

    def save(self) -> None:
        """Write a snapshot of the filter with its position, and remove those no longer needed."""
        self.mail.save(self._folder / f"{self.position}-{self.hash[:16]}.tally")
        self._saved = self.position
        for _, name in sorted(self._snapshots())[:-_KEPT]:
            (self._folder / name).unlink(missing_ok=True)

    def save_changes(self) -> None:
        """Write a snapshot if there are changes after the last one."""
        if self.position != self._saved and not self._failed:
            self.save()

    def _change(self, wish: Change) -> Receipt | TallyError:
        """Make a change and append it, within a transaction."""
        last, number = self._history(str(wish.key))
        try:
            if last is None:
                made = self._make_first(wish)
            elif (found := _resolve(wish, last.change)) is None:
                return last.receipt
            else:
                made = found
        except TallyError as error:
            return error
        if last is not None:
            _apply(self.mail, made)
        made = replace(made, key=f"{wish.key}.{number}")
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        after = _hash(self.hash, made)
        receipt = Receipt(self.position + 1, made.key, made.operation, made.rows, self.hash, after, now)
        self._journal.append([Record(receipt, made)])
        self.position, self.hash = receipt.position, after
        return receipt

    def _make_first(self, wish: Change) -> Change:
        """Change the filter by a message that the journal does not know, and return what was changed.

        The base may have learned it. To move a message that nothing has learned is to learn it.
        """
        if wish.operation != "move":
            _apply(self.mail, wish)
            return wish
        _apply(self.mail, replace(wish, forgotten=None))
        try:
            if not self.mail.dropped:  # otherwise nothing tells what was learned
                _apply(self.mail, replace(wish, learned=None))
                return wish
        except TallyError:
            pass
        return replace(wish, forgotten=None)

    def _history(self, key: str) -> tuple[Record | None, int]:
        """Return the last change of a message's class, and the number of the next one."""
        last, number = None, 1
        while (found := self._journal.find(f"{key}.{number}")) is not None:
            last, number = found, number + 1
        return last, number

    def _restore(self) -> None:
        """Start again from the newest snapshot, and make the changes after it."""
        self.position, self.hash, path = 0, self._base, self._path
        newest = max(self._snapshots(), default=None)
        if newest is not None:
            self.position, path = newest[0], self._folder / newest[1]
            self.hash = self._hash_at(self.position, path)
        self.mail = load(path)
        self._saved, self._failed = self.position, False
        self.follow()

    def _snapshots(self) -> list[tuple[int, str]]:
        """Return the positions and names of snapshots."""
        names = (_SNAPSHOT.fullmatch(one.name) for one in self._folder.glob("*.tally"))
        return [(int(found[1]), found[0]) for found in names if found]

    def _hash_at(self, position: int, path: Path) -> str:
        """Return the hash at a position of the journal; raise unless a snapshot has it in its name."""
        found = self._journal.receipts(position - 1, 1)
        after = found[0].after if found and found[0].position == position else ""
        if not after or not path.name.endswith(f"-{after[:16]}.tally"):
            do = "Remove the snapshot: the journal is then replayed from its start"
            raise JournalError(wanted(f"snapshot {str(path)!r}", "a state of its journal", "another", do))
        return after

    def _save_sometimes(self) -> None:
        if self.position - self._saved < self._every:
            return
        try:
            self.save()
            self.snapshot_error = None
        except TallyError as error:  # the journal has the changes, and the next snapshot may succeed
            self.snapshot_error, self._saved = error, self.position


def _resolve(wish: Change, last: Change) -> Change | None:
    """Return the change to make for a message whose last change is known; None if it is made already."""
    stored = last.learned
    if wish.learned is not None:
        if stored is not None and _class_of(stored) == _class_of(wish.learned):
            return None
        return replace(wish, forgotten=stored)
    assert wish.forgotten is not None
    name = _class_of(wish.forgotten)
    if stored is not None and _class_of(stored) == name:
        return replace(wish, forgotten=stored)
    if stored is None and last.forgotten is not None and _class_of(last.forgotten) == name:
        return None
    got = "one that is forgotten" if stored is None else f"one learned as {_class_of(stored)!r}"
    raise CannotMerge(wanted("cannot forget", f"a message learned as {name!r}", got))


def _apply(mail: MailFilter, change: Change) -> None:
    if change.learned is not None:
        mail.learn_tokens(*_unpack(change.learned))
    if change.forgotten is not None:
        mail.forget_tokens(*_unpack(change.forgotten))


def _hash(before: str, change: Change) -> str:
    """Return the hash of a history and one more change."""
    digest = hashlib.sha256(before.encode())
    for part in (change.key, change.learned, change.forgotten):
        content = part.encode() if isinstance(part, str) else part or b""
        digest.update(len(content).to_bytes(8) + content)
    return digest.hexdigest()


def _pack(name: str, tokens: MailTokens) -> bytes:
    """Return a class and the tokens of one message as a row."""
    hashes = [pa.array([tokens.group(g)[1]], pa.list_(pa.int64())) for g in range(len(GROUPS))]
    return pack_rows(pa.table([pa.array([name]), *hashes], names=["class", *GROUPS]))


def _unpack(content: bytes) -> tuple[str, MailTokens]:
    rows = unpack_rows(content)
    header, body = (rows[name].combine_chunks().flatten().to_numpy(zero_copy_only=False) for name in GROUPS)
    return _class_of(content), message_of(header, body)


def _class_of(content: bytes) -> str:
    return str(unpack_rows(content)["class"][0])
