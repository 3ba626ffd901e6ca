"""CountVectorizer gives what scikit-learn's gives: values, types, order and vocabulary."""

from __future__ import annotations

import io
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer as Theirs

import tallybayes as tb
from tallybayes.sklearn import vectorizer
from tests.examples import examples

DOCUMENTS = [
    "To be, or not to be: that is the question.",
    "Whether 'tis nobler in the mind to suffer",
    "",
    "The  slings and\tarrows of outrageous fortune; ΟΔΟΣ, café, naïve, İstanbul, 東京 タワー",
    "To die, to sleep; to sleep, perchance to dream",
    "x y z",
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"stop_words": "english"},
    {"stop_words": ["to", "be"]},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": ["the"]},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "strip_accents": "unicode"},
    {"binary": True},
    {"dtype": np.float32},
    {"dtype": np.uint8, "binary": True},
    {"min_df": 2},
    {"max_df": 0.3},
    {"min_df": 0.2, "max_df": 3, "ngram_range": (1, 2)},
    {"max_features": 5},
    {"max_features": 3, "min_df": 2, "binary": True},
    {"vocabulary": ["sleep", "to", "nothing", "be"]},
    {"vocabulary": {"to": 1, "be": 0}, "binary": True},
    {"vocabulary": {"to be", "sleep to"}, "ngram_range": (2, 2)},
    {"token_pattern": r"\w"},
    {"tokenizer": str.split, "token_pattern": None},
    {"preprocessor": str.upper},
    {"analyzer": str.split},
    {"strip_accents": str.swapcase},
    {"ngram_range": (1, 40)},
]


def agree(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    assert ours.shape == theirs.shape
    assert ours.has_sorted_indices
    theirs.sort_indices()
    for part in ("data", "indices", "indptr"):
        mine, other = getattr(ours, part), getattr(theirs, part)
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def complaint(one: Any, documents: Any) -> str | None:
    try:
        one.fit_transform(documents)
    except ValueError as error:
        return str(error)
    return None


def compare(documents: list[Any], unseen: list[Any], **options: Any) -> None:
    ours, theirs = tb.CountVectorizer(**options), Theirs(**options)
    refused = complaint(theirs, documents)
    assert complaint(ours, documents) == refused
    if refused is not None:
        return
    agree(ours.fit_transform(documents), theirs.fit_transform(documents))
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    agree(ours.transform(unseen), theirs.transform(unseen))


@pytest.fixture(params=["one slice", "many"])
def slices(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "many":
        monkeypatch.setattr(vectorizer, "_FEW", 0)
        monkeypatch.setattr(vectorizer.engines, "default_threads", lambda threads: 2)


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("options", OPTIONS)
def test_every_option_gives_their_matrix_and_vocabulary(options: dict[str, Any]) -> None:
    compare(DOCUMENTS, ["To be new", *DOCUMENTS[::-1]], **options)


@examples(150)
@given(
    st.lists(st.text(max_size=30) | st.text("ab σΣ\n.é'", max_size=30), max_size=8),
    st.sampled_from([options for options in OPTIONS if "vocabulary" not in options]),
)
def test_any_text_gives_their_matrix_and_vocabulary(documents: list[str], options: dict[str, Any]) -> None:
    compare(documents, ["a new one", *documents], **options)


@pytest.mark.parametrize("strange", ["\ud800 half a character", b"caf\xc3\xa9 bytes", np.str_("of NumPy's own")])
def test_documents_that_utf8_has_no_place_for_go_the_slow_way(strange: Any) -> None:
    compare([*DOCUMENTS, strange], [strange])


def test_a_vocabulary_of_odd_tokens_goes_the_slow_way() -> None:
    compare(DOCUMENTS, DOCUMENTS, vocabulary=["to", "\ud800"])


@pytest.mark.parametrize(
    "make", [tuple, iter, np.array, pd.Series, pl.Series, lambda d: np.array(d, object)], ids=lambda f: f.__name__
)
def test_documents_may_come_in_any_container(make: Any) -> None:
    expected = Theirs().fit_transform(DOCUMENTS)
    agree(tb.CountVectorizer().fit_transform(make(DOCUMENTS)), expected)
    agree(tb.CountVectorizer().fit(DOCUMENTS).transform(make(DOCUMENTS)), expected)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_documents_may_be_an_arrow_array(kind: Any) -> None:
    column = pa.array(DOCUMENTS).cast(kind)
    expected = Theirs().fit_transform(DOCUMENTS)
    for documents in (column, pa.chunked_array([column[:2], column[2:]]), pa.array(["x", *DOCUMENTS])[1:]):
        agree(tb.CountVectorizer().fit_transform(documents), expected)
    split = tb.CountVectorizer(analyzer=str.split).fit_transform(column)
    agree(split, Theirs(analyzer=str.split).fit_transform(DOCUMENTS))


def test_files_are_read() -> None:
    ours = tb.CountVectorizer(input="file").fit_transform([io.StringIO(text) for text in DOCUMENTS])
    agree(ours, Theirs().fit_transform(DOCUMENTS))


def test_a_subclass_with_its_own_analyzer_uses_it() -> None:
    class Reversed(tb.CountVectorizer):
        def build_analyzer(self) -> Any:
            return lambda text: [word[::-1] for word in text.split()]

    assert Reversed().fit(["to be"]).vocabulary_ == {"eb": 0, "ot": 1}


def test_it_warns_of_stop_words_as_theirs_does() -> None:
    for one in (tb.CountVectorizer(stop_words=["it's"]), Theirs(stop_words=["it's"])):
        with pytest.warns(UserWarning, match="may be inconsistent"):
            one.fit(DOCUMENTS)


def test_a_changed_vocabulary_is_noticed() -> None:
    one = tb.CountVectorizer().fit(["to be"])
    assert one.transform(["to be or"]).toarray().tolist() == [[1, 1]]
    one.vocabulary_["or"] = 2
    assert one.transform(["to be or"]).toarray().tolist() == [[1, 1, 1]]
    one.vocabulary_ = {"or": 0}
    assert one.transform(["to be or"]).toarray().tolist() == [[1]]


def test_it_survives_pickling_and_cloning() -> None:
    one = tb.CountVectorizer(ngram_range=(1, 2)).fit(DOCUMENTS)
    expected = one.transform(DOCUMENTS)
    agree(pickle.loads(pickle.dumps(one)).transform(DOCUMENTS), expected)
    assert clone(one).get_params() == one.get_params()
    assert one.get_params() == Theirs(ngram_range=(1, 2)).get_params()


@pytest.mark.parametrize(
    ("documents", "options"),
    [
        ("one text", {}),
        ([], {}),
        (["a b"], {}),
        (DOCUMENTS, {"min_df": 7}),
        (DOCUMENTS, {"min_df": 3, "max_df": 2}),
        (DOCUMENTS, {"ngram_range": (2, 1)}),
        (DOCUMENTS, {"analyzer": "words"}),
        (DOCUMENTS, {"vocabulary": []}),
        (["to", np.nan], {}),
    ],
)
def test_bad_input_is_refused_in_their_words(documents: Any, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = complaint(Theirs(**options), documents)
        got = complaint(tb.CountVectorizer(**options), documents)
    assert expected is not None
    assert got == expected


def test_a_null_of_arrow_is_refused() -> None:
    with pytest.raises(ValueError, match=r"documents: wanted text, got null \(first: row 1\)"):
        tb.CountVectorizer().fit(pa.array(["to be", None]))
