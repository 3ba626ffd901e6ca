"""What a model says of rows, as columns beside them: the class, the probabilities, their bounds.

So `tally predict` writes them, and so rows of a cluster get them where they are, when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.engines import Columns
from tallybayes.events.inputs import Floats
from tallybayes.model import Model
from tallybayes.sources import Source
from tallybayes.storage.transit import Models

__all__ = ["Answers"]

# What the columns of each method are called, a class behind each.
_CALLED = {
    "predict_proba": ("P",),
    "predict_log_proba": ("log P",),
    "log_joint": ("log joint",),
    "predict_interval": ("P", "low", "high"),
}


class Answers(Columns):
    """The columns that some methods of a model add to rows.

    Parameters
    ----------
    model : Model
        Who answers.
    methods : tuple of str
        "predict" (a column "predicted") and those that give numbers for each class, as in "P(yes)".
    options : mapping of str to mapping
        The keywords of each method.
    name : str
        What messages call the rows.

    Examples
    --------
    >>> import tallybayes as tb
    >>> model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    >>> answers = Answers(model, ("predict", "predict_proba"))
    >>> answers.of(pa.record_batch({"x": ["p"]})).column("predicted").to_pylist()
    ['no']
    """

    def __init__(
        self,
        model: Model,
        methods: tuple[str, ...],
        options: Mapping[str, Mapping[str, Any]] | None = None,
        name: str = "the rows",
    ) -> None:
        self._model, self._methods, self._options, self._name = model, methods, options or {}, name
        kind = model.evidence.classes.array.type
        self.fields = [
            field
            for method in methods
            for field in (
                [pa.field("predicted", kind)]
                if method == "predict"
                else [pa.field(f"{what}({c})", pa.float64()) for what in _CALLED[method] for c in model.classes]
            )
        ]
        self.schema = pa.schema(self.fields)
        self.reads = list(model.schema.columns)

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The answers to the rows of a batch."""
        rows = Source(batch.schema, batch.num_rows, True, self._name, lambda: [batch])
        told = {method: self._told(method, rows) for method in self._methods if method != "predict"}
        columns: list[pa.Array] = []
        for method in self._methods:
            if method == "predict":
                columns.append(self._classes(rows, told))
            else:
                parts = told[method]
                columns += [pa.array(np.ascontiguousarray(part[:, c])) for part in parts for c in range(part.shape[1])]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _told(self, method: str, rows: Source) -> list[Floats]:
        told = getattr(self._model, method)(rows, **self._options.get(method, {}))
        return [told.probability, told.low, told.high] if method == "predict_interval" else [told]

    def _classes(self, rows: Source, told: Mapping[str, list[Floats]]) -> pa.Array:
        """The class of each row: of what is known already the most probable, where nothing else was asked for."""
        options = self._options.get("predict", {})
        if told and all(value is None for name, value in options.items() if name != "threads"):
            [first, *_] = told.values()
            return self._model.evidence.classes.array.take(pa.array(np.argmax(first[0], axis=1)))
        return pa.array(self._model.predict(rows, **options).tolist(), self.schema.field("predicted").type)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (Models((self._model,)), self._methods, dict(self._options), self._name)


def _arrived(models: Models, *how: Any) -> Answers:
    """The same, where the rows are."""
    [model] = models.models
    assert model is not None
    return Answers(model, *how)
