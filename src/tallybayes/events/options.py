"""Options as plain Python values, which a model file can spell."""

from __future__ import annotations

import math
from typing import TypeAlias, TypeGuard, cast

import numpy as np

from tallybayes.arguments import is_number, shown
from tallybayes.errors import BadOption, wanted

__all__ = ["Option", "is_finite", "is_number", "is_plain", "plain_option", "shown"]

Option: TypeAlias = object  # text, number, yes or no, none, or a tuple of them; what else is given, the event refuses


def plain_option(value: object) -> Option:
    """Return NumPy scalars and instances of subclasses as plain Python values.

    Lists and sets become tuples.

    Examples
    --------
    >>> plain_option(np.float32(0.5)), plain_option([np.int64(1), np.str_("a")])
    (0.5, (1, 'a'))
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer) and is_number(value):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, tuple | list | set | frozenset):
        return value
    try:
        return tuple(map(plain_option, value))
    except RecursionError:
        raise BadOption(wanted("option", "a list that does not hold itself", shown(value))) from None


def is_plain(value: Option) -> bool:
    """Return whether a model file can spell an option.

    Examples
    --------
    >>> is_plain(("a", 2)), is_plain(object()), is_plain((1.0, float("inf"))), is_plain("\\ud800")
    (True, False, False, False)
    """
    if isinstance(value, str):
        return not any("\ud800" <= c <= "\udfff" for c in value)
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return value is None or isinstance(value, bool) or is_finite(value)


def is_finite(value: object) -> TypeGuard[float]:
    """Return whether a value is a number that a double can hold.

    Examples
    --------
    >>> is_finite(10**308), is_finite(10**309), is_finite(float("nan")), is_finite(True)
    (True, False, False, False)
    """
    try:
        return is_number(value) and math.isfinite(cast("float", value))
    except OverflowError:
        return False
