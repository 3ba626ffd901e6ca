"""Killed runs resume to the same bits as an uninterrupted run."""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv
from pyarrow import parquet as pa_parquet

import tallybayes as tb
from tallybayes.cli.main import main
from tallybayes.errors import BadData, BadModelFile, BadOption
from tallybayes.evidence import container, count
from tallybayes.sources import csv, files, jsonl, parquet
from tallybayes.storage import atomic_write
from tallybayes.storage.checkpoint import Checkpoint
from tallybayes.storage.model_file import dump
from tests.cli.shell import Shell
from tests.faults.child import ended

ROWS = 6000


def in_small_pieces(put: Callable[[Any, str, int], None]) -> None:
    """Read small files in as many pieces as large ones."""
    for module, name in (
        (files, "SAMPLE_BYTES"),
        (files, "LEAST_SAMPLE"),
        (csv, "PIECE"),
        (jsonl, "PIECE"),
        (parquet, "BATCH_BYTES"),
        (count, "_TOGETHER"),
    ):
        put(module, name, 1 << 14)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_pieces(monkeypatch.setattr)


def table() -> pa.Table:
    rng = np.random.default_rng(8)
    said = np.array(["we had a fine day", "it rained, and then some", "all of us went home", "nobody was there today"])
    x = rng.normal(size=ROWS)
    return pa.table(
        {
            "x": pa.array(x, mask=x > 2),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
            "said": [f"{a} {b}" for a, b in zip(rng.choice(said, ROWS), rng.choice(said, ROWS), strict=True)],
            "times": rng.integers(1, 4, ROWS),
            "y": rng.choice(["no", "yes"], ROWS),
        }
    )


def as_csv(rows: pa.Table) -> bytes:
    out = io.BytesIO()
    pa_csv.write_csv(rows, out)
    return out.getvalue()


