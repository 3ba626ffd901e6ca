from __future__ import annotations

import numpy as np
import pytest

from tallybayes.errors import BadData
from tallybayes.events.event import PairTerms
from tallybayes.inference.block_terms import PairedTerms


def _terms(codes):
    by_pair = np.array([[0.0, -1.0, np.nan, -2.0], [-1.0, 0.0, 0.0, 0.0]])  # code 1 left out of class 0: unknown
    given = PairTerms(np.array(codes)[:, None], np.array([2]), by_pair)
    return PairedTerms.of(0, given, np.array([0, 1], np.int32), ())


def test_a_term_that_no_row_has_may_be_unknown():
    found = _terms([0, 1])
    assert np.isfinite(found.values).all()
    np.testing.assert_array_equal(found.dense()[0], [[0.0, -2.0], [-1.0, 0.0]])


def test_a_term_that_a_row_has_may_not():
    with pytest.raises(BadData, match="overflow"):
        _terms([1, 0])
