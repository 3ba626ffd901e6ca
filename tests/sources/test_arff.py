"""ARFF files: both parsers return what is declared, and errors name the row."""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.sources import arff

WEATHER = """\
% The weather data.
@RELATION weather

@attribute outlook {sunny, overcast, rainy}
@attribute temperature real
@ATTRIBUTE 'relative humidity' NUMERIC
@attribute windy {TRUE, FALSE}
@attribute play {yes, no}
@data
sunny,85,85,FALSE,no
sunny,80,90,TRUE,no
overcast,83,86,FALSE,yes
rainy,70,?,FALSE,yes
"""


def table(path: Path) -> pa.Table:
    source = tb.read(path)
    return pa.Table.from_batches(list(source), source.schema)


def written(folder: Path, text: str, name: str = "x.arff") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_attributes_become_columns(tmp_path: Path) -> None:
    found = table(written(tmp_path, WEATHER))
    assert found.column_names == ["outlook", "temperature", "relative humidity", "windy", "play"]
    assert [str(t) for t in found.schema.types] == ["string", "double", "double", "string", "string"]
    assert found.to_pylist()[3] == {
        "outlook": "rainy",
        "temperature": 70.0,
        "relative humidity": None,
        "windy": "FALSE",
        "play": "yes",
    }


def test_a_model_of_the_file_is_that_of_its_values(tmp_path: Path) -> None:
    path = written(tmp_path, WEATHER)
    assert tb.fit(path, "play") == tb.fit(table(path), "play")
    assert tb.fit(path, "play").schema.events()["relative humidity"] == "histogram"


def test_nominal_numbers_are_values_and_not_numbers(tmp_path: Path) -> None:
    text = "@relation r\n@attribute grade {1,2,3}\n@attribute y {a,b}\n@data\n1,a\n3,b\n"
    assert tb.fit(written(tmp_path, text), "y").schema.events() == {"grade": "categorical"}


AWKWARD = """\
@relation 'a relation'
@attribute "full name" string
@attribute kind {'two words', plain, "it's", 'a\\'b', '?'}
@attribute x integer
@data
'Ann, of Ely', 'two words', 1   % a comment
"said \\"no\\"",plain,2
% a whole line of comment

?,"it's",?
  bare words ,\t'a\\'b' , 3.5
'?','?',4
"""


def test_quotes_blanks_comments_and_escapes(tmp_path: Path) -> None:
    assert [list(row.values()) for row in table(written(tmp_path, AWKWARD)).to_pylist()] == [
        ["Ann, of Ely", "two words", 1.0],
        ['said "no"', "plain", 2.0],
        [None, "it's", None],
        ["bare words", "a'b", 3.5],
        ["?", "?", 4.0],  # quoted, it is text
    ]


def test_values_may_be_parted_by_tabs(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1\tu\n2\tv\n"
    assert table(written(tmp_path, text)).to_pydict() == {"a": [1.0, 2.0], "b": ["u", "v"]}


def test_sparse_rows_are_written_out(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute c numeric\n@data\n{0 5, 1 v}\n{2 ?}\n{}\n"
    found = table(written(tmp_path, text)).to_pydict()
    assert found == {"a": [5.0, 0.0, 0.0], "b": ["v", "u", "u"], "c": [0.0, None, 0.0]}


def test_dates_are_times(tmp_path: Path) -> None:
    head = '@relation r\n@attribute at date "yyyy-MM-dd HH:mm"\n@attribute on date\n@data\n'
    text = f'{head}"2024-02-29 12:30",2024-02-29T01:02:03\n?,?\n'
    found = table(written(tmp_path, text)).to_pylist()
    assert found[0] == {"at": datetime(2024, 2, 29, 12, 30), "on": datetime(2024, 2, 29, 1, 2, 3)}
    assert found[1] == {"at": None, "on": None}


def test_the_quick_way_and_the_slow_one_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["ann", "'bob, b'", "'c d'", "?"]
    rows = "".join(f"{names[i % 4]},{i / 7},{'uv'[i % 2]}\n" for i in range(2000))
    path = written(
        tmp_path, f"@relation r\n@attribute n string\n@attribute x real\n@attribute y {{u,v}}\n@data\n{rows}"
    )
    quick = table(path)
    monkeypatch.setattr(arff._Piece, "_by_arrow", lambda self, text: None)
    assert table(path).equals(quick)
    monkeypatch.setattr(arff, "PIECE", 500)  # several pieces
    assert table(path).combine_chunks().equals(quick)


def test_it_may_be_compressed_and_have_the_line_ends_of_another_system(tmp_path: Path) -> None:
    path = tmp_path / "w.arff.gz"
    path.write_bytes(gzip.compress(WEATHER.replace("\n", "\r\n").encode()))
    assert table(path).equals(table(written(tmp_path, WEATHER)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "wanted a line @data, got an empty file"),
        ("@relation r\n@attribute a numeric\n", "wanted a line @data, got none"),
        ("@relation r\n@data\n1\n", "wanted attributes before @data, got none"),
        ("a,b\n1,2\n", "wanted @relation, @attribute or @data, got 'a,b' in line 1"),
        ("@relation r\n@attribute a relational\n@data\n", "'a': wanted one of numeric, real, .* got 'relational'"),
        ("@relation r\n@attribute a numeric\n@data\n1\nx\n", r"'a': wanted numbers, got 'x' \(row 2\)"),
        (
            "@relation r\n@attribute a {u,v}\n@data\nu\nw\n",
            r"'a': wanted one of the declared values u, v, got 'w' \(row 2\)",
        ),
        ("@relation r\n@attribute a numeric\n@data\n1,2\n", r"wanted 1 values in every row, got 2 in row 1"),
        ("@relation r\n@attribute a string\n@data\n{0 u}\n", "'a': wanted numbers or nominal values in sparse rows"),
        (
            "@relation r\n@attribute a numeric\n@data\n{7 1}\n",
            r"wanted pairs of index and value in braces, got '\{7 1\}'",
        ),
        ("@relation r\n@attribute a date\n@data\nnow\n", r"'a': wanted dates written '.*', got 'now' \(row 1\)"),
    ],
)
def test_errors_name_the_row(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(tb.errors.BadData, match=sentence):
        table(written(tmp_path, text))


def test_bytes_that_are_not_utf8_are_refused_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.arff"
    path.write_bytes(b"@relation r\n@attribute a string\n@data\nok\ncaf\xe9\n")
    with pytest.raises(tb.errors.BadData, match="other bytes in row 2"):
        table(path)
    assert [row["a"] for batch in tb.read(path, errors="replace") for row in batch.to_pylist()] == ["ok", "caf\ufffd"]
