"""`python -m benchmarks [NAME ...] [--repeat N] [--markdown FILE]`: time tallybayes and its peers in the same run."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from benchmarks import (
    cli,
    defaults,
    engines,
    estimators,
    explain,
    foundation,
    growth,
    memory,
    online,
    probabilities,
    quality,
    report,
    texts,
    validation,
)

SUITES = {
    "foundation": (foundation.run, "fitting in one pass, and scoring, compared with scikit-learn"),
    "defaults": (defaults.run, "the CPU time of a default fit beside a plain one, calibrated peers and their bounds"),
    "estimators": (estimators.run, "the estimators compared with the scikit-learn classes they replace"),
    "texts": (texts.run, "strings to a model and to probabilities, compared with CountVectorizer and MultinomialNB"),
    "memory": (memory.run, "files larger than the memory they are read in"),
    "probabilities": (probabilities.run, "log-loss, compared with scikit-learn and with no calibration"),
    "quality": (quality.run, "accuracy and log-loss on tables, compared with logistic regression and a random forest"),
    "explain": (explain.run, "dependence of all pairs of columns, and probabilities by counting"),
    "cli": (cli.run, "the start-up time of the command line, and a large csv file compared with pyarrow reading it"),
    "report": (report.run, "a report, from rows to a page"),
    "online": (online.run, "learning one row at a time, compared with River"),
    "growth": (growth.run, "the time per unit as rows, columns, classes and values grow tenfold"),
    "validation": (validation.run, "validation without refitting, compared with cross_val_score"),
    "engines": (engines.run, "large and distributed data: Spark compared with MLlib, Dask with reading, merging"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the best counts")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file as well")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(SUITES)
    if unknown:
        parser.error(f"no suite {sorted(unknown)[0]!r}: there is {', '.join(SUITES)}")
    command = " ".join(["python -m benchmarks", *arguments.suites])
    text = [HEADER.format(command=command, machine=_machine())]
    for name in arguments.suites or SUITES:
        run, what = SUITES[name]
        print(f"\n{name}: {what}", flush=True)
        text.append(f"## {name.capitalize()}\n\n{what[0].upper()}{what[1:]}.\n\n{run(arguments.repeat)}\n")
    if arguments.markdown:
        arguments.markdown.write_text("\n".join(text))
    if any(estimators.MISSED in part for part in text):
        sys.exit(f"some rows miss their target ({estimators.MISSED})")


def _machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {platform.machine()}, {platform.system()}, Python {sys.version.split()[0]}"


HEADER = """# Benchmarks

Made by `{command} --markdown docs/benchmarks.md` on {machine}. Both sides are measured in the same run, and the best of
several runs counts. *One pass* is NumPy's `X.sum()` over the same bytes: the cost of reading them.
"""

if __name__ == "__main__":
    main()
