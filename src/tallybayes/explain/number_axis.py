"""The axis on which a column of numbers is drawn where a plain one would show a spike and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallybayes.events.inputs import Floats

__all__ = ["NumberAxis", "find_axis"]

# The share of rows with one and the same number that hides the density of all others.
_SPIKE = 0.2
# Distinct numbers. Fewer are drawn one by one, and a frequent one hides nothing.
_FEWEST = 20
# How far the 1st or 99th percentile is from the median, in interquartile ranges: 1.7 for a normal column, 3.6 for an
# exponential one, 6.4 for a lognormal one with σ = 1, which a plain axis hardly shows.
_HEAVY = 5.0
# The range of all numbers in ranges of the inner 98 %, on the axis: 1.2 for 400 lognormal ones, at most 1.8
# in 200 draws.
_FAR = 2.0
_POINTS = 120  # of a curve; more would not be seen
_TICKS = 5


@dataclass(frozen=True)
class NumberAxis:
    """A plain or symmetric logarithmic axis, and a frequent number that is not drawn on it.

    Attributes
    ----------
    low, high : float
        The range of the numbers that are drawn.
    cuts : bool
        Whether some numbers are outside this range.
    constant : float
        The number around which the axis turns from linear to logarithmic, by sign(x) log(1 + |x| / constant); 0 for a
        plain axis.
    spike : float or None
        The number that is left out, because its rows would hide all others.
    gap : float
        The distance from the spike within which nothing else was seen.
    """

    low: float
    high: float
    constant: float = 0.0
    spike: float | None = None
    gap: float = 0.0
    cuts: bool = False

    def forward(self, x: Floats) -> Floats:
        """Return the places of numbers on the axis."""
        return np.sign(x) * np.log1p(np.abs(x) / self.constant) if self.constant else np.asarray(x)

    def backward(self, u: Floats) -> Floats:
        """Return the numbers at places of the axis."""
        return np.sign(u) * np.expm1(np.abs(u)) * self.constant if self.constant else np.asarray(u)

    def stretch(self, x: Floats) -> Floats:
        """Return the factor from a density of numbers to one of places, so that equal areas are equal shares."""
        return np.abs(x) + self.constant if self.constant else np.ones_like(x)

    def cut(self, parts: int) -> Floats:  # (parts + 1,)
        """Return the edges of parts that are equally wide on the axis."""
        first, last = self.forward(np.array([self.low, self.high])).tolist()
        edges = self.backward(np.linspace(first, last, parts + 1))
        edges[[0, -1]] = self.low, self.high  # without rounding
        return edges

    def points(self) -> tuple[float, ...]:
        """Return the numbers at which a curve is drawn: none beside the spike."""
        grid = self.cut(_POINTS - 1)
        return tuple((grid if self.spike is None else grid[np.abs(grid - self.spike) >= self.gap]).tolist())

    def ticks(self) -> list[float]:
        """Return a few powers of ten, and 0, for a logarithmic axis."""
        most = np.floor(np.log10(max(abs(self.low), abs(self.high))))
        powers = 10.0 ** np.arange(np.floor(np.log10(self.constant)), most + 1)
        powers = powers[:: -(-len(powers) // _TICKS)]
        ticks = np.unique(np.concatenate([-powers, [0.0], powers]))
        return [float(tick) for tick in ticks if self.low <= tick <= self.high]


def find_axis(numbers: Floats) -> NumberAxis | None:
    """Return the axis for numbers with a spike or heavy tails; None where a plain one shows them.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> pay = np.where(rng.random(1000) < 0.7, 0.0, rng.lognormal(9, 1.2, 1000))
    >>> axis = find_axis(pay)
    >>> axis.spike, axis.constant > 0, find_axis(rng.normal(size=1000)) is None
    (0.0, True, True)
    """
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    if len(values) <= _FEWEST:
        return None
    top, spike, gap = int(counts.argmax()), None, 0.0
    if counts[top] >= _SPIKE * counts.sum():
        spike = float(values[top])
        values, counts = np.delete(values, top), np.delete(counts, top)
        gap = float(np.abs(values - spike).min()) / 2
    rest = np.repeat(values, counts)
    first, lower, middle, upper, last = np.percentile(rest, (1, 25, 50, 75, 99))
    heavy = max(last - middle, middle - first) > _HEAVY * (upper - lower) > 0
    if spike is None and not heavy:
        return None
    constant = float(np.percentile(np.abs(rest[rest != 0]), 5)) if heavy else 0.0
    axis = NumberAxis(float(values[0]), float(values[-1]), constant, spike, gap)
    whole, inner = (np.ptp(axis.forward(np.array(ends))) for ends in ((axis.low, axis.high), (first, last)))
    if not 0 < inner < whole / _FAR:
        return axis
    return replace(axis, low=float(first), high=float(last), cuts=True)
