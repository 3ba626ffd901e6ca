"""The header field that a filter adds to a message."""

from __future__ import annotations

import re

from tallybayes.mail.verdict import Verdict

__all__ = ["FIELD", "with_header"]

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
    begin = _FROM_LINE.match(message)
    start = begin.end() if begin else 0
    newline = b"\r\n" if message[: message.find(b"\n") + 1].endswith(b"\r\n") else b"\n"
    kept, at = [], start
    while found := _FIELD.match(message, at):
        if found[1].lower() != FIELD.lower():
            kept.append(found[0])
        at = found.end()
    rest = message[at:]
    ended = at > start or not rest or rest.startswith((b"\n", b"\r\n"))
    line = FIELD + b": " + verdict.line.encode("ascii") + newline
    return b"".join([message[:start], line, *kept, b"" if ended else newline, rest])
