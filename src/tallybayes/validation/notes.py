"""Remarks on a validation beside its figures, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.validation.plan import Plan
from tallybayes.validation.split import IntCodes

# Classes listed by name; of further ones, only the number is given.
_NAMED = 5


def remarks(
    plan: Plan, names: Sequence[Any], strata: IntCodes, unscored: int, unknown: npt.NDArray[np.bool_], impossible: int
) -> tuple[str, ...]:
    """Return the sentences.

    `strata` (n,) holds the class of each row, `unknown` (R, n) marks rows scored by a model without their class, and
    `impossible` says how often a row was impossible under every class.
    """
    notes = []
    if plan.kind == "folds":
        sizes = np.bincount(strata, minlength=len(names))
        few = [(name, size) for name, size in zip(names, sizes.tolist(), strict=True) if 0 < size < plan.folds]
        for name, size in few[:_NAMED]:
            rows = "1 row" if size == 1 else f"{size} rows"
            notes.append(f"Class {name!r} has {rows}, fewer than the {plan.folds} folds: some folds have none of it.")
        if len(few) > _NAMED:
            notes.append(f"So do {len(few) - _NAMED} more classes.")
    if unscored:
        rows = "1 row was" if unscored == 1 else f"{unscored} rows were"
        what = "the first block, scored by nothing" if plan.kind == "prequential" else "training rows in every repeat"
        notes.append(f"{rows} not scored: {what}.")
    if unknown.any():
        where = np.nonzero(unknown)[-1]
        listed = [repr(names[c]) for c in np.unique(strata[where])]
        more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
        times = "1 row was" if len(where) == 1 else f"{len(where)} rows were"
        notes.append(
            f"{times} scored by a model that did not know the class, and counted as wrong: "
            f"{', '.join(listed[:_NAMED])}{more}."
        )
    if impossible:
        rows = "1 row was" if impossible == 1 else f"{impossible} rows were"
        notes.append(f"{rows} impossible under every class; the answer is the class prior. Smooth to avoid this.")
    return tuple(notes)
