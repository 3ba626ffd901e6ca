"""How rows are read, whatever the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tallybayes.arguments import one_of
from tallybayes.sources.missing import AUTO, MissingValues, checked
from tallybayes.sources.text_format import TextFormat


@dataclass(frozen=True)
class ReadOptions:
    """How rows are read: the options that `fit` and all functions that take rows share."""

    missing_values: MissingValues = AUTO  # texts that stand for a missing value; by default the usual ones
    errors: str = "strict"  # refuse bytes that are not UTF-8, or replace them by U+FFFD
    bad_lines: Literal["error", "skip"] = "error"  # refuse lines of text files that are no rows, or skip and count them
    where: str | None = None  # the rows to read: comparisons of columns with values
    connection: Any = None  # the database that answers a query
    encoding: str | None = None  # the encoding of a csv file; None to find it in its first bytes
    delimiter: str | None = None  # what separates the values of a csv file; None to find it in its first lines
    header: bool = True  # whether the first line of a csv file names its columns

    @property
    def form(self) -> TextFormat:
        """The form of csv files; bytes to be replaced or skipped are those that are not UTF-8."""
        known = self.encoding is not None or (self.errors == "strict" and self.bad_lines == "error")
        return TextFormat(self.encoding if known else "utf-8", self.delimiter, self.header)

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_values", checked(self.missing_values))
        one_of("errors", self.errors, ("strict", "replace"))
        one_of("bad_lines", self.bad_lines, ("error", "skip"))
        _ = self.form  # raises for what is no encoding and no delimiter


PLAIN_OPTIONS = ReadOptions()
