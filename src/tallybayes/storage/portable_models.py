"""Models that can be pickled for the workers of a cluster: model files with their tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tallybayes.cached_property import cached_property
from tallybayes.inference.estimate import Belief
from tallybayes.kernels.text import Tokenizer
from tallybayes.model import Model
from tallybayes.storage import model_file

__all__ = ["PortableModels"]


@dataclass(frozen=True)
class PortableModels:
    """Models that can be pickled.

    Attributes
    ----------
    make : callable
        Returns the models, each a Model or None; called when they are needed.
    given : sequence of Belief or None
        Their beliefs, where they were estimated all at once, without calibration; not pickled.
    """

    make: Callable[[], tuple[Model | None, ...]]
    given: tuple[Belief, ...] | None = None

    @cached_property
    def models(self) -> tuple[Model | None, ...]:
        """The models."""
        return self.make()

    @property
    def beliefs(self) -> tuple[Belief | None, ...]:
        """The belief of each model, with the weights that its temperature goes with."""
        return self.given or tuple(None if model is None else model.belief for model in self.models)

    @cached_property
    def calibrated(self) -> bool:
        """Whether any model's calibrated scores differ from its plain ones."""
        return self.given is None and any(model is not None and model._has_calibrated_scores for model in self.models)

    def __reduce__(self) -> tuple[Any, ...]:
        functions = (model.schema.tokenizers() for model in self.models if model is not None)
        contents = tuple(None if model is None else model_file.dump(model) for model in self.models)
        return _unpickle, (contents, tuple(next(functions, {}).items()))


@lru_cache(4)
def _unpickle(contents: tuple[bytes | None, ...], tokenizers: tuple[tuple[str, Tokenizer], ...]) -> PortableModels:
    """Return the models, cached: a worker has many partitions, and estimating costs more than scoring one."""
    functions = dict(tokenizers)
    parsed = (None if one is None else model_file.parse_bytes(one) for one in contents)
    models = tuple(model_file.with_tokenizer(one, functions) if one and functions else one for one in parsed)
    return PortableModels(lambda: models)
