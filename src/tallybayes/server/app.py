"""The routes of the server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from tallybayes.encoding.few_rows import MOST_ROWS
from tallybayes.errors import BadOption, TallyError, did_you_mean, wanted
from tallybayes.server.answers import explanation, predictions, table_answer
from tallybayes.server.batcher import Batcher
from tallybayes.server.body import BodyStream, Limits, check_length, read_body, read_parts
from tallybayes.server.direct_body import DirectBody
from tallybayes.server.guard import Guard
from tallybayes.server.labelled_rows import labelled_table, parse_labelled, table_of_rows
from tallybayes.server.metrics import Metrics
from tallybayes.server.openapi import openapi
from tallybayes.server.packer import Packer
from tallybayes.server.parts import Buffer, PartsResponse
from tallybayes.server.problem import Problem, answer, problem, unexpected
from tallybayes.server.request_options import flag, given_level, idempotency_key, level_of, whole
from tallybayes.server.rows import (
    ARROW,
    JSON,
    arrow_rows,
    form_of,
    parse_to_score,
    reading_arrow,
    table_of,
    watch_some,
)
from tallybayes.server.scoring_model import ScoringModel
from tallybayes.server.served_model import ServedModel
from tallybayes.sources.source import Source, of_table
from tallybayes.storage.journal.record import forgetting, learning
from tallybayes.storage.model_file import dump

__all__ = ["build"]

_PAGE = Path(__file__).parent / "page"
_QUICK_BYTES = 1 << 16  # a body of at most this many bytes is scored at once, without a thread
_MOST_EXPLAINED = 1000  # rows
_MOST_RECEIPTS = 10_000
T = TypeVar("T")
_Endpoint = Callable[[Request], Awaitable[Response]]


def build(
    models: Sequence[ServedModel],
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
    limits: Limits | None = None,
) -> ASGIApp:
    """Return the application that serves models.

    Parameters
    ----------
    models : sequence of ServedModel
        The models, whose names differ.
    token : str, optional
        What requests must show.
    origins : sequence of str
        The origins of pages that may call the server from a browser; by default only its own page.
    limits : Limits, optional
        Bounds on requests.
    """
    server = _Server({one.name: one for one in models}, limits or Limits())
    cors = Middleware(
        CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=["*"], max_age=600
    )
    app = Starlette(
        routes=server.routes(),
        middleware=[cors] if origins else [],
        exception_handlers={
            TallyError: lambda _, error: problem(error),
            HTTPException: _http,
            ClientDisconnect: lambda *_: Response(status_code=400),
            Exception: unexpected,
        },
        lifespan=server.lifespan,
    )
    return Guard(app, server.metrics, token)


class _Server:
    """The endpoints, which share models, limits and counts."""

    def __init__(self, models: Mapping[str, ServedModel], limits: Limits) -> None:
        self._models, self._limits = models, limits
        self._batchers = {name: Batcher(one) for name, one in models.items()}
        self._packers = {name: Packer(one) for name, one in models.items()}
        self.metrics = Metrics()

    def routes(self) -> list[Route | Mount]:
        """Return the routes, the most used first."""
        of_model: dict[str, tuple[str, _Endpoint]] = {
            "/predict": ("POST", self.predict),
            "/learn": ("POST", self.learn),
            "/forget": ("POST", self.forget),
            "/explain": ("POST", self.explain),
            "/calibrate": ("POST", self.calibrate),
            "/drift": ("GET", self.drift),
            "/file": ("GET", self.file),
            "/journal": ("GET", self.journal),
            "": ("GET", self.model),
        }
        of_all: dict[str, _Endpoint] = {
            "/models": self.list_models,
            "/healthz": self.health,
            "/metrics": self.show_metrics,
            "/openapi.json": self.describe,
            "/": self.page,
        }
        return [
            *(_route("/models/{name}" + path, method, to) for path, (method, to) in of_model.items()),
            *(_route(path, "GET", to) for path, to in of_all.items()),
            Mount("/page", StaticFiles(directory=_PAGE)),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Start and stop the models' threads."""
        for one in self._models.values():
            one.start(asyncio.get_running_loop())
        yield
        for one in self._models.values():
            await run_in_threadpool(one.stop)

    def _served(self, request: Request) -> ServedModel:
        name = request.path_params["name"]
        found = self._models.get(name)
        if found is None:
            raise Problem(404, wanted("model", "one that is served", repr(name), did_you_mean(name, self._models)))
        return found

    def _served_to_learn(self, request: Request) -> ServedModel:
        served = self._served(request)
        served.check_learn()
        return served

    async def predict(self, request: Request) -> Response:
        """Predict the class of each row."""
        served = self._served(request)
        form = form_of(request.headers.get("content-type", JSON))
        level, reasons, only = level_of(request), flag(request, "explain"), flag(request, "only")
        raw = flag(request, "raw")  # checked for JSON, too, as the description says
        counts = flag(request, "count", default=True)  # a person who tries values does not want drift to count them
        if form != JSON:
            return await self._predict_table(request, served, form, only=only, raw=raw, counts=counts)
        body = await read_body(request, self._limits)
        published = served.published
        rows = parse_to_score(body, published.names, published.numbers, published.model)
        if len(rows) <= MOST_ROWS and len(body) <= _QUICK_BYTES:
            found = await self._batchers[served.name].ask(rows, level)
        else:
            found = await run_in_threadpool(predictions, published, rows, level)
        self.metrics.rows[served.name, "predict"] += len(rows)
        if counts:
            served.recent.add(published.model, rows, [list(one["probabilities"].values()) for one in found])
        if reasons:
            said = await run_in_threadpool(_explain_all, published, rows)
            found = [one | {"reasons": because["parts"]} for one, because in zip(found, said, strict=True)]
        return answer(found)

    async def _predict_table(
        self, request: Request, served: ServedModel, form: str, *, only: bool, raw: bool, counts: bool
    ) -> Response:
        published, recent, level = served.published, served.recent, given_level(request)

        def answered(rows: Source) -> tuple[int, list[Buffer]]:
            seen = watch_some(rows, partial(recent.add_table, published.model)) if counts else rows
            return table_answer(published, seen, form, only=only, level=level, raw=raw)

        def csv(body: bytes) -> tuple[int, list[Buffer]]:
            return answered(of_table(table_of(body, form, published.model), "the request"))

        def arrow(stream: object) -> tuple[int, list[Buffer]]:
            with reading_arrow():
                return answered(arrow_rows(stream, published.model))

        if form == ARROW:  # rows are scored while others still come
            n, parts = await _while_it_comes(request, self._limits, arrow)
        else:
            n, parts = await run_in_threadpool(csv, await read_body(request, self._limits))
        self.metrics.rows[served.name, "predict"] += n
        return PartsResponse(parts, form, recent.count_tables)

    async def explain(self, request: Request) -> Response:
        """Explain the prediction of each row."""
        served = self._served(request)
        form = form_of(request.headers.get("content-type", JSON))
        body = await read_body(request, self._limits)
        published = served.published
        if form == JSON:
            rows = parse_to_score(body, published.names, published.numbers, published.model)
        else:
            rows = (await run_in_threadpool(table_of, body, form, published.model)).to_pylist()
        if len(rows) > _MOST_EXPLAINED:
            raise BadOption(wanted("explain", f"at most {_MOST_EXPLAINED:,} rows", f"{len(rows):,}"))
        return answer(await run_in_threadpool(_explain_all, published, rows))

    async def learn(self, request: Request) -> Response:
        """Learn labelled rows."""
        return await self._change(request, "learn")

    async def forget(self, request: Request) -> Response:
        """Forget rows that were learned."""
        return await self._change(request, "forget")

    async def _change(self, request: Request, operation: str) -> Response:
        served = self._served_to_learn(request)
        key = idempotency_key(request)
        form = form_of(request.headers.get("content-type", JSON))
        body = await read_body(request, self._limits)
        published = served.published
        if form != JSON:
            rows = await run_in_threadpool(labelled_table, body, form, published.model, published.types)
        elif len(body) > _QUICK_BYTES:
            rows = await run_in_threadpool(_large_table, body, published)
        else:
            rows = await self._packers[served.name].ask(parse_labelled(body, published.numbers, published.model))
        receipt = await served.change(learning(rows, key) if operation == "learn" else forgetting(rows, key))
        self.metrics.rows[served.name, operation] += receipt.rows
        return answer(receipt.to_dict())

    async def calibrate(self, request: Request) -> Response:
        """Refit the weights in the background."""
        served = self._served_to_learn(request)
        if served.calibrating:
            raise Problem(409, wanted("calibrate", "one calibration at a time", "another that runs"))
        served.calibrating = True
        asyncio.get_running_loop().run_in_executor(None, served.calibrate)
        return answer({"state": "running"}, 202)

    async def drift(self, request: Request) -> Response:
        """Return what has changed since the model file."""
        found = await run_in_threadpool(self._served(request).drift)
        return answer({name: None if one is None else one.to_dict() for name, one in found.items()})

    async def file(self, request: Request) -> Response:
        """Return the model as a file."""
        served = self._served(request)
        published = served.published
        content = await run_in_threadpool(dump, published.model)
        name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in served.name)
        headers = {"Content-Disposition": f'attachment; filename="{name}.tally"', "ETag": f'"{published.hash}"'}
        return Response(content, headers=headers, media_type="application/octet-stream")

    async def journal(self, request: Request) -> Response:
        """Return receipts since a position."""
        served = self._served(request)
        after = whole(request, "from", 0, 0, (1 << 63) - 1)
        limit = whole(request, "limit", 1000, 1, _MOST_RECEIPTS)
        found = await run_in_threadpool(served.receipts, after, limit)
        return answer({"receipts": [one.to_dict() for one in found], "next": found[-1].position if found else after})

    async def model(self, request: Request) -> Response:
        """Describe one model."""
        served = self._served(request)
        return answer(await run_in_threadpool(_description, served))

    async def list_models(self, request: Request) -> Response:
        """List the models."""
        return answer([_summary(one) for one in self._models.values()])

    async def health(self, request: Request) -> Response:
        """Say that the server lives."""
        return answer({"status": "ok"})

    async def show_metrics(self, request: Request) -> Response:
        """Return counts for Prometheus."""
        return Response(self.metrics.text(self._models.values()), media_type="text/plain; version=0.0.4")

    async def describe(self, request: Request) -> Response:
        """Return the description of this interface."""
        return answer(await run_in_threadpool(openapi, list(self._models.values())))

    async def page(self, request: Request) -> Response:
        """Return the page."""
        return FileResponse(_PAGE / "index.html", media_type="text/html")


