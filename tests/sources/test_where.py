"""`where`: the rows that are read, and the parts of files left unread."""

import datetime
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import BadOption
from tallybayes.sources import read
from tallybayes.sources.where import Where
from tests.objects import serving

TABLE = pa.table(
    {
        "age": [25, 31, None, 50, 67],
        "kind": ["a", "b", "a", None, "c"],
        "score": [0.5, float("nan"), 1.5, 2.5, None],
        "member": [True, False, None, True, False],
        "my day": pa.array([datetime.date(2020, 1, day) for day in range(1, 6)]),
        "class": pa.array(["x", "y", "x", "y", "z"]).dictionary_encode(),
    }
)


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("age > 30", [1, 3, 4]),
        ("age>30 and age<60", [1, 3]),
        ("30 < age <= 50", [1, 3]),
        ("30 < age", [1, 3, 4]),
        ("not age > 30", [0]),
        ("age != 25", [1, 3, 4]),
        ("age <> 25", [1, 3, 4]),
        ("age = 25 OR kind = 'c'", [0, 4]),
        ("age > 30.5", [1, 3, 4]),
        ("age > -1", [0, 1, 3, 4]),
        ("kind in ('a', 'c')", [0, 2, 4]),
        ("kind in ('a')", [0, 2]),
        ("kind not in ('a', 'c')", [1]),
        ('kind == "b"', [1]),
        ("kind IS NULL", [3]),
        ("kind is not null", [0, 1, 2, 4]),
        ("score is null", [1, 4]),
        ("score is not null", [0, 2, 3]),
        ("score < 2", [0, 2]),
        ("not score < 2", [3]),
        ("member = true", [0, 3]),
        ("member == False", [1, 4]),
        ("`my day` >= '2020-01-03'", [2, 3, 4]),
        ("class = 'x'", [0, 2]),
        ("`class` in ('x', 'z') and\nage is not null", [0, 4]),
        ("age > score", [0, 3]),
        ("(age > 60 or kind = 'a') and not (member = true)", [4]),
        ("age > 100", []),
    ],
)
def test_the_rows_that_are_kept(tmp_path, where, kept):
    path = tmp_path / "a.parquet"
    for size in (1, 2, 5):
        pq.write_table(TABLE, path, row_group_size=size)
        assert rows_of(read(path, where=where)) == kept
    assert rows_of(read(TABLE, where=where)) == kept
    pa.csv.write_csv(TABLE.set_column(5, "class", TABLE["class"].cast(pa.string())), tmp_path / "a.csv")
    assert rows_of(read(tmp_path / "a.csv", where=where, missing=["nan"])) == kept
    if "member" not in where:  # pandas has no boolean column with missing values
        assert rows_of(read(TABLE.drop_columns(["member"]).to_pandas(), where=where)) == kept


def rows_of(source):
    days = [day for batch in source for day in batch.column("my day").to_pylist()]
    return [day.day - 1 for day in days]


@pytest.mark.parametrize("seed", range(30))
def test_a_parquet_file_gives_the_rows_that_python_would_choose(tmp_path, seed):
    draw = random.Random(seed)
    numbers = [draw.choice([None, float("nan"), *range(9)]) for _ in range(200)]
    rows = [{"x": x, "y": draw.choice([None, "p", "q", "r"]), "n": n} for n, x in enumerate(numbers)]
    if seed % 2:  # sorted, so that statistics can exclude row groups
        rows.sort(key=lambda row: (row["x"] is None, row["x"] != row["x"], row["x"] or 0))
    table = pa.Table.from_pylist(rows, schema=pa.schema([("x", pa.float64()), ("y", pa.string()), ("n", pa.int64())]))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    text, test = drawn(draw, 3)
    kept = [row["n"] for row in rows if test(row) is True]
    for source in (tmp_path / "a.parquet", table):
        found = [n for batch in read(source, where=text, columns=["n"]) for n in batch.column("n").to_pylist()]
        assert found == kept, text


