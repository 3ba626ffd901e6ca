"""Record every case again: only for an intended change of results.

Run ``python -m tests.golden.make``, and look at what changes in `golden.json` before it is committed: it should be
what was meant, and nothing else. Files in `files` are written only where they are not there yet, since they are what
an older version wrote; remove one first if its case has other rows.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .cases import CASES, Case
from .recorded import FILES, GOLDEN, HOW, SAVED, fitted, record, validated

_TIED = 1e-7


def main() -> None:
    """Write `golden.json`, and the model files that do not exist yet."""
    with tempfile.TemporaryDirectory() as folder:
        golden = {name: record(make(), Path(folder)) for name, make in CASES.items()}
    for name, make in CASES.items():
        refuse_ties(name, make())
    GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    FILES.mkdir(exist_ok=True)
    for name in SAVED:
        path = FILES / f"{name}.tally"
        if not path.exists():
            fitted(CASES[name]()).save(path)


def refuse_ties(name: str, case: Case) -> None:
    """Stop if two classes are practically equally probable.

    Another machine might decide for the other one.
    """
    model = fitted(case)
    tables: dict[str, Any] = {how: validated(case, how).probabilities for how in HOW}
    tables |= {"rows": model.predict_proba(case.rows), "fresh": model.predict_proba(case.fresh)}
    for what, table in tables.items():
        first, second = np.sort(table, axis=1)[:, ::-1].T[:2]
        near = np.flatnonzero(first - second < _TIED)
        if len(near):
            raise SystemExit(f"{name}, {what}: two classes of row {near[0] + 1} are as good as equally probable")


if __name__ == "__main__":
    main()
