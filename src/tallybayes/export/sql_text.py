"""Texts in SQL: words in rows of their own, joined with a table of tokens.

A regular expression finds the words; the terms of their tokens are summed.

Databases lower letters by their locale and their version of Unicode. The query spells out which letters it lowers, so
that tokens are those of the model to the letter.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.plain_terms import TokenTable
from tallybayes.export.json import refuse_tokenizer
from tallybayes.export.sql_dialect import Dialect, number
from tallybayes.kernels.text_types import TextOptions

__all__ = ["WITH_WORDS", "TextSteps", "refuse_text", "spaces", "text_steps"]

# PostgreSQL and DuckDB run a named query once, so sums find their rows again by a number. Elsewhere a query that is
# used twice may number its rows twice, so all columns are passed through.
_JOINED = ("duckdb", "postgres")
WITH_WORDS = (*_JOINED, "spark", "bigquery", "snowflake")
_DOTTED = "\u0130"  # İ, the one letter whose lower form is two characters
_SIGMA = "\u03a3"  # Σ, whose lower form depends on its place in a word


@dataclass(frozen=True)
class TextSteps:
    """The steps that sum what the tokens of a text add, and the columns that the last step has.

    Attributes
    ----------
    queries : list of (str, str)
        Names and queries.
    log, heavy : list of str
        The columns of the plain and the weighted sum of each class.
    hits : list of str
        The columns that count the needed tokens of each class; none where no token is needed.
    size : str
        The column of the number of tokens.
    """

    queries: list[tuple[str, str]]
    log: list[str]
    heavy: list[str]
    hits: list[str]
    size: str

    @property
    def columns(self) -> list[str]:
        """All these columns."""
        return [*self.log, *self.heavy, *self.hits, self.size]


def refuse_text(term: TokenTable, name: str, sql: Dialect) -> None:
    """Raise if a dialect cannot split texts as the model does."""
    refuse_tokenizer(term, name)
    where, options = f"column {name!r}", term.options
    if sql.key not in WITH_WORDS:
        do = "Use to_json, to_html or tb.register_duckdb"
        raise BadOption(wanted(where, f"a dialect that splits words ({', '.join(WITH_WORDS)})", repr(sql.key), do))
    do = "Fit without it, or use to_json, to_html or tb.register_duckdb"
    if options.strip_accents is not None:
        raise BadOption(wanted(where, "text with its accents for SQL", f"strip_accents={options.strip_accents!r}", do))
    if options.analyzer == "char_wb":
        raise BadOption(wanted(where, "words or characters for SQL", "analyzer='char_wb'", do))


def text_steps(
    k: int, term: TokenTable, text: str, sql: Dialect, *, tokens: str, before: str, passed: Sequence[str], heavy: bool
) -> TextSteps:
    """Return the steps for the texts of term k.

    Parameters
    ----------
    text : str
        The column of texts in the step before.
    tokens : str
        The table of tokens: token, log_0, log_1, ..., with heavy_0, ... and need_0, ... where there are any.
    before : str
        The step before.
    passed : sequence of str
        The columns of that step, which the last step has again.
    heavy : bool
        Whether tokens have weights.
    """
    joined, options = sql.key in _JOINED, term.options
    carried = ["row_id"] if joined else ["row_id", *passed]
    classes = range(len(term.base))
    queries = [(f"words_{k}", _words(_prepared(text, term, sql), options, sql, carried, before))]
    if options.ngram_range != (1, 1):
        queries += _ngrams(k, options, carried)
    if term.distinct:
        rest = [f"ANY_VALUE({one}) AS {one}" for one in carried[1:]]
        listed = ", ".join(["row_id", *rest, "token"])
        queries.append((f"distinct_{k}", f"SELECT {listed}\n  FROM {queries[-1][0]}\n  GROUP BY row_id, token"))
    sums = _sums(k, term, classes, heavy=heavy)
    ends = [one.rsplit(" AS ", 1)[1] for one in sums]
    group = [] if joined else [f"ANY_VALUE(w.{one}) AS {one}" for one in passed]
    listed = ",\n    ".join(["w.row_id", *group, *sums])
    join = f"{queries[-1][0]} AS w LEFT JOIN {tokens} AS t ON t.token = w.token"
    queries.append((f"totals_{k}", f"SELECT\n    {listed}\n  FROM {join}\n  GROUP BY w.row_id"))
    if joined:
        listed = ",\n    ".join(["b.row_id", *(f"b.{one}" for one in passed), *(f"f.{one}" for one in ends)])
        source = f"{before} AS b LEFT JOIN totals_{k} AS f ON f.row_id = b.row_id"
        queries.append((f"texts_{k}", f"SELECT\n    {listed}\n  FROM {source}"))
    C = len(classes)
    last = C * (1 + heavy)
    return TextSteps(queries, ends[:C], ends[C:last], ends[last:-1], ends[-1])


def _sums(k: int, term: TokenTable, classes: Sequence[int], *, heavy: bool) -> list[str]:
    """Return the sums over a row's tokens: of logarithms, of weighted ones, of needed tokens, and their number."""

    def total(column: str, unknown: float) -> str:
        found = f"COALESCE(t.{column}, {number(max(unknown, -1e200))})"
        return f"SUM(CASE WHEN w.token IS NULL THEN 0e0 ELSE {found} END)"

    unknown = np.zeros(len(classes)) if term.unknown is None else term.unknown
    sums = [f"{total(f'log_{c}', unknown[c])} AS text_{k}_log_{c}" for c in classes]
    if heavy:
        worth = term.worth_unknown
        sums += [f"{total(f'heavy_{c}', unknown[c] * worth)} AS text_{k}_heavy_{c}" for c in classes]
    if term.needed is not None:
        sums += [f"SUM(COALESCE(t.need_{c}, 0e0)) AS text_{k}_need_{c}" for c in classes]
    return [*sums, f"COUNT({'t' if term.unknown is None else 'w'}.token) AS text_{k}_size"]


