"""Find the table in a delimited text: its delimiter, the lines above it, its header, and spaces around its values."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tallybayes.errors import BadData, wanted

__all__ = ["SPACES", "Table", "find_delimiter", "find_table", "looks_like_data", "tidy"]

SPACES = " "  # the delimiter of values in aligned columns: any run of spaces and tabs
DELIMITERS = ",;\t|"
NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_LOOKED = 20  # rows that decide, after the first
_MOST_ABOVE = 30  # lines above a table, such as a title, an author and notes
_MOSTLY = 0.8  # share of rows that have the table's width, where some are not of it
_QUOTED = re.compile(rb'("(?:[^"]++|"")*+")')

Row: TypeAlias = list[str]


@dataclass(frozen=True)
class Table:
    """Where a table begins in a text, and what its columns are called.

    Attributes
    ----------
    names : list of str
        The names of all columns, each given once.
    above : int
        The number of lines above the header.
    begin : int
        The number of lines above the first row.
    empty : frozenset of str
        Columns that have neither a name nor a value in the first rows.
    padded : bool
        Whether values have spaces around them.
    said : tuple of str
        What a user should know of these choices.
    """

    names: list[str]
    above: int
    begin: int
    empty: frozenset[str]
    padded: bool
    said: tuple[str, ...]


def find_delimiter(lines: Sequence[str], default: str, *, aligned: bool) -> str:
    """Return the delimiter that splits the first lines equally, preferring the default.

    Parameters
    ----------
    lines : sequence of str
        The first lines that are not blank.
    default : str
        The delimiter that the file's ending promises.
    aligned : bool
        Whether values may also be separated by runs of spaces.

    Examples
    --------
    >>> find_delimiter(["a;b", "1,5;2", "2,5;3"], ",", aligned=False)
    ';'
    >>> find_delimiter(["age  weight", " 31    70.5", " 28    61.0"], ",", aligned=True)
    ' '
    """
    for mark in sorted(DELIMITERS, key=lambda mark: (mark != default, -lines[0].count(mark))):
        widths = {len(row) for row in _rows(lines[:_LOOKED], mark)}
        if len(widths) == 1 and widths != {1}:
            return mark
    if _count(lines[0], default) < 2 and (below := _delimiter_below(lines, default)):
        return below
    if aligned and not any(mark in line for line in lines[:_LOOKED] for mark in DELIMITERS if mark != "\t"):
        widths = {len(row) for row in _rows(lines[1:_LOOKED], SPACES)}
        if len(widths) == 1 and widths != {1} and _count(lines[0], SPACES) in (min(widths), min(widths) - 1):
            return SPACES
    return default if default in lines[0] else max(DELIMITERS, key=lambda mark: (lines[0].count(mark), mark == default))


def _delimiter_below(lines: Sequence[str], default: str) -> str:
    """Return the delimiter of a table that begins below a title; "" if there is none."""
    shares: dict[str, float] = {}
    for mark in DELIMITERS:
        rows = _rows(lines[: _MOST_ABOVE + _LOOKED], mark)
        width, count = Counter(len(row) for row in rows).most_common(1)[0] if rows else (1, 0)
        if width > 1 and _first_full(rows, width) is not None:
            shares[mark] = count / len(rows)
    best = max(shares, key=lambda mark: (shares[mark], mark == default), default="")
    return best if best and shares[best] >= _MOSTLY / 2 else ""


def _count(line: str, delimiter: str) -> int:
    """Return the number of values in a line that are not empty."""
    return sum(bool(value.strip()) for row in _rows([line], delimiter) for value in row)


def _rows(lines: Sequence[str], delimiter: str) -> list[Row]:
    """Return the rows of some lines that are not blank; none where they cannot be parsed."""
    try:
        if delimiter == SPACES:
            plain = (line.replace("\t", " ").strip() for line in lines)
            return [row for row in csv.reader(plain, delimiter=" ", skipinitialspace=True) if row]
        return [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return []


def find_table(lines: Sequence[str], delimiter: str, path: str) -> Table:
    """Find the table in the first lines of a file.

    Parameters
    ----------
    lines : sequence of str
        The first lines, with their ends.
    delimiter : str
        What separates values.
    path : str
        The file's name in messages.

    Examples
    --------
    >>> found = find_table(["Sales in May\\n", "\\n", "town,sold,sold,\\n", "Bern,3,4,\\n"], ",", "sales.csv")
    >>> found.names, found.above, found.empty
    (['town', 'sold', 'sold_2', 'column4'], 2, frozenset({'column4'}))
    """
    placed = _placed(lines, delimiter, path)
    rows = [row for _, row in placed]
    width = Counter(len(row) for row in rows[1 : 1 + _MOST_ABOVE + _LOOKED]).most_common(1)[0][0] if rows[1:] else 0
    at = _header(rows, width)
    header, body = rows[at], rows[at + 1 : at + 1 + _LOOKED]
    said = []
    above = placed[at][0] - 1 if at else 0
    if above:
        which = "line 1 is" if above == 1 else f"lines 1 to {above} are"
        said.append(f"{path}: {which} above the table and not read (the first: {_title(lines[0], delimiter)!r}).")
    if len(header) > 1 and body and all(len(row) == len(header) + 1 for row in body):
        # R names its rows and not the column of their names; others end each row with a delimiter.
        header = [*header, ""] if all(not row[-1].strip() for row in body) else ["", *header]
    names, renamed = _names(header)
    said += [f"{path}: {one}" for one in renamed]
    unused = {
        name
        for k, (name, given) in enumerate(zip(names, header, strict=True))
        if not given.strip() and body and all(len(row) <= k or not row[k].strip() for row in body)
    }
    padded = delimiter != SPACES and any(_is_padded(row) for row in rows[at : at + 1 + _LOOKED])
    return Table(names, above, placed[at][0], frozenset(unused), padded, tuple(said))


def _title(line: str, delimiter: str) -> str:
    return " ".join(line.split()).rstrip(delimiter)[:40]


def _placed(lines: Sequence[str], delimiter: str, path: str) -> list[tuple[int, Row]]:
    """Return the first rows that are not blank, each with the number of lines up to its end."""
    found: list[tuple[int, Row]] = []
    text = [line.replace("\t", " ").strip() for line in lines] if delimiter == SPACES else lines
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=delimiter == SPACES)
    try:
        for row in reader:
            if row:
                found.append((reader.line_num, row))
            if len(found) > _MOST_ABOVE + 2 * _LOOKED:
                break
    except csv.Error:
        if not found:
            raise BadData(wanted(path, "a header line", "one that cannot be read")) from None
    if not found:
        raise BadData(wanted(path, "a header line", "blank lines only"))
    return found


def _header(rows: Sequence[Row], width: int) -> int:
    """Return which row is the header: the first, unless it is a title or a comment above a table."""
    first = rows[0]
    title = sum(bool(value.strip()) for value in first) < 2
    comment = first[0].lstrip().startswith("#") and len(first) != width
    if width < 2 or not (title or comment):
        return 0
    return _first_full(rows, width) or 0


def _first_full(rows: Sequence[Row], width: int) -> int | None:
    """Return the first row of a width that is a header: at least two names, none of them a number."""
    for k, row in enumerate(rows[: _MOST_ABOVE + 1]):
        if len(row) == width and sum(bool(value.strip()) for value in row) >= 2:
            named = not row[0].lstrip().startswith("#") and not any(NUMBER.fullmatch(value) for value in row)
            return k if named and k + 1 < len(rows) else None
    return None


def _names(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return one name for each column, and a sentence about each name that was given twice."""
    given = [name.strip() for name in header]
    taken, used, names, said = set(given), set[str](), list[str](), list[str]()
    times: Counter[str] = Counter()
    for k, name in enumerate(given):
        new = name or f"column{k + 1}"
        if not name and new not in taken:
            taken.add(new)
        elif not name or name in used:
            count = max(2, times[new])
            while f"{new}_{count}" in taken:
                count += 1
            times[new] = count + 1
            new = f"{new}_{count}"
            taken.add(new)
            if name:
                said.append(f"more than one column is called {name!r}; column {k + 1} is {new!r} here.")
        used.add(new)
        names.append(new)
    return names, said


