"""Random values of every type that a caller may hold, and random tables of them."""

from __future__ import annotations

import datetime as dt
import math
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from tallybayes.sources.to_arrow import check_times

SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 3, 5, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400),
    *(0.0, -0.0, 0.5, 1.0, 1.5, -2.5, math.nan, math.inf, -math.inf, 1e300, 1.7e308, 5e-324, 1e-300, 0.95),
    *("", "a", "b", "x", "y", "yes", "NA", "1", "nan", "\0", "\ud800", "é", "a" * 500, "..", "*", "x=1", "[", "-" * 99),
    *(b"", b"a", b"\xff\x00", bytearray(b"a"), memoryview(b"a")),
    *(Decimal("NaN"), Decimal("1e400"), Decimal("0.5"), Fraction(1, 3), 1j, Ellipsis, NotImplemented, object, len),
    *(dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.datetime(2020, 1, 1), dt.timedelta(1), dt.time(1, 2)),
    dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    *(np.float32(0.1), np.float64("nan"), np.int8(-1), np.uint64(2**64 - 1), np.bool_(True), np.str_("a")),
    *(np.bytes_(b"a"), np.datetime64("NaT"), np.datetime64("2020-01-01"), np.timedelta64(1, "D"), np.float16(2)),
    np.longdouble(1) / 3,
    *(pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), pd.Interval(0, 1), pa.scalar(1), pa.scalar(None), pa.scalar("a")),
    *(Path("no/such/file"), Path("."), slice(3), range(0), range(3), frozenset(), frozenset({1})),
)  # fmt: skip
DTYPES = ("f8", "f4", "f2", "i8", "i1", "u8", "?", "U3", "S3", "O", "M8[ns]", "m8[D]", "c16", "g")
ROWS = 6
LABELS = ["p", "q", "p", "q", "p", "q"]


def scalar(rng: Random) -> Any:
    """Return one value, often a strange one."""
    return rng.choice(SCALARS)


def anything(rng: Random) -> Any:
    """Return a value of any type: a scalar, a container, an array, a frame or a table."""
    return rng.choice((scalar, scalar, container, container, array, frame, rows, table))(rng)


def container(rng: Random) -> Any:
    """Return a list, tuple, set, mapping, iterator or object of values."""
    size = rng.choice((0, 1, 2, 3, ROWS))
    items = [scalar(rng) for _ in range(size)]
    alike = [rng.choice((0, 1, 2.5, "a", True))] * size
    loop: list[Any] = []
    loop.append(loop)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: items,
        lambda: alike,
        lambda: tuple(items),
        lambda: {repr(one)[:9]: one for one in items},
        lambda: {one: 0.5 for one in items if not isinstance(one, bytearray | slice)},
        lambda: OrderedDict(x=items, y=LABELS[:size]),
        lambda: set(alike),
        lambda: iter(items),
        lambda: (one for one in items),
        lambda: [items, items],
        lambda: [{"x": one, "y": "p"} for one in items],
        lambda: loop,
        lambda: {"x": {"y": 1}},
        lambda: [[[1.0]]],
        lambda: type("Odd", (), {"__len__": lambda _: -1})(),
    )
    return rng.choice(makers)()


def array(rng: Random) -> Any:
    """Return a NumPy array, a sparse matrix or an Arrow array of any shape and type."""
    shape = rng.choice(((), (0,), (ROWS,), (ROWS, 2), (ROWS, 0), (0, 2), (2, ROWS), (ROWS, 2, 2), (1, 1), (ROWS, 1)))
    numbers = np.array([rng.choice((0, 1, 2, 3)) for _ in range(math.prod(shape))]).reshape(shape)
    if rng.random() < 0.3 and numbers.size:
        numbers = numbers.astype(float)
        numbers.flat[0] = rng.choice((math.nan, math.inf, -1.0, 1e300, 0.5))
    if rng.random() < 0.3 and numbers.ndim == 2:
        kinds = (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array, sparse.dok_array)
        with np.errstate(all="ignore"):  # before it is sparse: scipy converts the infinite entries of a dict one by one
            return rng.choice(kinds)(numbers.astype(rng.choice(("f8", "f4", "i4", "?"))))
    with np.errstate(all="ignore"):
        made = numbers.astype(rng.choice(DTYPES)) if rng.random() < 0.8 else numbers
    forms: tuple[Callable[[], Any], ...] = (
        lambda: made,
        lambda: made[::-1] if made.ndim else made,
        lambda: np.asfortranarray(made),
        lambda: np.ma.masked_array(made, mask=numbers == 1),
        lambda: np.array(made.tolist(), object),
        lambda: pa.array(made.tolist()) if made.ndim == 1 and made.dtype.kind in "i?U" else made,
        lambda: memoryview(made) if made.dtype.kind in "fiu?" else made,
    )
    return rng.choice(forms)()


