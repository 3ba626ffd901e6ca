"""The report: what the data is, how good the model is and why, as one page that needs nothing else.

`report` gives a `ReportData`, numbers made of results that exist; `ReportData.to_html` draws them.
"""

from __future__ import annotations

from tallybayes.reporting.build import report
from tallybayes.reporting.data import ReportData

__all__ = ["ReportData", "report"]
