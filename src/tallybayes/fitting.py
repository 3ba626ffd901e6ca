"""`fit`: learn a model from rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import Any, Literal

import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.encoding import open_rows
from tallybayes.errors import (
    BadData,
    BadOption,
    LeftOutWarning,
    LoneClassesWarning,
    WorseThanPriorWarning,
    did_you_mean,
    wanted,
)
from tallybayes.evidence.count import count
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.inference.calibrate import calibrate as calibrated
from tallybayes.inference.calibrate import rows_needed
from tallybayes.inference.choices import Alpha, Calibrate, Choices, Prior, Rule, Structure, Unseen
from tallybayes.inference.estimate import log_prior
from tallybayes.kernels.text import Tokenizer
from tallybayes.model import Model
from tallybayes.schema.check_label import MANY_CLASSES, check_label, is_numeric
from tallybayes.schema.find_ids import find_ids, may_be_id
from tallybayes.schema.find_readings import LOOK_ROWS
from tallybayes.schema.infer import Events, SchemaOptions, infer
from tallybayes.schema.schema import Missing, Schema
from tallybayes.sources.missing import MissingValues, checked
from tallybayes.sources.options import ReadOptions
from tallybayes.sources.steps import holds_text
from tallybayes.storage.checkpoint import Checkpoint

__all__ = ["FitOptions", "add_structure", "begin", "check_classes", "fit", "fit_with", "infer_rows", "model_of"]

_GROUPS = (ReadOptions, SchemaOptions, Choices)
_NAMES = [[f.name for f in fields(group)] for group in _GROUPS]


@dataclass(frozen=True)
class FitOptions:
    """The options of `fit` in three groups: reading rows, columns, and choices of belief."""

    reading: ReadOptions = field(default_factory=ReadOptions)
    columns: SchemaOptions = field(default_factory=SchemaOptions)
    choices: Choices = field(default_factory=Choices)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> FitOptions:
        """Sort keywords of `fit` into their groups; refuse any other."""
        known: set[str] = set().union(*_NAMES)
        for name in options:
            if name not in known:
                want = "one of this function or of fit"
                raise BadOption(wanted("option", want, repr(name), did_you_mean(name, cls.defaults())))
        reading, columns, choices = ({name: options[name] for name in names if name in options} for names in _NAMES)
        return cls(ReadOptions(**reading), SchemaOptions(**columns), Choices(**choices))

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return every option with its default."""
        return {f.name: f.default for group in _GROUPS for f in fields(group)}


