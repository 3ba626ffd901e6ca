"""Remake the pictures of the documentation from the code they show: `python docs/make_images.py`."""

from __future__ import annotations

import gzip
import io
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import tallybayes as tb
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


def draw_coin() -> None:
    """How the estimate of a coin settles."""
    flips = np.random.default_rng(0).random(10_000) < 0.3
    tb.running_estimate(flips).chart(truth=0.3).save(IMAGES / "coin.png", scale_factor=2)


def draw_digits(folder: Path) -> None:
    """The average of each digit, and what a pixel says of a five against a six."""
    images, labels = (
        gzip.decompress((folder / "mnist" / f"train-{kind}-ubyte.gz").read_bytes())
        for kind in ("images-idx3", "labels-idx1")
    )
    x = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)
    y = np.frombuffer(labels, np.uint8, offset=8)
    seen = tb.fit(x, y, events="bernoulli(threshold=127)", calibrate=None).picture((28, 28))
    _save(seen, "digits-averages")
    _save(seen.against(5, 6), "digits-against")


def draw_reasons() -> None:
    """Charts of docs/explain.md: one answer, a column, a nomogram, what matters."""
    from sklearn.datasets import load_breast_cancer, load_iris

    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
    counted = tb.fit(demo.WEATHER, "play", estimate="mle", calibrate=None)
    _save(counted.explain(day), "explanation")
    _save(tb.fit(demo.WEATHER, "play").nomogram(), "nomogram")
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    _save(tb.fit(flowers, "species").table("petal width (cm)"), "table")
    cells = load_breast_cancer(as_frame=True)
    rows = cells.data.assign(kind=cells.target_names[cells.target])
    _save(tb.fit(rows, "kind").importance(rows), "importance")


def _save(result: Any, name: str) -> None:
    result.chart().save(IMAGES / f"{name}.png", scale_factor=2)


def main() -> None:
    """Write every picture."""
    IMAGES.mkdir(exist_ok=True)
    draw_reasons()
    draw_coin()
    if "TALLY_DATA" in os.environ:
        draw_digits(Path(os.environ["TALLY_DATA"]))
    else:
        print("The pictures of digits stay as they are: they need MNIST, in the folder that TALLY_DATA names.")
    (IMAGES / "demo.svg").write_text(demo_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
