"""Bytes that are not UTF-8, in every kind of file: an error, or replaced."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption
from tallybayes.sources import read

VALUES = [b"plain", b"caf\xe9 au lait", "schön".encode(), b"\xed\xa0\x80", b"end \xe2\x82"]
MENDED = [value.decode(errors="replace") for value in VALUES]


def write(path, ending: str, values: list[bytes] = VALUES):
    path = path / f"a.{ending}"
    if ending.startswith(("csv", "tsv")):
        mark = b"," if ending.startswith("csv") else b"\t"
        content = b"n" + mark + b"t\n" + b"".join(b"%d%s%s\n" % (i, mark, v) for i, v in enumerate(values))
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    elif ending == "jsonl":
        path.write_bytes(b"".join(b'{"n": %d, "t": "%s"}\n' % (i, v) for i, v in enumerate(values)))
    else:
        kind = pa.large_string() if ending == "feather" else pa.string()
        binary = pa.array(values, pa.large_binary() if kind == pa.large_string() else pa.binary())
        texts = binary.view(kind)
        if ending == "ipc":
            texts = pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int32()), texts)
        table = pa.table({"n": range(len(values)), "t": texts})
        if ending == "parquet":
            pq.write_table(table, path, row_group_size=2)
        else:
            opened = pa.ipc.new_stream if ending == "ipc" else pa.ipc.new_file
            with opened(path, table.schema) as file:
                file.write_table(table, max_chunksize=2)
    return path


ENDINGS = ["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow", "feather", "ipc"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_they_are_replaced_as_python_does_it(tmp_path, all_of, ending: str) -> None:
    table = all_of(read(write(tmp_path, ending), errors="replace"))
    assert table.column("t").to_pylist() == MENDED
    assert table.column("n").to_pylist() == list(range(5))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("first", "byte"), [(1, 4), (3, 1), (4, 5)])
def test_the_first_of_them_is_named_by_row_and_byte(tmp_path, all_of, ending: str, first: int, byte: int) -> None:
    values = [value if i >= first else b"fine" for i, value in enumerate(VALUES)]
    with pytest.raises(BadData) as caught:
        all_of(read(write(tmp_path, ending, values)))
    said = str(caught.value)
    where = {
        "jsonl": f"other bytes in row {first + 1} (byte {15 + byte} of the line)",
        "csv": f"other bytes in column 't' (row {first + 1}, byte {byte})",
    }
    where |= dict.fromkeys(("csv.gz", "tsv"), where["csv"])
    assert where.get(ending, f"other bytes (row {first + 1}, byte {byte})") in said
    assert said.endswith("or choose errors='replace'.")


def test_a_name_of_a_column_is_replaced_too(tmp_path, all_of) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,caf\xe9\n1,x\n")
    assert all_of(read(path, errors="replace")).to_pydict() == {"a": [1], "caf\ufffd": ["x"]}


def test_a_file_in_pieces_is_mended_piece_by_piece(tmp_path, all_of, small_pieces) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,caf\xe9\n" * 1000)
    assert set(all_of(read(path, errors="replace")).column("b").to_pylist()) == {"caf\ufffd"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_model_is_fitted_and_scores_in_spite_of_them(tmp_path, ending: str) -> None:
    path = write(tmp_path, ending)
    model = tb.fit(path, "n", events={"t": "text"}, errors="replace")
    assert "caf" in model.table("t").rows
    assert model.predict(tb.read(path, errors="replace")).tolist() == [0, 1, 2, 0, 4]  # the fourth text has no words


def test_another_option_is_refused(tmp_path) -> None:
    with pytest.raises(BadOption, match="errors: wanted 'strict' or 'replace', got 'ignore'"):
        tb.fit(write(tmp_path, "csv"), "n", errors="ignore")


def test_in_memory_the_column_row_and_byte_are_named() -> None:
    texts = pa.array([b"fine"] * 3 + [b"caf\xe9"]).view(pa.string())
    table = pa.table({"a": ["x y"] * 4, "b": texts})
    with pytest.raises(BadData) as caught:
        tb.fit(table, [0, 1, 0, 1], events="text")
    assert str(caught.value) == (
        "column 'b': wanted text in UTF-8, got other bytes from byte 4 on (row 4). Convert it."
    )
