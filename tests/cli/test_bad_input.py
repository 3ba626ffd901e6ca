"""Bad input: one line with place, wanted and got; exit code 2; no partial output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather

from tallybayes.cli import outputs
from tallybayes.cli.exit import BAD_INPUT, BROKEN_PIPE, INTERRUPTED, run

from .shell import WEATHER, Shell


def left(folder: str = ".") -> set[str]:
    """Return the files of a folder, hidden ones included."""
    return set(os.listdir(folder))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "bad.csv: wanted a header line, got an empty file."),
        ("\n\n", "bad.csv: wanted a header line, got blank lines only."),
        ("a,b,play\n", "bad.csv: wanted rows to learn from, got none."),
        ("a,b\n1,2\n", "bad.csv: wanted a column 'play' for --label, got none of that name. There are 'a' and 'b'."),
        ("a,plya\n1,x\n", "bad.csv: wanted a column 'play' for --label, got none of that name. Did you mean 'plya'?"),
        ("a,play\n1,yes\n2,yes\n", "label 'play': wanted at least two classes, got only 'yes'."),
        (
            "a,play\n1,yes\n2\n",
            "bad.csv: wanted 2 values in every row, got 1 in row 2: '2'."
            " Fix the line, or skip it with --bad-lines skip.",
        ),
    ],
)
def test_files_that_are_not_what_they_should_be(tally: Shell, content: str, sentence: str) -> None:
    Path("bad.csv").write_text(content)
    before = left()
    assert tally.refused("fit bad.csv --label play") == sentence
    assert left() == before


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("fit wether.csv -l play", "wether.csv: wanted a file, got none at that path. Did you mean 'weather.csv'?"),
        ("fit 'no*.csv' -l play", "no*.csv: wanted files that match, got none."),
        ("fit folder -l play", "folder: wanted a directory of data files, got one without any. Pass a glob"),
        ("fit garbage.csv -l play", "garbage.csv: wanted text, got binary data (it begins "),
        ("fit weather.csv -l play --event tempo=gaussian", "--event: wanted names or globs of columns, got 'tempo'."),
        ("fit weather.csv -l play --event outlook=gaussian", "column 'outlook': wanted numbers"),
        ("fit weather.csv -l play --event outlook=normal", "--event outlook: wanted "),
        ("fit weather.csv -l play --drop widny", "--drop: wanted a column or glob, got 'widny'. Did you mean 'windy'?"),
        ("fit weather.csv -l play --alpha much", "--alpha: wanted a number not below 0, 'average', 'loo'"),
        ("fit weather.csv -l play --prior yes=often", "--prior: wanted a probability for each class, got 'often'."),
        ("fit weather.csv -l play --prior yes=0.5,no=0.6", "--prior: wanted 2 numbers summing to 1"),
        ("fit weather.csv -l play --threads 0", "--threads: wanted a whole number from 1, got 0."),
        ("fit weather.csv -l play --format docx", "--format: wanted one of csv, tsv, "),
        ("fit weather.csv -l play -o no/such/m.tally", "no/such/m.tally: wanted a directory to write to, got "),
        ("fit weather.csv -l play -o folder", "folder: wanted a file to write, got a directory."),
        ("fit weather.csv -l play --estimate guess", "--estimate: wanted one of bayes, map, mle, got 'guess'."),
        ("fit weather.csv --lable play", "No such option: --lable"),
        ("fit", "DATA: wanted files, or a query with --sql, got neither."),
        ("fitt weather.csv", "No such command or file 'fitt'. Did you mean 'fit'?"),
        ("nothing.csv", "nothing.csv: wanted a file, got none at that path."),
        ("predict weather.csv days.csv", "model file 'weather.csv': wanted a tallybayes model, got something else"),
        ("predict none.tally days.csv", "model file 'none.tally': no such file."),
        ("predict m.tally other.csv", "other.csv: wanted the columns of the model, got none of them but a, b."),
        ("predict m.tally days.csv --threshold yse=0.5", "--threshold: wanted a class of 'play', got 'yse'."),
        ("predict m.tally days.csv --costs '0,1;2'", "--costs: wanted rows of the same length"),
        ("predict m.tally days.csv -o a.xls", "a.xls: wanted a file ending in .csv, .tsv, .txt, "),
        ("validate weather.csv -l play --how often", "--how: wanted one of 'loo', '10-fold', "),
        ("validate weather.csv -l play --require acuracy=1", "--require: wanted one of accuracy, "),
        ("validate weather.csv -l play --require accuracy=high", "--require: wanted a number after accuracy="),
        ("evaluate weather.csv -l play", "weather.csv: wanted columns P(class), or one named 'predicted'"),
        ("evaluate m.tally weather.csv --weight w", "weather.csv: wanted a column 'w', got none of that name."),
        ("show m.tally --column outlok", "--column: wanted a column of the model, got 'outlok'. Did you mean"),
        ("explain m.tally outlok=sunny", "the row: wanted columns of the model, got 'outlok'. Did you mean 'outlook'?"),
        ("explain m.tally temperature=warm", "the row, column 'temperature': wanted a value of type double"),
        ("explain m.tally sunny", "the row: wanted NAME=VALUE, got 'sunny'."),
        ("explain m.tally '{\"outlook\"'", "the row: wanted a JSON object, got "),
        ("explain m.tally days.csv:9", "days.csv: wanted a row from 1 to 2, got 9."),
        ("explain m.tally outlook=sunny --of maybe", "--of: wanted a class of 'play', got 'maybe'."),
        ("forget m.tally strange.csv -o x.tally", "cannot"),
        ("learn m.tally week.csv", "m.tally: wanted a new file, got one that exists."),
        ("merge m.tally -o x.tally", "merge: wanted two models or more, got 1."),
        ("sample m.tally --given play=maybe", "--given: wanted a class of 'play', got 'maybe'."),
        ("sample m.tally -n -1", "-n: wanted a whole number not below 0, got -1."),
        ("query weather.csv 'play=yes | '", "query 'play=yes | ': wanted a column or a value, got its end."),
        ("query weather.csv 'plya=yes'", "query 'plya=yes': wanted columns of weather.csv, got 'plya'."),
        ("query weather.csv 'play=yes' -o answer.pdf", "answer.pdf: wanted a file ending in .json or .txt"),
        ("compare weather.csv -l play --how loo", "--how: wanted folds, such as '10-fold' or '10x10', got 'loo'."),
        ("compare weather.csv -l play --partner tree", "--partner: wanted some of ridge, lasso, forest, "),
        ("report missing.csv", "missing.csv: wanted a file, got none at that path."),
        ("demo wether", "demo: wanted one of weather, numeric, spam, digits, xor, loo, got 'wether'."),
    ],
)  # fmt: skip
def test_errors_are_one_line(tally: Shell, line: str, sentence: str) -> None:
    tally.done("fit weather.csv --label play -o m.tally")
    Path("folder").mkdir()
    Path("garbage.csv").write_bytes(bytes(range(4)) * 50)
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("strange.csv").write_text("outlook,temperature,humidity,windy,play\nfoggy,1,2,true,no\n")
    before = left()
    assert tally.refused(line).startswith(sentence)
    assert left() == before


def test_standard_input_is_called_so(tally: Shell) -> None:
    assert tally.refused("fit - -l play", stdin=b"") == "standard input: wanted rows, got nothing."
    sentence = tally.refused("fit - -l play", stdin=b"a,play\n1,x\n2\n")
    assert sentence.startswith("standard input: wanted 2 values in every row, got 1 in row 2: '2'. ")


def test_numbers_mixed_with_text_are_named_with_their_row(tally: Shell) -> None:
    Path("mixed.csv").write_text(WEATHER.replace("rainy,70,", "rainy,warm,"))
    sentence = tally.refused("fit mixed.csv -l play --event temperature=gaussian")
    assert "column 'temperature': wanted numbers" in sentence
    assert "'warm'" in sentence


def test_another_delimiter_is_found_and_reported(tally: Shell) -> None:
    Path("semicolon.csv").write_text(WEATHER.replace(",", ";"))
    ran = tally("fit semicolon.csv -l play")
    assert ran.code == 0
    assert ran.err.startswith("tally: semicolon.csv: values are separated by ';', not by ','.\n")


def test_nothing_is_overwritten_unless_forced(tally: Shell, model: str) -> None:
    Path("a.json").write_text("old")
    asked = "query weather.csv play=yes -o a.json"
    for line in ("fit weather.csv -l play", f"predict {model} days.csv -o days.csv", asked):
        assert "wanted a new file, got one that exists. Pass --force" in tally.refused(line)
    assert Path("a.json").read_text() == "old"
    tally.done(f"{asked} --force")
    assert Path("a.json").read_text() != "old"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interrupted_write_leaves_the_old_file(
    tally: Shell, model: str, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    Path("answers.csv").write_text("old")
    before = left()

    def fail(self: object, batch: object) -> None:
        raise error

    monkeypatch.setattr(outputs._Delimited, "write", fail)
    ran = tally(f"predict {model} days.csv -o answers.csv --force")
    expected = {
        KeyboardInterrupt: (INTERRUPTED, "tally: interrupted.\n"),
        OSError: (BAD_INPUT, "tally: answers.csv: wanted a place to write, got No space left on device.\n"),
    }
    assert (ran.code, ran.err) == expected[type(error)]
    assert Path("answers.csv").read_text() == "old"
    assert left() == before


def test_a_directory_that_is_read_only(tally: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("folder").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    sentence = tally.refused("fit weather.csv -l play -o folder/m.tally")
    assert sentence == "folder/m.tally: wanted a writable directory, got a read-only one."


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.usefixtures("tally", "model")
def test_a_full_disk_behind_a_pipe() -> None:
    with open("/dev/full", "wb") as full:
        done = _run("predict", "weather.tally", "days.csv", stdout=full)
    assert done.returncode == BAD_INPUT
    assert done.stderr.decode().startswith("tally: the output: wanted to read and write, got No space left on device.")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.usefixtures("tally", "model")
def test_a_closed_pipe_ends_the_command_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = _run("predict", "weather.tally", "days.csv", stdout=closed)
    assert (done.returncode, done.stderr) == (BROKEN_PIPE, b"")


def _run(*words: str, stdout: object) -> subprocess.CompletedProcess[bytes]:
    code = "from tallybayes.cli.main import script; script()"
    return subprocess.run([sys.executable, "-c", code, *words], stdout=stdout, stderr=subprocess.PIPE, check=False)  # type: ignore[call-overload]


def test_every_way_to_end_has_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    def raising(error: BaseException) -> Callable[[], None]:
        def work() -> None:
            raise error

        return work

    assert run(lambda: None) == 0
    assert run(raising(KeyboardInterrupt())) == INTERRUPTED
    assert run(raising(MemoryError())) == BAD_INPUT
    assert run(raising(PermissionError(13, "Permission denied", "secret.csv"))) == BAD_INPUT
    assert "tally: secret.csv: wanted to read and write, got Permission denied.\n" in capsys.readouterr().err


def test_a_warning_is_one_line(tally: Shell) -> None:
    Path("ab.csv").write_text("x,y\np,a\np,a\nq,b\nq,b\n")
    tally.done("fit ab.csv -l y --estimate mle --no-calibrate --unseen smooth -o ab.tally")
    Path("new.csv").write_text("x\nr\n")
    ran = tally("predict ab.tally new.csv")
    assert ran.code == 0
    assert ran.err.startswith("tally: warning: ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("options", ["", "--interval 0.9", "--abstain 0.5"])
def test_a_bad_row_is_named_by_its_number_in_the_whole_file(tally: Shell, options: str) -> None:
    Path("few.csv").write_text("n,y\n0,p\n1,q\n2,p\n3,q\n")
    tally.done("fit few.csv --label y --event n=poisson -o few.tally")
    numbers = pa.table({"n": [0] * 3500 + [-1]})
    feather.write_feather(numbers, "many.arrow", chunksize=1000)
    assert "row 3501" in tally.refused(f"predict few.tally many.arrow -o out.csv {options}")