def fit(
    source: Any,
    label: Any,
    *,
    events: Events = None,
    weights: Any = None,
    where: str | None = None,
    estimate: Rule = "bayes",
    alpha: Alpha = "auto",
    prior: Prior = "learned",
    variance: str = "n",
    floor: float = 1e-9,
    calibrate: Calibrate = "auto",
    structure: Structure = "naive",
    keep: str | Sequence[str] = (),
    label_as_is: bool = False,
    missing: Missing = "skip",
    unseen: Unseen = "smooth",
    missing_values: MissingValues = "auto",
    errors: str = "strict",
    bad_lines: Literal["error", "skip"] = "error",
    tokenizer: Tokenizer | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    connection: Any = None,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    threads: int | None = None,
) -> Model:
    """Learn a naive Bayes model in one pass over the rows.

    Parameters
    ----------
    source : path, glob, DataFrame, Arrow table, dict of columns, list of dicts, array or sparse matrix
        The rows. A file larger than memory is read batch by batch. A Dask or a Spark collection is counted by its
        workers. With a `connection`, the text of a query.
    label : str or array_like
        The column that holds the class, or the classes themselves.
    events : str, Event or mapping, optional
        One event model for all columns, or a mapping from names or globs to event models. Other columns are inferred
        (text, booleans, dates: categorical; numbers: histogram, or Gaussian under the rules "mle" and "map"; sparse
        rows: multinomial). "ignore" leaves a column out.
    weights : str or array_like, optional
        The weight of each row: a column, or the numbers themselves. A weight of 2 counts the row twice.
    where : str, optional
        The rows to learn from: comparisons of columns with values, such as ``"age > 30 and kind in ('a', 'b')"``,
        joined by and, or, not; ``is null``. Parts of parquet files without such a row are not read.
    estimate : {"bayes", "map", "mle"}
        Average over the posterior of the parameters, take its mode, or maximise the likelihood.
    alpha : float, "loo", "evidence", "average", "auto" or mapping
        The weight of the prior: pseudo-counts for each value, or pseudo-rows distributed like the whole column. "loo"
        chooses it by leave-one-out, "evidence" by marginal likelihood; "average" averages over it (categories under
        "bayes"; 1 otherwise); "auto" is "loo" for text, "average" for categories, and 1 otherwise. A mapping sets it
        for columns, by name or glob.
    prior : {"learned", "uniform"}, mapping or sequence
        The class probabilities.
    variance : {"n", "n-1"}
        The divisor of Gaussian sums of squares for "mle" and "map".
    floor : float
        The smallest variance of a Gaussian column, as a share of its variance over all rows.
    calibrate : {"auto", "loo", "one", None}
        How probabilities are calibrated, by leaving out some of a bottom-k sample of rows: by a weight for each
        column, which corrects for what columns repeat ("auto", also called "loo"), by one weight for all ("one"), or
        not at all, which is textbook naive Bayes.
    structure : {"naive", "pairs", "tan", "aode", "joint", "auto"}
        Which columns are counted together, beside each alone: none; pairs that make rows left out more probable, each
        with a weight ("pairs"); pairs and triples without a penalty, where nested folds say so ("auto"); a tree of
        pairs ("tan"); all pairs, averaged over the column that the others depend on ("aode"); or all columns, one cell
        for each combination of values ("joint"). They are chosen by at most 50,000 rows and counted in a second pass
        over all.
    keep : sequence of str
        Names or globs of columns to use although they look like ids. By default a column is left out, with a
        :class:`~tallybayes.errors.LeftOutWarning`, if each of its first rows has another value and it is called an id,
        or holds single words, UUIDs, numbers of 19 digits or more, or a running number: whole numbers that fill most of
        their range, unless the column is called a year, day or other time.
    label_as_is : bool
        Whether to take the label as it is, even if it looks like a measurement: more than 50 different numbers, few of
        them repeated.
    missing : {"skip", "category", "error"}
        Skip a null or NaN, count it as a value of its own (categorical columns), or raise.
    unseen : {"smooth", "skip", "error"}
        When scoring a value never seen in training: smooth, skip or raise.
    missing_values : sequence of str, or "auto"
        Texts that mean a missing value. By default these are empty texts, "?", "NA", "N/A", "NaN", "null" and "None",
        and in a column that is otherwise numbers, dates or booleans also "n/a", "nan", "NULL", "-", "." and a
        spreadsheet's "#N/A", "#DIV/0!" and the like. A list replaces them all,
        unless "auto" is in it: `["auto", "-9"]`. The model keeps them for later rows.
    errors : {"strict", "replace"}
        What to do with bytes that are not UTF-8: raise (naming row and position), or replace them by U+FFFD.
    bad_lines : {"error", "skip"}
        What to do with malformed lines of a csv, tsv or jsonl file: raise (naming the line), or skip them and report
        their number in a :class:`~tallybayes.errors.SkippedLinesWarning`.
    tokenizer : callable, optional
        Splits a text of a text column into a list of words.
    encoding : str, optional
        The encoding of csv files, such as "latin-1". By default UTF-8, or else UTF-16 or Latin-1, with a
        :class:`~tallybayes.errors.GuessedEncodingWarning`.
    delimiter : str, optional
        What separates the values of csv files; by default found in their first lines.
    header : bool
        Whether the first line of csv files names the columns; otherwise they are column1, column2, ...
    connection : str, DuckDB connection or ADBC connection, optional
        The database of a query: "duckdb" (embedded, also over files), a URL such as "sqlite:///file.db" or
        "postgresql://user@host/name", or an open connection. Rows are read batch by batch.
    checkpoint : path, optional
        A file that saves a run over files every minute. After a crash, the same call resumes from it, with the same
        result to the bit. The file is removed when the model is complete. A
        :class:`~tallybayes.storage.checkpoint.Checkpoint` sets the interval, and whether to keep the file.
    threads : int, optional
        The number of threads; one per core by default. The result does not depend on it.

    Returns
    -------
    Model

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"outlook": ["sunny", "sunny", "rainy", "rainy"], "play": ["no", "no", "yes", "yes"]}, "play")
    >>> model.predict([{"outlook": "sunny"}])
    array(['no'], dtype='<U3')
    """
    options = FitOptions(
        ReadOptions(missing_values, errors, bad_lines, where, connection, encoding, delimiter, header),
        SchemaOptions(events, missing, tokenizer, keep, label_as_is),
        Choices(estimate, alpha, prior, variance, floor, unseen, calibrate, structure),  # type: ignore[arg-type]
    )
    return fit_with(source, label, options, weights=weights, checkpoint=checkpoint, threads=threads)


