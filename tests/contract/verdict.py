"""Whether a call keeps the contract: an answer without NaN, or a TallyError, within a time limit."""

from __future__ import annotations

import dataclasses
import signal
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any

import numpy as np

from tallybayes.errors import TallyError

from .calls import Call

SECONDS = 60  # a call on six rows takes milliseconds; the margin is for a busy machine


class TooLong(BaseException):
    """A call that took longer than SECONDS."""


class Outcome(Enum):
    """How a call that keeps the contract ends."""

    ANSWERED = 1
    REFUSED = 2


def judge(call: Call) -> Outcome | str:
    """Run a call and return how it ended, or what is wrong with that."""
    try:
        with warnings.catch_warnings(), time_limit(SECONDS):
            warnings.simplefilter("ignore")
            answer = call.run()
    except (TallyError, *call.allowed):
        return Outcome.REFUSED
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return f"{call.text}\n{last_frames(error)}"
    if call.numbers and has_nan(answer):
        return f"{call.text}\nNaN in the answer: {answer!r}"
    return Outcome.ANSWERED


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TooLong in the main thread after some seconds."""

    def stop(*_: object) -> None:
        raise TooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def last_frames(error: BaseException) -> str:
    """Return the last lines of a stack trace, and the error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename[0] == "/"][-5:]
    places = "\n".join(f"  {frame.filename}:{frame.lineno} {frame.line}" for frame in frames)
    return f"{places}\n  {type(error).__name__}: {str(error)[:300]}"


def has_nan(answer: Any) -> bool:
    """Return whether any number of an answer is NaN."""
    if isinstance(answer, float | np.floating):
        return bool(np.isnan(answer))
    if isinstance(answer, np.ndarray):
        return answer.dtype.kind == "f" and bool(np.isnan(answer).any())
    if isinstance(answer, Mapping):
        return any(map(has_nan, answer.values()))
    if isinstance(answer, list | tuple):
        return any(map(has_nan, answer))
    if dataclasses.is_dataclass(answer) and type(answer).__name__ in ("Intervals", "Contributions", "Shapley"):
        return any(has_nan(getattr(answer, field.name)) for field in dataclasses.fields(answer))
    return False
