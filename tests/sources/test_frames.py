import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import BadData
from tallybayes.sources import kind_of, read

ROWS = {"a": [1, 2, 3], "b": ["x", None, "z"], "c": [0.5, 1.5, None]}
TABLE = pa.table(ROWS)


class Stream:
    """A reader of another library, with only the C interface."""

    def __init__(self, table):
        self.reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


class Batch:
    """A batch of another library, with only the C interface."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize(
    "index", [None, [7, 8, 9], pd.Index(["p", "q", "r"], name="id"), pd.MultiIndex.from_product([[1], [1, 2, 3]])]
)
def test_a_pandas_frame_reads_as_its_columns_without_its_index(reads_as, index):
    source = reads_as(pd.DataFrame(ROWS, index=index), TABLE)
    assert (source.name, source.rows, source.again) == ("the DataFrame", 3, True)


def test_a_column_of_pandas_that_is_a_range_of_rows_keeps_its_values(reads_as):
    reads_as(pd.DataFrame(ROWS).iloc[::2], TABLE.take([0, 2]))
    reads_as(pd.DataFrame([[1, 2]]), pa.table({"0": [1], "1": [2]}))


def test_categories_of_pandas_stay_categories(reads_as):
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "x"])})
    source = reads_as(frame, pa.table({"a": ["x", None, "x"]}))
    assert pa.types.is_dictionary(source.schema.field("a").type)


def test_a_polars_frame_reads_as_its_columns(reads_as):
    source = reads_as(pl.DataFrame(ROWS), TABLE)
    assert (source.rows, source.again) == (3, True)
    frame = pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Categorical)})
    reads_as(frame, pa.table({"a": ["x", "y"]}))


def test_a_polars_column_of_arrays_is_a_matrix():
    frame = pl.DataFrame({"v": pl.Series([[1.0, 2.0]], dtype=pl.Array(pl.Float64, 2))})
    assert kind_of(read(frame).schema.field("v")) == "matrix"


def test_a_query_of_duckdb_reads_as_its_rows_and_may_be_read_again(reads_as):
    connection = duckdb.connect()
    connection.register("t", TABLE)
    source = reads_as(connection.sql("select * from t order by a"), TABLE)
    assert source.again or not hasattr(duckdb.DuckDBPyRelation, "__arrow_c_stream__")


@pytest.mark.parametrize(
    ("thing", "again"),
    [
        (TABLE, True),
        (pa.concat_tables([TABLE[:1], TABLE[1:]]), True),
        (TABLE.to_batches()[0], True),
        (TABLE.to_reader(), False),
        (Stream(TABLE), False),
        (Batch(TABLE.to_batches()[0]), True),
        (TABLE.to_struct_array().combine_chunks(), True),
    ],
    ids=["Table", "chunks", "RecordBatch", "RecordBatchReader", "stream", "array", "StructArray"],
)
def test_whatever_speaks_arrow_reads_as_its_rows(reads_as, thing, again):
    assert reads_as(thing, TABLE).again is again


def test_a_table_is_not_copied():
    (batch,) = read(TABLE)
    assert batch.column("a").buffers()[1].address == TABLE.column("a").chunk(0).buffers()[1].address


def test_batches_without_rows_are_left_out(reads_as):
    empty = TABLE.schema.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], schema=TABLE.schema)]
    batches = [*empty, *TABLE.to_batches(), *empty]
    reads_as(pa.RecordBatchReader.from_batches(TABLE.schema, batches), TABLE)
    assert list(read(TABLE[:0])) == []


def test_a_series_of_strings_is_text(reads_as):
    table = pa.table({"text": ["spam", None, "ham"]})
    for make in (pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values])):
        reads_as(make(["spam", None, "ham"]), table)


def test_a_stream_cannot_be_read_twice(all_of):
    source = read(TABLE.to_reader())
    all_of(source)
    with pytest.raises(BadData) as caught:
        all_of(source)
    assert str(caught.value) == (
        "the RecordBatchReader: wanted rows, got a stream that has been read already."
        " Pass a file or a table, which can be read again."
    )


def test_bad_frames_are_refused_in_a_sentence(sentence):
    twice = "wanted distinct column names, got 'a' more than once. Rename them."
    assert sentence(pd.DataFrame([[1, 2]], columns=["a", "a"])) == f"the DataFrame: {twice}"
    assert sentence(pa.table([[1], [2]], names=["a", "a"])) == f"the Table: {twice}"
    assert sentence(pa.table([[1], [2]], names=["a", "a"]).to_reader()) == f"the RecordBatchReader: {twice}"
    assert sentence(pd.DataFrame({"a": [1, "x"]})) == (
        "the DataFrame: wanted columns of one type each, got values that cannot be converted"
        " (Could not convert 'x' with type str: tried to"
        " convert to int64, Conversion failed for column a with type object)."
    )
    assert sentence(pd.DataFrame(index=[1, 2])) == "the DataFrame: wanted at least one column, got none."
    assert sentence(pa.chunked_array([[1.0, 2.0]])) == (
        "the ChunkedArray: wanted a table of named columns, got one column of double. Pass {'name': values}."
    )
    assert sentence(pl.DataFrame(ROWS).lazy()) == (
        "the data: wanted a path, a table, an array, a dict of columns or a list of rows, got a LazyFrame."
        " Collect a lazy frame first."
    )
    assert sentence(3) == (
        "the data: wanted a path, a table, an array, a dict of columns or a list of rows, got a int."
    )


def test_an_error_on_the_way_is_put_in_a_sentence(sentence):
    def batches():
        yield from TABLE.to_batches()
        raise OSError("the line is dead")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    assert sentence(reader) == (
        "the RecordBatchReader: wanted a readable stream, got one that cannot be read (the line is dead)."
    )


def test_whatever_becomes_an_array_is_read_as_one(reads_as):
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0]])

    assert read(Tensor()).name == "the array"


def test_numbers_that_begin_anywhere_are_read() -> None:
    """Memory that another machine sent may be unaligned like this."""
    raw = bytearray(3 + 8 * 6)
    raw[3:] = np.arange(6.0).tobytes()
    odd = pa.Array.from_buffers(pa.float64(), 6, [None, pa.py_buffer(raw).slice(3)])
    coded = pa.array(list("abcabc")).dictionary_encode()
    table = pa.table({"x": odd, "kind": coded, "y": list("nynyny")})
    plain = pa.table({"x": np.arange(6.0), "kind": coded, "y": list("nynyny")})
    assert odd.buffers()[1].address % 8
    assert tb.fit(table, "y") == tb.fit(plain, "y")
    assert next(iter(tb.read(table))).to_pydict() == plain.to_pydict()


@pytest.mark.parametrize(
    "rows",
    [pl.DataFrame({"x\0": [1.0, 2.0], "y": ["a", "b"]}), {"x": pl.Series("x\0", [1.0, 2.0]), "y": ["a", "b"]}],
    ids=["frame", "series"],
)
def test_a_zero_byte_in_a_name_is_refused_before_polars_aborts_the_process(rows):
    with pytest.raises(BadData, match=r"wanted column names without zero bytes, got 'x\\x00'. Rename it"):
        tb.fit(rows, "y")


@pytest.mark.parametrize("values", [[np.datetime64("NaT"), np.True_], [[np.datetime64(1, "s")], [np.float64(2)]]])
def test_dates_of_numpy_among_its_other_values_are_refused_before_arrow_crashes(values):
    with pytest.raises(BadData, match=r"wanted values of one type, got numpy.datetime64 and numpy\.(bool|float64)"):
        tb.fit({"x": values, "y": ["a", "b"]}, "y")
    with pytest.raises(BadData, match="one type"):
        tb.evaluate(values, np.eye(2), ["a", "b"])
    column = pd.Series(values, dtype=object, name="x")
    with pytest.raises(BadData, match="the DataFrame, column 'x': wanted values of one type"):
        tb.fit(column.to_frame(), ["a", "b"])
    with pytest.raises(BadData, match="wanted values of one type"):
        tb.fit({"x": column, "y": ["a", "b"]}, "y")
