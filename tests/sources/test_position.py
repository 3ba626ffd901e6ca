"""Passes over files that resume at the spot of an earlier pass."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tallybayes import sources
from tallybayes.sources.position import Spot, without_first

TABLE = pa.table(
    {
        "n": list(range(500)),
        "text": [f'a "{i}",\nb' if i % 7 == 0 else f"row {i}" for i in range(500)],
        "x": [None if i % 5 == 0 else i / 3 for i in range(500)],
    }
)


def _csv(path: Path, table: pa.Table = TABLE) -> None:
    from pyarrow import csv

    csv.write_csv(table, path)


def _packed(path: Path) -> None:
    _csv(path.with_suffix(""))
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))


def _lines(path: Path) -> None:
    rows = [json.dumps(row) + ("\n" * 40 if i % 9 == 0 else "") for i, row in enumerate(TABLE.to_pylist())]
    path.write_text("\n".join(rows))


def _arff(path: Path) -> None:
    rows = "\n".join(f"{i},'row {i}'" for i in range(500))
    path.write_text(f"@relation r\n@attribute n numeric\n@attribute text string\n@data\n{rows}\n")


def _parquet(path: Path) -> None:
    parquet.write_table(TABLE, path, row_group_size=70)


def _arrow(path: Path) -> None:
    feather.write_feather(TABLE, path, compression="uncompressed", chunksize=60)


WRITTEN: dict[str, Any] = {
    "rows.csv": _csv,
    "rows.csv.gz": _packed,
    "rows.jsonl": _lines,
    "rows.arff": _arff,
    "rows.parquet": _parquet,
    "rows.arrow": _arrow,
}


def places(source: sources.Source) -> dict[Spot, int]:
    """Return the number of rows that a pass had yielded before each of its spots."""
    assert source.trail is not None
    rows, found = 0, {}
    for batch in source:
        found.setdefault(source.trail.spot, rows)
        rows += batch.num_rows
    return found | {source.trail.spot: rows}


def taken(source: sources.Source) -> list[Any]:
    return [row for batch in source for row in batch.to_pylist()]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_pass_from_any_place_gives_the_rows_that_are_left(tmp_path: Path, small_pieces: None, name: str) -> None:
    WRITTEN[name](tmp_path / name)
    source = sources.read(tmp_path / name, batch_rows=64)
    whole, left = taken(source), places(source)
    assert len(left) > 5
    assert left[Spot(1)] == 500
    assert source.trail is not None
    for place, rows in left.items():
        source.trail.begin = place
        assert taken(source) == whole[rows:], place


def test_files_before_the_place_are_not_opened(tmp_path: Path, small_pieces: None) -> None:
    for k in range(3):
        _csv(tmp_path / f"{k}.csv", TABLE.slice(100 * k, 100))
    source = sources.read(str(tmp_path / "*.csv"))
    whole, left = taken(source), places(source)
    (tmp_path / "0.csv").unlink()
    assert source.trail is not None
    assert len(left) > 6
    for place, rows in left.items():
        if place.file > 0:
            source.trail.begin = place
            assert taken(source) == whole[rows:], place


def test_messages_count_the_rows_from_the_beginning_of_the_file(tmp_path: Path, small_pieces: None) -> None:
    _csv(tmp_path / "rows.csv", TABLE.select(["n", "x"]))
    with (tmp_path / "rows.csv").open("a") as file:
        file.write("1,2,3\n")
    source = sources.read(tmp_path / "rows.csv")
    assert source.trail is not None
    with pytest.raises(sources.BadData, match="3 in row 501"):
        taken(source)
    source.trail.begin = source.trail.spot
    assert source.trail.begin.rows > 100
    with pytest.raises(sources.BadData, match="3 in row 501"):
        taken(source)


def test_rows_are_left_out_of_as_many_batches_as_needed() -> None:
    cut = TABLE.select(["n"]).to_batches(max_chunksize=100)
    for rows in (0, 1, 99, 100, 101, 250, 499, 500):
        left = [batch.column(0).to_pylist() for batch in without_first(cut, rows)]
        assert [n for one in left for n in one] == list(range(rows, 500))
        assert all(left)


def test_what_is_in_memory_has_no_places() -> None:
    assert sources.read(TABLE).trail is None
