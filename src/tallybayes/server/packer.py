"""`Packer`: labelled rows that come at the same moment, made into Arrow tables together."""

from __future__ import annotations

import asyncio

import pyarrow as pa

from tallybayes.errors import TallyError
from tallybayes.server.labelled_rows import plain_table, table_of_rows
from tallybayes.server.rows import Rows
from tallybayes.server.scoring_model import ScoringModel
from tallybayes.server.served_model import ServedModel

__all__ = ["Packer"]

_Given = tuple[Rows, "asyncio.Future[pa.Table]"]


class Packer:
    """Makes one table of the rows of many requests, and gives each its slice: Arrow's cost is by the call.

    Requests that the event loop reads in one turn are taken at its end; none waits for another.
    """

    def __init__(self, served: ServedModel) -> None:
        self._served = served
        self._given: list[_Given] = []

    def ask(self, rows: Rows) -> asyncio.Future[pa.Table]:
        """Return a future of the table of rows that `parse_labelled` has read."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[pa.Table] = loop.create_future()
        if not self._given:
            loop.call_soon(self._answer)
        self._given.append((rows, future))
        return future

    def _answer(self) -> None:
        given, self._given = self._given, []
        published, at = self._served.published, 0
        together = plain_table([row for rows, _ in given for row in rows], published.model.schema, published.types)
        for rows, future in given:
            if future.done():  # the client has left
                pass
            elif together is None:  # each alone, so that one bad row fails one request
                _answer_alone(rows, future, published)
            else:
                future.set_result(together.slice(at, len(rows)))
            at += len(rows)


def _answer_alone(rows: Rows, future: asyncio.Future[pa.Table], published: ScoringModel) -> None:
    try:
        future.set_result(table_of_rows(rows, published.model, published.types))
    except Exception as error:
        future.set_exception(error if isinstance(error, TallyError) else RuntimeError(str(error)))
