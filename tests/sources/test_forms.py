"""Files come in many forms: other encodings and delimiters, without a header, as json, zipped, in folders."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, GuessedEncodingWarning, LeftOutWarning

ROWS = [("café", 1, "ja"), ("thé", 2, "nein"), ("tea", 3, "ja"), ("jus", 4, "nein")]
TEXT = "drink,n,kind\n" + "".join(f"{drink},{n},{kind}\n" for drink, n, kind in ROWS)
WANT = [dict(zip(("drink", "n", "kind"), row, strict=True)) for row in ROWS]


def rows_of(source: Any, **options: Any) -> list[dict[str, Any]]:
    return [row for batch in tb.read(source, **options) for row in batch.to_pylist()]


@pytest.mark.parametrize(("encoding", "said"), [("latin-1", "Latin-1"), ("utf-16", "UTF-16"), ("cp1252", "Latin-1")])
def test_another_encoding_is_found_with_a_warning_or_named(tmp_path: Path, encoding: str, said: str) -> None:
    path = tmp_path / "drinks.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert rows_of(path, encoding=encoding) == WANT
    with pytest.warns(GuessedEncodingWarning, match=rf"drinks.csv: not UTF-8, so it is read as {said}"):
        assert rows_of(path, encoding=None) == WANT
    with pytest.warns(GuessedEncodingWarning):
        model = tb.fit(path, "kind")
    assert model.table("drink").rows == ("café", "jus", "tea", "thé")
    assert tb.fit(path, "kind", encoding=encoding) == model


def test_a_large_file_of_another_encoding_is_read_in_pieces(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tallybayes.sources.files.SAMPLE_BYTES", 1 << 16)
    monkeypatch.setattr("tallybayes.sources.csv.PIECE", 1 << 17)
    path = tmp_path / "many.csv"
    path.write_bytes(("word,n\n" + "".join(f"é{k % 7},{k}\n" for k in range(60_000))).encode("latin-1"))
    read = rows_of(path, encoding="latin-1")
    assert len(read) == 60_000
    assert read[-1] == {"word": f"é{59_999 % 7}", "n": 59_999}


@pytest.mark.parametrize("ending", [".csv", ".txt", ".tsv"])
@pytest.mark.parametrize("delimiter", [":", "~", ";"])
def test_a_delimiter_may_be_named(tmp_path: Path, delimiter: str, ending: str) -> None:
    path = tmp_path / f"drinks{ending}"
    path.write_text(TEXT.replace(",", delimiter))
    assert rows_of(path, delimiter=delimiter) == WANT


def test_txt_psv_and_tab_files_are_tables(tmp_path: Path) -> None:
    for name, mark in (("a.txt", "\t"), ("b.txt", ";"), ("c.psv", "|"), ("d.tab", "\t")):
        (tmp_path / name).write_text(TEXT.replace(",", mark))
        assert rows_of(tmp_path / name) == WANT


def test_a_file_without_a_header_has_numbered_columns(tmp_path: Path) -> None:
    path = tmp_path / "drinks.csv"
    path.write_text(TEXT.split("\n", 1)[1])
    read = rows_of(path, header=False)
    assert read[0] == {"column1": "café", "column2": 1, "column3": "ja"}
    assert len(read) == 4
    assert tb.fit(path, "column3", header=False).classes == ("ja", "nein")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"encoding": "klingon"},
            "encoding: wanted the name of an encoding, such as 'utf-8' or 'latin-1', got 'klingon'.",
        ),
        ({"delimiter": ", "}, "delimiter: wanted one ASCII character, such as ';', got ', '."),
    ],
)
def test_what_is_no_encoding_or_delimiter_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadOption) as refused:
        tb.fit("drinks.csv", "kind", **options)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    "content",
    [
        WANT,
        {"data": WANT},
        {name: [row[name] for row in WANT] for name in WANT[0]},
    ],
)
def test_a_json_file_holds_rows_or_columns(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "drinks.json"
    path.write_text(json.dumps(content, indent=1))
    assert rows_of(path) == WANT
    assert rows_of(path, columns=["n"]) == [{"n": row["n"]} for row in WANT]


def test_a_json_file_of_lines_is_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "drinks.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in WANT))
    assert rows_of(path) == WANT


@pytest.mark.parametrize("text", ["", "7", '"tea"', "[1, 2]", "{broken", "[{}"])
def test_a_json_file_of_something_else_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "drinks.json"
    path.write_text(text)
    with pytest.raises(BadData, match=r"drinks.json: wanted a list of objects, or an object of lists, got "):
        rows_of(path)


def test_a_zip_archive_is_the_files_in_it(tmp_path: Path) -> None:
    path = tmp_path / "drinks.zip"
    half = TEXT.splitlines(keepends=True)
    parquet = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(WANT), parquet)
    for members in (
        {"drinks.csv": TEXT, "README.md": "Drinks."},
        {"in/a.csv": "".join(half[:3]), "in/b.csv": half[0] + "".join(half[3:])},
        {"drinks.parquet": parquet.getvalue().to_pybytes()},
    ):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        assert rows_of(path) == WANT
        assert tb.fit(path, "kind").evidence == tb.fit(WANT, "kind").evidence


def test_a_zip_archive_without_data_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.doc", "no")
    with pytest.raises(BadData, match=r"a.zip: wanted a file ending in .*, got none among 'notes.doc'\."):
        rows_of(path)
    path.write_bytes(b"no zip at all")
    with pytest.raises(BadData, match=r"a.zip: wanted a zip archive, got one that cannot be read"):
        rows_of(path)


def test_a_folder_for_each_class_is_a_table_of_texts(tmp_path: Path) -> None:
    latin = "café".encode("latin-1")
    mails = {"ham": [b"see you at noon", b"lunch?"], "spam": [b"buy now", b"win\nmoney", latin]}
    for label, texts in mails.items():
        (tmp_path / "mail" / label).mkdir(parents=True)
        for k, text in enumerate(texts):
            (tmp_path / "mail" / label / f"{k}.txt").write_bytes(text)
    read = rows_of(tmp_path / "mail")
    assert [row["label"] for row in read] == ["ham", "ham", "spam", "spam", "spam"]
    assert read[3]["text"] == "win\nmoney"
    assert read[4]["text"] == "café"
    model = tb.fit(tmp_path / "mail", "label")
    assert model.schema.events()["text"].startswith("text")
    assert model.predict(["win money now"]).tolist() == ["spam"]


def test_a_folder_of_mixed_files_says_what_it_takes(tmp_path: Path) -> None:
    half = TEXT.splitlines(keepends=True)
    (tmp_path / "a.csv").write_text("".join(half[:3]))
    (tmp_path / "b.csv").write_text(half[0] + "".join(half[3:]))
    assert rows_of(tmp_path) == WANT
    (tmp_path / "notes.md").write_text("Drinks.")
    with pytest.warns(LeftOutWarning, match=r": took a.csv, b.csv, and left out notes.md\.$"):
        assert rows_of(tmp_path) == WANT
