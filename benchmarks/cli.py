"""The command line: its start-up time, and fitting a large csv file compared with pyarrow reading it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from benchmarks.estimators import MISSED
from benchmarks.table import Growing, seconds

TALLY = [sys.executable, "-c", "from tallybayes.cli.main import script; script()"]
READ = "import sys, pyarrow.csv as csv; print(csv.read_csv(sys.argv[1]).num_rows)"
ROWS, WIDTH = 5_000_000, 25  # about a gigabyte


def run(repeat: int, rows: int = ROWS) -> str:
    """Measure everything and return the table; a cross marks a missed target."""
    table = Growing("command", "wall", "peak memory", "beside", "target")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "weather.csv"
        small.write_text("outlook,temperature,play\nsunny,85,no\nrainy,70,yes\novercast,64,yes\nsunny,72,no\n")
        model = folder / "weather.tally"
        fit = ["fit", str(small), "--label", "play", "-o", str(model), "--force"]
        for words, target in (
            (["--version"], 0.15),
            (["--help"], 0.3),
            (fit, 0.7),
            (["predict", str(model), str(small)], 0.7),
        ):
            took, memory = _best([*TALLY, *words], 3 * repeat)
            what = f"tally {words[0]}" + ("" if words[0].startswith("-") else ", small file")
            wall = seconds(took) + _cross(took <= target)
            table.add(what, wall, f"{memory:.0f} MB", "–", f"at most {target:g} s")
        _large(table, folder, repeat, rows)
    return table.markdown()


def _large(table: Growing, folder: Path, repeat: int, rows: int) -> None:
    path, model = folder / "large.csv", folder / "large.tally"
    write_csv(path, rows)
    fit = [*TALLY, "fit", str(path), "--label", "label", "-o", str(model), "--force"]
    reading = [sys.executable, "-c", READ, str(path)]
    mine, read = float("inf"), float("inf")
    for _ in range(max(2, repeat // 2)):  # they alternate, so that other load affects both
        took, memory = _best(fit, 1)
        mine, read = min(mine, took), min(read, _best(reading, 1)[0])
    size = path.stat().st_size / 1e9
    ratio = f"{mine / read:.2f} × reading{_cross(mine <= 1.4 * read)}"
    table.add(f"tally fit, csv of {size:.2f} GB", seconds(mine), f"{memory:.0f} MB", ratio, "1.4 × reading")
    table.add("pyarrow.csv.read_csv of the same", seconds(read), f"{_best(reading, 1)[1]:.0f} MB", "–", "–")


def write_csv(path: Path, rows: int) -> None:
    """Write a file of numbers and a class, piece by piece."""
    rng = np.random.default_rng(0)
    piece = 100_000
    for at in range(0, rows, piece):
        y = rng.integers(0, 3, piece)
        columns = {f"x{k}": np.round(rng.normal(y, 1.0), 5) for k in range(WIDTH)}
        batch = pa.table({**columns, "label": np.array(["a", "b", "c"])[y]})
        with path.open("ab") as file:
            pa_csv.write_csv(batch, file, pa_csv.WriteOptions(include_header=at == 0, quoting_style="none"))


def _best(words: list[str], repeat: int) -> tuple[float, float]:
    """Return the shortest wall time of a process, in seconds, and its peak memory, in megabytes."""
    watch = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);"
        " sys.exit(done.returncode)"
    )
    shortest, most = float("inf"), 0.0
    for _ in range(repeat):
        done = subprocess.run([sys.executable, "-c", watch, *words], capture_output=True, text=True, check=True)
        most = max(most, int(done.stdout) / 1e3)
        start = time.perf_counter()
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, most


def _cross(kept: bool) -> str:
    return "" if kept else f" {MISSED}"
