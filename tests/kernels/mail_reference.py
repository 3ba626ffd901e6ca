"""The tokens of mail in plain Python: the twin of cpp/mail, which tests/kernels/test_mail.py compares with it.

A message is a sequence of bytes and never refused. Its tokens are two sets, of the headers and of the body. A token is
a prefix and one word or two; all work is on bytes, so that an undeclared or wrong character set changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

MASK = (1 << 64) - 1
HEADER_BYTES = 1 << 17  # of all header fields
FIELD_BYTES = 1 << 12  # of one header field
TEXT_BYTES = 1 << 18  # of all decoded text
SCAN_BYTES = 1 << 24  # of the message
LINE_BYTES = 200  # of a boundary line
ENCODED_BYTES = 1000  # of an encoded word of a header
DEPTH, PARTS, TAG_ATTRIBUTES = 16, 1000, 32
LONG_WORD = 30  # bytes; longer ones are known by their length only
LOCAL = (b"status", b"x-status", b"x-keywords", b"x-uid", b"x-imap", b"x-imapbase", b"content-length", b"lines")
LOCAL_PREFIXES = (b"x-tally", b"x-mozilla-")

WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$!'-" + bytes(range(128, 256)))
ATOM = WORD | frozenset(b"._@+%#&*")
NAME = frozenset(range(33, 127)) - frozenset(b":")
HOST = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
SPACE = frozenset(b" \t\r\n")


class Token(NamedTuple):
    """A prefix and one word or two."""

    prefix: bytes
    words: tuple[bytes, ...]

    def text(self) -> bytes:
        return self.prefix + b" ".join(self.words)

    def hash(self) -> int:
        found = fnv(self.prefix)
        for word in self.words:
            found = mix(found + fnv(word) & MASK)
        return found


def fnv(data: bytes) -> int:
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 & MASK
    return found


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


class Part(NamedTuple):
    """What the headers of a part say of its content."""

    kind: bytes = b"text"  # the type before the slash
    subtype: bytes = b"plain"
    encoding: bytes = b""
    boundary: bytes = b""


class Message:
    """The tokens of one message."""

    def __init__(self, data: bytes) -> None:
        self.data, self.header, self.body = data[:SCAN_BYTES], set(), set()
        self.skipped = len(data) - len(self.data)  # bytes that were not looked at
        self.attached = 0  # bytes of attachments, which have no words
        self.room, self.header_room, self.parts = TEXT_BYTES, HEADER_BYTES, 0
        self.boundaries: list[bytes] = []
        start = 0
        if self.data[:5] == b"From ":
            start = self.line_end(0)
        self.entities(start)

    # ---- structure

    def line_end(self, at: int) -> int:
        """Return where the next line begins."""
        found = self.data.find(b"\n", at)
        return len(self.data) if found < 0 else found + 1

    def entities(self, at: int) -> None:
        top = True
        while True:
            at, part = self.fields(at, top=top)
            top = False
            self.parts += 1
            if part.kind == b"message" and len(self.boundaries) < DEPTH and self.parts < PARTS:
                continue
            opened = part.kind == b"multipart" and part.boundary and len(self.boundaries) < DEPTH
            if opened:
                self.boundaries.append(part.boundary)
            depth = len(self.boundaries)
            end, after, level = self.find_boundary(at)
            if not opened or level != depth - 1:  # content, or a multipart without its own boundary: one text
                self.content(self.data[at:end], part)
            while level >= 0 and self.closing:  # the text after a closing line belongs to no part
                end, after, level = self.find_boundary(after)
            if level < 0:
                return
            if self.parts >= PARTS:
                self.skipped += len(self.data) - after
                return
            at = after

    def find_boundary(self, at: int) -> tuple[int, int, int]:
        """Return where the content ends, where the next line begins, and whose boundary it is; −1 for none."""
        data = self.data
        self.closing = False
        while at < len(data):
            after = self.line_end(at)
            if self.boundaries and data[at : at + 2] == b"--":
                line = data[at + 2 : min(after, at + LINE_BYTES)]
                for level in range(len(self.boundaries) - 1, -1, -1):
                    boundary = self.boundaries[level]
                    rest = line[len(boundary) :]
                    if line.startswith(boundary) and (rest.startswith(b"--") or not rest.strip(b" \t\r\n")):
                        self.closing = rest.startswith(b"--")
                        del self.boundaries[level + (not self.closing) :]
                        return at, after, level
            at = after
        return at, at, -1

    def fields(self, at: int, *, top: bool) -> tuple[int, Part]:
        """Read the header fields; return where the content begins, and what they say of it."""
        data, part, last = self.data, Part(), b""
        while at < len(data):
            after = self.line_end(at)
            colon = at
            while colon < after and colon - at < 76 and data[colon] in NAME:
                colon += 1
            if colon in (at, after) or data[colon] != 58:
                if not data[at:after].strip(b"\r\n"):
                    at = after
                return at, part  # an empty line, or one that is no header field
            while after < len(data) and data[after] in b" \t":
                after = self.line_end(after)
            name, value = data[at:colon].lower(), data[colon + 1 : after]
            taken = min(after - at, FIELD_BYTES)
            if taken > self.header_room:
                self.skipped += after - at
            elif name not in LOCAL and not name.startswith(LOCAL_PREFIXES):
                self.header_room -= taken
                part = self.field(name, value, part, last, top=top)
                last = name
            at = after
        return at, part

    def field(self, name: bytes, value: bytes, part: Part, last: bytes, *, top: bool) -> Part:
        self.skipped += max(len(value) - FIELD_BYTES, 0)
        value = value[:FIELD_BYTES]
        out = self.header if top else self.body
        prefix = name + b":"
        out.add(Token(b"has:", (name,)))
        if last:
            out.add(Token(b"order:", (last, name)))
        if name == b"content-type":
            part, value = self.content_type(value, part, out, prefix)
        elif name == b"content-transfer-encoding":
            part = part._replace(encoding=next(iter(runs(value, ATOM)), b"").lower())
        elif name in (b"date", b"received", b"x-original-date", b"resent-date", b"delivery-date"):
            value = self.date(value, out, prefix)
        elif name == b"message-id":
            local, at, host = value.strip(b" \t\r\n<>").partition(b"@")
            out.add(Token(prefix, (shape(local),)))
            value = at + host
        self.atoms(decoded_words(value), out, prefix)
        return part

    def content_type(self, value: bytes, part: Part, out: set[Token], prefix: bytes) -> tuple[Part, bytes]:
        kind, _, rest = value.strip(b" \t\r\n").partition(b"/")
        subtype = next(iter(runs(rest, ATOM)), b"")
        if kind and all(byte in ATOM for byte in kind) and rest[: len(subtype)] == subtype:
            part = part._replace(kind=kind.lower(), subtype=subtype.lower())
        found = value.lower().find(b"boundary=")
        if found < 0:
            return part, value
        start = found + 9
        if value[start : start + 1] == b'"':
            end = value.find(b'"', start + 1)
            end = len(value) if end < 0 else end
            boundary, after = value[start + 1 : end], end + 1
        else:
            end = start
            while end < len(value) and value[end] not in b" \t\r\n;":
                end += 1
            boundary, after = value[start:end], end
        out.add(Token(prefix, (b"boundary", shape(boundary))))
        return part._replace(boundary=boundary[:100].rstrip(b" \t\r\n")), value[:found] + b" " + value[after:]

    def date(self, value: bytes, out: set[Token], prefix: bytes) -> bytes:
        """Add the zone and shape of a date; return what comes before it."""
        semicolon = value.rfind(b";")
        date = value[semicolon + 1 :].strip(b" \t\r\n")
        if prefix == b"received:" and semicolon < 0:
            return value
        out.add(Token(prefix, (b"shape", shape(date))))
        for k in range(len(date) - 4):
            if date[k] in b"+-" and date[k + 1 : k + 5].isdigit():
                out.add(Token(prefix, (b"zone", date[k : k + 5])))
                break
        return value[:semicolon] if semicolon >= 0 else b""

    # ---- words

    def atoms(self, value: bytes, out: set[Token], prefix: bytes) -> None:
        last = b""
        for atom in runs(value, ATOM):
            word = short(atom.lower())
            out.add(Token(prefix, (word,)))
            if last:
                out.add(Token(prefix, (last, word)))
            last = word
            host = atom.lower().rpartition(b"@")[2]
            if b"." in host:
                self.host(host, out, prefix)

    def host(self, host: bytes, out: set[Token], prefix: bytes) -> None:
        """Add the suffixes of a host name, or the prefixes of an address of numbers."""
        host = host[:100].strip(b".")
        dots = [k for k, byte in enumerate(host) if byte == 46]
        if all(byte in b"0123456789." for byte in host):
            for k in dots[:3]:
                out.add(Token(prefix, (b"ip", host[:k])))
            out.add(Token(prefix, (b"ip", host)))
            return
        for k in dots[-4:]:
            out.add(Token(prefix, (b"at", host[k + 1 :])))
        out.add(Token(prefix, (b"at", host)))

    def content(self, content: bytes, part: Part) -> None:
        if part.kind not in (b"text", b"message", b"multipart"):
            self.attached += len(content)
            return
        if part.encoding == b"base64":
            text, read = base64(content, self.room)
        elif part.encoding == b"quoted-printable":
            text, read = quoted_printable(content, self.room)
        else:
            text = content[: self.room]
            read = len(text)
        self.room -= len(text)
        self.skipped += len(content) - read
        self.words(self.without_tags(text))

    def without_tags(self, text: bytes) -> bytes:
        """Return the text without HTML; add the tokens of tags."""
        out, at = bytearray(), 0
        self.open_comment = False
        while at < len(text):
            byte = text[at]
            if byte == 0:
                at += 1
            elif byte == 60:
                at = self.tag(text, at, out)
            elif byte == 38:
                at = entity(text, at, out)
            else:
                out.append(byte)
                at += 1
        return bytes(out)

    def tag(self, text: bytes, at: int, out: bytearray) -> int:
        if text[at : at + 4] == b"<!--" and not self.open_comment:  # a comment is nothing, not even a space
            end = text.find(b"-->", at + 4)
            if end >= 0:
                return end + 3
            self.open_comment = True  # nor do later ones end
        start = at + 2 if text[at + 1 : at + 2] == b"/" else at + 1
        end = start
        while end < len(text) and end - start < 16 and chr(text[end]).isascii() and chr(text[end]).isalnum():
            end += 1
        if end == start or end == len(text) or text[end] not in b" \t\r\n/>":
            out.append(60)
            return at + 1
        name = text[at + 1 : end].lower()
        self.body.add(Token(b"<", (name,)))
        out.append(32)
        return self.attributes(text, end, name, out)

    def attributes(self, text: bytes, at: int, name: bytes, out: bytearray) -> int:
        """Add the attributes of a tag; return where the tag ends."""
        n = len(text)
        for _ in range(TAG_ATTRIBUTES):
            while at < n and text[at] in b" \t\r\n/":
                at += 1
            start = at
            while at < n and text[at] not in b" \t\r\n/=<>":
                at += 1
            key = short(text[start:at].lower())
            if at >= n or text[at] == 60:
                return at
            if text[at] == 61 and at == start:  # "=" without a name
                at += 1
                continue
            if key:
                self.body.add(Token(b"<", (name, key)))
            if text[at] == 62:
                return at + 1
            if text[at] == 61:
                at = self.attribute(text, at + 1, key, out)
        return at

    def attribute(self, text: bytes, at: int, key: bytes, out: bytearray) -> int:
        n = len(text)
        if at < n and text[at] in b"\"'":
            quote, start = text[at], at + 1
            at = start
            while at < n and text[at] not in (quote, 60):
                at += 1
            value = text[start:at]
            at += at < n and text[at] == quote
        else:
            start = at
            while at < n and text[at] not in b" \t\r\n<>":
                at += 1
            value = text[start:at]
        if b"://" in value:
            out += b" " + value + b" "
        else:
            self.body.add(Token(b"=", (key, short(value.lower()))))
        return at

    def words(self, text: bytes) -> None:
        last = b""
        at, n = 0, len(text)
        while at < n:
            if text[at] not in WORD:
                if text[at : at + 3] == b"://":
                    start = at = at + 3
                    while at < n and text[at] in HOST:
                        at += 1
                    if at > start:
                        self.host(text[start:at].lower(), self.body, b"url:")
                    last = b""
                else:
                    at += 1
                continue
            start = at
            while at < n and text[at] in WORD:
                at += 1
            word = text[start:at].strip(b"'-").lower()
            if not word:
                continue
            if len(word) > 12 and max(word) >= 128:
                for k in range(0, len(word) - 5, 3):
                    self.body.add(Token(b"", (word[k : k + 6],)))
            word = short(word)
            self.body.add(Token(b"", (word,)))
            if last:
                self.body.add(Token(b"", (last, word)))
            last = word


def runs(text: bytes, of: frozenset[int]) -> Iterator[bytes]:
    start = 0
    for at, byte in enumerate(text):
        if byte not in of:
            if at > start:
                yield text[start:at]
            start = at + 1
    if len(text) > start:
        yield text[start:]


def short(word: bytes) -> bytes:
    """Return the word, or its length in tens if it is long."""
    return word if len(word) <= LONG_WORD else b"#%d" % min(len(word) // 10 * 10, 100)


def shape(text: bytes) -> bytes:
    """Return the kinds of characters, repeated ones once: 9 for digits, a and A for letters."""
    out = bytearray()
    for byte in text[:100]:
        kind = 57 if 48 <= byte <= 57 else 65 if 65 <= byte <= 90 else 97 if 97 <= byte <= 122 or byte > 127 else byte
        if byte in b" \t\r\n":
            kind = 32
        if not out or out[-1] != kind:
            out.append(kind)
    return bytes(out)[:LONG_WORD]


def entity(text: bytes, at: int, out: bytearray) -> int:
    """Append the character of an HTML entity, or the text as it is; return where to go on."""
    end = text.find(b";", at, at + 10)
    name = text[at + 1 : end] if end > 0 else b""
    named = {b"nbsp": 32, b"amp": 38, b"lt": 60, b"gt": 62, b"quot": 34}.get(name)
    if named is not None:
        out.append(named)
        return end + 1
    if name[:1] == b"#":
        code = number(name[1:])
        if code is not None:
            out += chr(code).encode() if code != 160 else b" "
            return end + 1
    out.append(38)
    return at + 1


def number(name: bytes) -> int | None:
    """Return a code point written in digits, or after x in hexadecimal digits; None if there is none."""
    base, digits = (16, name[1:]) if name[:1] in (b"x", b"X") else (10, name)
    allowed = b"0123456789abcdefABCDEF" if base == 16 else b"0123456789"
    if not digits or any(byte not in allowed for byte in digits):
        return None
    code = int(digits, base)
    return code if 32 <= code < 0xD800 or 0xE000 <= code < 0x110000 else None


def base64(content: bytes, room: int) -> tuple[bytes, int]:
    """Return the decoded bytes, at most `room`, and how many bytes were read; what is no digit is passed over."""
    out, bits, n = bytearray(), 0, 0
    for at, byte in enumerate(content):
        if len(out) >= room:
            return bytes(out), at
        if 65 <= byte <= 90:
            value = byte - 65
        elif 97 <= byte <= 122:
            value = byte - 71
        elif 48 <= byte <= 57:
            value = byte + 4
        elif byte == 43:
            value = 62
        elif byte == 47:
            value = 63
        else:
            continue
        bits, n = (bits << 6 | value) & 0xFFFF, n + 6
        if n >= 8:
            n -= 8
            out.append(bits >> n & 255)
    return bytes(out), len(content)


def quoted_printable(content: bytes, room: int, *, header: bool = False) -> tuple[bytes, int]:
    """Return the decoded bytes, at most `room`, and how many bytes were read; in a header, _ is a space."""
    out, at, n = bytearray(), 0, len(content)
    while at < n and len(out) < room:
        byte = content[at]
        if byte == 61:
            pair = content[at + 1 : at + 3]
            if len(pair) == 2 and all(chr(c) in "0123456789abcdefABCDEF" for c in pair):
                out.append(int(pair, 16))
                at += 3
                continue
            if pair[:1] == b"\n":
                at += 2
                continue
            if pair == b"\r\n":
                at += 3
                continue
        out.append(32 if header and byte == 95 else byte)
        at += 1
    return bytes(out), at


def decoded_words(value: bytes) -> bytes:
    """Return a header value with its encoded words (RFC 2047) decoded; each charset stays, as a word."""
    if b"=?" not in value:
        return value
    out, at = bytearray(), 0
    while True:
        found = value.find(b"=?", at)
        if found < 0:
            return bytes(out) + value[at:]
        out += value[at:found]
        second = value.find(b"?", found + 2, found + ENCODED_BYTES)
        end = value.find(b"?=", second + 3, second + 3 + ENCODED_BYTES) if second >= 0 else -1
        how = value[second + 1 : second + 3].lower()
        if end < 0 or how not in (b"q?", b"b?"):
            out += b"=?"
            at = found + 2
            continue
        content = value[second + 3 : end]
        text, _ = base64(content, FIELD_BYTES) if how == b"b?" else quoted_printable(content, FIELD_BYTES, header=True)
        out += b" " + value[found + 2 : second] + b" " + text
        at = end + 2


def tokens(data: bytes) -> Message:
    """Return the tokens of a message."""
    return Message(data)
