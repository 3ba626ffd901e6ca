"""Soak: python -m soak [--minutes N] [--seed S].

Fits, learns, forgets, merges, predicts, saves and loads at random, and compares the evidence with that of a model
fitted at once to the rows that remain. Fails if a bit differs, or if resident memory keeps growing.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np

import tallybayes as tb

MOST_ROWS = 400
GROWTH = 1.15  # the allowed ratio of resident memory at the end to that after the first fifth
EVENTS = {"g": "gaussian", "h": "histogram", "c": "categorical", "k": "poisson", "t": "text"}
Row = dict[str, object]


class Soak:
    """A model, and the rows that it should hold."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng, self.folder, self.done = Random(seed), folder, Counter[str]()
        self.rows = self.drawn(20)
        self.model = self.fitted(self.rows)

    def drawn(self, n: int) -> list[Row]:
        """Return random rows with missing values, zeros of both signs and numbers of many magnitudes."""
        rng = self.rng
        return [
            {
                "g": rng.choice((None, 0.0, -0.0, rng.gauss(0, 1), rng.gauss(0, 1) * 10 ** rng.randint(-12, 12))),
                "h": rng.choice((None, rng.random(), float(rng.randint(0, 5)))),
                "c": rng.choice((None, "a", "b", "c", f"v{rng.randint(0, 30)}")),
                "k": rng.choice((None, rng.randint(0, 9))),
                "t": rng.choice((None, " ".join(rng.choices(("good", "bad", "day", "night"), k=rng.randint(0, 6))))),
                "w": rng.choice((1.0, 2.0, 0.5, 1e-9, 1e9)),
                "y": rng.choice("pqr"),
            }
            for _ in range(n)
        ]

    def fitted(self, rows: list[Row]) -> tb.Model:
        """Return the model of rows, counted at once."""
        return tb.fit(rows, "y", events=EVENTS, weights="w", calibrate=None, threads=1)

    def step(self) -> None:
        """Change the model or ask it, at random."""
        names = ["learn", "forget", "merge", "save", "predict", "check"]
        name = self.rng.choice(names)
        self.done[name] += 1
        getattr(self, name)()

    def learn(self) -> None:
        """Learn some rows."""
        new = self.drawn(self.rng.randint(1, 20))
        self.model, self.rows = self.model.learn(new, threads=1), self.rows + new

    def forget(self) -> None:
        """Forget some rows; all classes keep one."""
        self.rng.shuffle(self.rows)
        n = self.rng.randint(0, max(len(self.rows) - MOST_ROWS, len(self.rows) // 3))
        gone, kept = self.rows[:n], self.rows[n:]
        if gone and {row["y"] for row in kept} == set("pqr"):
            self.model, self.rows = self.model.forget(gone, threads=1), kept

    def merge(self) -> None:
        """Merge with a model of other rows."""
        new = self.drawn(8)
        if {row["y"] for row in new} == set("pqr"):
            self.model, self.rows = self.model + self.fitted(new), self.rows + new

    def save(self) -> None:
        """Save and load."""
        path = self.folder / "soak.tally"
        self.model.save(path)
        loaded = tb.load(path)
        assert loaded == self.model, "a loaded model differs from the saved one"
        self.model = loaded

    def predict(self) -> None:
        """Predict rows."""
        answer = self.model.predict_proba(self.drawn(5), threads=1)
        assert np.allclose(answer.sum(axis=1), 1.0), answer

    def check(self) -> None:
        """Compare with a model fitted at once."""
        assert self.model.evidence == self.fitted(self.rows).evidence, "evidence differs from a fit on the same rows"


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    """Run the soak of the command line."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begun = time.monotonic()
    warm, ends = begun + 12 * given.minutes, begun + 60 * given.minutes
    early = 0
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(given.seed, Path(folder))
        while time.monotonic() < ends:
            soak.step()
            early = early or (resident() if time.monotonic() > warm else 0)
        soak.check()
    late = resident()
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(soak.done.items()))
    print(f"{soak.done.total():,} steps ({counts}); resident memory {early >> 20} MB, then {late >> 20} MB.")
    return 0 if late < GROWTH * early else 1


if __name__ == "__main__":
    raise SystemExit(main())
