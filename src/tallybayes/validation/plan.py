"""The meaning of `how`: which rows are held out, how often, and how many at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from tallybayes.arguments import whole_number
from tallybayes.errors import BadOption, wanted

_FORMS = "'loo', '10-fold', '10x10', 'holdout', 'holdout(0.25)', '10xholdout', 'prequential' or 'prequential(500)'"
_FOLDS = re.compile(r"(\d+)-fold")
_REPEATED = re.compile(r"(\d+)x(\d+)")
_HOLDOUT = re.compile(r"(?:(\d+)x)?holdout(?:\(([0-9./e-]+)\))?")
_PREQUENTIAL = re.compile(r"prequential(?:\((\d+)\))?")


@dataclass(frozen=True)
class Plan:
    """Which rows are held out."""

    how: str  # as the user wrote it
    # each row, each fold, a share, each block by those before it, or folds given by the user
    kind: Literal["loo", "folds", "holdout", "prequential", "given"]
    folds: int = 1  # the number of folds; 1 for a holdout
    repeats: int = 1  # the number of repeats, each with other folds
    share: float = 1 / 3  # the fraction of the rows that a holdout holds out
    block: int | None = None  # the number of rows in a block of a prequential validation


def parse(how: Any) -> Plan:
    """Parse `how` into a plan.

    Examples
    --------
    >>> plan = parse("10x5-fold".removesuffix("-fold"))
    >>> plan.kind, plan.repeats, plan.folds
    ('folds', 10, 5)
    >>> parse("holdout(1/4)").share
    0.25
    """
    if not isinstance(how, str):
        raise BadOption(wanted("how", f"one of {_FORMS}", repr(how)))
    text = how.replace(" ", "").lower()
    if text == "loo":
        return Plan(how, "loo")
    if found := _FOLDS.fullmatch(text):
        return _folds(how, 1, int(found[1]))
    if found := _REPEATED.fullmatch(text):
        return _folds(how, int(found[1]), int(found[2]))
    if found := _HOLDOUT.fullmatch(text):
        return Plan(how, "holdout", repeats=_times(how, int(found[1] or 1)), share=_share(how, found[2]))
    if found := _PREQUENTIAL.fullmatch(text):
        block = None if found[1] is None else int(found[1])
        if block == 0:
            raise BadOption(wanted("how", "blocks of at least 1 row", repr(how)))
        return Plan(how, "prequential", block=block)
    raise BadOption(wanted("how", f"one of {_FORMS}", repr(how)))


def check_seed(seed: Any) -> int:
    """Return the seed as an int; raise unless it is a whole number not below 0."""
    return whole_number("seed", seed)


def _folds(how: str, repeats: int, folds: int) -> Plan:
    if folds < 2:
        raise BadOption(wanted("how", "at least 2 folds", repr(how)))
    return Plan(how, "folds", folds, _times(how, repeats))


def _times(how: str, repeats: int) -> int:
    if repeats < 1:
        raise BadOption(wanted("how", "at least 1 repeat", repr(how)))
    return repeats


def _share(how: str, text: str | None) -> float:
    if text is None:
        return 1 / 3
    try:
        over, _, under = text.partition("/")
        share = float(over) / float(under or 1)
    except (ValueError, ZeroDivisionError):
        share = -1.0
    if not 0 < share < 1:
        raise BadOption(wanted("how", "a share above 0 and below 1, as in 'holdout(0.25)'", repr(how)))
    return share
