"""Types of text files: inferred from the first rows, widened by later ones."""

import datetime

import pyarrow as pa
import pytest

from tallybayes.sources import LateType, read

MANY = 2000


@pytest.fixture
def late(tmp_path, all_of, small_pieces):
    """Return the error of a late value in a column, and the table read with the error's types."""

    def error(usual: str, odd: str):
        path = tmp_path / "late.csv"
        path.write_text("n,value\n" + f"1,{usual}\n" * MANY + f"1,{odd}\n")
        with pytest.raises(LateType) as caught:
            all_of(read(path))
        made = all_of(read(path, types=caught.value.types))
        assert made.num_rows == MANY + 1
        return str(caught.value).removeprefix(str(path)), made.column("value")

    return error


def test_a_late_decimal_asks_for_numbers(late):
    said, column = late("3", "1.5")
    assert said == (
        ", column 'value': wanted whole numbers, as in the rows before, got '1.5' (row 2001)."
        " Declare the column's type, or count '1.5' as missing."
    )
    assert column.type == pa.float64()
    assert column[-1].as_py() == 1.5


def test_a_late_number_of_twenty_digits_asks_for_numbers(late):
    _, column = late("3", "99999999999999999999")
    assert column[-1].as_py() == 1e20


def test_late_text_asks_for_text(late):
    said, column = late("3.5", "n/a")
    assert said == (
        ", column 'value': wanted numbers, as in the rows before, got 'n/a' (row 2001)."
        " Declare the column's type, or count 'n/a' as missing."
    )
    assert column.type == pa.string()
    assert column[-1].as_py() == "n/a"


@pytest.mark.parametrize(("odd", "value"), [("7", 7), ("7.5", 7.5), ("x", "x")])
def test_a_column_empty_so_far_takes_the_type_of_what_comes(late, odd, value):
    said, column = late("", odd)
    assert said.startswith(f", column 'value': wanted nothing, as in the rows before, got '{odd}' (row 2001).")
    assert column[-1].as_py() == value


@pytest.mark.parametrize(("usual", "words"), [("true", "true or false"), ("2024-02-29", "dates or times")])
def test_booleans_and_dates_fall_back_to_text(late, usual, words):
    said, column = late(usual, "3")
    assert said.startswith(f", column 'value': wanted {words}, as in the rows before, got '3' (row 2001).")
    assert (column[0].as_py(), column[-1].as_py()) == (usual, "3")


def test_starting_over_as_often_as_needed_reads_any_file(tmp_path, all_of, small_pieces):
    path = tmp_path / "late.csv"
    path.write_text("n,value\n" + "".join(f"1,{odd}\n" * 200 for odd in ("", "3", "1.5", "1e3", "1_000", "n/a")))
    types, asked = {}, []
    while True:
        try:
            made = all_of(read(path, types=types))
            break
        except LateType as late:
            asked += late.types.values()
            types |= late.types
    assert asked == [pa.int64(), pa.float64(), pa.string()]
    assert (made.num_rows, made.column("value").type) == (1200, pa.string())


def test_what_is_called_missing_does_not_change_a_type(tmp_path, all_of, small_pieces):
    path = tmp_path / "late.csv"
    path.write_text("n,value\n" + "1,3\n" * MANY + "1,n/a\n")
    column = all_of(read(path, missing=["n/a"])).column("value")
    assert (column.type, column.null_count) == (pa.int64(), 1)


def test_a_declared_type_is_an_order(tmp_path, all_of, small_pieces):
    path = tmp_path / "a.csv"
    path.write_text("zip,n\n" + "01234,1\n" * 200 + "x,1.5\n")
    made = all_of(read(path, types={"zip": pa.string(), "n": pa.float64()}))
    assert made.column("zip")[0].as_py() == "01234"
    with pytest.raises(LateType) as caught:
        all_of(read(path, types={"zip": pa.int64(), "n": pa.float64()}))
    assert caught.value.types == {"zip": pa.string()}
    assert str(caught.value) == (
        f"{path}, column 'zip': wanted whole numbers, got 'x' (row 201)."
        " Declare the column's type, or count 'x' as missing."
    )


def test_types_are_found_as_arrow_finds_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("i,f,b,d,t,s\n1,1.5,true,2024-02-29,2024-02-29 12:00:00,x\n")
    assert read(path).schema.types == [
        pa.int64(),
        pa.float64(),
        pa.bool_(),
        pa.date32(),
        pa.timestamp("s"),
        pa.string(),
    ]
    assert next(iter(read(path))).column("d")[0].as_py() == datetime.date(2024, 2, 29)
