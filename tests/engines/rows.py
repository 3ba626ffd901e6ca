"""Deterministic rows of every type, to count in this process and in clusters."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from tallybayes.model import Model
from tallybayes.storage.model_file import dump

__all__ = ["EVENTS", "digest", "mixed"]

EVENTS = {"prose": "text", "calls": "poisson"}
_WORDS = np.array(
    [
        "the",
        "a",
        "cat",
        "dog",
        "sat",
        "ran",
        "on",
        "over",
        "mat",
        "hill",
        "slowly",
        "often",
        "and",
        "never",
        "yet",
        "é",
        "ÿ",
    ]
)


def mixed(n: int = 3000, seed: int = 0) -> pa.Table:
    """Return reals, integers, categories, booleans, dates, counts and prose, with missing values."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["no", "perhaps", "yes"], n, p=[0.5, 0.1, 0.4])
    shift = np.array([{"no": 0.0, "perhaps": 1.0, "yes": 2.0}[one] for one in label])

    def some(values: object, kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=rng.random(n) < 0.05)

    return pa.table(
        {
            "size": some(rng.normal(shift), pa.float64()),
            "small": some(rng.normal(size=n).astype(np.float32), pa.float32()),
            "calls": pa.array(rng.poisson(1 + shift), pa.int32()),
            "colour": some(rng.choice(["red", "green", "blue é"], n), pa.string()),
            "flag": some(rng.random(n) < 0.3 + 0.2 * shift, pa.bool_()),
            "day": some(rng.integers(19_000, 19_010, n).astype(np.int32), pa.date32()),
            "prose": some([" ".join(_WORDS[rng.integers(0, len(_WORDS), 6)]) for _ in range(n)], pa.string()),
            "times": pa.array(rng.choice([0.5, 1.0, 2.0], n), pa.float64()),
            "label": pa.array(label),
        }
    )


def digest(model: Model) -> str:
    """Return a hash of the bytes of the model's file."""
    return hashlib.sha256(dump(model)).hexdigest()
