"""How rows are read, whatever the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tallybayes.errors import BadOption, wanted

__all__ = ["PLAIN_OPTIONS", "ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """How rows are read: the options that `fit` and all functions that take rows share.

    Attributes
    ----------
    missing_values : sequence of str
        Texts that stand for a missing value.
    errors : {"strict", "replace"}
        Refuse bytes that are not UTF-8, or replace them by U+FFFD.
    bad_lines : {"error", "skip"}
        Refuse lines of text files that are no rows, or skip and count them.
    where : str or None
        The rows to read: comparisons of columns with values.
    connection : str, connection or None
        The database that answers a query.
    """

    missing_values: Sequence[str] = ()
    errors: str = "strict"
    bad_lines: Literal["error", "skip"] = "error"
    where: str | None = None
    connection: Any = None

    def __post_init__(self) -> None:
        given = self.missing_values
        object.__setattr__(self, "missing_values", (given,) if isinstance(given, str) else tuple(given))
        if self.errors not in ("strict", "replace"):
            raise BadOption(wanted("errors", "'strict' or 'replace'", repr(self.errors)))
        if self.bad_lines not in ("error", "skip"):
            raise BadOption(wanted("bad_lines", "'error' or 'skip'", repr(self.bad_lines)))


PLAIN_OPTIONS = ReadOptions()
