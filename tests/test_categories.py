"""Labels of batches that come one after another."""

from __future__ import annotations

import datetime

import pyarrow as pa

import tallybayes as tb

DAY = datetime.date(2024, 2, 29)


def test_a_batch_in_which_a_category_is_always_missing_goes_with_any_other() -> None:
    """Missing is a value of its own there, and of no kind: it was refused beside dates."""
    fields = pa.schema([("day", pa.date32()), ("label", pa.string())])
    nothing = pa.table({"day": [None, None], "label": ["a", "b"]}, schema=fields)
    days = pa.table({"day": [DAY, None], "label": ["a", "b"]}, schema=fields)
    how = {"missing": "category", "calibrate": None}
    one, other = (tb.fit(rows, "label", **how) for rows in (nothing, days))
    both = tb.fit(pa.concat_tables([nothing, days]), "label", **how)
    assert both.table("day").rows == (DAY, None)
    assert one + other == other + one == both
    assert both.forget(days).evidence == one.evidence
    assert both.forget(nothing).evidence == other.evidence