# From a text to tokens.


def _words(text: str, options: TextOptions, sql: Dialect, columns: Sequence[str], source: str) -> str:
    """Return the query with a row for each word or character, in its position."""
    pattern, listed = sql.value(_pattern(options, sql)), ", ".join(columns)
    stop = ", ".join(map(sql.value, options.stop_words)) if options.analyzer == "word" else ""
    if sql.key in _JOINED:
        if sql.key == "duckdb":
            found = f"REGEXP_EXTRACT_ALL({text}, {pattern})"
            body = f"SELECT {listed}, UNNEST({found}) AS token, GENERATE_SUBSCRIPTS({found}, 1) AS place FROM {source}"
        else:
            lateral = f"CROSS JOIN LATERAL REGEXP_MATCHES({text}, {pattern}, 'g') WITH ORDINALITY AS m(found, place)"
            body = f"SELECT {listed}, m.found[1] AS token, m.place FROM {source} {lateral}"
        return body if not stop else f"SELECT {listed}, token, place FROM ({body}) AS w WHERE token NOT IN ({stop})"
    if sql.key == "spark":
        found = f"REGEXP_EXTRACT_ALL({text}, {pattern}, 0)"
        found = f"FILTER({found}, w -> w NOT IN ({stop}))" if stop else found
        return f"SELECT {listed}, token, place FROM {source} LATERAL VIEW OUTER POSEXPLODE({found}) AS place, token"
    if sql.key == "bigquery":
        found = f"REGEXP_EXTRACT_ALL({text}, {pattern})"
        if stop:
            kept = f"SELECT w FROM UNNEST({found}) AS w WITH OFFSET AS o WHERE w NOT IN ({stop}) ORDER BY o"
            found = f"ARRAY({kept})"
        return f"SELECT {listed}, token, place FROM {source} LEFT JOIN UNNEST({found}) AS token WITH OFFSET AS place"
    found = f"REGEXP_SUBSTR_ALL({text}, {pattern})"
    found = f"FILTER({found}, w -> NOT w IN ({stop}))" if stop else found
    flat = f"LATERAL FLATTEN(INPUT => {found}, OUTER => TRUE) AS m"
    return f"SELECT {listed}, CAST(m.VALUE AS TEXT) AS token, m.INDEX AS place FROM {source}, {flat}"


