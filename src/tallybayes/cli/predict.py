"""`tally predict`: predict the class of each row, batch by batch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option
from tallybayes.cli.options import Data, InputOptions, ModelFile, OutputOptions, named_or_matching

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.model import Model

_CELLS = 1 << 24  # probabilities at a time: with thousands of classes, those of a batch would fill the memory


@example(
    "tally predict weather.tally days.csv",
    "tally predict weather.tally days.csv --only -o answers.csv",
    "tally predict weather.tally days.csv --threshold yes=0.3 --interval 0.95 --json",
)
def predict(
    model: ModelFile,
    inputs: InputOptions,
    outputs: OutputOptions,
    data: Data = None,
    only: bool = option(False, "--only", "Write the predictions without the input columns."),
    columns: list[str] | None = option(
        None, "--columns NAME", "An input column or glob to write beside the predictions; by default all. Repeatable."
    ),
    costs: str | None = option(None, "--costs C", "Costs, decisions by true classes, as in '0,5;1,0'."),
    threshold: list[str] | None = option(
        None, "--threshold CLASS=P", "Predict a class from probability P on. Repeatable."
    ),
    abstain: float | None = option(None, "--abstain P", "Predict nothing below this probability."),
    confidence: float | None = option(
        None,
        "--confidence LEVEL",
        "Predict nothing where the data do not settle the most probable class at this level.",
    ),
    interval: float | None = option(None, "--interval LEVEL", "Add the bounds of each probability."),
) -> None:
    """Predict the class of each row, with the probability of each class.

    Works batch by batch, so the rows need not fit into memory. Adds a column 'predicted' and a column P(class) for
    each class. A label column in the rows is ignored. On a terminal the predictions come first, then the input columns
    that fit.
    """
    import pyarrow as pa

    from tallybayes.cli.inputs import load_model, open_inputs
    from tallybayes.cli.outputs import answers_fit, check_free, write_rows
    from tallybayes.cli.parsing import costs_of, thresholds_of
    from tallybayes.inference.uncertainty import z_of
    from tallybayes.predictions import Answers

    loaded = load_model(model)
    how: dict[str, Any] = {
        "costs": costs_of(costs),
        "threshold": thresholds_of(loaded, threshold),
        "abstain": abstain,
        "confidence": confidence,
        "threads": inputs.threads,
    }
    if interval is not None:
        z_of(interval, "--interval")  # refuses what is no level
    if outputs.output is not None:
        check_free(outputs.output, force=outputs.force)

    # A file whose types widen late is read again from its first row, but rows written to a pipe cannot be taken back.
    written, to_terminal = 0, outputs.output is None and not outputs.json and sys.stdout.isatty()
    to_pipe = outputs.output is None and not to_terminal

    def work(source: sources.Source) -> None:
        _check(source, loaded)
        numbers = "predict_proba" if interval is None else "predict_interval"
        options = {
            "predict": how,
            numbers: {"threads": inputs.threads} | ({} if interval is None else {"level": interval}),
        }
        answers = Answers(loaded, ("predict", numbers), options, source.name)
        beside = [] if only else _chosen(source.schema.names, columns)
        inputs_ = [source.schema.field(name) for name in beside]
        short = to_terminal and interval is None and not answers_fit(answers.fields, loaded.classes)
        called = "P(predicted)" if "probability" in beside else "probability"
        fields = [answers.fields[0], pa.field(called, pa.float64())] if short else answers.fields
        schema = pa.schema([*fields, *inputs_] if to_terminal else [*inputs_, *fields])

        def rows() -> Iterator[Any]:
            nonlocal written
            skip, read = written if to_pipe else 0, 0
            for batch in source:
                read += batch.num_rows
                skip, batch = max(0, skip - batch.num_rows), batch.slice(skip)
                first, rows = read - batch.num_rows, max(1, _CELLS // len(loaded.classes))
                for at in range(0, batch.num_rows, rows):
                    part = batch.slice(at, rows)
                    own, found = [part.column(name) for name in beside], answers.of(part, first + at)
                    new = _most_probable(found, loaded) if short else found.columns
                    yield pa.RecordBatch.from_arrays([*new, *own] if to_terminal else [*own, *new], schema=schema)
                    written += part.num_rows

        told = [f"With -o, the probabilities of all {len(loaded.classes):,} classes are written."] if short else []
        write_rows(rows(), schema, outputs, continued=to_pipe and written > 0, notes=told)

    with open_inputs(data, inputs) as rows:
        rows.like(loaded).work(work)


def _most_probable(found: Any, model: Model) -> list[Any]:
    """Return the predicted class of each row and its probability alone."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    predicted, *columns = found.columns
    place = pc.index_in(predicted, model.evidence.classes.array.cast(predicted.type))
    at = place.fill_null(0).to_numpy(zero_copy_only=False)
    p = np.take_along_axis(np.column_stack([one.to_numpy() for one in columns]), at[:, None], axis=1)[:, 0]
    return [predicted, pa.array(p, mask=place.is_null().to_numpy(zero_copy_only=False))]


def _chosen(names: list[str], given: list[str] | None) -> list[str]:
    """Return the input columns of these names and globs; all if none is given."""
    if given is None:
        return names
    chosen = named_or_matching(given, names, "--columns", "input columns or globs")
    return [name for name in names if any(name == one or fnmatchcase(name, one) for one in chosen)]


def _check(source: sources.Source, model: Model) -> None:
    """Raise if the rows have none of the model's columns."""
    from tallybayes.errors import BadData, did_you_mean, wanted

    columns, have = model.schema.inputs, source.schema.names
    if not {*columns, *model.schema.columns} & set(have):
        do = did_you_mean(have[0], columns)
        raise BadData(wanted(source.name, "the columns of the model", f"none of them but {', '.join(have[:5])}", do))
