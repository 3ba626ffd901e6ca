"""Wrappers of the mail kernels: from the bytes of messages to sets of tokens, counts and scores.

A message is any bytes, and none is refused. Its tokens are two sets, of its header fields and of its body, as hashes of
64 bits; `read` has them as text, too. ``tests/kernels/mail_reference.py`` has the same in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import _native
from ._native import MailCounts, MailTokens

__all__ = [
    "GROUPS",
    "VERSION",
    "MailCounts",
    "MailTokens",
    "ReadMessage",
    "message_of",
    "read",
    "release_memory",
    "select",
    "tokenise",
]

# The definition of a token. Change it with any change to cpp/mail that gives some message other tokens: counts made
# under another definition cannot be subtracted from.
VERSION = "mail-1"
GROUPS = ("header", "body")


class ReadMessage(NamedTuple):
    """The tokens of one message as text and hashes, by group, and the bytes that were left out."""

    texts: tuple[list[bytes], list[bytes]]
    hashes: tuple[NDArray[np.int64], NDArray[np.int64]]
    skipped: int  # bytes beyond a bound
    attached: int  # bytes of attachments, which have no words


def tokenise(messages: Sequence[bytes]) -> MailTokens:
    """Return the tokens of messages.

    Examples
    --------
    >>> tokens = tokenise([b"Subject: win\\n\\nWin money!", b""])
    >>> [tokens.group(group)[0].tolist() for group in (0, 1)]
    [[0, 2, 2], [0, 3, 3]]
    """
    return _native.mail_tokens(messages)


def message_of(header: NDArray[np.int64], body: NDArray[np.int64]) -> MailTokens:
    """Return one message by its tokens: the hashes of header and body, as `MailTokens.group` has them.

    Examples
    --------
    >>> tokens = tokenise([b"Subject: win\\n\\nWin money!"])
    >>> again = message_of(tokens.group(0)[1], tokens.group(1)[1])
    >>> len(again), again.ids().tolist() == tokens.ids().tolist()
    (1, True)
    """
    return _native.mail_message(header, body)


def release_memory() -> None:
    """Give memory that reading or writing a filter took for a moment back to the system."""
    pa.default_memory_pool().release_unused()
    _native.release_memory()


def select(batches: Sequence[MailTokens], which: NDArray[np.int64], rows: NDArray[np.int64]) -> MailTokens:
    """Return the messages at the given rows of the given batches."""
    return _native.mail_select(batches, which, rows)


def read(message: bytes) -> ReadMessage:
    """Return the tokens of a message as text.

    Examples
    --------
    >>> sorted(read(b"Subject: win\\n\\nWin money!").texts[0])
    [b'has:subject', b'subject:win']
    >>> sorted(read(b"Subject: win\\n\\nWin money!").texts[1])
    [b'money!', b'win', b'win money!']
    """
    header, body, skipped, attached = _native.mail_read(message)
    return ReadMessage((header[0], body[0]), (header[1], body[1]), skipped, attached)
