"""Kills at random moments: a file is whole, old or new, and work goes on from it."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

import tallybayes as tb
from tallybayes.storage.checkpoint import Checkpoint
from tallybayes.storage.model_file import dump

from .child import killed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ROWS = {"x": [0.5, 1.5, 2.5, 4.0], "s": ["a", "b", "a", "c"], "y": ["p", "q", "p", "q"]}
KILLS = int(os.environ.get("TALLY_KILLS", "40"))  # of each test; the environment asks for more


def test_a_file_is_the_old_or_the_new_model(tmp_path: Path) -> None:
    path, rng = tmp_path / "m.tally", Random(1)
    old, new = tb.fit(ROWS, "y", calibrate=None), tb.fit(ROWS, "y", calibrate=None, alpha=2.0)
    old.save(path)
    seen = set()
    for kill in range(KILLS):
        model = (old, new)[kill % 2]
        killed(lambda model=model: model.save(path), rng)
        found = tb.load(path)
        assert found in (old, new)
        seen.add(found.choices.alpha)
    assert len(seen) == 2, "no save was finished before its kill: the test shows nothing"
    new.save(path)
    assert tb.load(path) == new


def test_a_model_that_learns_from_its_own_file_holds_whole_batches(tmp_path: Path) -> None:
    path, rng = tmp_path / "m.tally", Random(2)
    tb.fit(ROWS, "y", calibrate=None).save(path)
    for _ in range(KILLS // 2):
        killed(lambda: tb.load(path).learn(ROWS, threads=1).save(path), rng, most=0.4)
    found = tb.load(path)
    batches, rest = divmod(round(float(found.evidence.rows.sum().to_float())), 4)
    assert rest == 0
    assert batches > 1, "nothing was learned between two kills"
    again = found
    for _ in range(batches - 1):
        again = again.forget(ROWS, threads=1)
    assert again.evidence == tb.fit(ROWS, "y", calibrate=None).evidence


def test_a_run_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    data, saved, rng = tmp_path / "rows.csv", tmp_path / "run", Random(3)
    lines = [f"{k % 7},{'abc'[k % 3]},{'pq'[k % 2]}" for k in range(3000)]
    data.write_text("x,s,y\n" + "\n".join(lines) + "\n")

    def work() -> None:
        tb.fit(data, "y", calibrate=None, checkpoint=Checkpoint(saved, every=0.0), threads=1)

    for _ in range(max(KILLS // 4, 3)):
        killed(work, rng, most=0.2)
    finished = tb.fit(data, "y", calibrate=None, checkpoint=saved)
    assert dump(finished) == dump(tb.fit(data, "y", calibrate=None))
    assert not saved.exists()
