"""The command line: its start-up time, and fitting a large csv file compared with pyarrow reading it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from benchmarks.table import Growing, marked, seconds

TALLY = [sys.executable, "-c", "from tallybayes.cli.main import script; script()"]
READ = "import sys, pyarrow.csv as csv; print(csv.read_csv(sys.argv[1]).num_rows)"
ROWS, WIDTH = 5_000_000, 25  # about a gigabyte


def run(repeat: int, rows: int = ROWS) -> str:
    """Measure everything and return the table; a cross marks a missed target."""
    table = Growing("command", "wall", "CPU", "peak memory", "beside", "target")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "weather.csv"
        small.write_text("outlook,temperature,play\nsunny,85,no\nrainy,70,yes\novercast,64,yes\nsunny,72,no\n")
        model = folder / "weather.tally"
        fit = ["fit", str(small), "--label", "play", "-o", str(model), "--force"]
        for words, most, most_cpu in (
            (["--version"], 0.15, None),
            (["--help"], 0.3, None),
            (fit, 0.7, 0.35),
            (["predict", str(model), str(small)], 0.7, None),
        ):
            used = _best([*TALLY, *words], 3 * repeat, folder)
            what = f"tally {words[0]}" + ("" if words[0].startswith("-") else ", small file")
            wall = marked(seconds(used.wall), used.wall <= most)
            cpu = marked(seconds(used.cpu), most_cpu is None or used.cpu <= most_cpu)
            target = f"at most {most:g} s" + ("" if most_cpu is None else f", {most_cpu:g} s of CPU")
            table.add(what, wall, cpu, f"{used.memory:.0f} MB", "–", target)
        _large(table, folder, repeat, rows)
    return table.markdown()


def _large(table: Growing, folder: Path, repeat: int, rows: int) -> None:
    path, model = folder / "large.csv", folder / "large.tally"
    write_csv(path, rows)
    fit = [*TALLY, "fit", str(path), "--label", "label", "-o", str(model), "--force"]
    reading = [sys.executable, "-c", READ, str(path)]
    # They alternate, so that other load affects both.
    turns = [(_best(fit, 1, folder), _best(reading, 1, folder)) for _ in range(max(2, repeat // 2))]
    mine, read = (_least(side) for side in zip(*turns, strict=True))
    size = path.stat().st_size / 1e9
    ratio = marked(f"{mine.wall / read.wall:.2f} × reading", mine.wall <= 1.4 * read.wall)
    cells = seconds(mine.wall), seconds(mine.cpu), f"{mine.memory:.0f} MB"
    table.add(f"tally fit, csv of {size:.2f} GB", *cells, ratio, "1.4 × reading")
    cells = seconds(read.wall), seconds(read.cpu), f"{read.memory:.0f} MB"
    table.add("pyarrow.csv.read_csv of the same", *cells, "–", "–")


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


class Used(NamedTuple):
    """Seconds of wall time and of all cores, and the peak memory in megabytes."""

    wall: float
    cpu: float
    memory: float


_WATCH = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
sys.exit(done.returncode)
"""


def _best(words: list[str], repeat: int, folder: Path) -> Used:
    """Return the least that a process used, with modules compiled before, as they are once installed."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    runs = []
    for _ in range(repeat + 1):  # the first compiles
        watched = [sys.executable, "-c", _WATCH, *words]
        done = subprocess.run(watched, capture_output=True, text=True, check=True, env=env)
        runs.append(Used(*map(float, done.stdout.split())))
    return _least(runs)


def _least(runs: Sequence[Used]) -> Used:
    return Used(min(run.wall for run in runs), min(run.cpu for run in runs), max(run.memory for run in runs))
