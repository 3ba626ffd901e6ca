"""The form of a delimited text file: its encoding, its delimiter, and whether its first line names the columns."""

from __future__ import annotations

import codecs
import warnings
from dataclasses import dataclass

from tallybayes.arguments import shown
from tallybayes.errors import BadData, BadOption, GuessedEncodingWarning, wanted

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class TextFormat:
    """The form of a delimited text file, as far as the user has named it.

    Attributes
    ----------
    encoding : str or None
        The encoding of the text; None to find it in the first bytes.
    delimiter : str or None
        What separates values; None to find it in the first lines.
    header : bool
        Whether the first line names the columns; otherwise they are column1, column2, ...

    Examples
    --------
    >>> TextFormat(delimiter=":").delimiter
    ':'
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except (LookupError, TypeError, ValueError):
                want = "the name of an encoding, such as 'utf-8' or 'latin-1'"
                raise BadOption(wanted("encoding", want, repr(self.encoding))) from None
        given = self.delimiter
        one = isinstance(given, str) and len(given) == 1 and given.isascii() and given not in '"\n\r'
        if given is not None and not one:
            raise BadOption(wanted("delimiter", "one ASCII character, such as ';'", shown(given)))

    def encoding_of(self, head: bytes, path: str) -> str | None:
        """Return the encoding of a text with these first bytes; None for UTF-8, which needs no conversion."""
        if self.encoding is not None:
            return None if codecs.lookup(self.encoding).name in ("utf-8", "ascii") else self.encoding
        if head.startswith(_UTF16):
            found = "utf-16"
        elif _is_utf8(head):
            return None
        elif b"\0" in head:
            raise BadData(
                wanted(path, "text", f"binary data (it begins {head[:8]!r})", "Give the file the ending of its format")
            )
        else:
            found = "cp1252" if _decodes(head, "cp1252") else "latin-1"
        said = "UTF-16" if found == "utf-16" else "Latin-1 (cp1252)"
        do = "Name another with encoding='...'"
        warnings.warn(f"{path}: not UTF-8, so it is read as {said}. {do}.", GuessedEncodingWarning, stacklevel=2)
        return found


UTF8 = TextFormat("utf-8")


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _decodes(head: bytes, encoding: str) -> bool:
    try:
        head.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
