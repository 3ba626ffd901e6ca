"""The worst mistakes: the wrong rows with the least probable true class, explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.display.tables import Grid, Result
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.explain.explanation import Explanation
from tallybayes.model import Model
from tallybayes.reporting.first_pass import FirstPass
from tallybayes.reporting.performance import Performance

_LONGEST = 400  # characters of a text that are shown


@dataclass(frozen=True, eq=False, repr=False)
class Mistake(Result):
    """A row that was predicted wrongly, with an explanation.

    Attributes
    ----------
    row : int
        The row number, starting from 1.
    true, decided : object
        The true class, and the predicted one.
    probability : float
        The probability of the true class, predicted with the row held out.
    why : Explanation
        The contributions to the predicted class, by a model that has not learned this row.
    texts : dict of str to str
        The row's text columns, truncated if long.
    """

    row: int
    true: Any
    decided: Any
    probability: float
    why: Explanation
    texts: dict[str, str]

    def shown(self) -> Grid:
        """Return the table of the explanation."""
        return self.why.shown()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return self._named("row", "true", "decided", "probability", "texts", "why")


def worst_mistakes(
    model: Model, scan: FirstPass, answer: Performance, most: int, *, learned: bool
) -> tuple[Mistake, ...]:
    """Return the wrong rows with the least probable true class, worst first.

    A model that has learned these rows forgets each row before it explains it.
    """
    classes = answer.evaluation.classes
    wrong = np.flatnonzero((answer.true >= 0) & (answer.true != answer.decided))
    worst = wrong[np.argsort(-answer.losses[wrong], kind="stable")][:most]
    found = []
    for place, batch in zip(worst, scan.take(worst), strict=True):
        judge = model.forget(batch, scan.label, weights=scan.weight) if learned else model
        judge = judge if len(judge.classes) > 1 else model  # forgetting a class's only row may leave one class
        found.append(
            Mistake(
                int(place) + 1,
                classes[answer.true[place]],
                classes[answer.decided[place]],
                float(np.exp(-answer.losses[place])),
                judge.explain(batch),
                _texts(model, batch),
            )
        )
    return tuple(found)


def _texts(model: Model, batch: pa.RecordBatch) -> dict[str, str]:
    rows = RowBatch(batch, 0)
    texts = {name: rows.column(name)[0].as_py() for name in model.schema.texts}
    return {name: _cut(text) for name, text in texts.items() if text}


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
