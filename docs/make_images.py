"""Remake the pictures of the documentation from the code they show: `python docs/make_images.py`."""

from __future__ import annotations

import io
import os
import re
import struct
import zlib
from pathlib import Path

import pyarrow as pa
from rich.console import Console

import tallybayes as tb
from tallybayes.cli import demo

IMAGES = Path(__file__).parent / "images"
DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
WIDTH = 80


def demo_svg() -> str:
    """What `tally demo` prints, as a picture of a terminal."""
    recorder = Console(record=True, width=WIDTH, highlight=False, force_terminal=True, file=io.StringIO())
    original, demo.Console = demo.Console, lambda **_: recorder  # type: ignore[assignment, misc]
    try:
        demo.run()
    finally:
        demo.Console = original  # type: ignore[misc]
    picture = recorder.export_svg(title="tally demo")
    # A picture in a page may not fetch fonts: name only what the reader has.
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code, monospace", "monospace")
    # Some viewers trim the spaces that right-align a cell.
    return picture.replace("<text ", '<text xml:space="preserve" ')


def dependence_png(path: Path) -> None:
    """The heat maps of docs/dependence.md: votes in the House of Representatives."""
    votes = DATA / "house-votes-84" / "house_votes_84.csv.gz"
    table = pa.Table.from_batches(list(tb.read(votes, missing=["?"])))
    table = table.rename_columns(["party" if name == "label" else name for name in table.column_names])
    tb.dependence(table, "party").chart().save(path, scale_factor=2)
    path.write_bytes(smaller(path.read_bytes()))


def smaller(png: bytes) -> bytes:
    """The same picture packed as tightly as can be, which the program that draws charts does not trouble to do."""
    at, parts = 8, {b"IHDR": b"", b"IDAT": b"", b"IEND": b""}
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind in parts:
            parts[kind] += png[at + 8 : at + 8 + length]
        at += length + 12
    parts[b"IDAT"] = zlib.compress(zlib.decompress(parts[b"IDAT"]), 9)
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts.items()
    )
    return png[:8] + b"".join(chunks)


def main() -> None:
    """Write every picture; those of data sets where TALLY_DATA names their folder."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(demo_svg(), encoding="utf-8")
    if DATA.is_dir():
        dependence_png(IMAGES / "dependence.png")
    else:
        print(f"{DATA} is not there: set TALLY_DATA to the folder of the data sets to remake their pictures")


if __name__ == "__main__":
    main()
