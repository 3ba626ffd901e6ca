"""Rows of many columns: work grows with their number, not with its square."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from tallybayes.encoding import open_rows, row_batch
from tallybayes.schema.schema import Block, Schema
from tallybayes.sources.steps import columns_to_read


class Searched(tuple[str, ...]):
    """Names that count how often they are searched from the beginning."""

    times = 0

    def __contains__(self, name: object) -> bool:
        Searched.times += 1
        return super().__contains__(name)

    def index(self, *given: Any) -> int:
        Searched.times += 1
        return super().index(*given)


class Listed:
    """A schema that counts how often its names are listed."""

    def __init__(self, names: list[str]) -> None:
        self._names, self.times = names, 0

    @property
    def names(self) -> list[str]:
        self.times += 1
        return self._names


@pytest.fixture(autouse=True)
def _from_zero() -> Iterator[None]:
    Searched.times = 0
    return


NAMES = [f"c{k}" for k in range(500)]


def test_the_columns_to_read_are_found_in_one_list_of_names() -> None:
    schema = Listed(NAMES)
    assert columns_to_read(schema, NAMES[::-1], "rows") == NAMES[::-1]  # type: ignore[arg-type]
    assert schema.times < 10


def test_the_columns_of_a_model_are_not_searched_for_each_field() -> None:
    event = tb.fit({"x": [1.0, 2.0], "y": ["a", "b"]}, "y").schema.blocks[0].event
    columns = Searched(NAMES)
    schema = Schema("y", None, (Block(event, columns),), columns)
    open_rows.to_score(pa.table({name: [1.0] for name in NAMES}), schema)
    schema.select(NAMES[::2])
    assert Searched.times < 10


def test_the_names_of_a_matrix_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    events = {name: "categorical" if k % 2 else "gaussian" for k, name in enumerate(NAMES)}
    model = tb.fit({**{name: [1.0, 2.0] for name in NAMES}, "y": ["a", "b"]}, "y", events=events, calibrate=None)
    read, real = [0], row_batch._names

    def counting(field: pa.Field) -> Any:
        read[0] += 1
        return real(field)

    monkeypatch.setattr(row_batch, "_names", counting)
    p = model.predict_proba(np.ones((100, len(NAMES))))
    assert p.shape == (100, 2)
    assert read[0] < 10
