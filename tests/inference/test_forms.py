"""A row's prediction does not depend on the form in which it is given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import tallybayes as tb


@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli"])
def test_dense_and_sparse_rows_are_calibrated_alike(event: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.poisson(0.2 + 0.5 * (np.arange(12) % 3 == y[:, None])).astype(float)
    if event == "bernoulli":
        X = np.minimum(X, 1.0)
    dense, sparse = tb.fit(X, y, events=event), tb.fit(csr_array(X), y, events=event)
    assert dense.calibration.temperature.a == pytest.approx(sparse.calibration.temperature.a, rel=1e-3)
    for one in (dense, sparse):
        np.testing.assert_allclose(one.predict_proba(X), one.predict_proba(csr_array(X)), rtol=1e-9)
