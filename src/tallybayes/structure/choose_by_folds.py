"""Choose how bold a structure may be, by nested folds.

The choice is between pairs that pay for their weight, the same beside the correlation of numbers, and free pairs and
triples in place of those that pay.

Interactions that are chosen by the labels look better on the rows that they were chosen by. So everything, choosing
included, is done again without a fold of the rows, which is then predicted.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import Interaction
from tallybayes.evidence.evidence import Evidence, count_rows
from tallybayes.inference.choices import Choices
from tallybayes.inference.nested_folds import FoldLosses, losses_of_fold, nested_folds
from tallybayes.inference.sampled_rows import SampledRows
from tallybayes.schema.schema import Block
from tallybayes.structure.choose_pairs import PairSearch
from tallybayes.structure.products import counted_alone

__all__ = ["choose_by_folds"]

_FEWEST = 30  # rows: fewer do not give a usable standard error, and nothing is surely better
_FEWEST_FREE = 400  # rows: with fewer, free interactions follow chance
_MOST_ROWS = 20_000  # that take part in folds: more would choose the same


def choose_by_folds(evidence: Evidence, choices: Choices, sample: SampledRows) -> list[Block]:
    """Return pairs that pay for their weight, or free interactions if these predict new rows surely better.

    The correlation of numbers is among them if it predicts new rows surely better too.

    Parameters
    ----------
    evidence : Evidence
        The evidence of all rows.
    choices : Choices
        How the columns are estimated; every smoothing is a number.
    sample : SampledRows
        Some of the rows.
    """
    search, rows = PairSearch(evidence, choices, sample), sample.with_others(evidence, _MOST_ROWS)

    @functools.cache
    def folds() -> list[tuple[PairSearch, SampledRows, SampledRows]]:
        return [(PairSearch(one, choices, train), train, test) for one, train, test in nested_folds(evidence, rows)]

    def is_surely_better(bold: _Way, careful: _Way) -> bool:
        if len(rows) < _FEWEST:
            return False
        losses = FoldLosses()
        for within, train, test in folds():
            losses.add(bold.losses(within, train, test), careful.losses(within, train, test), test)
        mean, error = losses.mean()
        return mean < -error

    way = _Way(free=False, correlated=False)
    if search.correlation is not None and is_surely_better(replace(way, correlated=True), way):
        way = replace(way, correlated=True)
    found = way.find(search)
    bold = replace(way, free=True)
    if len(rows) < _FEWEST_FREE or not any(isinstance(block.event, Interaction) for block in found):
        return found
    return bold.find(search) if is_surely_better(bold, way) else found


@dataclass(frozen=True)
class _Way:
    """A way to choose products: see `PairSearch.find`."""

    free: bool
    correlated: bool

    def find(self, search: PairSearch) -> list[Block]:
        """Return the products that are chosen this way."""
        return search.find(free=self.free, correlated=self.correlated)

    def losses(self, search: PairSearch, train: SampledRows, test: SampledRows) -> Floats:  # (n,)
        """Return the losses of a fold under the products that the other rows choose."""
        counted, products = search.evidence, self.find(search)
        if products:
            counted = counted.with_products(count_rows(counted_alone(counted.schema, products), train.rows))
        return losses_of_fold(counted, search.choices, train, test)
