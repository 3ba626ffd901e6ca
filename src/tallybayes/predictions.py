"""Predictions of a model as columns beside the rows: class, probabilities and their bounds.

`tally predict` writes these columns, and a cluster adds them to its rows lazily.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes import kernels
from tallybayes.engines import Columns
from tallybayes.events.inputs import Floats
from tallybayes.model import Model
from tallybayes.sources import Source, view_of
from tallybayes.storage.portable_models import PortableModels

# The names of each method's columns, each followed by a class in brackets.
_NAMES = {
    "predict_proba": ("P",),
    "predict_log_proba": ("log P",),
    "log_joint": ("log joint",),
    "predict_interval": ("P", "low", "high"),
}


class Answers(Columns):
    """The columns that some methods of a model add to rows.

    Methods are "predict" (a column "predicted") and those with a number for each class, as in "P(yes)"; `options` has
    the keywords of each.

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
                else [pa.field(f"{what}({c})", pa.float64()) for what in _NAMES[method] for c in model.classes]
            )
        ]
        self.schema = pa.schema(self.fields)
        self.reads = list(model.schema.columns)

    def of(self, batch: pa.RecordBatch, first: int = 0) -> pa.RecordBatch:
        """Return the columns for the rows of a batch, before which there are `first` others."""
        rows = Source(batch.schema, batch.num_rows, True, self._name, lambda: [batch], before=first)
        numbers = {method: self._numbers(method, rows) for method in self._methods if method != "predict"}
        columns: list[pa.Array] = []
        for method in self._methods:
            if method == "predict":
                columns.append(self._classes(rows, numbers))
            else:
                parts = numbers[method]
                columns += [view_of(part[:, c]) for part in parts for c in range(part.shape[1])]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _numbers(self, method: str, rows: Source) -> list[Floats]:
        result = getattr(self._model, method)(rows, **self._options.get(method, {}))
        return [result.probability, result.low, result.high] if method == "predict_interval" else [result]

    def _classes(self, rows: Source, numbers: Mapping[str, list[Floats]]) -> pa.Array:
        """Return the class of each row, from numbers already computed unless `predict` has options."""
        options = self._options.get("predict", {})
        if numbers and all(value is None for name, value in options.items() if name != "threads"):
            [first, *_] = numbers.values()
            best = np.empty(len(first[0]), np.int64)
            if not kernels.best_class(first[0], best):  # rows that no class makes possible
                best = np.argmax(first[0], axis=1)
            return self._model.evidence.classes.array.take(view_of(best))
        return pa.array(self._model.predict(rows, **options).tolist(), self.schema.field("predicted").type)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (PortableModels(lambda: (self._model,)), self._methods, dict(self._options), self._name)


def _unpickle(models: PortableModels, *how: Any) -> Answers:
    """Return the same object on a worker."""
    [model] = models.models
    assert model is not None
    return Answers(model, *how)
