"""What is made of all rows in one pass, wherever they lie: their evidence, the rows to calibrate by, or both."""

from __future__ import annotations

from tallybayes import engines, sources
from tallybayes.evidence import count_partitions, count_threads
from tallybayes.evidence.evidence import Evidence
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.schema.schema import Schema

__all__ = ["choose_all", "count_all", "count_and_choose"]


def count_all(schema: Schema, rows: sources.Source, threads: int) -> Evidence:
    """The evidence of all rows."""
    partitions = engines.partitions_of(rows)
    counted = (
        count_threads.known(schema, rows, threads, choose=False)
        if partitions is None
        else count_partitions.known(schema, partitions, None)
    )
    return counted.evidence


def choose_all(schema: Schema, rows: sources.Source, threads: int) -> BottomKSample:
    """Of all rows those by which a model is calibrated."""
    if engines.partitions_of(rows) is None:
        return count_threads.choose(schema, rows, threads)
    return count_and_choose(schema, rows, threads)[1]  # reading them is most of the work


def count_and_choose(schema: Schema, rows: sources.Source, threads: int) -> tuple[Evidence, BottomKSample]:
    """Both in one pass."""
    partitions = engines.partitions_of(rows)
    both = (
        count_threads.known(schema, rows, threads, choose=True)
        if partitions is None
        else count_partitions.known_and_chosen(schema, partitions)
    )
    assert both.chosen is not None
    return both.evidence, both.chosen
