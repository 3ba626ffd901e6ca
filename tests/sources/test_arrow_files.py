import pandas as pd
import pyarrow as pa
import pytest

from tallybayes.sources import read


def write_file(path, table, rows=2, **options):
    with pa.ipc.new_file(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)


def write_stream(path, table, **options):
    with pa.ipc.new_stream(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=2)


WRITERS = pytest.mark.parametrize("write", [write_file, write_stream])


@WRITERS
@pytest.mark.parametrize("ending", ["arrow", "feather", "ipc"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_an_arrow_file_reads_as_its_rows(tmp_path, weather, reads_as, write, ending, compression):
    path = tmp_path / f"a.{ending}"
    write(path, weather, compression=compression)
    assert reads_as(path, weather).schema.equals(weather.schema)


@WRITERS
def test_only_the_columns_asked_for_are_read_in_that_order(tmp_path, weather, reads_as, write):
    write(tmp_path / "a.arrow", weather)
    names = ["windy", "outlook"]
    reads_as(tmp_path / "a.arrow", weather.select(names), columns=names)


@WRITERS
def test_categories_stay_categories(tmp_path, reads_as, write):
    table = pa.table({"a": pa.array(["x", "y", None, "x"]).dictionary_encode(), "b": [1, 2, 3, 4]})
    write(tmp_path / "a.arrow", table)
    assert pa.types.is_dictionary(reads_as(tmp_path / "a.arrow", table).schema.field("a").type)


def test_a_huge_batch_is_read_in_slices_whose_pages_come_back(tmp_path, monkeypatch):
    from tallybayes.sources import parquet

    monkeypatch.setattr(parquet, "SLICE_BYTES", 100)
    table = pa.table({"n": list(range(1000))})
    write_file(tmp_path / "a.arrow", table, rows=1000)
    batches = list(read(tmp_path / "a.arrow"))
    assert len(batches) > 50
    assert pa.Table.from_batches(batches).equals(table)


def test_a_feather_file_of_pandas_reads_as_its_rows(tmp_path, reads_as):
    pd.DataFrame({"a": [1, 2], "b": ["x", None]}).to_feather(tmp_path / "a.feather")
    reads_as(tmp_path / "a.feather", pa.table({"a": [1, 2], "b": ["x", None]}))


def test_a_file_that_is_empty_is_refused(tmp_path, sentence):
    path = tmp_path / "a.arrow"
    path.touch()
    assert sentence(path) == f"{path}: wanted an Arrow file, got an empty file."


@pytest.mark.parametrize("content", [b"hello, world", b"ARROW1\0\0" + bytes(50), b"\xff" * 100])
def test_a_file_that_is_not_arrow_is_refused(tmp_path, sentence, content):
    path = tmp_path / "a.arrow"
    path.write_bytes(content)
    assert sentence(path).startswith(f"{path}: wanted a readable arrow file, got one that cannot be read (")


def test_offsets_that_lead_out_of_the_file_are_refused(tmp_path, sentence):
    path = tmp_path / "a.arrow"
    write_file(path, pa.table({"a": ["x" * 1000, "y"]}))
    end = (1000).to_bytes(4, "little") + (1001).to_bytes(4, "little")
    assert path.read_bytes().count(end) == 1
    path.write_bytes(path.read_bytes().replace(end, (1000).to_bytes(4, "little") + (1 << 30).to_bytes(4, "little")))
    assert sentence(path).startswith(f"{path}: wanted a readable Arrow file, got one that cannot be read (")


@WRITERS
def test_a_truncated_file_is_refused(tmp_path, weather, sentence, write):
    path = tmp_path / "a.arrow"
    write(path, weather)
    path.write_bytes(path.read_bytes()[:-700])
    assert sentence(path).startswith(f"{path}: wanted a readable ")
