"""The explanation of one prediction: the contribution of every column and word, with counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.special import expit

from tallybayes import sources
from tallybayes.cached_property import cached_property
from tallybayes.display.tables import Column, Grid, Result, number, plain
from tallybayes.encoding import open_rows
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.inputs import Codes, Dense, Encoded, Floats, Sparse, Texts
from tallybayes.events.likelihood import weigh
from tallybayes.events.product import Product
from tallybayes.explain.contrast import ClassContrast, ContrastWeights
from tallybayes.explain.contributions import add_terms, ask, column_places, encoded_rows
from tallybayes.explain.words import TextContributions, spoken_words
from tallybayes.methods.rows import rows_to_score
from tallybayes.model import Model
from tallybayes.schema.column_names import NumberedNames
from tallybayes.schema.schema import Schema

if TYPE_CHECKING:
    from tallybayes.explain.counterfactual import Counterfactual

_SHOWN, _LONGEST = 15, 40
MISSING, UNSEEN, UNKNOWN = "missing", "never seen", "not known"


class Part(NamedTuple):
    """The contribution of one column, or of one word of a text."""

    column: str
    word: str | None  # the word, if the column is text; None for the rest of the text, such as absent words
    value: Any  # the value of the column (days and seconds as dates and times), or how often the word is counted
    term: float  # the contribution, in log-odds
    note: str  # "missing", "never seen", "not known" (a word outside the vocabulary), or nothing
    # the training counts by class: rows with the same value, rows behind the density, or occurrences of the word
    counts: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """The explanation of one prediction.

    ``prior + terms.sum() + split`` is exactly `log_odds`; so is ``prior + split`` plus the terms of all `parts`.

    Attributes
    ----------
    label : str
        The column that the model predicts.
    classes : tuple
        Its classes.
    of : object
        The class that is explained.
    against : object or None
        The class that it is compared with; None: all others.
    probability : float
        The predicted probability of the class.
    prior : float
        The contribution of the class prior.
    split : float
        What the class loses because it has several rivals; 0 if it has one.
    columns : sequence of str
        The columns of the model.
    terms : ndarray, shape (F,)
        The contribution of each column.
    values : sequence
        The row (F,).
    notes : sequence of str
        "missing", "never seen" or nothing for each column (F,).
    counts : ndarray, shape (F, C)
        The training counts behind each contribution, by class.
    rows : ndarray, shape (C,)
        The weight of each class in training.
    texts : tuple of TextContributions
        The words of the text columns.
    """

    label: str
    classes: tuple[Any, ...]
    of: Any
    against: Any
    probability: float
    prior: float
    split: float
    columns: Sequence[str]
    terms: Floats
    values: Sequence[Any]
    notes: Sequence[str]
    counts: Floats
    rows: Floats
    texts: tuple[TextContributions, ...]
    _weights: ContrastWeights = field(repr=False)
    _model: Model = field(repr=False)
    _blocks: list[Encoded] = field(repr=False)

    @cached_property
    def log_odds(self) -> float:
        """The log-odds of the class against the others, calibrated: log p / (1 − p)."""
        return float(self.prior + self.terms.sum() + self.split)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The contributions of all columns, texts word by word, largest first."""
        texts = {text.column: text for text in self.texts}
        parts: list[Part] = []
        for f, name in enumerate(self.columns):
            if name not in texts:
                counts = tuple(self.counts[f].tolist())
                value = self._model.schema.write(name, self.values[f])
                parts.append(Part(name, None, value, float(self.terms[f]), self.notes[f], counts))
                continue
            text = texts[name]
            terms = weigh(text.log, np.broadcast_to(self._weights.factors * self._weights.plain, text.log.shape))
            rest = float(self.terms[f] - terms.sum())
            for k, word in enumerate(text.words):
                note, counts = "" if text.known[k] else UNKNOWN, tuple(text.counts[k].tolist())
                parts.append(Part(name, word, text.times[k].item(), float(terms[k]), note, counts))
            if abs(rest) > 1e-9 * (1 + abs(float(self.terms[f]))):
                parts.append(Part(name, None, None, rest, "absent words", tuple(self.counts[f].tolist())))
        return tuple(sorted(parts, key=lambda part: -abs(part.term)))

    @cached_property
    def counterfactual(self) -> Counterfactual | None:
        """The fewest changed values or removed words that change the predicted class; None if there are none.

        None also where columns are counted together: a change of one then changes what the others say.
        """
        from tallybayes.explain.counterfactual import smallest

        return smallest(self._model, self._blocks, self.values, self.texts)

    def _columns(self) -> dict[str, Any]:
        rows = [(part.column, part.word, part.value, part.term, part.note, part.counts) for part in self.parts]
        names, words, values, terms, notes, counts = zip(*rows, strict=True) if rows else ((),) * 6
        parts = {"column": names, "word": words, "value": values, "term": terms, "note": notes}
        return parts | {f"n({name})": [of[c] for of in counts] for c, name in enumerate(self.classes)}

    def shown(self) -> Grid:
        """Return a table of the largest contributions, and the counts behind them."""
        shown = len(self.classes) if len(self.classes) <= 4 else 0  # classes whose counts fit
        blank = [""] * shown
        rows = [("prior", "", _signed(self.prior), *map(number, self.rows[:shown]))]
        for part in self.present[:_SHOWN]:
            counts = (number(n, 1) for n in part.counts[:shown])
            rows.append((_named(part), _cell(part), _signed(part.term), *counts))
        if self.present[_SHOWN:]:
            rows.append((f"{len(self.present) - _SHOWN} more", "", _signed(self.rest), *blank))
        if round(self.split, 3):
            rows.append(("several rivals", "", _signed(self.split), *blank))
        if self.missing:
            rows.append((_few_of(self.missing), MISSING, _signed(0.0), *blank))
        rows.append(("together", "", _signed(self.log_odds), *blank))
        rival = "all others" if self.against is None else f"{self.against}"
        if self.against is None and len(self.classes) == 2:
            rival = str(next(c for c in self.classes if c != self.of))
        left = Column("what", right=False), Column("value", right=False)
        heads: tuple[Column | str, ...] = (*left, f"for {self.of}", *map(str, self.classes[:shown]))
        title = f"{self.label} = {self.of}: probability {self.probability:.4f}"
        note = f"Log-odds of {self.of} against {rival}, with the training rows (or words) of each class behind them."
        return Grid(title, heads, tuple(rows), (note,))

    @cached_property
    def present(self) -> tuple[Part, ...]:
        """The contributions of columns that are not missing."""
        return tuple(part for part in self.parts if part.note != MISSING)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The columns that are missing in this row."""
        own = self._model.schema.columns
        return tuple(name for name, note in zip(own, self.notes[: len(own)], strict=True) if note == MISSING)

    @cached_property
    def rest(self) -> float:
        """The sum of the contributions that are not shown."""
        return float(sum(part.term for part in self.present[_SHOWN:]))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers: the prior, each part with its counts, and their sum."""
        return self._named("label", "classes", "of", "against", "probability", "log_odds", "prior", "split", "parts")

    def points(self, most: int = _SHOWN) -> list[dict[str, Any]]:
        """Return the records that the chart draws: the prior, then the largest contributions."""
        bars = [{"what": "prior", "log_odds": plain(self.prior)}]
        for part in self.present[:most]:
            value, joint = _cell(part), " = " if part.word is None else " "
            bars.append({"what": _named(part) + (joint + value if value else ""), "log_odds": plain(part.term)})
        if self.present[most:]:
            rest = float(sum(part.term for part in self.present[most:]))
            bars.append({"what": f"{len(self.present) - most} more", "log_odds": plain(rest)})
        if round(self.split, 3):
            bars.append({"what": "several rivals", "log_odds": plain(self.split)})
        return bars

    def chart(self) -> Any:
        """Return an Altair chart of the contributions for and against the class."""
        from tallybayes.display.charts.explanation import explanation_chart

        return explanation_chart(self.points(), f"{self.label} = {self.of}, probability {self.probability:.3f}")


