"""Find a line of totals below a table, which is no row of it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tallybayes.sources.steps import holds_text

__all__ = ["Total", "find_total"]

# What people and spreadsheets write there, in several languages.
_WORDS = frozenset(
    (
        *(
            "total",
            "totals",
            "grand total",
            "subtotal",
            "sum",
            "overall",
            "summe",
            "gesamt",
            "gesamtsumme",
            "insgesamt",
        ),
        *("total général", "somme", "ensemble", "suma", "total general", "totale", "soma", "total geral", "totaal"),
        *(
            "summa",
            "totalt",
            "i alt",
            "razem",
            "celkem",
            "yhteensä",
            "összesen",
            "итого",
            "всего",
            "合计",
            "总计",
            "合計",
        ),
    )
)


@dataclass(frozen=True)
class Total:
    """The cell that names a line of totals: its column and text."""

    column: str
    text: str
    with_missing: bool  # whether other rows have no value there

    @property
    def condition(self) -> str:
        """The predicate that leaves the line out and keeps all other rows."""
        name = self.column if self.column.isidentifier() else f"`{self.column}`"
        return f'{name} != "{self.text}"' + (f" or {name} is null" if self.with_missing else "")

    def warning(self, where: str) -> str:
        """Return the sentence that says so."""
        said = f"{where}: the last row looks like a line of totals (column {self.column!r} has {self.text!r})."
        return f"{said} If it is one, leave it out with where={self.condition!r}."


def find_total(rows: pa.RecordBatch) -> Total | None:
    """Return what names the last row a line of totals; None if nothing does.

    Examples
    --------
    >>> find_total(pa.record_batch({"town": ["Bern", "Lyon", "Total:"], "sold": [3, 4, 7]})).condition
    'town != "Total:"'
    """
    for field, column in zip(rows.schema, rows.columns, strict=True):
        if len(column) < 2 or not holds_text(field.type) or "`" in field.name:
            continue
        text = column[-1].as_py()
        if text is None or '"' in text or text.strip().rstrip(":").casefold() not in _WORDS:
            continue
        values = column.dictionary_decode() if pa.types.is_dictionary(field.type) else column
        if pc.sum(pc.equal(values, text)).as_py() == 1:  # elsewhere it is a value like any other
            return Total(field.name, text, bool(column.null_count))
    return None
