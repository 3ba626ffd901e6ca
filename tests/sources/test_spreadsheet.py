"""Spreadsheets are read as the csv files that they would be saved as."""

import datetime
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import tallybayes as tb
from tallybayes import sources
from tallybayes.errors import BadData, BadOption, LeftOutWarning


def write(path: Path, rows: list[list[object]], *others: str) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "visits"
    for row in rows:
        book.active.append(row)
    for name in others:
        book.create_sheet(name)
    book.save(path)
    return path


ROWS: list[list[object]] = [
    ["day", "when", "price", "count", "member", "zip", "kind"],
    [datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 30), 9.5, 3.0, True, "01003", "a, b"],
    [datetime.date(2024, 3, 1), datetime.datetime(2024, 3, 1, 8, 0, 5), "NA", 12, False, "00912", 'say "c"'],
    [None] * 7,
    [None, None, 1e300, 7, None, "10001", "two\nlines"],
]


def test_cells_are_what_a_csv_file_has(tmp_path: Path) -> None:
    sheet = write(tmp_path / "visits.xlsx", ROWS)
    text = tmp_path / "visits.csv"
    text.write_text(
        "day,when,price,count,member,zip,kind\n"
        '2024-02-29,2024-02-29 13:30:00,9.5,3,true,01003,"a, b"\n'
        '2024-03-01,2024-03-01 08:00:05,NA,12,false,00912,"say ""c"""\n'
        ',,1e+300,7,,10001,"two\nlines"\n'
    )
    found, want = (list(sources.read(path)) for path in (sheet, text))
    assert found == want


def test_models_are_the_same_and_predict_from_either(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [[round(float(rng.normal(k % 2)), 3), str(rng.choice(["p", "q"])), "ab"[k % 2]] for k in range(80)]
    sheet = write(tmp_path / "rows.XLSX", [["size", "shape", "y"], *rows])
    text = tmp_path / "rows.csv"
    text.write_text("size,shape,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    model = tb.fit(sheet, "y")
    assert model.evidence == tb.fit(text, "y").evidence
    np.testing.assert_array_equal(model.predict_proba(sheet), model.predict_proba(text))


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "two.xlsx", [["x", "y"], ["p", "a"], ["q", "b"]], "notes", "old")
    with pytest.warns(LeftOutWarning, match="sheet 'visits' is read; not 'notes', 'old'"):
        assert tb.fit(path, "y").classes == ("a", "b")


def test_what_is_no_spreadsheet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.xlsx"
    path.write_bytes(b"PK\x03\x04 but no more")
    with pytest.raises(BadData, match=r"bad\.xlsx: wanted a spreadsheet, got one that cannot be read"):
        tb.fit(path, "y")
    empty = write(tmp_path / "empty.xlsx", [])
    with pytest.raises(BadData, match=r"empty\.xlsx"):
        tb.fit(empty, "y")


def test_without_the_package_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "rows.xlsx", [["x", "y"], ["p", "a"], ["q", "b"]])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(BadOption, match=r"pip install 'tallybayes\[excel\]', or save the sheet as csv\.$"):
        tb.fit(path, "y")
