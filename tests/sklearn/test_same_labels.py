"""`tb.fit` and `NaiveBayes.fit` take the same rows and labels, and say the same of wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, LeftOutWarning

rng = np.random.default_rng(12)
CODES = rng.integers(0, 2, 60)
ROWS = pd.DataFrame(rng.normal(CODES[:, None], 1.0, (60, 3)))  # its columns are called 0, 1, 2

LABELS: dict[str, Any] = {
    "an array": CODES,
    "a list": CODES.tolist(),
    "a tuple": tuple(CODES.tolist()),
    "a Series": pd.Series(CODES),
    "categories": pd.Categorical(CODES),
    "texts": np.array(["no", "yes"])[CODES],
    "text of pandas": pd.Series(np.array(["no", "yes"])[CODES], dtype="string"),
    "booleans": CODES == 1,
    "whole numbers of pandas": pd.array(CODES, "Int64"),
    "whole floats": CODES.astype(float),
    "dates": pd.to_datetime(np.array(["2020-01-01", "2021-01-01"])[CODES]),
}
MATRICES: dict[str, Any] = {"a matrix of one column": CODES[:, None], "a frame": pd.DataFrame({"kind": CODES})}
SOME_MISSING: dict[str, Any] = {
    "None": [None if k % 9 == 0 else c for k, c in enumerate(CODES.tolist())],
    "NaN": np.where(np.arange(60) % 9 == 0, np.nan, CODES),
    "NA": pd.array([pd.NA if k % 9 == 0 else c for k, c in enumerate(CODES.tolist())], "Int64"),
}


def both(y: Any) -> tuple[tb.Model, tb.NaiveBayes]:
    return tb.fit(ROWS, y), tb.NaiveBayes().fit(ROWS, y)


def same(y: Any) -> None:
    model, estimator = both(y)
    assert list(model.classes) == estimator.classes_.tolist()
    assert [type(one) for one in model.classes] == [type(one) for one in estimator.classes_.tolist()]
    np.testing.assert_array_equal(model.predict_proba(ROWS), estimator.predict_proba(ROWS))


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_each_kind_give_the_same_model(name: str) -> None:
    same(LABELS[name])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_one_column_of_labels_is_a_label(name: str) -> None:
    same(MATRICES[name])


@pytest.mark.parametrize("name", SOME_MISSING)
def test_rows_without_a_class_are_left_out_and_counted(name: str) -> None:
    for make in (lambda y: tb.fit(ROWS, y), lambda y: tb.NaiveBayes(class_weight="balanced").fit(ROWS, y).model_):
        with pytest.warns(LeftOutWarning, match="7 of 60 rows have no class and are left out"):
            model = make(SOME_MISSING[name])
        assert model.classes == (0, 1)


@pytest.mark.parametrize("rows", [ROWS, ROWS.to_numpy(), ROWS.to_numpy().tolist()], ids=["frame", "array", "list"])
def test_swapped_rows_and_labels_are_answered_with_their_order(rows: Any) -> None:
    table = rows if hasattr(rows, "shape") else np.array(rows)
    for call in (tb.fit, tb.NaiveBayes().fit):
        with pytest.raises(BadData, match=r"wanted one class for each row, got a table of 3 columns\. Pass the rows"):
            call(CODES, table)


def test_names_of_columns_may_be_numbers() -> None:
    model = tb.fit(ROWS, CODES, events={0: "gaussian", "2": "ignore"})
    assert model.schema.events() == {"0": "gaussian", "1": "histogram"}
    assert tb.NaiveBayes(events={0: "gaussian"}).fit(ROWS, CODES).model_.schema.events()["0"] == "gaussian"
    labelled = ROWS.assign(**{"3": CODES}).rename(columns={"3": 3})
    np.testing.assert_array_equal(tb.fit(labelled, 3).predict(ROWS), tb.fit(ROWS, CODES).predict(ROWS))
    with pytest.raises(BadOption, match=r"events: wanted names or globs of columns, got \(1, 2\)"):
        tb.fit(ROWS, CODES, events={(1, 2): "gaussian"})  # type: ignore[dict-item]


def test_a_weight_of_a_class_that_no_row_has_is_refused() -> None:
    with pytest.raises(BadOption, match=r"class_weight: wanted classes of the rows, got 7\. There are '0' and '1'"):
        tb.NaiveBayes(class_weight={0: 1, 7: 5}).fit(ROWS, CODES)
    later = tb.NaiveBayes(class_weight={0: 1, 1: 2, 7: 5}).partial_fit(ROWS, CODES)  # a class may come later
    assert later.classes_.tolist() == [0, 1]


def test_a_frame_without_any_column_of_the_model_is_told_those_of_its_rows() -> None:
    days = pd.Timestamp("2024-01-03") + pd.to_timedelta(np.arange(60) % 40, unit="D")
    model = tb.fit(pd.DataFrame({"seen": days, "y": CODES}), "y")
    with pytest.raises(BadData, match=r"wanted the columns of the model, got none of them\. There is only 'seen'\."):
        model.predict(pd.DataFrame({"other": [1, 2]}))


def test_a_row_of_which_nothing_is_known_gets_the_prior() -> None:
    days = [f"{1 + k % 28:02}.{1 + k % 12:02}.2023" for k in range(60)]
    for rows in ({"x": ROWS[0].tolist()}, {"seen": days, "pay": [f"${k % 40}.5" for k in range(60)]}):
        model = tb.fit(rows | {"y": CODES.tolist()}, "y")
        for nothing in ({}, [{}], [{}, {}], ({},)):
            found = model.predict_proba(nothing)
            np.testing.assert_allclose(found, np.tile(list(model.prior.values()), (len(found), 1)))
            assert len(found) == max(1, len(nothing))
