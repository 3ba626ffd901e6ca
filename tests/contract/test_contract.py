"""Every public function and command, called with random arguments: an answer or one sentence, never another error."""

from __future__ import annotations

from pathlib import Path

import tallybayes as tb
from tallybayes.cli.main import COMMANDS

from . import calls, commands
from .attack import attack

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
