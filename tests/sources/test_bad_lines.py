"""Malformed lines: an error with their place, or skipped, counted and reported."""

import gzip
import random
import warnings

import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, SkippedLinesWarning
from tallybayes.sources import read
from tallybayes.sources.text_chunks import lines_of_rows


@pytest.fixture
def skipped(all_of):
    """Return the remaining rows of a file, and the warning about the skipped ones."""

    def reading(path, **options):
        source = read(path, bad_lines="skip", **options)
        with pytest.warns(SkippedLinesWarning) as told:
            table = all_of(source)
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the second pass does not warn
            assert all_of(source).equals(table)
        return table, str(told[0].message)

    return reading


def test_lines_with_too_few_or_too_many_values_are_skipped_and_reported(tmp_path, skipped):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n2\n\n3,y\n4,z,5\n")
    table, said = skipped(path)
    assert table.to_pydict() == {"a": [1, 3], "b": ["x", "y"]}
    assert said == (
        f"skipped 2 of 4 lines: {path} line 3 has 1 value instead of 2, {path} line 6 has 3 values instead of 2."
    )


def test_lines_that_are_not_json_objects_are_skipped_and_reported(tmp_path, skipped):
    path = tmp_path / "a.jsonl"
    path.write_text('\n{"a": 1}\n{"a": \n[1, 2]\n{"a": 2}\n')
    table, said = skipped(path)
    assert table.to_pydict() == {"a": [1, 2]}
    places = [f"{path} line {line} has {text!r}, not a JSON object" for line, text in ((3, '{"a":'), (4, "[1, 2]"))]
    assert said == f"skipped 2 of 4 lines: {', '.join(places)}."


def test_only_the_first_bad_lines_are_reported_with_their_places(tmp_path, skipped):
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\n" + "1\tx\n2\n" * 1500)
    table, said = skipped(path)
    assert table.num_rows == 1500
    places = ", ".join(f"{path} line {line} has 1 value instead of 2" for line in (3, 5, 7))
    assert said == f"skipped 1,500 of 3,000 lines: {places}, and 1,497 more."


def test_many_files_are_reported_in_one_sentence(tmp_path, skipped):
    (tmp_path / "1.csv").write_text("a,b\n1,x\n2\n")
    (tmp_path / "2.csv").write_text("a,b\n3,y\n4,z\n")
    (tmp_path / "3.csv.gz").write_bytes(gzip.compress(b"a,b\n5\n6,w\n"))
    table, said = skipped([tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "3.csv.gz"])
    assert table.column("a").to_pylist() == [1, 3, 4, 6]
    assert said == (
        f"skipped 2 of 6 lines: {tmp_path / '1.csv'} line 3 has 1 value instead of 2,"
        f" {tmp_path / '3.csv.gz'} line 2 has 1 value instead of 2."
    )


@pytest.mark.parametrize("seed", range(20))
def test_rows_and_places_are_those_of_a_plain_reading(tmp_path, skipped, small_pieces, seed):
    draw = random.Random(seed)
    path, line, kept, places = tmp_path / "a.csv", 2, [], []
    written = ["a,b\n"]
    for _ in range(400):
        kind = draw.choices(["row", "quoted", "blank", "short", "long", "open"], [40, 8, 5, 1, 1, 1])[0]
        text = {
            "row": "12,some text",
            "quoted": '3,"one, ""two""\nand\n\nthree"',
            "blank": "",
            "short": "5",
            "long": '6,"a\nb",7',
            "open": '8,5" pipe',
        }[kind]
        if kind in ("short", "long"):
            places.append((line, 1 if kind == "short" else 3))
        elif kind != "blank":
            kept.append(int(text.split(",")[0]))
        written.append(text + draw.choice(["\n", "\r\n"]))
        line += written[-1].count("\n")
    path.write_text("".join(written), newline="")
    table, said = skipped(path)
    assert table.column("a").to_pylist() == kept
    assert said.startswith(f"skipped {len(places)} of {len(places) + len(kept)} lines: ")
    for at, values in places[:3]:
        assert f"line {at} has {values} value{'s' * (values > 1)} instead of 2" in said


@pytest.mark.parametrize("seed", range(5))
def test_places_in_json_lines_are_those_of_a_plain_reading(tmp_path, skipped, small_pieces, seed):
    draw = random.Random(seed)
    path = tmp_path / "a.jsonl"
    lines = draw.choices(['{"a": 1, "b": "some text"}', "", "{broken", '"alone"'], [30, 5, 1, 1], k=600)
    lines[200:400] = [""] * 200  # some pieces are entirely blank
    path.write_text("\n".join(lines))
    table, said = skipped(path)
    assert table.num_rows == sum(line.startswith('{"a"') for line in lines)
    bad = [n for n, line in enumerate(lines, 1) if line in ("{broken", '"alone"')]
    assert said.startswith(f"skipped {len(bad)} of {table.num_rows + len(bad)} lines: ")
    for at in bad[:3]:
        assert f"{path} line {at} has " in said


