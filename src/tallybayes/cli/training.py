"""Fit a model from a command's rows and options; guess the label if needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tallybayes import sources
from tallybayes.cli.exit import note
from tallybayes.cli.inputs import InputRows
from tallybayes.cli.options import ModelOptions
from tallybayes.cli.parsing import as_type
from tallybayes.errors import BadData, did_you_mean, wanted

if TYPE_CHECKING:
    from tallybayes.storage.checkpoint import Checkpoint

# Common names of the class column.
_NAMES = (
    "label",
    "class",
    "target",
    "y",
    "outcome",
    "category",
    "diagnosis",
    "species",
    "survived",
    "spam",
    "churn",
    "klasse",
    "classe",
    "clase",
)
_MANY = 50  # classes in the first rows; a guessed label has no more
_MANY_NUMBERS = 12  # the same for whole numbers that are not called a class: 47 of them are ages, not classes


def learn_from(rows: InputRows, choices: ModelOptions, checkpoint: Checkpoint | None = None) -> Any:
    """Fit a model; with a checkpoint, resume an interrupted run."""
    from tallybayes.fitting import fit

    def work(source: sources.Source) -> Any:
        label = label_of(source, choices.label)
        options = fit_options(source, label, choices)
        return fit(source, label, threads=rows.inputs.threads, checkpoint=checkpoint, **options)

    return rows.work(work, None if checkpoint is None else checkpoint.types())


def fit_options(source: sources.Source, label: str, choices: ModelOptions) -> dict[str, Any]:
    """Return the keywords of `tb.fit` that differ from its defaults."""
    from tallybayes.fitting import FitOptions

    kind = source.schema.field(label).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    given = choices.keywords(source.schema.names, lambda text: as_type(text, kind, "--prior"))
    usual = FitOptions.defaults()
    return {name: value for name, value in given.items() if value != usual.get(name)}


def label_of(source: sources.Source, given: str | None) -> str:
    """Return the label column: the given one, or one that looks like it."""
    names = source.schema.names
    if given is not None:
        if given not in names:
            raise BadData(
                wanted(source.name, f"a column {given!r} for --label", "none of that name", did_you_mean(given, names))
            )
        return given
    found = label_among(next(iter(source), None))
    if found is None:
        raise BadData(
            wanted("--label", "the column that holds the class", "none", f"{source.name}: {did_you_mean('', names)}")
        )
    note(f"label: {found!r} looks like the class; set another with --label.")
    return found


def label_among(first: pa.RecordBatch | None) -> str | None:
    """Guess the class column in the first rows.

    It has a usual name; else it is the last or the first column with few values.
    """
    names = [] if first is None else [name for name in first.schema.names if len(first.column(name).drop_null())]
    called = [name for name in names if name.lower() in _NAMES]
    for name in dict.fromkeys([*called, *names[-1:], *names[:1]]):
        if first is not None and looks_like_label(first.column(name), called=name in called):
            return str(name)
    return None


def looks_like_label(column: Any, *, called: bool = False) -> bool:
    """Whether the values may be classes: two to `_MANY`, each at least twice on average."""
    import pyarrow.compute as pc

    kind = column.type
    if not called and not (pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind)):
        return False
    distinct = pc.count_distinct(column).as_py()
    many = _MANY if called or not pa.types.is_integer(kind) else _MANY_NUMBERS
    return bool(2 <= distinct <= min(many, max(2, len(column) // 2)))
