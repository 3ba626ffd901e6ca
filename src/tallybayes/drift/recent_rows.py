"""`RecentRows`: counts of the rows that a model was asked about lately, for a server that keeps no rows.

Everything is bounded. Rows wait in memory until there are `_TOGETHER` of them, and are then counted together. Counts
are those of one window and the one before it, so that old requests fall out. EM needs probabilities rather than counts:
the latest are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from tallybayes.drift.columns import LEAST_ROWS
from tallybayes.drift.drift import compare, count_new, schema_to_count
from tallybayes.drift.prior_shift import PriorShift, estimate_prior
from tallybayes.drift.result import Drift
from tallybayes.errors import TallyError
from tallybayes.events.inputs import Floats
from tallybayes.evidence.evidence import Evidence
from tallybayes.model import Model

__all__ = ["RecentRows", "thin"]

T = TypeVar("T", pa.Table, pa.RecordBatch)
_TOGETHER = 256  # rows counted together: one by one takes longer than predicting, and more would delay a request
_REST = 0.25  # seconds from one count to the next: under heavy load, the rows in between are left out
_ATTEMPTS = 32  # counts of one such lot, if its rows do not fit into one table; what is left then is left out
_MOST_OF_ONE = 2048  # rows of one request that are counted, evenly spaced: a million would slow its answer
_MOST_TABLES = 8  # that wait to be counted, each of as many rows; requests at a time are seldom more
_WINDOW_ROWS, _WINDOW_VALUES = 100_000, 500_000  # rows and distinct values after which a new window begins
_MOST_PROBABILITIES = 500_000  # rows × classes kept for EM: 4 MB


def thin(rows: T) -> T:
    """Return as many rows as are counted of one request, evenly spaced.

    Examples
    --------
    >>> thin(pa.table({"x": range(5000)})).column("x").to_pylist()[:3]
    [0, 3, 6]
    """
    return rows.take(pa.array(np.arange(rows.num_rows)[:: 1 + rows.num_rows // _MOST_OF_ONE]))


class RecentRows:
    """Counts of recent rows without classes, in bounded memory.

    Parameters
    ----------
    model : Model
        The model that is asked; later ones of the same columns are given to `add` and `drift`.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"] * 50, "y": ["no", "yes"] * 50}, "y")
    >>> asked = RecentRows(model)
    >>> for _ in range(60):
    ...     asked.add(model, [{"x": "p"}], model.predict_proba([{"x": "p"}]).tolist())
    >>> [(one.column, one.distance) for one in asked.drift(model).drifted()]
    [('x', 0.5)]
    """

    def __init__(self, model: Model) -> None:
        self._empty = Evidence.empty(schema_to_count(model.schema))
        self._before, self._now = self._empty, self._empty
        self._waiting: list[Mapping[str, Any]] = []
        self._answers: list[Sequence[float]] = []  # the probabilities of the rows that wait
        self._tables: deque[tuple[Model, pa.Table]] = deque(maxlen=_MOST_TABLES)
        self._probabilities = np.zeros((0, len(model.classes)))
        self._classes: tuple[Any, ...] = ()
        self._next = self._kept = 0
        self._counted = -_REST  # when rows were last counted, in seconds
        self._lock = Lock()

    def add(self, model: Model, rows: Sequence[Mapping[str, Any]], probabilities: Sequence[Sequence[float]]) -> None:
        """Add plain rows, and the probabilities of the classes (n, C) with which a model answered them."""
        step = 1 + len(rows) // _MOST_OF_ONE
        with self._lock:
            if len(self._waiting) >= _TOGETHER:
                if monotonic() - self._counted < _REST:
                    return
                self._count_waiting(model)
            if self._answers and len(self._answers[0]) != len(model.classes):
                self._count_waiting(model)
            self._answers += [one for one in probabilities[::step] if len(one) == len(model.classes)]
            self._waiting += rows[::step]

    def add_table(self, model: Model, rows: pa.Table) -> None:
        """Add the rows of a table; `count_tables` or `drift` counts them, and until then the latest are kept."""
        some = thin(rows.select([name for name in rows.schema.names if name != model.schema.label]))
        if some.num_rows:
            self._tables.append((model, some))

    def count_tables(self) -> None:
        """Count the tables that were added."""
        with self._lock:
            self._count_tables()

    def _count_tables(self) -> None:
        while self._tables:
            model, some = self._tables.popleft()
            with suppress(TallyError):  # a value that cannot be counted, such as an infinite one
                probabilities = model.predict_proba(some, threads=1)
                self._count_waiting(model)
                self._keep(model.classes, probabilities)
                self._count(model, some)

    def drift(self, model: Model, fitted: Evidence | None = None) -> Drift:
        """Compare the recent rows with those of a model, or with other evidence of the same columns."""
        with self._lock:
            self._count_tables()
            self._count_waiting(model)
            new, prior = self._before + self._now, self._prior(model)
        return compare(model.evidence if fitted is None else fitted, new, labelled=False, prior=prior)

    def _keep(self, classes: tuple[Any, ...], probabilities: Floats) -> None:
        """Keep the latest probabilities; those of other classes are dropped."""
        if probabilities.shape[1] != len(classes):
            return  # answers of a model that had other classes
        if classes != self._classes:
            room = max(LEAST_ROWS, _MOST_PROBABILITIES // max(1, len(classes)))
            self._classes, self._probabilities = classes, np.zeros((room, len(classes)))
            self._next = self._kept = 0
        room = len(self._probabilities)
        latest = probabilities[-room:]
        self._probabilities[(self._next + np.arange(len(latest))) % room] = latest
        self._next = (self._next + len(latest)) % room
        self._kept = min(room, self._kept + len(latest))

    def _prior(self, model: Model) -> PriorShift | None:
        if self._kept < LEAST_ROWS or self._classes != model.classes or len(model.classes) < 2:
            return None
        return estimate_prior(model, self._probabilities[: self._kept])

    def _count_waiting(self, model: Model) -> None:
        waiting, self._waiting, answers, self._answers = self._waiting, [], self._answers, []
        self._counted = monotonic()
        if answers:
            self._keep(model.classes, np.array(answers))
        if not waiting:
            return
        names = model.schema.inputs
        lots = [[{name: row[name] for name in names if name in row} or {names[0]: None} for row in waiting]]
        for _ in range(_ATTEMPTS):
            if not lots:
                break
            rows = lots.pop()
            try:
                self._count(model, rows)
            except TallyError:  # rows of several requests that do not fit into one table, such as 3 beside "3"
                half = len(rows) // 2
                lots += [rows[:half], rows[half:]] if half else []

    def _count(self, model: Model, rows: Any) -> None:
        self._now = self._now + count_new(model, rows, threads=1)[0].evidence
        values = sum(int(one.sizes.sum()) for one in self._now.statistics)
        if self._now.rows.sum().to_float() >= _WINDOW_ROWS or values >= _WINDOW_VALUES:
            self._before, self._now = self._now, self._empty
