"""The mail kernels: equal to their twin on every message, bounded on hostile ones, and sound on any bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.kernels import mail
from tests.mail.corpus import read_corpus
from tests.mail.messages import SHAPES, message

from . import mail_reference as reference

MUTATIONS = 20_000
PIECES = [
    b"--", b"\n\n", b"\r\n", b"=?utf-8?q?", b"?=", b"<a href=", b"<!--", b"-->", b"&#", b";", b"=\n", b"\0", b"\xff",
    b"Content-Type: multipart/mixed; boundary=b\n", b"--b\n", b"--b--\n", b"://",
    b"Content-Transfer-Encoding: base64\n",
    b"From ", b":", b" ", b"@a.b", b"boundary=", b'"', b"Received: ", b"Date: ", b"1.2.3.4",
]  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return bytes with some removed, repeated, replaced or put in."""
    out = bytearray(content)
    for _ in range(rng.randrange(1, 5)):
        at, n = rng.randrange(len(out) + 1), rng.randrange(1, 30)
        match rng.randrange(5):
            case 0:
                del out[at : at + n]
            case 1:
                out[at:at] = out[at : at + n]
            case 2:
                out[at : at + n] = rng.choice(PIECES)
            case 3:
                out[at:at] = rng.choice(PIECES)
            case _:
                out[at : at + 1] = bytes([rng.randrange(256)])
    return bytes(out)


def assert_equal_to_the_twin(content: bytes) -> None:
    found, twin = mail.read(content), reference.tokens(content)
    for texts, hashes, tokens in zip(found.texts, found.hashes, (twin.header, twin.body), strict=True):
        expected = {token.hash(): token.text() for token in tokens}
        got = dict(zip((int(one) % 2**64 for one in hashes), texts, strict=True))
        assert got == expected, content
    assert (found.skipped, found.attached) == (twin.skipped, twin.attached), content


@pytest.mark.parametrize("content", SHAPES, ids=range(len(SHAPES)))
def test_every_shape_has_the_tokens_of_the_twin(content: bytes) -> None:
    assert_equal_to_the_twin(content)


@pytest.mark.parametrize("kind", ["ham", "spam", "news"])
def test_whole_messages_have_the_tokens_of_the_twin(kind: str) -> None:
    for seed in range(60):
        assert_equal_to_the_twin(message(kind, seed))


def test_mutations_have_the_tokens_of_the_twin() -> None:
    rng = random.Random(20)
    for _ in range(MUTATIONS):
        assert_equal_to_the_twin(mutated(rng.choice(SHAPES), rng))


@given(st.lists(st.sampled_from(PIECES + SHAPES) | st.binary(max_size=12), max_size=12).map(b"".join))
def test_pieces_in_any_order_have_the_tokens_of_the_twin(content: bytes) -> None:
    assert_equal_to_the_twin(content)


def test_mutations_of_a_corpus_are_read_and_some_compared() -> None:
    messages = list(read_corpus().values())
    rng = random.Random(7)
    for k in range(MUTATIONS):
        content = mutated(messages[k % len(messages)], rng)
        tokens = mail.tokenise([content])
        for group in (0, 1):
            starts, hashes = tokens.group(group)
            assert starts.tolist() == [0, len(hashes)]
            assert (np.diff(hashes.view(np.uint64)) > 0).all()
        if k % 200 == 0:
            assert_equal_to_the_twin(content)


# Made when they are needed: together they take 150 MB.
HOSTILE = {
    "open tags": lambda: b"\n" + b"<a " * 3_000_000,
    "nested parts": lambda: b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (k, k) for k in range(5000)
    ) + b"text",
    "nested messages": lambda: b"Content-Type: message/rfc822\n\n" * 5000,
    "many parts": lambda: b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 200_000,
    "an attachment": lambda: b"Content-Type: a/zip\nContent-Transfer-Encoding: base64\n\n" + b"QUJD" * (50 << 18),
    "invalid base64": lambda: b"Content-Transfer-Encoding: base64\n\n" + b"\xff*?" * 1_000_000,
    "zero bytes": lambda: b"\0" * 5_000_000,
    "a header of 1 MB": lambda: b"Subject: " + b"word " * 200_000 + b"\n\nbody",
    "a header of one word": lambda: b"X: " + b"x" * 1_000_000 + b"\n\n",
    "many fields": lambda: b"".join(b"X-%d: a b c\n" % k for k in range(100_000)) + b"\n",
    "open comments": lambda: b"\n" + b"<!--" * 2_000_000,
    "encoded words": lambda: (b"S: " + b"=?" * 2000 + b"\n") * 100 + b"\n",
    "open quotes": lambda: b"\n" + b"<a b=\"" * 1_000_000,
    "entities": lambda: b"\n" + b"&" * 3_000_000,
    "boundary lines": lambda: b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--bb\n" * 1_000_000,
    "dots": lambda: b"\nhttp://" + b"." * 1_000_000,
    "no line ends": lambda: b"x" * 9_000_000,
    "one letter words": lambda: b"\n" + b"a " * 3_000_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_are_read_in_one_pass(name: str) -> None:
    """Work that grew with the square of such a message would not end."""
    tokens = mail.tokenise([HOSTILE[name]()])
    assert sum(len(tokens.group(group)[1]) for group in (0, 1)) < 300_000


def test_what_is_beyond_a_bound_is_counted() -> None:
    attachment = mail.read(HOSTILE["an attachment"]())
    assert attachment.attached + attachment.skipped == 50 << 20
    long = mail.read(HOSTILE["one letter words"]())
    assert long.skipped == 6_000_000 - reference.TEXT_BYTES
    assert mail.read(HOSTILE["a header of 1 MB"]()).skipped > 990_000
    assert mail.read(b"Subject: x\n\ny").skipped == 0


def test_line_ends_and_what_a_mailbox_adds_change_nothing() -> None:
    plain = message("spam", 3)
    crlf = plain.replace(b"\n", b"\r\n")
    stored = b"From x@y Thu Aug 22 12:36:23 2002\nX-Tally: ham 0.9\n more\nStatus: RO\nX-UID: 7\n" + plain
    expected = mail.read(plain).texts
    assert mail.read(crlf).texts == expected
    assert mail.read(stored).texts == expected


def test_only_bytes_are_messages() -> None:
    with pytest.raises(TypeError, match="message: wanted bytes, got str"):
        mail.tokenise(["text"])  # type: ignore[list-item]


def test_arrays_that_do_not_fit_are_refused() -> None:
    tokens, counts = mail.tokenise([b"Subject: x\n\ny"]), mail.MailCounts(2)
    for classes in (np.zeros(2, np.int32), np.array([2], np.int32), np.array([-1], np.int32)):
        with pytest.raises(ValueError, match="classes"):
            counts.add(tokens, classes)
    with pytest.raises(ValueError, match="group"):
        tokens.group(2)
    with pytest.raises(ValueError, match="which"):
        mail.select([tokens], np.array([1]), np.array([0]))
    with pytest.raises(ValueError, match="rows"):
        mail.select([tokens], np.array([0]), np.array([1]))
    with pytest.raises(ValueError, match="starts"):
        counts.load(0, np.array([5]), np.array([0, 9]), np.zeros(1, np.int32), np.ones(1, np.int64))
    with pytest.raises(ValueError, match="values"):
        counts.load(0, np.array([5]), np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.int64))
