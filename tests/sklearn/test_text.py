"""TextNB: strings in, classes out, by scikit-learn's conventions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tallybayes as tb
from tallybayes.storage import model_file

WORDS = ["cheap", "pills", "lunch", "today", "watches", "meeting", "minutes", "The", "the", "café", "buy", "now"]
RNG = np.random.default_rng(4)
KINDS = np.array(["ham", "spam", "work"])[np.arange(60) % 3]
TEXTS = [" ".join(RNG.choice(WORDS, 9, p=np.roll(np.arange(1, 13) / 78, "hsw".index(kind[0]) * 4))) for kind in KINDS]
NEW = ["cheap cheap lunch", "", "never seen", *TEXTS[:20]]
EVENTS = ["multinomial", "bernoulli", "complement", "binary"]
THEIRS: dict[str, tuple[Any, dict[str, Any]]] = {
    "multinomial": (MultinomialNB, {}),
    "bernoulli": (BernoulliNB, {"binary": True}),
    "complement": (ComplementNB, {}),
    "binary": (MultinomialNB, {"binary": True}),
}
every = pytest.mark.parametrize("event", EVENTS)


@every
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2)},
        {"lowercase": False},
        {"strip_accents": "ascii"},
        {"stop_words": "english"},
        {"stop_words": ["cheap", "now"]},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"min_df": 5, "ngram_range": (1, 2)},
        {"max_df": 0.6},
    ],
    ids=str,
)
def test_it_gives_the_probabilities_of_their_pipeline(event: str, alpha: float, options: dict[str, Any]) -> None:
    theirs, counting = THEIRS[event]
    expected = make_pipeline(CountVectorizer(**options, **counting), theirs(alpha=alpha)).fit(TEXTS, KINDS)
    prior = "uniform" if event == "complement" else "learned"
    ours = tb.TextNB(event, alpha=alpha, prior=prior, calibrate=None, **options).fit(TEXTS, KINDS)
    np.testing.assert_allclose(ours.predict_proba(NEW), expected.predict_proba(NEW), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(TEXTS), expected.predict(TEXTS))
    np.testing.assert_allclose(ours.predict_log_proba(NEW), np.log(ours.predict_proba(NEW)), atol=1e-9)
    assert ours.classes_.tolist() == expected.classes_.tolist()
    assert ours.score(TEXTS, KINDS) == expected.score(TEXTS, KINDS)


def test_the_joint_is_theirs_too() -> None:
    expected = make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, KINDS)
    theirs = expected[-1].predict_joint_log_proba(expected[0].transform(NEW))
    ours = tb.TextNB().fit(TEXTS, KINDS).predict_joint_log_proba(NEW)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


@every
def test_partial_fit_equals_fit_to_the_bit_and_new_classes_come_at_any_time(event: str) -> None:
    whole = tb.TextNB(event, ngram_range=(1, 2)).fit(TEXTS, KINDS)
    parts = tb.TextNB(event, ngram_range=(1, 2))
    for kind in ("work", "ham", "spam"):
        mine = np.flatnonzero(kind == KINDS)
        parts.partial_fit([TEXTS[i] for i in mine], KINDS[mine])
    assert model_file.dump(parts.model_) == model_file.dump(whole.model_)
    assert parts.classes_.tolist() == ["ham", "spam", "work"]


@every
def test_forgetting_equals_never_having_seen(event: str) -> None:
    model = tb.TextNB(event).fit(TEXTS, KINDS).forget(TEXTS[40:], KINDS[40:])
    assert model_file.dump(model.model_) == model_file.dump(tb.TextNB(event).fit(TEXTS[:40], KINDS[:40]).model_)


def test_a_weight_of_two_is_the_document_twice() -> None:
    weights = np.arange(len(TEXTS)) % 3
    twice = np.repeat(np.arange(len(TEXTS)), weights)
    weighted = tb.TextNB().fit(TEXTS, KINDS, sample_weight=weights)
    repeated = tb.TextNB().fit([TEXTS[i] for i in twice], KINDS[twice])
    assert weighted.model_.evidence == repeated.model_.evidence
    # what is counted is the same to the bit; the temperature is found by sums of doubles, whose order differs
    np.testing.assert_allclose(weighted.predict_proba(NEW), repeated.predict_proba(NEW), rtol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        tuple,
        iter,
        np.array,
        pd.Series,
        pl.Series,
        pa.array,
        lambda d: np.array(d, object),
        lambda d: pa.chunked_array([d[:3], d[3:]]),
        lambda d: pd.Series(d, dtype="category"),
    ],
)
def test_documents_may_come_in_any_container(make: Any) -> None:
    expected = tb.TextNB().fit(TEXTS, KINDS)
    model = tb.TextNB().fit(make(TEXTS), KINDS)
    assert model_file.dump(model.model_) == model_file.dump(expected.model_)
    np.testing.assert_array_equal(model.predict_proba(make(NEW)), expected.predict_proba(NEW))


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA])
def test_a_missing_document_is_scored_by_the_prior(nothing: Any) -> None:
    model = tb.TextNB("bernoulli").fit([*TEXTS, nothing], [*KINDS, "ham"])
    np.testing.assert_allclose(model.predict_proba([nothing]), np.array([[21, 20, 20]]) / 61)


def test_it_is_a_classifier_of_strings() -> None:
    tags = tb.TextNB().__sklearn_tags__()
    assert is_classifier(tb.TextNB())
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.input_tags.sparse


def test_it_survives_pickling_and_cloning() -> None:
    model = tb.TextNB("binary", ngram_range=(1, 2), stop_words="english").fit(TEXTS, KINDS)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(NEW), model.predict_proba(NEW))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "model_")
    assert repr(clone(model)) == "TextNB(event='binary', ngram_range=(1, 2), stop_words='english')"


def test_it_works_in_pipelines_and_searches() -> None:
    clean = FunctionTransformer(lambda texts: [text.replace("now", "") for text in texts])
    assert make_pipeline(clean, tb.TextNB()).fit(TEXTS, KINDS).score(TEXTS, KINDS) > 0.8
    grid = {"event": EVENTS, "ngram_range": [(1, 1), (1, 2)], "min_df": [1, 2]}
    search = GridSearchCV(tb.TextNB(), grid, cv=3).fit(TEXTS, KINDS)
    assert search.best_score_ > 0.7
    assert cross_val_score(tb.TextNB(), pd.Series(TEXTS), KINDS).shape == (5,)


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ("one text", r"documents: wanted a list of texts, got one text, 'one text'\. Put it in a list\."),
        (["to be", 2], r"documents: wanted text, got 2 \(row 1\)\."),
        (["to be", ["or"]], r"documents: wanted text, got \['or'\] \(row 1\)\."),
        (["to be", "\ud800"], r"documents: wanted text, got '\\ud800' \(row 1\)\."),
        (pa.array([1, 2]), r"documents: wanted text, got .*1.* \(row 0\)\."),
        (np.eye(2), r"documents: wanted one column of texts, got ndarray of shape \(2, 2\)\. Choose the column\."),
        (pd.DataFrame({"a": ["to", "be"]}), r"documents: wanted one column of texts, got DataFrame of shape"),
        ({"a": ["to", "be"]}, r"documents: wanted one column of texts, got a dict"),
        (7, r"documents: wanted a list of texts, got 7\."),
        (["to be"], r"wanted|inconsistent"),
    ],
)
def test_what_is_not_texts_is_refused_in_a_sentence(documents: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        tb.TextNB().fit(documents, ["a", "b"])


def test_one_class_is_refused_in_a_sentence_and_nothing_is_learned() -> None:
    model = tb.TextNB()
    with pytest.raises(tb.errors.BadData, match=r"y: wanted at least two classes, got only 'a'\. To learn one class"):
        model.fit(["to", "be"], ["a", "a"])
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"event": "poisson"}, "text bag: wanted one of multinomial"),
        ({"stop_words": "german"}, "stop_words: wanted None, 'english' or a list of words, got 'german'"),
        ({"ngram_range": (2, 1)}, "ngram_range: wanted 1 <= least <= greatest"),
        ({"ngram_range": 2}, "ngram_range: wanted two whole numbers"),
        ({"unknown": "guess"}, "text unknown: wanted 'skip' or 'smooth'"),
        ({"alpha": -1.0}, "alpha"),
        ({"estimate": "guess"}, "estimate"),
    ],
)
def test_a_bad_option_is_refused_in_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        tb.TextNB(**options).fit(TEXTS, KINDS)


def test_a_vocabulary_emptied_by_pruning_is_refused_in_a_sentence() -> None:
    with pytest.raises(tb.errors.BadData, match="text: wanted tokens left after pruning"):
        tb.TextNB(min_df=1000).fit(TEXTS, KINDS).predict(NEW)


def test_an_estimator_that_has_learned_nothing_says_so() -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        tb.TextNB().predict(TEXTS)
