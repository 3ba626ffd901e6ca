"""Add the evidence of products of columns to that of the columns.

They are chosen by a sample, and counted in all rows.
"""

from __future__ import annotations

from dataclasses import replace

from tallybayes import engines
from tallybayes.errors import BadData, wanted
from tallybayes.evidence.count import count
from tallybayes.evidence.evidence import count_rows
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.inference.choices import Choices
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.structure.choose import choose
from tallybayes.structure.products import counted_alone

__all__ = ["add_products"]


def add_products(
    found: PartialEvidence, choices: Choices, rows: engines.Partitioned | None, threads: int
) -> PartialEvidence:
    """Return the evidence with that of the products that the choices ask for.

    Parameters
    ----------
    found : PartialEvidence
        The evidence of the columns, and a sample of the rows.
    choices : Choices
        The structure.
    rows : Partitioned or None
        The rows, to be counted in a second pass unless the sample has all of them; None counts the sample.
    threads : int
        The number of threads, for rows on this machine.
    """
    evidence, sample = found.evidence, found.chosen
    sampled = None if sample is None else SampledRows.of(evidence, sample)
    products = [] if sampled is None else choose(evidence, choices, sampled)
    if sample is None or sampled is None or not products:
        return found
    schema = counted_alone(evidence.schema, products)
    if rows is None or sample.has_all:
        return replace(found, evidence=evidence.with_products(count_rows(schema, sampled.rows)))
    counted = count(schema, rows, threads).evidence
    if counted.rows != evidence.rows:
        do = "Read from rows that do not change"
        raise BadData(wanted(rows.name, "the same rows in a second pass", "others", do))
    return replace(found, evidence=evidence.with_products(counted))
