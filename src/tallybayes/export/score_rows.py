"""Score rows by a scorecard: the twin, in NumPy, of what the exported targets compute."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import BadData, wanted
from tallybayes.events.families.weighted_likelihood import times
from tallybayes.events.inputs import Codes, Dense, Encoded, Floats, Texts
from tallybayes.events.plain_terms import (
    CellTable,
    IntervalTable,
    LinearCounts,
    LookupTable,
    NamedDensity,
    PlainTerm,
    TokenTable,
)
from tallybayes.events.text.token_cells import TokenWeights
from tallybayes.export.scorecard import Scorecard, ScoredTerm
from tallybayes.inference.posterior import normalise
from tallybayes.inference.weights import share_of_others
from tallybayes.kernels.text import Lookup
from tallybayes.schema.schema import Block

__all__ = ["evaluate", "score_batch"]

_FAR = 1e150  # a number whose square overflows, nearly: the logarithm is doubled instead


class Evaluated(NamedTuple):
    """What a term adds to n rows.

    Attributes
    ----------
    log : ndarray, shape (n, C)
        What it adds to each class.
    size : ndarray, shape (n,)
        What it adds to the length of the rows.
    missing : ndarray of bool, shape (n,)
        Where the value is missing.
    cell : ndarray of int, shape (n,), or None
        The value or interval, for corrections; −1 where there is none.
    heavy : ndarray, shape (n, C), or None
        The sum over weighted tokens.
    """

    log: Floats
    size: Floats
    missing: npt.NDArray[np.bool_]
    cell: npt.NDArray[np.intp] | None = None
    heavy: Floats | None = None


def score_batch(card: Scorecard, rows: RowBatch) -> Floats:  # (n, C)
    """Return the probability of each class for the rows of a batch."""
    plain = np.tile(card.log_prior, (len(rows), 1))
    weighted = plain + (0.0 if card.bias is None else card.bias)
    sizes = np.zeros(len(rows))
    with np.errstate(all="ignore"):
        for block, term in zip(card.schema.blocks, card.terms, strict=True):
            with rows.refusing(block):
                found = evaluate(term.plain, _encode(block, term, card.unseen, rows))
            sizes += found.size
            if isinstance(card.temperature, TokenWeights):
                of_plain, of_heavy = card.temperature.parts(sizes)
                assert found.heavy is not None
                plain += of_plain[:, None] * found.log + of_heavy[:, None] * found.heavy
                continue
            plain += found.log if not isinstance(term.plain, CellTable) else term.plain.factor * found.log
            if card.bias is not None:
                weighted += _weighted(term, found)
        out = _mixed(card, plain, weighted, sizes)
    normalise(out, card.log_prior, first=rows.first)
    return out


def _mixed(card: Scorecard, plain: Floats, weighted: Floats, sizes: Floats) -> Floats:
    if card.bias is not None:
        m = share_of_others(sizes, len(card.schema.columns), card.fading)[:, None]
        mixed = np.where(m < 1, (1 - m) * plain, 0.0) + np.where(m > 0, m * weighted, 0.0)
        return np.where(np.isneginf(plain), -np.inf, mixed)
    if card.temperature is None:
        return plain
    return plain * card.temperature.factors(plain, card.log_prior, sizes if card.temperature.by_size else None)[:, None]


def _weighted(term: ScoredTerm, found: Evaluated) -> Floats:
    out = np.asarray(times(term.weight, found.log))
    if term.correction is not None and found.cell is not None:
        some = np.flatnonzero((found.cell >= 0) & (found.cell < len(term.correction)))
        out[some] += term.correction[found.cell[some]]
    out[found.missing] += term.missing
    return out


def _encode(block: Block, term: ScoredTerm, unseen: str, rows: RowBatch) -> Encoded:
    # With slots, even none, rows are scored and not counted.
    slots = (term.plain.values,) if isinstance(term.plain, LookupTable) else ()
    data = rows.encode(block, slots, unseen=unseen)
    infinite = data.infinite() if isinstance(data, Dense) else None
    if isinstance(data, Dense) and infinite is not None and getattr(term.plain, "domain", "any") == "finite":
        at = int(np.argmax(infinite))
        got = f"{data.column(0)[at].item()!r} (row {rows.first + at + 1})"
        raise BadData(wanted(f"column {term.name!r}", "finite numbers", got, "Make the value missing"))
    return data


@singledispatch
def evaluate(term: PlainTerm, data: Any) -> Evaluated:
    """Return what a term adds to encoded rows."""
    raise NotImplementedError(type(term).__name__)


@evaluate.register
def _(term: LookupTable, data: Codes) -> Evaluated:
    code = data.of_column(0, slice(0, len(data)))
    missing = code < 0
    log = np.where(missing[:, None], 0.0, term.log[np.clip(code, 0, len(term.values))])
    return Evaluated(log, ((code >= 0) & (code < len(term.values))).astype(np.float64), missing, code)


@evaluate.register
def _(term: IntervalTable, data: Dense) -> Evaluated:
    x, missing = _numbers(data)
    cell = np.searchsorted(term.edges, x, side="right")
    log = np.where(missing[:, None], 0.0, term.log[cell])
    return Evaluated(log, (~missing).astype(np.float64), missing, np.where(missing, -1, cell))


@evaluate.register
def _(term: LinearCounts, data: Dense) -> Evaluated:
    x, missing = _numbers(data)
    return Evaluated(_product(x[:, None], term.log), x, missing)


@evaluate.register
def _(term: NamedDensity, data: Dense) -> Evaluated:
    x, missing = _numbers(data)
    log = np.where(missing[:, None], 0.0, _log_density(term, np.where(missing, 1.0, x)[:, None]))
    return Evaluated(log, (~missing).astype(np.float64), missing)


@evaluate.register
def _(term: CellTable, data: Codes) -> Evaluated:
    cell = data.of_column(0, slice(0, len(data)))
    log = np.where((cell < 0)[:, None], 0.0, term.log[np.maximum(cell, 0)])
    return Evaluated(log, np.zeros(len(data)), cell < 0)


@evaluate.register
def _(term: TokenTable, data: Texts) -> Evaluated:
    [column], C = data.columns, term.log.shape[1]
    worth = np.ones(len(term.log)) if term.worth is None else term.worth
    tables = np.concatenate([term.log, term.log * worth[:, None]], axis=1)
    unknown = None if term.unknown is None else np.concatenate([term.unknown, term.unknown * term.worth_unknown])
    lookup, both = Lookup(term.vocabulary.array.cast(pa.string()), term.options), np.zeros((len(data), 2 * C))
    length = lookup.score(column, tables, both, unknown=unknown, distinct=term.distinct)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    log = both[:, :C] + np.where(missing[:, None], 0.0, term.base)
    if term.needed is not None:
        hits = np.zeros_like(log)
        lookup.score(column, term.needed.astype(np.float64), hits, distinct=True)
        log[~missing[:, None] & (hits < term.needed.sum(axis=0))] = -np.inf
    return Evaluated(log, np.maximum(length, 0).astype(np.float64), missing, heavy=both[:, C:])


def _numbers(data: Dense) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return a column's numbers, 0 where they are missing, and where that is."""
    x = np.asarray(data.column(0), np.float64)
    missing = np.isnan(x)
    return np.where(missing, 0.0, x), missing


def _product(x: Floats, log: Floats) -> Floats:
    """Return x times a logarithm, taking 0 · −∞ as 0."""
    return np.where(x == 0, 0.0, x * log)


def _log_density(term: NamedDensity, x: Floats) -> Floats:  # (n, C)
    u, p = np.log(x) if term.of_log else x, term.parameters
    if term.form == "linear":
        return p["constant"] + _product(u, p["slope"])
    if term.form == "lomax":
        return p["constant"] - p["power"] * np.log1p(p["scale"] * u)
    if term.form == "negative binomial":
        from scipy.special import gammaln  # slow to import

        size = p["size"]
        ways = np.where(size > 0, gammaln(u + size) - gammaln(size), np.where(u > 0, -np.inf, 0.0))
        return np.asarray(p["constant"] + p["slope"] * u + ways)
    z = np.abs(u - p["location"] - p.get("rest", 0.0)) * p["scale"]
    if term.form == "normal":
        return np.where(z < _FAR, p["constant"] - z**2, -np.inf)
    return p["constant"] - p["power"] * np.where(z < _FAR, np.log1p(z**2), 2 * np.log(np.maximum(z, 1.0)))
