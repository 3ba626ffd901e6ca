"""The role of each column: the label, a weight, or a feature with its event model.

Columns that share an event model form a block, which is counted and scored at once: that makes ten thousand pixels as
cheap as one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from tallybayes.arguments import index_of, shown
from tallybayes.cached_property import cached_property
from tallybayes.display.number_format import NumberFormat
from tallybayes.errors import BadOption, CannotMerge, did_you_mean, wanted
from tallybayes.events import Event
from tallybayes.events.text.text import Text
from tallybayes.kernels.text import Tokenizer
from tallybayes.schema.column_names import names
from tallybayes.sources import AUTO, ColumnReadings, Reading
from tallybayes.sources.missing import markers_of_numbers
from tallybayes.sources.reading import NUMBERS
from tallybayes.sources.steps import holds_text

__all__ = ["Block", "Missing", "Schema"]

Missing: TypeAlias = Literal["skip", "category", "error"]


@dataclass(frozen=True)
class Block:
    """Columns that share an event model."""

    event: Event
    columns: Sequence[str]


@dataclass(frozen=True)
class Schema:
    """The role of each column: label, weight, or feature with its event model.

    Attributes
    ----------
    label : str
        The column that holds the class.
    weight : str or None
        The column that holds the weights of the rows.
    blocks : tuple of Block
        The features, grouped by event model.
    columns : sequence of str
        The features in the order of the source; products of them are in blocks only.
    missing : {"skip", "category", "error"}
        Skip a null or NaN, count it as a value of its own (categorical columns), or raise.
    missing_values : tuple of str, or "auto"
        The texts that stand for a missing value.
    readings : mapping of str to Reading
        The columns of the source whose values are read in another way than their types say.
    """

    label: str
    weight: str | None
    blocks: tuple[Block, ...]
    columns: Sequence[str]
    missing: Missing = "skip"
    missing_values: Literal["auto"] | tuple[str, ...] = AUTO
    readings: Mapping[str, Reading] = field(default_factory=dict)

    @property
    def inputs(self) -> Sequence[str]:
        """The columns of the source that the features are made of."""
        return self.columns if not self.readings else self.reader.inputs(self.columns)

    @property
    def reader(self) -> ColumnReadings:
        """What reads the columns of further rows as those of the first were."""
        return ColumnReadings(self.readings, markers_of_numbers(self.missing_values))

    def numbers(self, fields: pa.Schema) -> ColumnReadings:
        """Return the same for rows with these fields, where texts may stand in columns of numbers."""
        texts = (one.name for one in fields if holds_text(one.type) and one.name not in self.readings)
        numbers = dict.fromkeys((name for name in texts if self._takes_numbers(name)), NUMBERS)
        return replace(self.reader, columns={**self.readings, **numbers}) if numbers else self.reader

    def number_format(self, column: str) -> NumberFormat | None:
        """Return how numbers of a column are written: as dates or times, or None if plainly."""
        formats = (one.number_format(name, column) for name, one in self.readings.items())
        return next((one for one in formats if one is not None), None)

    def write(self, column: str, value: Any) -> Any:
        """Return a value of a column as a person writes it: a number of days as a date."""
        format_ = self.number_format(column) if isinstance(value, float) else None
        return value if format_ is None else format_.text(value)

    def _takes_numbers(self, column: str) -> bool:
        return any(column in block.columns and block.event.input in ("dense", "bag") for block in self.blocks)

    @property
    def texts(self) -> tuple[str, ...]:
        """The features that are text."""
        return tuple(name for block in self.blocks if block.event.input == "text" for name in block.columns)

    @cached_property
    def products(self) -> tuple[Block, ...]:
        """The blocks whose column is made of other columns."""
        return tuple(block for block in self.blocks if block.event.product)

    @property
    def terms(self) -> Sequence[str]:
        """The names of all terms of a score: columns, then products."""
        products = [name for block in self.products for name in block.columns]
        return names([*self.columns, *products]) if products else self.columns

    def with_products(self, products: Sequence[Block]) -> Schema:
        """Return the schema with more products of its columns."""
        return replace(self, blocks=(*self.blocks, *products))

    def event(self, column: str) -> Event:
        """Return the event model of a column."""
        return self.blocks[self.place(column)[0]].event

    def place(self, column: str) -> tuple[int, int]:
        """Return the index of a column's block, and the column's index in it."""
        for b, block in enumerate(self.blocks):
            found = index_of(column, block.columns)
            if found is not None:
                return b, found
        raise BadOption(wanted("column", "a column of the model", shown(column), did_you_mean(column, self.terms)))

    def events(self) -> dict[str, str]:
        """Return the event model of every column, as text."""
        return {name: event.spec for name, event in self._events().items()}

    def _events(self) -> dict[str, Event]:
        return {name: block.event for block in self.blocks for name in block.columns}

    def select(self, columns: Sequence[str]) -> Schema:
        """Return the schema of some of the columns, in the order of this one."""
        selected = set(columns)
        if not selected <= set(self.columns):
            for name in columns:
                self.place(name)  # raises at the first that is unknown

        def kept(given: Sequence[str]) -> Sequence[str]:
            return names(name for name in given if name in selected)

        blocks = (replace(block, columns=kept(block.columns)) for block in self.blocks)
        readings = {k: one for k, one in self.readings.items() if selected.intersection(one.columns(k))}
        return replace(
            self, blocks=tuple(b for b in blocks if len(b.columns)), columns=kept(self.columns), readings=readings
        )

    def with_tokenizer(self, tokenizer: Tokenizer | Mapping[str, Tokenizer], *, named: bool = False) -> Schema:
        """Return the schema with a tokenizer for the text columns that have none.

        Parameters
        ----------
        tokenizer : callable, or mapping of str to callable
            The function, for all columns or by column.
        named : bool
            Whether to set it only where a model file names a function that is missing.
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
        """Return the tokenizers, by column."""
        return {
            name: block.event.tokenizer
            for block in self.blocks
            if isinstance(block.event, Text) and callable(block.event.tokenizer)
            for name in block.columns
        }

    def check_merges(self, other: Schema) -> None:
        """Raise unless both have the same columns, event models and missing."""
        if self.same_features(other) and self.readings == other.readings:
            return
        left, right = self._events(), other._events()
        for name in [*left, *right]:
            if left.get(name) == right.get(name):
                continue
            have = [f"column {name!r} as {e[name].spec}" if name in e else f"no column {name!r}" for e in (left, right)]
            do = "Give both the same tokenizer" if have[0] == have[1] else "Fit both with the same schema"
            raise CannotMerge(f"cannot merge: left has {have[0]}, right has {have[1]}. {do}.")
        for name, reading in self.readings.items():
            units = [one.unit for one in (reading, other.readings.get(name, reading))]
            if units[0] != units[1]:
                have = [f"numbers in {unit}" if unit else "numbers without a unit" for unit in units]
                raise CannotMerge(
                    f"cannot merge: left has column {name!r} as {have[0]}, right as {have[1]}. "
                    "Convert one of them before you fit."
                )
        if self.missing != other.missing:
            raise CannotMerge(
                f"cannot merge: left takes missing values as {self.missing!r}, right as {other.missing!r}. "
                "Fit both with the same schema."
            )

    def same_features(self, other: Schema) -> bool:
        """Whether blocks and missing are equal; the names of label and weight do not matter."""
        return self.blocks == other.blocks and self.missing == other.missing


def _for_columns(tokenizer: Tokenizer | Mapping[str, Tokenizer], columns: Sequence[str]) -> Tokenizer:
    """Return the tokenizer for columns that share one."""
    if not isinstance(tokenizer, Mapping):
        return tokenizer
    found = [tokenizer[name] for name in columns if name in tokenizer]
    if not found:
        raise BadOption(wanted("tokenizer", f"one for column {columns[0]!r}", f"for {', '.join(tokenizer) or 'none'}"))
    return found[0]
