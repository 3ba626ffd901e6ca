"""Scorecards as SQL: one SELECT over a table, with the class and its probabilities beside each row.

The steps are named queries: texts (their tokens summed), numbers (cleaned), places (of numbers in grids), cells (of
values and numbers), and those of `sql_scores`. A row that `predict` would refuse has NULL as its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tallybayes.arguments import instance, listed, text
from tallybayes.encoding.product import values_of
from tallybayes.errors import BadOption, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.interaction import BINS, Part
from tallybayes.events.plain_terms import (
    CellTable,
    IntervalTable,
    LinearCounts,
    LookupTable,
    NamedDensity,
    TokenTable,
)
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.export.grid import Grid
from tallybayes.export.scorecard import Scorecard, ScoredTerm
from tallybayes.export.sql_density import log_density
from tallybayes.export.sql_dialect import Dialect, number
from tallybayes.export.sql_parameters import Parameters, Script, where
from tallybayes.export.sql_readings import SqlReadings
from tallybayes.export.sql_scores import IMPOSSIBLE, Ending, Sums, comma, select
from tallybayes.export.sql_text import refuse_text, text_steps
from tallybayes.inference.posterior import Temperature
from tallybayes.sources.missing import further_markers, markers_of_names

__all__ = ["to_sql"]

_LARGEST = 1.7976931348623157e308
_KINDS = ("plain", "weighted")
Amounts: TypeAlias = tuple[Floats, Floats]  # of cells (cells, C), and of a missing value (C,)
_GRID, _MOST_STEPS = 4096, 12  # places of a grid; edges in one place of it that are compared one by one


def to_sql(
    card: Scorecard,
    dialect: str,
    table: str,
    *,
    keep: Sequence[str] | None,
    contributions: bool,
    parameters: str,
    prefix: str,
) -> Script:
    """Return the query that scores a table's rows; see `Model.to_sql`."""
    kept = card.schema.inputs if keep is None else [text("keep", one) for one in listed("keep", keep, "columns")]
    instance("contributions", contributions, bool, "True or False")
    sql = Dialect(dialect)
    total = sum(map(_numbers, card.terms)) * (1 if card.bias is None else 2)
    tables = Parameters(sql, where(parameters), text("prefix", prefix, "the first part of a table's name"), total)
    query = _Query(card, sql, tables, contributions)
    answer = query.text(text("table", table, "the name of a table"), kept)
    return Script([*tables.statements, answer])


def _numbers(term: ScoredTerm) -> int:
    return int(np.size(getattr(term.plain, "log", ())))


