"""The loop over all targets: one random case of each in turn."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from . import calls, commands, requests
from .calls import Call, World
from .verdict import Outcome, judge

LAST = Path(tempfile.gettempdir()) / f"contract-{os.getpid()}"  # the call under way, for when the process dies


@dataclass
class Done:
    """Counts of calls by target, of refusals, and the failures by the place that raised them."""

    calls: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    failures: dict[str, tuple[str, int]] = field(default_factory=dict)


def attack(folder: Path, seed: int, *, only: str = "", case: int | None = None, until: Callable[[Done], bool]) -> Done:
    """Call targets in turn until told to stop; a case depends only on seed, target and number."""
    world, done = World(folder), Done()
    with world.stack:
        return _attack(world, done, seed, only, case, until)


def _attack(world: World, done: Done, seed: int, only: str, case: int | None, until: Callable[[Done], bool]) -> Done:
    names = [name for name in [*calls.targets(), *commands.targets(), *requests.targets()] if only in name]
    number = 0 if case is None else case
    while True:
        for name in names:
            if until(done):
                LAST.unlink(missing_ok=True)
                return done
            LAST.write_text(f"--seed {seed} --only {name!r} --case {number}\n", encoding="utf-8")
            call = make(world, name, Random(f"{seed} {name} {number}"))
            outcome = judge(call)
            done.calls[name] += 1
            done.refused += outcome is Outcome.REFUSED
            if isinstance(outcome, str):
                place = outcome.rsplit("\n", 1)[-1] + outcome.rsplit("\n", 2)[-2]
                first, count = done.failures.get(place, (f"[--only {name!r} --case {number}] {outcome}", 0))
                done.failures[place] = first, count + 1
        if case is not None:
            LAST.unlink(missing_ok=True)
            return done
        number += 1


def make(world: World, name: str, rng: Random) -> Call:
    """Return a random call of a function or a command."""
    if name in requests.targets():
        return requests.make(world, name, rng)
    return (commands if name.startswith("tally ") else calls).make(world, name, rng)
