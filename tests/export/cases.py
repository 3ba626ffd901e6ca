"""Models of every event model, estimate, weighting and policy, with rows that lack values and have new ones."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import tallybayes as tb

EVENTS = {
    "size": "gaussian",
    "income": "lognormal",
    "calls": "poisson",
    "wait": "exponential",
    "lit": "categorical",
    "grade": "categorical",
}
COINS = {"lit": "bernoulli", "shade": "bernoulli(threshold=0.25)"}  # such models have a temperature, not weights
HOSTILE = ["it's", 'a "quote"', "new\nline", "SELECT", "x'); DROP TABLE rows; --", "🎉", "\\", "%s {0} $1", "é" * 60]


class Case(NamedTuple):
    """A model, and rows to score."""

    model: tb.Model
    rows: pa.Table

    def probabilities(self) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tb.ImpossibleRowWarning)
            return self.model.predict_proba(self.rows)


def mixed(n: int, seed: int, *, holes: bool = True, classes: int = 3) -> dict[str, Any]:
    """Rows of every kind of column, which depend on the class and on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(0, 3, n) + y]
    columns: dict[str, Any] = {
        "colour": np.array(["red", "green", "blue", "it's"])[(y + rng.integers(0, 3, n)) % 4].tolist(),
        "grade": ((y + rng.integers(0, 3, n)) % 4).tolist(),
        "flag": (rng.random(n) < 0.2 + 0.2 * y).tolist(),
        "day": days,
        "number": np.round(rng.normal(y, 1.5), 2).tolist(),
        "again": np.round(rng.normal(3 * y, 1.0), 0).tolist(),
        "size": rng.normal(2 * y, 1 + y).tolist(),
        "income": np.exp(rng.normal(y / 2, 1)).tolist(),
        "calls": rng.poisson(2 + y).tolist(),
        "wait": rng.exponential(1 + y).tolist(),
        "lit": (rng.random(n) < 0.3 + 0.1 * y).astype(int).tolist(),
        "shade": rng.random(n).tolist(),
    }
    if holes:
        for name, share in (("colour", 0.1), ("number", 0.15), ("size", 0.1), ("flag", 0.05), ("calls", 0.1)):
            lack = rng.random(n) < share * (1 + y)
            columns[name] = [None if gone else value for gone, value in zip(lack, columns[name], strict=True)]
    return columns | {"kind": np.array(["a", "b", "c", "d", "e"])[y].tolist()}


def to_score(seed: int) -> pa.Table:
    """Rows with values never seen, extreme numbers, and more and more missing values."""
    rows = mixed(90, seed)
    rows.pop("kind")
    rng = np.random.default_rng(seed)
    for k, name in enumerate(rows):
        values = rows[name]
        for i in range(30, 60):
            if rng.random() < (i - 28) / 30:
                values[i] = None
        if k % 2:
            values[60] = None
        values[61] = None
    rows["colour"][5] = "never seen"
    rows["grade"][6] = 77
    rows["day"][7] = datetime.date(1999, 9, 9)
    rows["number"][8], rows["number"][9], rows["number"][10] = 1e6, -1e6, 0.0
    rows["size"][11], rows["calls"][12], rows["wait"][13] = 40.0, 60, 0.0
    return pa.table(rows)


TABLES: dict[str, dict[str, Any]] = {
    **{
        f"{rule} {how}": {"estimate": rule, "calibrate": how}
        for rule in ("mle", "map", "bayes")
        for how in (None, "auto")
    },
    "one": {"calibrate": "one"},
    "histogram": {"events": {"size": "histogram", "income": "histogram"}},
    "bins": {"events": {"size": "bins(5)", "income": "mdl"}},
    "smooth 0.3": {"alpha": 0.3, "variance": "n-1", "prior": "uniform"},
    "evidence": {"alpha": "evidence", "calibrate": None},
    "skip": {"unseen": "skip"},
    "skip plain": {"unseen": "skip", "calibrate": None},
    "category": {"missing": "category"},
    "category plain": {"missing": "category", "calibrate": None, "unseen": "skip"},
    "pairs": {"structure": "pairs"},
    "pairs, category": {"structure": "pairs", "missing": "category"},
    "tan": {"structure": "tan", "calibrate": None},
    "impossible": {"alpha": 0.0, "estimate": "mle", "calibrate": None},
    "far from zero": {"far": 1e12, "estimate": "mle", "calibrate": None},
    "far from zero, bayes": {"far": -1e12},
    "two classes": {"classes": 2},
    "few rows": {"n": 30},
    "coins": {"events": COINS},
    "coins map": {"events": COINS, "estimate": "map", "alpha": 0.5},
    "coins impossible": {"events": COINS, "estimate": "mle", "alpha": 0.0, "calibrate": None, "n": 12},
    "coins plain": {"events": COINS, "calibrate": None},
}


