"""`ServedModel`: a model that is served, with the journal of its changes."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from tallybayes.drift.drift import compare
from tallybayes.drift.recent_rows import RecentRows
from tallybayes.drift.result import Drift
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, CannotMerge, TallyError, wanted
from tallybayes.evidence.row_hash import row_hashes
from tallybayes.evidence.serialize import evidence_hash
from tallybayes.methods.rows import labelled, sample_rows
from tallybayes.model import Model
from tallybayes.server.problem import Problem
from tallybayes.server.scoring_model import ScoringModel
from tallybayes.storage.journal.journal import Journal
from tallybayes.storage.journal.journaled_model import SNAPSHOT_EVERY, JournaledModel
from tallybayes.storage.journal.open_journal import open_journal
from tallybayes.storage.journal.record import Change, Receipt, unpack_rows
from tallybayes.storage.journal.writer import Answered, Writer, set_futures
from tallybayes.storage.model_file import dump_calibration, load

__all__ = ["ServedModel"]

# Seconds that a receipt waits for predictions to follow from the change: most models need less.
_PATIENCE = 0.05
# Times as long as publishing takes: most of the time is left to requests, and more of it where many clients teach.
_REST, _REST_IN_A_CROWD = 3, 9


class ServedModel:
    """A model file that is served, and the journal of what it has learned since.

    Predictions read `published`, which is replaced as a whole; nothing they do waits for learning.

    Parameters
    ----------
    name : str
        The name in addresses.
    path : Path
        The model file, which is never changed.
    learn : bool
        Whether rows may be learned and forgotten.
    journal : str, optional
        A postgresql:// address; by default a SQLite file in a folder beside the model file.
    every : int
        The number of records between two snapshots.
    """

    def __init__(
        self, name: str, path: Path, *, learn: bool = False, journal: str | None = None, every: int = SNAPSHOT_EVERY
    ) -> None:
        self.name, self.learn = name, learn
        self._folder = path.parent / f"{path.stem}.journal"
        self._address: str | Path = journal or self._folder / "journal.sqlite"
        self._journals: list[Journal] = []
        self._writer: Writer[JournaledModel] | None = None
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._crowded = False  # several clients teach at the same time: none of them waits for predictions to follow
        self._news, self._over = threading.Event(), threading.Event()
        self.calibrating = False
        self.calibration_error: str | None = None
        base = load(path)
        self._base, self.recent = base.evidence, RecentRows(base)
        if learn or journal is not None or Path(self._address).exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._kept = JournaledModel(base, self._open(), self._folder, every=every)
            self._latest = ScoringModel(self._kept.model, self._kept.position, self._kept.hash)
        else:
            with ThreadPoolExecutor(1) as beside:  # hashing takes a while, and no lock of Python's
                hashed = beside.submit(evidence_hash, base.evidence)
                ScoringModel(base, 0, "").warm()
                self._latest = ScoringModel(base, 0, hashed.result())
        self._latest.warm()
        self.published = self._latest

    @property
    def journaled(self) -> bool:
        """Whether there is a journal."""
        return bool(self._journals)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start to write, to follow others and to publish."""
        self._loop = loop
        if self.journaled:
            self._publisher = threading.Thread(target=self._publish, name=f"publish {self.name}", daemon=True)
            self._publisher.start()
            self._reader, self._reading = self._open(), threading.Lock()
            self._writer = Writer(self._kept, self._open(), self._changed, self._deliver)

    def stop(self) -> None:
        """Commit what waits, and close the journal."""
        if self._writer is not None:
            self._writer.close()
            self._over.set()
            self._news.set()
            self._publisher.join(30)
        for one in self._journals:
            one.close()

    def _open(self) -> Journal:
        self._journals.append(open_journal(self._address, self.name))
        return self._journals[-1]

    def waiting(self) -> int:
        """Return about how many changes wait to be committed."""
        return 0 if self._writer is None else self._writer.waiting()

    def check_learn(self) -> None:
        """Raise unless the model may be changed."""
        if self._writer is None or not self.learn:
            raise Problem(403, wanted(f"model {self.name!r}", "a server that may learn", "a read-only one", _ALLOW))

    async def change(self, change: Change) -> Receipt:
        """Return the receipt of a change once it is committed and, if that is quick, predictions follow from it."""
        self.check_learn()
        assert self._writer is not None
        answered: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._writer.put(change, answered)
        receipt = await answered
        if self.published.position < receipt.position and not self._crowded:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((receipt.position, future))
            await asyncio.wait((future,), timeout=_PATIENCE)
        return receipt

    def receipts(self, after: int, limit: int) -> list[Receipt]:
        """Return the receipts after a position."""
        with self._read() as journal:
            return journal.receipts(after, limit)

    @contextmanager
    def _read(self) -> Iterator[Journal]:
        if not self.journaled:
            raise Problem(404, wanted(f"model {self.name!r}", "a journal", "none", _ALLOW))
        with self._reading:
            yield self._reader

    def _deliver(self, answered: Sequence[Answered]) -> None:
        """Answer the requests of one transaction in one turn of the event loop."""
        assert self._loop is not None
        self._crowded = len(answered) > 1
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(set_futures, answered)

    def _changed(self, kept: JournaledModel) -> None:
        self._latest = ScoringModel(kept.model, kept.position, kept.hash)
        self._news.set()

    def _publish(self) -> None:
        """Replace the published model by the latest one, skipping those in between."""
        while not self._over.is_set():
            self._news.wait()
            self._news.clear()
            latest, began = self._latest, time.monotonic()
            if latest is not self.published:
                try:
                    latest.warm()
                    self.published = latest
                except TallyError as error:  # weights too large to estimate from: the last good model stays
                    logging.getLogger(__name__).error("publish %s: %s", self.name, error)
                assert self._loop is not None
                if not self._loop.is_closed():
                    self._loop.call_soon_threadsafe(self._tell, latest.position)
                rest = _REST_IN_A_CROWD if self._crowded else _REST
                self._over.wait(rest * (time.monotonic() - began))

    def _tell(self, position: int) -> None:
        """Wake the requests whose changes were made up to a position."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if one[0] > position and not one[1].done():
                self._waiting.append(one)
            elif not one[1].done():
                one[1].set_result(None)

    def drift(self) -> dict[str, Drift | None]:
        """Return what has changed since the model file: in rows asked about lately, and in rows learned since."""
        model = self.published.model
        asked = self.recent.drift(model, self._base)
        try:
            learned = model.evidence - self._base
        except CannotMerge:  # rows of the file were forgotten: all that is known now is compared
            learned = model.evidence
        some = bool(learned.rows.sum().to_float())
        return {
            "asked": asked if asked.new_rows else None,
            "learned": compare(self._base, learned, labelled=True) if some else None,
        }

    def calibrate(self) -> None:
        """Refit the weights on the rows that the journal keeps, and commit the calibration; takes a while."""
        try:
            model = self._latest.model
            rows = self._kept_rows(model)
            if not rows:
                raise BadData(wanted("calibrate", "rows in the journal", "none", "Let the model learn some first"))
            sample = sample_rows(model, rows[0])
            for more in rows[1:]:
                sample = sample + sample_rows(model, more)
            assert self._writer is not None
            change = Change(calibration=dump_calibration(model._calibrated(sample)))
            future: Future[Receipt] = self._writer.submit(change)
            future.result()
            self.calibration_error = None
        except TallyError as error:
            self.calibration_error = str(error)
        except Exception:
            self.calibration_error = "The server failed; its log says why."
            logging.getLogger(__name__).exception("calibrate %s", self.name)
        finally:
            self.calibrating = False

    def _kept_rows(self, model: Model) -> list[pa.Table]:
        """Return the rows that were learned and not forgotten since, by the columns and types they came with."""
        learned: list[tuple[pa.Table, list[int]]] = []
        forgotten: dict[int, int] = {}
        with self._read() as journal:
            for record in journal.read():
                change = record.change
                if change.learned is not None:
                    rows = unpack_rows(change.learned)
                    learned.append((rows, _hashes(model, rows)))
                if change.forgotten is not None:
                    for one in _hashes(model, unpack_rows(change.forgotten)):
                        forgotten[one] = forgotten.get(one, 0) + 1
        tables: dict[str, list[pa.Table]] = {}
        for rows, hashes in learned:
            keep = []
            for one in hashes:
                gone = forgotten.get(one, 0)
                keep.append(not gone)
                if gone:
                    forgotten[one] = gone - 1
            rows = rows.filter(pa.array(keep))
            if rows.num_rows:
                tables.setdefault(str(rows.schema), []).append(rows)
        return [pa.concat_tables(each).combine_chunks() for each in tables.values()]


_ALLOW = "Start it with 'tally serve --learn'"


def _hashes(model: Model, rows: pa.Table) -> list[int]:
    """Return the content hash of each row."""
    source, schema = labelled(model, rows, None, None, None)
    found: list[int] = []
    for batch in source:
        found += row_hashes(RowBatch(batch, len(found), schema.missing), replace(schema)).tolist()
    return found
