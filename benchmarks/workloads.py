"""Generated data for the benchmarks, the same every time."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_matrix


def data_sets() -> Path:
    """Return the folder of data sets, which may not exist."""
    return Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


@cache
def reals(n: int = 1_000_000, width: int = 50, classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian columns whose means differ by class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    X = rng.standard_normal((n, width))
    X += rng.normal(0, 1, (classes, width))[y]
    return X, y


@cache
def codes(n: int = 1_000_000, width: int = 30, values: int = 10, classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of small whole numbers."""
    rng = np.random.default_rng(1)
    return rng.integers(0, values, (n, width)), rng.integers(0, classes, n)


@cache
def texts(n: int = 200_000, width: int = 100_000, length: int = 66, classes: int = 20) -> tuple[csr_matrix, np.ndarray]:
    """Return word counts by Zipf's law (the k-th word k times rarer than the first), 11.5 million non-zero."""
    rng = np.random.default_rng(2)
    rank = np.exp(rng.random(n * length) * np.log(width)).astype(np.int64) - 1
    column = rng.permutation(width)[np.minimum(rank, width - 1)]
    row = np.repeat(np.arange(n), length)
    matrix = csr_matrix((np.ones(n * length), (row, column)), shape=(n, width))
    matrix.sum_duplicates()
    return matrix, rng.integers(0, classes, n)


def parquet(folder: Path) -> Path:
    """Write the reals as a parquet file with the class in a column; return its path."""
    path = folder / "reals.parquet"
    X, y = reals()
    columns = {f"x{f}": pa.array(np.ascontiguousarray(X[:, f])) for f in range(X.shape[1])}
    pq.write_table(pa.table({**columns, "label": pa.array(y)}), path)
    return path
