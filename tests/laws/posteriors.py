"""Draws from the posterior of the parameters, for each event model, by textbook formulas.

Written from the definitions and apart from the closed forms that they check: Dirichlet for shares, Gamma for rates,
Normal-Gamma for bells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tallybayes.events.exponential import Lomax
from tallybayes.events.families.normal import Normal
from tallybayes.events.likelihood import Likelihood
from tallybayes.events.poisson import NegativeBinomial

# from the likelihood, the rows themselves and α to a likelihood of parameters drawn
Draws = Callable[[Any, pa.Table, float, np.random.Generator], Likelihood]


def log_dirichlet(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return logs of Dirichlet draws with parameters (C, V), as (V, C)."""
    drawn = rng.gamma(shapes)
    return np.ascontiguousarray(np.log(drawn / drawn.sum(axis=1, keepdims=True)).T)


def others(counts: np.ndarray) -> np.ndarray:
    """Return the counts of all other classes, for each class."""
    return counts.sum(axis=0) - counts


def columns_of(table: pa.Table) -> Iterator[list[np.ndarray]]:
    """Return each column's values that are not missing, by class."""
    label = np.array(table.column("label").to_pylist())
    for name in ("c0", "c1", "c2"):
        values = table.column(name).to_numpy().astype(float)
        yield [values[(label == c) & ~np.isnan(values)] for c in np.unique(label)]


def categorical(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    statistic = likelihood.statistic
    counts = statistic.sums["counts"].to_float()
    parts = []
    for f in range(len(statistic.labels)):
        parts += [log_dirichlet(counts[:, statistic.values_of(f)] + alpha, rng), np.zeros((1, len(counts)))]
    return replace(likelihood, log=np.concatenate(parts))


def bins(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    counts, start, parts = likelihood.inner.statistic.sums["counts"].to_float(), 0, []
    for size in likelihood.cuts.sizes.tolist():
        parts.append(log_dirichlet(counts[:, start : start + size] + alpha, rng))
        start += size
    return replace(likelihood, log=np.concatenate(parts))


def bernoulli(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    statistic = likelihood.statistic
    ones, n = statistic.sums["ones"].to_float(), statistic.present().to_float()
    p = np.ascontiguousarray(rng.beta(ones + alpha, n - ones + alpha).T)
    return replace(likelihood, log_zero=np.log1p(-p), log_one=np.log(p))


def multinomial(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    statistic = likelihood.statistic
    return replace(likelihood, log=log_dirichlet(statistic.sums["counts"].to_float() + alpha, rng))


def complement(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    statistic = likelihood.statistic
    return replace(likelihood, log=-log_dirichlet(others(statistic.sums["counts"].to_float()) + alpha, rng))


def bells(by_column: list[list[np.ndarray]], alpha: float, rng: np.random.Generator) -> Normal:
    location, variance = [], []
    for by_class in by_column:
        whole = np.concatenate(by_class)
        for x in by_class:
            k = len(x) + alpha
            m = (x.sum() + alpha * whole.mean()) / k
            s = x.var() * len(x) + len(x) * alpha / k * (x.mean() - whole.mean()) ** 2 + alpha * whole.var()
            precision = rng.gamma(k / 2, 2 / s)
            location.append(rng.normal(m, 1 / np.sqrt(k * precision)))
            variance.append(1 / precision)
    shape = (len(by_column), -1)
    parts = [np.ascontiguousarray(np.reshape(part, shape).T) for part in (location, variance)]
    return Normal(*parts, None, np.ones_like(parts[0]), np.zeros_like(parts[0]))


def gaussian(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    return replace(likelihood, density=bells(list(columns_of(table)), alpha, rng))


def lognormal(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    logs = [[np.log(x) for x in by_class] for by_class in columns_of(table)]
    return replace(likelihood, density=bells(logs, alpha, rng))


def poisson(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    rates = []
    for by_class in columns_of(table):
        whole = np.concatenate(by_class)
        m = (whole.sum() + 0.5) / (len(whole) + 1)
        rates.append([rng.gamma(x.sum() + alpha * m, 1 / (len(x) + alpha)) for x in by_class])
    density = NegativeBinomial(np.array(rates).T, np.ones_like(np.transpose(rates)), averaged=False)
    return replace(likelihood, density=density)


def exponential(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    rates = []
    for by_class in columns_of(table):
        m = np.concatenate(by_class).mean()
        rates.append([rng.gamma(len(x) + alpha, 1 / (x.sum() + alpha * m)) for x in by_class])
    density = Lomax(np.array(rates).T, np.ones_like(np.transpose(rates)), averaged=False)
    return replace(likelihood, density=density)


def text(likelihood: Any, table: pa.Table, alpha: float, rng: np.random.Generator) -> Likelihood:
    drawn, statistic, bag = [], likelihood.statistic, likelihood.event.bag
    for f, words in enumerate(likelihood.columns):
        kept = statistic.values_of(f)[statistic.labels[f].find(words.vocabulary.array)]
        name = "tokens" if bag in ("multinomial", "complement") else "documents"
        counts = statistic.sums[name].to_float()[:, kept]
        if bag == "bernoulli":
            n = statistic.present().to_float()[:, [f]]
            p = np.ascontiguousarray(rng.beta(counts + alpha, n - counts + alpha).T)
            new = replace(words, table=np.log(p / (1 - p)), base=np.log1p(-p).sum(axis=0))
        else:
            counts = others(counts) if bag == "complement" else counts
            smooth = words.unknown is not None
            shares = log_dirichlet(np.pad(counts, ((0, 0), (0, int(smooth)))) + alpha, rng)
            shares = -shares if bag == "complement" else shares
            table = np.ascontiguousarray(shares[: len(kept)])
            new = replace(words, table=table, unknown=shares[-1] if smooth else None)
        new.__dict__["lookup"] = words.lookup
        drawn.append(new)
    return replace(likelihood, columns=tuple(drawn))


POSTERIORS: dict[str, Draws] = {
    "categorical": categorical,
    "bins": bins,
    "mdl": bins,
    "bernoulli": bernoulli,
    "multinomial": multinomial,
    "complement": complement,
    "gaussian": gaussian,
    "lognormal": lognormal,
    "poisson": poisson,
    "exponential": exponential,
    "text": text,
}
