"""The page in a real browser: it answers as the model does, with no network, in the dark and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tallybayes as tb

from .cases import HOSTILE, Case, hostile_case, messy_case, table_case, text_case
from .engines import plain


class OpenPage:
    """The page of a model, with all that it said and asked for."""

    def __init__(self, browser: Any, model: tb.Model, folder: Path, width: int = 1000, scheme: str = "light") -> None:
        path = folder / "page.html"
        path.write_text(model.to_html(), encoding="utf-8")
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def fill(self, row: dict[str, Any]) -> None:
        for name, field in zip(row, self.page.query_selector_all("#fields label"), strict=True):
            assert field.inner_text().startswith(name.split("\n")[0]), name
            value, kind = plain(row[name]), field.query_selector("select, input, textarea")
            if kind.evaluate("one => one.tagName") == "SELECT":
                kind.select_option(label=_option(field, value))
            else:
                kind.fill("" if value is None else _said(value))

    def probabilities(self) -> dict[str, str]:
        items = self.page.query_selector_all("#classes li")
        return {one.query_selector("span").inner_text(): one.query_selector("b").inner_text() for one in items}


def _option(field: Any, value: Any) -> str:
    listed = [one.inner_text() for one in field.query_selector_all("option")]
    return "missing" if value is None else _said(value) if _said(value) in listed else "another value"


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(
    ("make", "name"), [(table_case, "bayes auto"), (text_case, "words"), (text_case, "text and more")]
)
def test_the_page_answers_as_the_model_does(browser: Any, tmp_path: Path, make: Any, name: str) -> None:
    case: Case = make(name)
    opened = OpenPage(browser, case.model, tmp_path)
    for k in (0, 1, 2, 3, 21, case.rows.num_rows - 1):
        row = {column: case.rows[column][k % case.rows.num_rows].as_py() for column in case.model.schema.columns}
        opened.fill(row)
        wanted = dict(zip(map(str, case.model.classes), case.model.predict_proba([row])[0], strict=True))
        for label, text in opened.probabilities().items():
            p = float(wanted[label])
            assert text == ("< 0.1 %" if 0 < p < 0.0005 else "> 99.9 %" if 0.9995 < p < 1 else f"{100 * p:.1f} %")
        told = opened.page.inner_text("#prediction")
        assert told == f"{case.model.schema.label}: {case.model.predict([row])[0]}"
    assert opened.said == []
    assert len(opened.asked) == 1


def test_hostile_names_are_shown_and_not_run(browser: Any, tmp_path: Path) -> None:
    rows = {"</script><script>document.title = 'got you'</script>": ["<img src=x onerror=alert(1)>", "b"] * 9}
    model = tb.fit({**rows, "<b>label</b>": ["</title>", "yes\u2028"] * 9}, "<b>label</b>")
    opened = OpenPage(browser, model, tmp_path)
    assert opened.page.title() == "<b>label</b> · tallybayes"
    assert opened.page.inner_text("h1") == "Which <b>label</b>?"
    assert set(opened.probabilities()) == {"</title>", "yes\u2028"}
    assert opened.page.query_selector("img") is None
    assert opened.said == []
    many = OpenPage(browser, hostile_case().model, tmp_path)
    assert set(many.probabilities()) == {name.replace("\n", " ") for name in HOSTILE}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(browser: Any, tmp_path: Path, scheme: str) -> None:
    opened = OpenPage(browser, table_case("bayes auto").model, tmp_path, 360, scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 22, 27)")


def test_a_bad_number_is_answered_with_a_sentence(browser: Any, tmp_path: Path) -> None:
    model = tb.fit({"calls": [1, 2, 9, 8], "y": ["a", "a", "b", "b"]}, "y", events={"calls": "poisson"})
    opened = OpenPage(browser, model, tmp_path)
    opened.page.fill("input", "-3")
    assert opened.page.inner_text("#problem") == "column 'calls': wanted a number (not negative), got -3."
    opened.page.click("button")
    opened.page.wait_for_function("document.getElementById('problem').hidden")


def test_a_date_has_one_field(browser: Any, tmp_path: Path) -> None:
    model = messy_case().model
    opened = OpenPage(browser, model, tmp_path)
    kinds = {one.inner_text(): one.query_selector("input, select") for one in opened.page.query_selector_all("label")}
    found = {name.split("\n")[0]: one.get_attribute("type") or "select" for name, one in kinds.items()}
    assert found == {
        **dict.fromkeys(("price", "comma", "discount"), "number"),
        **dict.fromkeys(("day", "short", "named"), "date"),
        **dict.fromkeys(("time", "seen"), "datetime-local"),
        "clock": "text",
        "height (m.²)": "number",
        "paid": "select",
    }
    opened.page.fill("input[type=date]", "2024-05-04")
    opened.page.fill("input[type=datetime-local]", "1999-12-31T23:59")
    wanted = model.predict_proba([{"day": "4/05/2024", "time": "1999-12-31 23:59"}])[0]
    assert list(opened.probabilities().values()) == [f"{100 * p:.1f} %" for p in sorted(wanted, reverse=True)]
    assert opened.said == []
