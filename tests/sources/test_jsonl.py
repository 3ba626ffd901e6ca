import json

import pyarrow as pa
import pytest

from tallybayes.sources import LateType, read

CURE = "Fix the line, or skip it with bad_lines='skip'."


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "jsonl.gz"])
def test_a_file_of_json_lines_reads_as_its_rows(tmp_path, weather, reads_as, ending):
    text = "".join(json.dumps(row) + "\n" for row in weather.to_pylist())
    path = tmp_path / f"a.{ending}"
    with pa.output_stream(str(path)) as file:
        file.write(text.encode())
    assert reads_as(path, weather).schema.equals(weather.schema)


def test_a_file_of_many_pieces_reads_as_its_rows(tmp_path, weather, reads_as, small_pieces):
    table = pa.concat_tables([weather] * 50)
    source = reads_as(write(tmp_path / "a.jsonl", table.to_pylist()), table)
    assert len(list(source)) > 10


def test_a_key_that_a_line_lacks_is_null(tmp_path, reads_as):
    path = write(tmp_path / "a.jsonl", [{"a": 1}, {"b": "x"}, {}])
    reads_as(path, pa.table({"a": [1, None, None], "b": [None, "x", None]}))


def test_only_the_columns_asked_for_are_read(tmp_path, reads_as, small_pieces):
    path = write(tmp_path / "a.jsonl", [{"a": i, "b": [i], "c": "x"} for i in range(100)] + [{"d": 1}])
    table = pa.table({"c": ["x"] * 100 + [None], "a": [*range(100), None]})
    reads_as(path, table, columns=["c", "a"])


def test_the_strings_called_missing_are_null(tmp_path, reads_as):
    reads_as(write(tmp_path / "a.jsonl", [{"a": "?"}, {"a": "x"}]), pa.table({"a": [None, "x"]}), missing=["?"])


@pytest.mark.parametrize(
    ("odd", "want", "got", "kind"),
    [
        ({"a": 1.5}, "whole numbers", "1.5", pa.float64()),
        ({"a": float("inf")}, "whole numbers", "inf", pa.float64()),
        ({"b": 3}, "nothing", "3", pa.int64()),
        ({"d": "soon"}, "dates or times", "'soon'", pa.string()),
        ({"new": "x"}, "no such column", "'x'", pa.string()),
    ],
)
def test_a_late_value_that_pyarrow_can_read_as_another_type_asks_for_it(
    tmp_path, all_of, small_pieces, odd, want, got, kind
):
    usual = {"a": 1, "b": None, "d": "2024-02-29"}
    path = write(tmp_path / "a.jsonl", [usual] * 300 + [odd])
    with pytest.raises(LateType) as caught:
        all_of(read(path))
    (column,) = odd
    assert str(caught.value) == (
        f"{path}, column '{column}': wanted {want}, as in the rows before, got {got} (row 301)."
        " Declare the column's type."
    )
    assert caught.value.types == {column: kind}
    assert all_of(read(path, types=caught.value.types)).column(column)[-1].as_py() == odd[column]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"a": "text"}', ", column 'a': wanted {numbers}, got 'text' (row {row}). Make its values of one type."),
        (b'{"a": true}', ", column 'a': wanted {numbers}, got True (row {row}). Make its values of one type."),
        (b"[1, 2]", ": wanted one JSON object in each line, got '[1, 2]' (row {row}). " + CURE),
        (b"hello", ": wanted one JSON object in each line, got 'hello' (row {row}). " + CURE),
        (
            b'{"b": "caf\xe9"}',
            ": wanted text in UTF-8, got other bytes in row {row} (byte 11 of the line)."
            " Convert it, for instance with iconv, or choose errors='replace'.",
        ),
    ],
)
@pytest.mark.parametrize("before", [3, 1000])
def test_a_line_that_does_not_fit_is_refused_in_a_sentence(tmp_path, sentence, small_pieces, line, said, before):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1, "b": "x"}\n\n' * before + line + b"\n")
    numbers = "numbers" if before == 3 else "whole numbers"
    assert sentence(path) == str(path) + said.format(row=before + 1, numbers=numbers)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{}\n"])
def test_a_file_without_columns_is_refused(tmp_path, sentence, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert sentence(path) == f"{path}: wanted one JSON object in each line, got none with a key."
