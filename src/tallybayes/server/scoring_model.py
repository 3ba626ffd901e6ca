"""`ScoringModel`: the immutable model that predictions read, with all that they need computed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tallybayes.cached_property import cached_property
from tallybayes.display.tables import plain
from tallybayes.model import Model
from tallybayes.server.describe import describe
from tallybayes.server.labelled_rows import types_of
from tallybayes.server.rows import names_of

__all__ = ["ScoringModel", "class_name"]


@dataclass(frozen=True)
class ScoringModel:
    """A model at one position of its journal.

    Attributes
    ----------
    model : Model
        The model.
    position : int
        The last change that it has.
    hash : str
        The hash of its evidence.
    """

    model: Model
    position: int
    hash: str

    @cached_property
    def names(self) -> frozenset[str | None]:
        """The names that a row may have."""
        return names_of(self.model)

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The type of each column in the journal."""
        return types_of(self.model)

    @cached_property
    def numbers(self) -> dict[str, pa.DataType]:
        """The columns of numbers or booleans, and their types."""
        return {name: kind for name, kind in self.types.items() if kind not in (pa.string(), pa.null())}

    @cached_property
    def class_names(self) -> list[str]:
        """The classes as names of a JSON object."""
        return [class_name(one) for one in self.model.classes]

    @cached_property
    def class_values(self) -> list[Any]:
        """The classes as JSON values."""
        return [plain(one) for one in self.model.classes]

    @cached_property
    def description(self) -> dict[str, Any]:
        """What `GET /models/{name}` says of the model."""
        return describe(self.model) | {"evidence": self.hash, "position": self.position}

    def warm(self) -> None:
        """Compute what the first prediction would have to wait for."""
        if self.model.classes:
            self.model.predict_interval([dict.fromkeys(self.model.schema.inputs[:1])])
        _ = self.names, self.types, self.numbers, self.class_names, self.class_values


def class_name(value: object) -> str:
    """Return a class as the name in a JSON object.

    Examples
    --------
    >>> class_name("yes"), class_name(3), class_name(True)
    ('yes', '3', 'true')
    """
    return str(value).lower() if isinstance(value, bool) else str(plain(value))
