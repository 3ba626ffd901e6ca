"""Row 1: a spam filter from raw messages; P(y), P(word given y), Bayes' rule; one word alone by counting."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes import sources

MAIL = [
    "a nigerian prince needs your account",
    "prince of persia tickets",
    "nigerian prince offers gold",
    "lunch at noon",
    "notes of the meeting at noon",
    "nigerian food for lunch",
]
KIND = ["spam", "ham", "spam", "ham", "ham", "ham"]


def test_one_phrase_alone_is_bayes_rule_by_counting() -> None:
    phrase = {"np": ["nigerian prince" in text for text in MAIL], "kind": KIND}
    model = tb.fit(phrase, "kind", estimate="mle", calibrate=None)
    # P(np|spam) P(spam) / P(np) with 2 of 2 spam, 0 of 4 ham
    assert model.predict_proba([{"np": True}]).tolist() == [[0.0, 1.0]]
    smoothed = model.with_(estimate="bayes", alpha=1)  # Laplace
    spam, ham = (3 / 4) * (2 / 6), (1 / 6) * (4 / 6)
    assert smoothed.predict_proba([{"np": True}])[0, 1] == pytest.approx(spam / (spam + ham), rel=1e-14)


@pytest.mark.parametrize("bag", ["multinomial", "bernoulli", "complement", "binary"])
def test_messages_train_a_filter(bag: str) -> None:
    model = tb.fit(MAIL, KIND, events=tb.events.parse(f"text(bag='{bag}')"))
    assert model.predict(["the Nigerian prince has gold", "lunch with notes"]).tolist() == ["spam", "ham"]
    again = tb.fit(MAIL[:3], KIND[:3], events=model.schema.blocks[0].event).learn(MAIL[3:], KIND[3:])
    assert again.evidence == model.evidence


def test_an_empty_message_is_judged_by_the_prior_and_a_missing_one_says_nothing() -> None:
    model = tb.fit(MAIL, KIND, calibrate=None)
    np.testing.assert_allclose(model.predict_proba(["", None]), [[4 / 6, 2 / 6]] * 2, rtol=1e-14)


def test_real_messages_are_classified(data) -> None:
    path = data / "sms-spam" / "sms_spam.csv.gz"
    table = pa.Table.from_batches(list(sources.read(path)))
    labels = np.array(table.column("label").to_pylist())
    train = np.arange(len(table)) % 3 != 0
    model = tb.fit(table.filter(pa.array(train)), "label")
    assert model.schema.events() == {"text": "text(bag='auto', ngrams=(1, 2))"}
    predicted = model.predict(table.filter(pa.array(~train)))
    assert (predicted == labels[~train]).mean() > 0.97


def test_the_probability_of_spam_given_a_word_is_counted() -> None:
    mail = {"text": MAIL, "kind": KIND}
    asked = tb.probability(mail, "spam | text~'nigerian prince'")
    assert (asked.hits, asked.total) == (2, 2)
    assert float(tb.probability(mail, "spam | text~prince")) == pytest.approx(2 / 3)
    # Bayes' rule: P(prince | spam) P(spam) / P(prince)
    parts = {query: float(tb.probability(mail, query)) for query in ("text~prince | spam", "spam", "text~prince")}
    assert parts["text~prince | spam"] * parts["spam"] / parts["text~prince"] == pytest.approx(2 / 3)


def test_a_word_in_real_messages(data) -> None:
    asked = tb.probability(data / "sms-spam" / "sms_spam.csv.gz", "label=spam | text~free")
    assert (asked.hits, asked.total) == (170, 229)
    assert asked.low > 0.68
