"""Csv that a spreadsheet opens runs nothing: texts that begin like formulas get an apostrophe."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallybayes.display.quote_formulas import quote_formulas

from .shell import Shell

TEXTS = ["=cmd|' /C calc'!A0", "+1+2", "-2+3", "@SUM(A1)", "\tx", "-5", "+.5e3", "-", "a=b", "", "x"]
QUOTED = [f"'{text}" for text in TEXTS[:5]] + TEXTS[5:]


@pytest.fixture
def texts(tally: Shell) -> Shell:
    rows = [["=head", "class"], *([text, "@a" if k % 2 else "b"] for k, text in enumerate(TEXTS * 2))]
    with Path("texts.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    tally.done("fit texts.csv --label class --event categorical -o texts.tally")
    return tally


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(text.splitlines(), delimiter=delimiter))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_formulas_of_every_text_type_are_quoted_and_numbers_are_not(kind: pa.DataType) -> None:
    given = pa.array([*TEXTS, None]).cast(kind)
    assert quote_formulas(given).to_pylist() == [*QUOTED, None]
    assert quote_formulas(given).type == kind


def test_numbers_are_written_as_they_are() -> None:
    numbers = pa.array([-1.5, 2.0])
    assert quote_formulas(numbers) is numbers


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_predict_quotes_cells_and_header(texts: Shell, ending: str) -> None:
    import gzip

    texts.done(f"predict texts.tally texts.csv -o out.{ending}")
    content = Path(f"out.{ending}").read_bytes()
    head, *rows = cells(
        (gzip.decompress(content) if ending.endswith("gz") else content).decode(), "\t" if ending == "tsv" else ","
    )
    assert head == ["'=head", "class", "predicted", "P(@a)", "P(b)"]
    assert [row[0] for row in rows] == QUOTED * 2
    assert {row[2] for row in rows} <= {"'@a", "b"}


def test_a_pipe_is_quoted_too(texts: Shell) -> None:
    assert [row[0] for row in cells(texts.done("predict texts.tally texts.csv"))][1:] == QUOTED * 2


def test_raw_writes_the_texts_themselves(texts: Shell) -> None:
    head, *rows = cells(texts.done("predict texts.tally texts.csv --raw"))
    assert head[0] == "=head"
    assert [row[0] for row in rows] == TEXTS * 2


def test_samples_are_quoted_unless_raw(texts: Shell) -> None:
    line = "sample texts.tally -n 60 --seed 1"
    quoted, raw = cells(texts.done(line))[1:], cells(texts.done(f"{line} --raw"))[1:]
    assert [row[0] for row in quoted] == [QUOTED[TEXTS.index(row[0])] for row in raw]
    assert any(row[0].startswith("'=") for row in quoted)


def test_other_formats_have_the_texts_themselves(texts: Shell) -> None:
    texts.done("predict texts.tally texts.csv -o out.parquet")
    assert pq.read_table("out.parquet").column("=head").to_pylist() == [text or None for text in TEXTS] * 2
    lines = texts.done("predict texts.tally texts.csv --json").splitlines()
    assert json.loads(lines[0])["=head"] == TEXTS[0]
