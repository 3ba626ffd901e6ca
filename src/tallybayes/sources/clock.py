"""Times of day and durations as seconds: 14:30, 1:05:20, 2:39 PM."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["CLOCK", "HALF_DAY", "seconds"]

CLOCK = r"^(?P<h>\d{1,3}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?$"
# The hours of half a day: 2:39 PM, 11 a.m. Newer systems put a narrow space before the letters.
HALF_DAY = (
    r"^(?P<h>0?[1-9]|1[0-2])(?::(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?)?"
    r"[\s\x{00A0}\x{202F}]?(?P<half>[aApP])\.?[mM]\.?$"
)


def seconds(texts: pa.Array) -> pa.Array:
    """Return the seconds of times of day or durations, null where a text is neither.

    Examples
    --------
    >>> seconds(pa.array(["14:30", "1:05:20", "2:39 PM", "12 a.m.", "noon"])).to_pylist()
    [52200.0, 3920.0, 52740.0, 0.0, None]
    """
    whole, half = (pc.extract_regex(texts, pattern) for pattern in (CLOCK, HALF_DAY))
    hour = _number(pc.struct_field(half, "h"))
    hour = pc.if_else(pc.equal(hour, 12.0), 0.0, hour)
    later = pc.if_else(pc.equal(pc.utf8_lower(pc.struct_field(half, "half")), "p"), 12.0, 0.0)
    return pc.coalesce(_sum(whole, _number(pc.struct_field(whole, "h"))), _sum(half, pc.add(hour, later)))


def _sum(parts: pa.Array, hours: pa.Array) -> pa.Array:
    minutes, rest = (_number(pc.struct_field(parts, name)) for name in "ms")
    return pc.add(pc.add(pc.multiply(hours, 3600.0), pc.multiply(minutes, 60.0)), rest)


def _number(digits: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(digits, ""), "0", digits).cast(pa.float64())
