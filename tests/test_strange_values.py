"""Values and arguments over which Arrow, NumPy or Python stumble: an answer, or one sentence."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, LeftOutWarning, TallyError

CLASSES = ["p", "q"] * 20
HUGE = 888_888_888_888_888_888  # no double


@pytest.mark.parametrize("year", [1, 1000, 1683, 2256, 9999])
@pytest.mark.parametrize("form", ["times", "dates", "texts"])
def test_dates_of_any_year_are_read_as_days(year: int, form: str) -> None:
    times = [dt.datetime(year, 1 + k % 12, 1 + k % 28, k % 24) for k in range(40)]
    column: list[Any] = {"times": times, "dates": [t.date() for t in times], "texts": list(map(str, times))}[form]
    model = tb.fit({"x": column, "y": CLASSES}, "y")
    assert np.isfinite(model.predict_proba({"x": column})).all()


@pytest.mark.parametrize("value", [pd.NA, pd.NaT, np.array(["a", "b"]), pl.DataFrame({"x": [1]}).lazy(), b"a", 1j])
def test_a_strange_value_in_a_row_is_missing_or_refused(value: Any) -> None:
    model = tb.fit({"x": ["a", "b"] * 20, "y": CLASSES}, "y")
    row = {"x": value}
    for ask in (model.predict_proba, model.explain, model.predict_interval):
        try:
            ask(row)
        except TallyError:
            assert value is not pd.NA
    with pytest.warns(LeftOutWarning) if value is pd.NA or value is pd.NaT else pytest.raises(TallyError):
        model.learn([{"x": "a", "y": value}])


def test_a_time_that_python_cannot_hold_is_explained() -> None:
    times = pd.to_datetime(["2020-01-01", "2021-01-01"] * 20)
    model = tb.fit({"x": times, "y": CLASSES}, "y", events={"x": "categorical"})
    assert model.explain({"x": np.datetime64(10**18, "s")}).parts


@pytest.mark.parametrize("query", [f"x={HUGE}", f"x>{HUGE}", "k>2.5", f"k={HUGE}", "k<1e300", f"x={HUGE} | k>0.5"])
def test_numbers_beyond_doubles_are_compared(query: str) -> None:
    rows = {"x": [1.0, 2.5, 0.0, None], "k": [HUGE, 2, 3, 4]}
    assert 0.0 <= tb.probability(rows, query).probability <= 1.0


def test_files_that_may_not_be_looked_at_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1,p\n2,q\n")

    def forbidden(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", forbidden)  # as of a link into another user's folder
    assert sum(batch.num_rows for batch in tb.read(str(tmp_path))) == 2


def test_a_grid_that_no_memory_holds_is_refused() -> None:
    curve = tb.evaluation.roc(["p", "q"], [0.1, 0.9], positive="p")
    for grid in (1, 10**7, 2**63, 2**64, 10**400):
        with pytest.raises(BadOption, match=r"^grid: wanted a whole number from 2 to 1,000,000, got "):
            tb.evaluation.average_roc([curve], grid=grid)


def test_labels_that_are_records_are_refused() -> None:
    with pytest.raises(BadData, match="wanted classes, got values of type struct"):
        tb.report({"x": [1.0, 2.0], "y": [{"a": 1}, {"a": 2}]}, "y")


def test_labels_in_a_matrix_of_memory_are_refused() -> None:
    with pytest.raises(BadData, match=r"^labels: wanted one class per row"):
        tb.evaluation.majority(memoryview(np.zeros((4, 2))), ["p", "q"])


def test_names_of_another_kind_are_refused() -> None:
    with pytest.raises(BadOption, match=r"^names: wanted a list of names, got "):
        tb.read({"x": [1]}, names=memoryview(np.zeros(2, np.longdouble)))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.float32])
def test_sparse_rows_of_small_types_are_profiled_and_learned(dtype: Any) -> None:
    rows = sparse.csr_array(np.eye(6, dtype=dtype))
    assert tb.profile(rows)
    same = tb.fit(rows, ["p", "q"] * 3).predict_proba(rows)
    np.testing.assert_array_equal(same, tb.fit(rows.astype(float), ["p", "q"] * 3).predict_proba(rows.astype(float)))


def test_a_sparse_mapping_is_no_row() -> None:
    rows = sparse.dok_array(np.eye(6))
    model = tb.fit(sparse.csr_array(rows), ["p", "q"] * 3)
    np.testing.assert_array_equal(model.log_joint(rows), model.log_joint(sparse.csr_array(rows)))


@pytest.mark.parametrize("name", ["CategoricalNB", "MultinomialNB", "BernoulliNB", "ComplementNB", "GaussianNB"])
def test_a_weight_of_any_kind_of_number_is_taken_or_refused(name: str) -> None:
    X, y = np.array([[1.0, 0, 2], [0, 3, 1], [2, 0, 0], [0, 1, 1]]), list("pqpq")
    made = getattr(tb, name)
    for weight in (Decimal("NaN"), float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            made().fit(X, y, sample_weight=weight)
    want = made().fit(X, y, sample_weight=1.0).predict_proba(X)
    np.testing.assert_array_equal(made().fit(X, y, sample_weight=True).predict_proba(X), want)
    np.testing.assert_array_equal(made().fit(X, y, sample_weight=Decimal(1)).predict_proba(X), want)


def test_weights_that_no_double_holds_are_refused() -> None:
    with pytest.raises(BadData, match=r"^weight 'weight': wanted whole numbers of at most 2\^53, got larger ones"):
        tb.fit({"x": [1.0, 2.0], "y": ["p", "q"]}, "y", weights=[2**53 + 1, 1])
