"""Row 26: four sentences as presence of six words, add-one; "Had a bad day :-(" is sad."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tallybayes as tb

WORDS = ["great", "had", "a", "bad", "day", ":-("]
SENTENCES = np.array([[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
MOODS = ["happy", "happy", "sad", "sad"]
ROWS = {word: SENTENCES[:, j] for j, word in enumerate(WORDS)}
QUESTION = [dict(zip(WORDS, [0, 1, 1, 1, 1, 1], strict=True))]
RAW = ["Great!", "Had a great day", ":-( Bad day", ":-("]
RAW_QUESTION = ["Had a bad day :-("]


def words_and_smileys(text: str) -> list[str]:
    """Words of any length, and the smiley, which no pattern of words would find."""
    return re.findall(r"\w+|:-\(", text)


@pytest.fixture(scope="module")
def model() -> tb.Model:
    return tb.fit(ROWS, MOODS, events="bernoulli", calibrate=None)


@pytest.fixture(scope="module")
def from_text() -> tb.Model:
    return tb.fit(RAW, MOODS, events="text(bag='bernoulli')", alpha=1, tokenizer=words_and_smileys)


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


def test_the_smoothed_table_from_the_four_sentences(from_text: tb.Model) -> None:
    table = from_text.table("text")
    ones = dict(zip(table.rows, table.values.round(12).tolist(), strict=True))
    assert [ones[word][0] for word in WORDS] == [0.75, 0.5, 0.5, 0.25, 0.5, 0.25]
    assert [ones[word][1] for word in WORDS] == [0.25, 0.25, 0.25, 0.5, 0.5, 0.75]


def test_the_joint_probabilities_from_the_four_sentences(from_text: tb.Model) -> None:
    happy, sad = np.exp(from_text.log_joint(RAW_QUESTION))[0]
    assert round(happy, 7) == 0.0009766
    assert round(sad, 7) == 0.0043945
    assert from_text.predict(RAW_QUESTION).tolist() == ["sad"]


def test_without_smoothing_both_moods_are_impossible_from_the_four_sentences(from_text: tb.Model) -> None:
    assert np.isneginf(from_text.with_(estimate="mle").log_joint(RAW_QUESTION)).all()


def test_without_a_tokenizer_neither_smileys_nor_letters_are_words() -> None:
    model = tb.fit(RAW, MOODS, events="text(bag='bernoulli')", alpha=1)
    assert model.table("text").rows == ("bad", "day", "great", "had")
    assert model.table("text").values[:, 0].tolist() == [0.25, 0.5, 0.75, 0.5]
    assert model.predict(RAW_QUESTION).tolist() == ["sad"]
