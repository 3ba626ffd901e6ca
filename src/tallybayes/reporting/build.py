"""`report`: build the data of a report from rows and an optional model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes import sources
from tallybayes.arguments import text, whole_number
from tallybayes.display.progress import span
from tallybayes.drift.drift import drift
from tallybayes.drift.result import Drift
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, BadOption, wanted
from tallybayes.events.families.bag import BagEvent
from tallybayes.evidence.evidence import Evidence
from tallybayes.explain.histograms import Histogram, histogram
from tallybayes.explain.importance import Importance, importance
from tallybayes.explain.mutual_information import counted_information
from tallybayes.explain.nomogram import Nomogram, nomogram
from tallybayes.explain.number_axis import NumberAxis, find_axis
from tallybayes.explain.tables import Table, prior_table, table
from tallybayes.explain.weight_table import weight_table
from tallybayes.fitting import FitOptions, fit_with
from tallybayes.model import Model
from tallybayes.reporting.columns import Remark, facts_of, not_used, remarks_on
from tallybayes.reporting.data import BeforeModelling, Origin, ReportData
from tallybayes.reporting.distributions import ClassedRows, as_numbers, distributions, observed_range, present
from tallybayes.reporting.duplicates import duplicates
from tallybayes.reporting.first_pass import FirstPass, look_at
from tallybayes.reporting.leaks import leaks
from tallybayes.reporting.missing import missing_pattern
from tallybayes.reporting.mistakes import worst_mistakes
from tallybayes.reporting.origin import origin_of
from tallybayes.reporting.performance import Performance, answer_by, answer_on_new, default_how
from tallybayes.schema.infer import SchemaOptions
from tallybayes.schema.schema import Schema
from tallybayes.structure.dependence import Dependence, of_schema
from tallybayes.validation import LearningCurve, learning_curve, validate_model

# Columns that are listed, drawn and tested in pairs, and mistakes that are explained: more would not be read.
_LISTED, _DRAWN, _PAIRED, _MISTAKES = 60, 24, 30, 5
# Held-out scores are kept for every class. If there would be more of them, only a sample of this many rows or more is
# validated.
_MOST_SCORES, _FEWEST_VALIDATED = 2_500_000, 2000
_WEIGHED = 400  # columns; wider tables have mutual information only, because leave-one-out importance takes too long
# The learning curve: most rows, most rows × columns, number of shuffles, number of sizes.
_CURVE_ROWS, _CURVE_NUMBERS, _SHUFFLES, _SIZES = 3000, 300_000, 3, 6
_FEWEST_FOR_CURVE, _PARTNERED_CLASSES = 30, 12
# Shares of the time, for a progress bar: validation, importance, learning curve. What follows takes the rest.
_ANSWERED, _WEIGHED_BY, _CURVED = (0.0, 0.35), (0.35, 0.45), (0.5, 0.8)
_READING = tuple(field.name for field in fields(sources.ReadOptions))
_ROW_OPTIONS = ("weights", *_READING)


def report(
    rows: Any,
    label: Any = None,
    model: Model | None = None,
    *,
    source: str | None = None,
    command: str | None = None,
    how: str | None = None,
    positive: Any = None,
    new_rows: Any = None,
    seed: int = 0,
    threads: int | None = None,
    **fit_options: Any,
) -> ReportData:
    """Report on a model and its rows: data, quality, explanations and worst mistakes.

    Parameters
    ----------
    rows : anything `fit` takes
        Labelled rows. A file larger than memory is read several times; a stream is kept in memory.
    label : str or array_like, optional
        The column that holds the class, or the classes themselves; by default the model's label column.
    model : Model, optional
        The model; by default one is fitted to the rows. A model that has learned exactly these rows is cross-validated.
        For any other model the rows are new, and the report is on its predictions for them.
    source, command : str, optional
        The name of the rows on the page, and the command that reproduces the page.
    how : str, optional
        How rows are held out, as in `validate`; by default ``"loo"`` for up to 50 rows and ``"10-fold"`` for more.
    positive : object, optional
        The class whose sensitivity, reliability and points are shown; by default the second of two.
    new_rows : anything `fit` takes, optional
        Later rows, with or without classes: a section says what has changed since the model was fitted.
    seed : int
        The same seed draws the same folds and samples.
    threads : int, optional
        The number of threads that count and score.
    **fit_options
        As in `fit`; with a model only weights and the options of reading.

    Examples
    --------
    >>> import tallybayes as tb
    >>> days = {"outlook": ["sunny", "rainy", "rainy", "sunny"] * 3, "play": ["no", "yes", "yes", "no"] * 3}
    >>> data = tb.report(days, "play")
    >>> data.answer["accuracy"].value, data.answer["accuracy"].plain
    (1.0, 0.5)
    >>> data.to_html().startswith("<!DOCTYPE html>")
    True
    """
    _check(label, model, fit_options)
    seed = whole_number("seed", seed)
    weights = fit_options.pop("weights", None)
    if model is not None:
        weights = model.schema.weight if weights is None and label is None else weights
        label = model.schema.label if label is None else label
    reading = {name: fit_options.pop(name) for name in _READING if name in fit_options}

    options = FitOptions.of(fit_options)
    with span(0.0, 0.1):
        scan = scan_rows(rows, label, weights, reading, options.columns if model is None else model.schema, seed)
    case = case_of(scan, model, how, seed, threads, options, positive)
    changed = None if new_rows is None else drift(case.model, new_rows, threads=threads)
    connection = reading.pop("connection", None)  # it may hold a password, and a query is no file
    given = fit_options | reading | ({"weights": scan.weight} if scan.weight else {})
    named = scan.source.name if source is None else text("source", source)
    called = f"tb.report({named!r}, {scan.label!r})"
    origin = origin_of(rows if connection is None else None, called, named, command, seed, given)
    with span(0.1, 1.0):
        return _reported(case, origin, changed)


def scan_rows(
    rows: Any, label: Any, weights: Any, reading: Mapping[str, Any], columns: SchemaOptions | Schema, seed: int
) -> FirstPass:
    """Read the rows once, with the options of columns or as the schema of a model reads them."""
    as_learned = {"missing_values": columns.missing_values} if isinstance(columns, Schema) else {}
    opened = sources.ReadOptions(**{**as_learned, **reading})

    def first_look(types: open_rows.Types | None) -> FirstPass:
        return look_at(open_rows.labelled(rows, label, weights, opened, types, columns=columns), seed)

    return open_rows.reading(first_look)


def _check(label: Any, model: Model | None, options: Mapping[str, Any]) -> None:
    if model is None:
        if label is None:
            raise BadOption(wanted("report", "the label: a column, or the classes", "none", "Name it, or give a model"))
        return
    if not isinstance(model, Model):
        raise BadOption(wanted("model", "a fitted Model", f"a {type(model).__name__}"))
    other = [name for name in options if name not in _ROW_OPTIONS]
    if other:
        do = "Set other options with model.with_"
        raise BadOption(wanted("report", f"only {', '.join(_ROW_OPTIONS)} with a model", repr(other[0]), do))


@dataclass(frozen=True, eq=False)
class Case:
    """The model to report on, its rows, and how they are held out."""

    scan: FirstPass
    model: Model
    how: str | None
    seed: int
    threads: int | None
    fitted: bool  # whether the report fitted the model itself
    learned: bool  # whether the model has learned exactly these rows
    positive: Any = None  # the class that is singled out, if one is named


def case_of(
    scan: FirstPass,
    model: Model | None,
    how: str | None,
    seed: int,
    threads: int | None,
    options: FitOptions,
    positive: Any = None,
) -> Case:
    """Return the model to report on, fitted if there is none, and whether it has learned exactly these rows."""
    if model is None:
        once_open = FitOptions(columns=options.columns, choices=options.choices)
        made = fit_with(scan.source, scan.label, once_open, weights=scan.weight, threads=threads)
        return Case(scan, made, how, seed, threads, fitted=True, learned=True, positive=positive)
    empty = Model(Evidence.empty(model.schema), model.choices)
    counted = empty.learn(scan.source, scan.label, weights=scan.weight, threads=threads)
    learned = counted.evidence == model.evidence
    if how is not None and not learned:
        got = f"{how!r} for rows that the model has not learned"
        raise BadOption(wanted("how", "none", got, "Leave out how, or leave out the model to fit one"))
    return Case(scan, model, how, seed, threads, fitted=False, learned=learned, positive=positive)


def _reported(case: Case, origin: Origin, changed: Drift | None) -> ReportData:
    scan, model = case.scan, case.model
    left_out = not_used(scan, model.schema)
    with span(*_ANSWERED):
        answer = answer_of(case, left_out)
    with span(*_WEIGHED_BY):
        mattering = _importance(case, left_out)
    ranking = mattering.ranking()
    if len(ranking) > _LISTED:
        left_out.append(f"Only the {_LISTED} most important of {len(ranking):,} columns are listed.")
    if len(ranking) > _DRAWN:
        left_out.append(f"Only the {_DRAWN} most important of {len(ranking):,} columns are drawn.")
    kept = set(ranking[:_LISTED])
    before = _before(case, [name for name in model.schema.columns if name in kept])
    observed = _observed(case, [one.name for one in before.facts])
    axes = _axes(case, [name for name in ranking[:_DRAWN] if name in observed])
    tables = tuple(table(model, name, observed.get(name), axes.get(name)) for name in ranking[:_DRAWN])
    bits = dict(zip(model.schema.terms, mattering.information.tolist(), strict=True))
    with span(*_CURVED):
        learning = _curve(case, left_out)
    remarks = remarks_on(scan, model, before.facts, bits | counted_information(tables), inferred=case.fitted)
    return ReportData(
        label=scan.label,
        rows=scan.rows,
        columns=len(model.schema.columns),
        before=before,
        remarks=(*_on_the_model(case), *remarks),
        prior=prior_table(model),
        answer=answer,
        learning=learning,
        tables=tables,
        histograms=_histograms(case, tables),
        importance=mattering,
        weights=weight_table(model),
        dependence=_dependence(case, ranking, left_out),
        nomogram=_nomogram(model, answer, observed, axes, left_out),
        drift=changed,
        mistakes=worst_mistakes(model, scan, answer, _MISTAKES, learned=case.learned),
        origin=origin,
        left_out=tuple(left_out),
    )


def _before(case: Case, columns: list[str]) -> BeforeModelling:
    """Return what the rows look like, in these columns."""
    scan, schema = case.scan, case.model.schema
    own = replace(schema, label=scan.label, weight=scan.weight)
    sample = ClassedRows.of(scan.sample, own, case.model.classes)
    return BeforeModelling(
        rows=scan.sample.num_rows,
        facts=facts_of(scan, schema, columns),
        distributions=distributions(sample, columns, schema),
        missing=missing_pattern(sample, columns),
        duplicates=duplicates(scan.source, own),
        leaks=leaks(sample, [name for name in columns if name not in schema.texts]),
    )


def _observed(case: Case, columns: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of columns of numbers, to draw densities only where there are rows."""
    rows = RowBatch(case.scan.sample, 0, case.model.schema.missing)
    found = {}
    for name in columns:
        numbers = as_numbers(present(rows.column(name)))
        finite = np.zeros(0) if numbers is None else numbers[np.isfinite(numbers)]
        if len(finite):
            found[name] = observed_range(finite)[:2]
    return found


