"""Messy files on the command line: what is said of them, and how to say otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import tallybayes as tb

from .shell import Shell


def orders(n: int = 60) -> str:
    """Return a file with a code for each row, prices in euros with gaps, and a flag."""
    lines = ["mark;price;paid"]
    for k in range(n):
        price = "unknown" if k % 10 == 0 else f"{1000 + 37 * k:,}".replace(",", ".") + f",{k:02d} €"
        lines.append(f"Z{k:04d};{price};{'late' if k % 3 == 0 else 'soon'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def shop(tally: Shell) -> Shell:
    Path("orders.csv").write_text(orders(), encoding="cp1252")
    return tally


def test_a_text_that_keeps_numbers_from_being_numbers_is_named(shop: Shell) -> None:
    said = shop("look orders.csv").out
    assert "numbers, but for 'unknown': if missing, --missing unknown" in said
    shop.done("fit orders.csv --label paid --missing unknown -o m.tally")
    assert tb.load("m.tally").schema.events()["price"] == "histogram"
    shop.done("fit orders.csv --label paid -o raw.tally")
    assert tb.load("raw.tally").schema.events()["price"] == "categorical"


def test_an_id_is_not_used_unless_kept(shop: Shell) -> None:
    assert "Not used: mark. To use it: --keep mark." in shop("look orders.csv").out
    ran = shop("fit orders.csv --label paid -o m.tally")
    assert (
        "column 'mark': not used, since it looks like an id (another word in each row). Keep it with --keep mark."
        in (ran.err)
    )
    assert tb.load("m.tally").schema.columns == ("price",)
    shop.done("fit orders.csv --label paid --keep mark -o all.tally")
    assert set(tb.load("all.tally").schema.columns) == {"mark", "price"}


def test_encoding_and_delimiter_are_found_and_may_be_named(shop: Shell) -> None:
    ran = shop("fit orders.csv --label paid --missing unknown -o m.tally")
    assert "values are separated by ';', not by ','" in ran.err
    assert "not UTF-8, so it is read as Latin-1 (cp1252)" in ran.err
    named = shop("fit orders.csv --label paid --missing unknown -o n.tally --encoding cp1252 --delimiter ';'")
    assert "separated" not in named.err
    assert "UTF-8" not in named.err
    assert tb.load("m.tally").evidence == tb.load("n.tally").evidence


def test_without_a_header_columns_are_numbered(shop: Shell) -> None:
    rows = orders().splitlines()[1:]
    Path("bare.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    shop.done("fit bare.csv --no-header --label column3 --missing unknown -o m.tally")
    model = tb.load("m.tally")
    assert model.classes == ("late", "soon")
    assert float(model.evidence.rows.to_float().sum()) == len(rows)


def test_a_label_of_measurements_is_refused_unless_it_is_taken_as_it_is(tally: Shell) -> None:
    Path("heights.csv").write_text("sex,height\n" + "".join(f"{'fm'[k % 2]},{150 + 0.31 * k:.2f}\n" for k in range(80)))
    ran = tally("fit heights.csv --label height -o m.tally")
    assert ran.code == 2
    assert "--label-as-is" in ran.err
    tally.done("fit heights.csv --label height --label-as-is -o m.tally")
    assert len(tb.load("m.tally").classes) == 80


def test_rows_without_a_class_are_left_out_and_counted(tally: Shell) -> None:
    Path("gaps.csv").write_text("x,y\n" + "a,yes\nb,no\n" * 20 + "a,\nb,?\n")
    ran = tally("fit gaps.csv --label y -o m.tally")
    assert "label 'y': 2 of 42 rows have no class and are left out." in ran.err
    assert float(tb.load("m.tally").evidence.rows.to_float().sum()) == 40
    for command in ("evaluate m.tally gaps.csv", "validate gaps.csv --label y"):
        ran = tally(command)
        assert ran.code == 0
        assert "2 of 42 rows have no class" in ran.err
