"""Every way in which tallybayes says no: one hierarchy, one sentence each.

The sentence has one form, *where: what was wanted, what was got. What to do.* It is what the command line prints,
so it must make sense to someone who has never seen the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "BadData",
    "BadModelFile",
    "BadOption",
    "CannotMerge",
    "SkippedLinesWarning",
    "TallyError",
    "did_you_mean",
    "wanted",
]


class TallyError(ValueError):
    """The base of all errors that a user's input can cause."""


class BadOption(TallyError):
    """An argument is not one of those that make sense."""


class BadData(TallyError):
    """The rows are not what the schema says they are."""


class CannotMerge(TallyError):
    """Two pieces of evidence do not speak of the same columns, or a difference would be negative."""


class BadModelFile(TallyError):
    """A model file is truncated, altered, from another version, or not a model file at all."""


class SkippedLinesWarning(UserWarning):
    """Lines of a file were passed over, as was asked for: how many, and where the first of them are."""


def wanted(where: str, want: str, got: str, do: str = "") -> str:
    """The one sentence: *where: wanted ..., got .... What to do.*

    Examples
    --------
    >>> wanted("prior", "3 numbers summing to 1", "[0.5, 0.6, 0.1] (sum 1.2)")
    'prior: wanted 3 numbers summing to 1, got [0.5, 0.6, 0.1] (sum 1.2).'
    >>> wanted("column 'age'", "numbers", "text (first: 'n/a', row 17)", "Declare it categorical")
    "column 'age': wanted numbers, got text (first: 'n/a', row 17). Declare it categorical."
    """
    sentence = f"{where}: wanted {want}, got {got}."
    return f"{sentence} {do if do.endswith(('.', '?')) else do + '.'}" if do else sentence


def did_you_mean(name: str, among: Iterable[str]) -> str:
    """A closing sentence that offers the nearest names, for errors about a name that is not there.

    Examples
    --------
    >>> did_you_mean("outlok", ["outlook", "windy"])
    "Did you mean 'outlook'?"
    """
    listed = [str(one) for one in among]
    near = get_close_matches(str(name), listed, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(map(repr, listed[:8])) + (", ..." if len(listed) > 8 else "")
    return f"There is {shown}."
