"""`tally evaluate`: measure predictions against the true classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import argument, option
from tallybayes.cli.options import DisplayOptions, InputOptions
from tallybayes.cli.validate import Require, require, required_figures
from tallybayes.errors import BadData, wanted

if TYPE_CHECKING:
    from tallybayes import sources
    from tallybayes.evaluation import Confusion, Evaluation

_ANSWER = "predicted"


@example(
    "tally evaluate weather.tally weather.csv",
    "tally predict weather.tally weather.csv -o answers.csv && tally evaluate answers.csv --label play",
    "tally evaluate answers.csv --label play --positive yes --costs '0,5;1,0'",
)
def evaluate(
    inputs: InputOptions,
    display: DisplayOptions,
    data: list[str] | None = argument(
        None, "[MODEL] DATA", "A model and labelled rows; or rows with 'predicted' or P(class) columns."
    ),
    label: str | None = option(None, "--label -l NAME", "The column that holds the true class."),
    weight: str | None = option(None, "--weight --weights NAME", "The column that holds the weights of the rows."),
    positive: str | None = option(None, "--positive CLASS", "The positive class, of two."),
    costs: str | None = option(None, "--costs C", "Costs, decisions by true classes, as in '0,5;1,0'."),
    require_: Require = None,
) -> None:
    """Evaluate predictions, or a model on other rows.

    Prints accuracy, sensitivity, specificity, log-loss, calibration and ROC. With a model, its predictions for the
    labelled rows are evaluated. Without, those in the file, written by 'tally predict' or another program: columns
    P(class) with the probability of each class, or a column 'predicted' with the class alone.
    """
    from tallybayes.cli.inputs import open_inputs
    from tallybayes.cli.outputs import show
    from tallybayes.cli.parsing import costs_of

    limits = required_figures(require_)
    how = {"costs": costs_of(costs), "positive": positive}
    model, files = inputs.split_model(data)
    with open_inputs(files, inputs) as rows:
        if model is not None:
            found: Evaluation | Confusion = _of_model(model, rows, label, weight, how)
        else:
            found = rows.work(lambda source: _of_file(source, label, weight, how))
    show(found, display)
    require(found, limits)


def _of_model(path: str, rows: Any, label: str | None, weight: str | None, how: dict[str, Any]) -> Evaluation:
    import numpy as np

    from tallybayes import evaluation
    from tallybayes.cli.inputs import load_model
    from tallybayes.cli.parsing import class_of
    from tallybayes.cli.training import label_of
    from tallybayes.sources.column_readings import with_class

    model = load_model(path)
    how["positive"] = class_of(model, how["positive"], "--positive")

    def work(source: sources.Source) -> Evaluation:
        name = label_of(source, label or model.schema.label)
        source = with_class(source, name)
        true: list[Any] = []
        weights: list[Any] = []
        probabilities = []
        for batch in source:
            _check_memory(model, len(true) + batch.num_rows)
            true += batch.column(name).to_pylist()
            probabilities.append(model.predict_proba(batch, threads=rows.inputs.threads))
            weights += [] if weight is None else _column(batch, weight, source).to_pylist()
        if not true:
            raise BadData(wanted(source.name, "rows to evaluate", "none"))
        p = np.concatenate(probabilities)
        return evaluation.evaluate(true, p, model.classes, weights=weights or None, **how)

    found: Evaluation = rows.like(model).work(work)
    return found


def _check_memory(model: Any, rows: int) -> None:
    """Raise if the probabilities of all classes would not fit into memory."""
    from tallybayes import engines

    C = len(model.classes)
    needed = 8 * (3 * rows * C + C**2)  # probabilities, of batches and of all, their squares, and the table of mistakes
    got = f"the probabilities of {rows:,} rows and {C:,} classes"
    engines.check_memory(needed, f"label {model.schema.label!r}", got, "Evaluate some of the rows")


def _of_file(
    source: sources.Source, label: str | None, weight: str | None, how: dict[str, Any]
) -> Evaluation | Confusion:
    import numpy as np
    import pyarrow as pa

    from tallybayes import evaluation
    from tallybayes.cli.parsing import as_type
    from tallybayes.cli.training import label_of
    from tallybayes.sources.column_readings import with_class

    name = label_of(source, label)
    source = with_class(source, name)
    table = pa.Table.from_batches(list(source), source.schema)
    if not table.num_rows:
        raise BadData(wanted(source.name, "rows to evaluate", "none"))
    kind = source.schema.field(name).type
    weights = None if weight is None else _column(table, weight, source).to_pylist()
    columns = {n[2:-1]: n for n in table.column_names if n.startswith("P(") and n.endswith(")")}
    true = table.column(name).to_pylist()
    if not columns and _ANSWER not in table.column_names:
        want = f"columns P(class), or one named {_ANSWER!r}"
        raise BadData(wanted(source.name, want, "neither", "Write them with 'tally predict', or evaluate with a MODEL"))
    if not columns:
        predicted = table.column(_ANSWER).to_pylist()
        return evaluation.confusion(true, predicted, sorted({*true, *predicted}, key=str), weights=weights)
    classes = [as_type(text, kind, f"{source.name}, column {full!r}") for text, full in columns.items()]
    p = np.column_stack([table.column(full).to_numpy() for full in columns.values()])
    if how["positive"] is not None:
        how = how | {"positive": as_type(how["positive"], kind, "--positive")}
    return evaluation.evaluate(true, p, classes, weights=weights, **how)


def _column(batch: Any, name: str, source: sources.Source) -> Any:
    from tallybayes.errors import did_you_mean

    if name not in source.schema.names:
        raise BadData(
            wanted(source.name, f"a column {name!r}", "none of that name", did_you_mean(name, source.schema.names))
        )
    return batch.column(name)
