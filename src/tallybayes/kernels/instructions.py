"""Which instruction set the kernels use: the best that the processor has, unless TALLYBAYES_ISA names another."""

from __future__ import annotations

import os
import warnings

from . import _native

__all__ = ["choose"]


def choose(name: str | None = None) -> str:
    """Use the instruction set of this name from now on; its name is returned.

    Parameters
    ----------
    name : str, optional
        One of those that the processor has; by default what the environment variable TALLYBAYES_ISA says. Where the
        processor has no such set, a warning says so and the one in use stays: an instruction that it does not have
        would end the process, and the answers are the same, bit for bit, with every set.

    Examples
    --------
    >>> choose("baseline")
    'baseline'
    >>> choose(_native.available()[-1]) == _native.available()[-1]      # the best that there is
    True
    """
    name = os.environ.get("TALLYBAYES_ISA") if name is None else name
    if name in _native.available():
        _native.use(name)
    elif name:
        has = " or ".join(_native.available())
        said = f"wanted an instruction set that this processor has ({has}), got {name!r}"
        warnings.warn(f"TALLYBAYES_ISA: {said}. Using {_native.isa()}.", stacklevel=2)
    return str(_native.isa())
