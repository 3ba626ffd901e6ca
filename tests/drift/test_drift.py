"""Drift: as many false alarms as promised, changes found, and the same figures however rows come."""

import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from scipy.stats import false_discovery_control

import tallybayes as tb
from tallybayes.drift.drift import compare
from tallybayes.drift.recent_rows import RecentRows
from tallybayes.errors import BadData, BadOption, LeftOutWarning, MissingColumnWarning

Make = Callable[[np.random.Generator, int], Any]
LETTERS, SHARES = np.array(list("abcdefgh")), [0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.01, 0.01]
WORDS = np.array([f"word{k}" for k in range(400)])
WORD_SHARES = 1 / np.arange(1, 401) / (1 / np.arange(1, 401)).sum()


def _some_missing(values: Any, rng: np.random.Generator) -> list[Any]:
    gone = rng.random(len(values)) < 0.15
    return [None if out else value for value, out in zip(np.asarray(values).tolist(), gone, strict=True)]


# What a column holds, without drift and with it, by event model.
CASES: dict[str, tuple[str, Make, Make]] = {
    "values": (
        "categorical",
        lambda rng, n: rng.choice(LETTERS, n, p=SHARES),
        lambda rng, n: rng.choice(LETTERS, n),
    ),
    "many values": (
        "categorical",
        lambda rng, n: rng.integers(0, 5000, n).astype(str),
        lambda rng, n: rng.integers(0, 150, n).astype(str),
    ),
    "values, some missing": (
        "categorical",
        lambda rng, n: _some_missing(rng.choice(LETTERS, n), rng),
        lambda rng, n: rng.choice(LETTERS, n),
    ),
    "numbers": ("histogram", lambda rng, n: rng.lognormal(size=n), lambda rng, n: rng.lognormal(0.5, size=n)),
    "spread": ("histogram", lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(scale=2, size=n)),
    "normal": ("gaussian", lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(0.5, size=n)),
    "normal, some missing": (
        "gaussian",
        lambda rng, n: _some_missing(rng.normal(size=n), rng),
        lambda rng, n: rng.normal(size=n),
    ),
    "lognormal": ("lognormal", lambda rng, n: rng.lognormal(size=n), lambda rng, n: rng.lognormal(0, 1.5, size=n)),
    "counts": ("poisson", lambda rng, n: rng.poisson(2, n), lambda rng, n: rng.poisson(2.6, n)),
    "waits": ("exponential", lambda rng, n: rng.exponential(2, n), lambda rng, n: rng.exponential(3, n)),
    "yes or no": ("bernoulli", lambda rng, n: rng.random(n) < 0.1, lambda rng, n: rng.random(n) < 0.3),
}


def _columns(make: Make, rng: np.random.Generator, n: int, width: int) -> dict[str, Any]:
    return {f"x{f}": make(rng, n) for f in range(width)}


def _fit(make: Make, event: str, n: int, width: int, seed: int) -> tuple[tb.Model, np.random.Generator]:
    rng = np.random.default_rng(seed)
    rows = _columns(make, rng, n, width) | {"y": rng.integers(0, 2, n).astype(str)}
    return tb.fit(rows, "y", events=event, calibrate=None), rng


@pytest.mark.parametrize("case", CASES)
def test_one_column_in_twenty_is_a_false_alarm_before_correction(case: str) -> None:
    event, make, _ = CASES[case]
    model, rng = _fit(make, event, 600, 300, seed=7)
    found = model.drift(_columns(make, rng, 250, 300))
    p = np.array([one.p for one in found.columns])
    # 300 columns: the share below 0.05 has a standard error of 0.0126.
    assert 0.015 <= np.mean(p <= 0.05) <= 0.09
    assert stats.binomtest(int((p <= 0.5).sum()), len(p), 0.5).pvalue > 1e-4
    assert len(found.drifted()) <= 2
    assert np.mean([one.distance for one in found.columns]) == pytest.approx(
        np.mean([one.chance for one in found.columns]), rel=0.12
    )


@pytest.mark.parametrize("case", CASES)
def test_changes_are_found(case: str) -> None:
    event, make, changed = CASES[case]
    model, rng = _fit(make, event, 600, 30, seed=8)
    rows = _columns(make, rng, 250, 30) | {f"x{f}": changed(rng, 250) for f in range(10)}
    names = {one.column for one in model.drift(rows).drifted()}
    assert len(names & {f"x{f}" for f in range(10)}) >= 9
    assert len(names - {f"x{f}" for f in range(10)}) <= 2


def _texts(rng: np.random.Generator, n: int, shares: Any) -> list[str]:
    return [" ".join(rng.choice(WORDS, 12, p=shares)) for _ in range(n)]