def column(rng: Random, size: int = ROWS) -> list[Any]:
    """Return the values of a column: of one kind with a few strange ones, or of all kinds."""
    kinds: tuple[tuple[Any, ...], ...] = (
        *((0.0, 1.0, 2.5, -3.0), (0, 1, 2, 3), ("a", "b", "c"), (True, False), ("a b", "b c d", "a"), SCALARS),
        (dt.date(2020, 1, 1), dt.date(1, 1, 1)),
        (math.nan, 1e300, -1e300, 5e-324, 1.0),
        (2**63 - 1, -(2**63), 0, 2**53 + 1),
        ("1", "2", "x", ""),
    )
    kind = rng.choice(kinds)
    values = [rng.choice(kind) for _ in range(size)]
    if rng.random() < 0.3:
        values[rng.randrange(size)] = scalar(rng)
    if rng.random() < 0.3:
        values[rng.randrange(size)] = None
    return values


def table(rng: Random) -> dict[str, Any]:
    """Return columns x, s and y as lists, some strange, of one length as a rule."""
    size = ROWS if rng.random() < 0.9 else rng.choice((1, 2, 30))
    labels = [LABELS[k % ROWS] for k in range(size)] if rng.random() < 0.8 else column(rng, size)
    made: dict[Any, Any] = {"x": column(rng, size), "s": column(rng, size), "y": labels}
    if rng.random() < 0.1:
        made[rng.choice(("", "x\0", "P(p)", "predicted", 1, None, "\ud800", "y "))] = column(rng, size)
    if rng.random() < 0.1:
        made.pop(rng.choice(list(made)))
    if rng.random() < 0.05 and made:
        made[rng.choice(list(made))] = column(rng, size + 1)
    return made


def _arrow(made: dict[str, Any]) -> pa.Table:
    """Return a table of Arrow, unless Arrow itself would crash."""
    for values in made.values():
        check_times(values, "a column")
    return pa.table(made)


def frame(rng: Random) -> Any:
    """Return a table as a frame of some library, or a table of Arrow; the columns alone where none can hold them."""
    made = table(rng)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: pd.DataFrame(made),
        lambda: pd.DataFrame(made).convert_dtypes(),
        lambda: pd.DataFrame(made).astype("category"),
        lambda: pd.DataFrame(made).set_index("y"),
        lambda: pd.concat([pd.DataFrame(made)] * 2, axis=1),
        lambda: pd.Series(made["x"]),
        lambda: pl.DataFrame(made, strict=False),
        lambda: pl.DataFrame(made, strict=False).lazy(),
        lambda: pl.Series(made["x"], strict=False),
        lambda: _arrow(made),
        lambda: pa.table({"x": pa.array([[1], [2]]), "y": ["p", "q"]}),
        lambda: pa.table({"x": pa.array([{"a": 1}, None]), "y": ["p", "q"]}),
        lambda: _arrow(made).to_batches()[0],
        lambda: _arrow(made).to_reader(),
        lambda: pa.table({"x": pa.array(["a", "b"]).dictionary_encode(), "y": pa.array([1, None], pa.uint64())}),
        lambda: [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)],
    )
    try:
        return rng.choice(makers)()
    except BaseException:  # the library's own refusal (in polars a panic): nothing of ours was called
        return made


def rows(rng: Random) -> Any:
    """Return rows as dicts, with values missing or strange."""
    made = table(rng)
    size = min((len(values) for values in made.values()), default=0)
    listed = [{name: made[name][k] for name in made if rng.random() < 0.95} for k in range(size)]
    return listed[0] if listed and rng.random() < 0.3 else listed
