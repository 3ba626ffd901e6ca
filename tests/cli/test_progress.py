"""The progress bar: only on a terminal and after a second; it does not change rows."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.cli.inputs import estimated_rows, share_read, with_progress
from tallybayes.cli.main import main
from tallybayes.display import progress
from tallybayes.sources import ReadOptions, open_source

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


def test_rows_of_plain_text_are_estimated_by_the_length_of_the_first(tmp_path: Path) -> None:
    plain, packed = tmp_path / "r.csv", tmp_path / "r.csv.gz"
    many = ROWS * 30
    plain.write_text(many)
    packed.write_bytes(gzip.compress(many.encode()))
    assert estimated_rows([str(plain)]) == pytest.approx(many.count("\n"), rel=0.1)
    assert estimated_rows([str(packed)]) is None
    assert estimated_rows([str(tmp_path / "none.csv")]) is None


@pytest.mark.parametrize("ending", ["gz", "bz2", "zip"])
def test_of_compressed_files_the_bar_shows_the_share_of_their_own_bytes(tmp_path: Path, ending: str) -> None:
    # The first half shrinks to almost nothing: by the text, the bar would stand at half when the work has just begun.
    rng = np.random.default_rng(0)
    lines = ["1,1,x\n"] * 400_000 + [f"{a},{b},y\n" for a, b in rng.integers(0, 10**9, (100_000, 2))]
    text = ("a,b,c\n" + "".join(lines)).encode()
    path = tmp_path / f"r.csv.{ending}"
    if ending == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("r.csv", text)
    else:
        path.write_bytes(gzip.compress(text) if ending == "gz" else bz2.compress(text))
    source = open_source(path, ReadOptions(), look_bytes=1 << 18)
    assert source.trail is not None
    share = share_read(source.trail.files)
    assert share is not None
    seen = [(batch.num_rows, share()) for batch in source]
    shares = [one for _, one in seen]
    assert shares == sorted(one for one in shares if one is not None)
    assert shares[-1] == pytest.approx(1.0, abs=0.02)
    assert min(shares) < (0.6 if ending == "zip" else 0.4)  # of a zip archive, the text is counted
    assert sum(rows for rows, _ in seen) == 500_000


def test_a_share_of_the_work_gives_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watching(monkeypatch)
    with progress.counting("r.csv.gz", "rows", None, lambda: 0.25) as show:
        show(500)
    assert "500 rows" in terminal.getvalue()
    assert progress._part(500, None, lambda: 0.25) == 0.25
    assert progress._part(500, 1000, None) == 0.5
    assert progress._part(500, 400, None) == 1.0  # an estimate that was too low
    assert progress._part(500, None, None) is None


def test_parts_of_parts_fill_the_bar_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    watching(monkeypatch, 60.0)
    seen: list[float] = []
    with progress.working("all"):
        bar = progress._BAR.get()
        assert bar is not None
        monkeypatch.setattr(bar, "show", lambda share: seen.append(bar.span[0] + (bar.span[1] - bar.span[0]) * share))
        with progress.span(0.0, 0.5):
            for _ in progress.parts(["a", "b"]):
                with progress.counting("rows", "rows", 10) as show:
                    show(5)
        with progress.span(0.5, 1.0):
            pass
    assert seen == sorted(seen)
    assert {0.0, 0.125, 0.25, 0.375, 0.5, 1.0} <= set(seen)


@pytest.mark.parametrize("command", ["validate", "compare", "report"])
def test_long_commands_show_a_bar_with_a_percentage(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = watching(monkeypatch)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    path = tmp_path / "r.csv"
    path.write_text("x,y\n" + "".join(f"{'pqr'[k % 3]},{'ab'[k % 2]}\n" for k in range(60)))
    more = {"compare": ["--partner", "none"], "report": ["-o", str(tmp_path / "r.html")]}
    assert main([command, str(path), "--label", "y", *more.get(command, [])]) == 0
    assert "100%" in terminal.getvalue()