def test_texts_change_by_their_words() -> None:
    rng = np.random.default_rng(3)
    columns = {f"t{f}": _texts(rng, 300, WORD_SHARES) for f in range(20)} | {"y": rng.integers(0, 2, 300)}
    model = tb.fit(columns, "y", events="text", calibrate=None)
    rows = {f"t{f}": _texts(rng, 200, WORD_SHARES) for f in range(20)}
    p = [one.p for one in model.drift(rows).columns]
    assert np.mean(np.array(p) <= 0.05) <= 0.15
    rows["t3"] = [f"{text} fraud" if k % 8 == 0 else text for k, text in enumerate(rows["t3"])]
    first = model.drift(rows).columns[0]
    assert (first.column, first.changes[0].what, first.changes[0].new) == ("t3", "fraud", 0.125)
    assert 25 / (200 * 12 + 25) <= first.unseen <= 0.03


def test_shares_of_a_bag_of_counts_are_compared() -> None:
    rng = np.random.default_rng(5)
    columns = {f"x{f}": rng.poisson(3, 300) for f in range(12)} | {"y": rng.integers(0, 2, 300)}
    model = tb.fit(columns, "y", events="multinomial", calibrate=None)
    new = {f"x{f}": rng.poisson(6 if f == 4 else 3, 200) for f in range(12)}
    assert model.drift(new).columns[0].column == "x4"


MIXED = {
    "colour": ["red", "green", "green", None, "blue", "red"] * 40,
    "size": [1.5, 2.0, 2.5, 9.0, None, 3.25] * 40,
    "note": ["late again", "on time", None, "late", "all good", "on time again"] * 40,
    "kind": ["a", "b", "b", "a", "b", "b"] * 40,
}


@pytest.fixture(scope="module")
def mixed() -> tb.Model:
    return tb.fit(MIXED, "kind", events={"note": "text"})


def test_the_same_rows_have_not_changed(mixed: tb.Model) -> None:
    found = mixed.drift(MIXED)
    assert found.drifted() == ()
    assert [one.distance for one in found.columns] == [0, 0, 0]
    assert found.classes is not None
    assert (found.classes.p, found.classes.distance, found.classes.new) == (1, 0, (1 / 3, 2 / 3))
    assert [one.missing_new for one in sorted(found.columns, key=lambda one: one.column)] == [1 / 6] * 3


def test_order_batches_threads_and_form_do_not_matter(mixed: tb.Model, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    rows = {name: [values[k] for k in rng.integers(0, 240, 500)] for name, values in MIXED.items() if name != "kind"}
    expected = mixed.drift(rows)
    table = pa.table(rows)
    shuffled = table.take(pa.array(rng.permutation(500)))
    parts = pa.Table.from_batches(shuffled.to_batches(max_chunksize=17))
    path = tmp_path / "new.csv"
    pl.from_arrow(table).write_csv(path)  # type: ignore[union-attr]
    for other in (table, parts, table.to_pylist(), pl.from_arrow(shuffled), str(path)):
        for threads in (1, 3):
            assert mixed.drift(other, threads=threads) == expected


def test_counts_alone_give_the_same_figures(mixed: tb.Model) -> None:
    rows = {name: values[:90] for name, values in MIXED.items()}
    by_rows = mixed.drift(rows)
    by_counts = compare(mixed.evidence, tb.fit(rows, "kind", events={"note": "text"}).evidence, labelled=True)
    assert (by_counts.columns, by_counts.classes) == (by_rows.columns, by_rows.classes)


def test_figures_of_a_small_table_by_hand() -> None:
    model = tb.fit({"x": ["p"] * 60 + ["q"] * 40, "y": ["no", "yes"] * 50}, "y")
    found = model.drift({"x": ["p"] * 30 + ["q"] * 50 + ["r"] * 10 + [None] * 10, "y": ["no"] * 100})
    [one] = found.columns
    # Shares of p, q, r and none: 0.6, 0.4, 0, 0 against 0.3, 0.5, 0.1, 0.1.
    assert one.distance == pytest.approx(0.3)
    assert (one.missing_fitted, one.missing_new, one.unseen) == (0, 0.1, pytest.approx(1 / 9))
    assert (one.changes[0].what, one.changes[0].fitted, one.changes[0].new) == ("p", 0.6, 0.3)
    table = [[60, 40, 0, 0], [30, 50, 10, 10]]
    assert one.p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=0.6)
    assert found.classes is not None
    assert (found.classes.distance, found.classes.fitted, found.classes.new) == (0.5, (0.5, 0.5), (1, 0))
    assert found.classes.p < 1e-12


def test_p_values_are_corrected_by_benjamini_and_hochberg() -> None:
    rng = np.random.default_rng(2)
    make = CASES["values"][1]
    model, _ = _fit(make, "categorical", 300, 25, seed=1)
    found = model.drift(_columns(make, rng, 200, 25)).columns
    assert [one.adjusted for one in found] == pytest.approx(false_discovery_control([one.p for one in found]))
    assert [one.p for one in found] == sorted(one.p for one in found)


