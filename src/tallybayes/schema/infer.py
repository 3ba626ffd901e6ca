"""Infer the event model of each column from the user's declarations and the Arrow types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.arguments import instance, listed, one_of, shown, text
from tallybayes.cached_property import cached_property
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.events import Event, parse
from tallybayes.kernels.text import Tokenizer
from tallybayes.schema.column_names import NumberedNames, names
from tallybayes.schema.find_readings import LOOK_ROWS
from tallybayes.schema.schema import Block, Missing, Schema
from tallybayes.sources.steps import type_in_words

__all__ = ["Events", "SchemaOptions", "infer"]

Events: TypeAlias = str | Event | Mapping[str, str | Event] | None
_IGNORE = "ignore"
# Columns of a matrix: with more, buckets for each would fill the memory, and the shape of one hardly matters.
_WIDE = 10_000
# Classes among the first rows: with more, buckets of each class would fill the memory, and hold a row or two.
_MANY_CLASSES = 1000
_PROSE_WORDS = 4.0  # mean words per value, at least; two or three make a name, a place, a job
_PROSE_SAMPLE = 1000  # rows


@dataclass(frozen=True)
class SchemaOptions:
    """The options of `fit` about columns: event models, missing values, tokenizer, and what is not left out."""

    events: Events = None
    missing: Missing = "skip"
    tokenizer: Tokenizer | None = None
    keep: str | Sequence[str] = ()  # names or globs of columns to use although they look like ids
    label_as_is: bool = False  # take numbers as classes, however many

    def __post_init__(self) -> None:
        instance("label_as_is", self.label_as_is, bool, "True or False")

    def declared(self) -> Callable[[str], Event | str | None]:
        """Return a function that finds the declared event model of a column; None if it is to be inferred."""
        return _EventFinder(self.events, None, "histogram").match

    @property
    def texts(self) -> tuple[str, ...]:
        """The names or globs of columns that are declared text."""
        given = _by_name(self.events) if isinstance(self.events, Mapping) else {"*": self.events}
        specs = (
            (name, one) for name, one in given.items() if not (one is None or (isinstance(one, str) and one == _IGNORE))
        )
        return tuple(name for name, one in specs if parse(one, f"events[{name!r}]").input == "text")

    def keeps(self, name: str) -> bool:
        """Return whether a column is used even if it looks like an id."""
        want = "names or globs of columns"
        kept = [self.keep] if isinstance(self.keep, str) else listed("keep", self.keep, want)
        return any(fnmatchcase(name, text("keep", one, want)) or name == one for one in kept)


def infer(
    fields: pa.Schema,
    label: str,
    *,
    weight: str | None = None,
    events: Events = None,
    missing: Missing = "skip",
    where: str = "the data",
    first: Callable[[], pa.RecordBatch | None] | None = None,
    labels: Callable[[], pa.Array | None] | None = None,
    numbers: Literal["histogram", "gaussian"] = "histogram",
    text: str = "text",
) -> Schema:
    """Infer the schema of a source with these fields.

    Parameters
    ----------
    fields : pyarrow.Schema
        The fields of the source.
    label, weight : str
        The columns of classes and of row weights.
    events : str, Event or mapping, optional
        One event model for all columns, or a mapping from names or globs to event models. Other columns are inferred:
        text, booleans, dates and dictionaries are categorical, numbers are histograms, sparse rows multinomial.
        "ignore" leaves a column out.
    missing : {"skip", "category", "error"}
        Skip a null or NaN, count it as a value of its own, or raise.
    where : str
        The source's name in messages.
    first : callable, optional
        Returns the first rows. Called for an undeclared column of text, to distinguish prose from names, and of
        numbers, which are "gaussian" where these rows have a thousand classes.
    labels : callable, optional
        Returns the classes of the first rows, where that is cheaper than all of their columns.
    numbers : {"histogram", "gaussian"}
        The event model of numbers; the textbook's rules ("mle", "map") need the second.
    text : str
        The event model of prose that is the only column; beside others it is "text".

    Examples
    --------
    >>> fields = pa.schema([("outlook", pa.string()), ("humidity", pa.int64()), ("play", pa.string())])
    >>> infer(fields, "play").events()
    {'outlook': 'categorical', 'humidity': 'histogram'}
    """
    one_of("missing", missing, get_args(Missing))
    for role, name in (("label", label), ("weight", weight)):
        if name is not None and name not in fields.names:
            raise BadData(wanted(role, f"a column of {where}", repr(name), did_you_mean(name, fields.names)))
    features = [field for field in fields if field.name not in (label, weight)]
    finder = _EventFinder(events, first, numbers, labels or partial(_labels_of, first, label))
    columns: list[Sequence[str]] = []
    blocks: dict[Event, list[Sequence[str]]] = {}
    for field in features:
        for event, members in finder.of(field):
            columns.append(members)
            blocks.setdefault(event, []).append(members)
    finder.check(n for field in features for n in _columns_of(field))
    if finder.found_prose and [len(one) for one in columns] == [1]:
        blocks = {parse(text): columns}
    if not blocks:
        raise BadData(wanted(where, "at least one column besides the label", "none"))
    grouped = tuple(Block(event, _join(members)) for event, members in blocks.items())
    return Schema(label, weight, grouped, _join(columns), missing)


def _labels_of(first: Callable[[], pa.RecordBatch | None] | None, label: str) -> pa.Array | None:
    batch = None if first is None else first()
    return None if batch is None or label not in batch.schema.names else batch.column(label)


class _EventFinder:
    """Finds each column's event model in the declarations, or infers it."""

    def __init__(
        self,
        events: Events,
        first: Callable[[], pa.RecordBatch | None] | None,
        numbers: str,
        labels: Callable[[], pa.Array | None] | None = None,
    ) -> None:
        self._numbers, self._labels = numbers, labels
        self._first = None if first is None else cache(first)
        given = _by_name(events) if isinstance(events, Mapping) else {} if events is None else {"*": events}
        self._declared = {
            name: spec if spec == _IGNORE else parse(spec, f"events[{name!r}]") for name, spec in given.items()
        }
        self._open = not isinstance(events, Mapping)
        self._used: set[str] = set()
        self.found_prose = False  # whether a column that is not declared looks like prose

    def of(self, field: pa.Field) -> list[tuple[Event, Sequence[str]]]:
        """Return the event models of a field's columns, each with its columns."""
        columns = _columns_of(field)
        patterns = [p for p in self._declared if p != "*"]
        if not patterns:  # one event model for all: no need to match a hundred thousand names
            event = self._declared.get("*") or self._inferred(field)
            self._used.add("*")
            return [] if event == _IGNORE else [(event, columns)]  # type: ignore[list-item]
        runs: dict[Any, list[str]] = {}
        for name in columns:
            event = self.match(name) or self._inferred(field)
            if event != _IGNORE:
                runs.setdefault(event, []).append(name)
        return [(event, names(members)) for event, members in runs.items()]

    def match(self, name: str) -> Event | str | None:
        """Return the declared event model of a column, "ignore" to leave it out, None if there is none."""
        pattern = name if name in self._declared else next((p for p in self._declared if fnmatchcase(name, p)), None)
        if pattern is None:
            return None
        self._used.add(pattern)
        return self._declared[pattern]

    def _inferred(self, field: pa.Field) -> Event:
        if self._is_prose(field):
            self.found_prose = True
            return parse("text")
        wide = sources.kind_of(field) == "matrix" and sources.width_of(field) > _WIDE
        sparse = sources.kind_of(field) == "sparse"  # counts, whatever the classes
        return _inferred(field, "gaussian" if wide or (not sparse and self._many_classes) else self._numbers)

    def _is_prose(self, field: pa.Field) -> bool:
        if sources.is_prose(field):
            return True
        if self._first is None or not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            return False
        first = self._first()
        return first is not None and _looks_like_prose(first.column(field.name))

    @cached_property
    def _many_classes(self) -> bool:
        """Whether the first rows have too many classes for buckets of each."""
        column = None if self._labels is None or self._numbers == "gaussian" else self._labels()
        if column is None or len(column) <= _MANY_CLASSES:
            return False
        column = column.slice(0, LOOK_ROWS)
        column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        return bool(pc.count_distinct(column).as_py() > _MANY_CLASSES)

    def check(self, columns: Any) -> None:
        """Raise if a declared name or glob matches no column."""
        unused = [p for p in self._declared if p not in self._used and p != "*"]
        if unused:
            raise BadOption(
                wanted("events", "names or globs of columns", repr(unused[0]), did_you_mean(unused[0], columns))
            )


