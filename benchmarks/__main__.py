"""`python -m benchmarks [NAME ...] [--repeat N] [--markdown FILE]`: time tallybayes and its peers in the same run."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import tallybayes as tb
from benchmarks import (
    cli,
    defaults,
    engines,
    estimators,
    explain,
    export,
    foundation,
    grid,
    growth,
    mail,
    memory,
    online,
    probabilities,
    quality,
    report,
    server,
    texts,
    validation,
)

SUITES = {
    "foundation": (foundation.run, "fitting in one pass, and scoring, compared with scikit-learn"),
    "defaults": (defaults.run, "the CPU time of a default fit beside a plain one, and calibrated peers"),
    "estimators": (estimators.run, "the estimators compared with the scikit-learn classes they replace"),
    "texts": (texts.run, "strings to a model and to probabilities, compared with CountVectorizer and MultinomialNB"),
    "mail": (mail.run, "a mail filter compared with bogofilter, on the same messages"),
    "memory": (memory.run, "files larger than the memory they are read in"),
    "probabilities": (probabilities.run, "log-loss, compared with scikit-learn and with no calibration"),
    "quality": (quality.run, "accuracy and log-loss on tables, compared with logistic regression and a random forest"),
    "explain": (explain.run, "explanations, dependence, predictions with structure, and probabilities by counting"),
    "export": (export.run, "exported models: a query of DuckDB, a graph in onnxruntime, and the size of JSON"),
    "cli": (cli.run, "the start-up time of the command line, and a large csv file compared with pyarrow reading it"),
    "report": (report.run, "a report, from rows to a page"),
    "online": (online.run, "learning one row at a time, compared with River"),
    "server": (server.run, "requests a second, compared with a server of FastAPI, pandas and scikit-learn"),
    "grid": (
        grid.run,
        "the estimators at every size from 100 rows on, none of which may be slower than scikit-learn's",
    ),
    "growth": (growth.run, "the time per unit as rows, columns, classes and values grow tenfold"),
    "validation": (validation.run, "validation without refitting, compared with cross_val_score"),
    "engines": (engines.run, "large and distributed data: Spark compared with MLlib, Dask with reading, merging"),
}


_BOUNDS = ("target", "bound", "bounds")  # columns that only the terminal shows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the best counts")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file as well")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(SUITES)
    if unknown:
        parser.error(f"no suite {sorted(unknown)[0]!r}: there is {', '.join(SUITES)}")
    warnings.simplefilter("ignore", tb.errors.WorseThanPriorWarning)  # some labels are made up at random
    sections = {}
    for name in arguments.suites or SUITES:
        run, what = SUITES[name]
        print(f"\n{name}: {what}", flush=True)
        start = time.perf_counter()
        found = run(arguments.repeat)
        if "|" not in found:  # no table: what it says is missing
            print(found, flush=True)
            continue
        sections[name] = f"## {name.capitalize()}\n\n{what[0].upper()}{what[1:]}. *{_where()}.*\n\n{found}\n"
        print(f"{name} took {time.perf_counter() - start:.0f} s", flush=True)
        if arguments.markdown:  # after each suite: what is measured is kept if a later one fails
            write(arguments.markdown, sections)
    if any(estimators.MISSED in part for part in sections.values()):
        sys.exit(f"some rows miss their target ({estimators.MISSED})")


def write(path: Path, sections: Mapping[str, str]) -> None:
    """Write the sections of suites; those of suites that were not run stay as they are."""
    before = path.read_text().split("\n## ")[1:] if path.exists() else []
    kept = {text.split("\n", 1)[0].lower(): f"## {text.rstrip()}\n" for text in before}
    parts = {name: without_bounds(text) for name, text in {**kept, **sections}.items()}
    path.write_text("\n".join([HEADER, *(parts[name] for name in SUITES if name in parts)]))


def without_bounds(section: str) -> str:
    """Return a section without the columns of bounds and the crosses: readers want figures, not our targets.

    Examples
    --------
    >>> print(without_bounds("| work | ratio | target |\\n|---|---:|---:|\\n| fit | 2.8× ✗ | 8× |\\n\\nSo far."))
    | work | ratio |
    |---|---:|
    | fit | 2.8× |
    <BLANKLINE>
    So far.
    """
    lines, left = [], set[int]()
    for line in section.replace(f" {estimators.MISSED}", "").split("\n"):
        if not line.startswith("|"):
            lines, left = [*lines, line], set()
            continue
        cells = line.strip("|").split("|")
        left = left or {k for k, cell in enumerate(cells) if cell.strip() in _BOUNDS}
        lines.append(f"|{'|'.join(cell for k, cell in enumerate(cells) if k not in left)}|")
    return "\n".join(lines)


def _where() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{cores} cores, {_processor()}, {platform.system()}, Python {sys.version.split()[0]}"
    return f"tallybayes {tb.__version__}, {machine}"


def _processor() -> str:
    """Return the name of the processor where Linux tells it: ratios differ between processors, too."""
    cpus = Path("/proc/cpuinfo")
    names = (
        [line.partition(":")[2].strip() for line in cpus.open() if line.startswith("model name")]
        if cpus.exists()
        else []
    )
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()


HEADER = """# Benchmarks

Made by `python -m benchmarks --markdown docs/benchmarks.md`; with names of suites, only their
sections are made anew. Each section says what it was measured on. Both sides are measured in the
same run, and the best of several runs counts. *Plain* is without calibration, as scikit-learn's
classes are; *default* is what `tb.fit` does when nothing is chosen. *One pass* is NumPy's
`X.sum()` over the same bytes: the cost of reading them.
"""

if __name__ == "__main__":
    main()
