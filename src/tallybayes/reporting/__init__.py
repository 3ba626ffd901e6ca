"""The report: the data, the model's quality and its explanations, as one self-contained page.

`report` returns a `ReportData`, made of results of other packages; `ReportData.to_html` renders it. `profile` does the
same for rows without a label, `side_by_side` for two models.
"""

from __future__ import annotations

from tallybayes.reporting.build import report
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.profile import Profile, profile
from tallybayes.reporting.side_by_side import SideBySide, side_by_side

__all__ = ["Profile", "ReportData", "SideBySide", "profile", "report", "side_by_side"]