def test_a_lost_column_is_the_largest_change(mixed: tb.Model) -> None:
    rows = pa.table({name: MIXED[name] for name in ("colour", "note")})
    with pytest.warns(MissingColumnWarning, match="no column 'size'"):
        first = mixed.drift(rows).columns[0]
    assert (first.column, first.missing_new, first.changes[0].what) == ("size", 1, "missing")
    assert first.distance == pytest.approx(5 / 6)


def test_few_rows_say_nothing(mixed: tb.Model) -> None:
    found = mixed.drift({name: values[:29] for name, values in MIXED.items()})
    assert not found.enough
    assert all(np.isnan(one.p) for one in found.columns)
    assert found.prior is None
    assert "Too few rows to say: wanted at least 30 on each side, got 29." in str(found)
    assert json.loads(json.dumps(found.to_dict()))["classes"]["p"] is None


def test_no_rows_are_refused(mixed: tb.Model) -> None:
    with pytest.raises(BadData, match="drift: wanted new rows to compare, got none"):
        mixed.drift({"colour": [], "size": [], "note": []})


def test_rows_without_class_are_left_out_and_new_classes_are_shown(mixed: tb.Model) -> None:
    rows = {name: values[:60] for name, values in MIXED.items()}
    with pytest.warns(LeftOutWarning, match="30 of 60 rows have no class"):
        assert mixed.drift(rows | {"kind": ["a", None] * 30}).new_rows == 30
    found = mixed.drift(rows | {"kind": ["a", "z"] * 30})
    assert found.classes is not None
    assert found.classes.classes == ("a", "b", "z")
    assert found.classes.new == (0.5, 0, 0.5)


def test_missing_values_are_counted_where_the_model_refuses_them() -> None:
    model = tb.fit({"x": ["p", "q"] * 30, "y": ["no", "yes"] * 30}, "y", missing="error")
    assert model.drift({"x": ["p", None] * 30}).column("x").missing_new == 0.5


def test_a_null_that_is_a_value_is_missing_all_the_same() -> None:
    model = tb.fit({"x": ["p", "q", None] * 20, "y": ["no", "yes", "no"] * 20}, "y", missing="category")
    one = model.drift({"x": ["p", "q", None, None] * 20}).column("x")
    assert (one.missing_fitted, one.missing_new, one.distance) == (pytest.approx(1 / 3), 0.5, pytest.approx(1 / 6))


def test_columns_made_of_others_are_left_out() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    rows = {"a": a, "b": b, "y": a ^ b}
    model = tb.fit(rows, "y", structure="pairs")
    assert model.schema.products
    assert {one.column for one in model.drift(rows).columns} == {"a", "b"}


def test_arrays_and_weights_are_taken_as_in_fit() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    model = tb.fit(x, y)
    moved = x + np.array([0, 0, 1, 0])
    assert [one.column for one in model.drift(moved).drifted()] == ["x2"]
    once, twice = (
        model.drift(np.repeat(moved, 2, axis=0), np.repeat(y, 2)),
        model.drift(moved, y, weights=np.full(300, 2)),
    )
    assert once.columns == twice.columns
    assert once.classes == twice.classes


def _two_classes(rng: np.random.Generator, n: int, share: float) -> dict[str, Any]:
    yes = rng.random(n) < share
    numbers = {f"a{k}": rng.normal(yes) for k in range(3)}
    values = {f"c{k}": np.where(rng.random(n) < 0.5 + 0.2 * yes, "p", "q") for k in range(3)}
    return numbers | values | {"y": np.where(yes, "yes", "no")}


def test_the_prior_of_unlabelled_rows_is_found_by_em() -> None:
    rng = np.random.default_rng(1)
    model = tb.fit(_two_classes(rng, 4000, 0.3), "y")
    for share in (0.1, 0.6):
        rows = _two_classes(rng, 2000, share)
        del rows["y"]
        found = model.drift(rows).prior
        assert found is not None
        assert found.shares[1] == pytest.approx(share, abs=0.05)
        assert found.p < 1e-6
        assert sum(found.shares) == pytest.approx(1)


def test_an_unchanged_prior_is_seldom_called_changed() -> None:
    rng, p = np.random.default_rng(2), []
    for _ in range(40):
        model, new = tb.fit(_two_classes(rng, 500, 0.3), "y"), _two_classes(rng, 300, 0.3)
        prior = model.drift(new).prior
        assert prior is not None
        p.append(prior.p)
    assert np.mean(np.array(p) <= 0.05) <= 0.2


