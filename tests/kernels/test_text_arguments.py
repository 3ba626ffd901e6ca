"""Long, broken or missing text and invalid arguments: a result or one sentence, never a crash."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.kernels import _native, text, text_normalise
from tallybayes.kernels.text import BadText, Lookup, TextOptions, count_text, merge_vocabularies, vectorise
from tests.examples import examples

from . import text_reference

OPTIONS = [
    TextOptions(),
    TextOptions(ngram_range=(1, 2)),
    TextOptions(strip_accents="unicode"),
    TextOptions(analyzer="char", ngram_range=(2, 3)),
    TextOptions(analyzer="char_wb", ngram_range=(2, 3)),
    TextOptions(tokenizer=str.split),
]
each_option = pytest.mark.parametrize("options", OPTIONS, ids=str)


def of_bytes(documents: list[bytes], kind: Any = None) -> Any:
    """Return a string column of any bytes."""
    return pa.array(documents, pa.binary()).view(kind or pa.string())


def outcome(call: Callable[[], Any]) -> Any:
    """Return a call's result, or the row and byte of its error."""
    try:
        return call()
    except BadText as error:
        return error.row, error.byte


def zeros(n: int) -> Any:
    return np.zeros(n, np.int32)


@examples(200)
@given(st.lists(st.one_of(st.binary(max_size=12), st.text(max_size=12).map(str.encode)), max_size=5), st.data())
def test_bytes_that_are_not_text_are_named(documents: list[bytes], data: st.DataObject) -> None:
    options = data.draw(st.sampled_from(OPTIONS))
    column = of_bytes([b"\xff", *documents]).slice(1)
    want = outcome(lambda: text_reference.vectorise(column, options).data.tolist())
    assert outcome(lambda: vectorise(column, options).data.tolist()) == want
    counted = outcome(lambda: count_text(column, zeros(len(column)), 1, options).tokens.sum())
    assert counted == (want if isinstance(want, tuple) else sum(want))


@pytest.mark.parametrize("before", [b"", b"x" * 63, "é".encode() * 40, "ΑΣ ".encode(), b" word" * 3000])
@pytest.mark.parametrize(
    "bad",
    [b"\x80", b"\xc0\x80", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xff"],
)
def test_a_bad_byte_is_named_wherever_it_is(before: bytes, bad: bytes) -> None:
    column = of_bytes([b"fine", before + bad + b" tail", b"\xff"])
    lookup = Lookup(pa.array(["fine"]))
    for call in (
        lambda: count_text(column, zeros(3), 1),
        lambda: vectorise(column),
        lambda: lookup.vectorise(column),
        lambda: lookup.score(column, np.zeros((1, 2)), np.zeros((3, 2))),
    ):
        with pytest.raises(BadText, match="row 1: wanted UTF-8 text") as caught:
            call()
        assert (caught.value.row, caught.value.byte) == (1, len(before))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.row, copy.byte, str(copy)) == (1, len(before), str(caught.value))


def test_bytes_under_a_null_are_not_read() -> None:
    column = of_bytes([b"\xff\xff", b"two words", "ΣΣ é".encode()])
    _, offsets, data = column.buffers()
    for bits, kept in ((0b010, [None, "two words", None]), (0b110, [None, "two words", "ΣΣ é"])):
        masked = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(bytes([bits])), offsets, data])
        counts = count_text(masked, np.array([0, 1, 1], np.int32), 2)
        want = text_reference.count_text(pa.array(kept), np.array([0, 1, 1], np.int32), 2)
        assert counts.vocabulary.equals(want.vocabulary)
        assert counts.missing.tolist() == want.missing.tolist()
        assert Lookup(counts.vocabulary).score(masked, np.zeros((len(want.vocabulary), 1)), np.zeros((3, 1)))[0] == -1
        assert vectorise(masked).unknown[0] == -1


def raw(offsets: list[int], body: bytes, n: int, validity: bytes | None = None) -> tuple[Any, ...]:
    """Return the parts of a column that pyarrow might refuse."""
    return validity, np.array(offsets, np.int32).view(np.uint8), body, 0, n, False, None


