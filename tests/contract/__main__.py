"""Attack the error contract: python -m tests.contract [--minutes N] [--seed S] [--only NAME] [--case K].

Calls every public function and every command in turn with random arguments and mutated files. Prints each way to break
the contract once, with the command that repeats it, and the number of calls; exits with 1 if there was any.
"""

from __future__ import annotations

import argparse
import faulthandler
import tempfile
import time
from pathlib import Path

from .attack import attack


def main() -> int:
    """Run the attack of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="targets whose name contains this")
    parser.add_argument("--case", type=int, help="only this case of each target")
    given = parser.parse_args()
    faulthandler.enable()  # a crash is told with the line of Python, and attack.LAST has the call
    ends = time.monotonic() + 60 * given.minutes
    with tempfile.TemporaryDirectory() as folder:
        done = attack(
            Path(folder), given.seed, only=given.only, case=given.case, until=lambda _: time.monotonic() > ends
        )
    for place, (text, count) in done.failures.items():
        print(f"--- {count} times: {place}\n{text}\n")
    print(f"{sum(done.calls.values()):,} calls of {len(done.calls)} functions and commands, {done.refused:,} refused, "
          f"{len(done.failures)} ways to break the contract (seed {given.seed}).")  # fmt: skip
    return 1 if done.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