def fit_with(
    source: Any,
    label: Any,
    options: FitOptions,
    *,
    weights: Any = None,
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    threads: int | None = None,
) -> Model:
    """Fit a model with the options as one value."""
    saved = Checkpoint.of(checkpoint)
    model, _ = begin(source, label, options, weights=weights, checkpoint=saved, threads=threads, more_follow=False)
    check_classes(model, options.columns)
    if saved is not None and not saved.kept:
        saved.remove()
    return model


def begin(
    source: Any,
    label: Any,
    options: FitOptions,
    *,
    weights: Any = None,
    checkpoint: Checkpoint | None = None,
    threads: int | None = None,
    more_follow: bool = True,
) -> tuple[Model, BottomKSample | None]:
    """Fit a model that may have a single class, because more may follow.

    Unless more rows follow, no more are sampled than it takes to calibrate the model once.

    Returns
    -------
    Model
        The model.
    BottomKSample or None
        The rows that calibrated it, to calibrate it again with more.
    """
    reading, columns, choices = options.reading, options.columns, options.choices
    workers = engines.default_threads(threads)
    engines.keep_freed_memory()
    if checkpoint is not None:
        _check_named(label, weights)

    def learned(types: open_rows.Types | None) -> tuple[PartialEvidence, str]:
        rows, name, weight = open_rows.labelled(source, label, weights, reading, types, columns=columns)
        far = isinstance(label, str) and sources.is_uri(source)  # where every column that is read has to be fetched
        labels = partial(open_rows.first_labels, source, label, reading, types) if far else None
        schema = infer_rows(rows, name, weight, columns, choices, labels=labels)
        if isinstance(label, str) and isinstance(weights, str | None):  # all columns are the source's own
            rows = open_rows.without_ignored(rows, source, schema, reading, types)
        sampled = choices.open(schema)
        if checkpoint is None:
            rows = rows if choices.structure == "naive" else rows.buffered()
            needed = None if more_follow else rows_needed(schema, choices)
            found = count(schema, rows, workers, sampled=sampled, rows_needed=needed)
        else:
            found = checkpoint.count(schema, rows, workers, sampled=sampled)
        return add_structure(found, choices, rows, workers), rows.name

    if isinstance(source, sources.Source):  # the caller opened it, and starts over if a type widens
        found, named = learned(None)
    else:
        found, named = open_rows.reading(learned, None if checkpoint is None else checkpoint.types())
    model = model_of(found, choices, named, workers)
    _warn_if_worse_than_prior(model)
    return model, found.chosen


def add_structure(
    found: PartialEvidence, choices: Choices, rows: engines.Partitioned | None, threads: int
) -> PartialEvidence:
    """Return the evidence with that of the products of columns that the choices ask for.

    They are chosen by the sample, and counted in all rows, or in the sample where rows are None.
    """
    if choices.structure == "naive":
        return found
    from tallybayes.structure.add_products import add_products  # only where a structure is asked for

    return add_products(found, choices, rows, threads)