def _axes(case: Case, columns: Sequence[str]) -> dict[str, NumberAxis]:
    """Return the axes of columns of numbers that a plain axis does not show."""
    rows = RowBatch(case.scan.sample, 0, case.model.schema.missing)
    plain = (name for name in columns if case.model.schema.number_format(name) is None)
    numbers = ((name, as_numbers(present(rows.column(name)))) for name in plain)
    found = ((name, None if given is None else find_axis(given)) for name, given in numbers)
    return {name: axis for name, axis in found if axis is not None}


def _on_the_model(case: Case) -> list[Remark]:
    if case.learned:
        return []
    counted = f"{case.model.evidence.rows.sum().to_float():g}"
    text = f"The model was fitted to {counted} other rows. The figures treat these rows as new to it, which"
    return [Remark("new rows", case.scan.label, f"{text} assumes that the model was not fitted to any of them.")]


def answer_of(case: Case, left_out: list[str]) -> Performance:
    """Return the quality of the model: by validation of rows it has learned, else by predicting them."""
    scan, model = case.scan, case.model
    if not case.learned:
        return answer_on_new(model, scan, case.threads, case.positive)
    rows: Any = scan.source
    most = max(_FEWEST_VALIDATED, _MOST_SCORES // len(model.classes))
    if scan.rows > most and len(model.classes) > 20:
        sample = scan.sample.slice(0, most) if scan.sample.num_rows > most else scan.sample
        rows = sources.read(sample)
        left_out.append(f"Validated on {sample.num_rows:,} of {scan.rows:,} rows, because there are many classes.")
    how = case.how or default_how(scan.rows)
    options: dict[str, Any] = {"weights": scan.weight, "seed": case.seed, "threads": case.threads}
    return answer_by(validate_model(model, rows, scan.label, how, **options), case.positive)


def _importance(case: Case, left_out: list[str]) -> Importance:
    model, scan = case.model, case.scan
    units = sum(1 if isinstance(block.event, BagEvent) else len(block.columns) for block in model.schema.blocks)
    if not case.learned:
        left_out.append("Leave-one-out importance needs rows that the model has learned.")
    elif units > _WEIGHED:
        left_out.append(f"Leave-one-out importance is not computed for more than {_WEIGHED} columns.")
    elif units > 1:
        return importance(model, scan.source, scan.label, scan.weight)
    return importance(model, None, None, None)


def _curve(case: Case, left_out: list[str]) -> LearningCurve | None:
    model, sample = case.model, case.scan.sample
    classes, width = len(model.classes), len(model.schema.columns)
    rows = min(_CURVE_ROWS, max(200, _CURVE_NUMBERS // width), sample.num_rows)
    if rows < _FEWEST_FOR_CURVE or rows < 6 * classes:
        left_out.append(f"No learning curve: {sample.num_rows:,} rows are too few for {classes} classes.")
        return None
    drawn = np.sort(np.random.default_rng([case.seed, 11]).permutation(sample.num_rows)[:rows])
    some = sources.take(sample, drawn)
    most = rows - -(-rows // 3) - classes  # the fewest rows left after a third of every class is held out
    first = max(2 * classes, 10)
    sizes = np.unique(np.geomspace(first, most, _SIZES).round().astype(int)) if most > first else [most]
    compare = ("ridge",) if classes <= _PARTNERED_CLASSES else ()
    if rows < case.scan.rows:
        left_out.append(f"The learning curve uses {rows:,} rows drawn at random.")
    choices = {field.name: getattr(model.choices, field.name) for field in fields(model.choices)}
    if model.choices.structure != "naive":
        choices["structure"] = "naive"
        left_out.append("The learning curve is that of columns counted alone.")
    return learning_curve(
        _with_features(some, model, case.scan),
        case.scan.label,
        sizes=[int(size) for size in sizes],
        shuffles=_SHUFFLES,
        compare=compare,
        seed=case.seed,
        threads=case.threads,
        weights=case.scan.weight,
        events=_events(model),
        missing=model.schema.missing,
        **choices,
    )


def _with_features(some: pa.RecordBatch, model: Model, scan: FirstPass) -> sources.Source:
    """Return the rows with the model's columns only, so that ignored ones are not inferred."""
    used = set(model.schema.columns) if any(_is_plain(field) for field in some.schema) else set()
    names = [
        field.name
        for field in some.schema
        if not _is_plain(field) or field.name in used or field.name in (scan.label, scan.weight)
    ]
    return sources.read(some.select(names))


def _is_plain(field: pa.Field) -> bool:
    return sources.kind_of(field) == "column"


def _events(model: Model) -> Any:
    """Return the model's event models, as `fit` takes them."""
    blocks = [block for block in model.schema.blocks if not block.event.product]
    if len(blocks) == 1:
        return blocks[0].event
    return {name: block.event for block in blocks for name in block.columns}


def _histograms(case: Case, tables: Sequence[Table]) -> dict[str, Histogram]:
    scan = case.scan
    own = [one for one in tables if one.column in case.model.schema.columns]
    all_ = {one.column: histogram(case.model, one, scan.sample, scan.label, scan.weight) for one in own}
    return {name: found for name, found in all_.items() if found is not None}


def _dependence(case: Case, ranking: Sequence[str], left_out: list[str]) -> Dependence | None:
    schema, scan = case.model.schema, case.scan
    texts = set(schema.texts)
    usable = [name for name in ranking if name not in texts and name in schema.columns]
    if len(usable) < 2:
        return None
    if len(usable) > _PAIRED:
        left_out.append(f"Only pairs of the {_PAIRED} most important columns are tested for dependence.")
    tested = set(usable[:_PAIRED])
    columns = [name for name in schema.columns if name in tested]
    return of_schema(
        case.model.schema, scan.source, scan.label, weights=scan.weight, columns=columns, threads=case.threads
    )


def _nomogram(
    model: Model,
    answer: Performance,
    observed: Mapping[str, tuple[float, float]],
    axes: Mapping[str, NumberAxis],
    left_out: list[str],
) -> Nomogram | None:
    """Return the nomogram of the positive class, else of the two most frequent classes."""
    support = dict(zip(model.classes, model.evidence.rows.to_float(), strict=True))
    frequent = sorted(model.classes, key=lambda name: -support[name])
    first = frequent[0] if answer.positive is None else answer.positive
    second = next(name for name in frequent if name != first)
    try:
        return nomogram(model, first, second, observed, axes)
    except BadData as error:  # without smoothing, a value that one of the classes never had
        left_out.append(f"No nomogram: {error}")
        return None