@pytest.mark.parametrize("offsets", [[0, 5, 2], [0, 2, 99], [-3, 2, 5], [3, 2, 2], [2**31 - 1, 0, 0]])
@pytest.mark.parametrize("body", [b"hello", b"h\xc3\xa9lo"])
@each_option
def test_offsets_that_leave_the_data_are_refused(offsets: list[int], body: bytes, options: TextOptions) -> None:
    column, parts = raw(offsets, body, 2), text._option_parts(options)
    lookup = _native.text_lookup(raw([0, 2], b"ab", 1), parts)
    for call in (
        lambda: _native.text_count(column, None, parts, zeros(2), 1, 1),
        lambda: _native.text_learn_vectors(column, None, parts),
        lambda: _native.text_find_vectors(column, None, lookup),
        lambda: _native.text_score(lookup, column, None, np.zeros((1, 2)), np.zeros((2, 2)), None, True),
        lambda: _native.text_lookup(column, parts),
        lambda: _native.text_merge(column, raw([0, 2], b"ab", 1)),
    ):
        with pytest.raises(ValueError, match=r"offsets that increase|UTF-8"):
            call()


def test_buffers_that_are_too_small_are_refused() -> None:
    for column in (raw([0], b"", 1), raw([0] * 21, b"", 20, b"\0"), (None, None, None, 0, 1, False, None)):
        with pytest.raises(ValueError, match="for every row"):
            _native.text_survey(column, 1)
    for column in ((), (None, None, None, -1, 0, False, None), (None, None, None, 0, 2**40, False, None)):
        with pytest.raises(ValueError, match="column"):
            _native.text_survey(column, 1)
    for rows, offsets, data in (
        ([0], [0], b""),
        ([0], [0, 9], b"ab"),
        ([0, 1], [0, 2, 1], b"ab"),
        ([0], [-1, 1], b"ab"),
    ):
        patch = np.array(rows), np.array(offsets), data
        with pytest.raises(ValueError, match="patch"):
            _native.text_survey((*raw([0, 1], b"a", 1)[:-1], patch), 1)


@each_option
def test_nothing_gives_nothing(options: TextOptions) -> None:
    empty = pa.array([], pa.string())
    hollow = pa.Array.from_buffers(pa.large_string(), 0, [None, None, pa.py_buffer(b"")])
    for column, n in ((empty, 0), (hollow, 0), (pa.array(["", None, "", ""]).slice(1), 3)):
        counts = count_text(column, zeros(n), 1, options)
        assert len(counts.vocabulary) == 0
        assert counts.tokens.shape == counts.documents.shape == counts.classes.shape == (0,)
        vectors = vectorise(column, options)
        assert vectors.indptr.tolist() == [0] * (n + 1)
        lookup = Lookup(empty, options)
        want = [-1, 0, 0][:n]
        assert lookup.score(column, np.zeros((0, 2)), np.zeros((n, 2)), distinct=True).tolist() == want
        assert vectorise(column, options, lookup).unknown.tolist() == want
    assert count_text(empty, zeros(0), 0, options).starts.tolist() == [0]
    assert [len(part) for part in merge_vocabularies(empty, hollow)] == [0, 0, 0]


@each_option
def test_a_long_document_and_a_long_word_are_like_any_other(options: TextOptions) -> None:
    words = [f"w{i * i % 997}" for i in range(30_000)] + ["x" * 70_000, "É" * 5_000, "y" * 4096, "end"]
    column = pa.array(["first", " ".join(words), "last " * 2000 + "É" * 4100, "a" * 4095 + " b"])
    got, want = vectorise(column, options), text_reference.vectorise(column, options)
    assert got.vocabulary.equals(want.vocabulary)
    assert all((a == b).all() for a, b in zip(got[:3], want[:3], strict=True))


def test_a_vocabulary_may_outgrow_its_first_tables() -> None:
    options = TextOptions(ngram_range=(1, 2))
    documents = [" ".join(f"t{i * 7919 % 200_000}" for i in range(k, k + 100)) for k in range(0, 200_000, 100)]
    counts = count_text(pa.array(documents), zeros(len(documents)), 1, options)
    assert len(counts.vocabulary) == 200_000 + 99 * 2000
    assert counts.tokens.sum() == counts.documents.sum() == len(counts.vocabulary)
    assert counts.vocabulary.to_pylist() == sorted(counts.vocabulary.to_pylist())
    lookup, n = Lookup(counts.vocabulary, options), len(documents)
    assert vectorise(pa.array(documents), options, lookup).unknown.tolist() == [0] * n
    other = pa.array([document.replace("t", "u") for document in documents])
    lengths = lookup.score(other, np.zeros((len(lookup), 1)), np.zeros((n, 1)), unknown=np.zeros(1), distinct=True)
    assert set(lengths.tolist()) == {199}


