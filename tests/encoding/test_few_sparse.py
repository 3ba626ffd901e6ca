"""A few rows of a sparse matrix take a shortcut, with the answers of the ordinary path."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import tallybayes as tb
from tallybayes.encoding.few_rows import encode_sparse
from tallybayes.errors import BadData

X = csr_array(np.random.default_rng(0).poisson(0.3, (60, 9)).astype(float))
Y = np.arange(60) % 3


@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_few_and_many_rows_have_the_same_answers(event, alpha):
    model = tb.fit(X, Y, events=event, alpha=alpha)
    few = X[:7]
    many = vstack([few] * 200, format="csr")  # more rows than the shortcut takes
    assert encode_sparse(few, model.schema) is not None
    assert encode_sparse(many, model.schema) is None
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(model.predict_proba(few), model.predict_proba(many)[:7])
        np.testing.assert_array_equal(model.predict(few), model.predict(many)[:7])
        best = model.predict_proba(many).argmax(axis=1)
        np.testing.assert_array_equal(model.predict(many), np.array(model.classes)[best])


def test_rows_that_are_not_plain_take_the_ordinary_path():
    model = tb.fit(X, Y, events="multinomial")
    twice = csr_array((np.ones(2), [3, 3], [0, 2]), shape=(1, 9))  # two entries of one cell
    for rows in (X.tocsc()[:5], X.astype(np.int8), X[:0], X[:3, :4], twice):
        assert encode_sparse(rows, model.schema) is None
    np.testing.assert_array_equal(model.predict_proba(X.tocsc()[:5]), model.predict_proba(X[:5]))
    once = csr_array((np.array([2.0]), [3], [0, 1]), shape=(1, 9))
    np.testing.assert_array_equal(model.predict_proba(twice), model.predict_proba(once))
    with pytest.raises(BadData):
        model.predict_proba(X[:3, :4])


def test_pointers_outside_the_entries_are_refused():
    model = tb.fit(X, Y, events="multinomial")
    wrong = X[:3].copy()
    wrong.indices = wrong.indices + 100
    with pytest.raises(BadData, match="indices from 0 to 8"):
        model.predict(wrong)
    wrong = X[:3].copy()
    wrong.indptr = wrong.indptr[::-1].copy()
    with pytest.raises(BadData, match="row pointers"):
        model.predict(wrong)
