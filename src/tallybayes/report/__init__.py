"""The report: what the data is, how good the model is and why, as one page that needs nothing else.

`report` gives a `ReportData`, numbers made of results that exist; `ReportData.to_html` draws them. The package can be
called like the function, since ``tallybayes.report`` is the name of both.
"""

from __future__ import annotations

import sys
from types import ModuleType

from tallybayes.report.data import ReportData
from tallybayes.report.made import report

__all__ = ["ReportData", "report"]


class _Called(ModuleType):
    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _Called
