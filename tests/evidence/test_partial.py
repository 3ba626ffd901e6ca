"""Partial results as bytes: they add like their contents, and damaged ones are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tallybayes import sources
from tallybayes.engines import Threads
from tallybayes.errors import BadModelFile
from tallybayes.evidence.count import Count, count
from tallybayes.evidence.partial import PartialEvidence, open_partial
from tallybayes.schema.infer import infer
from tallybayes.schema.schema import Schema
from tests.engines.rows import EVENTS, mixed

TABLE = mixed(400)
SCHEMA = infer(TABLE.schema, "label", weight="times", events={**EVENTS, "colour": "categorical"})


def known(table: pa.Table, schema: Schema = SCHEMA) -> PartialEvidence:
    return count(schema, Threads(sources.read(table)), 1, sampled=True)


def rows_of(parcel: PartialEvidence) -> Any:
    assert parcel.chosen is not None
    found = parcel.chosen.rows()
    assert found is not None
    return found.select(sorted(TABLE.column_names)).to_pylist()


def test_what_is_opened_is_what_was_packed() -> None:
    packed = known(TABLE)
    opened = open_partial(PartialEvidence(packed.evidence, packed.chosen, more={"rows": 400}).pack())
    assert opened.evidence == packed.evidence
    assert opened.more == {"rows": 400}
    np.testing.assert_equal(rows_of(opened), rows_of(packed))
    assert PartialEvidence(packed.evidence).pack() == PartialEvidence(packed.evidence).pack()


def test_partial_results_add_in_any_order() -> None:
    a, b, c, d = [open_partial(known(TABLE.slice(at, 100)).pack(), SCHEMA) for at in (0, 100, 200, 300)]
    zero = Count(SCHEMA, sampled=True).zero()
    one = open_partial(((zero + a + b) + (zero + c + d)).pack(), SCHEMA)
    other = open_partial((d + c + b + a).pack(), SCHEMA)
    assert one.evidence == other.evidence == known(TABLE).evidence
    np.testing.assert_equal(rows_of(one), rows_of(known(TABLE)))
    np.testing.assert_equal(rows_of(other), rows_of(known(TABLE)))
    assert open_partial(zero.pack(), SCHEMA).evidence == zero.evidence


def test_bytes_that_are_not_whole_or_of_other_rows_are_refused() -> None:
    packed = known(TABLE).pack()
    rng = np.random.default_rng(0)
    for _ in range(50):
        at = int(rng.integers(len(packed)))
        with pytest.raises(BadModelFile):
            open_partial(packed[:at] + bytes([packed[at] ^ 1 << int(rng.integers(8))]) + packed[at + 1 :])
        with pytest.raises(BadModelFile):
            open_partial(packed[:at])
    other = infer(TABLE.schema, "label", events={**EVENTS, "colour": "ignore"})
    with pytest.raises(BadModelFile, match="the schema of the others"):
        open_partial(packed, other)
