"""The drop-ins compared with scikit-learn's classes, as rows, columns, classes and values grow tenfold.

At no size is there anything to lose: a ratio below 1 is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

import tallybayes as ours
from benchmarks.clock import TURN, best, often
from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds
from sklearn import naive_bayes as theirs

_FEW = 100  # rows of a small prediction
_SCORES = 50_000_000  # rows, columns and classes that are predicted at most: their product
_TURNS, _MOST_SECONDS = 5, 1.0  # turns, and seconds after which there are no more


class Point(NamedTuple):
    """One size: rows, columns, classes, and values of a column."""

    what: str
    rows: int
    columns: int
    classes: int
    values: int = 5


def run(repeat: int) -> str:
    """Measure every point, and return the table; a cross marks what is slower than scikit-learn."""
    heads = (part for head in ("fit", "predict_proba", "predict 100 rows") for part in (head, "scikit-learn", "ratio"))
    table = Growing("rows × columns, classes", *heads)
    for point in points():
        y = np.arange(point.rows) % point.classes
        for name, X, options in _tables(point):
            _compare(table, f"{point.what}: {name}", name.split(",")[0], X, y, options)
    return table.markdown()


def points() -> Iterator[Point]:
    """Yield the sizes of each axis."""
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):
        yield Point(f"{n:,} × 20, 2", n, 20, 2)
    for d in (100, 1_000, 10_000, 100_000):
        yield Point(f"200 × {d:,}, 2", 200, d, 2)
    for c in (10, 100, 1_000, 10_000):
        yield Point(f"20,000 × 20, {c:,}", 20_000, 20, c)
    for v in (10, 100, 1_000, 10_000, 100_000, 1_000_000):
        yield Point(f"200,000 × 1 of {v:,} values, 3", 200_000, 1, 3, v)


def _tables(point: Point) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield each class and form of rows, the rows, and the options of the class."""
    rng = np.random.default_rng(0)
    shape = point.rows, point.columns
    codes = rng.integers(0, point.values, shape)
    yield "CategoricalNB", codes, {"min_categories": point.values}
    if point.columns == 1:
        return
    yield "GaussianNB", rng.normal(size=shape), {}
    counts = np.where(rng.random(shape) < 0.2, codes, 0)
    for name in ("MultinomialNB", "BernoulliNB"):
        yield name, counts, {}
        yield f"{name}, CSR", csr_matrix(counts.astype(float)), {}


def _compare(table: Growing, what: str, name: str, X: Any, y: Any, options: dict[str, Any]) -> None:
    pair = [getattr(library, name)(**options) for library in (ours, theirs)]
    some = max(_FEW, _SCORES // (X.shape[1] * (int(y.max()) + 1)))
    cells = []
    for work, arguments in (("fit", (X, y)), ("predict_proba", (X[:some],)), ("predict", (X[:_FEW],))):
        mine, peer = _alternately([partial(getattr(estimator, work), *arguments) for estimator in pair])
        cross = "" if mine <= peer else f" {MISSED}"
        cells += [seconds(mine), seconds(peer), f"{peer / mine:.1f}×{cross}"]
    table.add(what, *cells)


def _alternately(calls: list[Callable[[], Any]]) -> list[float]:
    """Return the least seconds of each call; they alternate, so that other load affects both."""
    first = [best(call, 1).seconds for call in calls]
    times = [max(1, int(TURN / max(one, 1e-6))) for one in first]
    turns, spent = [first], sum(first)
    while len(turns) < _TURNS and spent < _MOST_SECONDS:
        turns.append([best(partial(often, call, k), 1).seconds / k for call, k in zip(calls, times, strict=True)])
        spent += sum(one * k for one, k in zip(turns[-1], times, strict=True))
    return np.min(turns, axis=0).tolist()  # type: ignore[no-any-return]
