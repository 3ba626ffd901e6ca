"""The figures on real mail that the filter promises."""

from __future__ import annotations

import random

import numpy as np

from tallybayes.mail import MailFilter
from tallybayes.mail.check import one_minus_auc, received

from .corpus import read_corpus


def test_half_of_the_corpus_sorts_the_other() -> None:
    corpus = read_corpus()
    paths = sorted(corpus)
    random.Random(7).shuffle(paths)
    half = len(paths) // 2
    mail = MailFilter.train(((path.split("/")[0], corpus[path]) for path in paths[:half]), false_positives=0.001)
    verdicts = list(mail.classify_all(corpus[path] for path in paths[half:]))
    spam = np.array([path.startswith("spam/") for path in paths[half:]])
    margins = np.array([one.margin for one in verdicts])
    assert (one_minus_auc(margins.tolist(), spam.tolist()) or 1) <= 0.00020
    limit = np.sort(margins[~spam])[::-1][int(0.001 * (~spam).sum())]
    assert (margins[spam] > limit).mean() >= 0.975
    right = [one.probabilities["spam" if is_spam else "ham"] for one, is_spam in zip(verdicts, spam, strict=True)]
    assert -np.log(right).mean() < 0.016
    called = np.array([one.label == "spam" for one in verdicts])
    assert called[~spam].mean() <= 0.001
    assert called[spam].mean() > 0.97


def test_it_learns_as_mail_arrives() -> None:
    messages = sorted((received(one), path.split("/")[0], one) for path, one in read_corpus().items())
    mail, margins = MailFilter(), []
    for _, name, content in messages:
        margins.append(mail.classify(content).margin)
        mail.learn([(name, content)])
    spam = [name == "spam" for _, name, _ in messages]
    assert (one_minus_auc(margins, spam) or 1) <= 0.0012
    assert (one_minus_auc(margins[1000:], spam[1000:]) or 1) <= 0.00035
