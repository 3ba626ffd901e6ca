"""The contents of each section of the page: text, tables and charts for the template.

Nothing is computed here. A section is a dict, or None if there is nothing to show;
a dict is read by the block of the same name in ``template/page.html``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections.columns import the_columns, the_dependence, the_drift, the_importance, the_nomogram
from tallybayes.reporting.sections.data import the_data, the_origin
from tallybayes.reporting.sections.format import Figures
from tallybayes.reporting.sections.mistakes import the_mistakes
from tallybayes.reporting.sections.quality import the_answer, the_confusion, the_costs, the_learning, the_reliability

__all__ = ["SECTIONS"]

SECTIONS: tuple[tuple[str, str, Callable[[ReportData, Figures], dict[str, Any] | None]], ...] = (
    ("data", "Before modelling", the_data),
    ("answer", "Performance", the_answer),
    ("reliability", "Reliability", the_reliability),
    ("confusion", "Confusion", the_confusion),
    ("costs", "Thresholds and costs", the_costs),
    ("learning", "Learning curve", the_learning),
    ("columns", "Columns by class", the_columns),
    ("importance", "Importance", the_importance),
    ("dependence", "Dependence", the_dependence),
    ("nomogram", "Nomogram", the_nomogram),
    ("drift", "Drift", the_drift),
    ("mistakes", "Worst mistakes", the_mistakes),
    ("reproduce", "Reproduce", the_origin),
)
