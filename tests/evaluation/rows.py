"""Random labels, probabilities and weights, with the ties, absent classes and zeros that real ones have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

NAMES = ("ape", "bee", "cow", "dog")


class Rows(NamedTuple):
    classes: tuple[str, ...]
    labels: npt.NDArray[Any]  # (n,)
    probabilities: npt.NDArray[np.float64]  # (n, C)
    weights: npt.NDArray[np.float64] | None  # (n,)


@st.composite
def some_rows(draw: st.DrawFn, most_classes: int = 4, least_rows: int = 1) -> Rows:
    classes = NAMES[: draw(st.integers(2, most_classes))]
    n = draw(st.integers(least_rows, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    coarse = draw(st.sampled_from([3, 10, 1000]))  # few distinct values make many ties
    p = rng.integers(1, coarse + 1, (n, len(classes))).astype(float)
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    whole, real = rng.integers(0, 4, n).astype(float), rng.exponential(size=n)
    weights = {"none": None, "whole": whole + (whole.sum() == 0), "real": real}[kind]
    of = rng.integers(0, draw(st.integers(1, len(classes))), n)  # perhaps not all of the classes
    return Rows(classes, np.array(classes)[of], p / p.sum(axis=1, keepdims=True), weights)