def _named(part: Part) -> str:
    return part.column if part.word is None else f"“{part.word}”"


def _cell(part: Part) -> str:
    """Return the text of a cell in the column of values."""
    if part.word is not None:
        times = f"× {number(part.value)}" if part.value != 1 else ""
        return f"{times} {part.note}".strip()
    if part.value is None:
        return part.note
    text = f"{part.value:.6g}" if isinstance(part.value, float) else str(part.value)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return f"{text} ({part.note})" if part.note else text


def _few_of(names: Sequence[str]) -> str:
    """Return the names, or the first three and the number of others."""
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _signed(term: float) -> str:
    return f"{term:+.3f}".replace("-", "−").replace("inf", "∞")


def explain(model: Model, row: Any, of: Any, against: Any) -> Explanation:
    """Explain the prediction of one row: see `Model.explain`."""
    question = ClassContrast.about(of, against, model.classes)
    row = _one(row, model.schema)
    blocks, batch = encoded_rows(model, row), None
    if blocks is None:
        blocks, batch = _through_arrow(model, row)
    elif len(row) != 1:
        raise _several(len(row))
    weights = ask(model, question, blocks)
    terms = np.zeros((1, len(model.schema.terms)))
    add_terms(model, blocks, weights, terms)
    c = int(weights.of[0])
    notes, counts = _behind(model, blocks)
    return Explanation(
        label=model.schema.label,
        classes=model.classes,
        of=model.classes[c],
        against=None if question.against is None else model.classes[question.against],
        probability=_probability(model, question, weights, terms, row if batch is None else batch),
        prior=float(weights.prior[0]),
        split=float(weights.split[0]),
        columns=model.schema.terms,
        terms=terms[0],
        values=[*_values(model, row, batch), *_cells_of_products(model, blocks)],
        notes=notes,
        counts=counts,
        rows=model.evidence.rows.to_float(),
        texts=tuple(spoken_words(model, blocks)),
        _weights=weights,
        _model=model,
        _blocks=blocks,
    )


