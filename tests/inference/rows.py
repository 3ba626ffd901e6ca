"""Rows with columns of all types, some of which are redundant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

EVENTS = {"prose": "text", "calls": "poisson"}
WORDS = {"no": ["rain", "cold", "wet", "grey", "stay"], "yes": ["sun", "warm", "dry", "blue", "go"]}


def table(n: int = 120, *, seed: int = 0, weighted: bool = False) -> pa.Table:
    """Return categories, reals, counts and text, some missing, and the class "label"."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(["no", "yes"], n, p=[0.4, 0.6])
    truth = np.where(rng.random(n) < 0.75, labels, rng.choice(["no", "yes"], n))
    size = np.where(truth == "no", 0.0, 1.5) + rng.normal(0, 1, n)
    columns: dict[str, Any] = {
        "colour": [None if rng.random() < 0.1 else f"{t}-{rng.integers(3)}" for t in truth],
        "size": np.where(rng.random(n) < 0.1, np.nan, size),
        "twice": size * 2 + rng.normal(0, 0.1, n),
        "calls": rng.poisson(np.where(truth == "no", 2.0, 4.0)),
        "prose": [_sentence(t, rng) for t in truth],
        "label": labels,
    }
    return pa.table(columns | ({"times": rng.choice([0.5, 1.0, 2.0], n)} if weighted else {}))


def _sentence(truth: str, rng: np.random.Generator) -> str | None:
    if rng.random() < 0.1:
        return None
    words = [*WORDS[truth], *WORDS["no"], *WORDS["yes"], "day", "the"]
    return " ".join(rng.choice(words, rng.integers(0, 12)))


def cut(rows: pa.Table, size: int) -> pa.Table:
    """Return the same rows in batches of n."""
    return pa.Table.from_batches(
        [batch for k in range(0, len(rows), size) for batch in rows[k : k + size].to_batches()]
    )


def shuffled(rows: pa.Table, seed: int) -> pa.Table:
    """Return the same rows in another order."""
    return rows.take(pa.array(np.random.default_rng(seed).permutation(len(rows)))).combine_chunks()
