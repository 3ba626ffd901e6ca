"""Choose the products of columns that a model counts, by the name of its structure."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tallybayes.errors import BadOption, wanted
from tallybayes.events.event import as_event
from tallybayes.events.interaction import MOST_CELLS
from tallybayes.events.one_dependence import OneDependence
from tallybayes.evidence.evidence import Evidence
from tallybayes.inference.choices import Choices
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.schema.schema import Block
from tallybayes.structure.choose_by_folds import choose_by_folds
from tallybayes.structure.choose_pairs import MOST_COLUMNS, choose_pairs, look_at
from tallybayes.structure.information import figures
from tallybayes.structure.pairs import PairCounts
from tallybayes.structure.products import product, slotted_columns

__all__ = ["choose"]

_MOST_NUMBERS = 1 << 22  # of the tables of all pairs and classes (32 MB)


def choose(evidence: Evidence, choices: Choices, sample: SampledRows) -> list[Block]:
    """Return the products that the choices ask for.

    Parameters
    ----------
    evidence : Evidence
        The evidence of the columns, of all rows.
    choices : Choices
        The structure, and how columns are estimated.
    sample : SampledRows
        Some of the rows, to choose by.
    """
    if choices.structure == "tan":
        return _spanning_tree(evidence, sample)
    if choices.structure == "aode":
        return _all_pairs(evidence, sample)
    if choices.structure == "joint":
        return _joint(evidence, sample)
    resolved = replace(choices, prior="learned").resolved(evidence, {})  # the shares that these rows have
    return (choose_by_folds if choices.structure == "auto" else choose_pairs)(evidence, resolved, sample)


def _spanning_tree(evidence: Evidence, sample: SampledRows) -> list[Block]:
    """Return the pairs of a tree that hold the most mutual information given the class (Chow and Liu 1968)."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    schema = evidence.schema
    columns = slotted_columns(schema, sample, schema.columns[:MOST_COLUMNS])
    pairs = look_at([column.size for column in columns], len(evidence.classes), len(schema.columns))
    columns = columns[: 1 + max((g for _, g in pairs), default=-1)]
    if len(columns) < 2:
        return []
    empty = PairCounts.empty(tuple(one.part.column for one in columns), tuple(one.slots for one in columns))
    counts = empty.count(schema, sample.rows.batch)
    found = figures(counts)
    bits = found.given - found.chance
    far = np.zeros((len(columns), len(columns)))
    far[tuple(counts.pairs.T)] = bits.max() + 1 - bits  # above 0, or it would be no edge
    tree = minimum_spanning_tree(far).tocoo()
    edges = sorted((int(f), int(g)) for f, g in zip(tree.row, tree.col, strict=True))
    value = dict(zip(map(tuple, counts.pairs.tolist()), bits.tolist(), strict=True))
    products: list[Block] = []
    for edge in edges:
        if value[edge] > 0:  # else chance alone would explain it
            taken = [name for block in products for name in block.columns]
            products.append(product(schema, (columns[k].part for k in edge), base=1.0, taken=taken))
    return products


def _all_pairs(evidence: Evidence, sample: SampledRows) -> list[Block]:
    """Return all pairs of columns, as one block."""
    schema, most = evidence.schema, min(MOST_CELLS, _MOST_NUMBERS // max(1, len(evidence.classes)))
    few = schema.columns[: math.isqrt(most)]  # a pair has four cells or more
    columns = slotted_columns(schema, sample, few)
    if len(columns) < 2 and len(few) == len(schema.columns):
        return []
    event = OneDependence(tuple(column.part for column in columns))
    if len(few) < len(schema.columns) or event.size > most:
        got, do = f"those of {len(schema.columns):,} columns", "Choose 'pairs', or fewer columns"
        raise BadOption(wanted("structure 'aode'", f"at most {most:,} pairs of values", got, do))
    name = "all pairs"
    while name in schema.columns:
        name += "'"
    return [Block(as_event(event), (name,))]


def _joint(evidence: Evidence, sample: SampledRows) -> list[Block]:
    """Return the product of all columns: a cell for each combination of values."""
    few = evidence.schema.columns[: MOST_CELLS.bit_length()]  # each column has two slots or more
    columns = slotted_columns(evidence.schema, sample, few)
    if len(few) < len(evidence.schema.columns) or math.prod(column.size for column in columns) > MOST_CELLS:
        got, do = f"those of {len(evidence.schema.columns):,} columns", "Choose 'pairs', or fewer columns"
        raise BadOption(wanted("structure 'joint'", f"at most {MOST_CELLS:,} combinations of values", got, do))
    return [product(evidence.schema, (column.part for column in columns), base=1.0)] if len(columns) > 1 else []
