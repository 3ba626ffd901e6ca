"""The header of a message: the field that a filter adds, and the id that tells messages apart."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from tallybayes.mail.verdict import Verdict

__all__ = ["FIELD", "message_id", "with_header"]

FIELD = b"X-Tally"
# A field with its folded lines; what it is named, and all of it.
_FIELD = re.compile(rb"([!-9;-~]+):[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)")
_FROM_LINE = re.compile(rb"From [^\n]*\n")


def with_header(message: bytes, verdict: Verdict) -> bytes:
    """Return the message with a field X-Tally before the others, and no other field of that name.

    All other bytes stay as they are. A message without any header gets an empty line, too, so that its text stays one.

    Examples
    --------
    >>> verdict = Verdict("spam", {"spam": 0.998, "ham": 0.002}, sure=True, margin=6.2)
    >>> with_header(b"To: me\\nX-Tally: ham 1.000\\n\\nBuy!\\n", verdict)
    b'X-Tally: spam 0.998; ham 0.002\\nTo: me\\n\\nBuy!\\n'
    """
    start = _begin(message)
    newline = b"\r\n" if message[: message.find(b"\n") + 1].endswith(b"\r\n") else b"\n"
    kept, rest = _other_fields(message)
    ended = len(rest) < len(message) - start or not rest or rest.startswith((b"\n", b"\r\n"))
    line = FIELD + b": " + verdict.line.encode("ascii") + newline
    return b"".join([message[:start], line, *kept, b"" if ended else newline, rest])


def message_id(message: bytes) -> str:
    """Return a hash of the field Message-ID or, without one, of the message without X-Tally.

    Examples
    --------
    >>> message_id(b"To: me\\nMessage-ID: <1@x.org>\\n\\nHi") == message_id(b"Message-Id:\\n <1@x.org>\\n\\nHi!")
    True
    >>> message_id(b"X-Tally: ham 0.9\\n\\nHi") == message_id(b"\\nHi") != message_id(b"\\nHi!")
    True
    """
    for found in _fields(message):
        value = found[0].partition(b":")[2].strip()
        if found[1].lower() == b"message-id" and value:
            return hashlib.sha256(b"id " + value).hexdigest()
    kept, rest = _other_fields(message)
    digest = hashlib.sha256(b"message ")
    for part in (*kept, rest):
        digest.update(part)
    return digest.hexdigest()


def _begin(message: bytes) -> int:
    """Return where the header begins: after the line that an mbox has before it, if any."""
    found = _FROM_LINE.match(message)
    return found.end() if found else 0


def _fields(message: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the fields of the header: all of each, and its name as the first group."""
    at = _begin(message)
    while found := _FIELD.match(message, at):
        yield found
        at = found.end()


def _other_fields(message: bytes) -> tuple[list[bytes], bytes]:
    """Return the fields that are not X-Tally, and what comes after the header."""
    kept, at = [], _begin(message)
    for found in _fields(message):
        if found[1].lower() != FIELD.lower():
            kept.append(found[0])
        at = found.end()
    return kept, message[at:]
