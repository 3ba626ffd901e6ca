"""Evidence in which interactions of columns count like columns: as before any weight was fitted."""

from __future__ import annotations

from dataclasses import replace

from tallybayes.events.product import Product
from tallybayes.evidence.evidence import Evidence
from tallybayes.schema.schema import Block

__all__ = ["at_weight_one", "with_products"]


def at_weight_one(evidence: Evidence) -> tuple[float, Evidence]:
    """Return the weight before calibration of one block's columns, and the evidence with a weight of 1."""
    [block] = evidence.schema.blocks
    return block.event.base if isinstance(block.event, Product) else 1.0, with_products(evidence)


def with_products(evidence: Evidence) -> Evidence:
    """Return the evidence with a weight of 1 for every interaction."""

    def whole(block: Block) -> Block:
        event = block.event
        return replace(block, event=event.at_weight_one()) if isinstance(event, Product) else block

    if not evidence.schema.products:
        return evidence
    return replace(evidence, schema=replace(evidence.schema, blocks=tuple(map(whole, evidence.schema.blocks))))
