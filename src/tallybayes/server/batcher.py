"""`Batcher`: predictions that are asked for at the same moment, scored together."""

from __future__ import annotations

import asyncio
from typing import Any

from tallybayes.encoding.few_rows import MOST_ROWS
from tallybayes.errors import TallyError
from tallybayes.server.answers import predictions
from tallybayes.server.scoring_model import ScoringModel
from tallybayes.server.served_model import ServedModel

__all__ = ["Batcher"]

Rows = list[dict[str, Any]]
Predictions = list[dict[str, Any]]
_Asked = tuple[Rows, "asyncio.Future[Predictions]"]


class Batcher:
    """Scores the few rows of many requests in one call, since a call costs more than a row.

    Requests that the event loop reads in one turn are scored at its end. No request waits for another: what is there is
    scored. A row's answer does not depend on the rows beside it.
    """

    def __init__(self, served: ServedModel) -> None:
        self._served = served
        self._asked: dict[float, list[_Asked]] = {}

    def ask(self, rows: Rows, level: float) -> asyncio.Future[Predictions]:
        """Return a future of the predictions for a few rows."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Predictions] = loop.create_future()
        if not self._asked:
            loop.call_soon(self._answer)
        self._asked.setdefault(level, []).append((rows, future))
        return future

    def _answer(self) -> None:
        asked, self._asked = self._asked, {}
        for level, requests in asked.items():
            group: list[_Asked] = []
            size = 0
            for request in requests:
                if size + len(request[0]) > MOST_ROWS:
                    _answer_together(self._served.published, group, level)
                    group, size = [], 0
                group.append(request)
                size += len(request[0])
            _answer_together(self._served.published, group, level)


def _answer_together(published: ScoringModel, group: list[_Asked], level: float) -> None:
    try:
        found = iter(predictions(published, [row for rows, _ in group for row in rows], level))
        for rows, future in group:
            answers = [next(found) for _ in rows]
            if not future.done():  # the client may have left
                future.set_result(answers)
    except Exception as error:
        if len(group) > 1:  # each alone, so that one bad row fails one request
            for one in group:
                _answer_together(published, [one], level)
        elif group and not group[0][1].done():
            group[0][1].set_exception(error if isinstance(error, TallyError) else RuntimeError(str(error)))
