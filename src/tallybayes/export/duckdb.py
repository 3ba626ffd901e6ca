"""A model as a function of DuckDB, which it calls with columns of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tallybayes.arguments import instance, text
from tallybayes.errors import BadOption, wanted
from tallybayes.model import Model
from tallybayes.predictions import Answers

if TYPE_CHECKING:
    import duckdb

__all__ = ["register_duckdb"]

# The types of DuckDB for the classes of each kind.
_TYPES = {"text": "VARCHAR", "whole numbers": "BIGINT", "booleans": "BOOLEAN", "dates": "DATE", "times": "TIMESTAMP"}


def register_duckdb(connection: duckdb.DuckDBPyConnection, model: Model, name: str = "predict") -> None:
    """Make a function of a DuckDB connection that predicts whole rows: ``SELECT predict(t) FROM t``.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The connection.
    model : Model
        The model; any model, with text and tokenizers of your own.
    name : str
        The name of the function. It returns a struct of "predicted" and a "P(class)" for each class.

    Examples
    --------
    >>> import duckdb, tallybayes as tb
    >>> connection = duckdb.connect()
    >>> tb.register_duckdb(connection, tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y"), "play")
    >>> connection.sql("SELECT play(t).predicted FROM (VALUES ('p'), ('q')) AS t(x)").fetchall()
    [('no',), ('yes',)]
    """
    if not hasattr(connection, "create_function"):
        raise BadOption(wanted("register_duckdb", "a connection of DuckDB", type(connection).__name__))
    text("name", name, "the name of a function")
    answers = Answers(
        instance("model", model, Model, "a Model"), ("predict", "predict_proba"), {"predict_proba": {"threads": 1}}
    )
    kind = _TYPES.get(model.evidence.classes.kind, "DOUBLE")
    fields = {one.name: "DOUBLE" if k else kind for k, one in enumerate(answers.fields)}

    def predict(rows: Any) -> pa.Array:
        whole = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
        batch = pa.RecordBatch.from_arrays(whole.flatten(), names=[one.name for one in whole.type])
        return pa.StructArray.from_arrays(answers.of(batch).columns, fields=answers.fields)

    returned = connection.struct_type({key: connection.type(type_) for key, type_ in fields.items()})
    how: Any = {"type": "arrow", "null_handling": "special"}  # its types want enums, which only its import has
    connection.create_function(name, predict, None, returned, **how)
