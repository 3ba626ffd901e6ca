"""A page for each event model, generated from its section of docs/events.md and from the class."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

from prose import DOCS, moved, opening, python_blocks, sections, text_of

from tallybayes.events import Event, registered

FOLDER = "events"
# The values an event model reads, by its `input`.
TAKES = {
    "dense": "one number a row and column",
    "codes": "one of a list of values a row and column",
    "bag": "a row of numbers, dense or sparse",
    "text": "a text a row, cut into tokens",
}
# The imports at the top of docs/events.md, which its sections need.
IMPORTS = "```python\nimport numpy as np\n\nimport tallybayes as tb\n\n"


def pages() -> dict[str, str]:
    """Return each page's text by its path below docs/."""
    return {f"{FOLDER}/{name}.md": page(event) for name, event in registered().items()}


def page(event: type[Event]) -> str:
    """Return one event model's page: its section of docs/events.md, and facts from its class."""
    section = sections(text_of(DOCS / "events.md"))[event.name]
    body = moved(section.replace("```python\n", IMPORTS, 1), ".", FOLDER).strip()
    parts = [f"# {event.name}", body, _printed(body), "## In short", _facts(event), _options(event), _further(event)]
    return "\n\n".join(parts) + "\n"


def overview(text: str) -> str:
    """Return docs/events.md for the site: its opening, and a link to each event model's page."""
    rows = "\n".join(
        f"| [`{name}`]({FOLDER}/{name}.md) | {_first_line(event)} |" for name, event in registered().items()
    )
    lead = opening(text).replace("Every example below can be checked by hand.", "").rstrip()
    return f"{lead}\n\n## One page each\n\n| event model | |\n|---|---|\n{rows}\n"


def _printed(body: str) -> str:
    """Return the table that the example's model prints for its first column."""
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


def _type(annotation: object) -> str:
    return str(getattr(annotation, "__name__", annotation)).replace("|", "\\|")


def _further(event: type[Event]) -> str:
    others = " · ".join(f"[{name}]({name}.md)" for name in registered() if name != event.name)
    return (
        "Drawn from: [samples](../samples.md). As pixels: [pictures](../pictures.md). "
        f"How far off: [intervals](../intervals.md).\n\nThe others: {others}"
    )
