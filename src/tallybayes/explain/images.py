"""Columns as pixels: the average image of each class, and the log-odds of each pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt

from tallybayes.arguments import listed, shown
from tallybayes.display.shades import shaded
from tallybayes.display.tables import Column, Grid, Result, Sheet, number, plain
from tallybayes.errors import BadData, BadOption, did_you_mean, wanted
from tallybayes.events.inputs import Floats
from tallybayes.events.likelihood import Pixels
from tallybayes.model import Model

# Characters per terminal line that images side by side may fill.
_LINE = 80
_LOUDEST = 10


@dataclass(frozen=True, eq=False, repr=False)
class Against(Result):
    """The log-odds (natural) of each pixel for one class against another.

    Attributes
    ----------
    classes : tuple of two
        The class that positive numbers favour, and the one it is compared with.
    unit : str
        The unit of the averages, which defines dark and lit.
    dark, lit : ndarray, shape (H, W)
        Log-likelihood ratio of the first class to the second if the pixel is dark, or lit.
    """

    classes: tuple[Any, Any]
    unit: str
    dark: Floats
    lit: Floats

    @property
    def log_odds(self) -> Floats:  # (H, W)
        """The change of log-odds when a pixel is lit rather than dark; NaN where both are impossible."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.lit - self.dark)

    def shown(self) -> Grid:
        """Return a table of the pixels with the largest log-odds, dark and lit."""
        size = np.nan_to_num(np.abs(self.log_odds), nan=-1.0, posinf=np.inf).ravel()
        loudest = np.argsort(-size, kind="stable")[:_LOUDEST]
        rows = []
        for at in loudest:
            y, x = divmod(int(at), self.lit.shape[1])
            figures = (self.lit[y, x], self.dark[y, x], self.log_odds[y, x])
            rows.append((f"row {y + 1}, column {x + 1}", *(number(float(v), 2) for v in figures)))
        one, other = self.classes
        notes = (f"Natural log-odds: above 0 for {one}, below 0 for {other}.",)
        title = f"{one} against {other}: the pixels that say most"
        return Grid(title, ("pixel", "lit", "dark", "lit rather than dark"), tuple(rows), notes)

    def points(self) -> list[dict[str, Any]]:
        """Return the records that the chart draws, one per pixel; infinities are cut to the largest finite size."""
        values = self.log_odds
        finite = np.abs(values[np.isfinite(values)])
        most = float(finite.max(initial=0.0)) or 1.0
        return _records(np.clip(values, -most, most), "log_odds")

    def chart(self) -> Any:
        """Return an Altair chart: blue for the first class, orange for the second."""
        from tallybayes.display.charts.picture import against_chart

        return against_chart(self.points(), self.lit.shape, (str(self.classes[0]), str(self.classes[1])))

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, with None for infinities."""
        return super().to_dict() | self._named("log_odds")


@dataclass(frozen=True, eq=False, repr=False)
class Picture(Result):
    """The average image of each class.

    Attributes
    ----------
    classes : tuple
        The classes.
    unit : str
        The unit of the averages: "probability of 1", "mean", "share", "rate" or "median".
    average : ndarray, shape (C, H, W)
        The average of each pixel.
    dark, lit : ndarray, shape (C, H, W)
        The log-probability of each pixel being dark and lit, up to a constant common to all classes.
    """

    classes: tuple[Any, ...]
    unit: str
    average: Floats
    dark: Floats
    lit: Floats

    def against(self, one: Any, other: Any) -> Against:
        """Return the log-odds of each pixel for one class against another.

        Examples
        --------
        >>> import tallybayes as tb
        >>> strokes = {"left": [1, 1, 0], "right": [0, 1, 1], "digit": [5, 5, 6]}
        >>> seen = tb.fit(strokes, "digit", events="bernoulli").picture((1, 2)).against(5, 6)
        >>> seen.lit.round(3).tolist()      # log of (3/4) / (1/3), and of (1/2) / (2/3)
        [[0.811, -0.288]]
        """
        a, b = (_place(self.classes, given) for given in (one, other))
        with np.errstate(invalid="ignore"):
            dark, lit = self.dark[a] - self.dark[b], self.lit[a] - self.lit[b]
        return Against((self.classes[a], self.classes[b]), self.unit, dark, lit)

    def shown(self) -> Sheet:
        """Return the averages as shaded characters, as many side by side as fit a line."""
        drawn = shaded(self.average)
        width = max(len(drawn[0][0]), *(len(str(c)) for c in self.classes)) + 2
        beside = max(1, _LINE // width)
        grids = []
        for start in range(0, len(drawn), beside):
            some = slice(start, start + beside)
            columns = tuple(Column(str(c), right=False) for c in self.classes[some])
            grids.append(Grid("", columns, tuple(zip(*drawn[some], strict=True))))
        low, high = (number(float(v)) for v in (np.min(self.average), np.max(self.average)))
        note = f"{self.unit.capitalize()} of each pixel, from {low} (blank) to {high} (█)."
        return Sheet(f"Class averages, {_by(self.average.shape[1:])}", tuple(grids), (note,))

    def points(self) -> list[dict[str, Any]]:
        """Return the records that the chart draws: one for each pixel of each class."""
        pairs = zip(self.classes, self.average, strict=True)
        return [{"class": str(c)} | record for c, image in pairs for record in _records(image, "average")]

    def chart(self) -> Any:
        """Return an Altair chart with one image per class; ``chart().save("averages.png")`` writes it."""
        from tallybayes.display.charts.picture import picture_chart

        height, width = self.average.shape[1:]
        return picture_chart(self.points(), (height, width), [str(c) for c in self.classes], self.unit)


def picture(
    model: Model,
    shape: tuple[int, int],
    *,
    columns: str | Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
) -> Picture:
    """Return the average image of each class: see `Model.picture`."""
    names = _pixel_columns(model, columns)
    _check_shape(shape, len(names))
    light = _light(model, names)
    if np.isnan(light.average).any():
        at = int(np.argmax(np.isnan(light.average).any(axis=0)))
        raise BadData(wanted(f"picture, column {names[at]!r}", "numbers or booleans", "values of another kind"))
    order = [
        _place(model.classes, c)
        for c in (model.classes if classes is None else listed("picture classes", classes, "classes"))
    ]
    if not order:
        raise BadOption(wanted("picture classes", "at least one class", "none"))
    images = (part[order].reshape(len(order), *shape) for part in (light.average, light.dark, light.lit))
    return Picture(tuple(model.classes[c] for c in order), light.unit, *images)


def _pixel_columns(model: Model, columns: str | Sequence[str] | None) -> Sequence[str]:
    """Return the columns that are pixels, in order."""
    if columns is None:
        return model.schema.columns
    if not isinstance(columns, str):
        return listed("picture columns", columns, "a glob or names of columns")
    found = [name for name in model.schema.columns if fnmatchcase(name, columns)]
    if not found:
        do = did_you_mean(columns, model.schema.columns)
        raise BadOption(wanted("picture columns", "a glob or names of columns", repr(columns), do))
    return found


def _check_shape(shape: Any, pixels: int) -> None:
    whole = isinstance(shape, tuple | list) and len(shape) == 2 and all(isinstance(s, int | np.integer) for s in shape)
    if whole and shape[0] > 0 and shape[1] > 0 and shape[0] * shape[1] == pixels:
        return
    fits = [(h, pixels // h) for h in range(1, pixels + 1) if pixels % h == 0]
    nearest = [str(fit) for fit in sorted(fits, key=lambda fit: abs(fit[0] - fit[1]))[:4]]
    got = f"{tuple(shape)} of {shape[0] * shape[1]} pixels" if whole else repr(shape)
    want = f"height and width of {pixels} pixels, one for each column"
    raise BadOption(wanted("picture shape", want, got, f"{' or '.join(nearest)} would fit; or choose columns"))


def _light(model: Model, names: Sequence[str]) -> Pixels:
    """Return the named columns as pixels; all must have one unit."""
    parts: dict[int, Pixels] = {}
    places = _places(model, names)
    for b in sorted({b for b, _ in places}):
        light = model.belief.likelihoods[b].pixels()
        if light is None:
            name = next(name for name, (at, _) in zip(names, places, strict=True) if at == b)
            raise BadData(
                wanted(f"picture, column {name!r}", "a column that is a pixel", model.schema.blocks[b].event.name)
            )
        parts[b] = light
    units = sorted({light.unit for light in parts.values()})
    if len(units) > 1:
        do = "Choose those that are pixels: columns=..."
        raise BadData(wanted("picture columns", "columns of one kind", " and ".join(units), do))
    block, at = (np.array(side, np.intp) for side in zip(*places, strict=True))
    stacked = [np.empty((len(model.classes), len(names))) for _ in range(3)]
    for b, light in parts.items():
        for out, part in zip(stacked, (light.average, light.dark, light.lit), strict=True):
            out[:, block == b] = part[:, at[block == b]]
    return Pixels(units[0], *stacked)


def _places(model: Model, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the block of each column, and its position in the block."""
    places = {name: (b, f) for b, block in enumerate(model.schema.blocks) for f, name in enumerate(block.columns)}
    for name in names:
        if not isinstance(name, str) or name not in places:
            do = did_you_mean(str(name), places)
            raise BadOption(wanted("picture columns", "columns of the model", shown(name), do))
    return [places[name] for name in names]


def _place(classes: tuple[Any, ...], given: Any) -> int:
    if given not in classes:
        raise BadOption(wanted("picture classes", "a class", repr(given), did_you_mean(str(given), map(str, classes))))
    return classes.index(given)


def _records(image: npt.NDArray[np.float64], name: str) -> list[dict[str, Any]]:
    values = plain(image)
    return [{"row": y, "column": x, name: value} for y, line in enumerate(values) for x, value in enumerate(line)]


def _by(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} × {shape[1]}"
