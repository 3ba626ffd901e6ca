"""How many random examples a test tries: few in every run, many in a long one.

`TALLY_EXAMPLES=1 pytest` tries as many as the tests name, as `.ci/run` does; `TALLY_EXAMPLES=20` twenty times as many
(docs/trust.md).
"""

from __future__ import annotations

import os

from hypothesis import settings

__all__ = ["examples", "number_of"]

# A fifth of them keeps the whole run short. Each law is checked for every event model, so that few examples of each
# are still hundreds, and other ones in every run.
TIMES = float(os.environ.get("TALLY_EXAMPLES", "0.2"))
FEWEST = 5


def number_of(named: int) -> int:
    """Return the number of examples to try where a test names some."""
    return max(min(named, FEWEST), round(named * TIMES))


def examples(named: int) -> settings:
    """Return the settings of a test that names its number of examples."""
    return settings(max_examples=number_of(named), deadline=None)