def _route(path: str, method: str, endpoint: _Endpoint) -> Route:
    async def named(request: Request) -> Response:
        request.scope["route_name"] = path
        return await endpoint(request)

    return Route(path, named, methods=[method])


async def _while_it_comes(request: Request, limits: Limits, work: Callable[[object], T]) -> T:
    """Return the result of work in a thread, which is given the body as a file that may still grow."""
    length, parts = check_length(request, limits), read_parts(request, limits)
    first = await anext(parts)
    if DirectBody.possible(request, length):
        direct = DirectBody(request.scope["protocol"], first, length, limits)

        def read_directly() -> T:
            with contextlib.closing(direct):
                return work(direct)

        return await run_in_threadpool(read_directly)
    stream = BodyStream()
    working = asyncio.ensure_future(run_in_threadpool(work, stream))
    try:
        stream.feed(first)
        async for part in parts:
            stream.feed(part)
    except BaseException:
        working.add_done_callback(lambda done: done.cancelled() or done.exception())  # what is torn is no matter
        raise
    finally:
        stream.feed(None)
    return await working


def _summary(served: ServedModel) -> dict[str, Any]:
    published = served.published
    model = published.model
    return {
        "name": served.name,
        "label": model.schema.label,
        "classes": published.class_values,
        "columns": len(model.schema.inputs),
        "rows": float(model.evidence.rows.sum().to_float()),
        "evidence": published.hash,
        "position": published.position,
        "learn": served.learn,
        "stale": model.calibration is not None and model.calibration.stale,
    }


def _description(served: ServedModel) -> dict[str, Any]:
    said = served.published.description
    calibration = said["calibration"]
    state = {"running": served.calibrating, "error": served.calibration_error}
    return {
        "name": served.name,
        "learn": served.learn,
        "stale": calibration is not None and calibration["stale"],
        **said,
        "calibrate": state,
    }


def _explain_all(published: ScoringModel, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [explanation(published, row) for row in rows]


def _large_table(body: bytes, published: ScoringModel) -> pa.Table:
    return table_of_rows(parse_labelled(body, published.numbers, published.model), published.model, published.types)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    wants = {404: "a path of this server", 405: "another method"}.get(error.status_code, "another request")
    got = f"{request.method} {request.url.path}"
    response = problem(Problem(error.status_code, wanted("the request", wants, got, "See /openapi.json")))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
