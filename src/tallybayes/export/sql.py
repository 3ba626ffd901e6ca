"""Scorecards as SQL: one SELECT over a table, with the class and its probabilities beside each row.

The steps are named queries: numbers (cleaned), places (of numbers in grids), cells (of values and numbers), sums (of
terms, by class), scores (calibrated), best, shares (of the best), and the answer. A row that `predict` would refuse has
NULL as its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
from tallybayes.export.grid import Grid
from tallybayes.export.scorecard import Scorecard, ScoredTerm
from tallybayes.export.sql_density import log_density
from tallybayes.export.sql_dialect import Dialect, number
from tallybayes.inference.posterior import Temperature
from tallybayes.sources.missing import markers_of_names

__all__ = ["to_sql"]

# −∞ in SQL, which not every database has: no sum of possible scores comes near.
IMPOSSIBLE, _IS_IMPOSSIBLE = -1e200, -1e150
_LOWEST = -700.0  # logarithm below which exp would underflow, an error in PostgreSQL
_LARGEST = 1.7976931348623157e308
# Numbers in one statement: databases parse more only slowly, or not at all.
_MOST_NUMBERS = 500_000
_GRID, _MOST_STEPS = 4096, 12  # places of a grid; edges in one place of it that are compared one by one


def to_sql(card: Scorecard, dialect: str, table: str, *, keep: Sequence[str] | None, contributions: bool) -> str:
    """Return the query that scores a table's rows; see `Model.to_sql`."""
    kept = card.schema.columns if keep is None else [text("keep", one) for one in listed("keep", keep, "columns")]
    instance("contributions", contributions, bool, "True or False")
    return _Query(card, Dialect(dialect), contributions).text(text("table", table, "the name of a table"), kept)


@dataclass
class _Column:
    """A column of the model in the query: its raw expression, and its cleaned number and cell once they are made."""

    raw: str
    number: str = ""


