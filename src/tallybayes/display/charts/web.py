"""Charts for a web page: as wide as their container, and in the page's colours.

Colours become CSS variables (``--c0`` to ``--c7``, ``--ink``, ``--quiet``, ``--line``, ``--page``). A chart drawn as
SVG then follows the page when it switches to dark mode or is printed, without being drawn again.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from tallybayes.display.charts.theme import COLOURS

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_VARIABLES = {
    **{colour: f"var(--c{k})" for k, colour in enumerate(COLOURS)},
    "#333": "var(--ink)",
    "#00284a": "var(--ink)",
    "#888": "var(--quiet)",
    "#999": "var(--quiet)",
    "white": "var(--page)",
}
_TEXT = {"labelColor": "var(--quiet)", "titleColor": "var(--quiet)", "labelFontSize": 11, "titleFontSize": 11}

# Vega-Lite's defaults: pixels per name, and the band of a name in units of its bars.
_STEP, _BETWEEN = 20, 1.25

CONFIG: dict[str, Any] = {
    "background": None,
    "font": _FONT,
    "view": {"stroke": None},
    "title": {"color": "var(--ink)", "fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "axis": {
        **_TEXT,
        "titleFontWeight": "normal",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
    },
    "legend": {**_TEXT, "labelColor": "var(--ink)", "labelFontSize": 12, "labelLimit": 240},
    "text": {"color": "var(--ink)"},
    "rule": {"color": "var(--ink)"},
}


def unchecked() -> AbstractContextManager[None]:
    """Turn off Altair's schema validation, which takes half the time of drawing a page."""
    return debug_mode(False)


def panels(chart: Any) -> list[dict[str, Any]]:
    """Split a chart into its panels, each a chart of its own.

    Examples
    --------
    >>> bars = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_bar(color="#0072b2").encode(x="x:Q")
    >>> [one] = panels(alt.hconcat(bars))
    >>> one["width"], one["mark"]["color"]
    ('container', 'var(--c0)')
    """
    whole = plain_spec(chart)
    for beside in ("hconcat", "vconcat", "concat"):
        if beside in whole:  # data shared by all panels is at the top level
            shared = {"data": whole["data"]} if "data" in whole else {}
            return [_alone(shared | one) for one in whole[beside]]
    return [_alone(whole)]


def plain_spec(chart: Any) -> dict[str, Any]:
    """Return a chart as plain values of Vega-Lite, with its data where it is drawn."""
    with alt.data_transformers.enable(consolidate_datasets=False):
        return dict(chart.to_dict(validate=False))


def _alone(spec: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in spec.items() if key not in ("$schema", "config")}
    # A legend of many long names would not fit: the page has its own, which wraps.
    fitted = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {**_named(coloured(_without_legends(kept))), **fitted, **_height(kept)}


def _height(spec: dict[str, Any]) -> dict[str, float]:
    """Return the height in pixels of a chart with one band per name.

    Vega-Lite fits only charts with a fixed height, and warns about others.
    """
    given = spec.get("height")
    encodings = [part["encoding"] for part in (spec, *spec.get("layer", ())) if "encoding" in part]
    names = next((e["y"]["sort"] for e in encodings if isinstance(e.get("y", {}).get("sort"), list)), None)
    if names is None or not (given is None or isinstance(given, dict)):
        return {}
    step = (given or {}).get("step", _STEP)
    if (given or {}).get("for") == "offset":
        beside = next(e["yOffset"]["sort"] for e in encodings if "yOffset" in e)
        step = step * len(beside) * _BETWEEN
    return {"height": step * len(names)}


def _named(part: Any) -> Any:
    """Add labels to every y-axis of names: each panel stands alone."""
    if isinstance(part, list):
        return [_named(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: value if key == "data" else _named(value) for key, value in part.items()}
    y = found.get("y")
    if isinstance(y, dict) and "axis" in y and y.get("type") == "nominal":
        axis = y["axis"] or {"ticks": False, "domain": False}
        found["y"] = {**y, "axis": {key: value for key, value in axis.items() if key != "labels"}}
    return found


def _without_legends(part: Any) -> Any:
    """Remove the legends of names."""
    if isinstance(part, list):
        return [_without_legends(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: value if key == "data" else _without_legends(value) for key, value in part.items()}
    colour = found.get("color")
    if isinstance(colour, dict) and colour.get("type") == "nominal":
        found["color"] = {**colour, "legend": None}
    return found


def coloured(part: Any) -> Any:
    """Replace colours by their CSS variables, except inside data."""
    if isinstance(part, list):
        return [coloured(one) for one in part]
    if isinstance(part, str):
        return _VARIABLES.get(part, part)
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("encoding"), dict) and _shades(part["encoding"].get("color")):
        return _by_opacity(part)
    return {
        key: value if key in ("data", "datasets", "domain", "sort") else coloured(value) for key, value in part.items()
    }


def _shades(colour: Any) -> bool:
    return isinstance(colour, dict) and "interpolate" in colour.get("scale", {})


def _by_opacity(part: dict[str, Any]) -> dict[str, Any]:
    """Replace shades of a colour by opacities, so that they start at the page's colour."""
    encoding = dict(part["encoding"])
    colour = encoding.pop("color")
    scale = {"domain": colour["scale"]["domain"], "range": [0.03, 1]}
    encoding |= {
        "fillOpacity": {key: value for key, value in colour.items() if key != "scale"} | {"scale": scale},
        "fill": {"value": "var(--c0)"},
    }
    return dict(coloured({**part, "encoding": encoding}))
