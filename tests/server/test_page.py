"""The page in a real browser: the answer moves as one types, and the model learns and forgets.

Where there is no browser these tests are skipped, saying so; where CI is true they are required.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import tallybayes as tb

from .conftest import ROW, weather_rows
from .process import Server

SCREENS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


class Tab:
    """A tab of a browser, with its console messages and the addresses it asked for."""

    def __init__(self, browser: Any, address: str, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.first = self.page.goto(address)

    def answered(self) -> str:
        """Wait for the answer, and return its sentence."""
        self.page.wait_for_selector("#classes .class")
        return str(self.page.inner_text("#said"))

    def moved(self, before: str) -> str:
        """Wait until the sentence differs, and return it."""
        self.page.wait_for_function("text => document.getElementById('said').innerText !== text", arg=before)
        return str(self.page.inner_text("#said"))


@pytest.fixture
def tab(browser: Any, server: Server, request: pytest.FixtureRequest) -> Iterator[Tab]:
    width, scheme = getattr(request, "param", (1280, "light"))
    opened = Tab(browser, f"{server.url}/#{_case('weather', {})}", width, scheme)
    yield opened
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith((server.url, "data:", "blob:"))] == []
    opened.context.close()


def _case(model: str, row: dict[str, Any]) -> str:
    return f"model={quote(model)}&row={quote(json.dumps(row))}"


@pytest.mark.parametrize("tab", SCREENS, indirect=True)
def test_the_answer_moves_as_one_types(tab: Tab, folder: Path) -> None:
    prior = tab.answered()
    tab.page.select_option("#field-outlook", label="rainy")
    rainy = tab.moved(prior)
    tab.page.fill("#field-temperature", "17")
    mild = tab.moved(rainy)
    tab.page.fill("#field-note", "took the boat out")
    read = tab.moved(mild)
    row = {"outlook": "rainy", "temperature": 17, "note": "took the boat out"}
    model = tb.load(folder / "weather.tally")
    expected = model.predict_interval([row])
    c = int(expected.probability[0].argmax())
    low, p = float(expected.low[0, c]), float(expected.probability[0, c])
    assert f"play: {model.classes[c]}\n{100 * p:.1f} % ({100 * low:.1f} % to " in read
    assert "rests on" in read
    told = tab.page.inner_text(".reasons")
    assert "outlook" in told
    assert "= rainy" in told
    assert "together" in told
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("tab", SCREENS, indirect=True)
def test_a_case_is_taught_and_taken_back_with_a_receipt(tab: Tab, server: Server) -> None:
    tab.answered()
    before = server.get("/models/weather").json()["evidence"]
    tab.page.select_option("#field-outlook", label="overcast")
    tab.page.fill("#field-guests", "3")
    assert tab.page.is_disabled("text=Teach this case")
    tab.page.select_option("#truth", label="no")
    tab.page.click("text=Teach this case")
    tab.page.wait_for_selector(".receipt:has-text('Learned 1 row')")
    tab.page.wait_for_selector("button:has-text('Take it back'):enabled")
    assert server.get("/models/weather").json()["evidence"] != before
    assert "201 rows learned" in tab.page.inner_text("#about")
    assert "calibrated before the last change" in tab.page.inner_text("#about")
    tab.page.click("text=Take it back")
    tab.page.wait_for_selector(".receipt:has-text('Took back 1 row')")
    tab.page.wait_for_selector("#about:has-text('200 rows learned')")
    assert server.get("/models/weather").json()["evidence"] == before


def test_the_page_allows_nothing_from_elsewhere(tab: Tab) -> None:
    tab.answered()
    policy = tab.first.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert tab.page.evaluate("document.querySelectorAll('[style]:not(.track *):not(.swing *)').length") == 0


def test_every_field_has_a_label_and_the_answer_is_announced(tab: Tab) -> None:
    tab.answered()
    unnamed = """() => [...document.querySelectorAll('input, select, textarea, button')].filter(one => !(
        one.labels?.length || one.getAttribute('aria-label') || one.innerText.trim() || one.hidden
    )).map(one => one.id)"""
    assert tab.page.evaluate(unnamed) == []
    assert tab.page.get_attribute("#said", "aria-live") == "polite"
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.id") == "skip"
    tab.page.keyboard.press("Enter")
    assert tab.page.evaluate("document.activeElement.id") == "answer"


def test_a_case_is_shared_by_its_address(browser: Any, server: Server) -> None:
    tab = Tab(browser, f"{server.url}/#{_case('weather', ROW)}")
    sentence = tab.answered()
    assert tab.page.input_value("#field-temperature") == "18.5"
    again = Tab(browser, tab.page.url)
    assert again.answered() == sentence
    assert again.page.input_value("#field-note") == "the boat"
    assert tab.said == again.said == []
    for one in (tab, again):
        one.context.close()


def test_the_smallest_change_is_tried_with_one_click(browser: Any, server: Server) -> None:
    row = {"outlook": "sunny", "temperature": 16.0}
    tab = Tab(browser, f"{server.url}/#{_case('weather', row)}")
    before = tab.answered()
    assert "play: yes" in before
    tab.page.click("text=Try it")
    assert "play: no" in tab.moved(before)
    tab.context.close()


def test_a_table_comes_back_with_predictions(tab: Tab, folder: Path, tmp_path: Path) -> None:
    tab.answered()
    rows = weather_rows(40, seed=2)
    path = tmp_path / "days, new.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    tab.page.set_input_files("#file", path)
    tab.page.wait_for_selector("#done a")
    with tab.page.expect_download() as saved:
        tab.page.click("#done a")
    assert saved.value.suggested_filename == "days, new-predicted.csv"
    with Path(saved.value.path()).open(newline="") as file:
        answers = [one["predicted"] for one in csv.DictReader(file)]
    model = tb.load(folder / "weather.tally")
    assert answers == model.predict(str(path)).tolist()


def test_drift_counts_tables_but_not_what_one_tries(browser: Any, folder: Path, tmp_path: Path) -> None:
    with Server(folder) as fresh:
        tab = Tab(browser, f"{fresh.url}/#{_case('weather', ROW)}")
        tab.answered()
        assert fresh.get("/models/weather/drift").json() == {"asked": None, "learned": None}
        assert tab.page.is_hidden("#truth")
        rows = weather_rows(80, seed=3) | {"outlook": ["rainy"] * 80}
        path = tmp_path / "days.csv"
        path.write_text("\n".join(",".join(map(str, one)) for one in [list(rows), *zip(*rows.values(), strict=True)]))
        tab.page.set_input_files("#file", path)
        tab.page.wait_for_selector("#done a")
        tab.page.click("#measure")
        tab.page.wait_for_selector("#drift tr.drifted")
        assert tab.page.inner_text("#drift tr.drifted th").startswith("outlook")
        [found] = [
            one for one in fresh.get("/models/weather/drift").json()["asked"]["columns"] if one["column"] == "outlook"
        ]
        expected = tb.load(folder / "weather.tally").drift({k: v for k, v in rows.items() if k != "play"})
        assert found["p"] == expected.column("outlook").p
        assert found["distance"] == expected.column("outlook").distance
        assert tab.said == []
        tab.context.close()


def test_recent_cases_lead_back(tab: Tab) -> None:
    first = tab.answered()
    tab.page.select_option("#field-outlook", label="rainy")
    rainy = tab.moved(first)
    tab.page.wait_for_selector("#recent a")
    tab.page.click("#clear")
    tab.moved(rainy)
    tab.page.click("#recent a")
    tab.page.wait_for_function("text => document.getElementById('said').innerText === text", arg=rainy)
    assert tab.page.input_value("#field-outlook") != ""


def test_other_models_are_chosen_from_the_list(tab: Tab) -> None:
    before = tab.answered()
    tab.page.select_option("#models", "ages")
    assert "grade: " in tab.moved(before)
    assert tab.page.is_visible("#field-height")


def test_a_server_that_is_gone_is_said_in_one_sentence(browser: Any, folder: Path) -> None:
    with Server(folder) as short:
        tab = Tab(browser, f"{short.url}/#{_case('weather', {})}")
        tab.answered()
    tab.page.select_option("#field-outlook", label="rainy")
    tab.page.wait_for_selector("#problem:has-text('The server does not answer.')")
    tab.context.close()


def test_a_server_with_a_token_asks_for_it(browser: Any, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("open-sesame-and-more\n")
    with Server(folder, "--token-file", str(path)) as guarded:
        tab = Tab(browser, f"{guarded.url}/")
        tab.page.fill("#token", "open-sesame-and-more")
        tab.page.click("text=Open")
        assert "rests on" in tab.answered()
        tab.context.close()


def test_a_model_of_messy_columns_answers_before_anything_is_typed(browser: Any, tmp_path: Path) -> None:
    days = [f"{1 + k % 28:02}.{1 + k % 12:02}.2023" for k in range(120)]
    rows = {"seen": days, "paid": ["Y", "No", "yes", "n"] * 30, "pay": [f"${k % 50}.5" for k in range(120)]}
    model = tb.fit(rows | {"kind": ["one", "one", "two"] * 40}, "kind")
    model.save(tmp_path / "messy.tally")
    with Server(tmp_path / "messy.tally") as server:
        tab = Tab(browser, f"{server.url}/#{_case('messy', {})}")
        prior = tab.answered()
        assert "one" in prior
        hints = {name: tab.page.get_attribute(f"#field-{name}", "placeholder") for name in ("seen", "paid", "pay")}
        assert hints == {"seen": "a date", "paid": "yes or no", "pay": "a number"}
        tab.page.fill("#field-pay", "$49")
        tab.moved(prior)
        assert tab.said == []
        tab.context.close()
