from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData
from tallybayes.events.event import PairTerms
from tallybayes.inference.block_terms import PairedTerms
from tallybayes.inference.choices import Choices
from tallybayes.inference.column_terms import ColumnTerms


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


@pytest.mark.parametrize(
    "rows", [slice(None, None, 4), slice(30, None), slice(None, 30), slice(29, 31), slice(31, 2, 1)]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_terms_that_are_taken_late_are_those_of_all_rows(rows: slice, classes: int) -> None:
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 30)
    columns = {"x": rng.normal(size=30) + y, "z": np.where(y > 1, np.nan, y), "kind": (y * 7 % 3).astype(str), "y": y}
    evidence, choices = tb.fit(columns, "y", calibrate=None).evidence, Choices(alpha=1.0)
    [batch] = sources.read(columns)
    found = ColumnTerms.of(evidence, choices, RowBatch(batch), y.astype(np.int32), None)
    late = found.to_fit(y.astype(np.int32), None)
    few, all_taken = late.take(rows), late.all.take(rows)
    for name in ("base", "terms", "numbers", "share", "classes", "weights"):
        np.testing.assert_array_equal(getattr(few, name), getattr(all_taken, name))
    for mine, theirs in zip(few.coded, all_taken.coded, strict=True):
        np.testing.assert_array_equal(mine, theirs)
