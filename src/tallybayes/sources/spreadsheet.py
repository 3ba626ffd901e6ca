"""Spreadsheets: the first sheet of an .xlsx, .xls or .ods file.

It is read as the csv file that it would be saved as.

So money, per cent, dates and markers of missing values are understood as in any other csv file. This is the only module
that knows of python-calamine.
"""

from __future__ import annotations

import csv
import datetime
import io
import warnings
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.errors import BadData, BadOption, LeftOutWarning, wanted
from tallybayes.sources.locations import Place

SHEETS = (".xlsx", ".xls", ".ods")


@dataclass(frozen=True)
class SheetPlace(Place):
    """A spreadsheet whose bytes are those of a csv file."""

    @classmethod
    def of(cls, place: Place) -> SheetPlace:
        """Return the place of a spreadsheet as that of a csv file."""
        return cls(place.name, place.path, place.store, place.member, place.under)

    def stream(self, codec: str | None = None) -> Any:
        """Open the csv text."""
        return pa.BufferReader(self._text)

    def seekable(self, skip: int) -> Any:
        """Open the csv text from byte `skip` on."""
        stream = self.stream()
        stream.seek(skip)
        return stream

    @cached_property
    def _text(self) -> bytes:
        try:
            from python_calamine import CalamineError, CalamineWorkbook
        except ModuleNotFoundError:
            got, do = "no such package", "pip install 'tallybayes[excel]', or save the sheet as csv"
            raise BadOption(wanted(self.name, "the package python-calamine, which reads it", got, do)) from None
        try:
            book = CalamineWorkbook.from_filelike(io.BytesIO(super().stream().read()))
            rows = book.get_sheet_by_index(0).to_python()
        except (CalamineError, IndexError) as error:
            raise BadData(wanted(self.name, "a spreadsheet", f"one that cannot be read ({error})")) from None
        if len(book.sheet_names) > 1:
            first, *others = map(repr, book.sheet_names)
            sentence = f"{self.name}: sheet {first} is read; not {', '.join(others)}. Save another as csv to read it."
            warnings.warn(sentence, LeftOutWarning, stacklevel=2)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([_plain(cell) for cell in row] for row in rows if any(cell != "" for cell in row))
        return out.getvalue().encode()


def _plain(cell: Any) -> str:
    """Return a cell as text: whole numbers without a point, dates as ISO has them, spans of time in seconds.

    Examples
    --------
    >>> _plain(3.0), _plain(2.5), _plain(True), _plain(datetime.datetime(2024, 2, 29))
    ('3', '2.5', 'true', '2024-02-29')
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(sep=" ")
    if isinstance(cell, datetime.timedelta):
        return repr(cell.total_seconds())
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else str(cell)