@dataclass
class _Query:
    card: Scorecard
    sql: Dialect
    parameters: Parameters
    contributions: bool
    refused: list[str] = field(default_factory=list)  # conditions under which predict refuses a row
    sizes: list[str] = field(default_factory=list)
    steps: dict[str, list[str]] = field(default_factory=dict)  # the columns that each step adds
    joins: dict[str, list[str]] = field(default_factory=dict)  # the tables of parameters that it needs
    lists: dict[str, str] = field(default_factory=dict)  # the names of constant lists
    texts: list[tuple[str, str]] = field(default_factory=list)  # the steps of texts, after the step before them
    passed: list[str] = field(default_factory=list)  # the columns of the last step

    def text(self, table: str, keep: Sequence[str]) -> str:
        """Return the query."""
        for step in ("numbers", "places", "cells", "sums"):
            self.steps[step], self.joins[step] = [], []
        name, kept = self.sql.name, [f"keep_{k}" for k in range(len(keep))]
        reads = SqlReadings(self.card.schema, self.sql)
        columns = [f"{name(column)} AS {inner}" for column, inner in zip(keep, kept, strict=True)] + reads.first
        self.passed, self.refused = (
            [*kept, *(f"raw_{k}" for k in range(len(self._inputs))), *reads.wrong],
            list(reads.wrong),
        )
        first = "numbered" if any(isinstance(term.plain, TokenTable) for term in self.card.terms) else "input"
        columns = [f"{self.sql.row_id} AS row_id", *columns] if first == "numbered" else columns
        queries = [(first, select(columns, name(*table.split("."))))]
        queries += reads.queries(first, ["row_id", *kept] if first == "numbered" else kept)
        self.texts = queries[-1:]
        values = [self._term(k, term) for k, term in enumerate(self.card.terms)]
        queries += self.texts[1:]
        for step in ("numbers", "places", "cells"):
            if self.steps[step]:
                queries.append((step, select([*self.passed, *self.steps[step]], self._source(queries[-1][0], step))))
                self.passed += [one.rsplit(" AS ", 1)[1] for one in self.steps[step]]
        sums = Sums(values, self.sizes, list(dict.fromkeys(self.refused)))
        end = Ending(self.card, self.sql, kept, contributions=self.contributions)
        queries += end.steps(sums, self._source(queries[-1][0], "sums"))
        if self.lists:
            constants = [f"{items} AS {one}" for items, one in self.lists.items()]
            queries.insert(0, ("lists", f"SELECT\n    {comma(constants)}"))
        queries = [*self.parameters.queries, *queries]
        body = ",\n".join(f"{step} AS {self.sql.once(step)}(\n  {query}\n)" for step, query in queries)
        return f"WITH {body}\n{end.answer(keep)}"

    @property
    def _inputs(self) -> Sequence[str]:
        return self.card.schema.columns

    def _source(self, before: str, step: str) -> str:
        beside = " CROSS JOIN lists" if self.lists else ""
        return before + beside + "".join(f"\n    {one}" for one in self.joins[step])

    # The terms: each method returns a function from a table's rows (by cell) to the expression of a class's amount.

    def _term(self, k: int, term: ScoredTerm) -> tuple[list[str], list[str]]:
        """Return what a term adds to the plain and to the weighted score of each class; "" for nothing."""
        plain = term.plain
        if isinstance(plain, LookupTable):
            return self._value_term(k, term, plain)
        if isinstance(plain, IntervalTable):
            return self._tables(k, term, self._number_cell(k, plain, term.name), plain.log)
        if isinstance(plain, CellTable):
            return self._tables(k, term, self._product_cell(k, plain), plain.log)
        if isinstance(plain, TokenTable):
            return self._text_term(k, term, plain)
        if isinstance(plain, LinearCounts):
            x = f"COALESCE({self._number(term.name, plain.domain)}, 0)"
            self.sizes.append(x)
            return self._weigh(term, [_times(x, one) for one in plain.log], self._number(term.name, plain.domain))
        if isinstance(plain, NamedDensity):
            x = self._number(term.name, plain.domain)
            self.sizes.append(f"CASE WHEN {x} IS NULL THEN 0 ELSE 1 END")
            return self._weigh(term, log_density(plain, x, self.sql), x)
        raise BadOption(wanted(f"column {term.name!r}", "a form that SQL can compute", plain.kind))

    def _weigh(self, term: ScoredTerm, logs: list[str], x: str) -> tuple[list[str], list[str]]:
        missing = term.missing if self.card.bias is not None else np.zeros(len(logs))
        plain = [f"CASE WHEN {x} IS NULL THEN 0 ELSE {log} END" for log in logs]
        if self.card.bias is None:
            return plain, []
        return plain, [
            f"CASE WHEN {x} IS NULL THEN {number(lack)} ELSE {number(term.weight)} * ({log}) END"
            for log, lack in zip(logs, missing, strict=True)
        ]

    def _tables(self, k: int, term: ScoredTerm, cell: str, log: Floats) -> tuple[list[str], list[str]]:
        """Return the amounts of each class at a cell, from the query itself or from a table of parameters."""
        both = self._amounts(term, log)
        if self.parameters.outside(_numbers(term)):
            self._parameter_table(k, {"cell": (self.sql.type_of([1]), list(map(str, range(len(log)))))}, both)
            return self._found(k, both)
        plain, *weighted = (self._lookups(cell, *one) for one in both)
        return plain, weighted[0] if weighted else []

    def _amounts(self, term: ScoredTerm, log: Floats) -> list[Amounts]:
        """Return the plain and the weighted amounts, each of cells (cells, C) and of a missing value (C,)."""
        factor = term.plain.factor if isinstance(term.plain, CellTable) else 1.0
        both = [(factor * log if factor != 1 else log, np.zeros(log.shape[1]))]
        if self.card.bias is not None:
            with np.errstate(invalid="ignore"):
                weighted = np.where(np.isneginf(log), -np.inf, term.weight * log)
            if term.correction is not None:
                weighted[: len(term.correction)] += term.correction
            both.append((weighted, term.missing))
        if not isinstance(self.card.temperature, Temperature):  # what all classes share is left out
            least = [np.where(np.isfinite(table[:, :1]), table[:, :1], 0.0) for table, _ in both]
            both = [(table - one, missing - missing[0]) for (table, missing), one in zip(both, least, strict=True)]
        return [(np.where(np.isneginf(table), IMPOSSIBLE, table), missing) for table, missing in both]

    def _parameter_table(self, k: int, keys: dict[str, tuple[str, list[str]]], both: Sequence[Amounts]) -> str:
        """Add the table of a term's amounts, as p_k in the step of the sums, and return its name."""
        amounts = {
            f"{kind}_{c}": table[:, c]
            for kind, (table, _) in zip(_KINDS, both, strict=False)
            for c in range(table.shape[1])
        }
        name = self.parameters.table(k, keys, amounts)
        self.joins["sums"].append(f"LEFT JOIN {name} AS p_{k} ON p_{k}.cell = cell_{k}")
        return name

    def _found(self, k: int, both: Sequence[Amounts]) -> tuple[list[str], list[str]]:
        """Return the amounts of each class in the row of a table of parameters; a missing value has none."""
        plain, *weighted = (
            [f"COALESCE(p_{k}.{kind}_{c}, {number(float(one))})" for c, one in enumerate(missing)]
            for kind, (_, missing) in zip(_KINDS, both, strict=False)
        )
        return plain, weighted[0] if weighted else []

    def _lookups(self, cell: str, table: Floats, missing: Floats) -> list[str]:
        """Return each class's amount at a cell; one class often adds nothing."""
        return [self._lookup(cell, table[:, c], float(missing[c])) for c in range(table.shape[1])]

    def _lookup(self, cell: str, amounts: Floats, missing: float) -> str:
        if not amounts.any() and missing == 0:
            return ""
        listed = [number(x) for x in amounts]
        if self.sql.has_lists:
            return f"COALESCE({self._item(listed, cell)}, {number(missing)})"
        found = _search(listed, lambda at: f"{cell} < {at}")
        return f"CASE WHEN {cell} IS NULL THEN {number(missing)} ELSE {found} END"

    def _text_term(self, k: int, term: ScoredTerm, plain: TokenTable) -> tuple[list[str], list[str]]:
        """Return what a text adds, adding the steps that find its tokens."""
        refuse_text(plain, term.name, self.sql)
        raw, heavy = f"raw_{self._inputs.index(term.name)}", isinstance(self.card.temperature, TokenWeights)
        if named := further_markers(self.card.schema.missing_values):
            raw = f"CASE WHEN {self._in(raw, named)} THEN NULL ELSE {raw} END"
        worth = np.ones(len(plain.log)) if plain.worth is None else plain.worth
        tables = {"log": plain.log} | ({"heavy": plain.log * worth[:, None]} if heavy else {})
        tables |= {} if plain.needed is None else {"need": plain.needed.astype(np.float64)}
        amounts = {
            f"{kind}_{c}": np.where(np.isneginf(one), IMPOSSIBLE, one)
            for kind, table in tables.items()
            for c, one in enumerate(table.T)
        }
        words = [self.sql.value(one) for one in plain.vocabulary.values]
        name = self.parameters.table(k, {"token": (self.sql.type_of([""]), words)}, amounts)
        before = self.texts[-1][0]
        steps = text_steps(k, plain, raw, self.sql, tokens=name, before=before, passed=self.passed, heavy=heavy)
        self.texts += steps.queries
        self.passed += steps.columns
        self.sizes.append(f"COALESCE({steps.size}, 0)")
        if self.card.schema.missing == "error":
            self.refused.append(f"{raw} IS NULL")
        logs = [
            f"{number(base)} + COALESCE({one}, 0e0)" for base, one in zip(_finite(plain.base), steps.log, strict=True)
        ]
        if plain.needed is not None:
            needs = zip(logs, steps.hits, plain.needed.sum(axis=0), strict=True)
            logs = [
                f"CASE WHEN COALESCE({hits}, 0e0) < {n} THEN {number(IMPOSSIBLE)} ELSE {log} END"
                for log, hits, n in needs
            ]
        both = self._weigh(term, logs, raw)
        return (both[0], [f"COALESCE({one}, 0e0)" for one in steps.heavy]) if heavy else both

    def _item(self, items: Sequence[str], position: str, offset: int = 0) -> str:
        """Return the item at a position, from 0, of a constant list.

        The list is kept in a table of one row.
        """
        name = self.lists.setdefault(f"[{', '.join(items)}]", f"list_{len(self.lists)}")
        return f"LIST_EXTRACT({name}, {position} + {offset + 1})"

    # The cells of values and numbers.

    def _value_term(self, k: int, term: ScoredTerm, plain: LookupTable) -> tuple[list[str], list[str]]:
        raw, known, missing = f"raw_{self._inputs.index(term.name)}", len(plain.values), self.card.schema.missing
        values, both = plain.values.values, self._amounts(term, plain.log)
        self.sizes.append(f"CASE WHEN cell_{k} < {known} THEN 1 ELSE 0 END")
        if self.card.unseen == "error":
            self.refused.append(f"cell_{k} = {known}")
        if missing == "error":
            self.refused.append(f"cell_{k} IS NULL")
        if not self.parameters.outside(_numbers(term)):
            self.steps["cells"].append(f"{self._slots(raw, values, str(known))} AS cell_{k}")
            return self._tables(k, term, f"cell_{k}", plain.log)
        listed = [*values, None]  # the last is a value never seen, which no value equals
        keys = {"value": (self.sql.type_of(values), [self.sql.value(one) for one in listed])}
        keys["cell"] = (self.sql.type_of([1]), list(map(str, range(known + 1))))
        table = self._parameter_table(k, keys, both)
        self.joins["cells"].append(f"LEFT JOIN {table} AS v_{k} ON v_{k}.value = {self._comparable(raw, values)}")
        self.steps["cells"].append(
            f"{self._slots(raw, values, f'COALESCE(v_{k}.cell, {known})', named=False)} AS cell_{k}"
        )
        return self._found(k, both)

    def _comparable(self, raw: str, values: Sequence[object]) -> str:
        if any(isinstance(v, float) for v in values):
            return self.sql.to_number(raw)
        return self.sql.exact(raw) if any(isinstance(v, str) for v in values) else raw

    def _slots(self, raw: str, values: Sequence[object], other: str, *, named: bool = True) -> str:
        """Return the position of a value, with NULL for a missing one unless that is a category."""
        raw = self._comparable(raw, values)
        null = "NULL"
        if self.card.schema.missing == "category":
            null = str(values.index(None)) if None in values else other
        cases = [f"WHEN {raw} = {self.sql.value(v)} THEN {k}" for k, v in enumerate(values) if v is not None and named]
        lacks = f"{raw} IS NULL"
        markers = markers_of_names(self.card.schema.missing_values)
        if markers and all(isinstance(v, str | None) for v in values):
            known = any(v is not None for v in values)  # else the column may be of any type
            lacks += f" OR {self._in(raw if known else self.sql.to_text(raw), markers)}"
        return f"CASE WHEN {lacks} THEN {null} {' '.join(cases)} ELSE {other} END"

    def _in(self, raw: str, texts: Sequence[str]) -> str:
        return f"{raw} IN ({', '.join(map(self.sql.value, texts))})" if texts else "FALSE"

    def _number(self, name: str, domain: str) -> str:
        """Return the number of a column, adding the step that cleans it."""
        at = self._inputs.index(name)
        x, step = f"number_{at}", f"{self.sql.to_number(f'raw_{at}')} AS number_{at}"
        if step in self.steps["numbers"]:
            return x
        self.steps["numbers"].append(step)
        bad = {
            "any": "",
            "finite": f"ABS({x}) > {number(_LARGEST)}",
            "not negative": f"{x} < 0 OR {x} > {number(_LARGEST)}",
            "positive": f"{x} <= 0 OR {x} > {number(_LARGEST)}",
            "binary": f"NOT ({x} = 0 OR {x} = 1)",
        }[domain]
        self.refused += [bad] if bad else []
        self.refused += [f"{x} IS NULL"] if self.card.schema.missing == "error" else []
        return x

    def _number_cell(self, k: int, plain: IntervalTable, name: str) -> str:
        x = self._number(name, plain.domain)
        self.sizes.append(f"CASE WHEN {x} IS NULL THEN 0 ELSE 1 END")
        grid = Grid.of(plain.edges, _GRID) if self.sql.has_lists and len(plain.edges) > 1 else None
        if grid is None or grid.most > _MOST_STEPS:
            found = _search(
                [str(cell) for cell in range(len(plain.log))], lambda at: f"{x} < {number(plain.edges[at - 1])}"
            )
            self.steps["cells"].append(f"CASE WHEN {x} IS NULL THEN NULL ELSE {found} END AS cell_{k}")
            return f"cell_{k}"
        starts = self._item([str(start) for start in grid.starts], _place(grid, x, self.sql))
        self.steps["places"].append(f"{starts} AS place_{k}")
        edges = [*(number(edge) for edge in plain.edges), *["1e999"] * grid.most]
        steps = (f"{x} >= {self._item(edges, f'place_{k}', step)}" for step in range(grid.most))
        found = " + ".join(f"CAST({step} AS {self.sql.integer})" for step in steps)
        self.steps["cells"].append(f"place_{k} + {found} AS cell_{k}")
        return f"cell_{k}"

    def _product_cell(self, k: int, plain: CellTable) -> str:
        cell = ""
        for part in plain.parts:
            slot = f"({self._part_slot(part)})"
            cell = slot if not cell else f"({cell} * {len(part.names)} + {slot})"
        self.steps["cells"].append(f"{cell} AS cell_{k}")
        return f"cell_{k}"

    def _part_slot(self, part: Part) -> str:
        if part.kind == BINS:
            x = self._number(part.column, "any")
            found = _search(
                [str(k) for k in range(len(part.names))], lambda at: f"{x} <= {number(part.values[at - 1])}"
            )
            return f"CASE WHEN {x} IS NULL THEN NULL ELSE {found} END"
        raw = f"raw_{self._inputs.index(part.column)}"
        known = values_of(part).values
        return self._slots(raw, known, str(len(known)) if len(part.names) > len(known) else "NULL")


def _place(grid: Grid, x: str, sql: Dialect) -> str:
    """Return the expression of a number's place in a grid."""
    scaled = sql.least(sql.greatest(f"({x} - {number(grid.low)}) * {number(grid.scale)}", "0e0"), f"{_GRID - 1}e0")
    return f"CAST(FLOOR({scaled}) AS {sql.integer})"


def _search(leaves: Sequence[str], below: Callable[[int], str]) -> str:
    """Return nested cases that find a leaf by halves; `below(k)` is the condition of a leaf before k."""

    def part(low: int, high: int) -> str:
        if high - low == 1 or len(set(leaves[low:high])) == 1:
            return leaves[low]
        middle = (low + high) // 2
        return f"CASE WHEN {below(middle)} THEN {part(low, middle)} ELSE {part(middle, high)} END"

    return part(0, len(leaves))


def _times(x: str, log: float) -> str:
    return f"{x} * {number(IMPOSSIBLE if log == -np.inf else log)}"


def _finite(log: Floats) -> Floats:
    return np.where(np.isneginf(log), IMPOSSIBLE, log)
