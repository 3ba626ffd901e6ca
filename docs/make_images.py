"""Remake the pictures of the documentation from the code they show: `python docs/make_images.py [NAME ...]`."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import altair as alt
import numpy as np
import pyarrow as pa
from rich.console import Console

import tallybayes as tb
from tallybayes.cli import demo
from tallybayes.cli.demo import weather
from tallybayes.display.charts.theme import COLOURS, HEIGHT, WIDTH

IMAGES = Path(__file__).parent / "images"
DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
TERMINAL_WIDTH = 80  # columns


def demo_svg() -> str:
    """Return the output of `tally demo weather` as a picture of a terminal."""
    recorder = Console(record=True, width=TERMINAL_WIDTH, highlight=False, force_terminal=True, file=io.StringIO())
    weather.run(recorder)
    picture = recorder.export_svg(title="tally demo weather")
    # A picture in a page cannot fetch fonts: name only those the reader has.
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code, monospace", "monospace")
    # Some viewers trim the spaces that right-align a cell.
    return picture.replace("<text ", '<text xml:space="preserve" ')


def draw_coin() -> None:
    """Draw how the estimate of a coin converges."""
    flips = np.random.default_rng(0).random(10_000) < 0.3
    n = np.arange(1, 10_001)
    share = np.cumsum(flips) / n
    low, high = tb.evaluation.wilson(share, n)
    shown = np.unique(np.geomspace(1, 10_000, 500).round().astype(int)) - 1
    points = pa.table({"flips": n, "estimate": share, "low": low, "high": high}).take(shown).to_pylist()
    _save(coin_chart(points, truth=0.3), "coin")


def coin_chart(points: list[dict[str, Any]], truth: float) -> alt.LayerChart:
    """Return the chart: estimate and interval by number of flips, and the truth as a dashed line."""
    axis = alt.X("flips:Q", scale=alt.Scale(type="log", nice=False), title="flips")
    axis = axis.axis(grid=False, values=[1, 10, 100, 1000, 10_000], format=",d")
    base, scale = alt.Chart(alt.InlineData(values=points)).encode(x=axis), alt.Scale(domain=[0, 1])
    title = "estimate, with its 95 % interval"
    band = base.mark_area(opacity=0.2, color=COLOURS[0]).encode(y=alt.Y("low:Q", scale=scale, title=title), y2="high:Q")
    line = base.mark_line(color=COLOURS[0], strokeWidth=2).encode(y=alt.Y("estimate:Q", scale=scale, title=title))
    mark = alt.Chart(alt.InlineData(values=[{"truth": truth, "name": f"truth {truth:g}"}]))
    rule = mark.mark_rule(color=COLOURS[1], strokeDash=[6, 4], strokeWidth=1.5).encode(y="truth:Q")
    label = mark.mark_text(align="right", baseline="bottom", dy=-4, color=COLOURS[1], fontWeight="bold")
    label = label.encode(y="truth:Q", x=alt.value(2 * WIDTH - 6), text="name:N")
    layers = alt.layer(band, line, rule, label)
    return layers.properties(width=2 * WIDTH, height=HEIGHT).configure_view(stroke=None)


def draw_learning_curve() -> None:
    """Draw the learning curves of naive Bayes and logistic regression on tumours."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    _save(tb.learning_curve(X, y, sizes=[4, 8, 16, 32, 64, 128, 256, 379], shuffles=20), "learning-curve")


def draw_digits(folder: Path) -> None:
    """Draw the average of each digit, and each pixel's log-odds of a five against a six."""
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
    """Draw the charts of docs/explain.md: an explanation, a column, a nomogram, importance."""
    from sklearn.datasets import load_breast_cancer, load_iris

    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
    counted = tb.fit(demo.WEATHER, "play", estimate="mle", calibrate=None)
    _save(counted.explain(day), "explanation")
    _save(counted.table("outlook"), "values")
    _save(tb.fit(demo.WEATHER, "play").nomogram(), "nomogram")
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    _save(tb.fit(flowers, "species").table("petal width (cm)"), "table")
    cells = load_breast_cancer(as_frame=True)
    rows = cells.data.assign(kind=cells.target_names[cells.target])
    _save(tb.fit(rows, "kind").importance(rows), "importance")


def _save(drawn: Any, name: str) -> None:
    path = IMAGES / f"{name}.png"
    chart = drawn.chart() if hasattr(drawn, "chart") else drawn
    chart.save(path, scale_factor=2)
    path.write_bytes(smaller(path.read_bytes()))


def draw_messages(folder: Path) -> None:
    """Draw the most informative words of spam and of other messages."""
    model = tb.fit(folder / "sms-spam" / "sms_spam.csv.gz", "label", events="text(min_df=20)")
    _save(model.table("text"), "words")