def test_counters_that_fill_up_are_emptied_in_time() -> None:
    rng = np.random.default_rng(1)
    options = TextOptions(ngram_range=(1, 2))
    column = pa.array([" ".join(rng.choice(["aa", "bb", "cc", "dd"], 50)) for _ in range(500)])
    classes = rng.integers(0, 3, 500).astype(np.int32)
    want = count_text(column, classes, 3, options)
    parts, characters = text_normalise.prepare(column, options)
    got = _native.text_count(parts, characters, text._option_parts(options), classes, 3, 1000)
    for part, counted in zip(got[1:], want[1:], strict=True):
        np.testing.assert_array_equal(part, counted)


def test_scores_of_a_document_do_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(2)
    words = np.array([f"w{i}" for i in range(500)])
    column = pa.array([" ".join(rng.choice(words, size)) for size in rng.integers(0, 3000, 60)])
    for options in (TextOptions(), TextOptions(ngram_range=(1, 2))):
        lookup = Lookup(vectorise(column, options).vocabulary, options)
        for n_classes in (2, 3, 7, 65):
            table = rng.normal(size=(len(lookup), n_classes))
            out, alone = np.zeros((2, 60, n_classes))
            lookup.score(column, table, out)
            for i in range(60):
                lookup.score(column.slice(i, 1), table, alone[i : i + 1])
            assert (out == alone).all()


@pytest.mark.parametrize("n_classes", [3, 4, 11, 31, 52, 64])
def test_scores_are_the_same_on_any_processor(n_classes: int) -> None:
    rng = np.random.default_rng(4)
    words = np.array([f"w{i}" for i in range(300)])
    column = pa.array([" ".join(rng.choice(words, size)) for size in rng.integers(0, 500, 20)])
    lookup = Lookup(pa.array(words[::-2]))
    table, other = rng.normal(size=(len(lookup), n_classes)), rng.normal(size=n_classes)
    want, before = np.zeros((20, n_classes)), _native.isa()
    text_reference.Lookup(lookup.vocabulary).score(column, table, want, unknown=other)
    found = []
    try:
        for name in _native.available():
            _native.use(name)
            found.append(np.zeros((20, n_classes)))
            lookup.score(column, table, found[-1], unknown=other)
    finally:
        _native.use(before)
    assert all((scores == found[0]).all() for scores in found)
    np.testing.assert_allclose(found[0], want, rtol=1e-12, atol=1e-9)


def test_slices_give_the_whole_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(3)
    words = np.array(["é", "the", "Σ", "ΑΣ", "zoo", "日本", "naïve"])
    column = pa.array([" ".join(rng.choice(words, size)) for size in rng.integers(0, 50, 400)])
    whole = count_text(column, zeros(400), 1)
    lookup, table = Lookup(whole.vocabulary), rng.normal(size=(len(whole.vocabulary), 2))
    out, parts = np.zeros((2, 400, 2))
    lookup.score(column, table, out)
    counts: list[Any] = [None] * 4

    def work(k: int) -> None:
        rows = slice(100 * k, 100 * k + 100)
        counts[k] = count_text(column.slice(100 * k, 100), zeros(100), 1)
        lookup.score(column.slice(100 * k, 100), table, parts[rows])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (out == parts).all()
    total = np.zeros(len(whole.vocabulary), np.int64)
    for part in counts:
        union, here, there = merge_vocabularies(whole.vocabulary, part.vocabulary)
        assert union.equals(whole.vocabulary)
        assert (here == np.arange(len(union))).all()
        total[there] += part.tokens
    assert (total == whole.tokens).all()


