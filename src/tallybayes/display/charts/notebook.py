"""Charts in a notebook: SVG inside the HTML, without scripts or a network."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from tallybayes.display.charts.theme import COLOURS
from tallybayes.display.charts.web import CONFIG, coloured, plain_spec

__all__ = ["svg_of"]

# Text has the colour of the notebook's own, light or dark; all other colours can be seen on both.
_VARIABLES = {"ink": "currentColor", "quiet": "currentColor", "line": "#8886", "page": "transparent"}
_VARIABLES |= {f"c{k}": colour for k, colour in enumerate(COLOURS)}

_PADDING = 12  # pixels: a browser's letters may be wider than those that the drawing was measured with


def svg_of(chart: Any) -> str:
    """Draw an Altair chart as an SVG element of a page.

    Examples
    --------
    >>> import altair as alt
    >>> bars = alt.Chart(alt.InlineData(values=[{"x": "<b>", "n": 1}])).mark_bar().encode(x="n:Q", y="x:N")
    >>> drawn = svg_of(bars)
    >>> drawn.startswith("<svg"), "&lt;b&gt;" in drawn, "<b>" in drawn
    (True, True, False)
    """
    import vl_convert

    spec = coloured(plain_spec(chart))
    drawn = str(vl_convert.vegalite_to_svg(spec, config={**CONFIG, "padding": _PADDING}))
    for name, colour in _VARIABLES.items():
        drawn = drawn.replace(f"var(--{name})", colour)
    # Several charts are in one page: what an element refers to has a name of its own.
    own = sha256(drawn.encode()).hexdigest()[:8]
    return re.sub(r'(id="|url\(#)(clip|gradient)', rf"\g<1>{own}-\g<2>", drawn)