@dataclass
class _Query:
    card: Scorecard
    sql: Dialect
    contributions: bool
    refused: list[str] = field(default_factory=list)  # conditions under which predict refuses a row
    sizes: list[str] = field(default_factory=list)
    steps: dict[str, list[str]] = field(default_factory=dict)  # the columns that each step adds
    lists: dict[str, str] = field(default_factory=dict)  # the names of constant lists

    def text(self, table: str, keep: Sequence[str]) -> str:
        """Return the query."""
        self._check()
        for step in ("numbers", "places", "cells"):
            self.steps[step] = []
        values = [self._term(k, term) for k, term in enumerate(self.card.terms)]
        name, kept = self.sql.name, [f"keep_{k}" for k in range(len(keep))]
        raw = [f"{name(column)} AS raw_{k}" for k, column in enumerate(self._inputs)]
        first = [f"{name(column)} AS {inner}" for column, inner in zip(keep, kept, strict=True)]
        source = name(*table.split("."))
        queries = [("input", _select([*first, *raw], source))]
        passed, before = [*kept, *(f"raw_{k}" for k in range(len(self._inputs)))], "input"
        for step, added in self.steps.items():
            if added:
                queries.append((step, _select([*passed, *added], f"{before}{self._beside}")))
                passed, before = [*passed, *(one.rsplit(" AS ", 1)[1] for one in added)], step
        queries += self._scores(values, kept, before)
        if self.lists:
            lists = [f"{items} AS {one}" for items, one in self.lists.items()]
            queries.insert(0, ("lists", f"SELECT\n    {_listed(lists)}"))
        body = ",\n".join(f"{step} AS {self.sql.once(step)}(\n  {query}\n)" for step, query in queries)
        return f"WITH {body}\n{self._answer(keep, kept)}"

    @property
    def _inputs(self) -> Sequence[str]:
        return self.card.schema.columns

    @property
    def _beside(self) -> str:
        return " CROSS JOIN lists" if self.lists else ""

    def _check(self) -> None:
        card = self.card
        for term in card.terms:
            if isinstance(term.plain, TokenTable):
                do = "Use to_json, to_html or tb.register_duckdb"
                raise BadOption(wanted(f"column {term.name!r}", "columns without text for SQL", "text", do))
        numbers = sum(np.size(getattr(term.plain, "log", ())) for term in card.terms)
        if numbers * (1 if card.bias is None else 2) > _MOST_NUMBERS:
            got = f"{numbers:,} ({len(card.terms)} terms of {len(card.classes)} classes)"
            do = "Export to ONNX or JSON, or select fewer columns"
            raise BadOption(wanted("export to SQL", f"at most {_MOST_NUMBERS:,} numbers in a query", got, do))

    # The terms: each method returns a function from a table's rows (by cell) to the expression of a class's amount.

    def _term(self, k: int, term: ScoredTerm) -> tuple[list[str], list[str]]:
        """Return what a term adds to the plain and to the weighted score of each class; "" for nothing."""
        plain = term.plain
        if isinstance(plain, LookupTable):
            return self._tables(k, term, self._value_cell(k, plain, term.name), plain.log)
        if isinstance(plain, IntervalTable):
            return self._tables(k, term, self._number_cell(k, plain, term.name), plain.log)
        if isinstance(plain, CellTable):
            return self._tables(k, term, self._product_cell(k, plain), plain.log)
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
        factor = term.plain.factor if isinstance(term.plain, CellTable) else 1.0
        nothing = np.zeros(log.shape[1])
        plain = self._lookups(cell, factor * log if factor != 1 else log, nothing)
        if self.card.bias is None:
            return plain, []
        with np.errstate(invalid="ignore"):
            weighted = np.where(np.isneginf(log), -np.inf, term.weight * log)
        if term.correction is not None:
            weighted[: len(term.correction)] += term.correction
        return plain, self._lookups(cell, weighted, term.missing)

    def _lookups(self, cell: str, table: Floats, missing: Floats) -> list[str]:
        """Return each class's amount at a cell; what all classes share is left out, so one class is often nothing."""
        if not isinstance(self.card.temperature, Temperature):
            least = np.where(np.isfinite(table[:, :1]), table[:, :1], 0.0)
            table, missing = table - least, missing - missing[0]
        table = np.where(np.isneginf(table), IMPOSSIBLE, table)
        return [self._lookup(cell, table[:, c], float(missing[c])) for c in range(table.shape[1])]

    def _lookup(self, cell: str, amounts: Floats, missing: float) -> str:
        if not amounts.any() and missing == 0:
            return ""
        listed = [number(x) for x in amounts]
        if self.sql.has_lists:
            return f"COALESCE({self._item(listed, cell)}, {number(missing)})"
        found = _search(listed, lambda at: f"{cell} < {at}")
        return f"CASE WHEN {cell} IS NULL THEN {number(missing)} ELSE {found} END"

    def _item(self, items: Sequence[str], position: str, offset: int = 0) -> str:
        """Return the item at a position, from 0, of a constant list, which is kept in a table of one row."""
        name = self.lists.setdefault(f"[{', '.join(items)}]", f"list_{len(self.lists)}")
        return f"LIST_EXTRACT({name}, {position} + {offset + 1})"

    # The cells of values and numbers.

    def _value_cell(self, k: int, plain: LookupTable, name: str) -> str:
        raw, known, missing = f"raw_{self._inputs.index(name)}", len(plain.values), self.card.schema.missing
        cell = self._slots(raw, plain.values.values, str(known))
        self.steps["cells"].append(f"{cell} AS cell_{k}")
        self.sizes.append(f"CASE WHEN cell_{k} < {known} THEN 1 ELSE 0 END")
        if self.card.unseen == "error":
            self.refused.append(f"cell_{k} = {known}")
        if missing == "error":
            self.refused.append(f"cell_{k} IS NULL")
        return f"cell_{k}"

    def _slots(self, raw: str, values: Sequence[object], other: str) -> str:
        """Return the position of a value, with NULL for a missing one unless that is a category."""
        if values and any(isinstance(v, float) for v in values):
            raw = self.sql.to_number(raw)
        null = "NULL"
        if self.card.schema.missing == "category":
            null = str(values.index(None)) if None in values else other
        cases = " ".join(f"WHEN {raw} = {self.sql.value(v)} THEN {k}" for k, v in enumerate(values) if v is not None)
        lacks = f"{raw} IS NULL"
        markers = markers_of_names(self.card.schema.missing_values)
        if markers and all(isinstance(v, str | None) for v in values):
            known = any(v is not None for v in values)  # else the column may be of any type
            text = raw if known else self.sql.to_text(raw)
            lacks += f" OR {text} IN ({', '.join(map(self.sql.value, markers))})"
        return f"CASE WHEN {lacks} THEN {null} {cases} ELSE {other} END"

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

    # From sums to probabilities.

    def _scores(self, values: list[tuple[list[str], list[str]]], kept: list[str], before: str) -> list[tuple[str, str]]:
        """Return the steps from the amounts of all terms to the shares of the best score."""
        card, C = self.card, len(self.card.classes)
        prior = np.where(np.isneginf(card.log_prior), IMPOSSIBLE, card.log_prior)
        sums = [_sum([number(prior[c]), *(plain[c] for plain, _ in values)]) + f" AS plain_{c}" for c in range(C)]
        if card.bias is not None:
            first = prior + card.bias
            sums += [_sum([number(first[c]), *(two[c] for _, two in values)]) + f" AS weighted_{c}" for c in range(C)]
        if self.contributions:
            for k, both in enumerate(values):
                for kind, parts in zip(("plain", "weighted"), both, strict=True):
                    sums += [f"{one or '0e0'} AS {kind}_{c}_{k}" for c, one in enumerate(parts)]
        refused = " OR ".join(f"COALESCE({one}, FALSE)" for one in dict.fromkeys(self.refused)) or "FALSE"
        passed = [*kept, f"({refused}) AS refused", f"{_sum(self.sizes)} AS size", *sums]
        queries = [("sums", _select(passed, f"{before}{self._beside}"))]
        factors, mixed = self._mixing(prior)
        queries.append(("mixture", _select([one.rsplit(" AS ", 1)[-1] for one in passed] + factors, "sums")))
        ends = [(f"_{c}", f"score_{c}") for c in range(C)]
        if self.contributions:
            ends += [(f"_{c}_{k}", f"part_{c}_{k}") for k in range(len(values)) for c in range(C)]
        scores = [f"{mixed.format(end=end)} AS {name}" for end, name in ends]
        queries.append(("scores", _select([*kept, "refused", *scores], "mixture")))
        through = [*kept, "refused", *(name for _, name in ends)]
        best = self.sql.greatest(*(f"score_{c}" for c in range(C)))
        queries.append(("best", _select([*through, f"{best} AS best"], "scores")))
        shares = [f"EXP({self.sql.greatest(f'score_{c} - best', number(_LOWEST))}) AS share_{c}" for c in range(C)]
        queries.append(("shares", _select([*through, "best", *shares], "best")))
        return queries

    def _mixing(self, prior: Floats) -> tuple[list[str], str]:
        """Return the factors of plain and weighted amounts, and how these are mixed by them."""
        card = self.card
        if card.bias is not None:
            others = max(len(card.schema.columns) - 1, 1)
            share = f"{self.sql.greatest('size - 1', '0')} / {number(others)}"
            share = share if card.fading == 1 else f"POWER({share}, {card.fading})"
            return [f"{share} AS m"], "(1 - m) * plain{end} + m * weighted{end}"
        if not isinstance(card.temperature, Temperature):
            return [], "plain{end}"
        a, b = number(card.temperature.a), number(card.temperature.b)
        same = " AND ".join(f"plain_{c} = {number(one)}" for c, one in enumerate(prior))
        factor = f"CASE WHEN {same} THEN 1 ELSE {a} END"
        if card.temperature.by_size:
            factor = f"CASE WHEN size > 0 THEN {a} * POWER(size + 1, {b}) ELSE 1 END"
        return [f"{factor} AS temperature"], "temperature * plain{end}"

    def _answer(self, keep: Sequence[str], kept: list[str]) -> str:
        card, sql = self.card, self.sql
        columns = [f"{inner} AS {sql.name(column)}" for column, inner in zip(keep, kept, strict=True)]
        prior = np.exp(card.log_prior)
        cases = [f"WHEN score_{c} = best THEN {sql.value(one)}" for c, one in enumerate(card.classes)]
        likely = sql.value(card.classes[int(np.argmax(prior))])
        hopeless = f"best < {number(_IS_IMPOSSIBLE)}"
        answer = f"CASE WHEN refused THEN NULL WHEN {hopeless} THEN {likely} {' '.join(cases)} END"
        total = _sum([f"share_{c}" for c in range(len(cases))])
        shares = [
            f"CASE WHEN refused THEN NULL WHEN {hopeless} THEN {number(prior[c])} ELSE share_{c} / ({total}) END"
            f" AS {sql.name(f'P({one})')}"
            for c, one in enumerate(card.classes)
        ]
        told = [
            f"part_{c}_{k} AS {sql.name(f'{term.name}: {one}')}"
            for k, term in enumerate(card.terms)
            for c, one in enumerate(card.classes)
            if self.contributions
        ]
        return f"SELECT\n  {_listed([*columns, f'{answer} AS predicted', *shares, *told], indent=2)}\nFROM shares"


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


def _select(columns: Sequence[str], source: str) -> str:
    return f"SELECT\n    {_listed(columns)}\n  FROM {source}"


def _times(x: str, log: float) -> str:
    return f"{x} * {number(IMPOSSIBLE if log == -np.inf else log)}"


def _sum(parts: Sequence[str]) -> str:
    return " + ".join(part for part in parts if part) or "0"


def _listed(parts: Sequence[str], indent: int = 4) -> str:
    return f",\n{' ' * indent}".join(parts)
