"""Bad input: one sentence with place, wanted, got and advice; objects stay unchanged."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csc_array, csr_array

import tallybayes as tb
from tallybayes.storage.model_file import dump

GOOD = {"x": [1.0, 2.0, 3.0], "s": ["a", "b", "a"], "y": ["p", "q", "p"]}
NEVER_THERE = (
    "cannot subtract: wanted rows that were counted before, got rows that were not (a count would fall below zero). "
    "Forget only rows that were learned, with the same weights."
)


def _broken_csc() -> csc_array:
    matrix = csc_array(np.eye(2, 3))
    matrix.indices[0] = -1  # scipy looks only when a matrix is made
    return matrix


def model(**choices: Any) -> tb.Model:
    return tb.fit(GOOD, "y", **choices)


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown label": (
        lambda: tb.fit({"play": ["a", "b"], "x": [1, 2]}, "plya"),
        "label: wanted a column of the dict, got 'plya'. Did you mean 'play'?",
    ),
    "no rows": (lambda: tb.fit({"x": [], "y": []}, "y"), "the dict: wanted rows to learn from, got none."),
    "one class": (
        lambda: tb.fit({"x": [1, 2], "y": ["a", "a"]}, "y"),
        "label 'y': wanted at least two classes, got only 'a'.",
    ),
    "text where numbers were declared": (
        lambda: tb.fit({"age": ["1", "old"], "y": ["a", "b"]}, "y", events={"age": "gaussian"}),
        "column 'age': wanted numbers for gaussian, got text (first: 'old', row 2). Declare it categorical "
        "(events={'age': 'categorical'}), or 'old' a missing value.",
    ),
    "infinite value": (
        lambda: tb.fit({"x": [1.0, np.inf], "y": ["a", "b"]}, "y"),
        "column 'x': wanted finite numbers, got inf (row 2). Remove the row, or make the value missing.",
    ),
    "infinite value in a matrix": (
        lambda: tb.fit(np.array([[1.0, 2], [3, -np.inf]]), [0, 1]),
        "column 'x1': wanted finite numbers, got -inf (row 2). Remove the row, or make the value missing.",
    ),
    "infinite value to predict": (
        lambda: model().predict([{"x": np.inf, "s": "a"}]),
        "column 'x': wanted finite numbers, got inf (row 1). Make the value missing.",
    ),
    "negative counts": (
        lambda: tb.fit(np.array([[1.0, 2], [3, -1]]), [0, 1], events="multinomial"),
        "column 'x1': wanted finite numbers not below 0 for multinomial, got -1.0 (row 2).",
    ),
    "a name that is no Unicode": (
        lambda: tb.fit({"\ud800": [1.0, 2.0], "y": ["a", "b"]}, "y"),
        "the dict: wanted column names that are Unicode, got '\\ud800'. Rename it.",
    ),
    "a name of a cell that is no Unicode": (
        lambda: tb.fit([{"\ud800": 1.0, "y": "a"}, {"\ud800": 2.0, "y": "b"}], "y"),
        "the list: wanted column names that are Unicode, got '\\ud800'. Rename it.",
    ),
    "a decimal without digits": (
        lambda: model().predict([{"x": Decimal("Infinity"), "s": "a"}]),
        "the list, column 'x': wanted values of one type, got values that cannot be converted (Decimal('Infinity')).",
    ),
    "a date beyond Python's": (
        lambda: tb.fit({"x": pa.array([2**31 - 1, 0], pa.int32()).view(pa.date32()), "y": ["a", "b"]}, "y"),
        "column 'x': wanted whole days of the years 1 to 9999, got <value out of range: 2147483647> (row 1). "
        "Round or convert it first.",
    ),
    "a date beyond Python's where numbers were declared": (
        lambda: model().predict({"x": pa.array([2**31 - 1], pa.int32()).view(pa.date32()), "s": ["a"]}),
        "column 'x': wanted numbers for histogram, got text (first: '<value out of range: 2147483647>', row 1). "
        "Declare it categorical (events={'x': 'categorical'}).",
    ),
    "a time within a microsecond as a class": (
        lambda: tb.fit({"x": [1.0, 2.0], "y": pa.array([1000, 1001], pa.timestamp("ns"))}, "y"),
        "label 'y': wanted times of the years 1 to 9999, in whole microseconds, got 1970-01-01 00:00:00.000001001 "
        "(row 2). Round or convert it first.",
    ),
    "lists where categories were declared": (
        lambda: tb.fit({"x": [[1], [2]], "y": ["a", "b"]}, "y", events="categorical"),
        "labels: wanted text, numbers, booleans or dates, got list<item: int64>. Convert the column first.",
    ),
    "sparse rows with a column that is none": (
        lambda: tb.fit(csr_array((np.ones(2), np.array([0, 7]), np.array([0, 1, 2])), shape=(2, 3)), [0, 1]),
        "the sparse matrix: wanted indices from 0 to 2, got 7.",
    ),
    "sparse columns with a row that is none": (
        lambda: tb.fit(_broken_csc(), [0, 1]),
        "the sparse matrix: wanted indices from 0 to 1, got -1.",
    ),
    "weights without a finite sum": (
        lambda: tb.fit({"x": [1.0, 2.0], "y": ["a", "b"]}, "y", weights=[1e308, 1e308]).predict([{"x": 1.0}]),
        "weights: wanted a finite sum, got inf. Divide them all by one number.",
    ),
    "a smoothing without a finite estimate": (
        lambda: model(alpha=1.7e308, events={"x": "poisson"}, calibrate=None).predict([{"x": 1.0}]),
        "column 'x': wanted weights, values and alpha that give a finite estimate for poisson, got an overflow. "
        "Scale them.",
    ),
    "negative counts in sparse rows": (
        lambda: tb.fit(csr_array(np.array([[1.0, 2], [3, -1]])), [0, 1]),
        "column 'x1': wanted finite numbers not below 0, got -1.0 (row 2). Remove the row, or make the value missing.",
    ),
    "negative weights": (
        lambda: tb.fit(GOOD, "y", weights=[1, -1, 1]),
        "weight 'weight': wanted finite numbers not below 0, got -1.0 (row 2).",
    ),
    "all-zero weights": (
        lambda: tb.fit(GOOD, "y", weights=[0, 0, 0]),
        "the dict: wanted rows to learn from, got none with a weight above 0.",
    ),
    "ragged columns": (
        lambda: tb.fit({"x": [1, 2, 3], "y": ["a", "b"]}, "y"),
        "the dict: wanted 3 values in every column, as in 'x', got 2 in 'y'.",
    ),
    "ragged rows": (
        lambda: tb.fit([[1, 2], [3]], [0, 1]),
        "the list: wanted 2 values in every row, as in the first, got 1 in row 2.",
    ),
    "too few labels": (
        lambda: tb.fit(np.ones((3, 2)), [0, 1]),
        "column 'label': wanted 3 values, one for each row of the array, got 2.",
    ),
    "schemas that differ": (
        lambda: model() + tb.fit(GOOD, "y", events={"x": "categorical"}),
        "cannot merge: left has column 'x' as histogram, right has column 'x' as categorical. "
        "Fit both with the same schema.",
    ),
    "a column that only one side has": (
        lambda: model() + tb.fit({"x": [1.0, 2.0], "y": ["p", "q"]}, "y"),
        "cannot merge: left has column 's' as categorical, right has no column 's'. Fit both with the same schema.",
    ),
    "classes of another kind": (
        lambda: model() + tb.fit({**GOOD, "y": [1, 2, 1]}, "y"),
        "labels: wanted all of one kind, text (such as 'p'), got whole numbers (such as 1). Give both the same type.",
    ),
    "forgetting a value that was never there": (
        lambda: model().forget({"x": [1.0], "s": ["zz"], "y": ["p"]}),
        NEVER_THERE,
    ),
    "forgetting a class that was never there": (
        lambda: model().forget({"x": [1.0], "s": ["a"], "y": ["new"]}),
        NEVER_THERE,
    ),
    "forgetting a number that was never there": (
        lambda: model().forget({"x": [9.0, 9.0], "s": ["a", "a"], "y": ["p", "p"]}),
        NEVER_THERE,
    ),
    "unknown event model": (
        lambda: tb.fit(GOOD, "y", events={"x": "gausian"}),
        "events['x']: wanted one of bernoulli, bins, categorical, complement, exponential, gaussian, histogram, "
        "lognormal, mdl, multinomial, poisson, text, got 'gausian'.",
    ),
    "unknown option of an event model": (
        lambda: tb.fit(GOOD, "y", events={"x": "bernoulli(treshold=1)"}),
        "events['x']: wanted an option of bernoulli (threshold), got 'treshold'.",
    ),
    "an event model that is code": (
        lambda: tb.fit(GOOD, "y", events={"x": "bernoulli(threshold=__import__('os'))"}),
        "events['x']: wanted a form such as 'bernoulli(threshold=127)', got \"bernoulli(threshold=__import__('os'))\".",
    ),
    "an event model for a column that is not there": (
        lambda: tb.fit(GOOD, "y", events={"xx": "gaussian"}),
        "events: wanted names or globs of columns, got 'xx'. Did you mean 'x'?",
    ),
    "unknown estimate": (
        lambda: tb.fit(GOOD, "y", estimate="best"),
        "estimate: wanted one of 'mle', 'map', 'bayes', got 'best'.",
    ),
    "negative alpha": (
        lambda: tb.fit(GOOD, "y", alpha=-1),
        "alpha: wanted a number not below 0, 'average', 'loo' or 'evidence', got -1.",
    ),
    "alpha for a column that is not there": (
        lambda: tb.fit(GOOD, "y", alpha={"z": 1.0}),
        "alpha: wanted names or globs of columns, got 'z'. There are 'x' and 's'.",
    ),
    "a prior that does not sum to 1": (
        lambda: model(prior=[0.5, 0.6]).predict([{"x": 1.0}]),
        "prior: wanted 2 numbers summing to 1, got [0.5, 0.6] (sum 1.1).",
    ),
    "a prior that lacks a class": (
        lambda: model(prior={"p": 1.0}).predict([{"x": 1.0}]),
        "prior: wanted a number for each of 'p', 'q', got none for 'q'.",
    ),
    "an unknown choice": (
        lambda: model().with_(alfa=1),
        "with_: wanted one of estimate, alpha, prior, variance, floor, unseen, calibrate, structure, got alfa. "
        "Did you mean 'alpha'?",
    ),
    "a missing value where none may be": (
        lambda: tb.fit({"x": [1, None, 3], "y": ["a", "c", "b"]}, "y", missing="error"),
        "column 'x': wanted a value in every row, got a missing one (row 2). Fill it, or choose missing='skip'.",
    ),
    "a value never seen where none may be": (
        lambda: model(unseen="error").predict([{"s": "a"}, {"s": "zzz"}]),
        "column 's': wanted a value seen in training, got 'zzz' (row 2). Choose unseen='smooth' or 'skip'.",
    ),
    "rows that have none of the columns": (
        lambda: model().predict([{"q": 3}]),
        "the list: wanted the columns of the model, got none of them. There are 'x' and 's'.",
    ),
    "values of another kind than in training": (
        lambda: model().predict([{"s": 3}]),
        "column 's': wanted text as in training, got whole numbers (first: 3).",
    ),
    "unknown column": (
        lambda: model().table("nope"),
        "column: wanted a column of the model, got 'nope'. There are 'x' and 's'.",
    ),
    "no such model file": (
        lambda: tb.load("nowhere/m.tally"),
        "model file 'nowhere/m.tally': no such file.",
    ),
    "nowhere to write": (
        lambda: model().save("nowhere/m.tally"),
        "model file 'nowhere/m.tally': no such folder. Make it first.",
    ),
    "2 where 0 or 1 is wanted": (
        lambda: tb.fit({"x": [0, 2], "y": [0, 1]}, "y", events="bernoulli"),
        "column 'x': wanted 0 and 1 (or a threshold) for bernoulli, got 2.0 (row 2).",
    ),
    "zero where a logarithm is taken": (
        lambda: tb.fit({"x": [0, 2], "y": [0, 1]}, "y", events="lognormal"),
        "column 'x': wanted finite numbers above 0 for lognormal, got 0.0 (row 1).",
    ),
    "no threads": (lambda: tb.fit(GOOD, "y", threads=0), "threads: wanted a whole number from 1, got 0."),
    "costs of the wrong shape": (
        lambda: model().predict([{"x": 1.0}], costs=[[1]]),
        "costs: wanted a 2 × 2 matrix of finite numbers, decided × true, got an array of shape (1, 1).",
    ),
    "costs and a threshold": (
        lambda: model().predict([{"x": 1.0}], costs=[[0, 1], [1, 0]], threshold={"p": 0.5}),
        "decision: wanted either costs or a threshold, got both.",
    ),
    "a threshold for no class": (
        lambda: model().predict([{"x": 1.0}], threshold={"r": 0.5}),
        "threshold: wanted a class, got 'r'. There are 'p' and 'q'.",
    ),
    "lists in a column": (
        lambda: tb.fit({"x": [[1], [2]], "y": ["a", "b"]}, "y"),
        "column 'x': wanted text, numbers, booleans or dates, got lists. Convert it, or declare it 'ignore'.",
    ),
    "nothing but a label": (
        lambda: tb.fit({"y": ["a", "b"]}, "y"),
        "the dict: wanted at least one column besides the label, got none.",
    ),
    "nothing at all": (
        lambda: tb.fit(None, "y"),
        "the data: wanted a path, a table, an array, a dict of columns or a list of rows, got a NoneType.",
    ),
    "a lone surrogate in a text": (
        lambda: tb.fit(["fine", "not\ud800fine"], ["a", "b"]),
        "the list, column 'text': wanted text that is Unicode, got a lone surrogate, '\\ud800' (row 2). Decode it with "
        "errors='replace'.",
    ),
    "numbers declared as text": (
        lambda: tb.fit({"x": [1, 2], "y": ["a", "b"]}, "y", events={"x": "text"}),
        "column 'x': wanted text, got whole numbers (first: 1). Convert it to strings, or declare another event.",
    ),
    "a vocabulary emptied by pruning": (
        lambda: tb.fit(["aa bb", "cc"], ["a", "b"], events="text(min_df=5)").predict(["aa"]),
        "text: wanted tokens left after pruning, got none (min_df=5, max_df=1.0). Loosen min_df or max_df.",
    ),
    "sparse labels": (
        lambda: tb.fit([[1.0], [2.0]], csc_array(np.ones((2, 1)))),
        "column 'label': wanted one value a row, got shape (2, 1). Pass x.ravel().",
    ),
    "a number as the name of a column with a smoothing": (
        lambda: tb.fit(GOOD, "y", alpha={0.5: 1.0}),
        "alpha: wanted names or globs of columns, got 0.5.",
    ),
    "a frame as the prior": (
        lambda: model().with_(prior=pa.table({"p": [0.5, 0.5]}).to_pandas()),
        "prior: wanted a number for each class, got a DataFrame.",
    ),
    "an encoding that is no text": (
        lambda: tb.read("x.csv", encoding="\ud800"),
        "encoding: wanted the name of an encoding, such as 'utf-8' or 'latin-1', got '\\ud800'.",
    ),
    "a delimiter outside ASCII": (
        lambda: tb.read("x.csv", delimiter="é"),
        "delimiter: wanted one ASCII character, such as ';', got 'é'.",
    ),
    "a list as the number of rows of a batch": (
        lambda: tb.read({"x": [1]}, batch_rows=[1]),
        "batch_rows: wanted a number of rows, at least 1, got [1].",
    ),
    "the same name twice": (
        lambda: tb.fit(pa.table([[1, 2], [3, 4], ["a", "b"]], names=["x", "x", "y"]), "y"),
        "the Table: wanted distinct column names, got 'x' more than once. Rename them.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentence(name: str) -> None:
    work, sentence = CASES[name]
    with pytest.raises(tb.errors.TallyError) as caught:
        work()
    assert str(caught.value) == sentence


def test_a_view_of_memory_is_no_class_to_sample() -> None:
    with pytest.raises(tb.errors.BadOption, match=r"sample given: wanted a class \(text\), got <memory at "):
        model().sample(1, given=memoryview(bytearray(b"p")))


def test_dates_of_an_arrow_dictionary_drift() -> None:
    dates = pa.array([19000, 19001] * 40, pa.int32()).cast(pa.date32())
    rows = {"d": dates.dictionary_encode(), "y": ["p", "q"] * 40}
    found = tb.fit(pa.table({**rows, "d": dates}), "y").drift(pa.table(rows))
    assert found.new_rows == 80


def test_a_failed_change_leaves_the_model_as_it_was() -> None:
    before = model()
    bytes_before = dump(before)
    for work in (
        lambda: before.learn({"x": [np.inf], "s": ["a"], "y": ["p"]}),
        lambda: before.forget({"x": [5.0], "s": ["b"], "y": ["p"]}),
        lambda: before + tb.fit({"z": [1, 2], "y": ["p", "q"]}, "y"),
    ):
        with pytest.raises(tb.errors.TallyError):
            work()
    assert dump(before) == bytes_before


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "m.tally"
    model().save(path)
    old = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(tb.errors.TallyError, match="No space left on device"):
        model(alpha=2.0).save(path)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["m.tally"]


@pytest.mark.parametrize("index", [-1, 3])
@pytest.mark.parametrize("events", ["multinomial", "bernoulli", "complement", "poisson"])
def test_sparse_rows_with_a_column_that_is_none_are_refused_everywhere(events: str, index: int) -> None:
    y = [0, 1] * 1000  # more rows than are taken as they are
    fitted = tb.fit(csr_array(np.eye(3)[np.arange(2000) % 3]), y, events=events, calibrate=None)
    rows = broken, few = [csr_array(np.eye(3)[np.arange(n) % 3]) for n in (2000, 9)]
    broken.indices[7] = few.indices[7] = index  # scipy looks only when a matrix is made
    works = [partial(fitted.predict, X) for X in rows] + [partial(fitted.predict_proba, X) for X in rows]
    works += [partial(fitted.learn, X, y[: X.shape[0]]) for X in rows]
    works += [partial(fitted.forget, X, y[: X.shape[0]]) for X in rows]
    works += [partial(tb.fit, broken, y, events=events), partial(tb.validate, broken, y, events=events)]
    for work in works:
        with pytest.raises(tb.errors.BadData, match=f"the sparse matrix: wanted indices from 0 to 2, got {index}"):
            work()


def test_text_after_a_missing_number_is_named() -> None:
    model = tb.fit({"size": [1.0, 2.5, 3.0, 4.5] * 5, "y": ["no", "yes"] * 10}, "y")
    with pytest.raises(tb.errors.BadData, match=r"column 'size'.*'hot' \(row 2\)"):
        model.predict([{"size": None}, {"size": "hot"}])
