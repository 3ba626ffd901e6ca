"""All errors of tallybayes: one hierarchy, one form of message.

The message has the form *where: what was wanted, what was got. What to do.* The command line prints it as it is, so it
must make sense to someone who has never seen the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "BadData",
    "BadModelFile",
    "BadOption",
    "BoundedSearchWarning",
    "CannotMerge",
    "DiskFull",
    "GuessedEncodingWarning",
    "GuessedLayoutWarning",
    "JournalError",
    "KeyReused",
    "LeftOutWarning",
    "LoneClassesWarning",
    "MissingColumnWarning",
    "Sentence",
    "SkippedLinesWarning",
    "TallyError",
    "WorseThanPriorWarning",
    "did_you_mean",
    "fields",
    "similar",
    "wanted",
]


class TallyError(ValueError):
    """Base class of all errors caused by user input."""


class BadOption(TallyError):
    """An argument has an invalid value."""


class BadData(TallyError):
    """The rows do not match the schema."""


class CannotMerge(TallyError):
    """Two pieces of evidence have different columns, or a difference would be negative."""


class BadModelFile(TallyError):
    """A model file is truncated, altered, from another version, or not a model file."""


class KeyReused(TallyError):
    """An idempotency key came a second time, with another change."""


class JournalError(TallyError):
    """A journal cannot be read or written, or does not belong to the model."""


class DiskFull(JournalError):
    """A journal has no room for a change, which was not made."""


class BoundedSearchWarning(UserWarning):
    """There were too many pairs of columns to look at all; says how many were."""


class WorseThanPriorWarning(UserWarning):
    """The model predicts new rows worse than the class shares alone do."""


class GuessedEncodingWarning(UserWarning):
    """A text file is not UTF-8; says as what it is read."""


class GuessedLayoutWarning(UserWarning):
    """A table has an odd layout; says how it is read."""


class LeftOutWarning(UserWarning):
    """Rows without a class, or useless columns, were left out; says which."""


class LoneClassesWarning(UserWarning):
    """Most rows are alone in their class; says how many classes have one row."""


class MissingColumnWarning(UserWarning):
    """Rows to score lack a column of the model; says which."""


class SkippedLinesWarning(UserWarning):
    """Malformed lines were skipped on request; gives their number and the first positions."""


class Sentence(str):
    """A message that knows its parts: *where: wanted `want`, got `got`. `do`.*"""

    where: str
    want: str
    got: str
    do: str


def fields(error: TallyError) -> dict[str, str]:
    """Return an error as plain fields: name, message and, where known, its parts.

    Examples
    --------
    >>> fields(BadOption(wanted("prior", "3 numbers", "2")))["got"]
    '2'
    """
    sentence = error.args[0] if error.args else ""
    known = {"error": type(error).__name__, "message": str(error)}
    if not isinstance(sentence, Sentence):
        return known
    parts = {"where": sentence.where, "wanted": sentence.want, "got": sentence.got, "do": sentence.do}
    return known | {name: part for name, part in parts.items() if part}


def wanted(where: str, want: str, got: str, do: str = "") -> Sentence:
    """Return the message *where: wanted ..., got .... What to do.*

    Examples
    --------
    >>> wanted("prior", "3 numbers summing to 1", "[0.5, 0.6, 0.1] (sum 1.2)")
    'prior: wanted 3 numbers summing to 1, got [0.5, 0.6, 0.1] (sum 1.2).'
    >>> wanted("column 'age'", "numbers", "text (first: 'n/a', row 17)", "Declare it categorical")
    "column 'age': wanted numbers, got text (first: 'n/a', row 17). Declare it categorical."
    """
    whole = f"{where}: wanted {want}, got {got}."
    sentence = Sentence(f"{whole} {do if do.endswith(('.', '?')) else do + '.'}" if do else whole)
    sentence.where, sentence.want, sentence.got, sentence.do = where, want, got, do
    return sentence


_LISTED = 8  # names in a sentence; more would not be read
_PREFIX = 3  # letters; fewer begin too many names


def similar(name: str, among: Iterable[str]) -> str:
    """Ask whether a similar name was meant, or return "" if there is none.

    Examples
    --------
    >>> similar("acc", ["mcc", "accuracy"]), similar("outlok", ["outlook"]), similar("x", ["outlook"])
    ("Did you mean 'accuracy'?", "Did you mean 'outlook'?", '')
    """
    text, listed = str(name), [str(one) for one in among]
    longer = [one for one in listed if len(text) >= _PREFIX and one.lower().startswith(text.lower())]
    found = longer if 0 < len(longer) <= 3 else get_close_matches(text, listed, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(map(repr, found))}?" if found else ""


def did_you_mean(name: str, among: Iterable[str]) -> str:
    """Return a sentence with the most similar names, for errors about unknown names.

    Examples
    --------
    >>> did_you_mean("outlok", ["outlook", "windy"])
    "Did you mean 'outlook'?"
    >>> did_you_mean("x", ["outlook", "windy"]), did_you_mean("x", ["outlook"])
    ("There are 'outlook' and 'windy'.", "There is only 'outlook'.")
    """
    listed = [str(one) for one in among]
    question = similar(name, listed)
    if question:
        return question
    if len(listed) < 2:
        return f"There is only {listed[0]!r}." if listed else "There is none."
    shown = [repr(one) for one in listed[:_LISTED]]
    last = f"{len(listed) - _LISTED:,} more" if len(listed) > _LISTED else shown.pop()
    return f"There are {', '.join(shown)} and {last}."
