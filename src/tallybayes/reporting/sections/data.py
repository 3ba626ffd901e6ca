"""The sections on the data before any model, and on how to reproduce the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallybayes.display.number_format import NumberFormat
from tallybayes.events.inputs import Floats
from tallybayes.reporting.columns import ColumnFacts
from tallybayes.reporting.data import BeforeModelling, ReportData
from tallybayes.reporting.distributions import Distribution
from tallybayes.reporting.sections.format import CLASSES, Figures, legend_classes, percent, shown_value

_HIGH, _WIDE = 26, 132  # pixels of a small picture; its units are those of the drawing
_SPIKE = 4.0  # times the second highest bar of numbers; a higher one is cut
_OTHER = 7  # the colour of all classes that have none of their own
_BOUND = 0.9995  # a higher bound would be written as 100 %
_LEAKS = 3  # more would not be read
_DAYS = 3  # of a range; the hours of a longer one do not matter
_FEW = 20  # rows of a class; shares of fewer are chance
_UNEVEN = 0.1  # difference between classes in the share of missing values that is worth a sentence


def the_data(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the classes, the remarks, each column's distribution, and what is missing, repeated or gives away."""
    shares = zip(data.prior.classes, data.prior.rows, data.prior.shares, strict=True)
    ordered = sorted(shares, key=lambda one: -one[1])
    kept = legend_classes(data)
    return {
        "classes": [
            {"name": str(name), "rows": f"{rows:,.6g}" if rows % 1 else f"{rows:,.0f}", "share": percent(share)}
            | {"colour": kept.index(name) if name in kept else _OTHER}
            for name, rows, share in ordered[:CLASSES]
        ],
        "more_classes": max(0, len(ordered) - CLASSES),
        "remarks": data.remarks,
        "legend": [*map(str, kept)],
        "others": len(ordered) > len(kept),
        "columns": column_rows(data.before, kept),
        "leaks": [
            f"{one.column!r} alone tells {one.of!s} from all other classes ({percent(one.share)} of the information)"
            + (", already by being missing or not." if one.missing else ".")
            for one in data.before.leaks[:_LEAKS]
        ],
        "more_leaks": max(0, len(data.before.leaks) - _LEAKS),
        "several": len(ordered) > 1,
        "left_out": data.left_out,
    } | the_rows(data.before, data.rows, tuple(map(str, data.prior.classes)))


def the_rows(before: BeforeModelling, rows: int, classes: tuple[str, ...]) -> dict[str, Any]:
    """Return sentences on duplicate rows and missing values."""
    return {
        "duplicates": _duplicates(before, rows),
        "missing": before.missing.shown() if before.missing.patterns else None,
        "complete": percent(before.missing.complete / max(before.missing.rows, 1)),
        "uneven": _uneven(before, classes),
        "sampled": f"{before.rows:,}" if before.rows < rows else "",
    }


def _duplicates(before: BeforeModelling, rows: int) -> list[str]:
    found = before.duplicates
    of = "" if found.rows == rows else f" of the first {found.rows:,}"
    said = [f"No row{of} repeats another."]
    if found.repeated:
        share = percent(found.repeated / found.rows) if found.repeated / found.rows >= 0.0005 else "less than 0.1 %"
        verb = "row repeats an" if found.repeated == 1 else "rows repeat an"
        said = [f"{found.repeated:,} {verb} earlier one in every column used ({share}{of})."]
    if found.contradicted:
        text = f"{found.contradicted:,} rows have the same columns as a row of another class"
        bound = f": no model can be right on more than {percent(found.ceiling)} of these rows"
        said.append(text + bound * (found.ceiling < _BOUND) + ".")
    return said


def _uneven(before: BeforeModelling, classes: tuple[str, ...]) -> list[str]:
    """Return sentences on columns that are missing more often in one class than in another."""
    counts = before.missing.classes
    large = np.flatnonzero(counts >= _FEW)
    said = []
    for name, all_ in zip(before.missing.columns, before.missing.shares, strict=True):
        shares = all_[large]
        if len(shares) > 1 and np.ptp(shares) >= _UNEVEN:
            most, least = (classes[large[int(k)]] for k in (np.argmax(shares), np.argmin(shares)))
            text = f"{name!r} is missing in {percent(shares.max())} of {most}, but {percent(shares.min())} of {least}."
            said.append((float(np.ptp(shares)), text))
    return [sentence for _, sentence in sorted(said, key=lambda one: -one[0])[:2]]


