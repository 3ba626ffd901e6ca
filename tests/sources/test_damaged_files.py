"""Damaged files: reading returns rows or a one-sentence error, never another error or a crash."""

import json
import random

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from tallybayes.errors import BadData
from tallybayes.sources import read

TABLE = pa.table(
    {
        "n": list(range(100)),
        "text": [None if i % 5 else f'"{i % 7}"\n' for i in range(100)],
        "real": [i / 7 for i in range(100)],
        "kind": pa.array([f"k{i % 3}" for i in range(100)]).dictionary_encode(),
    }
)


def write_arrow(path):
    with pa.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=30)


def write_lines(path):
    with open(path, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in TABLE.to_pylist())


def write_gzip(path):
    with pa.output_stream(path, compression="gzip") as file:
        pc.write_csv(TABLE, file)


WRITERS = {
    "csv": lambda path: pc.write_csv(TABLE, path),
    "csv.gz": write_gzip,
    "jsonl": write_lines,
    "parquet": lambda path: pq.write_table(TABLE, path, row_group_size=30),
    "arrow": write_arrow,
}


def damaged(content: bytes, chance: random.Random) -> bytes:
    bytes_ = bytearray(content)
    for _ in range(chance.choice([1, 2, 10])):
        at = chance.randrange(max(1, len(bytes_) - 1))
        match chance.randrange(4):
            case 0:
                bytes_[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del bytes_[at : at + chance.randrange(50)]
            case 2:
                bytes_[at:at] = chance.choice([b"\n", b'"', b",", b"\xff", b"\0", b"{", b"\xff\xff\xff\x7f"])
            case _:
                bytes_ = bytes_[: at + 1]
    return bytes(bytes_) or b"?"


@pytest.mark.parametrize("kind", WRITERS)
def test_a_damaged_file_gives_rows_or_a_sentence(tmp_path, all_of, kind):
    path = tmp_path / f"a.{kind}"
    WRITERS[kind](str(path))
    content, chance = path.read_bytes(), random.Random(kind)
    said = []
    for _ in range(60):
        path.write_bytes(damaged(content, chance))
        try:
            all_of(read(path))
        except BadData as error:
            said.append(str(error))
    assert said
    assert all(sentence.startswith(str(path)) and "\n" not in sentence for sentence in said)


def test_text_in_a_parquet_file_that_is_not_utf8_is_refused(tmp_path, sentence):
    path = tmp_path / "a.parquet"
    text = pa.array([b"caf\xe9"]).view(pa.string())
    pq.write_table(pa.table({"a": text}), path)
    assert sentence(path) == (
        f"{path}, column 'a': wanted text in UTF-8, got other bytes (row 1, byte 4)."
        " Rewrite it in UTF-8, or choose errors='replace'."
    )
