"""`drift`: compare new rows with those that a model has learned; `compare` does it with counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy  # which imports scipy.stats when it is first used

from tallybayes import engines, sources
from tallybayes.drift.columns import LEAST_ROWS, ColumnDrift, compare_columns
from tallybayes.drift.prior_shift import MOST_NUMBERS, PriorShift, estimate_prior
from tallybayes.drift.result import ClassDrift, Drift
from tallybayes.drift.two_samples import compare_counts
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.evidence.carried import Carried
from tallybayes.evidence.count import Count
from tallybayes.evidence.evidence import Evidence, row_weights
from tallybayes.evidence.partial import PartialEvidence
from tallybayes.inference.scorer import Scorer
from tallybayes.methods.rows import types_of
from tallybayes.model import Model
from tallybayes.schema.schema import Schema

__all__ = ["compare", "count_new", "drift", "schema_to_count"]


def drift(model: Model, rows: Any, label: Any = None, *, weights: Any = None, threads: int | None = None) -> Drift:
    """Compare new rows with those that a model has learned.

    Parameters
    ----------
    model : Model
        The model.
    rows : anything `fit` takes
        The new rows; their classes are compared if they have any.
    label, weights, threads
        As in `Model.drift`.
    """
    found, labelled = count_new(model, rows, label, weights, threads)
    if not float(found.evidence.rows.sum().to_float()):
        raise BadData(wanted("drift", "new rows to compare", "none"))
    return compare(model.evidence, found.evidence, labelled=labelled, prior=_prior(model, found, threads))


def compare(fitted: Evidence, new: Evidence, *, labelled: bool, prior: PriorShift | None = None) -> Drift:
    """Compare two evidences of one schema: exact counts in, so neither order nor engine matters.

    Parameters
    ----------
    fitted, new : Evidence
        The counts of both sides. Columns made of others are left out.
    labelled : bool
        Whether the classes of the new rows are their own; otherwise all are counted as one class.
    prior : PriorShift, optional
        The class shares estimated from the probabilities of the new rows.
    """
    names = list(fitted.schema.columns)
    left, right = _own(fitted, names), _own(new, names)
    columns = _corrected(compare_columns(left, right))
    n, m = (float(one.rows.sum().to_float()) for one in (left, right))
    return Drift(fitted.schema.label, n, m, columns, _classes(left, right) if labelled else None, prior)


def _own(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """Return the evidence without products of columns."""
    return evidence.select(names) if evidence.schema.products else evidence


def _corrected(columns: Sequence[ColumnDrift]) -> tuple[ColumnDrift, ...]:
    """Return the columns with p-values corrected for their number, the surest change first."""
    p = np.array([one.p for one in columns])
    adjusted, tested = p.copy(), ~np.isnan(p)
    if tested.any():
        adjusted[tested] = scipy.stats.false_discovery_control(p[tested], method="bh")
    found = (replace(one, adjusted=float(value)) for one, value in zip(columns, adjusted, strict=True))
    return tuple(sorted(found, key=lambda one: (np.isnan(one.p), one.p, one.chance - one.distance)))


def _classes(fitted: Evidence, new: Evidence) -> ClassDrift | None:
    both = fitted + new
    weights = [np.zeros(len(both.classes)) for _ in range(2)]
    for out, one in zip(weights, (fitted, new), strict=True):
        out[both.classes.find(one.classes.array)] = one.rows.to_float()
    shares = [tuple((one / one.sum()).tolist()) for one in weights]
    few = min(one.sum() for one in weights) < LEAST_ROWS
    found = (np.nan, np.nan, np.nan) if few else compare_counts(*weights)
    return ClassDrift(both.classes.values, shares[0], shares[1], *found)


def _prior(model: Model, found: PartialEvidence, threads: int | None) -> PriorShift | None:
    """Estimate the prior from the probabilities of a bottom-k sample of the rows."""
    batch = None if found.chosen is None else found.chosen.rows()
    if batch is None or batch.num_rows < LEAST_ROWS or len(model.classes) < 2:
        return None
    batch = batch.slice(0, max(LEAST_ROWS, MOST_NUMBERS // len(model.classes)))
    belief = model._calibrated_belief
    skipping = replace(belief.schema, missing=found.evidence.schema.missing)
    scorer = Scorer(replace(belief, schema=skipping), normalised=True)
    probabilities = scorer.many([batch], engines.default_threads(threads), partial=True)
    weights = row_weights(RowBatch(batch), found.evidence.schema.weight)
    return estimate_prior(model, probabilities, weights)


def count_new(
    model: Model, rows: Any, label: Any = None, weights: Any = None, threads: int | None = None
) -> tuple[PartialEvidence, bool]:
    """Count rows as the model's were, and sample them; return also whether they have classes of their own.

    Rows without classes count as one class. A column that they lack is missing in every row.
    """
    own = schema_to_count(model.schema)
    rows = open_rows.one_row(rows, own)

    def work(types: open_rows.Types | None) -> tuple[PartialEvidence, bool]:
        source, counted, labelled = _open(model, own, rows, label, weights, types)
        none = [pa.nulls(0, field.type) for field in source.schema]
        have = set(RowBatch(pa.RecordBatch.from_arrays(none, schema=source.schema)).names)
        absent = tuple(name for name in own.columns if name not in have) if open_rows.may_lack(source.schema) else ()
        task = CountNew(counted, sampled=True, absent=absent, labelled=labelled)
        return source.fold(task, threads=engines.default_threads(threads)), labelled

    found, labelled = open_rows.reading(work)
    return replace(found, evidence=replace(found.evidence, schema=own)), labelled


def schema_to_count(schema: Schema) -> Schema:
    """Return the schema without products of columns, which counts a missing value even where a model refuses it."""
    own = schema.select(list(schema.columns)) if schema.products else schema
    return replace(own, missing="skip" if schema.missing == "error" else schema.missing)


def _open(
    model: Model, schema: Schema, rows: Any, label: Any, weights: Any, types: open_rows.Types | None
) -> tuple[engines.Partitioned, Schema, bool]:
    """Return the rows, the schema with their names of label and weight, and whether they have classes."""
    types = types_of(model, rows, types)
    reading = sources.ReadOptions(schema.missing_values)
    opened = engines.read(rows, reading, types=types, documents=schema.texts)
    names = opened.schema.names
    again = rows if sources.is_path(rows) or open_rows.are_named_cells(rows) else opened  # a stream is read once
    if label is None and schema.label not in names:
        return open_rows.to_score(again, schema, types), replace(schema, weight=None), False
    weights = schema.weight if weights is None and schema.weight in names else weights
    source, counted = open_rows.as_in(schema, again, schema.label if label is None else label, weights, types)
    return source, counted, True


@dataclass(frozen=True)
class CountNew(Count):
    """A pass that counts rows which may lack classes or columns.

    Attributes
    ----------
    absent : tuple of str
        The columns that the rows lack.
    labelled : bool
        Whether they have classes; otherwise all are one class.
    """

    absent: tuple[str, ...] = ()
    labelled: bool = True

    @property
    def columns(self) -> Sequence[str]:  # type: ignore[override]
        """The columns that it reads."""
        without = {*self.absent, *(() if self.labelled else (self.schema.label,))}
        return [name for name in super().columns if name not in without]

    def _count(self, batch: pa.RecordBatch, first: int, carried: Carried | None = None) -> PartialEvidence:
        for name in self.absent:
            batch = batch.append_column(name, pa.nulls(batch.num_rows))
        if not self.labelled:
            batch = batch.append_column(self.schema.label, pa.repeat(True, batch.num_rows))
        return super()._count(batch, first, carried)
