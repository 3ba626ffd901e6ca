"""The result of a pass over some rows: evidence, a sample and some columns; also as bytes.

Workers of a cluster send it, and checkpoints of a long run store it. The bytes are those of a model file's evidence,
with the sample and the columns as Arrow streams. Partial evidence adds as its parts do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tallybayes import sources
from tallybayes.errors import BadModelFile, wanted
from tallybayes.evidence import container, deserialize, serialize
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_sample import BottomKSample, Part
from tallybayes.schema.schema import Schema

__all__ = ["NUMBER", "KeptColumns", "PartialEvidence", "open_partial"]

# Extra column: each sampled row's index in the full data.
NUMBER = "tallybayes.number"


class KeptColumns(NamedTuple):
    """Some columns of all rows of a partition, texts as codes; as bytes once unpacked from an answer."""

    partition: int
    content: pa.RecordBatch | bytes

    @classmethod
    def of(cls, batches: Sequence[pa.RecordBatch], partition: int) -> KeptColumns:
        """Return the columns of several batches as those of one partition."""
        if len(batches) == 1:
            return cls(partition, batches[0])
        parts = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks().to_batches()
        return cls(partition, parts[0] if parts else batches[0])

    def batch(self) -> pa.RecordBatch:
        """Return the columns."""
        return sources.from_stream(self.content) if isinstance(self.content, bytes) else self.content

    def pack(self) -> bytes:
        """Return the columns as bytes."""
        return self.content if isinstance(self.content, bytes) else bytes(sources.as_stream(self.content, "zstd"))


@dataclass(frozen=True)
class PartialEvidence:
    """Evidence of some rows, with a sample and columns of them where requested.

    Attributes
    ----------
    evidence : Evidence
        The exact counts and sums of some rows.
    chosen : BottomKSample or None
        The sample of these rows that calibrates a model.
    kept : tuple of KeptColumns
        Columns of the rows, partition by partition.
    more : mapping
        Further plain values; `+` drops them.

    Examples
    --------
    >>> import tallybayes as tb
    >>> evidence = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y").evidence
    >>> open_partial(PartialEvidence(evidence).pack()).evidence == evidence
    True
    """

    evidence: Evidence
    chosen: BottomKSample | None = None
    kept: tuple[KeptColumns, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: PartialEvidence) -> PartialEvidence:
        chosen = None if self.chosen is None or other.chosen is None else self.chosen + other.chosen
        return PartialEvidence(self.evidence + other.evidence, chosen, self.kept + other.kept)

    def pack(self) -> bytes:
        """Return all of it as bytes."""
        tensors: container.Tensors = {}
        header = serialize.put(self.evidence, tensors)
        header["chosen"] = None if self.chosen is None else _put_chosen(self.chosen, tensors)
        if self.kept:
            header["kept"] = [one.partition for one in self.kept]
            tensors |= {f"kept.{one.partition}": np.frombuffer(one.pack(), np.uint8) for one in self.kept}
        return container.pack({**header, "more": dict(self.more)}, tensors)


def open_partial(content: bytes, schema: Schema | None = None, where: str = "partial evidence") -> PartialEvidence:
    """Return the partial evidence that was packed.

    Parameters
    ----------
    content : bytes
        The result of `PartialEvidence.pack`.
    schema : Schema, optional
        The schema of the evidence. It brings the tokenizer functions, which bytes hold only by name.
    where : str
        The name of the content in messages.
    """
    header, tensors = container.unpack(content, where)
    try:
        evidence = deserialize.Reader(header, tensors).evidence()
        if schema is not None:
            container.require(_names(evidence.schema) == _names(schema), "the schema of the others")
            evidence = replace(evidence, schema=schema)
        chosen, more = header["chosen"], header["more"]
        container.require(isinstance(more, dict), "more")
        kept = tuple(KeptColumns(k, tensors[f"kept.{k}"].tobytes()) for k in header.get("kept", ()))
        sample = None if chosen is None else _get_chosen(chosen, tensors, evidence.schema)
        return PartialEvidence(evidence, sample, kept, more)
    except container.BROKEN as error:
        what = str(error) or type(error).__name__
        raise BadModelFile(wanted(where, "the parts of partial evidence", f"something else ({what})")) from None


def _names(schema: Schema) -> Any:
    blocks = [(block.event.spec, list(block.columns)) for block in schema.blocks]
    return schema.label, schema.weight, schema.missing, blocks, [block.event for block in schema.products]


def _put_chosen(chosen: BottomKSample, tensors: container.Tensors) -> dict[str, Any]:
    resolved = chosen.resolved()
    for part in resolved.parts:
        assert part.hashes is not None
        tensors["chosen"] = np.frombuffer(sources.as_stream(_needed(part.batch, chosen.schema)), np.uint8)
        tensors["chosen.hashes"] = part.hashes
        if part.text is not None:
            tensors["chosen.text"] = part.text.astype(np.int64)
    return {"bound": chosen.bound, "room": chosen.room, "rows": sum(map(len, resolved.parts))}


def _get_chosen(header: dict[str, Any], tensors: container.Tensors, schema: Schema) -> BottomKSample:
    bound, room, n = header["bound"], header["room"], header["rows"]
    container.require(bound is None or isinstance(bound, int), "bound")
    container.require(isinstance(room, float) and room > 0, "room")
    if n == 0:
        return BottomKSample(schema, (), bound, room)
    batch = sources.from_stream(tensors["chosen"])
    hashes, text = tensors["chosen.hashes"], tensors.get("chosen.text")
    for numbers in (hashes, text):
        container.require(numbers is None or (numbers.dtype == np.int64 and numbers.shape == (n,)), "hashes")
    container.require(batch.num_rows == n, "rows chosen")
    return BottomKSample(schema, (Part(batch, np.arange(n), text, hashes),), bound, room)


def _needed(batch: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    """Return only the columns that are read: features, label, weight and row numbers."""
    used = {*schema.columns, schema.label, schema.weight, NUMBER}
    return batch.select([f.name for f in batch.schema if f.name in used or sources.kind_of(f) != "column"])
