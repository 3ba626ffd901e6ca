"""What each column is: the label, a weight, or a feature with its event model.

Given by the user or inferred from the Arrow types. Columns that share an event model form a block, and a block is
counted and scored in one go: that is what makes ten thousand pixels as cheap as one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes import sources
from tallybayes.errors import BadData, BadOption, CannotMerge, did_you_mean, wanted
from tallybayes.events import Event, parse
from tallybayes.events.text.text import Text
from tallybayes.kernels.text import Tokenizer
from tallybayes.schema.column_names import NumberedNames, names

__all__ = ["Block", "Events", "Missing", "Schema", "infer"]

Missing: TypeAlias = Literal["skip", "category", "error"]
Events: TypeAlias = str | Event | Mapping[str, str | Event] | None
_IGNORE = "ignore"
# Prose has at least so many words on average; two or three make a name, a place, a job.
_PROSE_WORDS, _PROSE_SAMPLE = 4.0, 1000


@dataclass(frozen=True)
class Block:
    """Columns that share an event model."""

    event: Event
    columns: Sequence[str]


@dataclass(frozen=True)
class Schema:
    """What each column of the rows is.

    Attributes
    ----------
    label : str
        The column that holds the class.
    weight : str or None
        The column that holds the weights of the rows.
    blocks : tuple of Block
        The features, grouped by event model.
    columns : sequence of str
        The features in the order of the source.
    missing : {"skip", "category", "error"}
        What a null or NaN is: nothing, a value of its own (categorical columns), or an error.
    """

    label: str
    weight: str | None
    blocks: tuple[Block, ...]
    columns: Sequence[str]
    missing: Missing = "skip"

    def event(self, column: str) -> Event:
        """The event model of a column."""
        return self.blocks[self.place(column)[0]].event

    def place(self, column: str) -> tuple[int, int]:
        """The block in which a column stands, and where in it."""
        for b, block in enumerate(self.blocks):
            if column in block.columns:
                return b, block.columns.index(column)
        raise BadOption(wanted("column", "a column of the model", repr(column), did_you_mean(column, self.columns)))

    def events(self) -> dict[str, str]:
        """The event model of every column, as it is written."""
        return {name: event.spec for name, event in self._events().items()}

    def _events(self) -> dict[str, Event]:
        return {name: block.event for block in self.blocks for name in block.columns}

    def select(self, columns: Sequence[str]) -> Schema:
        """The same with some of the columns, in the order that they have here."""
        for name in columns:
            self.place(name)
        wanted_ones = set(columns)
        kept = [
            replace(block, columns=names(name for name in block.columns if name in wanted_ones))
            for block in self.blocks
        ]
        blocks = tuple(block for block in kept if len(block.columns))
        return replace(self, blocks=blocks, columns=names(name for name in self.columns if name in wanted_ones))

    def with_tokenizer(self, tokenizer: Tokenizer | Mapping[str, Tokenizer], *, named: bool = False) -> Schema:
        """The same with a function that makes the words of the columns of text that have none.

        Parameters
        ----------
        tokenizer : callable, or mapping of str to callable
            The function, for all of them or by column.
        named : bool
            Whether only those are meant of which a file has told the name of their function.
        """
        lacking = [
            (b, block)
            for b, block in enumerate(self.blocks)
            if isinstance(block.event, Text)
            and (isinstance(block.event.tokenizer, str) or (block.event.tokenizer is None and not named))
        ]
        if not lacking:
            want = "none, since no column of text lacks one"
            raise BadOption(wanted("tokenizer", want, repr(tokenizer)))
        blocks = list(self.blocks)
        for b, block in lacking:
            function = _for_columns(tokenizer, block.columns)
            blocks[b] = replace(block, event=replace(block.event, tokenizer=function))  # type: ignore[type-var]
        return replace(self, blocks=tuple(blocks))

    def tokenizers(self) -> dict[str, Tokenizer]:
        """The functions that make words, by column."""
        return {
            name: block.event.tokenizer
            for block in self.blocks
            if isinstance(block.event, Text) and callable(block.event.tokenizer)
            for name in block.columns
        }

    def check_merges(self, other: Schema) -> None:
        """Raise unless both speak of the same columns in the same way."""
        if self.same_features(other):
            return
        left, right = self._events(), other._events()
        for name in [*left, *right]:
            if left.get(name) == right.get(name):
                continue
            have = [f"column {name!r} as {e[name].spec}" if name in e else f"no column {name!r}" for e in (left, right)]
            do = "Give both the same tokenizer" if have[0] == have[1] else "Fit both with the same schema"
            raise CannotMerge(f"cannot merge: left has {have[0]}, right has {have[1]}. {do}.")
        if self.missing != other.missing:
            raise CannotMerge(
                f"cannot merge: left takes missing values as {self.missing!r}, right as {other.missing!r}. "
                "Fit both with the same schema."
            )

    def same_features(self, other: Schema) -> bool:
        """Whether blocks, columns and missing are the same; the names of label and weight do not matter."""
        return self.blocks == other.blocks and self.missing == other.missing


def infer(
    fields: pa.Schema,
    label: str,
    *,
    weight: str | None = None,
    events: Events = None,
    missing: Missing = "skip",
    where: str = "the data",
    first: Callable[[], pa.RecordBatch | None] | None = None,
) -> Schema:
    """The schema of a source with these fields.

    Parameters
    ----------
    fields : pyarrow.Schema
        The fields of the source.
    label, weight : str
        The columns of classes and of row weights.
    events : str, Event or mapping, optional
        One event model for all columns, or a mapping from names or globs to event models. What is not named is
        inferred: text, booleans, dates and dictionaries are categorical, numbers are Gaussian, sparse rows
        multinomial. "ignore" leaves a column out.
    missing : {"skip", "category", "error"}
        What a null or NaN is.
    where : str
        What messages call the source.
    first : callable, optional
        Gives the first rows. It is asked only where a column of text is not declared, to tell prose from names.

    Examples
    --------
    >>> fields = pa.schema([("outlook", pa.string()), ("humidity", pa.int64()), ("play", pa.string())])
    >>> infer(fields, "play").events()
    {'outlook': 'categorical', 'humidity': 'gaussian'}
    """
    if missing not in get_args(Missing):
        raise BadOption(wanted("missing", "'skip', 'category' or 'error'", repr(missing)))
    for role, name in (("label", label), ("weight", weight)):
        if name is not None and name not in fields.names:
            raise BadData(wanted(role, f"a column of {where}", repr(name), did_you_mean(name, fields.names)))
    features = [field for field in fields if field.name not in (label, weight)]
    chosen = _Chooser(events, first)
    columns: list[Sequence[str]] = []
    blocks: dict[Event, list[Sequence[str]]] = {}
    for field in features:
        for event, members in chosen.of(field):
            columns.append(members)
            blocks.setdefault(event, []).append(members)
    chosen.check(n for field in features for n in _columns_of(field))
    if not blocks:
        raise BadData(wanted(where, "at least one column besides the label", "none"))
    grouped = tuple(Block(event, _join(members)) for event, members in blocks.items())
    return Schema(label, weight, grouped, _join(columns), missing)


def _for_columns(tokenizer: Tokenizer | Mapping[str, Tokenizer], columns: Sequence[str]) -> Tokenizer:
    """The function for columns that share one."""
    if not isinstance(tokenizer, Mapping):
        return tokenizer
    found = [tokenizer[name] for name in columns if name in tokenizer]
    if not found:
        raise BadOption(wanted("tokenizer", f"one for column {columns[0]!r}", f"for {', '.join(tokenizer) or 'none'}"))
    return found[0]


class _Chooser:
    """Finds each column's event model among what the user declared, or infers it."""

    def __init__(self, events: Events, first: Callable[[], pa.RecordBatch | None] | None = None) -> None:
        self._first = None if first is None else cache(first)
        given = events if isinstance(events, Mapping) else {} if events is None else {"*": events}
        self._declared = {
            name: spec if spec == _IGNORE else parse(spec, f"events[{name!r}]") for name, spec in given.items()
        }
        self._open = not isinstance(events, Mapping)
        self._used: set[str] = set()

    def of(self, field: pa.Field) -> list[tuple[Event, Sequence[str]]]:
        """The event models of a field's columns, each with the columns it is for."""
        columns = _columns_of(field)
        patterns = [p for p in self._declared if p != "*"]
        if not patterns:  # one event model for all: no need to look at each of a hundred thousand names
            event = self._declared.get("*") or self._inferred(field)
            self._used.add("*")
            return [] if event == _IGNORE else [(event, columns)]  # type: ignore[list-item]
        runs: dict[Any, list[str]] = {}
        for name in columns:
            event = self._match(name) or self._inferred(field)
            if event != _IGNORE:
                runs.setdefault(event, []).append(name)
        return [(event, names(members)) for event, members in runs.items()]

    def _match(self, name: str) -> Event | str | None:
        pattern = name if name in self._declared else next((p for p in self._declared if fnmatchcase(name, p)), None)
        if pattern is None:
            return None
        self._used.add(pattern)
        return self._declared[pattern]

    def _inferred(self, field: pa.Field) -> Event:
        if sources.is_prose(field):
            return parse("text")
        if (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)) and self._first is not None:
            first = self._first()
            if first is not None and _looks_like_prose(first.column(field.name)):
                return parse("text")
        return _inferred(field)

    def check(self, columns: Any) -> None:
        """Raise if a declared name or glob fits no column."""
        unused = [p for p in self._declared if p not in self._used and p != "*"]
        if unused:
            raise BadOption(
                wanted("events", "names or globs of columns", repr(unused[0]), did_you_mean(unused[0], columns))
            )


