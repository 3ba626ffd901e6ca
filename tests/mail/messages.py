"""Made-up messages: of classes that differ a little, and of every shape that mail has."""

from __future__ import annotations

import base64
import random

WORDS = {
    "spam": ["cheap", "watches", "winner", "$$$", "click", "free!", "pills", "offer", "credit", "guaranteed"],
    "ham": ["lunch", "meeting", "patch", "review", "weekend", "thanks", "report", "draft", "train", "kernel"],
    "news": ["issue", "unsubscribe", "weekly", "headlines", "editor", "archive", "read", "more", "digest", "links"],
}
COMMON = ["the", "a", "and", "you", "to", "of", "for", "please", "today", "we", "it", "in", "on", "with", "Grüße"]


def message(kind: str, seed: int) -> bytes:
    """Return a message of a class; the same for the same seed."""
    rng = random.Random(f"{kind} {seed}")
    words = [rng.choice(WORDS[kind] if rng.random() < 0.3 else COMMON) for _ in range(rng.randrange(10, 60))]
    text = " ".join(words)
    day = 1 + seed % 28
    fields = [
        f"Received: from {kind}{seed % 7}.example.org (192.0.2.{seed % 250}) by mx.example.com; "
        f"Mon, {day} Jul 2024 10:{seed % 60:02}:00 +0{seed % 3}00",
        f"From: {rng.choice(WORDS[kind])} <{kind}{seed}@{kind}{seed % 5}.example.org>",
        f"Subject: {' '.join(words[:4])}",
        f"Message-ID: <{rng.random()}.{seed}@{kind}.example.org>",
    ]
    if rng.random() < 0.3:
        html = f'<html><body bgcolor="#ff0000"><a href="http://{kind}.example.net/x">{text}</a></body></html>'
        part = f"--sep\nContent-Type: text/plain\n\n{text}\n--sep\nContent-Type: text/html\n\n{html}\n--sep--\n"
        return ("\n".join([*fields, 'Content-Type: multipart/alternative; boundary="sep"']) + "\n\n" + part).encode()
    if rng.random() < 0.3:
        encoded = base64.encodebytes(text.encode()).decode()
        return ("\n".join([*fields, "Content-Transfer-Encoding: base64"]) + "\n\n" + encoded).encode()
    return ("\n".join(fields) + "\n\n" + text + "\n").encode("latin-1" if rng.random() < 0.3 else "utf-8")


def pairs(n: int, *kinds: str, first: int = 0) -> list[tuple[str, bytes]]:
    """Return n messages of each class."""
    return [(kind, message(kind, seed)) for seed in range(first, first + n) for kind in kinds or ("ham", "spam")]


# Small messages of every shape, as seeds of mutations.
SHAPES = [
    b"",
    b"\n",
    b"no header at all, only text",
    b"Subject: hi\n\nHello, $5 & cheap! it's a-b 'quoted'",
    b"Subject: folded\n value\r\n\tagain\r\nTo: a.b@mail.example.co.uk\r\n\r\nbody\r\n",
    b"From me Thu Aug 22 12:36:23 2002\nDate: Thu, 22 Aug 2002 12:36:23 -0500\nStatus: RO\nX-Tally: spam 1\n\nx",
    b"Received: from x (1.2.3.4) by y.z.example; Fri, 1 Mar 2024 01:02:03 +0900\nMessage-Id: <a1B2.c@h.example>\n\n",
    b"Subject: =?iso-8859-1?Q?caf=E9_au?= =?utf-8?b?Z3LDvMOfZQ==?= =?x?q?\nX: =?a?z?b?=\n\n",
    b'Content-Type: multipart/mixed; boundary="a b"\n\npre\n--a b\n\none\n--a b\n'
    b"Content-Type: image/png\n\nxx\n--a b--\nend",
    b"Content-Type: multipart/mixed; boundary=out\n\n--out\nContent-Type: multipart/related; boundary=in\n\n--in\n\n1\n"
    b"--out\n\n2\n--in--\n--out--\n",
    b"Content-Type: multipart/mixed; boundary=x\n\n--y\n\nwrong boundary\n--y--\n",
    b"Content-Type: message/rfc822\n\nSubject: inner\nContent-Type: text/html\n\n<b>bold</b>",
    b"Content-Transfer-Encoding: quoted-printable\n\nso=66t=\n break =3D =ZZ =\r\n end=",
    b"Content-Transfer-Encoding: base64\n\nSGVsbG8gd29y*bGQh\n===\nSGk",
    b"Content-Type: text/html\n\n<!-- x --><A HREF='http://www.Example.com:80/p?q=1' id=7>"
    b"T&eacute;xt&#65;&#x42;&nbsp;</a><br/><p =x>",
    b'\n<a <a <a <img src=//x alt="un<closed" y= z></p><!-- open <b>',
    b"\n\xd7\xc3\xb9\xfa\xca\xc7\xd2\xbb\xb8\xf6\xb9\xfa\xbc\xd2 "
    b"\xe4\xb8\xad\xe6\x96\x87\xe6\xb5\x8b\xe8\xaf\x95\xe5\xad\x97",
    b"Subject: s\0\0\n\nh\0e\0l\0l\0o\0 http://10.20.30.40/x https://a.b.c.d.e.f.example/ ://...",
    b"To: " + b"long" * 30 + b", x@y\n\n" + b"w" * 45 + b" tail",
    b"Content-Type: multipart/mixed; boundary=;\nContent-Type: text\nContent-Type: /x\n\n--\n\n",
]
