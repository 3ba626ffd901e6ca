"""Methods of `Model` that write it: its file, JSON, a page, SQL and ONNX."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

    from tallybayes.export.sql_parameters import Script
    from tallybayes.model import Model

__all__ = ["save", "to_html", "to_json", "to_onnx", "to_sql"]


def save(self: Model, path: str | os.PathLike[str]) -> None:
    """Write the model to one safe file; equal models give equal bytes."""
    from tallybayes.storage.model_file import save

    save(self, path)


def to_json(self: Model) -> str:
    """Return what is needed to score rows as JSON; `tallybayes.from_json` and tally-score.js read it.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
    >>> tb.from_json(model.to_json()).predict_proba([{"x": "p"}]).round(4)
    array([[0.6667, 0.3333]])
    """
    from tallybayes.export.json import to_json
    from tallybayes.export.scorecard import scorecard_of

    return to_json(scorecard_of(self))


def to_html(self: Model) -> str:
    """Return one offline page that scores what a person types in, and says why.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"outlook": ["sunny", "rainy"], "play": ["no", "yes"]}, "play")
    >>> model.to_html().splitlines()[0]
    '<!DOCTYPE html>'
    """
    from tallybayes.export.html import to_html
    from tallybayes.export.scorecard import scorecard_of

    return to_html(scorecard_of(self))


def to_sql(
    self: Model,
    dialect: str = "duckdb",
    table: str = "rows",
    *,
    keep: Sequence[str] | None = None,
    contributions: bool = False,
    parameters: str = "auto",
    prefix: str = "tally",
) -> Script:
    """Return a query that scores the rows of a table.

    It gives the class and P(class) beside each row.

    Parameters
    ----------
    dialect : {"duckdb", "sqlite", "postgres", "mysql", "bigquery", "snowflake", "spark"}
        The language of the database.
    table : str
        The table; a schema before it is set off by a dot.
    keep : sequence of str, optional
        The table's columns to put beside the answers, such as a key; by default those of the model.
    contributions : bool
        Whether to add what each column adds to the score of each class, as "column: class".
    parameters : {"auto", "inline", "tables"}
        Where the numbers of the model are: in the query, or in tables that statements before the query make. By
        default they are in the query, up to 100,000 of them.
    prefix : str
        The first part of the names of such tables; a schema before it is set off by a dot.

    Returns
    -------
    Script
        A str. Its `statements` are the query alone, or the statements that make the tables and then the query.

    Examples
    --------
    >>> import duckdb, tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
    >>> rows = duckdb.sql("SELECT 'p' AS x")
    >>> duckdb.sql(model.to_sql("duckdb", "rows")).select('x, predicted, round("P(no)", 4)').fetchall()
    [('p', 'no', 0.6667)]
    """
    from tallybayes.export.scorecard import scorecard_of
    from tallybayes.export.sql import to_sql

    return to_sql(
        scorecard_of(self),
        dialect,
        table,
        keep=keep,
        contributions=contributions,
        parameters=parameters,
        prefix=prefix,
    )


def to_onnx(self: Model) -> ModelProto:
    """Return an ONNX graph in double precision, with an input (n, 1) for each column.

    Values that are text, dates or times are strings, and an empty string is a missing one; all other columns are
    doubles, and NaN is missing. Outputs are "label" (n,) and "probabilities" (n, C).

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> [one.name for one in model.to_onnx().graph.output]
    ['label', 'probabilities']
    """
    from tallybayes.export.onnx import to_onnx
    from tallybayes.export.scorecard import scorecard_of

    return to_onnx(scorecard_of(self))
