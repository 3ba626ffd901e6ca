"""What is made of rows that lie elsewhere: counted there, and sent here as parcels.

What goes to the workers is a function of this module and the schema as bytes; of the user's own code only functions
that make words of texts go along. What comes back is bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from tallybayes import engines, sources
from tallybayes.evidence import count_threads
from tallybayes.evidence.partial import PartialEvidence, merged, open_partial
from tallybayes.evidence.row_sample import MOST_ROWS
from tallybayes.kernels.text import Tokenizer
from tallybayes.schema.schema import Schema

__all__ = ["PackedSchema", "known", "known_and_chosen", "needed", "share_of"]


class PackedSchema(NamedTuple):
    """A schema as it travels: as bytes, and the functions that make words, which bytes do not hold, by column."""

    schema: bytes
    tokenizers: Mapping[str, Tokenizer]

    @classmethod
    def of(cls, schema: Schema) -> PackedSchema:
        """The schema, ready to go."""
        return cls(count_threads.nothing(schema, choose=False).pack(), schema.tokenizers())

    def opened(self) -> Schema:
        """The schema, where it has arrived."""
        schema = open_partial(self.schema).evidence.schema
        return schema.with_tokenizer(self.tokenizers, named=True) if self.tokenizers else schema


def known_and_chosen(schema: Schema, partitions: engines.Partitioned) -> PartialEvidence:
    """Evidence, and the rows to calibrate by: each place sends few of them, and all of its own if that is too few."""
    both = known(schema, partitions, 1.0 if partitions.count is None else share_of(partitions.count))
    if both.chosen is not None and not both.chosen.complete:
        both = known(schema, partitions, 1.0)
    return both


def known(schema: Schema, partitions: engines.Partitioned, share: float | None) -> PartialEvidence:
    """The evidence of all rows, and, unless `share` is None, of each place this share of the rows to calibrate by."""
    sent = PackedSchema.of(schema)
    work, merge = partial(_known_there, sent, share), partial(_merged_there, sent, share is not None)
    return open_partial(partitions.select(needed(schema)).fold(work, merge, free=True), schema)


def needed(schema: Schema) -> list[str]:
    """The columns that are read: features, label and weight."""
    also = [schema.label] if schema.weight is None else [schema.label, schema.weight]
    return list(dict.fromkeys([*schema.columns, *also]))


def share_of(places: int) -> float:
    """Of the rows to choose the share that each of so many places sends: twice its due, and what chance adds."""
    due = MOST_ROWS / max(1, places)
    return float(min(1.0, (2 * due + 10 * due**0.5 + 10) / MOST_ROWS))


def _known_there(sent: PackedSchema, share: float | None, rows: sources.Source, _: engines.PartitionInfo) -> bytes:
    """What is known of the rows of one place; run there, on one thread, since others are busy too."""
    found = count_threads.known(sent.opened(), rows, 1, choose=share is not None)
    if share is not None and found.chosen is not None:
        found = replace(found, chosen=found.chosen.few(share))
    return found.pack()


def _merged_there(sent: PackedSchema, choose: bool, packed: Iterable[bytes]) -> bytes:
    return merged(packed, count_threads.nothing(sent.opened(), choose=choose))
