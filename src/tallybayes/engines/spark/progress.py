"""A progress bar for Spark's jobs, on terminals only."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tallybayes.display import progress

# Seconds between two polls of Spark.
_EVERY = 0.25


@contextmanager
def watched(frame: Any, name: str, total: int | None) -> Iterator[None]:
    """Show a bar for the jobs run in this context, if standard error is a terminal."""
    session, connect = frame.sparkSession, type(frame).__module__.startswith("pyspark.sql.connect.")
    if not progress.watched() or (not connect and session.conf.get("spark.ui.showConsoleProgress", "false") == "true"):
        yield  # not a terminal, or Spark draws its own bar
        return
    follow = _handle if connect else _poll
    with progress.counting(name, "partitions", total) as tell, follow(session, tell):
        yield


@contextmanager
def _handle(session: Any, tell: Callable[[int], None]) -> Iterator[None]:
    """Follow the jobs of Connect by its progress handler."""

    def handle(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        tell(sum(stage.num_completed_tasks for stage in stages or ()))

    session.registerProgressHandler(handle)
    try:
        yield
    finally:
        session.removeProgressHandler(handle)


@contextmanager
def _poll(session: Any, tell: Callable[[int], None]) -> Iterator[None]:
    """Follow the jobs of the classic API by polling in a thread; a tag tells our jobs from the user's."""
    context, tag, over = session.sparkContext, f"tallybayes-{uuid.uuid4()}", threading.Event()

    def poll() -> None:
        tracker, tagged = context.statusTracker(), context._jsc.sc().statusTracker()
        while not over.wait(_EVERY):  # waits first: a quick job needs no bar
            jobs = [tracker.getJobInfo(job) for job in tagged.getJobIdsForTag(tag)]
            stages = {stage for job in jobs if job is not None for stage in job.stageIds}
            found = [tracker.getStageInfo(stage) for stage in stages]
            tell(sum(stage.numCompletedTasks for stage in found if stage is not None))

    context.addJobTag(tag)
    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        context.removeJobTag(tag)
