"""Messages in the language of the command line: options in place of keywords."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

# Keywords of Python functions, and the option that each is here where it is not the same word with dashes.
_OPTIONS = {
    "columns": "--column",
    "connection": "--db",
    "events": "--event",
    "level": "--level",
    "missing": "--missing-as",
    "n": "-n",
    "partners": "--partner",
    "sample given": "--given",
    "sample n": "-n",
    "sample seed": "--seed",
    "weights": "--weight",
}
_SAME = (
    "abstain against alpha bad_lines bins dialect of label weight calibrate confidence costs errors estimate"
    " floor folds groups how order positive prior seed structure threads threshold unseen variance where delimiter"
    " encoding keep"
)
_OPTIONS |= {name: f"--{name.replace('_', '-')}" for name in _SAME.split()}
_NAMES = "|".join(map(re.escape, sorted(_OPTIONS, key=len, reverse=True)))
_WORDS = r"'[\w-]+'(?: or '[\w-]+')?"

Replacement = str | Callable[[re.Match[str]], str]
# Patterns are compiled when first used: most commands have nothing to rephrase.
_RULES: tuple[tuple[str, Replacement], ...] = (
    # what a message is about: "events['age']: wanted ..." and "alpha: wanted ..."
    (r"^select: wanted how many", "-n: wanted how many"),
    (r"^((?:groups|folds|order): wanted a column of .*), or an array, got", r"\1, got"),
    (r"^events\['\*'\]: wanted", "--event: wanted"),
    (r"^events\['([^']*)'\]: wanted", r"--event \1: wanted"),
    (rf"^({_NAMES})(, column .*)?: wanted", lambda m: f"{_OPTIONS[m[1]]}{m[2] or ''}: wanted"),
    # what to do: events={'age': 'categorical'}, bad_lines='skip', alpha=1, structure 'tan' or 'naive'
    (r"events=\{'([^']*)': 'ignore'\}", lambda m: f"--drop {shlex.quote(m[1])}"),
    (r"events=\{'([^']*)': '([^']*)'\}", lambda m: f"--event {shlex.quote(f'{m[1]}={m[2]}')}"),
    (r"with where='([^']*)'", lambda m: f"with --where {shlex.quote(m[1])}"),
    (
        rf"(?<!['\w])({_NAMES})=({_WORDS}|[\d.]*\d|(?=\.$))",
        lambda m: f"{_OPTIONS[m[1]]} {m[2]}".replace("'", "").rstrip(),
    ),
    (r"(, or '([^']*)' a missing value)\.", r"\1 (--missing '\2')."),
    (rf"(?<=Choose |. with )structure ({_WORDS})", lambda m: f"--structure {m[1]}".replace("'", "")),
    (r"keep=\['([^']*)'\]", lambda m: f"--keep {shlex.quote(m[1])}"),
    (
        r"^(column '([^']*)': .*), or declare it 'ignore'\.$",
        lambda m: f"{m[1]}, or leave it out with --drop {shlex.quote(m[2])}.",
    ),
    (r"label_as_is=True", "--label-as-is"),
    (r"encoding='\.\.\.'", "--encoding"),
    (r"\(alpha above 0\)", "(--alpha above 0)"),
    (r"([Uu])se to_json, to_html or tb\.register_duckdb", r"\1se --to json or --to html"),
    (r"an array of shape \((\d+), (\d+)\)", r"\1 × \2"),
    (r"an array of shape \((\d+),\)", r"\1 numbers"),
    (
        r"^(column '([^']*)': .*) Name '(.*)' a missing value, or declare the column categorical\.$",
        lambda m: (
            f"{m[1]} If it means a missing value, add --missing auto --missing {shlex.quote(m[3])};"
            f" or fit with --event {shlex.quote(f'{m[2]}=categorical')}."
        ),
    ),
    (r"\(columns=\[\.\.\.\]\)", "(--column)"),
    (r"([Qq])uery the rows: tb\.probability", r"\1uery the rows: tally query DATA"),
    (r"Pass it to tb\.load, or to tb\.fit: tokenizer=\.\.\.", "Such a model works in Python alone"),
    (r" Pass text as a list: \[text\]\.", ""),
    # values
    (r"datetime\.date\((\d+), (\d+), (\d+)\)", lambda m: f"{int(m[1])}-{int(m[2]):02d}-{int(m[3]):02d}"),
    (r"datetime\.datetime\((\d+(?:, \d+)+)\)", lambda m: _time(*map(int, m[1].split(", ")))),
    (r"Decimal\('([^']*)'\)", r"\1"),
)


def in_options(text: str) -> str:
    """Return a message on one line, as the command line spells things.

    Examples
    --------
    >>> in_options("a.csv: wanted 2 values, got 3. Fix the line, or skip it with bad_lines='skip'.")
    'a.csv: wanted 2 values, got 3. Fix the line, or skip it with --bad-lines skip.'
    >>> in_options("Declare it categorical (events={'age': 'categorical'}).")
    'Declare it categorical (--event age=categorical).'
    >>> in_options("events['age']: wanted numbers, got datetime.date(2024, 5, 4).")
    '--event age: wanted numbers, got 2024-05-04.'
    """
    line = " ".join(text.split())
    for pattern, replacement in _RULES:
        line = re.sub(pattern, replacement, line)
    return line


def _time(year: int, month: int, day: int, *clock: int) -> str:
    return f"{year}-{month:02d}-{day:02d} {':'.join(f'{one:02d}' for one in (*clock, 0, 0)[:3])}"
