"""Random command lines of every command, over good and mutated files."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from itertools import pairwise
from random import Random
from typing import Any
from unittest import mock

from tallybayes.cli.main import COMMANDS, main

from . import mutate
from .calls import QUERIES, Call, World

LINES = {
    "look": "look DATA",
    "fit": "fit DATA --label y -o OUT --force",
    "learn": "learn MODEL DATA -o OUT --force",
    "forget": "forget MODEL DATA -o OUT --force",
    "merge": "merge MODEL model.tally -o OUT --force",
    "select": "select MODEL DATA -n 1 -o OUT --force",
    "predict": "predict MODEL DATA",
    "explain": "explain MODEL x=1 s=a",
    "show": "show MODEL",
    "query": "query DATA QUERY",
    "sample": "sample MODEL -n 3",
    "export": "export MODEL -o OUT.json --force",
    "validate": "validate DATA --label y --how 2-fold",
    "evaluate": "evaluate MODEL DATA",
    "compare": "compare DATA --label y --how 2-fold --partner none",
    "dependence": "dependence DATA --label y",
    "report": "report DATA --label y -o OUT.html --force",
    "demo": "demo weather",
    "drift": "drift MODEL DATA",
    "mail": "mail classify MODEL DATA",
}
ENDLESS = {"serve"}  # until it is terminated; tests/server attacks it over HTTP
WORDS = (
    *(
        "",
        "a",
        "x",
        "y",
        "s",
        "--",
        "-",
        "0",
        "1",
        "-1",
        "0.5",
        "1e999",
        "nan",
        "inf",
        "9" * 30,
        "x=1",
        "x=",
        "=1",
        "y=p",
    ),
    *("[", "*", "p=0.5,q=0.5", "p=0.9", "x=gaussian", "s=text", "x=categorical", "loo", "2-fold", "mle", "x,s", "{}"),
    *(
        "\x1b[31m",
        "é",
        "\ud800",
        "a" * 300,
        "rows.csv",
        "rows.arff",
        "model.tally",
        "model.json",
        ".",
        "/",
        "/dev/null",
    ),
    *(
        "x > 1",
        "s = 'a'",
        "0,1;1,0",
        "csv",
        "json",
        "none",
        "accuracy=0.5",
        '{"x": 1}',
        "rows.csv:1",
        "skip",
        "replace",
    ),
    *("latin-1", ";", "\t", "SELECT 1", "duckdb", "n-1"),
)
EXPECTED = (0, 1, 2)  # done, a check failed, bad input
FAILED = {"mail": 3}  # the exit code of bad input, as bogofilter's, where it is not 2


def targets() -> list[str]:
    """Return the name of every command, as `tally NAME`."""
    return [f"tally {name}" for group in COMMANDS.values() for name in group if name not in ENDLESS]


def make(world: World, name: str, rng: Random) -> Call:
    """Return a random command line of a command."""
    words = LINES[name.removeprefix("tally ")].split()
    files = {"MODEL": lambda: world.path(rng, "model.tally"), "DATA": lambda: world.path(rng)}
    words = [files[word]() if word in files else word for word in words]
    words = [
        rng.choice(QUERIES) if word == "QUERY" else word.replace("OUT", str(world.folder / "out")) for word in words
    ]
    options = _options(words[0])
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        how = rng.random()
        if how < 0.5 and options:
            words += [rng.choice(options), rng.choice(WORDS)]
        elif how < 0.6 and options:
            words.append(rng.choice(options))
        elif how < 0.8 and len(words) > 1:
            words[rng.randrange(1, len(words))] = rng.choice(WORDS)
        elif how < 0.9 or len(words) == 1:
            words.insert(rng.randrange(1, len(words) + 1), rng.choice(WORDS))
        else:
            del words[rng.randrange(1, len(words))]
    stdin = mutate.mutated(rng, (world.folder / "rows.csv").read_bytes())
    # What is asked for is made: a hundred digits of rows are no test, and no command may write outside of the folder.
    # Nor would it be one to find rows in all files of a disk.
    words = [_within_bounds(before, word) for before, word in pairwise(["", *words])]
    return Call(name, lambda: run(world, words, stdin), f"tally {words!r}")


def _within_bounds(before: str, word: str) -> str:
    """Return a word, or one that asks for less; `before` is the one before it."""
    if word == "9" * 30 and before in ("-n", "--n", "--shuffles"):
        return "3"
    return "." if word == "/" and before not in ("-o", "--output") else word


def run(world: World, words: list[str], stdin: bytes) -> None:
    """Run a command in the folder; raise AssertionError unless it ends as commands must."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    given = io.TextIOWrapper(io.BytesIO(stdin))
    before = os.getcwd()
    os.chdir(world.folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.object(sys, "stdin", given):
            code = main(words)
    finally:
        os.chdir(before)
    err.flush()
    said = err.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
    assert code in (*EXPECTED, FAILED.get(words[0], 2)), f"exit code {code}: {said[-300:]}"
    assert "Traceback" not in said, said[-2000:]
    if code == FAILED.get(words[0], 2):
        assert said.splitlines()[-1:], f"exit code {code}, and nothing said"
        assert said.splitlines()[-1].startswith("tally: "), f"no sentence: {said!r}"


def _options(command: str) -> list[str]:
    """Return the options of a command, in all their spellings."""
    if command not in _FOUND:
        from tallybayes.cli.main import program

        group: Any = program()
        made = group.get_command(mock.MagicMock(), command)
        _FOUND[command] = [name for one in made.params for name in one.opts if name.startswith("-")]
    return _FOUND[command]


_FOUND: dict[str, list[str]] = {}
