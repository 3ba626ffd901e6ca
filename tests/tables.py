"""Hypothesis strategies for tables of any mixture of columns."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

from tallybayes.schema.find_total import find_total
from tallybayes.sources.missing import CLASS_MARKERS

COLUMNS = {
    "text": st.one_of(st.none(), st.text(max_size=4)),
    "whole": st.one_of(st.none(), st.integers(-(2**53), 2**53)),
    "boolean": st.one_of(st.none(), st.booleans()),
    "date": st.one_of(st.none(), st.dates(datetime.date(1700, 1, 1), datetime.date(2300, 1, 1))),
    "real": st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=False, width=64)),
    "small": st.one_of(st.none(), st.integers(0, 3)),
    "narrow": st.floats(-1e3, 1e3, width=32),
}
TYPES = {
    "text": pa.string(),
    "whole": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "real": pa.float64(),
    "small": pa.int16(),
    "narrow": pa.float32(),
}
LABELS = {
    "text": (st.text(min_size=1, max_size=3).filter(lambda text: text not in CLASS_MARKERS), pa.string()),
    "whole": (st.integers(-5, 5), pa.int32()),
    "boolean": (st.booleans(), pa.bool_()),
    "date": (st.dates(datetime.date(2000, 1, 1), datetime.date(2000, 1, 9)), pa.date32()),
}


@st.composite
def tables(draw: Any) -> tuple[pa.Table, dict[str, str]]:
    """A table with a column "label" of at least two classes, and event models declared for some of its columns."""
    n = draw(st.integers(2, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5))
    columns: dict[str, pa.Array] = {}
    events: dict[str, str] = {}
    for k, kind in enumerate(kinds):
        values = draw(st.lists(COLUMNS[kind], min_size=n, max_size=n))
        columns[f"{kind}{k}"] = pa.array(values, TYPES[kind], from_pandas=draw(st.booleans()))
        if kind == "small":
            events[f"{kind}{k}"] = draw(st.sampled_from(["categorical", "poisson", "multinomial", "exponential"]))
    values, type_ = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    labels = draw(st.lists(values, min_size=n, max_size=n).filter(lambda given: len(set(given)) > 1))
    columns["label"] = pa.array(labels, type_)
    table = pa.table(columns)
    # Hypothesis tries the words that it finds in the package. Of a last row that says "total", `fit` warns.
    assume(find_total(table.to_batches()[0]) is None)
    return table, events