def as_lines(rows: pa.Table) -> bytes:
    return "\n".join(json.dumps(row) for row in rows.to_pylist()).encode()


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the same rows in every format."""
    folder, rows = tmp_path_factory.mktemp("formats"), table()
    (folder / "one.csv").write_bytes(as_csv(rows))
    (folder / "one.jsonl").write_bytes(as_lines(rows))
    (folder / "one.csv.gz").write_bytes(gzip.compress(as_csv(rows)))
    pa_parquet.write_table(rows, folder / "one.parquet", row_group_size=2500)
    (folder / "many").mkdir()
    for k in range(4):
        (folder / "many" / f"{k}.csv").write_bytes(as_csv(rows.slice(k * ROWS // 4, ROWS // 4)))
    return folder


@pytest.fixture
def folder(formats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the rows in every format, and run commands beside them."""
    shutil.copytree(formats, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tally(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capfd, monkeypatch)


def killed(line: str, at: int, where: str = "after") -> None:
    """Run a command that reads in small pieces and is killed at a save: after it, or in the middle of it."""
    left, write = at, atomic_write.write

    def kill(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def write_until_killed(*what: Any) -> None:
        nonlocal left
        left -= 1
        if not left and where == "midst":
            os.replace = kill  # type: ignore[assignment]
        write(*what)
        if not left:
            kill()

    def work() -> None:  # in the child: nothing is set back
        in_small_pieces(setattr)
        atomic_write.write = write_until_killed
        main(shlex.split(line))

    assert ended(work) == -signal.SIGKILL


def rows_saved(path: str = "ck.tally") -> int:
    header, _ = container.unpack(Path(path).read_bytes(), path)
    return int(header["more"]["rows"])


def left_beside() -> list[str]:
    return [name for name in os.listdir() if "ck.tally" in name]


@pytest.fixture
def stopped(folder: Path, small_pieces: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run stopped by Ctrl-C."""
    interrupted("one.csv", monkeypatch)
    assert 0 < rows_saved() < ROWS
    return folder


def interrupted(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run until the third save, then send Ctrl-C."""
    write, saved = atomic_write.write, []

    def written(*what: Any) -> None:
        write(*what)
        saved.append(what)
        if len(saved) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic_write, "write", written)
        with pytest.raises(KeyboardInterrupt):
            tb.fit(data, "y", checkpoint=Checkpoint("ck.tally", 0))


@pytest.mark.parametrize(
    ("data", "how"),
    [
        ("one.csv", "--weight times --missing-as category"),
        ("one.jsonl", "--drop said"),
        ("one.csv.gz", "--no-calibrate"),
        ("one.parquet", "--weight times"),
        ("one.parquet", ["--where", "x > -1.5 and colour != 'red'"]),
        ("spoilt.csv", "--drop said --bad-lines skip"),
        ("spoilt.jsonl", "--drop said --bad-lines skip"),
        ("many/*.csv", "--threads 1 --drop said"),
    ],
)
def test_a_command_that_is_killed_goes_on_to_the_same_bits(
    tally: Shell, small_pieces: None, data: str, how: str | list[str]
) -> None:
    spoil()
    how = shlex.join(how) if isinstance(how, list) else how
    whole = tally(f"fit {data} --label y {how} -o whole.tally")
    assert whole.code == 0, whole.err
    line = f"fit {data} --label y {how} -o part.tally --checkpoint ck.tally --checkpoint-every 0"
    killed(line, at=3)
    rows = rows_saved()
    assert 0 < rows < ROWS
    ran = tally(line)
    assert ran.code == 0, ran.err
    assert f"tally: checkpoint 'ck.tally': resuming after {rows:,} rows." in ran.err
    assert Path("part.tally").read_bytes() == Path("whole.tally").read_bytes()
    assert not left_beside()
    if "skip" in how:  # the line before the place where the run goes on is counted, the one behind it told
        place = 3999 + data.endswith("csv")
        assert "skipped 2 of 6,002 lines" in whole.err
        assert f"skipped 2 of 6,002 lines: {data} line {place} has " in ran.err
        assert "and 1 more" in ran.err


def spoil() -> None:
    """Write text files with two malformed lines."""
    for name, bad in (("csv", b"too,few\n"), ("jsonl", b"{nothing}\n")):
        told = Path(f"one.{name}").read_bytes().splitlines(keepends=True)
        header = int(name == "csv")
        told.insert(header, bad)
        told.insert(header + 3998, bad)
        Path(f"spoilt.{name}").write_bytes(b"".join(told))


def test_a_run_may_be_killed_again_and_again(folder: Path) -> None:
    line = "fit many/*.csv --label y -o part.tally --checkpoint ck.tally --checkpoint-every 0"
    rows = [0]
    for at in (2, 15, 3):
        killed(line, at)
        rows.append(rows_saved())
    assert rows == sorted(set(rows))
    assert rows[-1] < ROWS
    assert dump(tb.fit("many/*.csv", "y", checkpoint="ck.tally")) == dump(tb.fit("one.csv", "y"))
    assert not left_beside()


def test_a_run_killed_while_it_saves_goes_on_from_the_saving_before(folder: Path) -> None:
    line = "fit one.csv --label y -o part.tally --checkpoint ck.tally --checkpoint-every 0"
    killed(line, at=3, where="midst")
    assert len(left_beside()) == 2
    assert 0 < rows_saved() < ROWS
    model = tb.fit("one.csv", "y", checkpoint="ck.tally")
    assert dump(model) == dump(tb.fit("one.csv", "y"))
    assert not left_beside()


def test_a_command_is_killed_from_outside_and_goes_on(tally: Shell) -> None:
    Path("long").mkdir()
    for k in range(30):
        os.link("one.csv", f"long/{k:02}.csv")
    line = "fit long/*.csv --label y --drop said -o part.tally --checkpoint ck.tally"
    run = f"from tallybayes.cli.main import main; main({f'{line} --checkpoint-every 0'.split()!r})"
    with subprocess.Popen([sys.executable, "-c", run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not Path("ck.tally").exists():
            assert process.poll() is None
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert 0 < rows_saved() < 30 * ROWS
    tally.done(line)
    assert Path("part.tally").read_bytes() == dump(tb.fit("long/*.csv", "y", events={"said": "ignore"}))


def test_ctrl_c_saves_and_says_how_to_go_on(stopped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = rows_saved()
    assert dump(tb.fit("one.csv", "y", checkpoint="ck.tally")) == dump(tb.fit("one.csv", "y"))
    assert capfd.readouterr().err == f"tallybayes: checkpoint 'ck.tally': resuming after {rows:,} rows.\n"
    assert not left_beside()


def test_a_failed_run_saves_its_progress(
    folder: Path, small_pieces: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Path("one.csv").open("a") as file:
        file.write("too,few\n")
    with pytest.raises(BadData, match="5 values in every row, got 2 in row 6001"):
        tb.fit("one.csv", "y", checkpoint="ck.tally")  # which saves every minute
    rows = rows_saved()
    assert rows > ROWS / 2
    said = f"checkpoint 'ck.tally': {rows:,} rows are saved; run the same again to resume."
    assert said in capfd.readouterr().err


def test_a_type_that_is_found_late_starts_the_run_over(folder: Path, small_pieces: None) -> None:
    rows = as_csv(table().drop_columns(["said"]))
    first, _, rest = rows.partition(b"\n")
    lines_ = rest.splitlines(keepends=True)
    lines_[4000] = b"1,red,2.5,no\n"  # until here `times` were whole numbers
    Path("late.csv").write_bytes(first + b"\n" + b"".join(lines_))
    whole = dump(tb.fit("late.csv", "y"))
    line = "fit late.csv --label y -o part.tally --checkpoint ck.tally --checkpoint-every 0"
    for at, types in ((2, {}), (10, {"times": pa.float64()})):  # before the run has started over, and after
        killed(line, at)
        assert Checkpoint("ck.tally").types() == types
        assert dump(tb.fit("late.csv", "y", checkpoint="ck.tally")) == whole
        assert not left_beside()


def test_a_checkpoint_of_all_rows_is_gone_on_from_as_well(
    folder: Path, small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Checkpoint("ck.tally", 0, kept=True)
    first = tb.fit("one.parquet", "y", checkpoint=kept)
    assert rows_saved() == ROWS
    assert dump(tb.fit("one.parquet", "y", checkpoint="ck.tally")) == dump(first)
    assert not left_beside()


def test_what_does_not_change_the_counts_may_change(stopped: Path) -> None:
    choices: dict[str, Any] = {"estimate": "map", "alpha": 2.0, "events": {"x": "histogram", "times": "histogram"}}
    model = tb.fit("one.csv", "y", **choices, threads=1, checkpoint="ck.tally")
    assert dump(model) == dump(tb.fit("one.csv", "y", **choices))


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"weights": "times"}, "wanted weights to be none, as before, got 'times'"),
        ({"events": {"x": "lognormal"}}, "wanted events of 'x' to be 'histogram', as before, got 'lognormal'"),
        ({"estimate": "map"}, "wanted events of 'times' to be 'histogram', as before, got 'gaussian'"),
        ({"missing": "error"}, "wanted missing to be 'skip', as before, got 'error'"),
        ({"missing_values": ["red"]}, "wanted missing_values to be 'auto', as before, got ['red']"),
        ({"errors": "replace"}, "wanted errors to be 'strict', as before, got 'replace'"),
        ({"bad_lines": "skip"}, "wanted bad_lines to be 'error', as before, got 'skip'"),
        ({"where": "x > 0"}, "wanted where to be none, as before, got 'x > 0'"),
        ({"calibrate": None, "alpha": 1.0}, "wanted calibrate to be True, as before, got False"),
        ({"label": "colour"}, "wanted label to be 'y', as before, got 'colour'"),
    ],
)
def test_other_options_are_refused(stopped: Path, options: dict[str, Any], difference: str) -> None:
    before = Path("ck.tally").read_bytes()
    with pytest.raises(BadOption) as caught:
        tb.fit("one.csv", checkpoint="ck.tally", **{"label": "y", **options})
    do = "Resume with the same data and options, or delete it to start over."
    assert str(caught.value) == f"checkpoint 'ck.tally': {difference}. {do}"
    assert Path("ck.tally").read_bytes() == before


def test_other_data_is_refused(stopped: Path) -> None:
    def refused(data: Any) -> str:
        with pytest.raises(BadOption, match=r"checkpoint 'ck.tally': wanted the files as they were, got ") as caught:
            tb.fit(data, "y", checkpoint="ck.tally")
        return str(caught.value).split(", got ")[1].split(". Resume with")[0].replace(f"{stopped}/", "")

    assert refused("many/*.csv") == "another one, 'many/0.csv'"
    assert refused(["one.csv", "many/0.csv"]) == "another one, 'many/0.csv'"
    os.utime("one.csv", (1, 1))
    assert refused("one.csv") == "'one.csv' written to since"


def test_a_run_over_several_files_wants_all_of_them_in_their_order(
    folder: Path, small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ["many/0.csv", "many/1.csv"]
    interrupted(both, monkeypatch)
    with pytest.raises(BadOption, match=r"got them without '.*1\.csv'\."):
        tb.fit(both[:1], "y", checkpoint="ck.tally")
    with pytest.raises(BadOption, match=r"got another order of them\."):
        tb.fit(both[::-1], "y", checkpoint="ck.tally")
    with Path("many/1.csv").open("a") as file:
        file.write("1,red,it was so,1,yes\n")
    with pytest.raises(BadOption, match=r"got '.*1\.csv' written to since\."):
        tb.fit(both, "y", checkpoint="ck.tally")


@pytest.mark.parametrize("part", ["cut", "altered", "empty", "model"])
def test_a_file_that_is_not_a_checkpoint_is_refused_and_kept(stopped: Path, part: str) -> None:
    file = Path("ck.tally")
    whole = file.read_bytes()
    middle = len(whole) // 2
    other = whole[middle] ^ 1
    file.write_bytes(
        {
            "cut": whole[:middle],
            "altered": whole[:middle] + bytes([other]) + whole[middle + 1 :],
            "empty": b"",
            "model": dump(tb.fit("one.csv", "y")),
        }[part]
    )
    before = file.read_bytes()
    with pytest.raises(BadModelFile) as caught:
        tb.fit("one.csv", "y", checkpoint=file)
    want = "wanted a saved run, got another file, or a damaged one"
    assert str(caught.value) == f"checkpoint 'ck.tally': {want}. Delete it to start over, or name another."
    assert file.read_bytes() == before


@pytest.mark.parametrize("data", ["frame", "query", "stream"])
def test_rows_without_a_place_to_go_on_from_are_refused(folder: Path, data: str) -> None:
    source: Any = {"frame": table(), "query": "SELECT * FROM 'one.parquet'", "stream": table().to_reader()}[data]
    with pytest.raises(BadOption, match=r"checkpoint: wanted files, whose rows keep their order, got the .*parquet"):
        tb.fit(source, "y", connection="duckdb" if data == "query" else None, checkpoint="ck.tally")


def test_labels_that_are_not_in_the_files_are_refused(folder: Path) -> None:
    with pytest.raises(BadOption, match=r"label: wanted the name of a column, with a checkpoint, got a list"):
        tb.fit("one.csv", ["no"] * ROWS, checkpoint="ck.tally")


@pytest.mark.parametrize(
    ("path", "every", "said"),
    [
        ("nowhere/ck.tally", 60, "checkpoint: wanted a place to write, got no folder 'nowhere' to write to."),
        ("many", 60, "checkpoint: wanted a place to write, got the folder 'many'."),
        ("ck.tally", -1, "checkpoint: wanted a number of seconds between saves, got -1."),
        ("ck.tally", float("nan"), "checkpoint: wanted a number of seconds between saves, got nan."),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused_before_the_run(
    folder: Path, path: str, every: float, said: str
) -> None:
    with pytest.raises(BadOption) as caught:
        Checkpoint(path, every)
    assert str(caught.value) == said


def test_a_disk_that_is_full_does_not_stop_the_run(
    folder: Path, small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="No space left.*The run continues without it"):
        model = tb.fit("one.csv", "y", checkpoint=Checkpoint("ck.tally", 0))
    assert dump(model) == dump(tb.fit("one.csv", "y"))
    assert not left_beside()


def test_the_command_line_refuses_what_cannot_be_gone_on_from(tally: Shell) -> None:
    said = tally.refused("fit - --label y --checkpoint ck.tally", stdin=b"x,y\n1,a\n")
    assert said == "--checkpoint: wanted files, which can be read again, got standard input. Save it to a file first."
    said = tally.refused("fit one.csv --label y --checkpoint one.tally")
    assert said == "--checkpoint: wanted another file than the model's, got 'one.tally'. Name the model with -o."


def test_the_checkpoint_stays_until_the_model_is_saved(
    tally: Shell, small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "fit one.csv --label y -o m.tally --checkpoint ck.tally --checkpoint-every 0"

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tallybayes.model.Model.save", full)
        assert tally(line).code == 2
    assert rows_saved() == ROWS
    assert f"resuming after {ROWS:,} rows" in tally(line).err
    assert tb.load("m.tally") == tb.fit("one.csv", "y")
    assert not left_beside()