def column_rows(before: BeforeModelling, kept: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return a line of the table for each column: its picture and facts."""
    both = zip(before.facts, before.distributions, strict=True)
    return [_column_row(fact, values, kept) for fact, values in both]


def _column_row(one: ColumnFacts, values: Distribution, kept: tuple[Any, ...]) -> dict[str, Any]:
    ends = ", ".join(one.common) if one.low is None else f"{_write(one, one.low)} to {_write(one, one.high)}"
    return {
        "name": one.name,
        "kind": one.kind,
        "event": one.event,
        "missing": f"{one.missing:,}" if one.missing else "–",
        "distinct": f"{one.distinct:,}",
        "ends": ends,
        "paths": _paths(_by_colour(values, kept), gap=0.0 if values.kind == "numbers" else 0.15),
        "about": _about(values),
        "cut": values.cut,
    }


def _write(one: ColumnFacts, value: Any) -> str:
    """Return an end of a column's range: a date without its hour, where the range has many days."""
    if one.format is None:
        return shown_value(value)
    long = one.format.kind == "timestamps" and one.high - one.low > _DAYS
    return (NumberFormat("dates") if long else one.format).text(value)


def _about(values: Distribution) -> str:
    """Describe the picture: its range, or its most frequent values."""
    total = values.counts.sum() + values.missing.sum()
    if values.kind == "values":
        shares = zip(values.bins[:5], values.counts.sum(axis=1), strict=False)
        return "; ".join(f"{name}: {percent(float(n / max(total, 1)))}" for name, n in shares)
    what = "characters" if values.kind == "lengths" else ""
    tails = "; beyond: in the first and last bar" if values.cut else ""
    bars = np.sort(values.counts.sum(axis=1))
    if values.kind == "numbers" and len(bars) > 2 and bars[-1] > _SPIKE * bars[-2]:
        tails += "; the highest bar is cut"
    return f"{values.bins[0].split(' to ')[0]} to {values.bins[-1].split(' to ')[-1]} {what}{tails}".strip()


def _by_colour(values: Distribution, kept: tuple[Any, ...]) -> dict[int, Floats]:
    """Return the counts (B,) of each colour: a class of its own, or all other classes together."""
    found: dict[int, Floats] = {}
    for c, name in enumerate(values.classes):
        colour = kept.index(name) if name in kept else _OTHER
        found[colour] = found.get(colour, np.zeros(len(values.counts))) + values.counts[:, c]
    return dict(sorted(found.items()))


def _paths(counts: dict[int, Floats], gap: float) -> list[dict[str, Any]]:
    """Return a path of bars for each colour, stacked on those before it."""
    total = np.sum(list(counts.values()), axis=0)
    size = max(len(total), 2)
    # A bar far above all others (a spike at 0) is cut at the upper edge, or nothing else would be seen.
    top = max(_SPIKE * float(np.sort(total)[-2]), 1.0) if gap == 0.0 and len(total) > 2 else np.inf
    counts = {colour: own * np.minimum(1.0, top / np.maximum(total, 1.0)) for colour, own in counts.items()}
    total = np.minimum(total, top)
    scale, wide = _HIGH / max(float(total.max(initial=0.0)), 1.0), _WIDE / size
    bar = wide * (1 - gap)
    below, paths = np.zeros(len(total)), []
    for colour, own in counts.items():
        bars = [
            f"M{(k + gap / 2) * wide:.1f} {_HIGH - scale * low:.1f}h{bar:.1f}v{-scale * n:.1f}h{-bar:.1f}z"
            for k, (low, n) in enumerate(zip(below, own, strict=True))
            if n
        ]
        paths.append({"colour": colour, "d": "".join(bars)})
        below = below + own
    return paths


def the_origin(data: ReportData, charts: Figures) -> dict[str, Any]:
    """Return the data needed to reproduce the report."""
    return {"origin": data.origin}
