"""The worst mistakes: the rows whose true class was least expected, and why something else was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.display.tables import Grid, Result, plain
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.explain.explanation import Explanation
from tallybayes.model import Model
from tallybayes.reporting.first_pass import FirstPass
from tallybayes.reporting.performance import Answer

__all__ = ["Mistake", "worst_mistakes"]

_LONGEST = 400


@dataclass(frozen=True, eq=False)
class Mistake(Result):
    """A row that was told wrongly, and why.

    Attributes
    ----------
    row : int
        Which row, the first being 1.
    true, decided : object
        Its class, and the one that it was taken for.
    probability : float
        What its true class was given when it was held out.
    why : Explanation
        What spoke for the class it was taken for, by a model that has not learned this row.
    texts : dict of str to str
        Its columns of text, cut where they are long.
    """

    row: int
    true: Any
    decided: Any
    probability: float
    why: Explanation
    texts: dict[str, str]

    def shown(self) -> Grid:
        """The explanation's table."""
        return self.why.shown()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        told = {"row": self.row, "true": self.true, "decided": self.decided, "probability": self.probability}
        return dict(plain({**told, "texts": self.texts, "why": self.why}))


def worst_mistakes(model: Model, looked: FirstPass, answer: Answer, most: int, *, learned: bool) -> tuple[Mistake, ...]:
    """The rows told wrongly with the least expected class, worst first.

    Parameters
    ----------
    model, looked, answer
        The model, the rows, and what it said of them.
    most : int
        How many at most.
    learned : bool
        Whether the model has learned these rows, and has to forget each before it is asked.
    """
    classes = answer.evaluation.classes
    wrong = np.flatnonzero((answer.true >= 0) & (answer.true != answer.decided))
    worst = wrong[np.argsort(-answer.losses[wrong], kind="stable")][:most]
    found = []
    for place, batch in zip(worst, looked.take(worst), strict=True):
        asked = model.forget(batch, looked.label, weights=looked.weight) if learned else model
        asked = asked if len(asked.classes) > 1 else model  # of the only row of a class, nothing is left to ask
        found.append(
            Mistake(
                int(place) + 1,
                classes[answer.true[place]],
                classes[answer.decided[place]],
                float(np.exp(-answer.losses[place])),
                asked.explain(batch),
                _texts(model, batch),
            )
        )
    return tuple(found)


def _texts(model: Model, batch: pa.RecordBatch) -> dict[str, str]:
    rows = RowBatch(batch, 0)
    names = [name for block in model.schema.blocks if block.event.input == "text" for name in block.columns]
    told = {name: rows.column(name)[0].as_py() for name in names}
    return {name: _cut(text) for name, text in told.items() if text}


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
