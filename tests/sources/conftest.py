"""Rows that every kind of source must return, and fixtures that check it."""

import pyarrow as pa
import pytest

from tallybayes.errors import BadData
from tallybayes.sources import Source, read


@pytest.fixture
def weather():
    return pa.table(
        {
            "outlook": ["sunny", "rain", None, "over,cast", 'a "quoted" one'],
            "temperature": pa.array([85, 70, 64, None, -3], pa.int64()),
            "humidity": pa.array([0.5, None, 1e-9, 2.25, 1e300], pa.float64()),
            "windy": pa.array([True, False, None, True, False]),
        }
    )


@pytest.fixture
def all_of():
    def table(source: Source) -> pa.Table:
        batches = list(source)
        assert all(batch.num_rows for batch in batches)
        assert all(batch.schema.equals(source.schema, check_metadata=True) for batch in batches)
        made = pa.Table.from_batches(batches, schema=source.schema)
        made.validate(full=True)
        assert source.rows in (None, made.num_rows)
        return made

    return table


@pytest.fixture
def reads_as(all_of):
    """Assert that something reads as the rows of a table, also on a second pass."""

    def check(thing, table: pa.Table, **options) -> Source:
        source = read(thing, **options)
        for _ in range(2 if source.again else 1):
            made = all_of(source)
            assert made.schema.names == table.schema.names
            assert made.to_pylist() == table.to_pylist()
        return source

    return check


@pytest.fixture
def sentence(all_of):
    """Return the message of the error raised by opening or reading something."""

    def message(thing, **options) -> str:
        with pytest.raises(BadData) as caught:
            all_of(read(thing, **options))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return message


@pytest.fixture
def small_pieces(monkeypatch):
    """Read text files in small pieces, so that short files have many."""
    from tallybayes.sources import arff, csv, files, jsonl

    monkeypatch.setattr(files, "SAMPLE_BYTES", 256)
    monkeypatch.setattr(files, "LEAST_SAMPLE", 256)
    monkeypatch.setattr(csv, "PIECE", 256)
    monkeypatch.setattr(csv, "BLOCK", 128)
    monkeypatch.setattr(jsonl, "PIECE", 256)
    monkeypatch.setattr(jsonl, "BLOCK", 128)
    monkeypatch.setattr(arff, "PIECE", 256)
