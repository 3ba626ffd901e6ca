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
    assert "numbers, but for 'unknown': if missing, --missing auto --missing unknown" in said
    shop.done("fit orders.csv --label paid --missing auto --missing unknown -o m.tally")
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


def test_a_running_number_is_not_used_and_said_in_the_table(tally: Shell) -> None:
    rows = "".join(f"{70_000 + k};{1.5 * (k % 9):.1f};{'ab'[k % 2]}\n" for k in range(50))
    Path("kunden.csv").write_text("Kunde;Umsatz;Typ\n" + rows)
    said = tally("look kunden.csv").out
    assert "an id? a running number: new rows have others" in said
    assert "Not used: Kunde. To use it: --keep Kunde." in said
    ran = tally("fit kunden.csv --label Typ -o m.tally")
    assert "column 'Kunde': not used, since it looks like an id (a running number: new rows have others)." in ran.err
    assert tb.load("m.tally").schema.columns == ("Umsatz",)
    tally.done("fit kunden.csv --label Typ --keep Kunde -o all.tally")
    assert tb.load("all.tally").schema.columns == ("Kunde", "Umsatz")


def test_a_title_above_the_table_and_names_given_twice_are_said(tally: Shell) -> None:
    rows = "".join(f"{k % 7},{k % 5}, {'ab'[k % 2]}\n" for k in range(40))
    Path("export.csv").write_text("Trial of May 2024,,\n,,\nscore,score,group\n" + rows)
    ran = tally("fit export.csv --label group -o m.tally")
    assert "export.csv: lines 1 to 2 are above the table and not read (the first: 'Trial of May 2024')." in ran.err
    assert "export.csv: more than one column is called 'score'; column 2 is 'score_2' here." in ran.err
    model = tb.load("m.tally")
    assert model.schema.columns == ("score", "score_2")
    assert model.classes == ("a", "b")
    assert tally("evaluate m.tally export.csv").code == 0


def test_a_column_of_lists_is_shown_and_dropped_in_the_next_commands(tally: Shell) -> None:
    records = ",".join(f'{{"n": {k % 7}, "tags": ["a"], "kind": "{"xy"[k % 2]}"}}' for k in range(40))
    Path("rows.json").write_text(f"[{records}]")
    said = tally("look rows.json").out
    assert "lists: --drop tags" in said
    assert "tally fit rows.json --label kind --drop tags" in said
    ran = tally("fit rows.json --label kind -o m.tally")
    assert ran.code == 2
    assert "got lists. Convert it, or leave it out with --drop tags." in ran.err
    tally.done("fit rows.json --label kind --drop tags -o m.tally")


def test_the_guessed_class_is_neither_an_empty_column_nor_an_age(tally: Shell) -> None:
    Path("people.csv").write_text("age,kind,note\n" + "".join(f"{20 + k % 40},{'xy'[k % 2]},\n" for k in range(120)))
    said = tally("look people.csv").out
    assert "'kind' looks like the class" in said
    assert "no values" in said
    Path("people.csv").write_text("age,size\n" + "".join(f"{20 + k % 40},{1.7 * k}\n" for k in range(120)))
    assert "No column looks like a class" in tally("look people.csv").out


def test_errors_of_spreadsheets_are_missing_among_numbers(tally: Shell) -> None:
    cells = ["#N/A", "#DIV/0!", "3.5", "4.5", "5.5", "#REF!"]
    Path("sheet.csv").write_text("rate,kind\n" + "".join(f"{cells[k % 6]},{'xy'[k % 2]}\n" for k in range(60)))
    said = tally("look sheet.csv").out
    assert "Taken as missing: rate ('#DIV/0!' 10, '#N/A' 10, '#REF!' 10)." in said
    tally.done("fit sheet.csv --label kind -o m.tally")
    assert tb.load("m.tally").schema.events()["rate"] == "histogram"