def drawn(draw, depth):
    """Draw a predicate, and its value for a row in Python: True, False or None."""
    if depth and draw.random() < 0.7:
        (one, first), (two, second) = drawn(draw, depth - 1), drawn(draw, depth - 1)
        how = draw.choice(["and", "or", "not"])
        if how == "not":
            return f"not ({one})", lambda row: None if first(row) is None else not first(row)
        weak = how == "or"

        def both(row):
            found = {first(row), second(row)}
            return weak if weak in found else None if None in found else not weak

        return f"({one}) {how} ({two})", both
    value = draw.randrange(-1, 10)
    signs = {"<": float.__lt__, ">=": float.__ge__, "==": float.__eq__, "!=": float.__ne__}
    sign = draw.choice([*signs, "is", "in"])
    if sign == "is":
        return "x is null", lambda row: row["x"] is None or row["x"] != row["x"]
    if sign == "in":
        return "y in ('p', 'q')", lambda row: None if row["y"] is None else row["y"] in ("p", "q")
    return (
        f"x {sign} {value}",
        lambda row: None if row["x"] is None or row["x"] != row["x"] else signs[sign](float(row["x"]), float(value)),
    )


def test_row_groups_without_such_rows_are_not_fetched(tmp_path):
    (tmp_path / "bucket").mkdir()
    path = tmp_path / "bucket" / "a.parquet"
    table = pa.table({"day": list(range(100_000)), "noise": np.random.default_rng(0).random(100_000)})
    pq.write_table(table, path, row_group_size=5_000)
    with serving(tmp_path) as store:
        source = read(store.uri("bucket/a.parquet"), where="day >= 42000 and day < 43000")
        assert sum(batch.num_rows for batch in source) == 1000
        assert store.sent < path.stat().st_size / 5


def test_partitions_without_such_rows_are_not_opened(tmp_path, all_of):
    for year in (2020, 2021, 2022):
        for kind in ("a", "b"):
            folder = tmp_path / "bucket" / f"year={year}" / f"kind={kind}"
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"x": [1, 2, 3]}), folder / "1.parquet")
    with serving(tmp_path) as store:
        table = all_of(read(store.uri("bucket"), where="year > 2020 and (kind = 'b' or x > 2) and x is not null"))
        opened = {path for method, path in store.asked if path.endswith(".parquet")}
    assert table.column("year").to_pylist() == [2021] * 4 + [2022] * 4
    assert table.column("kind").to_pylist() == ["a", "b", "b", "b"] * 2
    assert not any("year=2020" in path for path in opened)
    none = read(tmp_path / "bucket", where="year = 1999")
    assert (all_of(none).num_rows, none.schema.names) == (0, ["x", "year", "kind"])


def test_the_name_of_a_directory_outweighs_a_column_of_the_file(tmp_path, reads_as):
    (tmp_path / "year=2020").mkdir()
    pq.write_table(pa.table({"x": [1, 2], "year": [1, 2]}), tmp_path / "year=2020" / "1.parquet")
    reads_as(tmp_path, pa.table({"x": [1, 2], "year": [2020, 2020]}))
    reads_as(tmp_path, pa.table({"x": [1, 2], "year": [2020, 2020]}), where="year = 2020")
    reads_as(tmp_path, pa.table({"year": [2020], "x": [2]}), where="year = 2020 and x = 2", columns=["year", "x"])


def test_a_column_used_only_by_where_is_not_returned(tmp_path, reads_as):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    reads_as(tmp_path / "a.parquet", pa.table({"kind": ["b", None, "c"]}), columns=["kind"], where="age > 30")
    reads_as(TABLE, pa.table({"kind": ["b", None, "c"]}), columns=["kind"], where="age > 30")
    (tmp_path / "a.csv").write_text("a,b,c\n1,x,p\n2,y,q\n")
    reads_as(tmp_path / "a.csv", pa.table({"c": ["q"]}), columns=["c"], where="a = 2 and b = 'y'")


def test_where_sees_values_as_read_not_as_stored(tmp_path, reads_as):
    pq.write_table(pa.table({"a": ["?", "x"], "n": [1, 2]}), tmp_path / "a.parquet", row_group_size=1)
    reads_as(tmp_path / "a.parquet", pa.table({"a": [None], "n": [1]}), missing=["?"], where="a is null")
    reads_as(tmp_path / "a.parquet", pa.table({"a": ["x"], "n": ["2"]}), types={"n": pa.string()}, where="n = '2'")


