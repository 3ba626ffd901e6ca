"""A bar for Spark's jobs: how many partitions are done, asked of Spark now and then while somebody watches."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tallybayes.display import progress

__all__ = ["watched"]

# So often Spark is asked, in seconds.
_EVERY = 0.25


@contextmanager
def watched(frame: Any, name: str, total: int | None) -> Iterator[None]:
    """Show a bar for the jobs that are run meanwhile, if standard error is a terminal.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        One of the session's.
    name : str
        What is being done.
    total : int or None
        How many partitions there are, where that is known.
    """
    session, connect = frame.sparkSession, type(frame).__module__.startswith("pyspark.sql.connect.")
    if not progress.watched() or (not connect and session.conf.get("spark.ui.showConsoleProgress", "false") == "true"):
        yield  # nobody looks, or Spark draws a bar of its own
        return
    told = _told if connect else _asked
    with progress.counting(name, "partitions", total) as tell, told(session, tell):
        yield


@contextmanager
def _told(session: Any, tell: Callable[[int], None]) -> Iterator[None]:
    """Connect tells what is done as answers come."""

    def handle(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        tell(sum(stage.num_completed_tasks for stage in stages or ()))

    session.registerProgressHandler(handle)
    try:
        yield
    finally:
        session.removeProgressHandler(handle)


@contextmanager
def _asked(session: Any, tell: Callable[[int], None]) -> Iterator[None]:
    """The classic API is asked by another thread; a tag tells our jobs from the user's."""
    context, tag, over = session.sparkContext, f"tallybayes-{uuid.uuid4()}", threading.Event()

    def ask() -> None:
        tracker, tagged = context.statusTracker(), context._jsc.sc().statusTracker()
        while not over.wait(_EVERY):  # a job that is done at once is not worth a word
            jobs = [tracker.getJobInfo(job) for job in tagged.getJobIdsForTag(tag)]
            stages = {stage for job in jobs if job is not None for stage in job.stageIds}
            found = [tracker.getStageInfo(stage) for stage in stages]
            tell(sum(stage.numCompletedTasks for stage in found if stage is not None))

    context.addJobTag(tag)
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join()
        context.removeJobTag(tag)
