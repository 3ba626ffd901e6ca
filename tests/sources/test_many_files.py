import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallybayes.sources import read

TABLE = pa.table({"a": [1, 2, 3, 4], "b": ["w", "x", "y", "z"]})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,w\n2,x\n")
    (tmp_path / "2.csv").write_text("b,a\ny,3\nz,4\n")
    return tmp_path


def test_a_glob_reads_as_the_rows_of_its_files_in_order(folder, reads_as):
    source = reads_as(str(folder / "*.csv"), TABLE)
    assert source.name == str(folder / "*.csv")


def test_a_list_of_paths_reads_as_the_rows_of_its_files_in_its_order(folder, reads_as):
    source = reads_as([folder / "1.csv", folder / "2.csv"], TABLE)
    assert (source.name, source.rows) == ("2 files", 4)
    reads_as([str(folder / "1.csv"), str(folder / "2.csv")], TABLE)


def test_files_may_be_of_different_kinds(folder, reads_as):
    pq.write_table(TABLE[2:], folder / "2.parquet")
    reads_as([folder / "1.csv", folder / "2.parquet"], TABLE)


def test_types_are_widened_among_numbers(folder, reads_as):
    (folder / "2.csv").write_text("a,b\n3.5,y\n,z\n")
    table = pa.table({"a": [1.0, 2.0, 3.5, None], "b": ["w", "x", "y", "z"]})
    assert reads_as(str(folder / "*.csv"), table).schema.field("a").type == pa.float64()


def test_a_column_empty_in_one_file_takes_the_type_of_the_other(folder, reads_as):
    (folder / "1.csv").write_text("a,b\n1,\n2,\n")
    reads_as(str(folder / "*.csv"), pa.table({"a": [1, 2, 3, 4], "b": [None, None, "y", "z"]}))


def test_a_column_of_another_type_is_refused_with_its_file(folder, sentence):
    (folder / "2.csv").write_text("a,b\nx,y\n")
    assert sentence(str(folder / "*.csv")) == (
        f"{folder / '2.csv'}, column 'a': wanted whole numbers, as in {folder / '1.csv'}, got text. Make them one type."
    )


def test_a_column_that_one_file_lacks_is_refused_with_its_file(folder, sentence):
    (folder / "2.csv").write_text("a\n3\n")
    where = f"{folder / '2.csv'}: wanted the columns of {folder / '1.csv'}"
    assert sentence(str(folder / "*.csv")) == f"{where}, got none named 'b'."
    (folder / "2.csv").write_text("a,b,c\n3,y,1\n")
    assert sentence(str(folder / "*.csv")) == f"{where}, got a column named 'c'."


def test_a_key_that_one_file_of_json_lines_lacks_is_null(tmp_path, reads_as):
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text('{"b": "x"}\n')
    reads_as(str(tmp_path / "*.jsonl"), pa.table({"a": [1, None], "b": [None, "x"]}))


def test_a_missing_path_is_refused(sentence):
    assert sentence("nowhere/a.csv") == "nowhere/a.csv: wanted a file, got none at that path."
    assert sentence("hello you") == "hello you: wanted a file, got none at that path. Pass text as a list: [text]."


def test_a_glob_that_matches_nothing_is_refused(sentence):
    assert sentence("nowhere/*.csv") == "nowhere/*.csv: wanted files that match, got none."


@pytest.mark.parametrize(("name", "got"), [("a.doc", "'.doc'"), ("a", "no ending"),
                                           ("a.parquet.gz", "'.parquet.gz'")])  # fmt: skip
def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path, sentence, name, got):
    (tmp_path / name).write_text("a\n1\n")
    assert sentence(tmp_path / name) == (
        f"{tmp_path / name}: wanted a file ending in .csv, .tsv, .txt, .psv, .tab, .data, .dat, .jsonl, .ndjson,"
        f" .json, .arff, .parquet, .pq, .arrow, .feather, .ipc, .xlsx, .xls, .ods, got {got}."
        " Text may also be compressed, as in .csv.gz, .csv.bz2, .csv.zst, .csv.lz4."
    )


def test_a_list_of_strings_that_end_as_files_do_is_a_list_of_paths(sentence):
    assert sentence(["a.csv", "b.csv"]) == "a.csv: wanted a file, got none at that path."
    assert read(["a.csv is", "b.csv"]).schema.names == ["text"]
