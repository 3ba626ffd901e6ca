"""Every public function and command, called with random arguments: an answer or one sentence, never another error."""

from __future__ import annotations

from pathlib import Path

import pytest

import tallybayes as tb
from tallybayes.cli.main import COMMANDS

from . import calls, commands
from .attack import attack

# Calls that once broke it: seed, target and number.
FOUND = [
    (0, "tb.dependence", 3),
    (0, "tb.TextNB", 91),
    (0, "tb.CountVectorizer", 151),
    (0, "tb.read", 251),
    (0, "Learner.predict_proba", 96),
    (0, "Model.forget", 98),
    (0, "Model.select", 213),
    (0, "tally learn", 93),
    (0, "tally export", 111),
    (0, "tally evaluate", 135),
    (7, "Model.leave_one_out", 4),
    (7, "Model.sample", 44),
    (7, "Model.with_", 63),
    (7, "tb.fit", 108),
    (7, "Model.drift", 118),
    (7, "tally dependence", 189),
]
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


@pytest.mark.parametrize(("seed", "name", "case"), FOUND)
def test_what_once_broke_it_does_no_longer(seed: int, name: str, case: int, tmp_path: Path) -> None:
    done = attack(tmp_path, seed, only=name, case=case, until=lambda done: False)
    assert done.calls[name] == 1
    assert not done.failures, "\n\n".join(text for text, _ in done.failures.values())