def _is_padded(row: Row) -> bool:
    return any(value != value.strip(" ") for value in row)


def looks_like_data(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether the first line holds a number, as no name of a column does.

    Examples
    --------
    >>> looks_like_data(["5.1,3.5,setosa"], ","), looks_like_data(["length,width,2024 sales"], ",")
    (True, False)
    """
    rows = _rows(lines[:1], delimiter)
    return bool(rows) and any(NUMBER.fullmatch(name) for name in rows[0])


def tidy(text: bytes, delimiter: str, *, padded: bool) -> bytes:
    """Return whole rows without spaces around values, and with a tab in place of a run of spaces that separates them.

    Lines stay where they are, as do spaces and line ends inside quotation marks, but for those at their ends.

    Examples
    --------
    >>> tidy(b'a , " b c " ,d \\n', ",", padded=True)
    b'a,"b c",d\\n'
    >>> tidy(b' 31   "New  York" \\n', " ", padded=False)
    b'31\\t"New  York"\\n'
    """
    if delimiter != SPACES and not padded:
        return text
    gap = b" \t" if delimiter == SPACES else b" "  # elsewhere a tab is an empty value, or part of one
    mark = re.escape(delimiter.encode())
    between = re.compile(rb"[ \t]+" if delimiter == SPACES else rb" *(%b) *" % mark)
    ends = re.compile(rb"(\n)[%b]+|[%b]+(\r?\n)" % (gap, gap))
    put = b"\t" if delimiter == SPACES else rb"\1"
    parts = _QUOTED.split(text) if b'"' in text else [text]
    parts[::2] = [ends.sub(rb"\1\2", between.sub(put, part)) for part in parts[::2]]
    parts[1::2] = [b'"' + part[1:-1].strip(gap) + b'"' for part in parts[1::2]]
    return b"".join(parts).strip(gap)
