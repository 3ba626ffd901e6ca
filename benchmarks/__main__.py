"""`python -m benchmarks [NAME ...] [--repeat N] [--markdown FILE]`: our time, the peer's in the same run, the ratio."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from benchmarks import cli, engines, estimators, explain, foundation, memory, probabilities, report, texts, validation

SUITES = {
    "foundation": (foundation.run, "one pass to a model, and scores from it, beside scikit-learn"),
    "estimators": (estimators.run, "the estimators beside those of scikit-learn that they replace"),
    "texts": (texts.run, "strings to a model and to probabilities, beside CountVectorizer and MultinomialNB"),
    "memory": (memory.run, "files larger than the memory they are read in"),
    "probabilities": (probabilities.run, "how far probabilities can be believed, beside scikit-learn and uncalibrated"),
    "explain": (explain.run, "dependence of all pairs of columns, and probabilities by counting"),
    "cli": (cli.run, "how soon the command line answers, and a large csv file beside pyarrow reading it"),
    "report": (report.run, "a report, from rows to a page"),
    "validation": (validation.run, "validation without refitting, beside cross_val_score"),
    "engines": (engines.run, "rows that lie elsewhere or are many: Spark beside MLlib, Dask beside reading, merging"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, of which the best counts")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file as well")
    asked = parser.parse_args()
    unknown = set(asked.suites) - set(SUITES)
    if unknown:
        parser.error(f"no suite {sorted(unknown)[0]!r}: there is {', '.join(SUITES)}")
    command = " ".join(["python -m benchmarks", *asked.suites])
    text = [HEADER.format(command=command, machine=_machine())]
    for name in asked.suites or SUITES:
        run, what = SUITES[name]
        print(f"\n{name}: {what}", flush=True)
        text.append(f"## {name.capitalize()}\n\n{what[0].upper()}{what[1:]}.\n\n{run(asked.repeat)}\n")
    if asked.markdown:
        asked.markdown.write_text("\n".join(text))
    if any(estimators.MISSED in part for part in text):
        sys.exit(f"some rows miss what is asked ({estimators.MISSED})")


def _machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {platform.machine()}, {platform.system()}, Python {sys.version.split()[0]}"


HEADER = """# Benchmarks

Made by `{command} --markdown docs/benchmarks.md` on {machine}. Both sides are measured in the same run, the best of
several counts, and *one pass* is `X.sum()` by NumPy over the same bytes: what merely reading them costs.
"""

if __name__ == "__main__":
    main()