def test_any_source_can_be_filtered(reads_as):
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    kept = pa.table({"a": [2], "b": ["y"]})
    reads_as(rows, kept, where="a > 1")
    reads_as({"a": [1, 2], "b": ["x", "y"]}, kept, where="a > 1")
    reads_as(pd.DataFrame(rows), kept, where="a > 1")
    reads_as(read(rows), kept, where="a > 1")
    reads_as("SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b)", kept, where="a > 1", connection="duckdb")
    views = pa.table({"a": [1, 2], "b": pa.array(["x", "y"], pa.string_view())})
    reads_as(views, kept, where="b = 'y'")


def test_ten_thousand_values_are_not_too_many(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [5, 20_000]}), path, row_group_size=1)
    where = f"a in ({', '.join(map(str, range(10_000)))})"
    assert [batch.to_pydict() for batch in read(path, where=where)] == [{"a": [5]}]


def test_a_model_of_some_rows_is_that_of_these_rows_alone(tmp_path):
    table = pa.table({"a": list(range(10)), "y": ["no", "yes"] * 5})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    assert tb.fit(tmp_path / "a.parquet", "y", where="a >= 4") == tb.fit(table[4:], "y")
    assert tb.fit(table.to_pandas(), "y", where="a >= 4") == tb.fit(table[4:], "y")
    with pytest.raises(BadOption, match=r"^where: wanted label and weights by the names of their columns, got"):
        tb.fit(table, ["no", "yes"] * 5, where="a >= 4")


@pytest.mark.parametrize(
    ("where", "got"),
    [
        ("", "got ''."),
        (3, "got 3."),
        ("age >", "got 'age >' (invalid syntax)."),
        ("age", "got 'age' in 'age'. Write a column as a plain name or in backquotes"),
        ("age > thirty()", "got 'thirty()' in 'age > thirty()'. Write a column as a plain name"),
        ("__import__('os').system('true') > 3", """got "__import__('os').system('true')" in """),
        ("age > 30 and exit()", "got 'exit()' in 'age > 30 and exit()'. "),
        ("1 < 2", "got '1' in '1 < 2'. "),
        ("age + 1 > 30", "got 'age + 1' in 'age + 1 > 30'. "),
        ("age == null", "got 'None' in 'age == null'. Compare with null by 'is null' or 'is not null'."),
        ("age is 3", "got '3' in 'age is 3'. "),
        ("age in ()", "got '()' in 'age in ()'. "),
        ("age in [x for x in age]", "got 'age in [x for x in age]' (invalid syntax"),
        ("f'{age}' == 'x'", "got \"f'{age}'\" in "),
        ("b'x' == kind", "got \"b'x'\" in "),
        ("age > 30; age", "got 'age > 30; age' (invalid syntax)."),
        ("age > 3j", "got '3j' in 'age > 3j'. "),
        ("(" * 500 + "age" + ")" * 500, "got "),
        ("not " * 50_000 + "age > 3", "got "),
    ],
)
def test_a_predicate_that_is_not_a_comparison_is_refused(where, got):
    with pytest.raises(BadOption) as caught:
        Where(where)
    said = str(caught.value)
    assert said.startswith("where: wanted comparisons such as \"age > 30 and kind in ('a', 'b')\", ")
    assert got in said


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("agee > 30", "the Table: wanted a column 'agee', got none of that name. Did you mean 'age'?"),
        ("age > 'x'", "where, column 'age': wanted whole numbers, got 'x'. Write a value of its kind."),
        ("kind = 3", "where, column 'kind': wanted text, got 3. Write it in quotation marks."),
        ("member = 1", "where, column 'member': wanted true or false, got 1. "),
        ("`my day` > 'soon'", "where, column 'my day': wanted dates or times, got 'soon'. Write a value of its kind."),
        ("age > kind", "where: wanted columns that can be compared, got 'age > kind' ("),
    ],
)
def test_what_does_not_fit_the_columns_is_refused_before_a_row_is_read(tmp_path, where, said):
    with pytest.raises(tb.errors.TallyError) as caught:
        read(TABLE, where=where)
    assert str(caught.value).startswith(said)
    pq.write_table(TABLE, tmp_path / "a.parquet")
    with pytest.raises(tb.errors.TallyError) as caught:
        read(tmp_path / "a.parquet", where=where)
    assert str(caught.value).replace(str(tmp_path / "a.parquet"), "the Table").startswith(said)
