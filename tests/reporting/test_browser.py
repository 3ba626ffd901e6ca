"""The report in a real browser: it draws, loads nothing from the network, and fits every screen.

Where there is no browser these tests are skipped, saying so; where CI is true they are required.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .rows import SHOWN, page_of

PAGES = ["mixed", "flowers", "hostile"]
DRAWN = "document.documentElement.dataset.drawn === 'all'"


class OpenPage:
    """Return a page, with its console messages and requests while it was drawn."""

    def __init__(self, browser: Any, path: Path, width: int, scheme: str) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=width < 500
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.route("**/*", self._note)
        self.page.goto(path.as_uri())
        self.page.wait_for_function(DRAWN, timeout=120_000)

    def _note(self, route: Any) -> None:
        self.asked.append(route.request.url)
        route.continue_()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    made: list[OpenPage] = []

    def open_page(name: str, width: int = 1280, scheme: str = "light") -> OpenPage:
        path = tmp_path / f"{name}.html"
        path.write_text(page_of(name), encoding="utf-8")
        made.append(OpenPage(browser, path, width, scheme))
        return made[-1]

    yield open_page
    for one in made:
        one.context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_draws_everything_in_silence_and_without_network(opened: Any, name: str, width: int, scheme: str) -> None:
    seen = opened(name, width, scheme)
    assert seen.said == []
    assert [url for url in seen.asked if not url.startswith("file:")] == []
    assert len(seen.asked) == 1
    figures = seen.page.locator("figure.chart")
    assert figures.count() > 10
    for k in range(figures.count()):
        box = figures.nth(k).locator("svg").first.bounding_box()
        assert box["width"] > 150
        assert box["height"] > 30


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_nothing_is_wider_than_the_screen_and_every_section_is_seen(opened: Any, name: str, width: int) -> None:
    page = opened(name, width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for section, title in SHOWN:
        assert page.locator(f"section#{section}").is_visible()
        assert page.locator(f"section#{section} h2").inner_text() == title


def test_what_data_holds_is_not_run(opened: Any) -> None:
    page = opened("hostile").page
    assert page.evaluate("window.pwned") is None
    page.locator("#columns figure svg path[aria-roledescription=bar]").first.hover()
    assert page.evaluate("window.pwned") is None


def test_the_slider_moves_the_point_and_changes_the_sentence(opened: Any) -> None:
    page = opened("mixed").page
    block = page.locator("[data-roc]").first
    drawn = page.evaluate("drawn.sliders[document.querySelector('[data-roc]').dataset.roc]")
    slider = block.locator("input[type=range]")
    where = "views[document.querySelector('[data-roc]').dataset.roc].data('point')[0]"
    for position in (0, 7, 14):
        slider.fill(str(position))
        step = drawn[position]
        for name in ("said", "threshold", "sensitivity", "specificity", "cost"):
            assert block.locator(f"[data-show={name}]").inner_text() == step[name]
        point = page.evaluate(where)
        assert (point["fpr"], point["tpr"]) == (step["point"][0]["fpr"], step["point"][0]["tpr"])
    assert drawn[0]["said"] != drawn[14]["said"]
    assert drawn[0]["sensitivity"] != drawn[14]["sensitivity"]


def test_the_slider_can_be_moved_by_keys(opened: Any) -> None:
    page = opened("mixed").page
    block = page.locator("[data-roc]").first
    before = block.locator("[data-show=said]").inner_text()
    block.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    assert block.locator("[data-show=said]").inner_text() != before


def test_a_tooltip_tells_the_numbers(opened: Any) -> None:
    page = opened("mixed").page
    page.locator("#importance figure svg path[aria-roledescription=bar]").first.hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "bits" in page.locator("#vg-tooltip-element").inner_text()


INK = "getComputedStyle(document.querySelector('#reliability svg .role-axis-label text')).fill"
PAPER = "getComputedStyle(document.body).backgroundColor"


def brightness(colour: str) -> float:
    return sum(float(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) / 3


def test_page_and_charts_turn_dark_together_and_light_on_paper(opened: Any) -> None:
    page = opened("mixed", scheme="dark").page
    assert brightness(page.evaluate(PAPER)) < 60 < 120 < brightness(page.evaluate(INK))
    page.emulate_media(color_scheme="light")
    assert brightness(page.evaluate(INK)) < 130 < 250 < brightness(page.evaluate(PAPER))
    page.emulate_media(color_scheme="dark", media="print")
    assert brightness(page.evaluate(INK)) < 130 < 250 < brightness(page.evaluate(PAPER))


def test_it_can_be_printed(opened: Any) -> None:
    page = opened("mixed").page
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()


BOXES = """[...document.querySelectorAll('.legend')].map((list) => [...list.children].map((one) => {
  const box = one.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; }))"""


@pytest.mark.parametrize(
    ("name", "width", "highest"), [("fifteen", 1280, 6000), ("eight", 1280, 6200), ("eight", 390, 13_000)]
)
def test_a_page_of_fifteen_columns_is_short_and_its_legends_do_not_overlap(
    opened: Any, name: str, width: int, highest: int
) -> None:
    page = opened(name, width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") <= highest
    legends = page.evaluate(BOXES)
    assert max(map(len, legends)) == (8 if name == "eight" else 2)
    for boxes in legends:
        assert all(0 <= left < right <= width for left, _, right, _ in boxes)
        for k, (left, top, right, bottom) in enumerate(boxes):
            for left2, top2, right2, bottom2 in boxes[k + 1 :]:
                assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top


def test_the_index_follows_the_reading(opened: Any) -> None:
    page = opened("flowers").page
    here = "document.querySelector('nav a.here')?.textContent"
    assert page.evaluate(here) is None
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    for section, title in (SHOWN[3], SHOWN[6], SHOWN[-1]):
        page.evaluate(f"document.getElementById('{section}').scrollIntoView()")
        page.wait_for_function(f"{here} === {title!r}", timeout=10_000)


def test_the_point_moves_on_both_curves(opened: Any) -> None:
    page = opened("mixed").page
    block = page.locator("[data-roc]").first
    block.locator("input[type=range]").fill("0")
    name = block.get_attribute("data-precision")
    point = page.evaluate(f"views['{name}'].data('point')[0]")
    assert block.locator("[data-show=sensitivity]").inner_text() == f"{point['recall']:.1%}".replace("%", " %")
    assert block.locator("[data-show=precision]").inner_text() == f"{point['precision']:.1%}".replace("%", " %")


@pytest.mark.parametrize("name", ["alone", "two"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_other_pages_draw_in_silence_too(opened: Any, name: str, width: int, scheme: str) -> None:
    seen = opened(name, width, scheme)
    assert seen.said == []
    assert len(seen.asked) == 1
    assert seen.page.evaluate("window.pwned") is None
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    for figure in seen.page.locator("figure.chart svg").all():
        assert figure.bounding_box()["width"] > 100


def test_columns_can_be_found_and_sorted(opened: Any) -> None:
    page = opened("alone").page
    names = "[...document.querySelectorAll('#columns-table tbody tr:not([hidden]) th')].map((one) => one.textContent)"
    page.locator("input.find").fill("smok")
    assert page.evaluate(names) == ["smoker"]
    page.locator("input.find").fill("")
    page.locator("#columns-table thead th", has_text="distinct").click()
    assert set(page.evaluate(names)[:2]) == {"constant", "admitted.year"}
