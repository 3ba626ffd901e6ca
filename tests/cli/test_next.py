"""Every command that another suggests is run, as printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import sources
from tallybayes.cli.event_patterns import short_patterns
from tallybayes.schema.infer import infer

from .shell import Shell

# Names with spaces, quotes, brackets and equals signs; '-' marks missing values; an id to leave out.
HEADER = "shelf mark,it's wet,f(x),a=b,size,of kind"


def odd_rows(n: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["old one", "new one"], n)
    lines = [HEADER]
    for k, kind in enumerate(kinds):
        number = rng.lognormal(1 + (kind == "old one"), 1)
        size = "-" if k % 7 == 0 else f"{number:.2f}"
        lines.append(f"M{k:05d},{rng.choice(['yes', 'no'])},{rng.poisson(3)},{number:.3f},{size},{kind}")
    return "\n".join(lines) + "\n"


def suggestions(text: str) -> list[str]:
    """Return the commands on the lines that follow "next:"."""
    after = text.partition("Next:\n")[2] or "\n".join(
        line.partition("next: ")[2] for line in text.splitlines() if "next: " in line
    )
    return [line.strip().removeprefix("tally ") for line in after.splitlines() if line.strip().startswith("tally ")]


TYPED = (
    "'my shelf.csv' --label 'of kind' --drop 'shelf mark' --missing -",
    "'my shelf.csv' 'more shelf.csv' -l 'of kind' --drop 'shelf*' --missing - --missing '?' --event 'f(x)=poisson'",
    "'my shelf.csv' -l 'of kind' --missing - --where 'size > 1' --event 'a=b=lognormal' --alpha 'a=b=2'",
    "'* shelf.csv' -l 'of kind' --missing=- --estimate map --no-calibrate --prior 'old one=0.3,new one=0.7'",
    "--sql \"select * exclude (\\\"shelf mark\\\") from 'my shelf.csv'\" --label 'of kind' --missing-as category",
)


@pytest.fixture
def shelves(tally: Shell) -> Shell:
    Path("my shelf.csv").write_text(odd_rows(60, 0))
    Path("more shelf.csv").write_text(odd_rows(40, 1))
    return tally


@pytest.mark.parametrize("typed", TYPED)
def test_what_fit_suggests_runs_and_reads_the_same_rows(shelves: Shell, typed: str) -> None:
    ran = shelves(f"fit {typed} -o 'a model.tally'")
    assert ran.code == 0, ran.err
    shown, validated = suggestions(ran.err)
    assert shown == "show 'a model.tally'"
    shelves.done(shown)
    shelves.done(validated)
    words = validated.removeprefix("validate ")
    shelves.done(f"fit {words} -o again.tally")
    assert tb.load("again.tally") == tb.load("a model.tally")


@pytest.mark.parametrize("typed", TYPED)
def test_what_compare_suggests_runs_and_fits_what_it_recommends(shelves: Shell, typed: str) -> None:
    ran = shelves(f"compare {typed} --how 5-fold --partner none")
    assert ran.code == 0, ran.err
    (line,) = suggestions(ran.err)
    shelves.done(f"{line} -o best.tally")


@pytest.mark.parametrize("stdin", [False, True])
def test_what_look_suggests_runs(shelves: Shell, stdin: bool) -> None:
    given = odd_rows(60, 0).encode() if stdin else None
    ran = shelves(f"look {'-' if stdin else repr('my shelf.csv')} --missing -", stdin=given)
    lines = suggestions(ran.out)
    assert [line.split()[0] for line in lines] == ["report", "fit", "validate"]
    for line in lines:
        assert "--missing -" in line
        shelves.done(line, stdin=given)
    assert "Not used: shelf mark. To use it: --keep 'shelf mark'." in ran.out


def test_without_a_class_every_column_is_described_and_what_look_suggests_runs(tally: Shell) -> None:
    lines = "".join(f"{20 + k % 9}.5,{50_000 + 977 * k}\n" for k in range(60))
    Path("flats to let.csv").write_text("sqm,rent\n" + lines)
    ran = tally("look 'flats to let.csv'")
    assert "rent     histogram" in ran.out
    assert "No column looks like a class: name it with --label." in ran.out
    (line,) = suggestions(ran.out)
    assert line == "report 'flats to let.csv' --no-label"
    tally.done(line)
    assert "What is in" in Path("flats to let.html").read_text()


def test_a_hint_does_not_repeat_secrets_of_a_uri(tally: Shell) -> None:
    from tallybayes.cli.options import InputOptions

    words = InputOptions(sql="select 1", db="postgresql://me:secret@host/db").words(None)
    assert words == ["--sql", "select 1", "--db", "postgresql://host/db"]


def test_what_compare_suggests_for_many_columns_is_short(tally: Shell) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    columns = {f"word_freq_{k}": rng.gamma(0.7 + y, 1.0).round(6) + 0.001 for k in range(30)}
    columns |= {f"char_freq_{k}": rng.exponential(1 + 3.0 * y).round(6) for k in range(10)}
    header = ",".join([*columns, "y"])
    np.savetxt("many.csv", np.column_stack([*columns.values(), y]), "%g", ",", header=header, comments="")
    ran = tally("compare many.csv --label y --how 3-fold --partner none --estimate mle")
    assert ran.code == 0, ran.err
    (line,) = suggestions(ran.err)
    assert len(line) < 160, line
    tally.done(f"{line} -o best.tally")


def expanded(patterns: dict[str, str], inferred: dict[str, str]) -> dict[str, str]:
    """Return the event model of each column, as `fit` would take the patterns."""
    rows = {name: [0.5, 1.5] if event == "histogram" else ["a", "b"] for name, event in inferred.items()}
    return infer(sources.read(rows | {"y": [0, 1]}).schema, "y", events=patterns or None, where="rows").events()


@pytest.mark.parametrize("seed", range(30))
def test_globs_mean_the_same_columns_as_names(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stems = ["freq_", "fre", "f", "a*", "a[", "size [", "x", "Größe "]
    names = sorted({f"{rng.choice(stems)}{rng.integers(0, 30)}" for _ in range(rng.integers(1, 40))})
    inferred = {name: str(rng.choice(["histogram", "categorical"], p=[0.7, 0.3])) for name in names}
    numbers = [name for name, event in inferred.items() if event == "histogram"]
    chosen = {name: str(rng.choice(["gaussian", "lognormal"], p=[0.9, 0.1])) for name in numbers if rng.random() < 0.9}
    patterns = short_patterns(chosen, inferred)
    assert len(patterns) <= max(len(chosen), 1)
    assert expanded(patterns, inferred) == inferred | chosen
