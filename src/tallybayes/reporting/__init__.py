"""The report: the data, the model's quality and its explanations, as one self-contained page.

`report` returns a `ReportData`, made of results of other packages; `ReportData.to_html` renders it.
"""

from __future__ import annotations

from tallybayes.reporting.build import report
from tallybayes.reporting.data import ReportData

__all__ = ["ReportData", "report"]
