"""A message by its stored tokens is the message: the same ids, counts and scores."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tallybayes.kernels.mail import MailCounts, MailTokens, message_of, tokenise

EMPTY = np.zeros(0, np.int64)


def messages() -> list[bytes]:
    draw = random.Random(3)
    texts = [b"Subject: %d\n\n%s" % (k, draw.randbytes(draw.randrange(400))) for k in range(200)]
    return [b"", b"\n", b"\n\nbody", b"Subject: header", *texts]


def stored(tokens: MailTokens) -> MailTokens:
    return message_of(tokens.group(0)[1], tokens.group(1)[1])


def test_ids_and_tokens_are_the_same() -> None:
    for message in messages():
        tokens = tokenise([message])
        again = stored(tokens)
        assert again.ids().tolist() == tokens.ids().tolist()
        for group in (0, 1):
            for one, other in zip(again.group(group), tokens.group(group), strict=True):
                np.testing.assert_array_equal(one, other)


def test_counts_and_scores_are_the_same_and_either_forgets_the_other() -> None:
    counts, again = MailCounts(2), MailCounts(2)
    tokens = [tokenise([message]) for message in messages()]
    for k, one in enumerate(tokens):
        code = np.array([k % 2], np.int32)
        counts.add(one, code)
        again.add(stored(one), code)
    for one in tokens[:20]:
        np.testing.assert_array_equal(counts.score(stored(one), None)[0], again.score(one, None)[0])
    for k, one in enumerate(tokens):
        assert again.subtract(one, np.array([k % 2], np.int32), True) == -1
        assert counts.subtract(stored(one), np.array([k % 2], np.int32), True) == -1
    assert [each.size(group) for each in (counts, again) for group in (0, 1)] == [0] * 4


@pytest.mark.parametrize(
    "hashes",
    [
        np.array([2, 1], np.int64),
        np.array([1, 1], np.int64),
        np.array([-1, 1], np.int64),  # hashes are unsigned, so that −1 is the largest
        np.array([1, 2], np.int32),
        np.array([[1, 2]], np.int64),
    ],
)
def test_hashes_that_no_message_has_are_refused(hashes: np.ndarray) -> None:
    with pytest.raises((ValueError, TypeError)):
        message_of(hashes, EMPTY)
    with pytest.raises((ValueError, TypeError)):
        message_of(EMPTY, hashes)


def test_views_are_taken_as_they_are() -> None:
    numbers = np.array([1, 9, 2, 9, -5, 9], np.int64)
    assert message_of(numbers[::2].copy(), EMPTY).group(0)[1].tolist() == [1, 2, -5]
    assert message_of(EMPTY, numbers[2:3]).group(1)[1].tolist() == [2]
