"""Marks for behaviour that older versions of scikit-learn lack."""

from __future__ import annotations

import pytest
from sklearn.utils.fixes import parse_version

import sklearn

recent = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="before 1.9 float32 was widened, polars' names were missed and log-probabilities held to the last bit",
)
