"""Arguments of a mail filter that are no messages: one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadData, BadOption

PAIRS = [("spam", b"Subject: cheap\n\npills"), ("ham", b"Subject: lunch\n\nat noon?")]


@pytest.mark.parametrize("given", ["text", None, 3, np.zeros(2), ("spam", "text"), bytearray(b"a")])
def test_what_is_no_message_is_refused(given: Any) -> None:
    made = tb.MailFilter.train(PAIRS)
    for ask in (made.classify, made.explain):
        for one in (given, (1, b"x"), ("spam", b"x")):
            with pytest.raises(BadData, match="wanted bytes"):
                ask(one)
            with pytest.raises(BadData, match="wanted bytes"):
                list(made.classify_all([one]))
    for change in (made.learn, made.forget, made.calibrate, tb.MailFilter.train):
        with pytest.raises(BadData, match="wanted bytes"):
            change([given])  # type: ignore[operator]


@pytest.mark.parametrize("given", ["text", b"bytes", None, 3, np.zeros(()), memoryview(b"a")])
def test_what_is_no_list_of_messages_is_refused(given: Any) -> None:
    made = tb.MailFilter.train(PAIRS)
    for change in (made.learn, made.forget, made.calibrate, tb.MailFilter.train):
        with pytest.raises(BadData, match="wanted a list of messages"):
            change(given)  # type: ignore[operator]


@pytest.mark.parametrize("given", [-0.1, 1, 2.0, float("nan"), "a", np.zeros(2), [0.1], True])
def test_a_share_that_is_none_is_refused(given: Any) -> None:
    made = tb.MailFilter.train(PAIRS)
    with pytest.raises(BadOption, match="false_positives: wanted a share"):
        tb.MailFilter.train(PAIRS, false_positives=given)
    with pytest.raises(BadOption, match="false_positives: wanted a share"):
        made.calibrate(PAIRS, false_positives=given)


def test_no_messages_calibrate_nothing() -> None:
    with pytest.raises(BadData, match="calibrate: wanted messages that were learned, got none"):
        tb.MailFilter.train(PAIRS).calibrate([])
