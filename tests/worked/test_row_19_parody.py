"""Row 19: parody detection from headlines: accuracy reported, most telling words shown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import tallybayes as tb
from tallybayes import sources


def test_headlines_of_the_onion_are_distinguished_from_news(data) -> None:
    table = pa.Table.from_batches(list(sources.read(data / "onion-or-not" / "onion_or_not.csv.gz")))
    labels = np.array(table.column("label").to_pylist())
    train = np.arange(len(table)) % 3 != 0
    model = tb.fit(table.filter(pa.array(train)), "label")
    accuracy = (model.predict(table.filter(pa.array(~train))) == labels[~train]).mean()
    assert accuracy > 0.83
    words = model.table("text")
    assert words.counts is not None
    odds = np.log(words.values[:, 1]) - np.log(words.values[:, 0])
    telling = [words.rows[k] for k in np.argsort(-odds)[:20]]
    assert {"heartbreaking", "heartwarming", "finest"} <= set(telling)
