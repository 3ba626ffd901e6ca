"""How rows are read, whatever the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tallybayes.errors import BadOption, wanted


@dataclass(frozen=True)
class ReadOptions:
    """How rows are read: the options that `fit` and all functions that take rows share."""

    missing_values: Sequence[str] = ()  # texts that stand for a missing value
    errors: str = "strict"  # refuse bytes that are not UTF-8, or replace them by U+FFFD
    bad_lines: Literal["error", "skip"] = "error"  # refuse lines of text files that are no rows, or skip and count them
    where: str | None = None  # the rows to read: comparisons of columns with values
    connection: Any = None  # the database that answers a query

    def __post_init__(self) -> None:
        given = self.missing_values
        object.__setattr__(self, "missing_values", (given,) if isinstance(given, str) else tuple(given))
        if self.errors not in ("strict", "replace"):
            raise BadOption(wanted("errors", "'strict' or 'replace'", repr(self.errors)))
        if self.bad_lines not in ("error", "skip"):
            raise BadOption(wanted("bad_lines", "'error' or 'skip'", repr(self.bad_lines)))


PLAIN_OPTIONS = ReadOptions()
