"""Dependence of pairs of columns: counts, figures and refusals."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import chi2, chi2_contingency, kstest
from sklearn.metrics import mutual_info_score

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, CannotMerge
from tallybayes.structure.dependence_test import _moments, chi_squared
from tallybayes.structure.information import holm
from tests.tables import tables

XOR = {"a": [0, 0, 1, 1] * 10, "b": [0, 1, 0, 1] * 10, "noise": [0, 0, 1, 1, 1, 1, 0, 0] * 5, "y": [0, 1, 1, 0] * 10}


def categories(seed: int, n: int = 400, width: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"c{k}": rng.choice(list("pqrs")[: 2 + k % 3], n) for k in range(width)}
    columns["c1"] = np.where(rng.random(n) < 0.5, columns["c0"], columns["c1"])
    return columns | {"y": rng.choice(["no", "yes", "maybe"], n, p=[0.5, 0.3, 0.2])}


def test_exclusive_or_names_its_pair_and_says_why_it_matters() -> None:
    found = tb.dependence(XOR, "y")
    [worst] = found.dependent()
    assert worst.columns == ("a", "b")
    assert (worst.given, worst.overall, worst.together, worst.alone, worst.interaction) == (1, 0, 1, (0, 0), 1)
    assert worst.df == 2
    assert worst.overall_df == 1
    assert worst.p < 1e-6  # of all permutations but (2 / C(20, 10))², about 1e-10, are less extreme
    assert "'a' and 'b' together say what neither says alone (1 bit of 'y')" in str(found)


def test_the_meaning_distinguishes_copies_witnesses_and_independence() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    sign = np.where(rng.random(2000) < 0.8, y, 1 - y)
    rows = {"sign": sign, "copy": np.where(rng.random(2000) < 0.9, sign, 1 - sign), "y": y}
    rows["coin"] = rng.integers(0, 2, 2000)
    rows["its_copy"] = rows["coin"]
    found = tb.dependence(rows, "y")
    assert "counts it twice" in found.meaning(found.pair("sign", "copy"))
    assert "two witnesses" in found.meaning(found.pair("its_copy", "coin"))
    assert "may well be independent" in found.meaning(found.pair("sign", "coin"))


@pytest.mark.parametrize("seed", range(5))
def test_figures_are_those_of_scipy_and_scikit_learn(seed: int) -> None:
    rows = categories(seed)
    found, y = tb.dependence(rows, "y"), np.array(rows["y"])
    for first, second in itertools.combinations(("c0", "c1", "c2", "c3"), 2):
        pair, g, x2, df = found.pair(first, second), 0.0, 0.0, 0
        for c in np.unique(y):
            table = _crossed(rows[first][y == c], rows[second][y == c])
            g += chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
            done = chi2_contingency(table, correction=False)
            x2, df = x2 + done.statistic, df + done.dof
        assert pair.given == pytest.approx(g / (2 * len(y) * np.log(2)), rel=1e-9)
        # enough rows for the textbook's distribution; that of the permutations is narrower by a few percent
        assert (pair.df, pair.p) == (df, pytest.approx(chi2.sf(x2, df), rel=0.1, abs=1e-8))
        whole = chi2_contingency(_crossed(rows[first], rows[second]), correction=False)
        assert pair.overall_p == pytest.approx(whole.pvalue, rel=0.1, abs=1e-8)
        assert pair.overall == pytest.approx(mutual_info_score(rows[first], rows[second]) / np.log(2), rel=1e-9)
        both = [f"{a}/{b}" for a, b in zip(rows[first], rows[second], strict=True)]
        assert pair.together == pytest.approx(mutual_info_score(both, y) / np.log(2), rel=1e-9)
        assert pair.alone[0] == pytest.approx(mutual_info_score(rows[first], y) / np.log(2), rel=1e-6)
        assert pair.interaction == pytest.approx(pair.given - pair.overall, abs=1e-12)


def _crossed(a: Any, b: Any) -> np.ndarray:
    pairs = Counter(zip(a, b, strict=True))
    return np.array([[pairs[u, v] for v in np.unique(b)] for u in np.unique(a)])


def test_under_independence_p_values_are_roughly_uniform() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (3000, 25))
    found = tb.dependence(X, rng.integers(0, 2, 3000), events="categorical")
    assert len(found) == 300
    for p in (found.figures.given_p, found.figures.overall_p):
        assert kstest(p, "uniform").pvalue > 0.01
    assert not found.dependent()
    mean = np.mean(found.figures.given)
    assert mean == pytest.approx(np.mean(found.figures.chance), rel=0.05)  # the expectation under chance alone


def test_the_p_value_has_the_mean_and_variance_of_all_permutations() -> None:
    a, b, y = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 0, 0, 2]), np.zeros(7, int)
    every = np.zeros((5040, 1, 3, 3))
    for k, order in enumerate(itertools.permutations(range(7))):
        np.add.at(every[k], (y, a, b[list(order)]), 1)
    statistic, mean, variance = (part[:, 0] for part in _moments(every))
    assert statistic.mean() == pytest.approx(mean[0], rel=1e-12)
    assert statistic.var() == pytest.approx(variance[0], rel=1e-12)


@pytest.mark.parametrize(("n", "values", "skew"), [(30, 5, 1.0), (15, 10, 1.0), (60, 10, 0.0), (300, 10, 1.5)])
def test_p_values_are_those_of_permutation_even_for_sparse_cells(n: int, values: int, skew: float) -> None:
    rng = np.random.default_rng(n + values)
    share = 1 / np.arange(1, values + 1) ** skew
    a, b = rng.choice(values, (2, n), p=share / share.sum())
    b[: n // 4] = a[: n // 4]
    drawn = np.zeros((2001, 1, values, values))
    for k in range(2001):
        np.add.at(drawn[k, 0], (a, rng.permutation(b) if k else b), 1)
    statistic, p = _moments(drawn)[0][:, 0], chi_squared(drawn).p[0]
    assert p == pytest.approx(np.mean(statistic >= statistic[0] - 1e-9), abs=0.04)


@pytest.mark.parametrize("n", [15, 40, 150, 400, 2000])
def test_few_rows_make_no_false_alarms(n: int) -> None:
    rng = np.random.default_rng(n)
    found = tb.dependence(rng.random((n, 25)), rng.integers(0, 2, n))
    assert np.mean(found.figures.given_p < 0.05) < 0.09
    assert not found.dependent()


@given(drawn=tables())
def test_counts_are_those_of_plain_python(drawn: tuple[pa.Table, dict[str, str]]) -> None:
    table, events = drawn
    table = table.select([n for n in table.column_names if not n.startswith(("real", "narrow", "whole"))])
    table = table.append_column("extra", pa.array(["even", "odd"] * 6, pa.string())[: len(table)])
    names = [name for name in table.column_names if name != "label"]
    assume(len(names) > 1)
    declared = {n: e for n, e in events.items() if n in names}
    counts = tb.dependence(table, "label", events=declared, missing_values=()).counts
    rows = table.to_pylist()
    for first, second in itertools.combinations(names, 2):
        want = Counter(
            (row["label"], row[first], row[second])
            for row in rows
            if row[first] is not None and row[second] is not None
        )
        got = counts.table(first, second)
        assert sorted(got[got > 0].tolist()) == sorted(want.values())
        by_class = Counter[Any]()
        for (c, _, _), n in want.items():
            by_class[c] += n
        assert got.sum(axis=(1, 2)).tolist() == [by_class[c] for c in counts.classes.values]


@given(cut=st.integers(0, 400), seed=st.integers(0, 3), threads=st.integers(1, 3))
def test_parts_add_and_subtract_to_the_bit_in_any_order(cut: int, seed: int, threads: int) -> None:
    whole = pa.table(categories(seed))
    weighted = whole.append_column("w", pa.array(np.random.default_rng(seed).random(len(whole))))
    for rows, weights in ((whole, None), (weighted, "w")):
        found = tb.dependence(rows, "y", weights=weights)
        left, right = rows.slice(0, cut), rows.slice(cut)
        a = found.counts.count_all(found.schema, tb.read(left), threads)
        b = found.counts.count_all(found.schema, tb.read(right), threads)
        assert a + b == found.counts == b + a
        assert (a + b) - b == a
        shuffled = rows.take(np.random.default_rng(cut).permutation(len(rows)))
        assert tb.dependence(shuffled, "y", weights=weights, threads=threads).counts == found.counts


def test_what_is_learned_can_be_forgotten_and_parts_can_be_added() -> None:
    rows = pa.table(categories(7))
    first, rest = tb.dependence(rows.slice(0, 300), "y"), rows.slice(300)
    both = first.learn(rest)
    assert both.rows == 400
    assert both.counts == tb.dependence(rows, "y").counts
    assert both.forget(rest).counts == first.counts
    assert (first + first).pair("c0", "c1").given == pytest.approx(first.pair("c0", "c1").given)
    with pytest.raises(CannotMerge, match="rows that were counted before"):
        first.forget(rows)
    with pytest.raises(CannotMerge, match="cannot merge pairs: wanted the same columns in the same slots"):
        first + tb.dependence(XOR, "y")


def test_a_weight_of_two_is_the_row_twice() -> None:
    rows = pa.table(categories(3))
    twice = tb.dependence(pa.concat_tables([rows, rows]), "y")
    weighted = tb.dependence(rows, "y", weights=np.full(len(rows), 2.0))
    assert twice.counts == weighted.counts
    assert twice.to_dict() == weighted.to_dict()


def test_numbers_are_binned_by_quantiles_and_few_of_them_are_their_own_bins() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=5000)
    found = tb.dependence(
        {"x": x, "near": x + 0.1 * rng.normal(size=5000), "die": rng.integers(1, 7, 5000), "y": x > 0}, "y"
    )
    assert found.counts.sizes.tolist() == [10, 10, 6]
    weight = found.counts.table("x", "near").sum(axis=(0, 2))
    assert weight.tolist() == [500] * 10
    assert found.worst(1)[0].columns == ("x", "near")
    assert tb.dependence({"x": x, "z": -x, "y": x > 0}, "y", bins=4).counts.sizes.tolist() == [4, 4]
    assert found.counts.slots[2].names()[:2] == ("up to 1", "up to 2")
    few = {"x": x[:303], "die": rng.integers(1, 7, 303), "y": x[:303] > 0}
    assert tb.dependence(few, "y").counts.sizes.tolist() == [5, 6]  # √(303 / 5 · 2); few values are as they are


def test_a_bernoulli_column_is_parted_by_its_threshold_and_a_sparse_one_has_its_zeros() -> None:
    X = np.random.default_rng(0).integers(0, 255, (300, 3))
    dark = tb.dependence(X, X[:, 0] > 200, events="bernoulli(threshold=127)")
    assert dark.counts.table("x0", "x1").sum(axis=0).tolist() == [
        [int(((X[:, 0] > 127) == u).astype(int) @ ((X[:, 1] > 127) == v)) for v in (False, True)] for u in (False, True)
    ]
    words = np.minimum(X // 64, 2)
    sparse, dense = (tb.dependence(form, X[:, 0] % 2, events="multinomial") for form in (csr_matrix(words), words))
    assert sparse.counts == dense.counts


def test_rare_values_share_a_slot_and_missing_ones_are_left_out_of_their_pairs_only() -> None:
    rows = {"id": [f"i{k}" for k in range(100)], "a": ["p", "q"] * 50, "b": ["u", None] * 50, "y": [0, 1] * 50}
    found = tb.dependence(rows, "y", values=5, events={"id": "categorical"})
    assert found.counts.sizes.tolist() == [5, 3, 2]
    assert found.counts.slots[0].names() == ("i0", "i1", "i10", "i11", "other")
    assert (found.pair("id", "a").n, found.pair("b", "a").n) == (100, 50)
    kept = tb.dependence(rows, "y", missing="category", events={"id": "ignore"})
    assert kept.pair("a", "b").n == 100


def test_streams_and_files_are_counted_as_tables_are(tmp_path: Path) -> None:
    table = pa.table(categories(11))
    want = tb.dependence(table, "y").counts
    stream = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=400)))
    assert tb.dependence(stream, "y").counts == want
    csv.write_csv(table, tmp_path / "rows.csv")
    assert tb.dependence(tmp_path / "rows.csv", "y").counts == want


def test_a_constant_or_missing_column_depends_on_nothing() -> None:
    none = pa.array([None] * 40, pa.float64())
    found = tb.dependence({**XOR, "same": ["x"] * 40, "one": [1.0] * 40, "none": none}, "y")
    for name in ("same", "one", "none"):
        pair = found.pair("a", name)
        assert (pair.given, pair.overall, pair.p, pair.overall_p, pair.interaction, pair.df) == (0, 0, 1, 1, 0, 0)
    assert found.pair("a", "none").n == 0
    assert [pair.columns for pair in found.dependent()] == [("a", "b")]


def test_text_is_left_out_with_a_note() -> None:
    prose = [f"this message has number {k} and some words" for k in range(40)]
    found = tb.dependence({**XOR, "message": prose}, "y")
    assert found.left_out == ("message",)
    assert "Not tested, because they are text: message." in str(found)
    assert len(found) == 3


def test_a_model_sees_its_own_columns() -> None:
    model = tb.fit(XOR, "y", events={"a": "categorical", "noise": "ignore"})
    found = model.dependence(XOR)
    assert found.columns == ("a", "b")
    assert model.dependence(XOR, columns=["b", "a"], bins=2).pair("a", "b").given == 1
    other = {"a": XOR["a"], "b": XOR["b"]}
    assert model.dependence(other, XOR["y"]).counts == found.counts


def test_the_result_can_be_taken_elsewhere() -> None:
    found = tb.dependence(XOR, "y")
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["unit"] == "bits"
    assert plain["pairs"][0]["columns"] == ["a", "b"]
    assert plain["pairs"][0]["interaction"] == 1
    assert len(list(found)) == len(found) == len(found.pairs) == 3
    assert repr(found) == str(found)
    assert {point["what"] for point in found.points()} == {"given", "overall"}


def test_the_chart_draws_the_columns_of_the_strongest_pairs() -> None:
    drawn = tb.dependence(XOR, "y").chart(most=2).to_dict()
    given, overall = (drawn["datasets"][part["data"]["name"]] for part in drawn["hconcat"])
    assert {(point["a"], point["b"], point["bits"]) for point in given} == {("a", "b", 1), ("b", "a", 1)}
    assert {point["bits"] for point in overall} == {0}


def test_holm_multiplies_and_never_decreases() -> None:
    assert holm([]).tolist() == []
    assert holm([0.02, 0.5, 0.03, 0.04]).round(10).tolist() == [0.08, 0.5, 0.09, 0.09]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": "a"}, r"columns: wanted a list of names, got 'a'. Pass \['a'\]"),
        ({"columns": ["a", "bb"]}, "columns: wanted columns of the rows, got 'bb'. Did you mean 'b'"),
        ({"columns": ["a"]}, "dependence: wanted at least two columns that are not text, got only 'a'"),
        ({"bins": 1}, "bins: wanted a whole number from 2 to 1000, got 1"),
        ({"values": True}, "values: wanted a whole number from 2 to 1000, got True"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((BadOption, BadData), match=sentence):
        tb.dependence(XOR, "y", **options)


def test_more_pairs_than_memory_holds_are_refused_before_they_are_counted() -> None:
    with pytest.raises(BadOption, match=r"at most 134,217,728 counts, got .*\(4000 columns, 2 classes\)\. Name fewer"):
        tb.dependence(np.random.default_rng(0).integers(0, 10, (20, 4000)), [0, 1] * 10)


def test_unknown_columns_and_pairs_of_one_column_are_refused() -> None:
    found = tb.dependence(XOR, "y")
    with pytest.raises(
        BadOption, match=r"pair: wanted two columns that were tested, got 'nois'\. Did you mean 'noise'"
    ):
        found.pair("a", "nois")
    with pytest.raises(BadOption, match="pair: wanted two different columns, got 'a' twice"):
        found.pair("a", "a")
    with pytest.raises(BadOption, match="column: wanted a column that was counted, got 'c'"):
        found.counts.table("a", "c")
