"""Columns of every type of Arrow, some beyond Python: each command answers, or says one sentence."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from .shell import Shell

FAR = [0, 253402300800, 1 << 40, -(1 << 40)]  # seconds: the years 1970, 10000, and two beyond
COLUMNS = {
    "nanoseconds": pa.array([1, 2, 3, 10**15 + 1], pa.timestamp("ns")),
    "far times": pa.array(FAR, pa.timestamp("s")),
    "far times of a zone": pa.array(FAR, pa.timestamp("s", "UTC")),
    "far days": pa.array([0, (1 << 31) - 1, -(1 << 31), 1], pa.date32()),
    "far milliseconds": pa.array([0, 86_400_000 * 10**7, 86_400_000, -86_400_000 * 10**7], pa.date64()),
    "durations": pa.array([1, 2, 3, 1 << 62], pa.duration("s")),
    "times of day": pa.array([1, 2, 3, 4], pa.time64("ns")),
    "large decimals": pa.array([Decimal(10) ** 60, Decimal(1), None, Decimal(2)], pa.decimal256(70, 2)),
    "unsigned": pa.array([1 << 63, (1 << 64) - 1, 0, 1], pa.uint64()),
    "bytes": pa.array([b"\xff", b"a", None, b""]),
    "views": pa.array(["=a", "b", None, "\x1b[31m"], pa.string_view()),
    "halves": pa.array(np.array([1, 2, np.inf, np.nan], np.float16)),
    "lists": pa.array([[1], [2], None, []]),
    "structures": pa.array([{"a": 1}, None, {"a": 2}, {"a": 3}]),
}
LINES = [
    "look rows.arrow",
    "predict model.tally rows.arrow --json",
    "predict model.tally rows.arrow -o out.jsonl --force",
    "predict model.tally rows.arrow -o out.csv --force",
    "report rows.arrow --label y -o out.html --force",
    "report rows.arrow --no-label -o out.html --force",
    "drift model.tally rows.arrow",
    "fit rows.arrow --label x -o other.tally --force",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(COLUMNS))
def test_every_command_answers_or_says_one_sentence(tally: Shell, name: str) -> None:
    rows = pa.table({"x": pa.concat_arrays([COLUMNS[name]] * 4), "z": [1.0, 2.0] * 8, "y": ["p", "q"] * 8})
    with pa.ipc.new_file("rows.arrow", rows.schema) as writer:
        writer.write_table(rows)
    fit = "fit rows.arrow --label y -o model.tally --force"
    if tally(fit).code:
        tally.done(f"{fit} --event x=ignore")
    for line in LINES:
        ran = tally(line)
        assert ran.code in (0, 2), (line, ran)
        assert "Traceback" not in ran.err
        if ran.code:
            assert ran.err.startswith("tally: "), (line, ran)
    assert Path("model.tally").exists()
