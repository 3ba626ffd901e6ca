"""Log-densities as SQL, from the functions that every database has: LN, ABS and arithmetic."""

from __future__ import annotations

import math

from tallybayes.events.plain_terms import NamedDensity
from tallybayes.export.sql_dialect import Dialect, number

__all__ = ["log_density"]

_FAR = 1e90  # standard deviations; further away, squares might overflow, an error in PostgreSQL
_SERIES = 16.0  # Stirling's series is accurate from here on


def log_density(plain: NamedDensity, x: str, sql: Dialect) -> list[str]:  # (C,)
    """Return the log-density of each class at an expression x that is not NULL."""
    u = f"LN({sql.greatest(x, '1e-320' if sql.key != 'mysql' else '1e-300')})" if plain.of_log else x
    classes = range(len(plain.parameters["constant"]))
    return [
        _of_class(plain.form, {key: float(value[c]) for key, value in plain.parameters.items()}, u, sql)
        for c in classes
    ]


def _of_class(form: str, p: dict[str, float], u: str, sql: Dialect) -> str:
    constant = number(p["constant"])
    if form == "linear":
        return f"{constant} + {_slope(p['slope'])} * {u}"
    if form == "lomax":
        return f"{constant} - {number(p['power'])} * LN(1 + {number(p['scale'])} * {sql.greatest(u, '0e0')})"
    if form == "negative binomial":
        if p["size"] == 0:
            return f"CASE WHEN {u} > 0 THEN {_slope(-math.inf)} ELSE {constant} END"
        return f"{constant} + {number(p['slope'])} * {u} + {_rise(p['size'], sql.greatest(u, '0e0'))}"
    farthest = min(_FAR / p["scale"], 1e300)
    rest = f" - {number(p['rest'])}" if p.get("rest") else ""
    apart = f"ABS({u} - {number(p['location'])}{rest})"
    z = f"{sql.least(apart, number(farthest))} * {number(p['scale'])}"
    square = f"({z}) * ({z})"
    return f"{constant} - {square}" if form == "normal" else f"{constant} - {number(p['power'])} * LN(1 + {square})"


def _slope(slope: float) -> str:
    return number(-1e200 if slope == -math.inf else slope)


def _rise(a: float, x: str) -> str:
    """Return log Γ(a + x) − log Γ(a), by Stirling's series from 16 on."""
    parts = []
    while a < _SERIES:
        parts.append(f"LN({number(a)} / ({number(a)} + {x}))")
        a += 1.0
    z = f"({number(a)} + {x})"

    def tail(z: float) -> float:
        return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z * z)) / (z * z)) / (z * z)) / z

    square = f"({z} * {z})"
    series = f"(1 / 12e0 - (1 / 360e0 - (1 / 1260e0 - 1 / (1680e0 * {square})) / {square}) / {square}) / {z}"
    main = f"{x} * {number(math.log(a))} + ({z} - 0.5e0) * LN(1 + {x} / {number(a)}) - {x}"
    return " + ".join([*parts, main, f"{series} - {number(tail(a))}"])
