"""The section on wrong rows."""

from __future__ import annotations

import base64
import csv
import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.display.charts.explanation import explanation_chart
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections.format import Figures, percent

_DOWNLOADED = 10_000  # wrong rows; more would make the page heavy


def the_mistakes(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the worst mistakes, explained, and all wrong rows as csv to download."""
    wrong = np.flatnonzero((data.answer.true >= 0) & (data.answer.true != data.answer.decided))
    some = f"the first {_DOWNLOADED:,} of {len(wrong):,} wrong rows" if len(wrong) > _DOWNLOADED else ""
    return {
        "download": _as_download(data, wrong[:_DOWNLOADED]) if len(wrong) else "",
        "wrong": (some or f"the {len(wrong):,} wrong rows" if len(wrong) != 1 else "the wrong row") + " (csv)",
        "rows": [
            {
                "row": f"{one.row:,}",
                "true": str(one.true),
                "decided": str(one.decided),
                "probability": percent(one.probability),
                "texts": one.texts,
                "charts": charts.add(f"mistake-{k}", explanation_chart(one.why.points(), "")),
                "table": replace(one.why.shown(), title=""),
            }
            for k, one in enumerate(data.mistakes)
        ],
    }


def _as_download(data: ReportData, wrong: npt.NDArray[np.intp]) -> str:
    """Return row number, true class, decided class and probability of the true class, as a csv in a data URI."""
    answer = data.answer
    names = [_safe(str(name)) for name in answer.evaluation.classes]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "true", "predicted", "P(true)"])
    for row in wrong.tolist():
        chance = f"{math.exp(-answer.losses[row]):.6g}"
        writer.writerow([row + 1, names[answer.true[row]], names[answer.decided[row]], chance])
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.getvalue().encode()).decode()}"


def _safe(text: str) -> str:
    """Return text that a spreadsheet does not run as a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