@cache
def table_case(name: str) -> Case:
    """Return a model of all kinds of columns."""
    options = dict(TABLES[name])
    events, far = EVENTS | options.pop("events", {}), options.pop("far", 0.0)
    rows = pa.table(mixed(options.pop("n", 400), 1, classes=options.pop("classes", 3)))
    return Case(tb.fit(_moved(rows, far), "kind", events=events, **options), _moved(to_score(2), far))


def _moved(rows: pa.Table, far: float) -> pa.Table:
    """Return rows whose sizes are larger by a number: means then have digits below their last."""
    at = rows.column_names.index("size")
    return rows.set_column(at, "size", pc.add(rows.column("size"), far))


def _counts(event: str, **options: Any) -> Case:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 200)
    columns = {f"w{k}": rng.poisson(np.where(y == k % 3, 3, 1)) for k in range(6)}
    rows = pa.table({**columns, "other": rng.normal(y), "kind": np.array(["x", "y", "z"])[y]})
    events = dict.fromkeys(columns, event) | options.pop("events", {})
    scored = pa.table({name: pa.array([*values[:40].tolist(), None, 0, 0]) for name, values in columns.items()})
    return Case(
        tb.fit(rows, "kind", events=events, **options), scored.append_column("other", pa.array([*range(41), None, 1.5]))
    )


COUNTS: dict[str, Callable[[], Case]] = {
    "multinomial": lambda: _counts("multinomial"),
    "multinomial plain": lambda: _counts("multinomial", calibrate=None),
    "complement": lambda: _counts("complement"),
    "groups": lambda: _counts("multinomial", events={"w0": "multinomial(group='b')", "w1": "complement"}),
    "multinomial mle": lambda: _counts("multinomial", estimate="mle", alpha=0.0, calibrate=None),
}

_WORDS = ["free", "prize", "click", "win", "now", "cash", "lunch", "today", "see", "you", "soon", "the", "and", "a"]
_WORDS += ["meeting", "at", "noon", "naïve", "ΣΑΣ", "İstanbul", "x_1", "42"]


def _texts(n: int, seed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["spam", "ham"], n)
    texts = []
    for kind in kinds:
        p = np.ones(len(_WORDS))
        p[: 6 if kind == "spam" else 0] += 3
        p[6 : 10 if kind == "ham" else 6] += 3
        words = rng.choice(_WORDS, rng.integers(1, 14), p=p / p.sum())
        texts.append(rng.choice([" ", ", ", "! ", "-", "\n"]).join(words))
    return texts, kinds.tolist()


def _text_case(**options: Any) -> Case:
    texts, kinds = _texts(240, 3)
    more = {key: options.pop(key) for key in ("calibrate", "alpha", "estimate") if key in options}
    spec = ", ".join(f"{key}={value!r}" for key, value in options.items())
    model = tb.fit(pa.table({"text": texts, "kind": kinds}), "kind", events={"text": f"text({spec})"}, **more)
    scored = [
        *_texts(50, 4)[0],
        "",
        "free",
        "unheard of",
        "Free FREE free!",
        "a b c",
        "ΑΣ, ΣΑΣ. ΟΔΟΣ",
        "İİ",
        None,
        "dž ﬁne",
    ]
    return Case(model, pa.table({"text": scored}))


def _text_and_more() -> Case:
    texts, kinds = _texts(240, 3)
    rng = np.random.default_rng(1)
    rows = {"text": texts, "hour": rng.integers(0, 24, 240), "to": rng.choice(["me", "all"], 240), "kind": kinds}
    scored = {"text": [*texts[:20], None, ""], "hour": [*range(20), None, 3], "to": ["me", "all"] * 10 + [None, "you"]}
    return Case(tb.fit(pa.table(rows), "kind"), pa.table(scored))


