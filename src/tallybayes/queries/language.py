"""The query language: parse queries such as ``play=yes | outlook=sunny, windy=false``.

    query    := terms [ "|" terms ]          the second terms are given
    terms    := term { "," term }            all of them hold
    term     := [ column operator ] value    a value alone is searched for in all columns
    operator := = | == | != | < | <= | > | >= | ~

Names and values that contain one of these signs are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from tallybayes import arguments
from tallybayes.errors import BadOption, wanted

_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
        |(?P<operator>==|!=|<=|>=|≠|≤|≥|=|<|>|~)
        |(?P<mark>[,|])
        |(?P<bare>(?:[^,|=<>~!≠≤≥]|!(?!=))+))""",
    re.VERBOSE,
)
_SAME = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">="}
_SIGNS = re.compile(r"[,|=<>~!≠≤≥'\"]")


@dataclass(frozen=True)
class Term:
    """One condition on one column, or a value to search for in all columns."""

    column: str | None
    operator: str
    value: str

    def __str__(self) -> str:
        if self.column is None:
            return _written(self.value)
        return f"{_written(self.column)}{self.operator}{_written(self.value)}"


@dataclass(frozen=True)
class Query:
    """A parsed query: the terms before the bar, and those after it.

    Examples
    --------
    >>> str(parse("P(circle | colour = red)"))
    'circle | colour=red'
    """

    target: tuple[Term, ...]
    given: tuple[Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms."""
        return self.target + self.given

    def __str__(self) -> str:
        target, given = (", ".join(map(str, side)) for side in (self.target, self.given))
        return f"{target} | {given}" if given else target


def parse(text: str, given: str | Mapping[str, Any] | None = None) -> Query:
    """Parse a query.

    `given` has further conditions: terms, or values by column; None is ignored.

    Examples
    --------
    >>> parse("play=yes", {"outlook": "sunny", "wind": None}).given
    (Term(column='outlook', operator='=', value='sunny'),)
    """
    arguments.text("query", text, "a text such as 'play=yes | outlook=sunny'")
    whole = re.fullmatch(r"\s*P\s*\((.*)\)\s*", text, re.DOTALL)
    target, more = _Reader(whole[1] if whole else text, "query").sides()
    if isinstance(given, Mapping):
        more += tuple(Term(str(k), "=", _text(v)) for k, v in given.items() if v is not None)
    elif isinstance(given, str):
        arguments.text("given", given, "terms such as 'outlook=sunny, windy=false'")
        first, second = _Reader(given, "given").sides()
        if second:
            raise BadOption(wanted("given", "terms such as 'outlook=sunny, windy=false'", f"{given!r}, with a '|'"))
        more += first
    elif given is not None:
        raise BadOption(wanted("given", "a text or a mapping of columns to values", repr(given)))
    return Query(target, more)


class _Reader:
    """A parser that reads terms from left to right and reports where it failed."""

    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._at = self._next = 0
        self._tokens: list[tuple[str, str, int]] = []  # kind, value, place
        end = len(text.rstrip())
        while self._at < end:
            found = _TOKEN.match(text, self._at)
            if found is None or found.lastgroup is None:
                self._refuse("a term", self._at)
            kind, value = found.lastgroup, found[found.lastgroup].strip()
            if kind == "bare" and value[:1] in ("'", '"'):
                self._refuse("a closing quote", self._at)
            if value:
                self._tokens.append((kind, value, found.end() - len(found[kind].lstrip())))
            self._at = found.end()

    def sides(self) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        """Return the terms before and after the bar."""
        target = self._terms()
        given: tuple[Term, ...] = ()
        if self._kind() == "mark":
            self._next += 1
            given = self._terms()
        if self._next < len(self._tokens):
            self._refuse("one '|' at most")
        return target, given

    def _terms(self) -> tuple[Term, ...]:
        terms = [self._term()]
        while self._next < len(self._tokens) and self._tokens[self._next][1] == "," and self._kind() == "mark":
            self._next += 1
            terms.append(self._term())
        return tuple(terms)

    def _term(self) -> Term:
        left = self._atom("a column or a value")
        if self._kind() != "operator":
            if self._kind() in ("quoted", "bare"):
                self._refuse("',' or '|' between terms")
            return Term(None, "=", left)
        operator = self._tokens[self._next][1]
        self._next += 1
        return Term(left, _SAME.get(operator, operator), self._atom(f"a value after {operator!r}"))

    def _kind(self) -> str | None:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else None

    def _atom(self, want: str) -> str:
        if self._kind() not in ("quoted", "bare"):
            self._refuse(want)
        kind, value, _ = self._tokens[self._next]
        self._next += 1
        return re.sub(r"\\(.)", r"\1", value[1:-1]) if kind == "quoted" else value

    def _refuse(self, want: str, at: int | None = None) -> NoReturn:
        if at is None and self._next < len(self._tokens):
            at = self._tokens[self._next][2]
        rest = "" if at is None else self._text[at:].strip()
        place = len(self._text) if at is None else at + len(self._text[at:]) - len(self._text[at:].lstrip())
        got = f"{rest!r} at character {place + 1}" if rest else "its end"
        do = "Write it like 'play=yes | outlook=sunny'; quote names that contain signs"
        raise BadOption(wanted(f"{self._where} {self._text!r}", want, got, do))


def _text(value: Any) -> str:
    """Return a value as written in a query: true and false in lower case, as in files."""
    return str(value).lower() if str(value) in ("True", "False") and not isinstance(value, str) else str(value)


def _written(name: str) -> str:
    """Return a name as written in a query, quoted if needed."""
    if _SIGNS.search(name) or name != name.strip() or not name:
        return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return name