def _columns_of(field: pa.Field) -> Sequence[str]:
    """The names of the columns that a field holds: one, or those of a matrix."""
    if sources.kind_of(field) == "column":
        return (field.name,)
    given = sources.names_of(field)
    return NumberedNames(sources.width_of(field)) if given is None else names(given)


def _inferred(field: pa.Field) -> Event:
    if sources.kind_of(field) == "sparse":
        return parse("multinomial")
    type_ = field.type.value_type if sources.kind_of(field) == "matrix" else field.type
    is_ = pa.types
    if sources.was_bool(field):
        return parse("bernoulli")
    if is_.is_integer(type_) or is_.is_floating(type_) or is_.is_decimal(type_):
        return parse("gaussian")
    if is_.is_nested(type_) or is_.is_binary(type_) or is_.is_duration(type_):
        what = "text, numbers, booleans or dates"
        raise BadData(wanted(f"column {field.name!r}", what, str(type_), "Convert it, or declare it 'ignore'"))
    return parse("categorical")


def _looks_like_prose(column: pa.Array) -> bool:
    """Whether the values are many words, mostly distinct."""
    sample = column.slice(0, _PROSE_SAMPLE).drop_null()
    if len(sample) == 0:
        return False
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(sample))).as_py()
    return bool(words >= _PROSE_WORDS) and bool(pc.count_distinct(sample).as_py() > len(sample) / 2)


def _join(parts: list[Sequence[str]]) -> Sequence[str]:
    return parts[0] if len(parts) == 1 else names(name for part in parts for name in part)