TEXTS: dict[str, Callable[[], Case]] = {
    "words": lambda: _text_case(),
    "words plain": lambda: _text_case(calibrate=None, alpha=1.0),
    "auto": lambda: _text_case(bag="auto"),
    "binary": lambda: _text_case(bag="binary", unknown="smooth"),
    "bernoulli": lambda: _text_case(bag="bernoulli"),
    "bernoulli mle": lambda: _text_case(bag="bernoulli", alpha=0.0, estimate="mle", calibrate=None),
    "complement": lambda: _text_case(bag="complement"),
    "pairs": lambda: _text_case(ngrams=(1, 2), unknown="smooth", stop_words=("the", "you")),
    "cased": lambda: _text_case(lowercase=False, min_df=2),
    "stripped": lambda: _text_case(strip_accents="unicode"),
    "ascii": lambda: _text_case(strip_accents="ascii", ngrams=(2, 3)),
    "characters": lambda: _text_case(analyzer="char", ngrams=(1, 3), min_df=2),
    "inside words": lambda: _text_case(analyzer="char_wb", ngrams=(2, 3), min_df=2, calibrate=None, alpha=1.0),
    "text and more": _text_and_more,
}


@cache
def count_case(name: str) -> Case:
    return COUNTS[name]()


@cache
def text_case(name: str) -> Case:
    return TEXTS[name]()


def _messy(n: int, seed: int) -> dict[str, list[str | None]]:
    """Rows of text as files have them: money, percent, decimal commas, dates, times, yes and no, missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    money = rng.gamma(2, 900 * (1 + y))
    price = [
        ["${:,.2f}", "({:,.2f})", "USD {:,.0f}", "{:.1f} €", "+{:,.2f}"][k % 5].format(x) for k, x in enumerate(money)
    ]
    comma = [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in money * 3]
    days = [
        datetime.datetime(1968, 1, 31) + datetime.timedelta(days=float(x)) for x in rng.uniform(0, 24000, n) + 900 * y
    ]
    columns: dict[str, list[str | None]] = {
        "price": price,
        "comma": comma,
        "discount": [f"{x:.0f} %" for x in rng.normal(20 + 20 * y, 9)],
        "day": [f"{one.day}/{one.month:02}/{one.year}" for one in days],
        "short": [f"{one.day:02}.{one.month:02}.{one.year % 100:02}" for one in days],
        "named": [one.strftime("%d %B %Y") for one in days],
        "time": [one.isoformat(sep=" T"[k % 2 : k % 2 + 1] or " ", timespec="seconds") for k, one in enumerate(days)],
        "clock": [
            [one.strftime("%H:%M:%S"), one.strftime("%I:%M %p"), one.strftime("%I p.m.")][k % 3]
            for k, one in enumerate(days)
        ],
        "seen": [one.strftime("%m/%d/%Y %I:%M %p") for one in days],
        "height": [f"{x:,.1f}{' ' * (k % 2)}m.²" for k, x in enumerate(money)],
        "paid": [
            ["yes", "Y", "true", "no", "N", "f"][(k % 3) + 3 * int(rng.random() < 0.3 + 0.4 * c)]
            for k, c in enumerate(y)
        ],
        "kind": np.array(["kept", "lost"])[y].tolist(),
    }
    for k, name in enumerate(columns):
        if name != "kind":
            for i in range(k, n, 17):
                columns[name][i] = [None, "?", " NA", "-", "", "gone"][i % 6]
    return columns


@cache
def messy_case() -> Case:
    """A model that reads its columns, and rows to read."""
    model = tb.fit(pa.table(_messy(300, 6)), "kind", missing_values=["auto", "gone"])
    assert set(model.schema.readings) == set(_messy(1, 6)) - {"kind"}
    rows = _messy(120, 7)
    rows["time"][50] = "1969-12-31"
    rows.pop("kind")
    return Case(model, pa.table(rows))


@cache
def hostile_case() -> Case:
    """A model whose column, class and value names try to break out of quotes."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, len(HOSTILE), 200)
    columns: dict[str, Any] = {}
    for k, name in enumerate(HOSTILE):
        values = (y + rng.integers(0, 3, 200)) % len(HOSTILE)
        columns[name] = [HOSTILE[v] for v in values] if k % 2 else rng.normal(values).tolist()
    rows = pa.table({**columns, "label \"'": [HOSTILE[c] for c in y]})
    events = dict.fromkeys(HOSTILE[2::2], "gaussian")
    return Case(tb.fit(rows, "label \"'", events=events), rows.drop_columns(["label \"'"]).slice(0, 60))


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Assert equal probabilities to 1e-9, and the same first class except where two are equally probable."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    top = np.sort(wanted, axis=1)
    tied = top[:, -1] - top[:, -2] < 1e-9 if wanted.shape[1] > 1 else np.zeros(len(wanted), bool)
    assert ((found.argmax(axis=1) == wanted.argmax(axis=1)) | tied).all()
