"""Every public function and command, called with random arguments: an answer or one sentence, never another error."""

from __future__ import annotations

from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.cli.main import COMMANDS

from . import calls, commands
from .attack import attack

# Calls that once broke it, by target and number; all with seed 0.
FOUND = {
    "tb.dependence": 3,
    "tb.TextNB": 91,
    "tb.CountVectorizer": 151,
    "tb.read": 251,
    "Learner.predict_proba": 96,
    "Model.forget": 98,
    "Model.select": 213,
    "tally learn": 93,
    "tally export": 111,
    "tally evaluate": 135,
}
CALLS = 500  # always the same; `python -m tests.contract --minutes N` goes on for longer, with other seeds


def test_every_public_name_is_called_or_is_a_result() -> None:
    called = {name.split(".")[-1] for name in calls.targets()}
    assert set(tb.__all__) - called == calls.RESULTS
    assert {name.removeprefix("tally ") for name in commands.targets()} == set(commands.LINES)
    assert {name for group in COMMANDS.values() for name in group} == {*commands.LINES, *commands.ENDLESS}


def test_random_calls_keep_the_contract(tmp_path: Path) -> None:
    done = attack(tmp_path, 20_15, until=lambda done: done.calls.total() >= CALLS)
    assert not done.failures, "\n\n".join(text for text, _ in done.failures.values())
    assert len(done.calls) == len(calls.targets()) + len(commands.targets()) + 1, "not every target had its turn"
    assert 0.2 < done.refused / done.calls.total() < 0.9, "nearly all refused or nearly all answered: no test"


@pytest.mark.parametrize(("name", "case"), FOUND.items())
def test_what_once_broke_it_does_no_longer(name: str, case: int, tmp_path: Path) -> None:
    done = attack(tmp_path, 0, only=name, case=case, until=lambda done: False)
    assert done.calls[name] == 1
    assert not done.failures, "\n\n".join(text for text, _ in done.failures.values())
