"""`profile`: report on rows without a label: what each column holds, what is missing, repeated or dependent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tallybayes import engines, sources
from tallybayes.arguments import text, whole_number
from tallybayes.display.tables import Column, Grid, Result, Sheet, number
from tallybayes.encoding import open_rows
from tallybayes.fitting import FitOptions, infer_rows
from tallybayes.inference.choices import Choices
from tallybayes.reporting.columns import Remark, facts_of, remarks_on_columns
from tallybayes.reporting.data import BeforeModelling, Origin
from tallybayes.reporting.distributions import ClassedRows, distributions
from tallybayes.reporting.duplicates import duplicates
from tallybayes.reporting.first_pass import FirstPass, look_at
from tallybayes.reporting.missing import missing_pattern
from tallybayes.reporting.origin import origin_of
from tallybayes.schema.schema import Schema
from tallybayes.structure.dependence import LEVEL, Dependence, of_schema
from tallybayes.structure.information import Pair

# Columns that are listed, and columns that are tested in pairs: more would not be read.
_LISTED, _PAIRED = 60, 30
_STRONGEST = 10  # pairs in the table


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Result):
    """What rows look like, without a class.

    Attributes
    ----------
    rows, columns : int
        The number of rows, and of columns.
    before : BeforeModelling
        Facts about each column, its distribution, what is missing together, and repeated rows.
    remarks : tuple of Remark
        Columns that are constant, mostly missing, or look like ids or codes.
    dependence : Dependence or None
        How far each pair of columns depends on each other; None if fewer than two columns are not text.
    origin : Origin
        The data needed to reproduce the page.
    left_out : tuple of str
        Sentences about content that was omitted to keep the page readable.
    """

    rows: int
    columns: int
    before: BeforeModelling
    remarks: tuple[Remark, ...]
    dependence: Dependence | None
    origin: Origin
    left_out: tuple[str, ...] = ()

    def to_html(self) -> str:
        """Return the profile as one HTML page that needs no network and no other file."""
        from tallybayes.reporting.page import profile_page

        return profile_page(self)

    def _columns(self) -> dict[str, Any]:
        names = {"column": "name", "values": "kind", "missing": "missing", "distinct": "distinct"}
        return {head: [getattr(one, name) for one in self.before.facts] for head, name in names.items()}

    def dependent(self) -> tuple[Pair, ...]:
        """Return the pairs of columns that depend on each other beyond chance, strongest first."""
        found = () if self.dependence is None else self.dependence.pairs
        return tuple(sorted((one for one in found if one.overall_holm <= LEVEL), key=lambda one: -one.overall))

    def pairs(self) -> Grid:
        """Return a table of the columns that depend most on each other."""
        some = self.dependent()[:_STRONGEST]
        rows = tuple((" and ".join(one.columns), number(one.overall, 3), _p(one.overall_holm)) for one in some)
        return Grid("", (Column("columns", right=False), "bits", "p (Holm)"), rows)

    def shown(self) -> Sheet:
        """Return tables of the columns, the dependent pairs and the remarks."""
        remarks = tuple((one.kind, one.sentence) for one in self.remarks)
        grids = [*self.before.shown().grids]
        grids += [self.pairs()] * bool(self.pairs().rows)
        grids += [Grid("", ("remark", Column("", right=False)), remarks)] * bool(remarks)
        return Sheet(f"{self.origin.source}: {self.rows:,} rows, {self.columns:,} columns", tuple(grids), self.left_out)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`."""
        return self._named("rows", "columns", "before", "remarks", "dependence", "origin", "left_out")


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-6 else "< 1e-6"


def profile(
    rows: Any,
    *,
    source: str | None = None,
    command: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    **options: Any,
) -> Profile:
    """Report on rows without a class: their columns, missing values, duplicates and dependence.

    Parameters
    ----------
    rows : anything `fit` takes
        The rows. A file larger than memory is read several times; a stream is kept in memory.
    source, command : str, optional
        The name of the rows on the page, and the command that reproduces the page.
    seed : int
        The same seed draws the same sample.
    threads : int, optional
        The number of threads that count.
    **options
        As in `fit`, on how rows are read and what columns are: `events`, `missing_values`, `where`, ...

    Examples
    --------
    >>> import tallybayes as tb
    >>> found = tb.profile({"age": [31, 47, None, 47], "town": ["Ulm", "Bonn", "Ulm", "Bonn"]})
    >>> found.rows, found.before.missing.complete, found.before.duplicates.repeated
    (4, 3, 1)
    >>> found.to_html().startswith("<!DOCTYPE html>")
    True
    """
    seed = whole_number("seed", seed)
    given = FitOptions.of(options)
    columns = replace(given.columns, keep="*")  # an id is described, not left out

    def first_look(types: open_rows.Types | None) -> tuple[FirstPass, Schema]:
        opened = engines.read(rows, given.reading, types=types, documents=columns.texts)
        classed, name = _with_one_class(opened.here())
        found = open_rows.labelled(classed, name, None, given.reading, types, columns=columns)
        scan = look_at(found, seed)
        return scan, infer_rows(found.rows, name, None, columns, Choices())

    scan, schema = open_rows.reading(first_look)
    left_out: list[str] = []
    listed = schema.columns[:_LISTED]
    if len(schema.columns) > _LISTED:
        left_out.append(f"Only the first {_LISTED} of {len(schema.columns):,} columns are listed.")
    sample = ClassedRows.of(scan.sample, schema)
    before = BeforeModelling(
        rows=scan.sample.num_rows,
        facts=facts_of(scan, schema, list(listed)),
        distributions=distributions(sample, listed, schema),
        missing=missing_pattern(sample, listed),
        duplicates=duplicates(scan.source, schema, labelled=False),
        leaks=(),
    )
    # A connection may hold a password, and a query is no file.
    named = {name: value for name, value in options.items() if name != "connection"}
    remarks = remarks_on_columns(before.facts, scan.rows, inferred=True)
    ids = {one.column for one in remarks if one.kind in ("id", "constant")}  # which depend on everything, or nothing
    kept = [name for name in listed if name not in ids]
    name = scan.source.name if source is None else text("source", source)
    return Profile(
        rows=scan.rows,
        columns=len(schema.inputs),
        before=before,
        remarks=remarks,
        dependence=_dependence(scan, schema, kept, threads, left_out),
        origin=origin_of(
            rows if "connection" not in options else None,
            f"tb.profile({name!r})",
            name,
            command,
            seed,
            named,
        ),
        left_out=tuple(left_out),
    )


def _with_one_class(rows: sources.Source) -> tuple[sources.Source, str]:
    """Return the rows with one class for all in a column of its own, and the name of that column."""
    name = "rows"
    while name in rows.schema.names:
        name += "_"

    def add(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.append_column(pa.field(name, pa.string()), pa.repeat("all", batch.num_rows))

    return rows.map(add, rows.schema.append(pa.field(name, pa.string()))), name


def _dependence(
    scan: FirstPass,
    schema: Schema,
    listed: Sequence[str],
    threads: int | None,
    left_out: list[str],
) -> Dependence | None:
    """Return how far columns depend on each other, whatever a class might be."""
    texts = set(schema.texts)
    usable = [name for name in listed if name not in texts]
    if len(usable) < 2:
        return None
    if len(usable) > _PAIRED:
        left_out.append(f"Only pairs of the first {_PAIRED} columns are tested for dependence.")
    return of_schema(schema, scan.source, scan.label, columns=usable[:_PAIRED], threads=threads)
