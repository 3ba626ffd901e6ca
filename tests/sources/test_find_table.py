"""Tables in text files as people have them: titles above, names twice or not at all, spaces around values."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest

from tallybayes.errors import BadData, GuessedLayoutWarning
from tallybayes.sources import read
from tallybayes.sources.find_table import tidy

ROWS = [(round(3.5 + 0.7 * k, 2), ["lime", "oak tree", "fir"][k % 3], ["yes", "no"][k % 2]) for k in range(40)]


def rows_of(path: Path, **options: Any) -> dict[str, list[Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedLayoutWarning)
        batches = list(read(path, **options))
    return {
        name: [value for one in batches for value in one.column(name).to_pylist()] for name in batches[0].schema.names
    }


WANT = {name: [row[k] for row in ROWS] for k, name in enumerate(("height", "kind", "felled"))}


def lines(delimiter: str = ",", *, end: str = "\n", last: str = "", pad: str = "", quote: str = "") -> str:
    """Return the rows as text, the header not among them."""
    cells = ([f"{pad}{quote}{value}{quote}{pad}" for value in row] for row in ROWS)
    return "".join(delimiter.join(row) + last + end for row in cells)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "Trees of the park,,\nas of 1 May,,\n,,\nheight,kind,felled\n" + lines()),
        ("a.csv", "Trees of the park\n\nheight,kind,felled\n" + lines()),
        ("a.csv", "\n\n\nheight,kind,felled\n\n" + lines()),
        ("a.csv", "# unit: m, measured by hand\n# by the town\nheight,kind,felled\n" + lines()),
        ("a.csv", "Bäume im Park\r\nStand: Mai\r\nheight;kind;felled\r\n" + lines(";", end="\r\n")),
        ("a.csv", "\ufeffheight;kind;felled\r\n" + lines(";", end="\r\n", quote='"')),
        ("a.csv", "height,kind,felled,\n" + lines(last=",")),
        ("a.csv", "height,kind,felled\n" + lines(last=",")),
        ("a.csv", "height,kind,felled,,,\n" + lines(last=",,,")),
        ("a.csv", "height , kind , felled\n" + lines(pad=" ")),
        ("a.csv", "height, kind, felled\n" + lines(", ")),
        ("a.csv", "height, kind, felled\n" + lines(", ", quote='"')),
        ("a.csv", '"height","kind","felled"\n' + lines().replace("oak tree", '" oak tree  "').replace("fir", '"fir "')),
        ("a.tsv", "height\tkind\tfelled\n" + lines("\t", pad="  ")),
        ("a.psv", "| height | kind | felled |\n" + "".join(f"| {a} | {b} | {c} |\n" for a, b, c in ROWS)),
        (
            "a.txt",
            " height   kind     felled\n" + "".join(f"{a:7}   {b!r:10}  {c}\n" for a, b, c in ROWS).replace("'", '"'),
        ),
        ("a.data", "height\tkind\tfelled\r\n" + "".join(f'{a}\t\t"{b}"\t {c}  \r\n' for a, b, c in ROWS)),
        ("a.dat", "height,kind,felled\n" + lines()),
    ],
)
def test_the_table_is_found(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    found = rows_of(path)
    assert {name: found[name] for name in WANT} == WANT
    assert len(found) == 3


def test_lines_above_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Trees of the park,,\n,,\nheight,kind,felled\n" + lines())
    with pytest.warns(GuessedLayoutWarning) as said:
        read(path)
    assert str(said[0].message) == (
        f"{path}: lines 1 to 2 are above the table and not read (the first: 'Trees of the park')."
    )


def test_a_name_given_twice_is_numbered_and_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("score,score,score_2,,score\n1,2,3,4,5\n")
    with pytest.warns(GuessedLayoutWarning) as said:
        names = read(path).schema.names
    assert names == ["score", "score_3", "score_2", "column4", "score_4"]
    assert str(said[0].message).endswith("more than one column is called 'score'; column 2 is 'score_3' here.")


def test_the_row_names_that_r_writes_are_a_column(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text('"mpg" "cyl"\n' + "".join(f'"car {k}" {20 + k / 2} {4 + k % 3}\n' for k in range(30)))
    found = rows_of(path)
    assert list(found) == ["column1", "mpg", "cyl"]
    assert found["column1"][1] == "car 1"
    assert found["mpg"][1] == 20.5


def test_a_header_that_lacks_names_is_no_title(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("height,kind\n" + "".join(f"{k},x,y,z\n" for k in range(9)))
    with pytest.raises(BadData, match=r"wanted 2 values in every row, got 4"):
        read(path)
    path.write_text("kind\n" + "3.5,x\n" * 9)  # what follows the first line is no header
    with pytest.raises(BadData, match=r"wanted 1 values in every row, got 2"):
        read(path)


def test_a_column_of_several_words_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("full name\nAda King\nCarl Gauss\nEmmy Noether\n")
    assert rows_of(path) == {"full name": ["Ada King", "Carl Gauss", "Emmy Noether"]}


def test_rows_beyond_the_first_piece_are_tidied_alike(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tallybayes.sources.files.SAMPLE_BYTES", 1 << 16)
    path = tmp_path / "a.csv"
    path.write_text("Title\nn , word\n" + "".join(f"{k} ,  w{k % 7} \n" for k in range(20_000)))
    found = rows_of(path)
    assert found["n"] == list(range(20_000))
    assert set(found["word"]) == {f"w{k}" for k in range(7)}


def test_bad_lines_keep_their_numbers_below_a_title(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Title\n\na , b\n1 , 2\n3\n4 , 5\n" + "6 , 7\n" * 20)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert sum(batch.num_rows for batch in read(path, bad_lines="skip")) == 22
    assert any(str(one.message).endswith("line 5 has 1 value instead of 2.") for one in said)


def test_tidying_changes_neither_lines_nor_words() -> None:
    draw = random.Random(4)
    for _ in range(300):
        cells = [
            ["".join(draw.choice('ab c"\n') for _ in range(draw.randrange(5))).strip() for _ in range(3)]
            for _ in range(4)
        ]
        quoted = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in cells]
        plain = "".join(",".join(row) + "\n" for row in quoted)
        padded = "".join(" , ".join(row) + "  \n" for row in quoted)
        assert tidy(padded.encode(), ",", padded=True).decode() == plain
        assert tidy(plain.encode(), ",", padded=False).decode() == plain


def test_many_columns_of_one_name_are_named_in_one_go(tmp_path: Path) -> None:
    """Were each name searched among all before it, this would take minutes."""
    width = 30_000
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(["x"] * width), *(",".join(["1"] * width) for _ in range(2))]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedLayoutWarning)
        names = read(path).schema.names
    assert names[:3] == ["x", "x_2", "x_3"]
    assert names[-1] == f"x_{width}"
