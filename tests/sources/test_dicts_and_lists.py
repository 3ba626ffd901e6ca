import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tallybayes.sources import kind_of, read

TABLE = pa.table({"a": [1, 2], "b": ["x", None]})


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1, 2], "b": ["x", None]},
        {"a": (1, 2), "b": np.array(["x", None])},
        {"a": np.array([1, 2]), "b": pa.array(["x", None])},
        {"a": pd.Series([1, 2], index=[5, 6]), "b": pa.chunked_array([["x"], [None]])},
        {"a": np.array([1, 2], ">i4"), "b": np.array(["x", float("nan")], object)},
        {"a": np.array([1, 9, 2])[::2], "b": ["x", float("nan")]},
    ],
)
def test_a_dict_of_columns_reads_as_its_rows(reads_as, columns):
    source = reads_as(columns, TABLE)
    assert (source.name, source.rows) == ("the dict", 2)


def test_a_dict_of_single_values_is_one_row(reads_as):
    reads_as({"a": 1, "b": "x", "c": None}, pa.table({"a": [1], "b": ["x"], "c": [None]}))


def test_a_dict_may_hold_arrays_of_many_features():
    words = sp.csr_array([[1, 0], [0, 2]])
    schema = read({"pixels": np.eye(2), "words": words, "mask": np.eye(2, dtype=bool), "n": [1, 2]}).schema
    assert [kind_of(field) for field in schema] == ["matrix", "sparse", "matrix", "column"]


def test_a_list_of_dicts_has_a_column_for_every_key(reads_as):
    reads_as([{"a": 1, "b": "x"}, {"a": 2}], TABLE)
    reads_as([{}, {"b": "x"}], pa.table({"b": [None, "x"]}))


def test_a_list_of_strings_is_text(reads_as):
    reads_as(["spam", None, "ham"], pa.table({"text": ["spam", None, "ham"]}))
    reads_as(np.array(["spam", "ham"]), pa.table({"text": ["spam", "ham"]}))
    reads_as(np.array(["spam", "ham"], object), pa.table({"text": ["spam", "ham"]}))


def test_a_list_of_lists_of_mixed_values_has_a_column_for_each_place(reads_as):
    rows = [["sunny", 85, True], ["rain", None, False]]
    table = pa.table({"x0": ["sunny", "rain"], "x1": [85, None], "x2": [True, False]})
    reads_as(rows, table)
    reads_as([tuple(row) for row in rows], table)
    reads_as(rows, table.rename_columns(["o", "t", "w"]), names=["o", "t", "w"])


def test_dates_and_times_stay_what_they_are(reads_as):
    day = datetime.date(2024, 2, 29)
    assert reads_as({"d": [day]}, pa.table({"d": [day]})).schema.types == [pa.date32()]
    assert read({"d": np.array(["2024-02-29"], "datetime64[D]")}).schema.types == [pa.date32()]


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        ({"a": [1, 2], "b": [1]}, "the dict: wanted 2 values in every column, as in 'a', got 1 in 'b'."),
        ({"a": [1], "b": 3}, "the dict, column 'b': wanted a list or an array of values, got 3."),
        ({1: [1], "1": [2]}, "the dict: wanted distinct column names, got '1' more than once. Rename them."),
        ({}, "the dict: wanted at least one column, got none."),
        (
            {"a": [1, "x"]},
            "the dict, column 'a': wanted values of one type, got values that cannot be converted"
            " (Could not convert 'x' with type str: tried to convert to int64).",
        ),
        (
            {"a": np.zeros((2, 1, 1))},
            "the dict, column 'a': wanted one value a row, got shape (2, 1, 1). Pass x.ravel().",
        ),
        ([], "the list: wanted at least one row, got none."),
        ([{}], "the list: wanted at least one column, got none."),
        ([{"a": 1}, 3], "the list: wanted a dict in every row, as in the first, got 3 in row 2."),
        (["spam", 3], "the list: wanted a string in every row, as in the first, got 3 in row 2."),
        ([[1, 2], [3]], "the list: wanted 2 values in every row, as in the first, got 1 in row 2."),
        ([[1, 2], 3], "the list: wanted 2 values in every row, as in the first, got the value 3 in row 2."),
        (
            [["x", 1], [2, 3]],
            "the list, column 'x0': wanted values of one type, got values that cannot be converted"
            " (Expected bytes, got a 'int' object).",
        ),
        (
            [1, 2, 3],
            "the list: wanted two dimensions, rows and columns, got 1 (shape (3,))."
            " Pass x.reshape(-1, 1) for one column of many rows, or x.reshape(1, -1) for one row.",
        ),
        (
            [[[1], [2]], [[3], [4]]],
            "the list: wanted two dimensions, rows and columns, got 3 (shape (2, 2, 1)). Pass x.reshape(len(x), -1).",
        ),
    ],
)
def test_bad_dicts_and_lists_are_refused_in_a_sentence(sentence, thing, said):
    assert sentence(thing) == said
