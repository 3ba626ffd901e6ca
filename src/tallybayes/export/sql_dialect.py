"""SQL of each dialect: sqlglot quotes names and values, and spells what databases spell differently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from tallybayes.cached_property import cached_property
from tallybayes.errors import BadOption, did_you_mean, wanted

if TYPE_CHECKING:
    from sqlglot import Expression

__all__ = ["DIALECTS", "Dialect", "number"]

DIALECTS = ("duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark")
_OTHER_NAMES = {"postgresql": "postgres", "spark sql": "spark", "sparksql": "spark"}
_BACKSLASHED = ("mysql", "bigquery", "snowflake", "spark")  # a backslash in a string is an escape


_MOST_ARGUMENTS = 100  # of a function in SQLite, by default 127
# The types of values; a boolean is a whole number, and a time a date, so these come first.
_KINDS = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", datetime: "TIMESTAMP", date: "DATE"}


class Dialect:
    """How one database spells names, values and functions.

    Examples
    --------
    >>> dialect = Dialect("sqlite")
    >>> dialect.name("a"), dialect.value("it's"), dialect.greatest("a", "b")
    ('"a"', "'it''s'", 'MAX(a, b)')
    """

    def __init__(self, name: str) -> None:
        self.key = _OTHER_NAMES.get(name.lower(), name.lower()) if isinstance(name, str) else ""
        if self.key not in DIALECTS:
            do = did_you_mean(str(name), DIALECTS)
            raise BadOption(wanted("dialect", f"one of {', '.join(DIALECTS)}", repr(name), do))
        try:
            import sqlglot  # noqa: F401
        except ImportError:
            do = "Install it: pip install 'tallybayes[export]'"
            raise BadOption(wanted("export to SQL", "the package sqlglot", "none", do)) from None

    def name(self, *parts: str) -> str:
        """Return a quoted name; several parts are joined by dots."""
        from sqlglot import exp

        for part in parts:
            if not part or "\0" in part:
                raise BadOption(wanted("export to SQL", "names of columns and tables", repr(part), "Rename it"))
        if self.key == "bigquery":  # it escapes as in strings
            escaped = (part.replace("\\", "\\\\").replace("`", "\\`").replace("\n", "\\n") for part in parts)
            return ".".join(f"`{part}`" for part in escaped)
        return ".".join(exp.to_identifier(part, quoted=True).sql(dialect=self.key) for part in parts)

    def value(self, value: Any) -> str:
        """Return a value as a literal: text, a number, a boolean, a date or a time."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return number(value)
        if isinstance(value, date):
            text = self._text(value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat())
            kind = "TIMESTAMP" if isinstance(value, datetime) else "DATE"
            return text if self.key == "sqlite" else f"CAST({text} AS {self._type(kind)})"
        return self._text(str(value))

    def _text(self, text: str) -> str:
        if "\0" in text:
            raise BadOption(wanted("export to SQL", "values without zero bytes", repr(text)[:40], "Clean the column"))
        if self.key in _BACKSLASHED:
            text = text.replace("\\", "\\\\")
            if self.key == "bigquery":
                return "'" + text.replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"
        if self.key == "spark":
            return "'" + text.replace("'", "\\'") + "'"
        return "'" + text.replace("'", "''") + "'"

    def _type(self, kind: str) -> str:
        from sqlglot import exp

        return str(exp.DataType.build(kind).sql(dialect=self.key))

    @cached_property
    def double(self) -> str:
        """The type of double precision."""
        return self._type("DOUBLE")

    @cached_property
    def integer(self) -> str:
        """The type of whole numbers, to cast to."""
        return "SIGNED" if self.key == "mysql" else self._type("INT")

    def to_text(self, column: str) -> str:
        """Return a column as text."""
        return f"CAST({column} AS {'CHAR' if self.key == 'mysql' else self._type('TEXT')})"

    def to_number(self, column: str) -> str:
        """Return a column as doubles, NULL where it is NaN."""
        cast = f"CAST({column} AS {self.double})"
        if self.key in ("sqlite", "mysql"):  # they have no NaN
            return cast
        if self.key == "bigquery":
            return f"IF(IS_NAN({cast}), NULL, {cast})"
        return f"NULLIF({cast}, CAST('NaN' AS {self.double}))"

    def greatest(self, *values: str) -> str:
        """Return the greatest of some expressions."""
        if len(values) > _MOST_ARGUMENTS:
            parts = (values[at : at + _MOST_ARGUMENTS] for at in range(0, len(values), _MOST_ARGUMENTS))
            return self.greatest(*(self.greatest(*part) for part in parts))
        function = "MAX" if self.key == "sqlite" else "GREATEST"
        return values[0] if len(values) == 1 else f"{function}({', '.join(values)})"

    def least(self, *values: str) -> str:
        """Return the least of some expressions."""
        return f"{'MIN' if self.key == 'sqlite' else 'LEAST'}({', '.join(values)})"

    def replace_all(self, text: str, pattern: str, by: str) -> str:
        """Return a text in which every match of a regular expression is replaced."""
        every = ", 'g'" if self.key in ("duckdb", "postgres") else ""
        return f"REGEXP_REPLACE({text}, {self.value(pattern)}, {self.value(by)}{every})"

    def matches(self, text: str, pattern: str) -> str:
        """Return the condition that a regular expression, with its anchors, matches a text."""
        literal = self.value(pattern)
        if self.key == "postgres":
            return f"{text} ~ {literal}"
        if self.key == "spark":
            return f"{text} RLIKE {literal}"
        function = {"duckdb": "REGEXP_MATCHES", "bigquery": "REGEXP_CONTAINS"}.get(self.key, "REGEXP_LIKE")
        return f"{function}({text}, {literal})"

    def group(self, at: int) -> str:
        """Return the mark of a group in the text that replaces a match."""
        return f"${at}" if self.key == "spark" else f"\\{at}"

    def code_point(self, code: int) -> str:
        """Return a character in a regular expression."""
        if self.key == "postgres":
            return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
        return f"\\x{{{code:x}}}"

    @property
    def row_id(self) -> str:
        """The expression of a number for each row."""
        if self.key == "spark":
            return "MONOTONICALLY_INCREASING_ID()"
        return f"ROW_NUMBER() OVER ({'ORDER BY NULL' if self.key == 'snowflake' else ''})"

    def exact(self, column: str) -> str:
        """Return a column of text that is compared letter by letter."""
        if self.key == "mysql":  # else 'A' equals 'á'
            return f"CONVERT({column} USING utf8mb4) COLLATE utf8mb4_bin"
        return column

    def type_of(self, values: Sequence[Any]) -> str:
        """Return the type of some values."""
        some = next((value for value in values if value is not None), "")
        for kind, name in _KINDS.items():
            if isinstance(some, kind):
                return self._type(name)
        return self._type("TEXT")

    def check(self, statement: str) -> Expression:
        """Return the statement parsed by sqlglot; raise if it is none."""
        import sqlglot

        return sqlglot.parse_one(statement, dialect=self.key)

    def once(self, step: str) -> str:
        """Return what makes a named query run once: some databases would copy its expressions to where it is used."""
        # Rows are numbered in the first step, so it must run once; so must what is a list in every row.
        copied = self.key in ("sqlite", "postgres") or (self.key == "duckdb" and step in ("lists", "numbered"))
        return "MATERIALIZED " if copied else ""

    @property
    def has_lists(self) -> bool:
        """Whether numbers are looked up in constant lists; elsewhere by nested cases."""
        return self.key == "duckdb"  # it works through columns, where a case costs as much as a whole column


def number(x: float) -> str:
    """Return a double as a literal that every database takes for one: without exponent it might be a decimal.

    Examples
    --------
    >>> number(0.1), number(-2.0), number(1e-300)
    ('0.1e0', '-2.0e0', '1e-300')
    """
    if not math.isfinite(x):
        raise ValueError(x)
    text = repr(float(x))
    return text if "e" in text else f"{text}e0"