def infer_rows(
    rows: engines.Partitioned,
    label: str,
    weight: str | None,
    columns: SchemaOptions,
    choices: Choices,
    *,
    hidden: Collection[str] = (),
    labels: Callable[[], pa.Array | None] | None = None,
) -> Schema:
    """Infer the schema of opened rows, without the hidden columns and those that look like ids."""
    first, labels = cache(partial(rows.head, LOOK_ROWS)), None if labels is None else cache(labels)
    kind = rows.schema.field(label).type if label in rows.schema.names and not columns.label_as_is else None
    if kind is not None and (is_numeric(kind) or holds_text(kind)):
        batch = None if labels is not None else first()
        column = labels() if labels is not None else None if batch is None else batch.column(label)
        if column is not None:
            check_label(label, column.slice(0, LOOK_ROWS), rows.missing_values or ())
    hidden = {*hidden, *_ids(rows, first, {label, weight, *hidden}, columns)}
    shown = pa.schema([one for one in rows.schema if one.name not in hidden]) if hidden else rows.schema
    schema = infer(
        shown,
        label,
        weight=weight,
        events=columns.events,
        missing=columns.missing,
        where=rows.name,
        first=first,
        labels=labels,
        numbers=choices.numbers,
        text=choices.text,
    )
    missing_values = checked(rows.missing_values)
    readings = {} if rows.readings is None else rows.readings.columns
    schema = replace(schema, missing_values=missing_values, readings=readings)
    schema = schema if columns.tokenizer is None else schema.with_tokenizer(columns.tokenizer)
    choices.check(schema)
    return schema


def _ids(
    rows: engines.Partitioned,
    first: Callable[[], pa.RecordBatch | None],
    other: Collection[str | None],
    columns: SchemaOptions,
) -> list[str]:
    """Return the columns that look like ids, with a warning; none where only ids are left."""
    declared = columns.declared()
    features = [one for one in rows.schema if one.name not in other and declared(one.name) is None]
    able = [one for one in features if may_be_id(one) and not columns.keeps(one.name)]
    batch = first() if able and len(features) > 1 else None
    if batch is None:
        return []
    found = find_ids(batch.slice(0, LOOK_ROWS), able)
    if len(found) == sum(one.name not in other for one in rows.schema):
        return []
    for name, reason in found.items():
        sentence = f"column {name!r}: not used, since it looks like an id ({reason}). Keep it with keep=[{name!r}]."
        warnings.warn(sentence, LeftOutWarning, stacklevel=2)
    return list(found)


def model_of(found: PartialEvidence, choices: Choices, name: str, threads: int) -> Model:
    """Return the model of counted evidence, calibrated if a sample was taken."""
    evidence, sample = found.evidence, found.chosen
    if not len(evidence.classes):
        got = "none" if evidence.schema.weight is None else "none with a weight above 0"
        raise BadData(wanted(name, "rows to learn from", got))
    log_prior(evidence.rows.to_float(), evidence.classes, choices.prior)  # refuses a given one that does not fit
    return Model(evidence, choices, None if sample is None else calibrated(evidence, choices, sample, threads))


def _warn_if_worse_than_prior(model: Model) -> None:
    """Say so where the columns make new rows less probable than the class shares alone."""
    found = model.calibration
    if found is None or found.prior is None:
        return
    text = (
        f"label {model.schema.label!r}: new rows will be less probable than by the class shares alone (log-loss "
        f"{found.prior:.3f}). These columns do not predict it."
    )
    warnings.warn(text, WorseThanPriorWarning, stacklevel=3)


def check_classes(model: Model, columns: SchemaOptions) -> Model:
    """Return the model; raise if it has only one class, and warn if most rows are alone in theirs, unless asked for."""
    label, C = f"label {model.schema.label!r}", len(model.classes)
    if C == 1:
        raise BadData(wanted(label, "at least two classes", f"only {model.classes[0]!r}"))
    if C > MANY_CLASSES and model.schema.weight is None and not columns.label_as_is:
        rows = model.evidence.rows.to_float()
        alone = int((rows == 1).sum())
        if 2 * alone > rows.sum():
            why = f"{alone:,} of {C:,} classes have a single row, and nothing shows what more of them would look like"
            warnings.warn(f"{label}: {why}. Is it the label?", LoneClassesWarning, stacklevel=3)
    return model


def _check_named(label: Any, weights: Any) -> None:
    """Raise if labels or weights are values, which a resumed run could not match to its rows."""
    for role, column in (("label", label), ("weights", weights)):
        if column is not None and not isinstance(column, str):
            do = "Put it among the columns of the files, or leave out the checkpoint"
            raise BadOption(wanted(role, "the name of a column, with a checkpoint", f"a {type(column).__name__}", do))
