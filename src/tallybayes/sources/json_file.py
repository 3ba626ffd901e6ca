"""json files: one list of objects, or an object of columns, read as a whole."""

from __future__ import annotations

import json

from tallybayes.errors import BadData, wanted
from tallybayes.sources.frames import of_columns, of_dicts
from tallybayes.sources.locations import Place
from tallybayes.sources.source import Source
from tallybayes.sources.steps import in_words, project
from tallybayes.sources.text_chunks import open_text

_WANT = "a list of objects, or an object of lists"


def of_json(place: Place, columns: list[str] | None = None) -> Source | None:
    """Return a source of a JSON file; None if it has one object in each line, as jsonl files have."""
    with open_text(place) as stream:
        text = bytes(stream.read())
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.count(b"\n") and text.lstrip().startswith(b"{"):
            return None
        raise BadData(wanted(place.name, _WANT, f"something else ({in_words(error)})")) from None
    if isinstance(content, dict):  # records are often under one key, as in {"data": [...]}
        lists = [one for one in content.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        content = lists[0] if len(lists) == 1 else content
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return project(of_dicts(content, place.name), columns)
    if isinstance(content, dict) and content and all(isinstance(one, list) for one in content.values()):
        return project(of_columns(content), columns)
    raise BadData(wanted(place.name, _WANT, f"a {type(content).__name__}"))
