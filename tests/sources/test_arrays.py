import numpy as np
import pyarrow as pa
import pytest

from tallybayes.sources import kind_of, matrix_of, names_of, read, was_bool, width_of

NUMBERS = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]


def matrix(source):
    return np.concatenate([matrix_of(batch.column("x")) for batch in source])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_row_major_array_of_numbers_is_one_column_without_a_copy(dtype):
    array = np.arange(12).reshape(4, 3).astype(dtype)
    source = read(array)
    (batch,) = source
    field = source.schema.field("x")
    assert (source.rows, source.again, source.name) == (4, True, "the array")
    assert (kind_of(field), width_of(field), names_of(field)) == ("matrix", 3, None)
    assert field.metadata[b"tallybayes.kind"] == b"matrix"
    view = matrix_of(batch.column("x"))
    assert np.shares_memory(view, array)
    assert view.dtype == (np.uint8 if dtype == "?" else array.dtype)
    assert was_bool(field) is (dtype == "?")
    np.testing.assert_array_equal(view, array)


@pytest.mark.parametrize("dtype", [*NUMBERS, "f2", "longdouble", ">f8", ">i4"])
@pytest.mark.parametrize(
    "lay", [np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2], lambda a: np.repeat(a, 2, axis=1)[:, ::2]]
)
def test_any_other_layout_is_copied_a_slice_at_a_time(monkeypatch, dtype, lay):
    from tallybayes.sources import arrays

    monkeypatch.setattr(arrays, "COPY_BYTES", 64)
    array = np.arange(300).reshape(100, 3).astype(dtype)
    source = read(lay(array))
    assert len(list(source)) > 1
    assert matrix(source).dtype.isnative
    np.testing.assert_array_equal(matrix(source), array.astype(matrix(source).dtype))


@pytest.mark.parametrize("dtype", ["f2", "longdouble", ">f8"])
def test_numbers_that_arrow_does_not_store_become_the_nearest_that_it_does(dtype):
    array = np.array([[0.5, np.nan], [1.0, 2.0]]).astype(dtype)
    np.testing.assert_array_equal(matrix(read(array)), array.astype("f4" if dtype == "f2" else "f8"))


def test_masked_values_become_nan():
    array = np.ma.masked_array([[1, 2], [3, 4]], [[False, True], [False, False]])
    np.testing.assert_array_equal(matrix(read(array)), [[1, np.nan], [3, 4]])


def test_names_of_the_columns_travel_with_the_matrix():
    assert names_of(read(np.zeros((1, 2)), names=["a", "é"]).schema.field("x")) == ["a", "é"]


def test_a_list_of_lists_of_numbers_is_a_matrix():
    for rows in ([[1, 2], [3, 4.5]], ((1, 2), (3, 4.5)), [np.array([1, 2]), np.array([3, 4.5])]):
        np.testing.assert_array_equal(matrix(read(rows)), [[1, 2], [3, 4.5]])


def test_an_array_without_rows_is_a_source_without_batches():
    source = read(np.zeros((0, 3)))
    assert (source.rows, list(source), width_of(source.schema.field("x"))) == (0, [], 3)


def test_batches_of_a_given_size_are_views():
    array = np.arange(20.0).reshape(10, 2)
    views = [matrix_of(batch.column("x")) for batch in read(array, batch_rows=4)]
    assert [len(view) for view in views] == [4, 4, 2]
    assert all(np.shares_memory(view, array) for view in views)


@pytest.mark.parametrize(
    "array",
    [
        np.array([["sunny", "hot"], ["rain", "cool"]]),
        np.array([["sunny", "hot"], ["rain", "cool"]], object),
    ],
)
def test_an_array_of_text_has_a_column_for_each(reads_as, array):
    table = pa.table({"x0": ["sunny", "rain"], "x1": ["hot", "cool"]})
    reads_as(array, table)
    reads_as(array, table.rename_columns(["a", "b"]), names=["a", "b"])


def test_an_array_of_objects_may_have_columns_of_several_types(reads_as):
    array = np.array([["sunny", 85, 0.5, True], [None, None, None, None]], object)
    table = pa.table({"x0": ["sunny", None], "x1": [85, None], "x2": [0.5, None], "x3": [True, None]})
    reads_as(array, table)


def test_a_structured_array_has_a_column_for_each_field(reads_as, monkeypatch):
    from tallybayes.sources import arrays

    monkeypatch.setattr(arrays, "COPY_BYTES", 200)
    records = np.zeros(20, [("n", "i4"), ("f", ">f8"), ("s", "U5"), ("b", "?"), ("o", "O")])
    records["n"], records["s"], records["o"] = range(20), "abc", "x"
    names = ["n", "f", "s", "b"]
    table = pa.table({"n": list(range(20)), "f": [0.0] * 20, "s": ["abc"] * 20, "b": [False] * 20, "o": ["x"] * 20})
    reads_as(records, table)
    plain = np.array(records[names].tolist(), [(name, records.dtype[name]) for name in names])
    source = reads_as(plain, table.select(names))
    assert len(list(source)) > 1
    reads_as(plain.view(np.recarray), table.select(names))


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (
            np.zeros(5),
            "wanted two dimensions, rows and columns, got 1 (shape (5,))."
            " Pass x.reshape(-1, 1) for one column of many rows, or x.reshape(1, -1) for one row.",
        ),
        (
            np.zeros((2, 3, 4)),
            "wanted two dimensions, rows and columns, got 3 (shape (2, 3, 4)). Pass x.reshape(len(x), -1).",
        ),
        (
            np.array(3.0),
            "wanted two dimensions, rows and columns, got 0 (shape ()). Pass [[x]] for a single number.",
        ),
        (np.zeros((3, 0)), "wanted at least one column, got none (shape (3, 0))."),
    ],
)
def test_an_array_that_is_not_a_table_is_refused(sentence, array, said):
    assert sentence(array) == f"the array: {said}"


def test_complex_numbers_and_mixtures_are_refused(sentence):
    assert sentence(np.zeros((2, 2), complex)) == (
        "the array, column 'x0': wanted values of one type, got values that cannot be converted"
        " (Unsupported numpy type 15)."
    )
    assert sentence(np.array([[1, "a"], ["b", 2]], object)).startswith("the array, column 'x0': wanted values of one")


def test_names_must_be_distinct_and_as_many_as_the_columns(sentence):
    for array in (np.zeros((2, 2)), np.array([["a", "b"]])):
        assert sentence(array, names=["a"]) == "names: wanted 2, one for each column, got 1."
        assert sentence(array, names=["a", "a"]) == (
            "names: wanted distinct column names, got 'a' more than once. Rename them."
        )
