"""The report as a page: a template filled with sentences, tables and charts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from tallybayes.display.charts.web import CONFIG, panels, unchecked
from tallybayes.display.tables import html
from tallybayes.reporting.data import ReportData
from tallybayes.reporting.profile import Profile
from tallybayes.reporting.sections import SECTIONS
from tallybayes.reporting.sections.profile import PROFILE_SECTIONS, summary
from tallybayes.reporting.sections.side_by_side import SIDE_BY_SIDE_SECTIONS, versus
from tallybayes.reporting.side_by_side import SideBySide


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
    """Render the report: one file that needs no other file and no network."""
    return _rendered("page.html", data, SECTIONS)


def profile_page(data: Profile) -> str:
    """Render the page on rows without a label."""
    return _rendered("profile.html", data, PROFILE_SECTIONS, summary=summary(data))


def side_by_side_page(data: SideBySide) -> str:
    """Render the page on two models."""
    return _rendered("side_by_side.html", data, SIDE_BY_SIDE_SECTIONS, summary=versus(data))


def _rendered(template: str, data: Any, sections: Sequence[tuple[str, str, Any]], **more: Any) -> str:
    charts = Charts()
    with unchecked():
        made = [(name, title, make(data, charts)) for name, title, make in sections]
    shown = [one for one in made if one[2] is not None]
    drawn = {"config": CONFIG, "specs": charts.specs, "sliders": charts.sliders}
    filled = {"data": data, "sections": shown, "drawn": _in_a_script(drawn), "libraries": Markup(_libraries())}
    filled |= {"titles": {name: title for name, title, _ in shown}, "parts": {name: part for name, _, part in shown}}
    return _environment().get_template(template).render(**filled, **more)


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
