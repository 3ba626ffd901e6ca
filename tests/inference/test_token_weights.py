"""Weights of tokens in cells: from counts without a document's fold, by evidence, the same whatever the order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.events.inputs import Floats
from tallybayes.events.text.column import columns_of
from tallybayes.events.text.fold_terms import FOLDS, FoldTerms
from tallybayes.inference.cell_weights import fit_cell_weights

RNG = np.random.default_rng(5)
N = 300
KINDS = np.arange(N) % 3
WORDS = np.array([f"w{i}" for i in range(60)])
P = np.roll(np.arange(1, 61.0), 20)


def texts(n: int = N, repeat: int = 1) -> list[str]:
    """Return documents of 2 to 13 words, each said several times; each class has words of its own."""
    found = []
    for i in range(n):
        shares = np.roll(P, 20 * (i % 3)) ** 2
        words = RNG.choice(WORDS, 2 + i % 12, p=shares / shares.sum())
        found.append(" ".join(np.repeat(words, repeat)))
    return found


TEXTS = texts(repeat=3)


def fitted(given: list[str], kinds: Any, **options: Any) -> tuple[tb.TextNB, FoldTerms]:
    estimator = tb.TextNB(alpha=0.5, calibrate=None, **options).fit(given, kinds)
    evidence = estimator.model_.evidence
    part, event = next(columns_of(evidence.statistics[0])), evidence.schema.blocks[0].event
    return estimator, FoldTerms(event, part, pa.array(given), np.asarray(kinds))  # type: ignore[arg-type]


def centred(scores: Floats) -> Floats:
    return scores - scores.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("event", ["multinomial", "complement", "binary"])
@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"min_df": 3, "unknown": "smooth"}])
def test_terms_of_a_fold_are_those_of_a_fit_without_it(event: str, options: dict[str, Any]) -> None:
    _, folds = fitted(TEXTS, KINDS, event=event, **options)
    terms, lengths = folds.terms(0.5)
    for f in range(FOLDS):
        inside = folds.fold == f
        others = [text for text, out in zip(TEXTS, inside, strict=True) if not out]
        left = tb.TextNB(event, alpha=0.5, calibrate=None, **options).fit(others, KINDS[~inside])
        rows = {"text": [text for text, out in zip(TEXTS, inside, strict=True) if out]}
        expected = left.model_.log_joint(rows) - left.model_.belief.log_prior
        assert np.allclose(centred(terms[inside].sum(axis=2, dtype=np.float64)), centred(expected), atol=2e-4)
        assert (lengths[inside] >= 0).all()


def test_repeated_words_are_worth_less_than_they_say() -> None:
    estimator, folds = fitted(TEXTS, KINDS)
    cells, prior = folds.terms(0.5), estimator.model_.belief.log_prior
    found = fit_cell_weights(cells, KINDS, prior)
    assert 0.1 < found.weights.t < 0.6  # each word was said three times
    plain = prior + cells.terms.sum(axis=2, dtype=np.float64)
    losses = np.log(np.exp(plain - plain.max(axis=1, keepdims=True)).sum(axis=1)) + plain.max(axis=1)
    assert found.losses.mean() < (losses - plain[np.arange(N), KINDS]).mean()


def test_words_that_say_nothing_leave_the_prior() -> None:
    kinds = (np.arange(N) % 10 == 0).astype(int)
    estimator, folds = fitted([" ".join(RNG.choice(WORDS, 20)) for _ in range(N)], kinds)
    found = fit_cell_weights(folds.terms(0.5), kinds, estimator.model_.belief.log_prior)
    prior = -(0.1 * np.log(0.1) + 0.9 * np.log(0.9))
    assert found.losses.mean() < prior + 0.02


def test_the_order_of_classes_does_not_matter() -> None:
    estimator, folds = fitted(TEXTS, KINDS)
    cells, prior = folds.terms(0.5), estimator.model_.belief.log_prior
    one = fit_cell_weights(cells, KINDS, prior).weights
    other = fit_cell_weights(cells._replace(terms=cells.terms[:, ::-1].copy()), 2 - KINDS, prior[::-1]).weights
    assert np.allclose(one.cells, other.cells, atol=2e-3)
    assert np.allclose(one.bias, other.bias[::-1], atol=2e-3)


def test_a_document_weighs_as_often_as_it_is_there() -> None:
    estimator, folds = fitted(TEXTS, KINDS)
    cells, prior = folds.terms(0.5), estimator.model_.belief.log_prior
    twice = np.arange(N).repeat(2)
    doubled = cells._replace(terms=cells.terms[twice], lengths=cells.lengths[twice])
    one, other = (
        fit_cell_weights(cells, KINDS, prior, np.full(N, 2.0)).weights,
        fit_cell_weights(doubled, KINDS[twice], prior).weights,
    )
    assert np.allclose(one.cells, other.cells, atol=2e-3)