def _ngrams(k: int, options: TextOptions, carried: Sequence[str]) -> list[tuple[str, str]]:
    """Return the queries that join neighbouring tokens."""
    (least, most), between = options.ngram_range, " || ' ' || " if options.analyzer == "word" else " || "
    listed = ", ".join(carried)
    window = "OVER (PARTITION BY row_id ORDER BY place)"
    after = "".join(f", LEAD(token, {n}) {window} AS next_{n}" for n in range(1, most))
    chain = [between.join(["token", *(f"next_{j}" for j in range(1, n))]) for n in range(least, most + 1)]
    cases = " ".join(f"WHEN {n} THEN {one}" for n, one in enumerate(chain, least))
    sizes = " UNION ALL ".join(f"SELECT {n} AS n" for n in range(least, most + 1))
    return [
        (f"neighbours_{k}", f"SELECT {listed}, token{after}\n  FROM words_{k}"),
        (
            f"ngrams_{k}",
            f"SELECT {listed}, CASE sizes.n {cases} END AS token\n  FROM neighbours_{k} CROSS JOIN ({sizes}) AS sizes",
        ),
    ]


def _pattern(options: TextOptions, sql: Dialect) -> str:
    if options.analyzer == "char":
        return "(?s)." if sql.key != "postgres" else "."  # there, a dot is also the end of a line
    if sql.key == "postgres":  # its classes depend on the locale
        return f"[{_ranges(_is_word, sql)}]{{2,}}"
    return r"[\p{L}\p{N}_]{2,}"


def _prepared(text: str, term: TokenTable, sql: Dialect) -> str:
    """Return the text in lower case, and for characters with single spaces."""
    if term.options.lowercase:
        text = _lower(text, term, sql)
    if term.options.analyzer == "char":
        text = sql.replace_all(text, f"[{spaces(sql)}]{{2,}}", " ")
    return text


def spaces(sql: Dialect) -> str:
    """Return white space as ranges for a class of a regular expression."""
    return _ranges(str.isspace, sql)


def _lower(text: str, term: TokenTable, sql: Dialect) -> str:
    """Return the text with those letters lowered that tokens of the vocabulary can have."""
    # Other letters make no difference to which tokens are found, unless all tokens count, each once.
    every = term.unknown is not None and term.distinct
    letters = None if every else frozenset("".join(map(str, term.vocabulary.values)))
    pairs = [(one, low) for one, low in _lowered() if letters is None or low in letters]
    text = f"REPLACE({text}, {sql.value(_DOTTED)}, {sql.value(_DOTTED.lower())})"
    if letters is None or letters & {"σ", "ς"}:
        cased, ignored = _ranges(_is_cased, sql), _ranges(_is_ignored, sql)
        final = f"([{cased}][{ignored}]*){_SIGMA}([{ignored}]*(?:[^{cased}{ignored}]|$))"
        text = sql.replace_all(text, final, sql.group(1) + "ς" + sql.group(2))
    if not pairs:
        return text
    upper, lower = ("".join(some) for some in zip(*pairs, strict=True))
    return f"TRANSLATE({text}, {sql.value(upper)}, {sql.value(lower)})"


@cache
def _lowered() -> list[tuple[str, str]]:
    """Return every letter with another lower form, and that form."""
    every = (chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000)
    return [(one, one.lower()) for one in every if one.lower() != one and len(one.lower()) == 1]


def _is_word(one: str) -> bool:
    return re.match(r"\w", one) is not None


def _is_cased(one: str) -> bool:
    return (one + _SIGMA).lower()[-1] == "ς"


def _is_ignored(one: str) -> bool:
    return not _is_cased(one) and ("a" + one + _SIGMA).lower()[-1] == "ς"


@cache
def _runs(of: Callable[[str], bool]) -> list[tuple[int, int]]:
    found = [c for c in range(1, sys.maxunicode + 1) if not 0xD800 <= c < 0xE000 and of(chr(c))]
    runs: list[Floats] = np.split(np.array(found), np.flatnonzero(np.diff(found) != 1) + 1)
    return [(int(run[0]), int(run[-1])) for run in runs]


def _ranges(of: Callable[[str], bool], sql: Dialect) -> str:
    """Return characters as ranges for a class of a regular expression."""
    code = sql.code_point
    return "".join(code(first) if first == last else f"{code(first)}-{code(last)}" for first, last in _runs(of))
