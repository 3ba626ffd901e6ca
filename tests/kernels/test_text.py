"""The text kernels agree with their plain twin on every kind of text, and with scikit-learn's CountVectorizer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.kernels import text
from tallybayes.kernels.text import TextOptions
from tests.examples import examples

from . import text_reference

WORDS = [
    *("the", "THE", "a", "I", "x_y", "_", "42", "3rd", "don't", "co-op", "supercalifragilisticexpialidocious"),
    *("İstanbul", "ISTANBUL", "ı", "ǅungla", "Straße", "ẞ", "naïve", "nai\u0308ve", "Å", "Ⱥb", "ﬁn", "ŉ", "K"),
    *("Σ", "ΑΣ", "ΣΑ", "ΑΣΑ", "ΑΣ.", "Α\u0301Σ\u0301", "Σ1", "ΟΔΟΣ", "ΣΣΣ", "aΣ", "ςσΣ"),
    *("x²", "½", "Ⅷ", "٣٤", "日本語", "日", "한국어", "𠀀𠀁", "𐐀𐐁", "𝐀𝐁", "👩\u200d🚀", "\u0301\u0301", "a\u200db"),
    *(" ", "  ", "\n", "\t\r\n", "\x1c\x1d", "\u2003", "\u3000 ", "\x85", "\xa0", "\0", "\0\0", ".", "--", "\u2028"),
]
LENGTHS = st.sampled_from([1, 2, 7, 8, 14, 15, 16, 17, 31, 33, 62, 63, 64, 65, 127, 128, 129, 1000])
LETTERS = st.sampled_from(["a", "B", " ", ". ", "_", "é", "Σ", "日", "𐐀", "\0"])
RUNS = st.builds(lambda letter, count: letter * count, LETTERS, LENGTHS)
DOCUMENTS = st.one_of(
    st.text(),
    st.text(st.characters(categories=["L", "M", "N", "Z"]), max_size=40),
    st.lists(st.sampled_from(WORDS), max_size=40).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
    st.lists(RUNS, max_size=6).map("".join),
    st.none(),
)
KINDS = [("word", None), ("word", None), ("char", None), ("char_wb", None), ("word", str.split), ("word", list)]
OPTIONS = st.builds(
    lambda kind, least, more, **others: TextOptions(
        analyzer=kind[0], tokenizer=kind[1], ngram_range=(least, least + more), **others
    ),
    st.sampled_from(KINDS),
    st.integers(1, 4),
    st.integers(0, 2),
    lowercase=st.booleans(),
    strip_accents=st.sampled_from([None, None, "unicode", "ascii"]),
    stop_words=st.sampled_from([(), ("the", "日本語"), ("οδος", "supercalifragilisticexpialidocious", "\ud800", "")]),
)


@st.composite
def columns(draw: st.DrawFn) -> Any:
    """Draw a string column, perhaps a slice of a longer one."""
    documents = draw(st.lists(DOCUMENTS, max_size=8))
    column = pa.array(documents, draw(st.sampled_from([pa.string(), pa.large_string()])))
    first = draw(st.integers(0, len(column)))
    return column.slice(first, draw(st.integers(0, len(column) - first)))


def assert_equal(got: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    for mine, reference in zip(got, want, strict=True):
        if isinstance(reference, np.ndarray):
            assert mine.dtype == reference.dtype
            np.testing.assert_array_equal(mine, reference)
        else:
            assert mine.to_pylist() == reference.to_pylist()


def classes_of(column: Any, n_classes: int = 3) -> Any:
    return (np.arange(len(column)) * 7 // 3 % n_classes).astype(np.int32)


@examples(300)
@given(columns(), OPTIONS, st.sampled_from([1, 3, 7]))  # from five classes on, most tokens have a single counter
def test_counts_are_those_of_the_twin(column: Any, options: TextOptions, n_classes: int) -> None:
    classes = classes_of(column, n_classes)
    got = text.count_text(column, classes, n_classes, options)
    got.vocabulary.validate(full=True)
    assert_equal(got, text_reference.count_text(column, classes, n_classes, options))


@examples(200)
@given(columns(), OPTIONS)
def test_vectors_are_those_of_the_twin(column: Any, options: TextOptions) -> None:
    assert_equal(text.vectorise(column, options), text_reference.vectorise(column, options))


def some_of(vocabulary: Any, extra: list[str]) -> Any:
    """Return every other token in reverse order, and some that no text has."""
    kept = vocabulary.to_pylist()[::-2]
    return pa.array([*kept, *(token for token in dict.fromkeys(extra) if token not in kept)], pa.string())


EXTRA = st.lists(st.sampled_from(["zz", "the 42", "the", "A b", " ", "", "a  b", "x y z u v w", "\0"]), max_size=4)


@examples(200)
@given(columns(), OPTIONS, EXTRA)
def test_vectors_in_a_given_vocabulary_are_those_of_the_twin(column: Any, options: TextOptions, extra: Any) -> None:
    given_tokens = some_of(text.vectorise(column, options).vocabulary, extra)
    got = text.vectorise(column, options, text.Lookup(given_tokens, options))
    assert_equal(got, text_reference.vectorise(column, options, text_reference.Lookup(given_tokens, options)))


@examples(250)
@given(columns(), OPTIONS, EXTRA, st.booleans(), st.booleans(), st.integers(0, 4))
def test_scores_are_those_of_the_twin(
    column: Any, options: TextOptions, extra: Any, distinct: bool, has_unknown: bool, n_classes: int
) -> None:
    tokens = some_of(text.vectorise(column, options).vocabulary, extra)
    # Sums of small integers are exact in any order.
    table = (np.arange(len(tokens) * n_classes).reshape(len(tokens), n_classes) * 37 % 101 - 50).astype(float)
    unknown = np.arange(n_classes) - 7.0 if has_unknown else None
    out = np.ones((2, len(column), n_classes))
    got = text.Lookup(tokens, options).score(column, table, out[0], unknown=unknown, distinct=distinct)
    twin = text_reference.Lookup(tokens, options)
    want = twin.score(column, table, out[1], unknown=unknown, distinct=distinct)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(out[0], out[1])


@examples(100)
@given(st.sets(st.text(max_size=5)), st.sets(st.text(max_size=5)), st.sets(st.sampled_from(WORDS)))
def test_merged_vocabularies_are_those_of_the_twin(left: set[str], right: set[str], both: set[str]) -> None:
    a, b = (pa.array(sorted(side | both), kind) for side, kind in ((left, pa.string()), (right, pa.large_string())))
    assert_equal(text.merge_vocabularies(a, b), text_reference.merge_vocabularies(a, b))


def every_character(form: Callable[[str], str], end: int = sys.maxunicode + 1) -> Iterator[Any]:
    """Return columns with a document form(c) per character c, 256 characters each."""
    every = [form(chr(c)) for c in range(end) if not 0xD800 <= c < 0xE000]
    documents = ["\n".join(every[first : first + 256]) for first in range(0, len(every), 256)]
    for first in range(0, len(documents), 512):
        yield pa.array(documents[first : first + 512])


def test_every_unicode_character_is_treated_as_by_python() -> None:
    for column in every_character(lambda c: f"a{c}b {c}{c} c{c}"):
        assert_equal(text.vectorise(column), text_reference.vectorise(column))


@pytest.mark.parametrize("options", [TextOptions(lowercase=False), TextOptions(strip_accents="unicode")], ids=str)
def test_every_unicode_character_is_treated_as_by_python_under_other_options(options: TextOptions) -> None:
    for column in every_character(lambda c: f"a{c}"):
        assert_equal(text.vectorise(column, options), text_reference.vectorise(column, options))


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_every_unicode_space_is_treated_as_by_python(analyzer: Any) -> None:
    options = TextOptions(analyzer=analyzer)
    for column in every_character(lambda c: c + c, 0x20000):  # where all spaces are
        assert_equal(text.vectorise(column, options), text_reference.vectorise(column, options))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": False},
        {"strip_accents": "unicode"},
        {"strip_accents": "ascii", "lowercase": False},
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3), "stop_words": ("the", "οδος", "42")},
        {"ngram_range": (3, 3), "strip_accents": "ascii"},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char", "ngram_range": (2, 5), "strip_accents": "unicode"},
        {"analyzer": "char_wb", "ngram_range": (1, 4)},
        {"analyzer": "char_wb", "ngram_range": (3, 30), "lowercase": False},
    ],
    ids=str,
)
def test_vectors_are_those_of_scikit_learn(options: dict[str, Any]) -> None:
    vectoriser_of = pytest.importorskip("sklearn.feature_extraction.text").CountVectorizer
    rng = np.random.default_rng(4)
    documents = [" ".join(rng.choice(WORDS, size)) for size in rng.integers(0, 60, 200)]
    theirs = vectoriser_of(**options | ({"stop_words": list(options["stop_words"])} if "stop_words" in options else {}))
    fitted = theirs.fit_transform(documents[:100])
    fitted.sort_indices()
    mine = text.vectorise(pa.array(documents[:100]), TextOptions(**options))
    assert mine.vocabulary.to_pylist() == theirs.get_feature_names_out().tolist()
    assert_equal(mine[:3], (fitted.indptr.astype(np.int64), fitted.indices.astype(np.int32), fitted.data))
    others = theirs.transform(documents[100:])
    lookup = text.Lookup(mine.vocabulary, TextOptions(**options))
    found = text.vectorise(pa.array(documents[100:]), TextOptions(**options), lookup)
    assert_equal(found[:3], (others.indptr.astype(np.int64), others.indices.astype(np.int32), others.data))
