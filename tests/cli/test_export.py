"""`tally export`: each target is written, and what cannot be is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.cli.main import main


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tb.fit({"x": ["p", "q"] * 5, "z": [1.0, 2.5] * 5, "y": ["no", "yes"] * 5}, "y").save("m.tally")
    return Path("m.tally")


def test_each_target_is_written(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for ending in ("sql", "json", "html", "onnx"):
        assert main(["export", str(model), "-o", f"out.{ending}"]) == 0
        assert capfd.readouterr().out == f"Wrote out.{ending}.\n"
    assert Path("out.sql").read_text().startswith("WITH ")
    assert tb.from_json(Path("out.json").read_text()).classes == ("no", "yes")
    assert Path("out.html").read_text().startswith("<!DOCTYPE html>")
    onnx = pytest.importorskip("onnx")
    onnx.checker.check_model(onnx.load("out.onnx"))


def test_it_is_printed_without_a_file(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(model), "--to", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["label"] == "y"
    assert main(["export", str(model), "--to", "sql", "--dialect", "sqlite", "--table", "a.b", "--keep", "id"]) == 0
    out = capfd.readouterr().out
    assert 'FROM "a"."b"' in out
    assert '"id"' in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to", "pmml"], "--to: wanted one of sql, onnx, json, html, got 'pmml'."),
        ([], "--to: wanted one of sql, onnx, json, html, got none."),
        (["--to", "onnx"], "--output: wanted a file for ONNX, got none. Pass -o model.onnx."),
        (["--to", "sql", "--dialect", "oracle"], "dialect: wanted one of duckdb, "),
    ],
)
def test_what_cannot_be_is_refused(
    model: Path, capfd: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["export", str(model), *words]) == 2
    assert sentence in capfd.readouterr().err


def test_an_existing_file_stays_unless_forced(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("out.json").write_text("mine")
    assert main(["export", str(model), "-o", "out.json"]) == 2
    assert Path("out.json").read_text() == "mine"
    assert main(["export", str(model), "-o", "out.json", "--force"]) == 0
    assert "tallybayes scorecard" in Path("out.json").read_text()