def _by_name(events: Mapping[Any, Any]) -> dict[str, Any]:
    """Return event models by the names of their columns; numbers are names of pandas' columns, too."""
    for name in events:
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise BadOption(wanted("events", "names or globs of columns", shown(name)))
    return {str(name): event for name, event in events.items()}


def _columns_of(field: pa.Field) -> Sequence[str]:
    """Return the names of a field's columns: one, or those of a matrix."""
    if sources.kind_of(field) == "column":
        return (field.name,)
    given = sources.names_of(field)
    return NumberedNames(sources.width_of(field)) if given is None else names(given)


def _inferred(field: pa.Field, numbers: str) -> Event:
    if sources.kind_of(field) == "sparse":
        return parse("multinomial")
    type_ = field.type.value_type if sources.kind_of(field) == "matrix" else field.type
    is_ = pa.types
    if sources.was_bool(field):
        return parse("bernoulli")
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_):
        return parse(numbers)
    if is_.is_nested(type_) or is_.is_binary(type_) or is_.is_duration(type_):
        want = "text, numbers, booleans or dates"
        raise BadData(
            wanted(f"column {field.name!r}", want, type_in_words(type_), "Convert it, or declare it 'ignore'")
        )
    return parse("categorical")


def _looks_like_prose(column: pa.Array) -> bool:
    """Whether the values have many words and are mostly distinct."""
    sample = column.slice(0, _PROSE_SAMPLE).drop_null()
    if len(sample) == 0:
        return False
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(sample))).as_py()
    return bool(words >= _PROSE_WORDS) and bool(pc.count_distinct(sample).as_py() > len(sample) / 2)


def _join(parts: list[Sequence[str]]) -> Sequence[str]:
    return parts[0] if len(parts) == 1 else names(name for part in parts for name in part)
