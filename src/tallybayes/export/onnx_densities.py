"""Densities and counts in an ONNX graph: all columns of the same form are scored at once.

The runtime spends more on a dozen operators for each column than on a dozen for a matrix. Its rows are columns of
numbers, (F, n): a parameter of a column is then one number for a long run of memory.

    student    log(1/s² + (u − l)²)      lomax    log(1/s + u)      normal    (u − l)²

are computed for each class, where u is centred and scaled once for all classes, so that l is near 0 and s near 1. A
product with a matrix of coefficients sums them. A missing number is 0 in every matrix of a product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallybayes.cached_property import cached_property
from tallybayes.events.inputs import Floats
from tallybayes.events.plain_terms import LinearCounts, NamedDensity
from tallybayes.export.onnx_graph import DOUBLE, Graph
from tallybayes.export.scorecard import ScoredTerm

__all__ = ["IMPOSSIBLE", "Densities", "finite", "form_of"]

IMPOSSIBLE = -1e200  # −∞ in a graph: unlike it, times 0 is 0. No sum of possible scores comes near.
_FAR = 1e90  # standard deviations; squares of larger numbers might overflow
_WIDE = 1e-75  # of the narrowest class's scale; squares of smaller ones might underflow
_NEAR = 100.0  # standard deviations; (u − l)² as u² − 2ul + l² then loses 1e-12 at most
_STEEP = 1e5  # a power times the rounding of 1 + z², 1e-16, stays below 1e-11


def finite(log: Floats) -> Floats:
    """Return logarithms with a large number for −∞, which times 0 is no number."""
    return np.where(np.isneginf(log), IMPOSSIBLE, log)


def form_of(term: ScoredTerm) -> tuple[str, bool, str]:
    """Return what columns must share to be scored at once."""
    plain = term.plain
    if isinstance(plain, NamedDensity):
        return plain.form, plain.of_log, plain.domain
    assert isinstance(plain, LinearCounts)
    return plain.kind, False, plain.domain


class Densities:
    """Columns of numbers, and what densities of the same form have for them."""

    def __init__(self, graph: Graph, columns: Sequence[str], terms: Sequence[ScoredTerm]) -> None:
        self._g, self._terms, self._F = graph, terms, len(terms)
        self._form, self._of_log, self._domain = form_of(terms[0])
        self._C = len(terms[0].missing)
        self._weights = np.array([[term.weight] for term in terms])  # (F, 1)
        self._x = graph.op("Reshape", graph.op("Concat", *columns, axis=0), graph.const([self._F, -1]))  # (F, n)
        self._missing = graph.op("IsNaN", self._x)
        u = graph.op("Log", self._x) if self._of_log else self._x
        self._u = graph.op("Where", self._missing, graph.const(self._centre), u)
        self._present = graph.op("Cast", graph.op("Not", self._missing), to=DOUBLE)

    def lacking(self) -> str:
        """Return whether (n, 1) a number of a row is missing."""
        return self._any(self._missing)

    def outside(self) -> list[str]:
        """Return conditions (n, 1) under which a number is outside of its column's domain."""
        g = self._g
        if self._domain != "finite":
            return [self._any(one) for one in g.outside(self._x, self._domain)]
        zeros = g.const(np.zeros((1, self._F)))
        return [self._upright(g.op("IsNaN", g.op("MatMul", zeros, self._u)))]  # infinity times 0

    def amounts(self) -> str:  # (n, 2C + 1)
        """Return the plain and weighted amounts of each row, and its length, summed over the columns."""
        g, C, F = self._g, self._C, self._F
        constant = np.zeros((F, C)) if self._form == LinearCounts.kind else self._parameter("constant")
        parts = self._parts(constant)
        always = self._product(np.append(self._both(constant), np.ones((F, 1)), axis=1), self._present)
        parts.append(self._rows(always, 0, 2 * C))
        missing = np.stack([term.missing for term in self._terms])
        if missing.any():
            absent = g.op("Cast", self._missing, to=DOUBLE)
            parts.append(self._product(np.concatenate([np.zeros((F, C)), missing], axis=1), absent))
        size = self._rows(always, 2 * C, 2 * C + 1)
        if self._form == LinearCounts.kind:
            size = self._product(np.ones((F, 1)), self._u)
        return self._upright(g.op("Concat", g.op("Sum", *parts), size, axis=0))

    def _parts(self, constant: Floats) -> list[str]:
        """Return products (2C, n); `constant` takes what they lack."""
        if self._form == LinearCounts.kind:
            return [self._line(np.stack([t.plain.log for t in self._terms if isinstance(t.plain, LinearCounts)]))]
        if self._form == "linear":
            return [self._line(self._parameter("slope"))]
        if self._form == "negative binomial":
            return self._counts()
        return self._curves(constant)

    def _line(self, slope: Floats) -> str:
        return self._product(self._both(slope), self._u)

    def _counts(self) -> list[str]:
        """Return the line and the curves of negative binomial densities."""
        g, size = self._g, self._parameter("size")
        u = g.op("Max", self._u, g.const(0.0))
        curves = [self._rise(np.where(size > 0, size, 1.0)[:, [c]], u) for c in range(self._C)]
        possible = np.where(size > 0, 1.0, 0.0)
        parts = [self._line(self._parameter("slope")), self._each(possible, curves)]
        if not possible.all():
            some = g.op("Cast", g.op("Greater", u, g.const(0.0)), to=DOUBLE)
            parts.append(self._product(np.tile(np.where(size > 0, 0.0, IMPOSSIBLE), 2), some))
        return parts

    def _curves(self, constant: Floats) -> list[str]:
        """Return the sums of curves with one hump; lomax has the right half of one."""
        g, scale, squared = self._g, self._parameter("scale"), self._form != "lomax"
        unit = np.where(scale.any(axis=1), scale.max(axis=1), 1.0)[:, None]
        u = g.op("Mul", g.op("Sub", self._u, g.const(self._centre)), g.const(unit))  # 0 for a missing number
        u = g.op("Clip", u, g.const(-_FAR if squared else 0.0), g.const(_FAR))
        scale, curves = np.maximum(scale / unit, _WIDE), [u] * self._C
        if squared:
            location = (self._parameter("location") - self._centre + self._parameter("rest")) * unit
            if self._form == "normal" and np.abs(scale * location).max() < _NEAR:
                constant -= (scale * location) ** 2
                square = self._product(self._both(-(scale**2)), g.op("Mul", u, u))
                return [square, self._product(self._both(2 * scale**2 * location), u)]
            away = [g.op("Sub", u, g.const(location[:, [c]])) for c in range(self._C)]
            curves, scale = [g.op("Mul", one, one) for one in away], scale**2
        if self._form == "normal":
            return [self._each(-scale, curves)]
        power = self._parameter("power")
        if power.max() > _STEEP:
            logs = [self._log1p(g.op("Mul", one, g.const(scale[:, [c]]))) for c, one in enumerate(curves)]
        else:
            logs = [g.op("Log", g.op("Add", one, g.const(1 / scale[:, [c]]))) for c, one in enumerate(curves)]
            constant -= power * np.log(scale)
        return [self._each(-power, logs)]

    def _log1p(self, y: str) -> str:
        """Return log(1 + y), and what the rounding of 1 + y takes from it."""
        g, one = self._g, self._g.const(1.0)
        whole = g.op("Add", y, one)
        lost = g.op("Sub", y, g.op("Sub", whole, one))
        return g.op("Add", g.op("Log", whole), g.op("Div", lost, whole))

    def _rise(self, a: Floats, x: str) -> str:
        """Return log Γ(a + x) − log Γ(a), by Stirling's series from 16 on."""
        g, parts = self._g, []
        steps = np.where(a < 16, np.ceil(16 - a), 0.0)
        for k in range(int(steps.max())):
            ratio = g.op("Log", g.op("Div", g.const(a + k), g.op("Add", g.const(a + k), x)))
            parts.append(g.op("Mul", ratio, g.const((k < steps).astype(np.float64))))
        b = a + steps
        z = g.op("Add", g.const(b), x)
        square, series = g.op("Mul", z, z), g.const(1 / 1680)
        for share in (1 / 1260, 1 / 360, 1 / 12):
            series = g.op("Sub", g.const(share), g.op("Div", series, square))
        tail = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * b**2)) / b**2) / b**2) / b
        grown = self._log1p(g.op("Div", x, g.const(b)))
        parts.append(g.op("Mul", x, g.const(np.log(b) - 1)))
        parts.append(g.op("Mul", g.op("Sub", z, g.const(0.5)), grown))
        parts.append(g.op("Sub", g.op("Div", series, z), g.const(tail)))
        return g.op("Sum", *parts)

    @cached_property
    def _centre(self) -> Floats:  # (F, 1)
        """The middle of the classes' locations: near it, differences are exact. Counts and waits have none."""
        if "location" not in getattr(self._terms[0].plain, "parameters", {}):
            return np.zeros((self._F, 1))
        return np.asarray(self._parameter("location").mean(axis=1, keepdims=True))

    def _parameter(self, name: str) -> Floats:  # (F, C)
        """Return the parameter of each column; there is no rest where it does not matter."""
        each = (term.plain.parameters for term in self._terms if isinstance(term.plain, NamedDensity))
        return np.stack([of.get(name, np.zeros(self._C)) if name == "rest" else of[name] for of in each])

    def _both(self, log: Floats) -> Floats:  # (F, 2C)
        """Return plain and weighted amounts; what is impossible stays so."""
        never = np.isneginf(log)
        weighted = np.where(never, -np.inf, self._weights * np.where(never, 0.0, log))
        return finite(np.concatenate([log, weighted], axis=1))

    def _product(self, coefficients: Floats, of: str) -> str:
        """Return sums over columns, given coefficients (F, T) and a matrix (F, n)."""
        return self._g.op("MatMul", self._g.const(np.ascontiguousarray(coefficients.T)), of)

    def _each(self, coefficients: Floats, curves: Sequence[str]) -> str:  # (2C, n)
        """Return the plain and weighted sums over columns of a matrix for each class, given coefficients (F, C)."""
        both, C = self._both(coefficients), self._C
        known = [self._g.op("Mul", one, self._present) for one in curves]
        sums = [self._product(both[:, [c, C + c]], one) for c, one in enumerate(known)]
        order = np.arange(2 * C).reshape(C, 2).T.reshape(-1)
        return self._g.op("Gather", self._g.op("Concat", *sums, axis=0), self._g.const(order), axis=0)

    def _any(self, condition: str) -> str:  # (n, 1)
        """Return whether a condition (F, n) holds for any column."""
        g = self._g
        count = self._product(np.ones((self._F, 1)), g.op("Cast", condition, to=DOUBLE))
        return self._upright(g.op("Greater", count, g.const(0.0)))

    def _rows(self, of: str, start: int, stop: int) -> str:
        return self._g.op("Slice", of, self._g.const([start]), self._g.const([stop]), self._g.const([0]))

    def _upright(self, row: str) -> str:
        return self._g.op("Transpose", row, perm=[1, 0])
