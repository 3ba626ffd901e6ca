import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tallybayes.errors import BadData
from tallybayes.sources import attach, read

X = np.arange(10.0).reshape(5, 2)
LABELS = ["a", "b", "a", None, "b"]


@pytest.mark.parametrize(
    "values",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS, object),
        pd.Series(LABELS, index=[9, 8, 7, 6, 5]),
        pl.Series(LABELS),
        pa.array(LABELS),
        pa.chunked_array([LABELS[:1], LABELS[1:3], LABELS[3:]]),
        pa.array(LABELS).dictionary_encode(),
    ],
    ids=["list", "tuple", "objects", "pandas", "polars", "Array", "ChunkedArray", "dictionary"],
)
@pytest.mark.parametrize("batch_rows", [None, 2])
def test_separate_values_are_attached_to_their_rows(all_of, values, batch_rows):
    source = attach(read(X, batch_rows=batch_rows), "y", values)
    for _ in range(2):
        assert all_of(source).column("y").to_pylist() == LABELS
    assert source.rows == 5


def test_numbers_are_not_copied():
    weights = np.arange(5.0)
    (batch,) = attach(read(X), "w", weights)
    assert np.shares_memory(batch.column("w").to_numpy(), weights)


def test_a_stream_takes_values_too(all_of):
    reader = pa.table({"n": list(range(5))}).to_reader(max_chunksize=2)
    assert all_of(attach(read(reader), "y", LABELS)).column("y").to_pylist() == LABELS


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (LABELS[:4], "column 'y': wanted 5 values, one for each row of the array, got 4."),
        (LABELS * 2, "column 'y': wanted 5 values, one for each row of the array, got 10."),
        (np.zeros((5, 2)), "column 'y': wanted one value a row, got shape (5, 2). Pass x.ravel()."),
        (3, "column 'y': wanted one value a row, got 3."),
        (
            [1, "x", 2, 3, 4],
            "the values passed separately, column 'y': wanted values of one type, got values that cannot be converted"
            " (Could not convert 'x' with type str: tried to convert to int64).",
        ),
    ],
)
def test_values_that_do_not_fit_are_refused_in_a_sentence(values, said):
    with pytest.raises(BadData) as caught:
        attach(read(X), "y", values)
    assert str(caught.value) == said


@pytest.mark.parametrize(("count", "said"), [(3, "at least 4"), (7, "5")])
def test_a_stream_tells_on_the_way_that_lengths_differ(all_of, count, said):
    reader = pa.table({"n": list(range(5))}).to_reader(max_chunksize=2)
    with pytest.raises(BadData) as caught:
        all_of(attach(read(reader), "y", [1] * count))
    assert str(caught.value) == (
        f"column 'y': wanted {said} values, one for each row of the RecordBatchReader, got {count}."
    )


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(BadData) as caught:
        attach(read(X), "x", LABELS)
    assert str(caught.value) == "column 'x': wanted a name that the array does not have, got one that it has already."
