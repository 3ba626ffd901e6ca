import bz2
import gzip

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from tallybayes.sources import read

PLAIN = pa.table({"a": [1, 2], "b": ["x", "y"]})


def test_a_csv_file_reads_as_its_rows(tmp_path, weather, reads_as):
    pc.write_csv(weather, tmp_path / "weather.csv")
    source = reads_as(tmp_path / "weather.csv", weather)
    assert source.schema.equals(weather.schema)
    assert source.name == str(tmp_path / "weather.csv")


def test_a_file_of_many_pieces_reads_as_its_rows(tmp_path, weather, reads_as, small_pieces):
    table = pa.concat_tables([weather] * 50)
    pc.write_csv(table, tmp_path / "weather.csv")
    source = reads_as(str(tmp_path / "weather.csv"), table)
    assert source.rows is None
    assert len(list(source)) > 10


def test_values_may_have_lines_and_stray_quotes_in_any_piece(tmp_path, reads_as, small_pieces):
    texts = ["two\nlines", '5" pipe', 'say ""', "", "plain", "a\r\nb", '"', "x" * 700, ',"'] * 40
    table = pa.table({"n": list(range(len(texts))), "text": [text or None for text in texts]})
    pc.write_csv(table, tmp_path / "a.csv")
    reads_as(tmp_path / "a.csv", table)
    (tmp_path / "stray.csv").write_text("n,text\n" + "".join(f'{i},5" pipe\n{i},"a\nb"\n' for i in range(100)))
    table = pa.table({"n": [i for i in range(100) for _ in "12"], "text": ['5" pipe', "a\nb"] * 100})
    reads_as(tmp_path / "stray.csv", table)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_the_delimiter_is_found(tmp_path, reads_as, mark, ending):
    path = tmp_path / f"a.{ending}"
    path.write_text(f"a{mark}b\n1{mark}x\n2{mark}y\n")
    reads_as(path, PLAIN)
    path.write_text(f"a{mark}b")
    assert read(path).schema.names == ["a", "b"]


def test_a_mark_that_occurs_in_names_does_not_pass_for_the_delimiter(tmp_path, reads_as):
    path = tmp_path / "a.csv"
    path.write_text("a;b (x, y)\n1;x\n2;y\n")
    reads_as(path, pa.table({"a": [1, 2], "b (x, y)": ["x", "y"]}))
    path.write_text('"a;x",b\n1,x\n2,y\n')
    reads_as(path, pa.table({"a;x": [1, 2], "b": ["x", "y"]}))


def test_a_file_of_one_column_reads_as_one(tmp_path, reads_as):
    (tmp_path / "a.csv").write_text("text\nhello; you\nhello\n")
    reads_as(tmp_path / "a.csv", pa.table({"text": ["hello; you", "hello"]}))


@pytest.mark.parametrize("codec", ["gz", "bz2", "zst", "lz4"])
def test_a_compressed_file_reads_as_its_rows(tmp_path, reads_as, codec):
    path = tmp_path / f"A.CSV.{codec}"
    with pa.output_stream(str(path), compression={"gz": "gzip", "zst": "zstd"}.get(codec, codec)) as file:
        file.write(b"a,b\n1,x\n2,y\n")
    reads_as(path, PLAIN)


@pytest.mark.parametrize(("pack", "codec"), [(gzip.compress, "gz"), (bz2.compress, "bz2")])
def test_a_file_compressed_in_several_members_is_read_to_its_end(tmp_path, reads_as, pack, codec):
    path = tmp_path / f"a.csv.{codec}"
    path.write_bytes(pack(b"a,b\n1,x\n") + pack(b"2,y\n"))
    reads_as(path, PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
        b"a,b\r\n1,x\r\n2,y\r\n",
        b"\n\na,b\n\n1,x\n\n2,y\n\n",
        b"a,b\n1,x\n2,y",
        b"a,b\r1,x\r2,y\r",
        b'"a","b"\n"1","x"\n"2","y"\n',
        b"a,b\n 1 ,x\n2,y\n",
    ],
    ids=["byte order mark", "CRLF", "blank lines", "no last line end", "CR", "quoted", "spaces"],
)
def test_the_ways_to_write_a_csv_file_read_alike(tmp_path, reads_as, text):
    (tmp_path / "a.csv").write_bytes(text)
    reads_as(tmp_path / "a.csv", PLAIN)


def test_an_empty_field_and_the_strings_called_missing_are_null_in_every_column(tmp_path, reads_as):
    (tmp_path / "a.csv").write_text('a,b,c\n1,x,NA\n?,?,nan\n,"",-\n4,y,n/a\n')
    table = pa.table({"a": [1, None, None, 4], "b": ["x", None, None, "y"], "c": ["NA", "nan", None, "n/a"]})
    reads_as(tmp_path / "a.csv", table, missing=["?", "-"])


def test_a_string_that_nobody_called_missing_stays(tmp_path, reads_as):
    (tmp_path / "a.csv").write_text("country\nNA\nnull\n")
    reads_as(tmp_path / "a.csv", pa.table({"country": ["NA", "null"]}))


def test_columns_are_read_in_the_order_asked_for(tmp_path, weather, reads_as, small_pieces):
    table = pa.concat_tables([weather] * 20)
    pc.write_csv(table, tmp_path / "a.csv")
    names = ["windy", "outlook"]
    reads_as(tmp_path / "a.csv", table.select(names), columns=names)


def test_a_header_alone_is_a_source_without_rows(tmp_path):
    for text in ("a,b\n", "a,b"):
        (tmp_path / "a.csv").write_text(text)
        source = read(tmp_path / "a.csv")
        assert (source.schema.names, source.rows, list(source)) == (["a", "b"], 0, [])


def test_names_replace_a_missing_header(tmp_path, reads_as):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n")
    reads_as(tmp_path / "a.csv", PLAIN, names=["a", "b"])


def test_a_home_directory_may_be_written_as_a_tilde(tmp_path, monkeypatch, reads_as):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,y\n")
    reads_as("~/a.csv", PLAIN)


def test_a_header_longer_than_the_first_look_is_read_whole(tmp_path):
    names = [f"column number {i}" for i in range(20_000)]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    source = read(tmp_path / "a.csv")
    assert source.schema.names == names
    assert source.rows == 1


def test_a_row_longer_than_a_piece_is_read_whole(tmp_path, reads_as, small_pieces):
    table = pa.table({"n": list(range(30)), "text": ["x" * 2000] * 30})
    pc.write_csv(table, tmp_path / "a.csv")
    reads_as(tmp_path / "a.csv", table)
