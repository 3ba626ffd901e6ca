"""What every journal keeps, whatever its database: `CHECKS` run on each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import CannotMerge, JournalError, KeyReused, TallyError
from tallybayes.storage.journal.journal import Journal
from tallybayes.storage.journal.journaled_model import JournaledModel
from tallybayes.storage.journal.record import Change, Receipt, pack_rows
from tallybayes.storage.journal.writer import Writer
from tallybayes.storage.model_file import dump_calibration

Open = Callable[[], Journal]
BASE: dict[str, list[Any]] = {
    "outlook": ["sunny", "rainy", "rainy", "sunny"] * 15,
    "temperature": [18.5, 7.0, 9.25, 21.0] * 15,
    "play": ["yes", "no", "no", "yes"] * 15,
}
DAYS = [
    {"outlook": "sunny", "temperature": 30.5, "play": "yes"},
    {"outlook": "hail", "temperature": -3.0, "play": "maybe"},
    {"outlook": None, "temperature": 11, "play": "no"},
    {"outlook": "rainy", "temperature": None, "play": "yes"},
]


def model() -> tb.Model:
    return tb.fit(BASE, "play")


def learn(*rows: dict[str, Any], key: str | None = None) -> Change:
    return Change(learned=pack_rows(pa.Table.from_pylist(list(rows))), key=key)


def forget(*rows: dict[str, Any], key: str | None = None) -> Change:
    return Change(forgotten=pack_rows(pa.Table.from_pylist(list(rows))), key=key)


def fitted(rows: Sequence[dict[str, Any]]) -> tb.Evidence:
    """Return the evidence of a fit on the base and further rows."""
    more = {name: [*values, *(row[name] for row in rows)] for name, values in BASE.items()}
    return tb.fit(more, "play").evidence


def receipts(answers: Sequence[Receipt | TallyError]) -> list[Receipt]:
    for answer in answers:
        assert isinstance(answer, Receipt), answer
    return list(answers)  # type: ignore[arg-type]


def a_restart_has_the_same_bits(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    for day in DAYS:
        receipts(kept.change([learn(day)]))
    [last] = receipts(kept.change([forget(DAYS[1])]))
    again = JournaledModel(model(), opened(), folder)
    assert again.model == kept.model
    assert again.model.evidence == fitted([DAYS[0], *DAYS[2:]])
    assert (again.position, again.hash) == (5, last.after)


def a_snapshot_and_the_records_after_it_have_the_same_bits(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder, every=3)
    for day in DAYS * 4:
        receipts(kept.change([learn(day)]))
    assert sorted(one.name for one in folder.glob("*.tally")) == ["12.tally", "15.tally"]
    again = JournaledModel(model(), opened(), folder)
    assert again.model == kept.model
    assert again.model.evidence == fitted(DAYS * 4)


def waiting_changes_share_a_transaction(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    start = kept.hash
    found = receipts(kept.change([forget(DAYS[0]), learn(DAYS[0]), learn(*DAYS)]))
    assert [one.position for one in found] == [3, 1, 2]  # rows are learned before others are forgotten
    assert {(one.before, one.after) for one in found} == {(start, kept.hash)}
    assert [one.rows for one in found] == [1, 1, 4]
    assert kept.model.evidence == fitted(DAYS)


def a_bad_change_is_refused_alone(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    never = {"outlook": "snow", "temperature": 1.0, "play": "no"}
    answers = kept.change([learn(DAYS[0]), forget(never), learn({"outlook": "sunny"}), learn(DAYS[1])])
    assert [type(one) for one in answers] == [Receipt, CannotMerge, type(answers[2]), Receipt]
    assert isinstance(answers[2], TallyError)
    assert kept.model.evidence == fitted(DAYS[:2])
    assert [one.operation for one in opened().receipts()] == ["learn", "learn"]


def a_retry_is_harmless(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    first, twin = receipts(kept.change([learn(DAYS[0], key="a"), learn(DAYS[0], key="a")]))
    assert first == twin
    assert receipts(kept.change([learn(DAYS[0], key="a")])) == [first]
    again = JournaledModel(model(), opened(), folder)
    assert receipts(again.change([learn(DAYS[0], key="a")])) == [first]
    [other] = again.change([learn(DAYS[1], key="a")])
    assert isinstance(other, KeyReused)
    assert "'a'" in str(other)
    assert again.model.evidence == fitted(DAYS[:1])


def a_move_forgets_and_learns_in_one_record(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    receipts(kept.change([learn(DAYS[0])]))
    moved = {**DAYS[0], "play": "no"}
    both = Change(learned=learn(moved).learned, forgotten=forget(DAYS[0]).forgotten)
    [receipt] = receipts(kept.change([both]))
    assert (receipt.operation, receipt.rows) == ("move", 2)
    assert kept.model.evidence == fitted([moved])
    [refused] = kept.change([both])
    assert isinstance(refused, CannotMerge)
    assert kept.model.evidence == fitted([moved])  # neither half is made


def a_calibration_is_a_record_and_grows_stale(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    receipts(kept.change([learn(*DAYS)]))
    calibrated = kept.model.calibrate(BASE)
    [receipt] = receipts(kept.change([Change(calibration=dump_calibration(calibrated))]))
    assert receipt.operation == "calibrate"
    assert receipt.before == receipt.after
    assert kept.model == calibrated
    assert kept.model.calibration is not None
    assert not kept.model.calibration.stale
    assert JournaledModel(model(), opened(), folder).model == calibrated
    receipts(kept.change([learn(DAYS[0]), Change(calibration=dump_calibration(calibrated))]))
    assert kept.model.calibration.stale
    assert JournaledModel(model(), opened(), folder).model == kept.model


def two_processes_arrive_at_the_same_hash(opened: Open, folder: Path) -> None:
    one, other = (JournaledModel(model(), opened(), folder) for _ in range(2))
    for k, day in enumerate(DAYS):
        receipts((one, other)[k % 2].change([learn(day)]))
    receipts(one.change([forget(DAYS[1])]))  # which the other has learned
    assert other.follow()
    assert not other.follow()
    assert one.hash == other.hash
    assert one.model.evidence == other.model.evidence == fitted([DAYS[0], *DAYS[2:]])


def a_long_journal_is_replayed_page_by_page(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder, every=10_000)
    for size in (700, 900, 1):  # no page ends where a transaction does
        receipts(kept.change([learn(DAYS[k % 4]) for k in range(size)]))
        receipts(kept.change([forget(DAYS[0])]))
    again = JournaledModel(model(), opened(), folder)
    assert (again.position, again.hash) == (1604, kept.hash)
    assert again.model == kept.model


def buckets_that_have_widened_are_replayed(opened: Open, folder: Path) -> None:
    """Learn more numbers than a histogram has buckets, and forget them in between: the order matters then."""
    kept = JournaledModel(model(), opened(), folder)
    many = [{**DAYS[0], "temperature": k / 7} for k in range(1500)]
    for start in range(0, 1500, 500):
        receipts(kept.change([learn(*many[start : start + 500])]))
        receipts(kept.change([forget(*many[start : start + 450]), learn(DAYS[0])]))
    again = JournaledModel(model(), opened(), folder)
    assert again.hash == kept.hash
    assert again.model == kept.model


def another_model_is_refused(opened: Open, folder: Path) -> None:
    JournaledModel(model(), opened(), folder)
    with pytest.raises(JournalError, match="the journal began with"):
        JournaledModel(model().learn([DAYS[0]]), opened(), folder)


def a_snapshot_that_the_journal_lacks_is_refused(opened: Open, folder: Path) -> None:
    kept = JournaledModel(model(), opened(), folder)
    receipts(kept.change([learn(DAYS[0])]))
    kept.model.save(folder / "7.tally")
    with pytest.raises(JournalError, match="at least 7 records, got 1 records"):
        JournaledModel(model(), opened(), folder)
    (folder / "7.tally").unlink()
    model().save(folder / "1.tally")
    with pytest.raises(JournalError, match="Remove the snapshot"):
        JournaledModel(model(), opened(), folder)
    (folder / "1.tally").write_bytes(b"torn")
    with pytest.raises(TallyError, match=r"1\.tally"):
        JournaledModel(model(), opened(), folder)


def a_writer_serves_many_threads(opened: Open, folder: Path) -> None:
    seen: list[int] = []
    kept = JournaledModel(model(), opened(), folder, every=20)
    writer = Writer(kept, opened(), changed=lambda one: seen.append(one.position))
    found: list[Receipt] = []

    def client(k: int) -> None:
        for i in range(10):
            found.append(writer.submit(learn(DAYS[(k + i) % 4], key=f"{k} {i}")).result(60))

    threads = [threading.Thread(target=client, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = writer.submit(forget({"outlook": "snow", "temperature": 1.0, "play": "no"}))
    with pytest.raises(CannotMerge):
        refused.result(60)
    writer.close()
    assert sorted(one.position for one in found) == list(range(1, 81))
    assert seen[-1] == 80
    assert kept.model.evidence == fitted(DAYS * 20)


def a_writer_follows_others(opened: Open, folder: Path) -> None:
    arrived = threading.Event()
    kept = JournaledModel(model(), opened(), folder)
    writer = Writer(kept, opened(), changed=lambda _: arrived.set())
    receipts(JournaledModel(model(), opened(), folder).change([learn(*DAYS)]))
    assert arrived.wait(20)
    writer.close()
    assert kept.model.evidence == fitted(DAYS)


CHECKS = [
    a_restart_has_the_same_bits,
    a_snapshot_and_the_records_after_it_have_the_same_bits,
    waiting_changes_share_a_transaction,
    a_bad_change_is_refused_alone,
    a_retry_is_harmless,
    a_move_forgets_and_learns_in_one_record,
    a_calibration_is_a_record_and_grows_stale,
    two_processes_arrive_at_the_same_hash,
    a_long_journal_is_replayed_page_by_page,
    buckets_that_have_widened_are_replayed,
    another_model_is_refused,
    a_snapshot_that_the_journal_lacks_is_refused,
    a_writer_serves_many_threads,
    a_writer_follows_others,
]
