"""Remake the pictures of the documentation from the code they show: `python docs/make_images.py`."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from tallybayes.cli import demo

IMAGES = Path(__file__).parent / "images"
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


def main() -> None:
    """Write every picture."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(demo_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
