import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallybayes.sources import kind_of, names_of, parquet, read


def test_a_parquet_file_reads_as_its_rows(tmp_path, weather, reads_as):
    pq.write_table(weather, tmp_path / "a.parquet", row_group_size=2)
    source = reads_as(tmp_path / "a.parquet", weather)
    assert source.schema.equals(weather.schema)
    assert source.rows == 5


def test_only_the_columns_asked_for_are_read_in_that_order(tmp_path, weather, reads_as):
    pq.write_table(weather, tmp_path / "a.parquet")
    names = ["windy", "outlook"]
    reads_as(tmp_path / "a.parquet", weather.select(names), columns=names)


def test_types_stay_as_arrow_stores_them(tmp_path, reads_as):
    table = pa.table(
        {
            "category": pa.array(["a", "b", None]).dictionary_encode(),
            "large": pa.array(["a", "b", None], pa.large_string()),
            "decimal": pa.array([1, 2, None], pa.decimal128(5, 2)),
            "day": pa.array([0, 1, None], pa.date32()),
            "time": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
            "small": pa.array([0, 1, None], pa.int8()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    assert reads_as(tmp_path / "a.parquet", table).schema.equals(table.schema)


def test_batches_have_no_more_rows_than_asked_for(tmp_path, reads_as):
    table = pa.table({"n": list(range(1000))})
    pq.write_table(table, tmp_path / "a.parquet")
    source = reads_as(tmp_path / "a.parquet", table, batch_rows=300)
    assert max(batch.num_rows for batch in source) == 300


def test_a_long_table_is_read_in_batches_of_one_size(tmp_path):
    pq.write_table(pa.table({f"c{i}": np.zeros(300_000) for i in range(3)}), tmp_path / "a.parquet")
    assert [batch.num_rows for batch in read(tmp_path / "a.parquet")] == [100_000] * 3


@pytest.mark.parametrize("rows", [1, 1_000, 40_000, 50_000, 65_536, 65_537, 100_000, 131_072, 200_000, 10**6])
def test_batches_leave_room_for_a_page_where_they_can(rows):
    found = parquet.whole_pages(rows)
    assert rows / 2 < found <= rows
    room = 1 << (found - 1).bit_length()
    assert found + parquet.PAGE_ROWS <= room or rows < 40_001


def test_a_batch_of_a_wide_table_is_kept_small(tmp_path):
    table = pa.table({f"c{i}": [0.0] * 5000 for i in range(2000)})
    pq.write_table(table, tmp_path / "a.parquet")
    assert max(batch.nbytes for batch in read(tmp_path / "a.parquet")) < 40 << 20


def test_the_index_that_pandas_stores_is_not_a_column_unless_asked_for(tmp_path, reads_as):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=pd.Index([7, 8], name="id"))
    frame.to_parquet(tmp_path / "a.parquet")
    reads_as(tmp_path / "a.parquet", pa.table({"a": [1, 2], "b": ["x", "y"]}))
    reads_as(tmp_path / "a.parquet", pa.table({"id": [7, 8], "a": [1, 2]}), columns=["id", "a"])


def test_a_directory_reads_as_the_rows_of_its_parquet_files(tmp_path, reads_as):
    for i in (2, 1, 10):
        pq.write_table(pa.table({"n": [i]}), tmp_path / f"part-{i:02}.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_metadata.parquet").write_bytes(b"not data")
    reads_as(tmp_path, pa.table({"n": [1, 2, 10]}))


def test_the_names_of_directories_give_columns(tmp_path, reads_as):
    for year, play in (("2023", "yes"), ("2024", "no%20way")):
        folder = tmp_path / f"year={year}" / f"play={play}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"n": [1, 2]}), folder / "a.parquet")
    table = pa.table({"n": [1, 2] * 2, "year": [2023] * 2 + [2024] * 2, "play": ["yes"] * 2 + ["no way"] * 2})
    reads_as(tmp_path, table)
    reads_as(tmp_path, table.select(["play", "n"]), columns=["play", "n"])
    reads_as(tmp_path, table.select(["play"]), columns=["play"])


def test_a_matrix_passes_through_a_file(tmp_path, all_of):
    table = all_of(read([[1.0, 2.0], [3.0, 4.0]], names=["a", "b"]))
    pq.write_table(table, tmp_path / "a.parquet")
    field = read(tmp_path / "a.parquet").schema.field("x")
    assert (kind_of(field), names_of(field)) == ("matrix", ["a", "b"])


def test_the_strings_called_missing_are_null(tmp_path, reads_as):
    pq.write_table(pa.table({"a": ["?", "x"]}), tmp_path / "a.parquet")
    reads_as(tmp_path / "a.parquet", pa.table({"a": [None, "x"]}), missing=["?"])


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_file_that_is_not_parquet_is_refused(tmp_path, sentence, content):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    assert sentence(path).startswith(f"{path}: wanted a readable parquet file, got one that cannot be read (")


def test_a_file_that_is_damaged_inside_is_refused(tmp_path, sentence):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [f"{i}" for i in range(10_000)]}), path)
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996
    path.write_bytes(content)
    assert sentence(path).startswith(f"{path}: wanted a readable parquet file, got one that cannot be read (")


def test_a_directory_without_data_files_is_refused(tmp_path, sentence):
    (tmp_path / "a.doc").write_text("a\n1\n")
    assert sentence(tmp_path) == (
        f"{tmp_path}: wanted a directory of data files, got one without any."
        " Pass a glob for files of another kind, such as 'directory/*.csv'."
    )
