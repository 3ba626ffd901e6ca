"""A table as people have it gives the model of the clean table, and later rows are read in the same way."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, LeftOutWarning, LoneClassesWarning, MissingColumnWarning

Rows = dict[str, list[Any]]


def clean(n: int = 200) -> Rows:
    draw = random.Random(5)
    kinds = [draw.choice(["lost", "kept"]) for _ in range(n)]
    return {
        "price": [round(draw.gauss(3000 if kind == "lost" else 2500, 400), 2) for kind in kinds],
        "share": [draw.randint(1, 40) for _ in kinds],
        "paid": [draw.choice(["yes", "no"]) for _ in kinds],
        "age": [None if k % 9 == 4 else draw.randint(20, 70) for k in range(n)],
        "town": [None if k % 8 == 5 else draw.choice(["Bern", "Lyon", "-"]) for k in range(n)],
        "state": kinds,
    }


def messy(rows: Rows) -> Rows:
    draw, marks = random.Random(6), ["?", "NA", "-", ".", "n/a", "", "NULL"]
    return {
        "price": [f"${price:,.2f}" for price in rows["price"]],
        "share": [f"{share}%" for share in rows["share"]],
        "paid": [draw.choice([word, word.upper(), word[0]]) for word in rows["paid"]],
        "age": [draw.choice(marks) if age is None else str(age) for age in rows["age"]],
        "town": [draw.choice(["?", "NA", "None", ""]) if town is None else town for town in rows["town"]],
        "state": rows["state"],
    }


def to_csv(rows: Rows, path: Path, delimiter: str = ",") -> Path:
    lines = [delimiter.join(rows)]
    for cells in zip(*rows.values(), strict=True):
        lines.append(delimiter.join("" if cell is None else f'"{cell}"' for cell in cells))
    path.write_text("\n".join(lines) + "\n")
    return path


def sums(model: tb.Model) -> list[Any]:
    """Return the counts of the columns of numbers; those of paid have words that vary."""
    return [model.table(name).counts.tolist() for name in ("price", "share", "age", "town")]


def test_a_messy_table_gives_the_counts_of_the_clean_one(tmp_path: Path) -> None:
    rows = clean()
    want = tb.fit(rows, "state")
    for source in (messy(rows), pa.table(messy(rows)), to_csv(messy(rows), tmp_path / "rows.csv")):
        found = tb.fit(source, "state")
        assert found.schema.events() == want.schema.events()
        assert sums(found) == sums(want)
        assert sorted(found.table("paid").counts.tolist()) == sorted(want.table("paid").counts.tolist())


def test_later_rows_are_read_as_the_first_were(tmp_path: Path) -> None:
    rows = clean()
    model = tb.fit(messy(rows), "state")
    model.save(tmp_path / "m.tally")
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded == model
    assert loaded.schema.readings == model.schema.readings
    fresh = {"price": ["$2,700.00", "-"], "share": ["7%", "8"], "paid": ["Y", "NO"], "age": ["n/a", "33"]}
    plain = {"price": [2700.0, None], "share": [7, 8], "paid": ["yes", "no"], "age": [None, 33]}
    path = to_csv(fresh, tmp_path / "fresh.csv")
    answers = [
        loaded.predict_proba([dict(zip(given, cells, strict=True)) for cells in zip(*given.values(), strict=True)])
        for given in (fresh, plain)
    ]
    np.testing.assert_array_equal(*answers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(loaded.predict_proba(path), answers[0])
    half = {name: values[:100] for name, values in messy(rows).items()}
    assert loaded.forget(half).learn(half).evidence == model.evidence


def test_a_list_replaces_the_usual_markers(tmp_path: Path) -> None:
    text = "age,town,state\n" + "".join(f"{20 + k},NA,{'ab'[k % 2]}\n" for k in range(40)) + "none,Bern,a\n"
    path = tmp_path / "rows.csv"
    path.write_text(text)
    model = tb.fit(path, "state", missing_values=["none"])
    assert model.schema.events() == {"age": "histogram", "town": "categorical"}
    assert model.schema.missing_values == ("none",)
    assert model.table("town").rows == ("Bern", "NA")
    assert tb.fit(path, "state", missing_values=()).schema.event("age").name == "categorical"
    model.save(tmp_path / "m.tally")
    assert tb.load(tmp_path / "m.tally").schema.missing_values == ("none",)


def test_auto_in_a_list_keeps_the_usual_markers(tmp_path: Path) -> None:
    rows = messy(clean())
    gone = {**rows, "age": ["gone" if age == "?" else age for age in rows["age"]]}
    usual, path = tb.fit(rows, "state"), to_csv(gone, tmp_path / "gone.csv")
    for source in (gone, path, pa.table(gone)):
        model = tb.fit(source, "state", missing_values=["auto", "gone"])
        assert model.evidence == usual.evidence
    assert model.schema.missing_values == ("auto", "gone")
    model.save(tmp_path / "m.tally")
    later = tb.load(tmp_path / "m.tally")
    assert later.schema.missing_values == ("auto", "gone")
    nothing = later.predict_proba([{"age": None}]).tolist()
    for age in ("gone", "-", "n/a"):
        assert later.predict_proba([{"age": age, "town": "gone"}]).tolist() == nothing
    assert tb.fit(rows, "state", missing_values=["auto"]).schema.missing_values == "auto"
    texts = tb.fit(["a b", "gone", "", "b"], ["x", "y", "x", "y"], missing_values=["auto", "gone"])
    assert texts.predict_proba(["gone"]).tolist() == texts.predict_proba([{"text": None}]).tolist()


def test_a_marker_that_comes_late_is_missing_where_numbers_are(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tallybayes.sources.files.SAMPLE_BYTES", 1 << 16)
    lines = [f"{k % 50},{'ab'[k % 2]}" for k in range(30_000)]
    path = tmp_path / "rows.csv"
    path.write_text("x,state\n" + "\n".join([*lines, "-,a", "?,b"]) + "\n")
    model = tb.fit(path, "state")
    assert model.schema.event("x").name == "histogram"
    assert model.table("x").counts.sum() == 30_000


def test_a_late_text_that_is_no_value_is_refused_in_a_sentence() -> None:
    rows = {"price": [*(f"${k}.00" for k in range(6000)), "on request"], "y": ["a", "b"] * 3000 + ["a"]}
    with pytest.raises(BadData) as refused:
        tb.fit(rows, "y")
    assert str(refused.value) == (
        "column 'price': wanted numbers, as in the first rows, got 'on request' (row 6001). "
        "Name 'on request' a missing value, or declare the column categorical."
    )
    assert tb.fit(rows, "y", missing_values=["on request"]).schema.event("price").name == "histogram"


def test_dates_become_terms_under_the_name_of_their_column(tmp_path: Path) -> None:
    days = [f"{1 + k % 28:02}.{1 + k % 12:02}.{2020 + k % 3}" for k in range(120)]
    rows = {"when": days, "y": ["a" if day[3:5] < "06" else "b" for day in days]}
    model = tb.fit(rows, "y")
    assert list(model.schema.columns) == ["when.year", "when.month", "when.weekday", "when.days"]
    assert model.schema.inputs == ["when"]
    assert list(model.predict([{"when": "03.02.2021"}, {"when": "03.11.2021"}])) == ["a", "b"]
    assert "04 Apr" in str(model.explain({"when": "05.04.2021"}))
    model.save(tmp_path / "m.tally")
    np.testing.assert_array_equal(tb.load(tmp_path / "m.tally").predict_proba(rows), model.predict_proba(rows))
    as_names = tb.fit(rows, "y", events={"when": "categorical"})
    assert list(as_names.schema.columns) == ["when"]
    without = tb.fit(rows, "y", events={"when.days": "ignore", "when.year": "categorical"})
    assert list(without.schema.columns) == ["when.year", "when.month", "when.weekday"]


def test_a_column_that_has_the_name_of_a_part_is_refused_in_a_sentence() -> None:
    days = [f"2024-01-{1 + k % 28:02}" for k in range(60)]
    with pytest.raises(BadData, match=r"^column 'when.month': wanted a name that no part of a date has, got one\. "):
        tb.fit({"when": days, "when.month": [1] * 60, "y": ["a", "b"] * 30}, "y")


def test_codes_with_leading_zeros_stay_text_in_files_and_later(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("zip,n,y\n" + "".join(f"{k % 30:05},{3 * k},{'ab'[k % 2]}\n" for k in range(90)))
    model = tb.fit(path, "y")
    assert model.schema.events() == {"zip": "categorical", "n": "histogram"}
    assert model.table("zip").rows[1] == "00001"
    later = tmp_path / "later.csv"
    later.write_text("zip,n\n11111,3\n")  # no leading zero: text for the model all the same
    assert model.predict(later).shape == (1,)


def test_an_id_is_not_used_unless_it_is_kept(tmp_path: Path) -> None:
    rows = {"user_id": list(range(60)), "x": [k % 7 for k in range(60)], "y": ["a", "b"] * 30}
    with pytest.warns(LeftOutWarning, match=r"column 'user_id': not used, since it looks like an id"):
        assert list(tb.fit(rows, "y").schema.columns) == ["x"]
    for options in ({"keep": "user_*"}, {"keep": ["user_id"]}, {"events": {"user_id": "gaussian"}}):
        assert "user_id" in tb.fit(rows, "y", **options).schema.columns
    assert list(tb.fit({name: rows[name] for name in ("user_id", "y")}, "y").schema.columns) == ["user_id"]


@pytest.mark.parametrize("as_file", [True, False])
def test_rows_without_a_class_are_left_out_and_counted(tmp_path: Path, as_file: bool) -> None:
    rows = {"x": list(range(20)), "y": ["a", "b", "?", "None"] * 4 + ["a", "b", "NA", None]}
    kept = {"x": [x for x, y in zip(*rows.values(), strict=True) if y in ("a", "b", "None")]}
    kept["y"] = [y for y in rows["y"] if y in ("a", "b", "None")]
    source = to_csv(rows, tmp_path / "rows.csv") if as_file else rows
    with pytest.warns(LeftOutWarning, match=r"^label 'y': 6 of 20 rows have no class and are left out\.$"):
        model = tb.fit(source, "y")
    assert model.evidence == tb.fit(kept, "y").evidence
    with pytest.warns(LeftOutWarning):
        assert len(tb.validate(source, "y", "2-fold").class_codes) == 14


def test_a_label_of_measurements_is_refused_unless_it_is_meant() -> None:
    rows = {"x": list(range(300)), "price": [1000 + 37 * k for k in range(300)]}
    with pytest.raises(BadData, match=r"^label 'price': wanted classes, got 300 different numbers in the first 300 "):
        tb.fit(rows, "price")
    assert len(tb.fit(rows, "price", label_as_is=True, calibrate=None).classes) == 300
    codes = {"x": list(range(3000)), "code": [k % 200 for k in range(3000)]}
    assert len(tb.fit(codes, "code", calibrate=None).classes) == 200


def test_a_table_that_lacks_a_column_is_scored_with_one_warning() -> None:
    rows = {"a": ["p", "q"] * 20, "b": [1.5, 7.5] * 20, "y": ["no", "yes"] * 20}
    model = tb.fit(rows, "y")
    with pytest.warns(MissingColumnWarning, match=r"^the Table: no column 'b', which the model has; ") as said:
        found = model.predict_proba(pa.table({"a": ["p", "q"]}))
    assert len(said) == 1
    np.testing.assert_array_equal(found, model.predict_proba([{"a": "p"}, {"a": "q"}]))
    assert model.predict({}).shape == (1,)


def test_a_label_that_names_each_row_is_said_unless_it_is_meant() -> None:
    rows = {"x": ["p", "q"] * 40, "y": [f"text {k}" for k in range(78)] + ["other"] * 2}
    sentence = "label 'y': 78 of 79 classes have a single row, and nothing shows what more of them would look like."
    with pytest.warns(LoneClassesWarning, match=f"^{sentence} Is it the label"):
        tb.fit(rows, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error", LoneClassesWarning)
        tb.fit(rows, "y", label_as_is=True)
        tb.fit({"x": rows["x"] * 2, "y": rows["y"] * 2}, "y")  # two rows each
        tb.fit({"x": ["p", "q"] * 20, "y": rows["y"][:40]}, "y")  # few rows


def test_rows_and_label_in_the_wrong_order_are_refused_in_a_sentence() -> None:
    numbers = np.arange(12.0).reshape(4, 3)
    with pytest.raises(
        BadData, match=r"^label: wanted one class for each row, got a table of 3 columns\. Pass the rows"
    ):
        tb.fit(np.array(["a", "b", "a", "b"]), numbers)


def test_a_model_that_learned_a_marker_as_a_value_keeps_it(tmp_path: Path) -> None:
    rows = {"x": ["?", "p", "?", "q"], "y": ["a", "b", "a", "b"]}
    model = tb.fit(rows, "y", missing_values=())
    model.save(tmp_path / "m.tally")
    assert tb.load(tmp_path / "m.tally").predict([{"x": "?"}]).tolist() == ["a"]
    assert model.predict([{"x": "?"}]).tolist() == ["a"]