def _probability(model: Model, question: ClassContrast, weights: ContrastWeights, terms: Floats, row: Any) -> float:
    """Return the probability of the explained class among all classes."""
    if question.against is None and (weights.plain + weights.weighted).any():
        return float(expit(weights.prior[0] + terms[0].sum() + weights.split[0]))
    return float(model.predict_proba(row)[0, weights.of[0]])


def _one(row: Any, schema: Schema) -> Any:
    """Return one row in a form that is read as rows."""
    if isinstance(row, str):
        return [row]
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row[None, :]
    return open_rows.one_row(row, schema)


def _several(n: int) -> BadData:
    return BadData(wanted("explain", "one row", f"{n}", "Give one, or use model.contributions for many"))


def _through_arrow(model: Model, row: Any) -> tuple[list[Encoded], pa.RecordBatch]:
    def read(types: open_rows.Types | None) -> pa.RecordBatch:
        found = [batch for batch in rows_to_score(model, row, types) if batch.num_rows]
        if sum(batch.num_rows for batch in found) != 1:
            raise _several(sum(batch.num_rows for batch in found))
        return found[0]

    batch = open_rows.reading(read)
    rows = RowBatch(batch, 0, model.schema.missing, partial=open_rows.may_lack(batch.schema))
    return list(model._calibrated_belief.encode(rows)), batch


def _values(model: Model, row: Any, batch: pa.RecordBatch | None) -> Sequence[Any]:
    """Return the row's values in the order of the columns."""
    if batch is None and isinstance(row, np.ndarray):
        return list(row[0].tolist())
    cells = row[0] if batch is None else _cells(batch)
    return [cells.get(name) for name in model.schema.columns]


def _cells_of_products(model: Model, blocks: list[Encoded]) -> list[str | None]:
    """Return the value of each product in words; None where a part is missing."""
    pairs = zip(model.schema.blocks, blocks, strict=True)
    return [block.event.in_words(data) for block, data in pairs if isinstance(block.event, Product)]


def _cells(batch: pa.RecordBatch) -> dict[str, Any]:
    """Return the first row of a batch, by column."""
    cells: dict[str, Any] = {}
    for arrow_field, column in zip(batch.schema, batch.columns, strict=True):
        kind = sources.kind_of(arrow_field)
        if kind == "column":
            cells[arrow_field.name] = sources.plain_value(column[0])
            continue
        if kind == "matrix":
            values = sources.matrix_of(column)[0].tolist()
        else:
            values = Sparse(*sources.sparse_of(column, arrow_field)).first().dense().matrix()[0].tolist()
        cells.update(zip(sources.names_of(arrow_field) or NumberedNames(len(values)), values, strict=True))
    return cells


def _behind(model: Model, blocks: list[Encoded]) -> tuple[Sequence[str], Floats]:
    """Return a note on each column's value (missing, never seen), and the counts behind its term."""
    F = len(model.schema.terms)
    notes, counts = np.full(F, "", object), np.zeros((F, len(model.classes)))
    events = (block.event for block in model.schema.blocks)
    parts = zip(events, model.belief.likelihoods, blocks, column_places(model.schema), strict=True)
    for event, likelihood, data, places in parts:
        at = slice(None) if places is None else places
        counts[at] = likelihood.support(data)
        if isinstance(event, Product):
            value = event.in_words(data)
            notes[at] = MISSING if value is None else "" if counts[at].any() else UNSEEN
        elif isinstance(data, Dense):
            notes[at] = np.where(np.isnan(data.first()), MISSING, "")
        elif isinstance(data, Codes):
            found = data.first()
            unseen = found >= likelihood.statistic.sizes
            notes[at] = np.where(found < 0, MISSING, np.where(unseen, UNSEEN, ""))
        elif isinstance(data, Texts):
            notes[at] = [MISSING if column.slice(0, 1).null_count else "" for column in data.columns]
    return notes.tolist(), counts