def draw_votes(folder: Path) -> None:
    """Draw the heat maps of docs/dependence.md: votes in the House of Representatives."""
    votes = folder / "house-votes-84" / "house_votes_84.csv.gz"
    table = pa.Table.from_batches(list(tb.read(votes, missing=["?"])))
    table = table.rename_columns(["party" if name == "label" else name for name in table.column_names])
    _save(tb.dependence(table, "party"), "dependence")


def smaller(png: bytes) -> bytes:
    """Return the same picture with maximum compression, which the chart program does not use."""
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


def draw_report(folder: Path) -> None:
    """Take the first screens of a report, on a desktop and a phone, if there is a browser."""
    browser = shutil.which("chromium")
    if browser is None:
        print("chromium not found: docs/images/report.png and report-phone.png are left unchanged")
        return
    from playwright.sync_api import sync_playwright

    rows = tb.read(folder / "heart-cleveland" / "heart_cleveland.csv.gz", missing=["?"])
    table = pa.Table.from_batches(list(rows))
    table = table.rename_columns(["diagnosis" if name == "label" else name for name in table.column_names])
    shown = {"<50": "healthy", ">50_1": "ill"}
    names = pa.array([shown[name] for name in table.column("diagnosis").to_pylist()])
    table = table.set_column(table.column_names.index("diagnosis"), "diagnosis", names)
    report = tb.report(table, "diagnosis", source="heart_cleveland.csv", command="tally report heart_cleveland.csv")
    page = IMAGES / "report.html"
    page.write_text(report.to_html(), encoding="utf-8")
    try:
        with sync_playwright() as driver:
            window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            screens = {"report": (1280, 960, "light", "#data"), "report-phone": (390, 844, "dark", "#costs")}
            for name, (width, height, scheme, section) in screens.items():
                size = {"width": width, "height": height}
                sheet = window.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5)
                sheet.goto(page.as_uri())
                sheet.wait_for_function("document.documentElement.dataset.drawn === 'all'")
                if section != "#data":
                    sheet.locator(section).evaluate("part => part.scrollIntoView({behavior: 'instant'})")
                    sheet.wait_for_timeout(300)
                picture = IMAGES / f"{name}.png"
                picture.write_bytes(smaller(sheet.screenshot()))
            window.close()
    finally:
        page.unlink()


def draw_page(folder: Path) -> None:
    """Take the page of a server, on a desktop and a phone, if there is a browser."""
    browser = shutil.which("chromium")
    if browser is None:
        print("chromium not found: docs/images/page.png and page-phone.png are left unchanged")
        return
    from playwright.sync_api import sync_playwright

    table = pa.Table.from_batches(list(tb.read(folder / "titanic" / "titanic_passengers.csv.gz")))
    survived = pa.array(["yes" if one == 1 else "no" for one in table.column("label").to_pylist()])
    table = table.drop_columns(["name", "ticket", "cabin", "label"]).append_column("survived", survived)
    row = {"pclass": 3, "sex": "female", "age": 24, "sibsp": 0, "fare": 13, "embarked": "S"}
    with tempfile.TemporaryDirectory() as home:
        tb.fit(table, "survived", events={"pclass": "categorical"}).save(f"{home}/titanic.tally")
        command = ["tally", "serve", f"{home}/titanic.tally", "--learn", "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server, sync_playwright() as driver:
            assert server.stderr is not None
            address = re.search(r"http://\S+", next(line for line in server.stderr if "serving on" in line))
            assert address is not None
            window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            for name, (width, height, scheme) in {
                "page": (1280, 900, "light"),
                "page-phone": (390, 844, "dark"),
            }.items():
                size = {"width": width, "height": height}
                sheet = window.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5)
                sheet.goto(f"{address[0]}/#{urlencode({'model': 'titanic', 'row': json.dumps(row)})}")
                sheet.wait_for_selector(".reasons")
                if width < 500:
                    sheet.click("#bar")
                sheet.wait_for_timeout(500)
                (IMAGES / f"{name}.png").write_bytes(smaller(sheet.screenshot()))
            window.close()
            server.terminate()


def main(names: Sequence[str] = ()) -> None:
    """Write the pictures of these names, or all; those of data sets only if their folder is found."""
    IMAGES.mkdir(exist_ok=True)
    drawn: dict[str, Callable[[], object]] = {
        "reasons": draw_reasons,
        "coin": draw_coin,
        "learning": draw_learning_curve,
        "demo": lambda: (IMAGES / "demo.svg").write_text(demo_svg(), encoding="utf-8"),
    }
    of_data: dict[str, Callable[[Path], None]] = {
        "digits": draw_digits,
        "messages": draw_messages,
        "votes": draw_votes,
        "report": draw_report,
        "page": draw_page,
    }
    for name, draw in drawn.items():
        if not names or name in names:
            draw()
    if not DATA.is_dir():
        print(f"{DATA} not found: set TALLY_DATA to the folder of the data sets to redraw their pictures")
        return
    for name, draw_data in of_data.items():
        if not names or name in names:
            draw_data(DATA)


if __name__ == "__main__":
    main(sys.argv[1:])
