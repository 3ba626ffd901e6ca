"""Parameters of a model as tables of SQL: named queries of constants, or real tables with INSERTs before the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.export.sql_dialect import Dialect, number

__all__ = ["MOST_INLINE", "Parameters", "Script", "Where", "where"]

Where: TypeAlias = Literal["auto", "inline", "tables"]
MOST_INLINE = 100_000  # numbers in a query by default: some two megabytes, which databases parse in a second
_MOST_IN_QUERY = 500_000  # numbers in one statement: databases parse more only slowly, or not at all
_FEW = 1_000  # numbers of a term that stay in the query in any case
_INSERTED = 500  # rows of an INSERT


class Script(str):
    """SQL: the query, after the statements that make its tables of parameters, if it has any.

    Attributes
    ----------
    statements : tuple of str
        The statements one by one; the last is the query, and the others are run once.

    Examples
    --------
    >>> script = Script(["CREATE TABLE t (x INT)", "SELECT x FROM t"])
    >>> str(script) == script, script.statements[-1]
    (True, 'SELECT x FROM t')
    """

    statements: tuple[str, ...]

    def __new__(cls, statements: Sequence[str]) -> Script:
        """Join statements."""
        made = super().__new__(cls, ";\n\n".join(statements))
        made.statements = tuple(statements)
        return made


def where(option: Any) -> Where:
    """Return the option that says where parameters are."""
    if not isinstance(option, str) or option not in get_args(Where):
        raise BadOption(wanted("parameters", f"one of {', '.join(get_args(Where))}", repr(option)))
    return cast(Where, option)


@dataclass
class Parameters:
    """The tables of a query's parameters.

    Attributes
    ----------
    sql : Dialect
        The language.
    where : {"auto", "inline", "tables"}
        Whether they are in the query or before it.
    prefix : str
        The first part of the names of tables.
    total : int
        The numbers of the whole model.
    """

    sql: Dialect
    where: Where
    prefix: str
    total: int
    statements: list[str] = field(default_factory=list)
    queries: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.where == "inline" and self.total > _MOST_IN_QUERY:
            do = "Pass parameters='tables'"
            want = f"at most {_MOST_IN_QUERY:,} numbers in a query"
            raise BadOption(wanted("export to SQL", want, f"{self.total:,}", do))

    def outside(self, numbers: int) -> bool:
        """Return whether a term with this many numbers has a table of its own."""
        if self.where == "auto":
            return self.total > MOST_INLINE and numbers > _FEW
        return self.where == "tables"

    def table(self, k: int, keys: Mapping[str, tuple[str, Sequence[str]]], amounts: Mapping[str, Floats]) -> str:
        """Add a table of parameters and return its name.

        Parameters
        ----------
        k : int
            The number of the term.
        keys : mapping of str to (str, sequence of str)
            The columns that rows are found by: type and literals of each.
        amounts : mapping of str to ndarray, shape (rows,)
            The columns of numbers.
        """
        rows = [
            f"({', '.join((*key, *map(number, some)))})"
            for key, some in zip(
                zip(*(literals for _, literals in keys.values()), strict=True),
                zip(*amounts.values(), strict=True),
                strict=True,
            )
        ]
        columns = {**{name: type_ for name, (type_, _) in keys.items()}, **dict.fromkeys(amounts, self.sql.double)}
        if not self.outside(sum(len(one) for one in amounts.values())):
            name = f"parameters_{k}"
            self.queries.append((name, self._constants(columns, rows)))
            return name
        name = self.sql.name(*self.prefix.split(".")[:-1], f"{self.prefix.split('.')[-1]}_{k + 1}")
        listed = ", ".join(f"{column} {type_}" for column, type_ in columns.items())
        self.statements.append(f"CREATE TABLE {name} ({listed})")
        for at in range(0, len(rows), _INSERTED):
            values = ",\n  ".join(rows[at : at + _INSERTED])
            self.statements.append(f"INSERT INTO {name} ({', '.join(columns)}) VALUES\n  {values}")
        return name

    def _constants(self, columns: Mapping[str, str], rows: Sequence[str]) -> str:
        # The first row has no key, so nothing finds it; it names the types, also where there are no other rows.
        nothing = [f"CAST(NULL AS {type_})" for type_ in columns.values()]
        if self.sql.key == "bigquery":
            first = ", ".join(f"{one} AS {name}" for one, name in zip(nothing, columns, strict=True))
            return f"SELECT *\n  FROM UNNEST([STRUCT({first}),\n    " + ",\n    ".join(rows) + "])"
        lines = ",\n    ".join([f"({', '.join(nothing)})", *rows])
        return f"SELECT *\n  FROM (VALUES\n    {lines}\n  ) AS listed({', '.join(columns)})"
