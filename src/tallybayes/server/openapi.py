"""The description of the interface (OpenAPI 3.1), with the columns of the models that are served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallybayes import __version__
from tallybayes.categories import Categories
from tallybayes.model import Model
from tallybayes.server.describe import describe
from tallybayes.server.labelled_rows import no_class
from tallybayes.server.rows import ARROW, CSV, JSON
from tallybayes.server.served_model import ServedModel
from tallybayes.sources.missing import markers_of_numbers

__all__ = ["openapi"]

Json = dict[str, Any]
_LONG = {"minimum": -(1 << 63), "maximum": (1 << 63) - 1}  # whole numbers of 64 bits
# A number may be in quotes, as a form or a csv has it; this is how most are written, and all of these are read.
_NUMBER_IN_TEXT = {
    "type": "string",
    "pattern": r"^[+-]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})([eE][+-]?[0-9]{1,2})?$",
}
_TYPES = {"text": "string", "whole numbers": "integer", "booleans": "boolean"}


def openapi(models: Sequence[ServedModel]) -> Json:
    """Return the description of all routes; each model has its own paths, since its rows have its columns."""
    paths: Json = {
        "/models": {"get": _get("List the models that are served.", _array(_ref("Summary")))},
        "/healthz": {"get": _get("Say that the server lives.", {"type": "object"})},
        "/metrics": {"get": _get("Count requests and rows, for Prometheus.", {"type": "string"}, "text/plain")},
        "/openapi.json": {"get": _get("Describe this interface.", {"type": "object"})},
    }
    for one in models:
        paths |= _paths(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "tallybayes", "version": __version__, "description": "Models that predict and learn."},
        "paths": paths,
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths(served: ServedModel) -> Json:
    at, model = f"/models/{served.name}", served.published.model
    asked, labelled = _row(model, labelled=False), _row(model, labelled=True)
    explain = _query("explain", {"type": "string", "enum": ["0", "1"]}, "Add the reasons of each prediction.")
    only = _query("only", {"type": "string", "enum": ["0", "1"]}, "Leave out the columns of the request (tables).")
    raw = _query("raw", {"type": "string", "enum": ["0", "1"]}, "Leave texts like formulas as they are (csv).")
    counts = _query("count", {"type": "string", "enum": ["0", "1"]}, "0: leave the rows out of what drift counts.")
    level = _query(
        "level",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "The probability that an interval holds; tables have the bounds only if it is given.",
    )
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes a retry harmless: one key, one change.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    }
    after = _query("from", {"type": "integer", "minimum": 0, "maximum": (1 << 63) - 1}, "The position to begin after.")
    limit = _query("limit", {"type": "integer", "minimum": 1, "maximum": 10_000}, "The most receipts to return.")
    paths: Json = {
        at: {"get": _get("Describe the model, with what a form needs.", _ref("Model"))},
        f"{at}/predict": {
            "post": _post(
                "Predict the class of each row.", asked, _ref("Prediction"), [explain, only, raw, counts, level]
            )
        },
        f"{at}/explain": {"post": _post("Explain each prediction.", asked, _ref("Explanation"), [])},
        f"{at}/drift": {"get": _get("Say what has changed since the model file.", _ref("Drift"))},
        f"{at}/file": {"get": _get("Return the model as a file.", {"type": "string"}, "application/octet-stream")},
    }
    if served.journaled:
        paths[f"{at}/journal"] = {
            "get": _get("Return the receipts since a position.", _ref("Receipts"), parameters=[after, limit])
        }
    if served.learn:
        for name, summary in (("learn", "Learn labelled rows."), ("forget", "Forget rows that were learned.")):
            operation = _post(summary, labelled, None, [key])
            operation["responses"]["200"] = _answer(_ref("Receipt"), JSON, "The receipt.")
            paths[f"{at}/{name}"] = {"post": operation}
        paths[f"{at}/calibrate"] = {"post": _calibrate()}
    return paths


def _row(model: Model, *, labelled: bool) -> Json:
    """Return the schema of one row of a model."""
    schema = model.schema
    properties = {one["name"]: _value(one, model) for one in describe(model)["columns"]}
    row: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    own = [name for name in (schema.label, schema.weight) if name is not None]
    if not labelled:
        ignored = {"type": ["string", "number", "boolean", "null"], "description": "Ignored."}
        properties |= dict.fromkeys(own, ignored)
        return row
    kind = _TYPES.get(model.evidence.classes.kind, "string")
    properties[schema.label] = {"type": kind}
    if kind == "string":
        properties[schema.label]["not"] = {"enum": list(no_class(schema))}
    elif kind == "integer":
        properties[schema.label] |= _LONG
    if schema.weight is not None:
        properties[schema.weight] = {"type": ["number", "boolean"], "minimum": 0}
    return row | {"required": own, "minProperties": len(own) + 1}


def _value(column: Json, model: Model) -> Json:
    if column["kind"] == "text":
        return {"type": ["string", "null"]}
    if column["kind"] == "number":
        return {"anyOf": [{"type": ["number", "boolean", "null"]}, _NUMBER_IN_TEXT, *_missing(model)]}
    for block, statistic in zip(model.schema.blocks, model.evidence.statistics, strict=True):
        if column["name"] in block.columns and statistic.labels:
            labels = statistic.labels[list(block.columns).index(column["name"])]
            assert isinstance(labels, Categories)
            kind = _TYPES.get(labels.kind, "string")
            known = {"enum": [*column["values"], None]} if model.choices.unseen == "error" else {}
            said = {"type": [kind, "null"], "examples": column["values"][:5], **known}
            if kind == "integer":
                said |= _LONG
            return said if kind == "string" else {"anyOf": [said, *_missing(model)]}
    return {}


def _missing(model: Model) -> list[Json]:
    """Return the schema of texts that stand for a missing value, if there are any."""
    markers = markers_of_numbers(model.schema.missing_values)
    return [{"enum": list(markers)}] if markers else []


def _get(summary: str, schema: Json, media: str = JSON, parameters: Sequence[Json] = ()) -> Json:
    return {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {"200": _answer(schema, media, "The answer."), "default": _PROBLEM},
    }


def _post(summary: str, row: Json, answer: Json | None, parameters: Sequence[Json]) -> Json:
    """Return an operation on rows, whose answer has the form of the request."""
    rows = _array(row, least=0 if answer is not None else 1)
    content: Json = {JSON: {"schema": rows | {"description": "Rows; all values of a column are of one type."}}}
    tables: Json = {form: {"schema": {"type": "string", "contentMediaType": form}} for form in (CSV, ARROW)}
    answers = {JSON: {"schema": {} if answer is None else _array(answer)}}
    predicts = answer == _ref("Prediction")
    return {
        "summary": summary,
        "parameters": list(parameters),
        "requestBody": {"required": True, "content": content | tables},
        "responses": {
            "200": {"description": "An answer for each row.", "content": answers | (tables if predicts else {})},
            "default": _PROBLEM,
        },
    }


def _calibrate() -> Json:
    return {
        "summary": "Refit the weights on the rows that the journal keeps, in the background.",
        "responses": {"202": _answer({"type": "object"}, JSON, "It runs."), "default": _PROBLEM},
    }


def _query(name: str, schema: Json, description: str) -> Json:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _answer(schema: Json, media: str, description: str) -> Json:
    return {"description": description, "content": {media: {"schema": schema}}}


def _array(items: Json, least: int = 0) -> Json:
    return {"type": "array", "items": items, "minItems": least}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(**properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


_NUMBER, _TEXT, _SHARE = {"type": "number"}, {"type": "string"}, {"type": "number", "minimum": 0, "maximum": 1}
_OPEN: Json = {}  # any value: a class or a value of a column
_SCHEMAS: Json = {
    "Summary": _object(
        name=_TEXT, label=_TEXT, classes=_array(_OPEN), columns={"type": "integer"}, rows=_NUMBER, evidence=_TEXT,
        position={"type": "integer"}, learn={"type": "boolean"}, stale={"type": "boolean"},
    ),
    "Model": _object(
        name=_TEXT, label=_TEXT, learn={"type": "boolean"}, stale={"type": "boolean"}, rows=_NUMBER, evidence=_TEXT,
        position={"type": "integer"}, classes=_array(_object(value=_OPEN, rows=_NUMBER, prior=_NUMBER)),
        columns=_array(_object(name=_TEXT, kind={"enum": ["category", "number", "text"]}, event=_TEXT)),
        calibration={"type": ["object", "null"]}, validation={"type": ["object", "null"]}, calibrate={"type": "object"},
    ),
    "Prediction": _object(
        prediction=_OPEN, probabilities={"type": "object", "additionalProperties": _SHARE},
        interval={"type": "array", "items": _SHARE, "minItems": 2, "maxItems": 2},
        rows_behind={"type": ["number", "null"]},
    ),
    "Explanation": _object(
        label=_TEXT, classes=_array(_OPEN), of=_OPEN, probability=_SHARE, log_odds={"type": ["number", "null"]},
        prior={"type": ["number", "null"]}, split={"type": ["number", "null"]}, parts=_array({"type": "object"}),
        rows=_array(_NUMBER), change={"type": ["object", "null"]},
    ),
    "Receipt": _object(
        position={"type": "integer", "minimum": 1}, key={"type": ["string", "null"]},
        operation={"enum": ["learn", "forget", "move", "calibrate"]}, rows={"type": "integer", "minimum": 0},
        before=_TEXT, after=_TEXT, time={"type": "string", "format": "date-time"},
    ),
    "Receipts": _object(receipts=_array(_ref("Receipt")), next={"type": "integer", "minimum": 0}),
    "Drift": _object(asked={"type": ["object", "null"]}, learned={"type": ["object", "null"]}),
    "Problem": _object(error=_TEXT, message=_TEXT, status={"type": "integer"}),
}  # fmt: skip
_PROBLEM: Json = _answer(_ref("Problem"), JSON, "One sentence that says what was wrong.")
