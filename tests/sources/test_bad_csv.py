import gzip

import pytest

CURE = "Fix the line, or skip it with bad_lines='skip'"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "wanted a header line, got an empty file."),
        (b"\n\n\n", "wanted a header line, got blank lines only."),
        (b"a,b\n1,2\n\n3,4,5\n", f"wanted 2 values in every row, got 3 in row 2: '3,4,5'. {CURE}."),
        (b"a,b\n1,2\n3\n", f"wanted 2 values in every row, got 1 in row 2: '3'. {CURE}."),
        (
            b"a,b\n1,x\n2,caf\xe9\n",
            "wanted text in UTF-8, got other bytes in column 'b' (row 2, byte 4)."
            " Convert it, for instance with iconv, or choose errors='replace'.",
        ),
        (
            b"a,caf\xe9\n1,x\n",
            "wanted text in UTF-8, got other bytes in its header (byte 4 of a name)."
            " Convert it, for instance with iconv, or choose errors='replace'.",
        ),
        (
            "a,b\n1,2\n".encode("utf-16"),
            "wanted text in UTF-8, got other bytes in its first bytes (UTF-16). Convert it, for instance with iconv.",
        ),
        (
            b"PAR1\x15\x04",
            "wanted text, got binary data (it begins b'PAR1\\x15\\x04'). Give the file the ending of its real format.",
        ),
        (
            bytes(range(256)) * 20,
            "wanted text, got binary data (it begins b'\\x00\\x01\\x02\\x03\\x04\\x05\\x06\\x07')."
            " Give the file the ending of its real format.",
        ),
    ],
    ids=[
        "empty",
        "blank",
        "long row",
        "short row",
        "latin-1",
        "latin-1 name",
        "utf-16",
        "parquet",
        "bytes",
    ],
)
def test_a_file_that_is_not_a_table_is_refused_in_a_sentence(tmp_path, sentence, content, said):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert sentence(path) == f"{path}: {said}"


def test_an_error_in_a_later_piece_counts_the_rows_from_the_beginning(tmp_path, sentence, small_pieces):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 1000 + b"1,x,y\n")
    assert sentence(path) == f"{path}: wanted 2 values in every row, got 3 in row 1001: '1,x,y'. {CURE}."
    path.write_bytes(b"a,b\n" + b"1,x\n" * 1000 + b"1,\xff\n")
    said = (
        "wanted text in UTF-8, got other bytes in column 'b' (row 1001, byte 1)."
        " Convert it, for instance with iconv, or choose errors='replace'."
    )
    assert sentence(path) == f"{path}: {said}"


def test_an_unclosed_quotation_mark_is_reported_before_memory_is_full(tmp_path, sentence, monkeypatch, small_pieces):
    from tallybayes.sources import text_chunks

    monkeypatch.setattr(text_chunks, "LONGEST_ROW", 1 << 20)
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 1000 + b'1,"open\n' + b"1,x\n" * 400_000)
    assert sentence(path) == (
        f"{path}: wanted rows of at most 1 MB, got a longer one that begins '1,\"open'. Close its quotation mark."
    )


def test_a_truncated_archive_is_reported(tmp_path, sentence):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 9)[:-12])
    assert sentence(path).startswith(f"{path}: wanted a readable csv file, got one that cannot be read (")


def test_names_must_be_as_many_as_the_columns(tmp_path, sentence):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n")
    assert sentence(tmp_path / "a.csv", names=["a"]) == "names: wanted 2, one for each column, got 1."
