"""Random rows for any event model, made from the types that the model declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.events import Event, registered
from tallybayes.events.text.text import name_of


def every_event() -> list[Event]:
    """Return each registered event model, in each variant that behaves differently."""
    return [form for event in registered().values() for form in event.test_variants()]


def tokenizer_of(event: Event) -> Any:
    """Split a text; a tokenizer that no file can store."""
    return getattr(event, "tokenizer", None)


def as_written(event: Event) -> Event:
    """Return the event model as read from a file, where only the name of a function is stored."""
    return replace(event, tokenizer=name_of(tokenizer_of(event))) if tokenizer_of(event) else event  # type: ignore


def values_for(event: Event, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return values of the richest type that the event model accepts."""
    if event.input == "codes":
        return np.array(["red", "green", "blue", "grey"], object)[rng.integers(0, 4, n)]
    if event.input == "text":
        words = np.array(["the", "cheap", "lunch", "watches", "Ὀδυσσεύς", "pills", "today", "naïve", "bayes"], object)
        lengths = rng.integers(0, 7, n)
        drawn = iter(words[rng.integers(0, len(words), lengths.sum())])  # at once: a call for each text takes longer
        return np.array([" ".join(islice(drawn, length)) for length in lengths], object)
    for candidate in _candidates(n, rng):
        unfit = event.invalid(candidate)
        if unfit is None or not unfit.any():
            return candidate
    raise AssertionError(f"no candidate fits {event.name}")


def _candidates(n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    yield rng.normal(3, 2, n) * 10.0 ** rng.integers(-3, 4, n)
    yield rng.integers(0, 6, n).astype(float)
    yield np.exp(rng.normal(0, 2, n))
    yield rng.integers(0, 2, n).astype(float)


def rows_for(
    event: Event,
    n: int = 40,
    *,
    columns: int = 3,
    classes: int = 3,
    missing: float = 0.1,
    weighted: bool = False,
    seed: int = 0,
) -> pa.Table:
    """Return a table with a label, some missing values and, if requested, weights."""
    rng = np.random.default_rng(seed)
    table: dict[str, Any] = {}
    for f in range(columns):
        values = values_for(event, n, rng)
        table[f"c{f}"] = pa.array(values, mask=rng.random(n) < missing)
    table["label"] = pa.array([f"k{c}" for c in rng.integers(0, classes, n)])
    if weighted:
        table["w"] = pa.array(rng.choice([0.25, 1.0, 2.0, 0.1], n))
    return pa.table(table)