def test_em_finds_the_shares_of_three_classes() -> None:
    rng = np.random.default_rng(9)
    means = np.array([0.0, 2.0, 4.0])

    def rows(n: int, shares: list[float]) -> dict[str, Any]:
        y = rng.choice(3, n, p=shares)
        return {"x": rng.normal(means[y]), "z": rng.normal(means[y]), "y": y}

    model = tb.fit(rows(3000, [0.5, 0.3, 0.2]), "y")
    new = rows(3000, [0.1, 0.2, 0.7])
    found = model.drift({name: new[name] for name in ("x", "z")}).prior
    assert found is not None
    assert found.shares == pytest.approx((0.1, 0.2, 0.7), abs=0.04)
    assert found.classes == (0, 1, 2)


def test_recent_rows_are_compared_as_the_rows_themselves(mixed: tb.Model) -> None:
    rows = [{name: values[k] for name, values in MIXED.items() if name != "kind"} for k in range(150)]
    asked = RecentRows(mixed)
    for row in rows:
        asked.add(mixed, [row], mixed.predict_proba([row]).tolist())
    expected, found = mixed.drift(rows), asked.drift(mixed)
    assert (found.columns, found.new_rows, found.classes) == (expected.columns, 150, None)
    assert found.prior is not None
    assert expected.prior is not None
    assert found.prior.shares == pytest.approx(expected.prior.shares, abs=1e-6)
    assert asked.drift(mixed).columns == expected.columns


def test_recent_rows_take_mixed_types_large_tables_and_more_classes(mixed: tb.Model) -> None:
    asked = RecentRows(mixed)
    assert asked.drift(mixed).new_rows == 0
    for value in (3, "3", None, 4.5):
        row = {"size": value, "kind": "a", "strange": object()}
        asked.add(mixed, [row], mixed.predict_proba([{"size": value}]).tolist())
    assert asked.drift(mixed).new_rows == 4
    table = pa.table({"size": np.arange(50_000.0), "colour": ["red"] * 50_000, "kind": ["a"] * 50_000})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingColumnWarning)
        asked.add_table(mixed, table)
        asked.count_tables()
    assert 1000 <= asked.drift(mixed).new_rows <= 2100
    asked.add(mixed, [{"size": float("inf")}], [[0.5, 0.5]])
    assert asked.drift(mixed).new_rows <= 2100
    more = mixed.learn([{"colour": "red", "size": 1.0, "note": "late", "kind": "c"}])
    asked.add(more, [{"size": 1.0}], more.predict_proba([{"size": 1.0}]).tolist())
    assert asked.drift(more).new_rows >= 1000


def test_recent_rows_forget_what_is_long_ago(mixed: tb.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallybayes.drift import recent_rows

    monkeypatch.setattr(recent_rows, "_WINDOW_VALUES", 500)
    monkeypatch.setattr(recent_rows, "_REST", 0.0)
    asked = RecentRows(mixed)
    for start in range(0, 20_000, 100):
        rows = [{"colour": f"shade {start + k}"} for k in range(100)]
        asked.add(mixed, rows, [[0.5, 0.5]] * 100)
    assert 500 <= asked.drift(mixed).new_rows <= 3000


def test_recent_rows_are_thinned_under_load(mixed: tb.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from tallybayes.drift import recent_rows

    monkeypatch.setattr(recent_rows, "_REST", 3600.0)
    asked = RecentRows(mixed)
    for _ in range(3000):
        asked.add(mixed, [{"colour": "red"}], [[0.5, 0.5]])
    assert asked.drift(mixed).new_rows <= 600


def test_the_result_says_what_it_found(mixed: tb.Model) -> None:
    found = mixed.drift({name: [values[0]] * 60 for name, values in MIXED.items()})
    text = str(found)
    assert "3 of 3 columns changed: p ≤ 0.05" in text
    assert repr(found) == str(found)
    assert found.to_arrow().num_rows == 3
    assert found.to_dict()["drifted"] == [one.column for one in found.drifted()]
    assert json.loads(json.dumps(found.to_dict()))["prior"]["classes"] == ["a", "b"]
    with pytest.raises(BadOption, match="colour"):
        found.column("color")


def test_changes_of_dates_and_times_are_written_as_dates_and_times() -> None:
    days = [f"{1 + k % 28:02}.{1 + k % 12:02}.2023" for k in range(120)]
    rows = {"seen": days, "at": [f"{k % 24}:{k % 60:02}" for k in range(120)], "y": ["no", "yes"] * 60}
    later = {"seen": ["24.12.2023"] * 60, "at": ["23:30"] * 60, "y": ["no", "yes"] * 30}
    found = tb.fit(rows, "y").drift(later)
    said = {one.column: one.changes[0].what for one in found.columns}
    assert re.fullmatch(r"2023-\d\d-\d\d( to 2023-12-\d\d)?", said["seen.days"])
    assert re.fullmatch(r"\d+:\d\d( to 23:\d\d)?", said["at"])
