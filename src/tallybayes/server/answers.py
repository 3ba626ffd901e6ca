"""Answers to rows: predictions and reasons as JSON, and predictions as columns of a table."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.csv

from tallybayes import engines
from tallybayes.display.quote_formulas import quote_formulas
from tallybayes.display.tables import plain
from tallybayes.engines.threads import in_threads
from tallybayes.predictions import Answers
from tallybayes.server.parts import Buffer, Parts
from tallybayes.server.rows import ARROW
from tallybayes.server.scoring_model import ScoringModel
from tallybayes.sources.source import Source

__all__ = ["LEVEL", "explanation", "predictions", "table_answer"]

LEVEL = 0.95  # the probability that an interval holds, unless the request has another
_SLICE_ROWS = 1 << 15  # each costs about a millisecond beside its rows: fewer rows would take longer
Rows = list[dict[str, Any]]


def predictions(published: ScoringModel, rows: Rows | pa.Table, level: float = LEVEL) -> list[dict[str, Any]]:
    """Return the most probable class of each row, with its interval, and the probability of every class.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", alpha=1)
    >>> [answer] = predictions(ScoringModel(model, 0, ""), [{"x": "p"}])
    >>> answer["prediction"], round(answer["probabilities"]["no"], 4)
    ('no', 0.6667)
    """
    if not len(rows):
        return []
    found = published.model.predict_interval(rows, level=level)
    best = found.probability.argmax(axis=1).tolist()
    names, values = published.class_names, published.class_values
    parts = zip(
        best, found.probability.tolist(), found.low.tolist(), found.high.tolist(), found.rows.tolist(), strict=True
    )
    return [
        {
            "prediction": values[c],
            "probabilities": dict(zip(names, p, strict=True)),
            "interval": [low[c], high[c]],
            "rows_behind": behind[c] if behind[c] < _MOST else None,
        }
        for c, p, low, high, behind in parts
    ]


_MOST = float("inf")


def explanation(published: ScoringModel, row: dict[str, Any], of: Any = None) -> dict[str, Any]:
    """Return the contributions to one prediction, the counts behind them, and the smallest change that flips it."""
    found = published.model.explain(row, of=of)
    change = found.counterfactual
    said: dict[str, Any] = found.to_dict()
    return said | {
        "rows": plain(found.rows),
        "change": None if change is None else change.to_dict(),
    }


def table_answer(
    published: ScoringModel, rows: Source, form: str, *, only: bool, level: float | None, raw: bool = False
) -> tuple[int, list[Buffer]]:
    """Return the number of rows, and predictions as columns beside them, or alone, in the form in which they came.

    In a csv, which a spreadsheet may open, formulas are quoted unless `raw` is asked for.
    """
    threads = engines.default_threads(None)
    slices = _slices(rows)
    first = list(islice(slices, 2))
    # Several slices are scored at a time, one thread each, while others are still read; a single one by all threads.
    answers = _answers(published, level, 1 if len(first) > 1 else threads)
    fields = [] if only else [one for one in rows.schema if one.name not in answers.schema.names]
    schema, quoted = pa.schema([*fields, *answers.fields]), form != ARROW and not raw
    if quoted:
        names = quote_formulas(pa.array(schema.names, pa.string())).to_pylist()
        schema = pa.schema([one.with_name(name) for one, name in zip(schema, names, strict=True)])

    def work(batch: pa.RecordBatch, before: int) -> pa.RecordBatch:
        columns = [*(batch.column(one.name) for one in fields), *answers.of(batch, before).columns]
        return pa.RecordBatch.from_arrays(list(map(quote_formulas, columns)) if quoted else columns, schema=schema)

    sink = Parts() if form == ARROW else io.BytesIO()  # the writer of csv uses its buffer again, so that it is copied
    open_writer = pa.ipc.new_stream if form == ARROW else pa.csv.CSVWriter
    with open_writer(pa.PythonFile(sink, "w"), schema) as writer:
        n = 0
        for batch in in_threads(chain(first, slices), work, threads):
            n += batch.num_rows
            writer.write_batch(batch)
    return n, sink.all() if isinstance(sink, Parts) else [sink.getvalue()]


def _slices(rows: Source) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield the batches in slices, so that threads end at about the same time, and the number of rows before each."""
    before = 0
    for batch in rows:
        for start in range(0, batch.num_rows, _SLICE_ROWS):
            yield batch.slice(start, _SLICE_ROWS), before + start
        before += batch.num_rows


def _answers(published: ScoringModel, level: float | None, threads: int) -> Answers:
    numbers = "predict_proba" if level is None else "predict_interval"
    options: dict[str, Any] = {"threads": threads} | ({} if level is None else {"level": level})
    return Answers(published.model, ("predict", numbers), {numbers: options}, "the request")
