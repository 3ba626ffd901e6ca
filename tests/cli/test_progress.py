"""The progress bar: only on a terminal and after a second; it does not change rows."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.cli.inputs import estimated_rows, with_progress
from tallybayes.display import progress

ROWS = "a,b\n" + "".join(f"{k},x\n" for k in range(20_000))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watching(monkeypatch: pytest.MonkeyPatch, patience: float = 0.0) -> Terminal:
    """Make standard error a terminal, within the test because pytest replaces it before."""
    made = Terminal()
    monkeypatch.setattr("sys.stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    return made


def test_nobody_watching_means_no_bar(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(ROWS)
    source = tb.read(path)
    assert with_progress(source, [str(path)]) is source


def test_quick_work_shows_no_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watching(monkeypatch, 60.0)
    path = tmp_path / "r.csv"
    path.write_text(ROWS)
    source = tb.read(path)
    assert sum(batch.num_rows for batch in with_progress(source, [str(path)])) == 20_000
    assert terminal.getvalue() == ""


def test_long_work_shows_rows_and_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watching(monkeypatch)
    path = tmp_path / "r.csv"
    path.write_text(ROWS)
    source = tb.read(path, batch_rows=1000)
    kept = list(with_progress(source, [str(path)]))
    assert [batch.num_rows for batch in kept] == [1000] * 20
    assert "20,000 rows, " in terminal.getvalue()
    assert "r.csv" in terminal.getvalue()


def test_a_fit_behind_the_bar_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watching(monkeypatch)
    path = tmp_path / "r.csv"
    path.write_text("x,y\n" + "".join(f"{k % 7},{'ab'[k % 2]}\n" for k in range(5000)))
    assert tb.fit(with_progress(tb.read(path), [str(path)]), "y") == tb.fit(path, "y")
    assert "5,000 rows" in terminal.getvalue()


def test_rows_are_estimated_by_the_length_of_the_first(tmp_path: Path) -> None:
    plain, packed = tmp_path / "r.csv", tmp_path / "r.csv.gz"
    many = ROWS * 30
    plain.write_text(many)
    packed.write_bytes(gzip.compress(many.encode()))
    lines = many.count("\n")
    assert estimated_rows([str(plain)]) == pytest.approx(lines, rel=0.1)
    assert estimated_rows([str(packed)]) == pytest.approx(lines, rel=0.5)
    assert estimated_rows([str(tmp_path / "r.c*")]) == pytest.approx(2 * lines, rel=0.5)
    assert estimated_rows([str(tmp_path / "none.csv")]) is None
