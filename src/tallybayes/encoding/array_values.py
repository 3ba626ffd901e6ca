"""Values of an Arrow array as Python has them, to word errors."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

__all__ = ["first_text", "has_number", "in_python"]


def first_text(array: pa.Array) -> tuple[int, Any]:
    """Return the row of the first value that is not a number, and the value."""
    for row, value in enumerate(in_python(array)):
        try:
            float(value)
        except TypeError:
            if value is not None:
                return row, value
        except ValueError:
            return row, value
    return 0, array[0].as_py()


def has_number(array: pa.Array) -> bool:
    """Return whether some text among the first values is a number: then another may stand for a missing one."""
    texts = (value for value in in_python(array.slice(0, 1000)) if isinstance(value, str))
    return any(text.strip().removeprefix("-").replace(".", "", 1).isdigit() for text in texts)


def in_python(array: pa.Array) -> list[Any]:
    """Return the values; as text where Python has none, as for a date after the year 9999."""
    try:
        return list(array.to_pylist())
    except (OverflowError, ValueError):
        pass
    try:
        return list(array.cast(pa.string()).to_pylist())
    except pa.ArrowNotImplementedError:  # lists and the like, of what Python cannot hold
        return [str(array.type)] * len(array)
