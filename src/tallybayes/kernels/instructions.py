"""Which instruction set the kernels use: the best that the processor has, unless TALLYBAYES_ISA names another."""

from __future__ import annotations

import os
import warnings

from . import _native


def choose() -> None:
    """Use the instruction set that the environment variable TALLYBAYES_ISA names, if there is one.

    One that the processor has not is passed over with a warning: to use it would end the process, and the answers are
    the same with every other, bit for bit.
    """
    name, available = os.environ.get("TALLYBAYES_ISA"), _native.available()
    if name in available:
        _native.use(name)
    elif name:
        said = f"wanted an instruction set that this processor has ({' or '.join(available)}), got {name!r}"
        warnings.warn(f"TALLYBAYES_ISA: {said}. Using {_native.isa()}.", stacklevel=2)
