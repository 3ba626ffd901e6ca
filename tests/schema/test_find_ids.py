"""A running number is not used unless it is kept; what is measured is used, wherever the rows come from."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import LeftOutWarning
from tallybayes.schema.find_ids import looks_like_id

N = 120


def table(name: str, values: list[Any]) -> dict[str, list[Any]]:
    draw = random.Random(8)
    kinds = [draw.choice(["kept", "lost"]) for _ in values]
    return {name: values, "size": [draw.gauss(5 if kind == "kept" else 7, 2) for kind in kinds], "state": kinds}


def shuffled(values: list[int]) -> list[int]:
    return random.Random(3).sample(values, len(values))


RUNNING = {
    "Vertrag": list(range(100_000, 100_000 + N)),
    "member": shuffled(list(range(1, N + 1))),
    "member since row": shuffled(list(range(1, 2 * N)))[: int(1.4 * N)],  # a part of the rows, drawn at random
    "Auftragsnr.": [7 * k * k + 3 for k in range(N)],  # gaps, but the name says so
    "Kundennummer": [7 * k * k + 3 for k in range(N)],
    "orderNo": [7 * k * k + 3 for k in range(N)],
    "item key": [7 * k * k + 3 for k in range(N)],
    "Identifiant": [7 * k * k + 3 for k in range(N)],
    "N°": [7 * k * k + 3 for k in range(N)],
    "": list(range(N)),  # the index that pandas writes
    "code": [f"{k:06}" for k in range(N)],  # text, since it has leading zeros
}
MEASURED = {
    "year": list(range(1900, 1900 + N)),
    "Jahr": shuffled(list(range(1900, 1900 + N))),
    "t": list(range(N)),
    "sale day": list(range(N)),
    "price": [990 + 17 * k for k in range(N)],
    "population": [random.Random(k).randrange(10**4, 10**7) for k in range(N)],
    "ms": [1_700_000_000_000 + 1000 * k + k % 7 for k in range(N)],
    "degrees": sorted(random.Random(1).gauss(12, 8) for _ in range(N)),
    "rooms": [k % 60 for k in range(N)],
    "number of rooms": [3 * k + k % 2 for k in range(N)],
}


@pytest.mark.parametrize("name", RUNNING)
def test_a_running_number_is_left_out_with_a_warning_and_may_be_kept(name: str) -> None:
    rows = table(name, RUNNING[name])
    with pytest.warns(LeftOutWarning, match="looks like an id") as said:
        model = tb.fit(rows, "state")
    assert model.schema.columns == ("size",)
    assert f"keep=[{name!r}]" in str(said[0].message)
    assert name in tb.fit(rows, "state", keep=[name]).schema.columns
    assert model.predict([{name: 10**6, "size": 9.0}]).shape == (1,)  # it may be there, and says nothing


@pytest.mark.parametrize("name", MEASURED)
def test_what_is_measured_is_used(name: str) -> None:
    assert looks_like_id(name, pa.array(MEASURED[name])) == ""
    assert name in tb.fit(table(name, MEASURED[name]), "state").schema.columns


def test_a_number_with_gaps_is_found_among_floats_too() -> None:
    values = [None if k % 11 == 5 else float(k + 500) for k in range(N)]
    assert looks_like_id("member", pa.array(values)).startswith("a running number")
    assert looks_like_id("member", pa.array([k + 0.5 for k in range(N)])) == ""


def test_few_rows_are_not_enough() -> None:
    assert looks_like_id("member", pa.array(range(29))) == ""
    assert looks_like_id("member", pa.array(range(30))) != ""
    assert looks_like_id("member_id", pa.array(range(19))) == ""
    assert looks_like_id("member_id", pa.array(range(20))) != ""


def test_a_table_of_running_numbers_alone_is_used() -> None:
    rows = {"a": list(range(N)), "b": shuffled(list(range(N))), "state": ["kept", "lost"] * (N // 2)}
    assert tb.fit(rows, "state").schema.columns == ("a", "b")


def test_every_form_of_the_same_rows_leaves_out_the_same_column(tmp_path: Path) -> None:
    rows = table("Kundennr", list(range(100_000, 100_000 + N)))
    whole = pa.table(rows)
    pq.write_table(whole, tmp_path / "rows.parquet")
    lines = (f"{a},{b!r},{c}" for a, b, c in zip(*rows.values(), strict=True))
    (tmp_path / "rows.csv").write_text("Kundennr,size,state\n" + "\n".join(lines) + "\n")
    want = tb.fit({"size": rows["size"], "state": rows["state"]}, "state")
    for source in (rows, whole, whole.to_pandas(), tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        with pytest.warns(LeftOutWarning, match=r"^column 'Kundennr': not used, since it looks like an id"):
            found = tb.fit(source, "state")
        assert found.evidence == want.evidence
        np.testing.assert_array_equal(found.predict_proba(source), want.predict_proba(whole))
