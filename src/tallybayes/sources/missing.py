"""Texts that stand for a missing value, by default and as the user lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from tallybayes.arguments import listed, text

MissingValues: TypeAlias = Literal["auto"] | Sequence[str]

AUTO: Literal["auto"] = "auto"
# In a column of names '-' and '.' may be values.
NAME_MARKERS = ("", "?", "NA", "N/A", "NaN", "null", "None")
# The class of a row is often called None, as in 'None, Mild, Severe'.
CLASS_MARKERS = tuple(text for text in NAME_MARKERS if text != "None")
# Among numbers, dates or booleans none of these can be a value.
NUMBER_MARKERS = (
    *(*NAME_MARKERS, "n/a", "nan", "NULL", "-", "."),
    *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),  # what spreadsheets write for an error
)


def checked(given: MissingValues) -> Literal["auto"] | tuple[str, ...]:
    """Return the user's option: "auto", or a tuple of texts; a single text may be given alone.

    A tuple with "auto" in it holds further texts, beside the usual ones.

    Examples
    --------
    >>> checked("auto"), checked("?"), checked(["?", "-"]), checked(["auto", "-9"])
    ('auto', ('?',), ('?', '-'), ('auto', '-9'))
    """
    if isinstance(given, str):
        return AUTO if given == AUTO else (given,)
    want = "texts that mean a missing value"
    texts = tuple(text("missing_values", one, want) for one in listed("missing_values", given, want))
    return AUTO if texts and set(texts) == {AUTO} else texts


def further_markers(missing: MissingValues) -> tuple[str, ...]:
    """Return the texts that the user named.

    Examples
    --------
    >>> further_markers("auto"), further_markers(["?"]), further_markers(["auto", "-9"])
    ((), ('?',), ('-9',))
    """
    return () if missing == AUTO else tuple(text for text in missing if text != AUTO)


def keeps_usual(missing: MissingValues) -> bool:
    """Return whether the usual texts are among them."""
    return missing == AUTO or AUTO in missing


def _markers(missing: MissingValues, usual: tuple[str, ...]) -> tuple[str, ...]:
    named = further_markers(missing)
    return tuple(dict.fromkeys((*usual, *named))) if keeps_usual(missing) else named


def markers_of_numbers(missing: MissingValues) -> tuple[str, ...]:
    """Return the texts that are missing in a column that is otherwise numbers, dates or booleans."""
    return _markers(missing, NUMBER_MARKERS)


def markers_of_names(missing: MissingValues) -> tuple[str, ...]:
    """Return the texts that are missing in a column of names."""
    return _markers(missing, NAME_MARKERS)


@dataclass(frozen=True)
class Markers:
    """The texts that are missing in each column of text.

    Attributes
    ----------
    missing : sequence of str, or "auto"
        The user's option; "auto" in a sequence stands for the usual texts.
    label : str or None
        The column of classes, if it is known.
    documents : tuple of str
        Names or globs of columns of documents, where an empty text is a document.

    Examples
    --------
    >>> Markers("auto", "risk").of("risk"), Markers("auto", documents=("body",)).of("body"), Markers(["-"]).of("body")
    (('', '?', 'NA', 'N/A', 'NaN', 'null'), (), ('-',))
    """

    missing: MissingValues = AUTO
    label: str | None = None
    documents: tuple[str, ...] = ()

    def of(self, column: str, *, prose: bool = False) -> tuple[str, ...]:
        """Return the texts that are missing in a column of text; an empty document is a document."""
        if prose or any(fnmatchcase(column, pattern) for pattern in self.documents):
            return further_markers(self.missing)
        return _markers(self.missing, CLASS_MARKERS if column == self.label else NAME_MARKERS)
