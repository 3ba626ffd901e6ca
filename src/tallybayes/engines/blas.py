"""A bound on the threads of BLAS, which several fits may need at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_users = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread for a while: over small matrices its threads wait for each other.

    The bound is the process's. It is set by the first that enters and lifted by the last that leaves; if each lifted
    its own, one that entered later would bring the first one's bound back for ever.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    global _users, _limits
    with _lock:
        _users += 1
        if _users == 1:
            from threadpoolctl import threadpool_limits  # only calibrations of some size need it

            _limits = threadpool_limits(1, "blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limits.restore_original_limits()
