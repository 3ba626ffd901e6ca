"""Help: every command describes its options and has examples that run; starting is fast."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tallybayes.cli.main import COMMANDS
from tests.server.process import Server

from .shell import Shell, write_mailboxes

NAMES = {name: module for section in COMMANDS.values() for name, (module, _) in section.items()}
# What an example needs that another command makes.
BEFORE = [
    "fit weather.csv --label play",
    "learn weather.tally week.csv -o fortnight.tally",
    "predict weather.tally weather.csv -o answers.csv",
]


def examples(name: str) -> list[str]:
    return list(getattr(import_module(f"tallybayes.cli.{NAMES[name]}"), name).examples)


@pytest.mark.parametrize("name", NAMES)
def test_help_says_what_it_does_and_ends_with_examples(tally: Shell, name: str) -> None:
    shown = tally.done(f"{name} --help")
    assert shown.startswith(f"Usage: tally {name} ")
    for line in examples(name):
        assert f"\n    {line}\n" in shown
    options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)[^\n]*?(?:\n {20,}|  )(\S.*)$", shown, re.MULTILINE)
    assert all(words for _, words in options)
    assert {"--help"} <= {option for option, _ in options}


@pytest.mark.parametrize(
    ("name", "line"),
    [(name, line) for name in NAMES if name != "serve" for line in examples(name)],  # which would not end
    ids=lambda one: str(one)[:60],
)
def test_every_example_runs(tally: Shell, name: str, line: str) -> None:
    if name == "mail":
        write_mailboxes()
        if " train " not in line:
            tally.done("mail train --spam spam.mbox --ham ham.mbox -o mail.tally")
    for command in BEFORE:
        tally.done(command)
    made = {"fit": "weather.tally", "learn": "fortnight.tally", "predict": "answers.csv"}.get(name)
    for part in line.split(" && "):
        stdin = None
        if " | tally" in part:
            cat, part = part.split(" | ", 1)
            stdin = Path(shlex.split(cat)[1]).read_bytes()
        if " < " in part:
            part, file = part.split(" < ")
            stdin = Path(file).read_bytes()
        if made is not None or "predict" in part:
            for there in ("weather.tally", "fortnight.tally", "answers.csv"):
                if f"-o {there}" in part or (name == "fit" and "-o" not in part):
                    Path(there).unlink(missing_ok=True)
        tally.done(part.removeprefix("tally "), stdin=stdin)


def test_the_examples_of_serve_start_a_server(tally: Shell, model: str) -> None:
    *here, fleet = (line.removeprefix("tally serve ").split() for line in examples("serve"))
    for words in here:
        with Server(*words) as server:
            assert server.get("/models").json()[0]["name"] == "weather"
    Path("models").mkdir()
    Path(model).rename("models/weather.tally")
    Path("token.txt").write_text("a token of twenty characters".replace(" ", "-"))
    assert "--host" in fleet
    with pytest.raises(RuntimeError, match="journal"), Server(*fleet):  # there is no such database
        pass


def test_an_unknown_command_gets_a_suggestion(tally: Shell) -> None:
    assert tally.refused("preditc weather.csv") == "No such command or file 'preditc'. Did you mean 'predict'?"


@pytest.mark.parametrize("line", ["--version", "--help", "fit --help"])
def test_what_is_quick_loads_nothing_heavy(line: str) -> None:
    check = (
        "import sys; from tallybayes.cli.main import main; main(sys.argv[1:]);"
        "print(sorted({'numpy', 'pyarrow', 'pandas', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check, *line.split()], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_fitting_and_predicting_load_no_more_than_they_need(tally: Shell, model: str) -> None:
    check = (
        "import sys, atexit; from tallybayes.cli.main import script;"
        "heavy = {'pandas', 'rich', 'scipy', 'sklearn', 'altair', 'pydantic'};"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)))); script()"
    )
    for line in ("fit weather.csv --label play --force", f"predict {model} days.csv"):
        done = subprocess.run([sys.executable, "-c", check, *line.split()], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


def test_the_shell_completes_commands_and_options(tally: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from tallybayes.cli.main import script; script()"
    for words, found in (("tally va", "validate"), ("tally fit --calib", "--calibrate")):
        monkeypatch.setenv("_TALLY_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert found in done.stdout, done
