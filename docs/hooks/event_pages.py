"""A page for each event model in the registry, made of its section of docs/events.md and of the class itself."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

from prose import DOCS, moved, opening, python_blocks, sections, text_of

from tallybayes.events import Event, registered

FOLDER = "events"
# How the values reach the event model, by its `takes`.
TAKES = {
    "dense": "one number a row and column",
    "codes": "one of a list of values a row and column",
    "bag": "a row of numbers, dense or sparse",
    "text": "a text a row, cut into tokens",
}
# What a section of docs/events.md takes for granted, having been imported at the top of that page.
IMPORTS = "```python\nimport numpy as np\n\nimport tallybayes as tb\n\n"


def pages() -> dict[str, str]:
    """Each page's text, by its place below docs/."""
    return {f"{FOLDER}/{name}.md": page(event) for name, event in registered().items()}


def page(event: type[Event]) -> str:
    """What docs/events.md says of one event model, and the facts that its class states."""
    said = sections(text_of(DOCS / "events.md"))[event.name]
    body = moved(said.replace("```python\n", IMPORTS, 1), ".", FOLDER).strip()
    parts = [f"# {event.name}", body, _printed(body), "## In short", _facts(event), _options(event), _further(event)]
    return "\n\n".join(parts) + "\n"


def overview(text: str) -> str:
    """docs/events.md as the site shows it: its opening, and a line that leads to each event model's page."""
    rows = "\n".join(
        f"| [`{name}`]({FOLDER}/{name}.md) | {_first_line(event)} |" for name, event in registered().items()
    )
    lead = opening(text).replace("Every example below can be checked by hand.", "").rstrip()
    return f"{lead}\n\n## One page each\n\n| event model | |\n|---|---|\n{rows}\n"


def _printed(body: str) -> str:
    """What the example's model prints of its first column."""
    names: dict[str, Any] = {}
    exec("".join(python_blocks(body)), names)
    model = names["model"]
    column = next(iter(model.schema.events()))
    return f"Printed, `model.table({column!r})` is:\n\n```\n{model.table(column)}\n```"


def _first_line(event: type[Event]) -> str:
    return (inspect.getdoc(event) or "").splitlines()[0]


def _facts(event: type[Event]) -> str:
    sums = ", ".join(f"`{name}` by {axis}" for name, axis in event.sums.items())
    lines = [
        ("declared", f'`events={{"column": "{event.name}"}}`'),
        ("wants", event.domain),
        ("reads", TAKES[event.input]),
        ("sums kept", sums),
        ("source", f"`src/{event.__module__.replace('.', '/')}.py`"),
    ]
    return "| | |\n|---|---|\n" + "\n".join(f"| {name} | {what} |" for name, what in lines)


def _options(event: type[Event]) -> str:
    given = fields(event)  # type: ignore[arg-type]
    if not given:
        return "It has no options of its own; smoothing and estimates are [choices](../choices.md) of the model."
    rows = "\n".join(f"| `{one.name}` | `{_type(one.type)}` | `{one.default!r}` |" for one in given)
    return f"| option | type | default |\n|---|---|---|\n{rows}"


def _type(did_you_mean: object) -> str:
    return str(getattr(did_you_mean, "__name__", did_you_mean)).replace("|", "\\|")


def _further(event: type[Event]) -> str:
    others = " · ".join(f"[{name}]({name}.md)" for name in registered() if name != event.name)
    return (
        "Drawn from: [samples](../samples.md). As pixels: [pictures](../pictures.md). "
        f"How far off: [intervals](../intervals.md).\n\nThe others: {others}"
    )
