"""The one assumption of queries and samples: columns are independent given the class."""

from __future__ import annotations

from tallybayes.errors import BadOption, wanted
from tallybayes.events.interaction import Interaction
from tallybayes.schema.schema import Schema

__all__ = ["check_independent"]


def check_independent(schema: Schema, where: str) -> None:
    """Raise if the model's joint distribution has columns that depend on each other given the class.

    Interactions that only calibration weighs are no part of the joint distribution, so they do not matter here.
    """
    for block in schema.products:
        if isinstance(block.event, Interaction) and block.event.base:
            want, got = "columns that are independent given the class", f"{block.columns[0]!r} counted together"
            raise BadOption(wanted(where, want, got, "Fit with structure 'naive' or 'pairs'"))
