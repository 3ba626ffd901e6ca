"""The section on wrong rows."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.display.charts.explanation import explanation_chart
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections.format import Figures, percent

_BARS = 10  # contributions that are drawn; all are in the numbers below
DOWNLOADED = 10_000  # wrong rows; more would make the page heavy


def the_mistakes(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the worst mistakes, explained, and all wrong rows as csv to download."""
    wrong = np.flatnonzero((data.answer.true >= 0) & (data.answer.true != data.answer.decided))
    some = f"the first {DOWNLOADED:,} of {len(wrong):,} wrong rows" if len(wrong) > DOWNLOADED else ""
    return {
        "download": _as_download(data, wrong[:DOWNLOADED]) if len(wrong) else "",
        "wrong": (some or f"the {len(wrong):,} wrong rows" if len(wrong) != 1 else "the wrong row") + " (csv)",
        "rows": [
            {
                "row": f"{one.row:,}",
                "true": str(one.true),
                "decided": str(one.decided),
                "probability": percent(one.probability),
                "texts": one.texts,
                "charts": charts.add(f"mistake-{k}", explanation_chart(one.why.points(_BARS), "")),
                "table": replace(one.why.shown(), title=""),
            }
            for k, one in enumerate(data.mistakes)
        ],
    }


def _as_download(data: ReportData, wrong: npt.NDArray[np.intp]) -> str:
    """Return row number, true class, decided class and probability of the true class, as a csv in a data URI."""
    answer = data.answer
    names = [safe(str(name)) for name in answer.evaluation.classes]
    chances = np.exp(-answer.losses[wrong])
    lines = [
        (row + 1, names[answer.true[row]], names[answer.decided[row]], f"{chance:.6g}")
        for row, chance in zip(wrong.tolist(), chances.tolist(), strict=True)
    ]
    return as_csv(("row", "true", "predicted", "P(true)"), lines)


def as_csv(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a csv as a data URI, to download without a network."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(lines)
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.getvalue().encode()).decode()}"


def safe(text: str) -> str:
    """Return text that a spreadsheet does not run as a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