def test_a_late_value_of_another_type_is_not_a_bad_line(tmp_path, small_pieces):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,x\n" * 300 + "1\n" + "1.5,x\n" * 300)
    with pytest.raises(tb.errors.BadData, match=r"column 'a': wanted whole numbers, as in the rows before.*row 302"):
        list(read(path, bad_lines="skip"))
    with pytest.warns(SkippedLinesWarning, match="skipped 1 of 601 lines"):
        assert sum(batch.num_rows for batch in read(path, bad_lines="skip", types={"a": pa.float64()})) == 600
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' * 300 + "{\n" + '{"a": "x"}\n')
    with pytest.raises(BadData, match=r"column 'a': wanted whole numbers, got 'x' \(row 302\)"):
        list(read(path, bad_lines="skip"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "a,b\n1\n2\n", "2 bad ones (first: line 2 has 1 value instead of 2)."),
        ("a.jsonl", "{\n{\n[\n", "3 bad ones (first: line 1 has '{', not a JSON object)."),
        ("large.csv", "a,b\n" + "1\n" * 1000, "1,000 bad ones (first: line 2 has 1 value instead of 2)."),
    ],
)
def test_a_file_of_nothing_but_bad_lines_is_refused(tmp_path, sentence, small_pieces, name, content, said):
    (tmp_path / name).write_text(content)
    assert sentence(tmp_path / name, bad_lines="skip") == (
        f"{tmp_path / name}: wanted at least one valid line, got {said}"
    )


def test_a_file_without_bad_lines_is_read_without_a_word(tmp_path, all_of):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    assert all_of(read(tmp_path / "a.csv", bad_lines="skip")).num_rows == 1


def test_a_model_of_what_is_left_is_that_of_the_rows_alone(tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("a,b,y\n1,x,yes\n2,y,no\n3,x,yes\n")
    bad.write_text("a,b,y\n1,x,yes\n2,y\n2,y,no\n3,x,yes\nx,y,z,w\n")
    with pytest.warns(SkippedLinesWarning, match="skipped 2 of 5 lines"):
        model = tb.fit(bad, "y", bad_lines="skip")
    assert model == tb.fit(good, "y")
    with pytest.raises(BadData, match=r"got 2 in row 2: '2,y'\. Fix the line, or skip it with bad_lines='skip'"):
        tb.fit(bad, "y")


def test_an_unknown_value_of_bad_lines_is_refused():
    with pytest.raises(BadOption, match="bad_lines: wanted 'error' or 'skip', got 'ignore'"):
        read([{"a": 1}], bad_lines="ignore")  # type: ignore[arg-type]


def test_lines_of_rows_skip_blank_ones_and_those_within_quotation_marks():
    text = b'a,b\r\n\r\n"1\n2",x\n\ny"y,3\n'
    assert lines_of_rows(text, [1, 2, 3]) == [1, 3, 6]
    assert lines_of_rows(text, []) == []


def test_rows_that_are_not_utf8_are_skipped_and_reported(tmp_path, skipped):
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\n1,x\ncaf\xe9,y\n2,"two\nl\xffnes"\n3,z,4\n4,\xc3\xa9\n')
    table, said = skipped(path)
    assert table.to_pydict() == {"a": [1, 4], "b": ["x", "é"]}
    assert said == (
        f"skipped 3 of 5 lines: {path} line 3 has other bytes than UTF-8 (from byte 4), "
        f"{path} line 4 has other bytes than UTF-8 (from byte 9), {path} line 6 has 3 values instead of 2."
    )


def test_json_lines_with_other_bytes_or_bad_escapes_are_skipped_and_reported(tmp_path, skipped):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": "x"}\n{"a": "\xff"}\n{"a": "\\uZZ"}\n{"a": "\\ud800"}\n{"a": "y"}\n' + b"[" * 5000 + b"\n")
    table, said = skipped(path)
    assert table.to_pydict() == {"a": ["x", "y"]}
    assert said.startswith(f"skipped 4 of 6 lines: {path} line 2 has other bytes than UTF-8 (from byte 8), ")
    assert f"{path} line 4 has the lone surrogate '\\ud800', and 1 more." in said


@pytest.mark.parametrize("bad", [b"\xff,a", b'"\xe9\n",a', b"1,a\xc3", b"\x80,\x80"])
def test_bytes_that_are_no_text_leave_the_other_rows_as_they_are(tmp_path, all_of, bad):
    rows = [b"%d,%s" % (k, b"ab"[k % 2 : k % 2 + 1]) for k in range(200)]
    clean, dirty = tmp_path / "clean.csv", tmp_path / "dirty.csv"
    clean.write_bytes(b"x,y\n" + b"\n".join(rows))
    dirty.write_bytes(b"x,y\n" + b"\n".join(row + b"\n" + bad if k % 7 == 3 else row for k, row in enumerate(rows)))
    with pytest.warns(SkippedLinesWarning, match=r"^skipped 29 of 229 lines: "):
        table = all_of(read(dirty, bad_lines="skip"))
    assert table.equals(all_of(read(clean)))
