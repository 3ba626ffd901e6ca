"""Views of counted texts: the bag and the n-grams that `text(bag="auto")` chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tallybayes.events.event import as_event
from tallybayes.events.text.text import Text
from tallybayes.evidence.evidence import Evidence

__all__ = ["TextView", "viewed", "views"]


class TextView(NamedTuple):
    """A bag and a range of n-grams."""

    bag: str
    ngrams: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the view as plain values."""
        return {"bag": self.bag, "ngrams": list(self.ngrams)}

    @classmethod
    def from_dict(cls, put: Mapping[str, Any]) -> TextView:
        """Return the view of plain values."""
        least, most = put["ngrams"]
        return cls(str(put["bag"]), (int(least), int(most)))


def views(evidence: Evidence) -> tuple[TextView, ...]:
    """Return the views to choose from; none unless the one column is a text whose bag is "auto"."""
    blocks = evidence.schema.blocks
    event = blocks[0].event if len(blocks) == 1 and len(blocks[0].columns) == 1 else None
    if not isinstance(event, Text) or event.bag != "auto":
        return ()
    return tuple(TextView(view.bag, view.ngrams) for view in event.views())


def viewed(evidence: Evidence, view: TextView | None) -> Evidence:
    """Return the evidence as if it had been counted with a view; without one, with the first.

    Examples
    --------
    >>> import tallybayes as tb
    >>> texts, kinds = ["cheap pills", "cheap watches", "lunch today"], ["spam", "spam", "ham"]
    >>> auto, plain = (tb.fit(texts, kinds, events=one).evidence for one in ("text(bag='auto')", "text"))
    >>> viewed(auto, TextView("multinomial", (1, 1))) == plain
    True
    """
    blocks, statistics = list(evidence.schema.blocks), list(evidence.statistics)
    for b, block in enumerate(blocks):
        if isinstance(block.event, Text) and block.event.bag == "auto":
            found = [one for one in block.event.views() if view is None or (one.bag, one.ngrams) == view]
            blocks[b] = replace(block, event=as_event(found[0]))
            statistics[b] = block.event.viewed(statistics[b], found[0])
    if tuple(blocks) == evidence.schema.blocks:
        return evidence
    return replace(evidence, schema=replace(evidence.schema, blocks=tuple(blocks)), statistics=tuple(statistics))
