"""A user's tokenizer: its results, where it is used, and what a file stores of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption, CannotMerge
from tallybayes.events.text.text import Text

TEXTS = ["a b, b c", "C++ and c", None, "", "b b B"]
LABELS = ["x", "y", "x", "y", "x"]


def on_spaces(text: str) -> list[str]:
    return text.split()


def on_commas(text: str) -> list[str]:
    return text.split(",")


def test_its_words_are_the_vocabulary() -> None:
    model = tb.fit(TEXTS, LABELS, tokenizer=on_spaces)
    assert model.table("text").rows == ("a", "and", "b", "b,", "c", "c++")
    assert model.table("text").counts.tolist()[2] == [4.0, 0.0]  # 'B' was lowered first


def test_stop_words_and_pairs_are_made_of_its_words() -> None:
    event = Text(ngrams=(1, 2), stop_words=("b",), lowercase=False, tokenizer=on_spaces)
    assert tb.fit(TEXTS, LABELS, events=event).table("text").rows == (
        *("B", "C++", "C++ and", "a", "a b,", "and", "and c", "b,", "b, c", "c"),
    )


@pytest.mark.parametrize("bag", ["multinomial", "bernoulli", "complement", "binary"])
def test_a_function_that_finds_our_words_gives_our_model(bag: str) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["alpha", "beta", "gamma", "delta", "épsilon"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(60)]
    labels = rng.integers(0, 3, 60)
    ours, theirs = (
        tb.fit(texts, labels, events=f"text(bag='{bag}', ngrams=(1, 2), unknown='smooth')", tokenizer=given, alpha=1)
        for given in (None, on_spaces)
    )
    assert ours.evidence.statistics == theirs.evidence.statistics
    unseen = [*texts, "alpha nu nu beta", ""]
    np.testing.assert_allclose(theirs.log_joint(unseen), ours.log_joint(unseen), rtol=1e-12)
    np.testing.assert_allclose(theirs.leave_one_out(texts, labels), ours.leave_one_out(texts, labels), rtol=1e-12)


def test_leaving_one_out_is_refitting() -> None:
    texts, labels = ["a b, b c", "c++ and c", "b b", "and and a", "b, c++"], np.array(["x", "y", "x", "y", "x"])
    model = tb.fit(texts, labels, tokenizer=on_spaces, alpha=1)
    for i, scores in enumerate(model.leave_one_out(texts, labels)):
        rest = [j for j in range(len(texts)) if j != i]
        again = tb.fit([texts[j] for j in rest], labels[rest], tokenizer=on_spaces, alpha=1)
        np.testing.assert_allclose(again.log_joint([texts[i]])[0], scores, rtol=1e-12)


def test_it_is_for_columns_of_text_declared_or_found() -> None:
    prose = [f"word{i} of a longer text that is not a name" for i in range(20)]
    rows = {"size": range(20), "body": prose, "title": ["x, y"] * 20}
    model = tb.fit(rows, [0, 1] * 10, events={"title": Text(tokenizer=on_commas)}, tokenizer=on_spaces)
    assert model.schema.events() == {
        "size": "histogram",
        "body": "text(tokenizer='on_spaces')",
        "title": "text(tokenizer='on_commas')",
    }
    assert model.table("title").rows == (" y", "x")


def test_without_a_column_of_text_it_is_refused() -> None:
    with pytest.raises(BadOption, match="tokenizer: wanted none, since no column of text lacks one"):
        tb.fit({"size": [1, 2], "kind": ["a", "b"]}, "kind", tokenizer=on_spaces)


@pytest.mark.parametrize(("tokenizer", "got"), [(str.title, "'B B'"), (len, "3"), (lambda text: [text, None], "None")])
def test_a_result_that_is_not_a_list_of_strings_is_refused_with_its_row(tokenizer, got: str) -> None:
    with pytest.raises(BadData) as caught:
        tb.fit([None, "b b"], [0, 1], tokenizer=tokenizer)
    said = f"column 'text': wanted a list of texts from the tokenizer, got {got} (row 2)."
    assert str(caught.value) == said


def test_a_lone_surrogate_is_not_a_token() -> None:
    with pytest.raises(BadData, match=r"got '\\ud800' \(row 1\)"):
        tb.fit(["a", "b"], [0, 1], tokenizer=lambda text: ["\ud800"])


def test_what_the_function_raises_is_not_hidden() -> None:
    def broken(text: str) -> list[str]:
        raise RuntimeError("out of words")

    with pytest.raises(RuntimeError, match="out of words"):
        tb.fit(["a", "b"], [0, 1], tokenizer=broken)


def test_a_tokenizer_that_is_not_a_function_is_refused() -> None:
    with pytest.raises(BadOption, match="text tokenizer: wanted a function, got 3"):
        tb.fit(["a", "b"], [0, 1], tokenizer=3)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="tokenizer: wanted none for characters"):
        Text(analyzer="char", tokenizer=on_spaces)


def test_it_is_never_called_by_two_threads_at_a_time() -> None:
    inside, most = 0, 0

    def watched(text: str) -> list[str]:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        words = text.split()
        inside -= 1
        return words

    texts = ["a b c"] * 40_000
    model = tb.fit(texts, [0, 1] * 20_000, tokenizer=watched, threads=4)
    model.predict_proba(texts, threads=4)
    assert most == 1


def test_a_file_holds_its_name_and_no_code(tmp_path) -> None:
    model = tb.fit(TEXTS, LABELS, tokenizer=on_spaces)
    model.save(tmp_path / "m.tally")
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded.schema.events() == {"text": "text(bag='auto', ngrams=(1, 2), tokenizer='on_spaces')"}
    assert loaded.table("text").rows == model.table("text").rows
    np.testing.assert_array_equal(loaded.table("text").values, model.table("text").values)
    said = (
        "text tokenizer: wanted the function 'on_spaces' itself, got its name alone, since a file holds no code. "
        "Pass it to tb.load, or to tb.fit: tokenizer=..."
    )
    for use in (lambda: loaded.predict(["a b"]), lambda: loaded.learn(TEXTS, LABELS)):
        with pytest.raises(BadOption) as caught:
            use()
        assert str(caught.value) == said
    with pytest.raises(CannotMerge, match="Give both the same tokenizer"):
        model + loaded
    again = tb.load(tmp_path / "m.tally", tokenizer=on_spaces)
    assert again == model
    np.testing.assert_array_equal(again.log_joint(TEXTS), model.log_joint(TEXTS))
    assert again + model == model.learn(TEXTS, LABELS)


def test_two_functions_are_handed_back_by_column(tmp_path) -> None:
    rows = {"one": ["a b", "b c"], "two": ["a, b", "b"]}
    events = {"one": Text(tokenizer=on_spaces), "two": Text(tokenizer=on_commas)}
    model = tb.fit(rows, ["x", "y"], events=events)
    model.save(tmp_path / "m.tally")
    assert tb.load(tmp_path / "m.tally", tokenizer={"one": on_spaces, "two": on_commas}) == model
    with pytest.raises(BadOption, match="tokenizer: wanted one for column 'two', got for one"):
        tb.load(tmp_path / "m.tally", tokenizer={"one": on_spaces})


def test_a_file_without_one_takes_none(tmp_path) -> None:
    tb.fit(TEXTS, LABELS).save(tmp_path / "m.tally")
    with pytest.raises(BadOption, match="wanted none"):
        tb.load(tmp_path / "m.tally", tokenizer=on_spaces)


def test_the_estimator_takes_one_as_scikit_learn_does() -> None:
    from sklearn.base import clone
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    texts, labels = ["a b, b c", "C++ and c", "b b B", "and b"], [0, 1, 0, 1]
    ours = clone(tb.TextNB(tokenizer=on_spaces, ngram_range=(1, 2), estimate="map", alpha=1, calibrate=None)).fit(
        texts, labels
    )
    vectorizer = CountVectorizer(tokenizer=on_spaces, token_pattern=None, ngram_range=(1, 2))
    theirs = MultinomialNB().fit(vectorizer.fit_transform(texts), labels)
    assert ours.model_.table("text").rows == tuple(vectorizer.get_feature_names_out())
    new = ["b and c", "unheard of"]
    want = theirs.predict_proba(vectorizer.transform(new))
    np.testing.assert_allclose(ours.predict_proba(new), want, rtol=1e-10)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict_proba(new), ours.predict_proba(new))
    matrix = tb.CountVectorizer(tokenizer=on_spaces, token_pattern=None, ngram_range=(1, 2)).fit_transform(texts)
    np.testing.assert_array_equal(matrix.toarray(), vectorizer.transform(texts).toarray())
