"""The report as a page: a template filled with sentences, tables and charts."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from tallybayes.display.charts.web import CONFIG, panels, unchecked
from tallybayes.display.tables import html
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.sections import SECTIONS


class Charts:
    """The charts of a page, by the names that its figures refer to."""

    def __init__(self) -> None:
        self.specs: dict[str, Any] = {}
        self.sliders: dict[str, Any] = {}

    def add(self, name: str, chart: Any) -> list[str]:
        """Add a chart, and return the names of its panels."""
        names = []
        for k, spec in enumerate(panels(chart)):
            self.specs[f"{name}-{k}"] = spec
            names.append(f"{name}-{k}")
        return names


def page(data: ReportData) -> str:
    """Render the page: one file that needs no other file and no network."""
    charts = Charts()
    with unchecked():
        made = [(name, title, make(data, charts)) for name, title, make in SECTIONS]
        sections = [one for one in made if one[2] is not None]
    drawn = {"config": CONFIG, "specs": charts.specs, "sliders": charts.sliders}
    return (
        _environment()
        .get_template("page.html")
        .render(data=data, sections=sections, drawn=_in_a_script(drawn), libraries=Markup(_libraries()))
    )


def _in_a_script(value: Any) -> Markup:
    """Return JSON that cannot close its script tag: every < is escaped."""
    return Markup(json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["table"] = lambda shown: Markup(html(shown))
    environment.globals["raw"] = lambda name: Markup(_template(name))
    return environment


def _template(name: str) -> str:
    return files("tallybayes.reporting").joinpath("template", name).read_text(encoding="utf-8")


@cache
def _libraries() -> str:
    """Return Vega, Vega-Lite and Vega-Embed, bundled by the package that also renders images."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).replace("</script", "<\\/script")
