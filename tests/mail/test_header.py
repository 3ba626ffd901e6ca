"""The field that a filter adds: everything else stays, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.mail import Verdict
from tallybayes.mail.header import with_header

from .messages import SHAPES, message

SPAM = Verdict("spam", {"spam": 0.9984, "ham": 0.0016}, sure=True, margin=6.4)
LINE = b"X-Tally: spam 0.998; ham 0.002"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"To: a\n\nb", LINE + b"\nTo: a\n\nb"),
        (b"To: a\r\n\r\nb\r\n", LINE + b"\r\nTo: a\r\n\r\nb\r\n"),
        (b"To: a\nx-tally: 1\n\tmore\nX-TALLY: y\nCc: b\n\nX-Tally: b\n", LINE + b"\nTo: a\nCc: b\n\nX-Tally: b\n"),
        (b"From me Thu Aug 22 12:36:23 2002\nTo: a\n\n", b"From me Thu Aug 22 12:36:23 2002\n" + LINE + b"\nTo: a\n\n"),
        (b"\nbody", LINE + b"\n\nbody"),
        (b"only text\n", LINE + b"\n\nonly text\n"),
        (b"", LINE + b"\n"),
        (b"X-Tally: ham", LINE + b"\n"),
        (b"X-Tally-Other: 1\n\n", LINE + b"\nX-Tally-Other: 1\n\n"),
    ],
)  # fmt: skip
def test_the_field_comes_first_and_once(content: bytes, expected: bytes) -> None:
    assert with_header(content, SPAM) == expected


@given(st.sampled_from(SHAPES) | st.binary(max_size=200) | st.integers(0, 99).map(lambda k: message("ham", k)))
def test_nothing_else_changes(content: bytes) -> None:
    out = with_header(content, SPAM)
    assert out.count(LINE) == 1 + content.count(LINE)
    again = with_header(out, SPAM)
    assert again == out
    if b"x-tally" not in content.lower():
        before, _, after = out.partition(LINE)
        after = after.removeprefix(b"\r") if after.startswith(b"\r\n") else after
        assert after.startswith(b"\n")
        without = before + after.removeprefix(b"\n")
        with_empty_line = {before + end + content[len(before) :] for end in (b"\n", b"\r\n")}
        assert without == content or (before + content[len(before) :] == content and without in with_empty_line)


def test_an_unsure_verdict_says_so() -> None:
    unsure = Verdict("spam", {"spam": 0.6, "ham": 0.4}, sure=False, margin=0.4)
    assert with_header(b"\n", unsure) == b"X-Tally: unsure; spam 0.600; ham 0.400\n\n"


def test_probabilities_never_claim_certainty() -> None:
    assert Verdict("a", {"a": 0.99999, "b": 0.00001}, sure=True, margin=0.0).line == "a 0.999; b 0.001"
    assert Verdict("a", {"a": 1.0, "b": 0.0}, sure=True, margin=0.0).line == "a 1.000; b 0.000"
