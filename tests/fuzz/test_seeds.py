"""Seeds of the fuzzers, and all inputs that ever broke something: each is answered or refused with a sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz.native import NATIVE
from fuzz.targets import TARGETS, run

from tests.contract.mutate import mutated

SEEDS = Path(__file__).parents[2] / "fuzz" / "seeds"


def test_every_target_has_seeds() -> None:
    assert {folder.name for folder in SEEDS.iterdir()} == {*TARGETS, *NATIVE}


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_their_mutations_break_nothing(name: str) -> None:
    for seed in sorted((SEEDS / name).iterdir()):
        content = seed.read_bytes()
        run(name, content)
        rng = Random(f"{name} {seed.name}")
        for _ in range(5):
            run(name, mutated(rng, content))