GOOD = pa.array(["aa bb", "bb"])
SCORES = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: count_text(["aa"], zeros(1), 1), TypeError, "column: wanted a pyarrow StringArray"),
        (lambda: count_text(pa.chunked_array([GOOD]), zeros(2), 1), TypeError, "ChunkedArray of string"),
        (lambda: vectorise(pa.array([1, 2])), TypeError, "of int64"),
        (lambda: vectorise(None), TypeError, "got NoneType"),
        (lambda: count_text(GOOD, zeros(3), 1), ValueError, "classes: wanted length 2"),
        (lambda: count_text(GOOD, np.zeros(2), 1), TypeError, "classes: wanted int32"),
        (lambda: count_text(GOOD, zeros(2), 0), ValueError, "classes: wanted numbers from 0"),
        (lambda: count_text(GOOD, zeros(2) - 1, 1), ValueError, "got -1, row 0"),
        (lambda: count_text(GOOD, zeros(2), -1), ValueError, "n_classes"),
        (lambda: count_text(GOOD, zeros(2), 1, None), TypeError, "options: wanted TextOptions"),
        (
            lambda: Lookup(pa.array(["a", "b", "a"])),
            ValueError,
            "vocabulary: wanted distinct tokens, got one twice, row 2",
        ),
        (lambda: Lookup(pa.array(["a", None])), ValueError, "got null"),
        (lambda: Lookup(["a"]), TypeError, "vocabulary: wanted a pyarrow StringArray"),
        (lambda: vectorise(GOOD, TextOptions(lowercase=False), Lookup(GOOD)), ValueError, "options: wanted those of"),
        (lambda: Lookup(GOOD).score(GOOD, np.zeros((3, 3)), SCORES), ValueError, "table: wanted shape"),
        (lambda: Lookup(GOOD).score(GOOD, SCORES, np.zeros((3, 3))), ValueError, "out: wanted shape"),
        (lambda: Lookup(GOOD).score(GOOD, SCORES, SCORES[:, ::2]), ValueError, "out|table"),
        (lambda: Lookup(GOOD).score(GOOD, SCORES, SCORES, unknown=np.zeros(2)), ValueError, "unknown: wanted length 3"),
        (lambda: Lookup(GOOD).score(GOOD, SCORES, SCORES, unknown=zeros(3)), TypeError, "unknown: wanted float64"),
        (lambda: merge_vocabularies(pa.array(["b", "a"]), GOOD), ValueError, "left: wanted distinct tokens in order"),
        (lambda: merge_vocabularies(GOOD, pa.array(["b", "b"])), ValueError, "right: wanted .* row 1"),
        (lambda: merge_vocabularies(GOOD, pa.array([None, "b"])), ValueError, "right: wanted tokens, got null"),
        (lambda: TextOptions(analyzer="line"), ValueError, "analyzer"),
        (lambda: TextOptions(strip_accents="all"), ValueError, "strip_accents"),
        (lambda: TextOptions(ngram_range=(2, 1)), ValueError, "ngram_range"),
        (lambda: TextOptions(ngram_range=(0, 1)), ValueError, "ngram_range"),
        (lambda: TextOptions(ngram_range=(1, 17)), ValueError, "at most 16 words"),
        (lambda: TextOptions(ngram_range=(1.0, 2)), TypeError, "ngram_range"),
        (lambda: TextOptions(ngram_range=[1, 2]), TypeError, "ngram_range"),
        (lambda: TextOptions(stop_words=["the"]), TypeError, "stop_words"),
        (lambda: TextOptions(lowercase=1), TypeError, "lowercase"),
    ],
)
def test_invalid_options_are_refused(call: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        call()


def test_ngrams_may_be_longer_than_any_document() -> None:
    longest = TextOptions(analyzer="char_wb", ngram_range=(10**30, 10**40))
    assert vectorise(GOOD, longest).vocabulary.to_pylist() == [" aa ", " bb "]
    assert len(vectorise(GOOD, TextOptions(analyzer="char", ngram_range=(10**30, 10**40))).vocabulary) == 0
    assert vectorise(GOOD, TextOptions(ngram_range=(2, 16))).vocabulary.to_pylist() == ["aa bb"]


def test_ascii_needs_no_tables_of_characters() -> None:
    code = (
        "import numpy as np, pyarrow as pa, time\n"
        "from tallybayes.kernels import text, text_unicode\n"
        "text.vectorise(pa.array(['Plain text', None]))\n"
        "assert text_unicode.characters.cache_info().currsize == 0\n"
        "assert text.vectorise(pa.array(['naïve'])).vocabulary.to_pylist() == ['naïve']\n"
        "assert text_unicode.characters.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
