"""Fuzz one target: python -m fuzz NAME [--minutes N].

NAME is a target in Python (atheris finds new branches of tallybayes) or of the kernels (libFuzzer, with the address and
undefined-behaviour sanitizers). Seeds are in fuzz/seeds/NAME. An input that breaks the contract is written to
fuzz/crashes/NAME; move it to fuzz/seeds/NAME when it is fixed, where tests/fuzz runs it for ever.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.native import NATIVE, build

HERE = Path(__file__).parent
MOST_BYTES = 4096  # of an input: longer ones find the same branches more slowly
MEMORY = 3000  # megabytes


def main() -> int:
    """Fuzz the target that the command line names."""
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("name", choices=[*TARGETS, *NATIVE])
    parser.add_argument("--minutes", type=float, default=1.0)
    given = parser.parse_args()
    crashes = HERE / "crashes" / given.name
    crashes.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        options = [
            corpus,  # the first folder takes what is new
            str(HERE / "seeds" / given.name),
            f"-max_total_time={round(60 * given.minutes)}",
            f"-artifact_prefix={crashes}/",
            f"-max_len={MOST_BYTES}",
            f"-rss_limit_mb={MEMORY}",
            "-timeout=60",
            "-print_final_stats=1",
            "-verbosity=0",
        ]
        if given.name in NATIVE:
            return subprocess.run([build(given.name), *options], check=False).returncode
        return subprocess.run([sys.executable, "-m", "fuzz.in_python", given.name, *options], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
