import io

import pyarrow as pa
import pyarrow.csv as pc
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.sources import text_chunks

ROWS = st.text(st.sampled_from('a",\n\r '), max_size=40).map(str.encode)
CELLS = st.text(st.sampled_from('a",\n ;'), max_size=6)


@given(ROWS)
def test_the_quick_way_to_find_a_row_end_agrees_with_the_definition(text):
    assert text_chunks.last_row_end(text) == text_chunks._lexed_row_end(text, b",")


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1), st.integers(1, 50))
def test_pieces_parse_to_the_rows_of_the_whole(rows, size):
    table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    file = io.BytesIO()
    pc.write_csv(table, file, pc.WriteOptions(include_header=False))
    pieces = list(text_chunks.whole_rows(io.BytesIO(file.getvalue()), size, text_chunks.last_row_end, "here"))
    assert b"".join(pieces) == file.getvalue()
    read = pc.ReadOptions(column_names=["a", "b"], use_threads=False)
    parse = pc.ParseOptions(newlines_in_values=True)
    convert = pc.ConvertOptions(column_types={"a": pa.string(), "b": pa.string()}, strings_can_be_null=False)
    made = [pc.read_csv(pa.BufferReader(piece), read, parse, convert) for piece in pieces]
    assert pa.concat_tables(made).to_pylist() == table.to_pylist()


def test_pieces_are_no_larger_than_asked_for_plus_a_row():
    stream = io.BytesIO(b"0123456789\n" * 1000)
    sizes = [len(piece) for piece in text_chunks.whole_rows(stream, 100, text_chunks.last_line_end, "here")]
    assert max(sizes) <= 111
    assert sum(sizes) == 11_000