def test_yes_and_no_are_read_in_other_languages(tally: Shell) -> None:
    words = ["Ja", "nein", "JA", "Nein", "ja"]
    Path("ja.csv").write_text("paid,kind\n" + "".join(f"{words[k % 5]},{'xy'[k % 2]}\n" for k in range(60)))
    assert "yes or no, written 'Ja', 'nein', 'JA', 'Nein'" in tally("look ja.csv").out
    tally.done("fit ja.csv --label kind -o m.tally")
    assert len(tb.load("m.tally").table("paid").rows) == 2


@pytest.mark.parametrize("ending", ["gz", "bz2"])
def test_a_look_at_a_compressed_file_opens_it_once(tally: Shell, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    import bz2
    import gzip
    import io

    words = [f'{k % 90},"two\nlines; {"x" * (k % 50)}",{"ab"[k % 2]}\n' for k in range(40_000)]
    text = ("n,note,kind\n" + "".join(words)).encode()
    Path(f"rows.csv.{ending}").write_bytes(gzip.compress(text) if ending == "gz" else bz2.compress(text))
    opened: list[str] = []
    as_it_was = io.FileIO

    def opening(path: str) -> io.FileIO:
        opened.append(path)
        return as_it_was(path)

    monkeypatch.setattr("tallybayes.sources.locations.io.FileIO", opening)
    ran = tally(f"look rows.csv.{ending}")
    assert ran.code == 0
    assert ran.out.startswith(f"rows.csv.{ending}: the first ")
    assert "tally fit rows.csv." in ran.out
    assert len(opened) == 1


def test_a_file_in_place_of_a_row_is_answered_with_the_way_to_name_one(tally: Shell) -> None:
    Path("rows.csv").write_text("x,y\n" + "p,yes\nq,no\n" * 20)
    tally.done("fit rows.csv --label y -o m.tally")
    ran = tally("explain m.tally rows.csv")
    assert ran.code == 2
    assert ran.err.endswith("got the file 'rows.csv'. Its first row is rows.csv:1.\n")
    tally.done("explain m.tally rows.csv:1")


def test_what_is_suggested_for_a_file_of_one_column_works(tally: Shell) -> None:
    Path("one.csv").write_text("kind\n" + "a\nb\n" * 20)
    ran = tally("look one.csv")
    assert ran.out.splitlines()[-1] == "  tally report one.csv --no-label"
    tally.done("report one.csv --no-label")


def test_units_and_times_of_half_a_day_are_numbers_with_a_reason(tally: Shell) -> None:
    rows = [
        f"{150 + k % 40} cm,{1 + k % 12}:{k % 60:02} {'AP'[k % 2]}M,{k} {['mg', 'g'][k % 2]},{'xy'[k % 2]}"
        for k in range(60)
    ]
    rows += ["- cm total,,,"]
    Path("people.csv").write_text("height,seen,dose,kind\n" + "\n".join(rows) + "\n")
    said = tally("look people.csv").out
    assert "numbers in cm, such as '150 cm'" in said
    assert "times such as '1:00 AM', in seconds" in said
    assert "numbers in several units (mg, g): kept as names" in said
    tally.done("fit people.csv --label kind -o m.tally")
    assert tb.load("m.tally").schema.events() == {"height": "histogram", "seen": "histogram", "dose": "categorical"}
    tally.done("fit people.csv --label kind --event height=categorical -o names.tally")
    assert tb.load("names.tally").schema.events()["height"] == "categorical"
    Path("late.csv").write_text("height,kind\n1.7 m,x\n")
    ran = tally("learn m.tally late.csv -o more.tally")
    assert ran.code == 2
    assert "column 'height': wanted numbers in cm, as in the first rows, got '1.7 m' (row 1)." in ran.err


def test_a_total_among_numbers_with_markers_is_named(tally: Shell) -> None:
    marks = ["-", ".", "n/a", "nan", "NULL"]
    rows = [f"{marks[k % 5] if k % 7 == 0 else k % 30},{'xy'[k % 2]}" for k in range(100)]
    Path("sales.csv").write_text("sold,kind\n" + "\n".join([*rows, "Summe,x"]) + "\n")
    assert "numbers, but for 'Summe': if missing, --missing auto --missing Summe" in tally("look sales.csv").out
    tally.done("fit sales.csv --label kind --missing auto --missing Summe -o m.tally")
    assert tb.load("m.tally").schema.events() == {"sold": "histogram"}


@pytest.mark.parametrize(
    ("name", "word", "gap"), [("shop", "Total", ""), ("Filiale Nr.", "Gesamtsumme:", "-"), ("shop", "ИТОГО", "NA")]
)
def test_a_line_of_totals_is_said_and_the_way_to_leave_it_out_runs(
    tally: Shell, name: str, word: str, gap: str
) -> None:
    rows = [f"{gap if k % 9 == 0 else ['north', 'south'][k % 2]},{k % 40},{'xy'[k % 2]}" for k in range(80)]
    Path("sales.csv").write_text("\n".join([f"{name},sold,kind", *rows, f"{word},3120,all"]) + "\n", encoding="utf-8")
    said = tally("look sales.csv").out
    assert f"The last row looks like a line of totals (column {name!r} has {word!r})." in said
    ran = tally("fit sales.csv --label kind -o m.tally")
    assert f"sales.csv: the last row looks like a line of totals (column {name!r} has {word!r})." in ran.err
    assert tb.load("m.tally").classes == ("all", "x", "y")
    where = ran.err.partition("leave it out with ")[2].partition("\n")[0].removesuffix(".")
    assert f"leave it out with {where}." in said
    ran = tally(f"fit sales.csv --label kind {where} -o less.tally")
    assert (ran.code, "totals" in ran.err) == (0, False)
    model = tb.load("less.tally")
    assert model.classes == ("x", "y")
    assert float(model.evidence.rows.to_float().sum()) == 80
    Path("sales.csv").write_text("\n".join([f"{name},sold,kind", *rows, f"{word},3120,x", f"{word},12,y"]) + "\n")
    assert "totals" not in tally("look sales.csv").out + tally("fit sales.csv --label kind -o two.tally").err


def test_line_ends_in_values_are_shown_escaped(tally: Shell) -> None:
    rows = "".join(f'"line one\nline {k} two\t.";{k % 7};{"ab"[k % 2]}\n' for k in range(30))
    Path("notes.csv").write_text("note;x;kind\n" + rows)
    said = tally("look notes.csv").out
    assert "line one\\nline 0 two\\t." in said
    assert "line one\n" not in said
    Path("texts/pos").mkdir(parents=True)
    Path("texts/neg").mkdir()
    for k in range(6):
        Path(f"texts/pos/{k}.txt").write_text(f"a good film {k}\n")
        Path(f"texts/neg/{k}.txt").write_text(f"a bad film {k}\n")
    assert "a bad film 0, a bad film 1, a bad film 2" in tally("look texts").out


@pytest.mark.parametrize("form", ["${:,.2f}", "{:.1f} kg", "{:.2f}%", "{} €"])
def test_a_label_of_written_numbers_is_refused_too(tally: Shell, form: str) -> None:
    cells = [form.format(1000 + 7.31 * k) for k in range(80)]
    Path("sums.csv").write_text("x,due\n" + "".join(f'{"pq"[k % 2]},"{cell}"\n' for k, cell in enumerate(cells)))
    said = tally.refused("fit sums.csv -l due")
    assert "label 'due': wanted classes, got 80 different numbers in the first 80 rows." in said
    assert "--label-as-is" in said
    tally.done("fit sums.csv -l due --label-as-is --no-calibrate -o m.tally")
    Path("few.csv").write_text("x,due\n" + "".join(f"{'pq'[k % 2]},${k % 3}\n" for k in range(80)))
    tally.done("fit few.csv -l due -o few.tally")
