"""From the sums of terms to probabilities in SQL: sums, mixture, scores, best, shares, totals, the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.export.scorecard import Scorecard
from tallybayes.export.sql_dialect import Dialect, number
from tallybayes.inference.posterior import Temperature

__all__ = ["IMPOSSIBLE", "Ending", "Sums", "comma", "select"]

# −∞ in SQL, which not every database has: no sum of possible scores comes near.
IMPOSSIBLE, _IS_IMPOSSIBLE = -1e200, -1e150
_LOWEST = -700.0  # logarithm below which exp would underflow, an error in PostgreSQL


@dataclass(frozen=True)
class Sums:
    """What the terms of a row add.

    Attributes
    ----------
    values : list of (list of str, list of str)
        For each term, what it adds to the plain and to the weighted score of each class; "" for nothing.
    sizes : list of str
        What it adds to the length of the row.
    refused : list of str
        The conditions under which a row has no answer.
    """

    values: list[tuple[list[str], list[str]]]
    sizes: list[str]
    refused: list[str]


class Ending:
    """The last steps of a query."""

    def __init__(self, card: Scorecard, sql: Dialect, kept: Sequence[str], *, contributions: bool) -> None:
        self.card, self.sql, self.kept, self.contributions = card, sql, kept, contributions
        self.prior = np.where(np.isneginf(card.log_prior), IMPOSSIBLE, card.log_prior)

    def steps(self, sums: Sums, source: str) -> list[tuple[str, str]]:
        """Return the steps from the amounts of all terms to the shares of the best score."""
        C, kept, values = len(self.card.classes), self.kept, sums.values
        refused = " OR ".join(f"COALESCE({one}, FALSE)" for one in sums.refused) or "FALSE"
        added = [*kept, f"({refused}) AS refused", f"{_sum(sums.sizes)} AS size", *self._sums(values)]
        queries = [("sums", select(added, source))]
        factors, mixed = self._mixing()
        queries.append(("mixture", select([one.rsplit(" AS ", 1)[-1] for one in added] + factors, "sums")))
        first = self._first()
        scores = [f"{first[c]}{mixed.format(end=f'_{c}')} AS score_{c}" for c in range(C)]
        if self.contributions:
            ends = [(f"_{c}_{k}", f"part_{c}_{k}") for k in range(len(values)) for c in range(C)]
            scores += [f"{mixed.format(end=end)} AS {name}" for end, name in ends]
        queries.append(("scores", select([*kept, "refused", *scores], "mixture")))
        through = [*kept, "refused", *(one.rsplit(" AS ", 1)[1] for one in scores)]
        best = self.sql.greatest(*(f"score_{c}" for c in range(C)))
        queries.append(("best", select([*through, f"{best} AS best"], "scores")))
        shares = [f"EXP({self.sql.greatest(f'score_{c} - best', number(_LOWEST))}) AS share_{c}" for c in range(C)]
        queries.append(("shares", select([*through, "best", *shares], "best")))
        each = [f"share_{c}" for c in range(C)]
        queries.append(("totals", select([*through, "best", *each, f"{_sum(each)} AS total"], "shares")))
        return queries

    def _sums(self, values: list[tuple[list[str], list[str]]]) -> list[str]:
        """Return the sums of both scores by class and, asked for, their parts."""
        card, classes = self.card, range(len(self.card.classes))
        weighs_tokens = isinstance(card.temperature, TokenWeights)
        begin = [""] * len(classes) if weighs_tokens else [number(one) for one in self.prior]
        sums = [_sum([begin[c], *(plain[c] for plain, _ in values)]) + f" AS plain_{c}" for c in classes]
        if card.bias is not None or weighs_tokens:
            bias = [""] * len(classes) if card.bias is None else [number(one) for one in self.prior + card.bias]
            sums += [_sum([bias[c], *(two[c] for _, two in values)]) + f" AS weighted_{c}" for c in classes]
        if self.contributions:
            for k, both in enumerate(values):
                for kind, parts in zip(("plain", "weighted"), both, strict=True):
                    sums += [f"{one or '0e0'} AS {kind}_{c}_{k}" for c, one in enumerate(parts)]
        return sums

    def _first(self) -> list[str]:
        """Return what a score has beside its sums: a prior that is tempered in another way."""
        if isinstance(self.card.temperature, TokenWeights):
            return [f"temperature * {number(one)} + " for one in self.prior]
        return [""] * len(self.prior)

    def _mixing(self) -> tuple[list[str], str]:
        """Return the factors of plain and weighted amounts, and how these are mixed by them."""
        card = self.card
        if card.bias is not None:
            others = max(len(card.schema.columns) - 1, 1)
            share = f"{self.sql.greatest('size - 1', '0')} / {number(others)}"
            share = share if card.fading == 1 else f"POWER({share}, {card.fading})"
            return [f"{share} AS m"], "(1 - m) * plain{end} + m * weighted{end}"
        if isinstance(card.temperature, TokenWeights):
            return self._of_tokens(card.temperature), "of_plain * plain{end} + of_weighted * weighted{end}"
        if not isinstance(card.temperature, Temperature):
            return [], "plain{end}"
        a, b = number(card.temperature.a), number(card.temperature.b)
        same = " AND ".join(f"plain_{c} = {number(one)}" for c, one in enumerate(self.prior))
        factor = f"CASE WHEN {same} THEN 1 ELSE {a} END"
        if card.temperature.by_size:
            factor = f"CASE WHEN size > 0 THEN {a} * POWER(size + 1, {b}) ELSE 1 END"
        return [f"{factor} AS temperature"], "temperature * plain{end}"

    def _of_tokens(self, weights: TokenWeights) -> list[str]:
        """Return the factors of both sums and of the prior: see `events.text.token_cells`."""
        others = self.sql.greatest("size - 1", "0")
        m = f"({others} / ({others} + 2e0))"
        grown = f"POWER((size + 1) / {number(weights.typical)}, {number(weights.b)})"
        k = self.sql.least(f"{number(weights.t)} * {grown}", "1e0")
        prior = self.sql.greatest(f"1 - {m} + {m} * ({k} + {number(weights.prior)})", "1e-3")
        return [f"1 - {m} AS of_plain", f"{m} * {k} AS of_weighted", f"{prior} AS temperature"]

    def answer(self, keep: Sequence[str]) -> str:
        """Return the last query: the kept columns, the class, its probabilities and, asked for, contributions."""
        card, sql = self.card, self.sql
        columns = [f"{inner} AS {sql.name(column)}" for column, inner in zip(keep, self.kept, strict=True)]
        prior = np.exp(card.log_prior)
        cases = [f"WHEN score_{c} = best THEN {sql.value(one)}" for c, one in enumerate(card.classes)]
        likely = sql.value(card.classes[int(np.argmax(prior))])
        hopeless = f"best < {number(_IS_IMPOSSIBLE)}"
        answer = f"CASE WHEN refused THEN NULL WHEN {hopeless} THEN {likely} {' '.join(cases)} END"
        shares = [
            f"CASE WHEN refused THEN NULL WHEN {hopeless} THEN {number(prior[c])} ELSE share_{c} / total END"
            f" AS {sql.name(f'P({one})')}"
            for c, one in enumerate(card.classes)
        ]
        told = [
            f"part_{c}_{k} AS {sql.name(f'{term.name}: {one}')}"
            for k, term in enumerate(card.terms)
            for c, one in enumerate(card.classes)
            if self.contributions
        ]
        return f"SELECT\n  {comma([*columns, f'{answer} AS predicted', *shares, *told], indent=2)}\nFROM totals"


def select(columns: Sequence[str], source: str) -> str:
    """Return a query of some columns."""
    return f"SELECT\n    {comma(columns)}\n  FROM {source}"


def comma(parts: Sequence[str], indent: int = 4) -> str:
    """Return parts on lines of their own."""
    return f",\n{' ' * indent}".join(parts)


def _sum(parts: Sequence[str]) -> str:
    return " + ".join(part for part in parts if part) or "0"
