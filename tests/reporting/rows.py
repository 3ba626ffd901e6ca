"""Rows for tests of reports."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import tallybayes as tb
from tallybayes.reporting import Profile, ReportData, SideBySide
from tallybayes.reporting.sections import SECTIONS

HOSTILE = "<script>window.pwned = 1</script>"
SHOWN = [(name, title) for name, title, _ in SECTIONS]


def patients(n: int = 300, seed: int = 0) -> dict[str, Any]:
    """Return numbers, categories, a text and missing values; some predict illness."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    words = np.where(ill, "fever and a cough at night", "felt well and went for a walk")
    return {
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50 + 8 * ill, 9)),
        "smoker": np.where(rng.random(n) < 0.3 + 0.4 * ill, "yes", "no").tolist(),
        "ward": rng.choice(["north", "south", "east"], n).tolist(),
        "note": [f"{word} {rng.integers(50)} {rng.choice(['today', 'again', 'now'])}" for word in words],
        "state": np.where(ill, "ill", "well").tolist(),
    }


def without_notes(n: int = 300) -> dict[str, Any]:
    """Return the same rows without the text, which alone determines the label."""
    return {name: values for name, values in patients(n).items() if name != "note"}


@cache
def mixed() -> ReportData:
    """Return a report of two classes, numbers and categories, with mistakes to explain."""
    new = {name: values[:90] for name, values in without_notes().items()} | {"ward": ["north"] * 90}
    given = {"source": "patients.csv", "command": "tally report patients.csv"}
    return tb.report(without_notes(), "state", new_rows=new, **given)


@cache
def flowers() -> ReportData:
    """Return a report of three classes and numbers only."""
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    rows = iris.data.assign(species=iris.target_names[iris.target])
    return tb.report(rows, "species", new_rows=rows.head(20))


@cache
def hostile() -> ReportData:
    """Return a report in which every name is an injection attempt."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 80)
    rows = {
        "<img src=x onerror='window.pwned=2'>": np.where(rng.random(80) < 0.8, np.where(y, HOSTILE, "b"), "</script>"),
        "x": rng.normal(y),
        "y": np.where(y, HOSTILE, "\"'&amp;</script>"),
    }
    new = {name: [values[int(np.argmax(y))]] * 60 for name, values in rows.items()}
    return tb.report(rows, "y", source="<b>rows</b>", command="tally report '<i>'", new_rows=new)


def _fifteen(classes: int) -> ReportData:
    """Return a report of 15 columns, some with heavy tails, and classes with long names."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, classes, 600)
    names = np.array([f"a value with a long name {k}" for k in range(5)])
    rows: dict[str, Any] = {f"amount {k}": rng.lognormal(y * 0.1 * k, 2.0) for k in range(8)}
    rows |= {f"code {k}": names[(y + rng.integers(0, 3, 600)) % 5].tolist() for k in range(7)}
    return tb.report(rows | {"y": [f"a class with a rather long name, number {c}" for c in y]}, "y", how="3-fold")


@cache
def fifteen() -> ReportData:
    """Return a report of 15 columns and two classes."""
    return _fifteen(2)


@cache
def eight() -> ReportData:
    """Return a report of 15 columns and eight classes."""
    return _fifteen(8)


@cache
def alone() -> Profile:
    """Return a profile of rows without a label: numbers, names, dates, a text and an injection attempt."""
    rows = patients() | {
        "admitted": [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(300)],
        "constant": ["same"] * 300,
        HOSTILE: ["<b>", "</script>", "c"] * 100,
    }
    return tb.profile(rows, source="patients.csv", command="tally report patients.csv --no-label")


@cache
def two() -> SideBySide:
    """Return two models of the same rows, one of them without its best column."""
    rows = without_notes()
    models = tb.fit(rows, "state", events={"smoker": "ignore"}), tb.fit(rows, "state")
    return tb.side_by_side(*models, rows, names=("without.tally", HOSTILE), source="patients.csv")


PAGES: dict[str, Any] = {
    "fifteen": fifteen,
    "eight": eight,
    "mixed": mixed,
    "flowers": flowers,
    "hostile": hostile,
    "alone": alone,
    "two": two,
}


@cache
def page_of(name: str) -> str:
    """Return the page of one of the reports above."""
    return str(PAGES[name]().to_html())
