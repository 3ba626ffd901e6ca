import doctest
import importlib
import pkgutil
import subprocess
import sys

import pyarrow as pa
import pytest

import tallybayes.sources
from tallybayes.errors import BadOption
from tallybayes.sources import read

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", "?", "z"], "c": pa.array(["?", "y", "y"]).dictionary_encode()})


def test_a_source_is_returned_as_it_is():
    source = read(TABLE)
    assert read(source) is source


def test_a_source_may_be_read_with_other_options(reads_as):
    reads_as(read(TABLE), TABLE.select(["a"]), columns=["a"])


def test_the_strings_called_missing_are_null_in_text_and_in_categories(reads_as):
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [None, "y", "y"]})
    assert pa.types.is_dictionary(reads_as(TABLE, table, missing=["?"]).schema.field("c").type)
    reads_as(pa.table({"v": pa.array(["?", "x"], pa.string_view())}), pa.table({"v": [None, "x"]}), missing="?")
    reads_as(pa.table({"v": pa.array(["?", "x"], pa.large_string())}), pa.table({"v": [None, "x"]}), missing=["?"])


def test_columns_come_in_the_order_asked_for(reads_as):
    reads_as(TABLE, TABLE.select(["c", "a"]), columns=["c", "a"])


def test_types_are_cast(all_of):
    made = all_of(read(TABLE, types={"a": pa.string()}))
    assert made.column("a").to_pylist() == ["1", "2", "3"]


def test_batch_rows_bounds_every_batch(reads_as):
    source = reads_as(TABLE, TABLE, batch_rows=2)
    assert [batch.num_rows for batch in source] == [2, 1]


def test_bad_options_are_refused_in_a_sentence(sentence):
    assert sentence(TABLE, columns=["a", "aa"]) == (
        "the Table: wanted a column 'aa', got none of that name. Did you mean 'a'?"
    )
    assert sentence(TABLE, columns=["zebra"]) == (
        "the Table: wanted a column 'zebra', got none of that name. There are 'a', 'b' and 'c'."
    )
    assert sentence(pa.table({"b": ["x"]}), types={"b": pa.int64()}) == (
        "the Table, column 'b': wanted whole numbers, got text (Failed to parse string: 'x' as a scalar of type int64)."
    )
    for options, said in [
        ({"columns": []}, "columns: wanted at least one name, got none."),
        ({"columns": "a"}, "columns: wanted a list of names, got 'a'. Pass ['a']."),
        ({"batch_rows": 0}, "batch_rows: wanted a number of rows, at least 1, got 0."),
        ({"names": ["p"]}, "names: wanted none, since only arrays and csv files lack them, got 1 for the Table."),
    ]:
        with pytest.raises(BadOption) as caught:
            read(TABLE, **options)
        assert str(caught.value) == said


def test_names_are_refused_for_files_that_name_their_columns(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(BadOption) as caught:
        read(tmp_path / "a.jsonl", names=["b"])
    assert str(caught.value) == "names: wanted none, since the file names its own columns, got 1."


def test_stopping_early_leaves_no_thread_behind(tmp_path, small_pieces):
    import threading

    (tmp_path / "a.csv").write_text("a,b\n" + "1,x\n" * 5000)
    before = threading.active_count()
    batches = iter(read(tmp_path / "a.csv"))
    next(batches)
    batches.close()
    del batches
    assert threading.active_count() == before


def test_importing_loads_no_optional_package_and_no_reader():
    unwanted = ["scipy", "pandas", "polars", "duckdb"]
    unwanted += ["pyarrow.csv", "pyarrow.json", "pyarrow.parquet", "pyarrow.dataset"]
    code = f"import sys, tallybayes.sources; print([name for name in {unwanted} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(tallybayes.sources.__path__)] + [""])
def test_the_examples_in_the_documentation_are_true(name):
    module = importlib.import_module(f"tallybayes.sources.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0
