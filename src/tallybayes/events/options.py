"""Options as plain Python values, which a model file can spell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["is_finite", "is_number", "plain_option", "shown"]

# Characters of a value in a message.
_MOST_SHOWN = 200


def plain_option(value: Any) -> Any:
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
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    return tuple(map(plain_option, value)) if isinstance(value, tuple | list | set | frozenset) else value


def is_number(value: Any) -> bool:
    """Return whether a value is a number, Python's or NumPy's, and no boolean."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a double can hold.

    Examples
    --------
    >>> is_finite(10**308), is_finite(10**309), is_finite(float("nan")), is_finite(True)
    (True, False, False, False)
    """
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """Return a value as a message shows it, shortened.

    Examples
    --------
    >>> shown(10**9999), shown("a" * 999), shown(0.5)
    ('a number of 33,216 bits', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", '0.5')
    """
    if isinstance(value, int) and abs(value) >= 1 << 1024:  # Python refuses to write thousands of digits
        return f"a number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:40]}..."
