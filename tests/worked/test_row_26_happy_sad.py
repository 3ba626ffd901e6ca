"""Row 26: four sentences as presence of six words, add-one; "Had a bad day :-(" is sad."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

WORDS = ["great", "had", "a", "bad", "day", ":-("]
SENTENCES = np.array([[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
MOODS = ["happy", "happy", "sad", "sad"]
ROWS = {word: SENTENCES[:, j] for j, word in enumerate(WORDS)}
QUESTION = [dict(zip(WORDS, [0, 1, 1, 1, 1, 1], strict=True))]


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(ROWS, MOODS, events="bernoulli")


def test_the_smoothed_table(model: tb.Model) -> None:
    ones = {word: model.table(word).values[1].tolist() for word in WORDS}
    assert [ones[word][0] for word in WORDS] == [0.75, 0.5, 0.5, 0.25, 0.5, 0.25]
    assert [ones[word][1] for word in WORDS] == [0.25, 0.25, 0.25, 0.5, 0.5, 0.75]


def test_the_joint_probabilities(model: tb.Model) -> None:
    happy, sad = np.exp(model.log_joint(QUESTION))[0]
    assert round(happy, 7) == 0.0009766
    assert round(sad, 7) == 0.0043945
    assert model.predict(QUESTION).tolist() == ["sad"]


def test_without_smoothing_both_moods_are_impossible() -> None:
    model = tb.fit(ROWS, MOODS, events="bernoulli", estimate="mle")
    assert np.isneginf(model.log_joint(QUESTION)).all()


def test_the_same_from_the_four_sentences() -> None:
    """Six words, one of them a smiley and one of one letter: a word is what stands between spaces."""
    texts = ["great", "had a great day", ":-( bad day", ":-("]
    bags = [{word: int(word in text.split()) for word in WORDS} for text in texts]
    model = tb.fit({word: [bag[word] for bag in bags] for word in WORDS}, MOODS, events="bernoulli")
    question = [{word: int(word in ("had", "a", "bad", "day", ":-(")) for word in WORDS}]
    np.testing.assert_allclose(np.exp(model.log_joint(question))[0], [0.0009765625, 0.00439453125], rtol=1e-12)
    from_text = tb.fit(["Great!", "Had a great day", ":-( Bad day", ":-("], MOODS, events="text(bag='bernoulli')")
    assert from_text.table("text").rows == ("bad", "day", "great", "had")  # \w\w+ knows neither smileys nor letters
    assert from_text.table("text").values[:, 0].tolist() == [0.25, 0.5, 0.75, 0.5]
    assert from_text.predict(["Had a bad day :-("]).tolist() == ["sad"]
