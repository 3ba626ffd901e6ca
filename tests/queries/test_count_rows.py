"""Probabilities by counting rows: queries, missing values, and refusals."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import tallybayes as tb
from tallybayes.errors import BadData, BadOption
from tallybayes.queries.count_rows import count_patterns
from tallybayes.queries.language import Query, Term, parse

ROWS = {
    "name": ["Ann", "Bob, jr.", "Cy", "don't know", None, "Ann"],
    "age": [51, 49, 50, None, 70, 20],
    "height": [1.5, 1.75, float("nan"), 1.9, 1.6, 1.75],
    "member": [True, False, True, True, None, False],
    "since": [datetime.date(2020, 1, k) for k in range(1, 7)],
    "town": ["Rome", "Oslo", "Rome", "Rome", "Oslo", "Ann"],
}


def asked(query: str, given: Any = None, rows: Any = ROWS, **options: Any) -> tuple[int | None, ...]:
    found = tb.probability(rows, query, given, **options)
    assert float(found) == found.probability == found.hits / found.total
    return found.hits, found.total, found.missing


@pytest.mark.parametrize(
    ("query", "hits", "total", "missing"),
    [
        ("Rome", 3, 6, 0),
        ("town=Rome, member=true", 3, 5, 1),
        ("member | Rome", None, None, None),
        ("member=TRUE | Rome", 3, 3, 0),
        ("Rome | member=1", 3, 3, 1),
        ("age>50", 2, 5, 1),
        ("age >= 50, age<=51", 2, 5, 1),
        ("age≤50 | age≠20", 2, 4, 1),
        ("height=1.75", 2, 5, 1),
        ("height==1.75 | town!=Rome", 2, 3, 0),
        ("age=1000", 0, 5, 1),
        ("since<2020-01-03", 2, 6, 0),
        ("since=2020-01-03 | Rome", 1, 3, 0),
        ("'Bob, jr.'", 1, 5, 1),
        ('"Bob, jr." | age<50', 1, 2, 1),
        ("don't know", 1, 5, 1),
        (r"name='don\'t know'", 1, 5, 1),
        ("name=Ann | town='Ann'", 1, 1, 0),
        ("P(name=Ann | age>50)", 1, 1, 2),
        ("name~bob", 1, 5, 1),
        ("name~'BOB jr'", 1, 5, 1),
        ("Oslo, Rome", 0, 6, 0),
    ],
)
def test_rows_are_counted(query: str, hits: int | None, total: int | None, missing: int | None) -> None:
    if hits is None:
        with pytest.raises(BadOption, match="wanted a value of some column, got 'member'"):
            asked(query)
    else:
        assert asked(query) == (hits, total, missing)


def test_words_are_whole_in_any_script() -> None:
    rows = {"text": ["un café, s'il vous plaît", "la cafétéria", "CAFÉ!", "caf", "el niño"]}
    assert asked("text~café", rows=rows) == (2, 5, 0)
    assert asked("text~caf", rows=rows) == (1, 5, 0)
    assert asked("text~'vous plaît'", rows=rows) == (1, 5, 0)


def test_times_categories_and_decimals_are_understood() -> None:
    rows = pa.table(
        {
            "at": pa.array([datetime.datetime(2020, 1, 1, 12), datetime.datetime(2021, 5, 5)], pa.timestamp("ms")),
            "size": pa.array(["small", "large"]).dictionary_encode(),
            "price": pa.array([1.25, 2.5]).cast(pa.decimal128(5, 2)),
        }
    )
    assert asked("at<2021-01-01", rows=rows) == (1, 2, 0)
    assert asked("small | price<2", rows=rows) == (1, 1, 0)


def test_conditions_may_be_a_separate_argument() -> None:
    assert asked("Rome", "member=true") == asked("Rome | member=true") == asked("Rome", {"member": True, "age": None})
    assert asked("name=Ann", {"since": datetime.date(2020, 1, 1)}) == (1, 1, 0)
    assert asked("Rome | member=true", "age>50") == (1, 1, 2)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("Rom", r"query 'Rom': wanted a value of some column, got 'Rom'\. Did you mean 'Rome'\?"),
        ("town=Rom", r"query 'town=Rom': wanted a value of column 'town', got 'Rom'\. Did you mean 'Rome'\?"),
        ("town!=Rom", "wanted a value of column 'town', got 'Rom'"),
        ("twon=Rome", r"query 'twon=Rome': wanted columns of the dict, got 'twon'\. Did you mean 'town'\?"),
        ("Ann", r"wanted 'Ann' in one column, got it in 2\. Write 'name=Ann' or 'town=Ann'\."),
        ("town>Oslo", "query 'town>Oslo': wanted numbers or dates for '>', got column 'town' of text"),
        ("age~3", "wanted a column of text for '~', got column 'age' of whole numbers"),
        ("age>old", "query 'age>old': wanted a value of column 'age', whole numbers, got 'old'"),
        ("member=maybe", "wanted a value of column 'member', booleans, got 'maybe'"),
        ("town~' '", "query \"town~' '\": wanted words after '~', got none"),
        ("town=", "query 'town=': wanted a value after '=', got its end"),
        ("=Rome", "wanted a column or a value, got '=Rome' at character 1"),
        ("Rome |", "wanted a column or a value, got its end"),
        ("Rome | Oslo | Ann", r"wanted one '\|' at most, got '\| Ann' at character 13"),
        ("Rome, , Oslo", "wanted a column or a value, got ', Oslo' at character 7"),
        ("'Rome", 'wanted a closing quote, got "\'Rome" at character 1'),
        ("'Rome' Oslo", r"wanted ',' or '\|' between terms, got 'Oslo' at character 8"),
        ("  ", "wanted a column or a value, got its end"),
        (3, "query: wanted a text such as 'play=yes"),
    ],
)
def test_an_invalid_query_is_refused_with_its_position(query: Any, sentence: str) -> None:
    with pytest.raises(BadOption, match=sentence):
        tb.probability(ROWS, query)


def test_a_condition_that_never_held_is_refused() -> None:
    sentence = r"query 'Rome \| age>90': wanted rows in which age>90 holds, got none of 6 \(1 lack a column"
    with pytest.raises(BadData, match=sentence):
        tb.probability(ROWS, "Rome | age>90")
    with pytest.raises(BadData, match="wanted rows that have the columns of the query, got none of 1"):
        tb.probability({"a": pa.array([None], pa.int64()), "b": [1]}, "a=1")
    with pytest.raises(BadOption, match=r"given: wanted terms such as .*, got 'a\|b', with a '\|'"):
        tb.probability(ROWS, "Rome", "a|b")
    with pytest.raises(BadOption, match="given: wanted a text or a mapping"):
        tb.probability(ROWS, "Rome", 3)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="interval: wanted 'wilson' or 'beta', got 'exact'"):
        tb.probability(ROWS, "Rome", interval="exact")  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="level"):
        tb.probability(ROWS, "Rome", level=95)


def test_intervals_are_those_worked_out_by_hand() -> None:
    eight = {"x": ["yes"] * 8 + ["no"] * 2}
    found = tb.probability(eight, "yes")
    # z² = 3.8415: (0.8 + 0.19207 ± 1.95996 √(0.016 + 0.0096036)) / 1.38415
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)
    found = tb.probability(eight, "yes", interval="beta", level=0.9)
    assert (found.low, found.high) == pytest.approx(beta.ppf([0.05, 0.95], 8.5, 2.5), rel=1e-12)
    all_of_them = tb.probability({"x": ["yes"] * 10}, "yes", interval="beta")
    assert (all_of_them.high, round(all_of_them.low, 4)) == (1.0, 0.7828)


@st.composite
def tabled(draw: Any) -> dict[str, list[Any]]:
    n = draw(st.integers(1, 25))
    cells = {"a": [*"pqr", None], "b": [*"uvw", None], "n": [1, 2, 3, None]}
    return {k: draw(st.lists(st.sampled_from(v), min_size=n, max_size=n)) for k, v in cells.items()}


@given(rows=tabled(), batch_rows=st.integers(1, 9), threads=st.integers(1, 2))
def test_counts_are_those_of_plain_python_whatever_the_batches(
    rows: dict[str, list[Any]], batch_rows: int, threads: int
) -> None:
    table = pa.table({"a": pa.array(rows["a"], pa.string()), "b": pa.array(rows["b"], pa.string()), "n": rows["n"]})
    possible = [row for row in table.to_pylist() if row["b"] in ("u", None) and row["n"] != 3]
    total = [row for row in possible if None not in row.values()]
    hits = [row for row in total if row["a"] == "p"]
    source = tb.read(table, batch_rows=batch_rows)
    if not total or "p" not in rows["a"]:
        with pytest.raises((BadData, BadOption)):
            tb.probability(source, "p | u, n!=3", threads=threads)
        return
    assert asked("p | u, n!=3", rows=source, threads=threads) == (len(hits), len(total), len(possible) - len(total))


@given(cut=st.integers(0, 6))
def test_tallies_of_parts_add(cut: int) -> None:
    batch, query = pa.RecordBatch.from_pydict(ROWS), parse("Rome | age>30, member=true")
    parts = count_patterns(query, batch.slice(0, cut)), count_patterns(query, batch.slice(cut))
    columns = list(ROWS)
    for total in (parts[0] + parts[1], parts[1] + parts[0]):
        assert total.counts(query, columns) == count_patterns(query, batch).counts(query, columns) == (2, 2, 2)


def test_many_columns_with_holes_are_looked_through() -> None:
    rng = np.random.default_rng(0)
    rows = {f"c{k}": np.where(rng.random(500) < 0.5, None, "x").tolist() for k in range(70)}
    rows["c69"] = [None if k % 2 else "needle" if k < 10 else "hay" for k in range(500)]
    assert asked("needle", rows=tb.read(rows, batch_rows=100)) == (5, 250, 250)


def test_files_arrays_and_streams_are_queried_alike(tmp_path: Path) -> None:
    table = pa.table({"shape": ["circle", "square", "?"], "size": [1, 2, 3]})
    pc.write_csv(table, tmp_path / "shapes.csv")
    assert asked("shape=circle", rows=tmp_path / "shapes.csv", missing_values=["?"]) == (1, 2, 1)
    assert asked("shape=circle", rows=tmp_path / "shapes.csv") == (1, 2, 1)
    assert asked("shape=circle", rows=tmp_path / "shapes.csv", missing_values=()) == (1, 3, 0)
    assert asked("circle | size<3", rows=tmp_path / "shapes.csv") == (1, 2, 0)
    assert asked("x1>2", rows=np.array([[1.0, 2.0], [1.0, 3.0]])) == (1, 2, 0)
    stream = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches()))
    assert asked("circle", rows=stream, missing_values=()) == (1, 3, 0)


def test_a_query_is_written_in_a_form_that_parses_again() -> None:
    query = Query((Term("a, b", "=", "it's"), Term(None, "=", " x ")), (Term("n", ">=", "3"),))
    assert str(query) == r"'a, b'='it\'s', ' x ' | n>=3"
    assert parse(str(query)) == query


@given(text=st.text(alphabet="ab,|=<>!~'\" \\(P)", max_size=12))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        query = parse(text)
    except BadOption:
        return
    assert parse(str(query)) == query


def test_the_answer_can_be_taken_elsewhere() -> None:
    found = tb.probability(ROWS, "member=true | Rome")
    plain = json.loads(json.dumps(found.to_dict()))
    assert (plain["query"], plain["hits"], plain["total"]) == ("member=true | Rome", 3, 3)
    assert str(found).startswith("P(member=true | Rome) = 1\n\n3 of 3 rows; between 0.43")
    assert "left out" in str(tb.probability(ROWS, "age>50"))


def test_money_units_percent_and_written_dates_are_compared_by_size(tmp_path) -> None:
    pay = [10.0 * k + 0.5 for k in range(200)]
    lines = [
        f'"${x:,.2f}",{k % 40} cm,{k % 30}%,{1 + k % 28:02}.{1 + k % 12:02}.202{k % 3},{"ab"[k % 2]}'
        for k, x in enumerate(pay)
    ]
    lines += ["N/A,-,?,,a"]
    path = tmp_path / "messy.csv"
    path.write_text("pay,height,off,seen,kind\n" + "\n".join(lines) + "\n")
    found = tb.probability(path, "kind=a | pay > 1000")
    assert (found.hits, found.total, found.missing) == (50, 100, 1)
    assert tb.probability(path, "height >= 30").hits == 50
    assert tb.probability(path, "off<3").hits == sum(k % 30 < 3 for k in range(200))
    later = [k for k in range(200) if (k % 3, 1 + k % 12) >= (1, 7)]
    assert tb.probability(path, "seen >= 2021-07-01").hits == len(later)
    assert tb.probability(path, "seen >= 2021-07-01, pay < 500, kind=b").hits == sum(k % 2 and k < 50 for k in later)
    with pytest.raises(BadOption, match="wanted numbers or dates for '>', got column 'kind' of text"):
        tb.probability(path, "kind > 3")


def test_times_and_durations_do_not_hinder_a_query() -> None:
    times = [datetime.time(9 + k % 3, 30) for k in range(12)]
    waits = [datetime.timedelta(minutes=k) for k in range(12)]
    rows = {"at": times, "wait": pa.array(waits), "kind": ["left", "right"] * 6}
    table = pa.table(rows)
    assert tb.probability(table, "left").hits == 6
    assert tb.probability(table, "at=10:30:00").hits == 4
    assert tb.probability(table, "left | wait > 300").total == 6
