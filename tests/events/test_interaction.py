from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tallybayes.encoding.row_batch import RowBatch
from tallybayes.errors import CannotMerge
from tallybayes.events.interaction import BINS, Interaction, Part, _posterior, interaction_tables
from tallybayes.evidence.evidence import Evidence, count
from tallybayes.inference.choices import Choices
from tallybayes.inference.estimate import estimate
from tallybayes.inference.leave_one_out import LeftOutRows
from tallybayes.inference.score import add_scores
from tallybayes.schema.schema import Block, Schema

NUMBERS = Part("n", BINS, (0.0, 1.0), ("up to 0", "up to 1", "above 1"))
COLOURS = Part("c", "text", ("blue", "red"), ("blue", "red", "other"))
FLAGS = Part("f", "booleans", (False, True), ("False", "True"))
CHOICES = Choices(alpha=1.0)


def schema(*parts, base=1.0, weight=None):
    name = " & ".join(part.column for part in parts)
    return Schema("y", weight, (Block(Interaction(parts, base), (name,)),), ("n", "c", "f"))


PAIR = schema(NUMBERS, COLOURS)
TRIPLE = schema(NUMBERS, COLOURS, FLAGS)


def rows(n, seed=0, weights=False):
    rng = np.random.default_rng(seed)
    missing = rng.random((2, n)) < 0.1
    columns = {
        "n": pa.array(rng.normal(size=n), mask=missing[0]),
        "c": pa.array(rng.choice(["red", "blue", "green", "pink"], n), mask=missing[1]),
        "f": pa.array(rng.random(n) < 0.5),
        "y": pa.array(rng.choice(["p", "q", "r"], n)),
    }
    if weights:
        columns["w"] = pa.array(rng.choice([0.25, 1.0, 2.0], n))
    return pa.record_batch(columns)


@pytest.mark.parametrize("made", [PAIR, TRIPLE])
def test_order_and_batches_do_not_matter(made):
    whole = rows(60)
    shuffled = whole.take(pa.array(np.random.default_rng(1).permutation(60)))
    parts = count(made, whole.slice(0, 7)) + count(made, whole.slice(7, 20)) + count(made, whole.slice(27))
    assert count(made, whole) == count(made, shuffled) == parts


@pytest.mark.parametrize("made", [PAIR, TRIPLE])
def test_what_is_added_can_be_subtracted(made):
    one, other = count(made, rows(40)), count(made, rows(30, seed=2))
    assert (one + other) - other == one
    assert one - one == Evidence.empty(made)
    with pytest.raises(CannotMerge, match="wanted rows that were counted before"):
        one - other


@pytest.mark.parametrize("made", [PAIR, TRIPLE])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_left_out_is_a_refit_with_the_same_weights_of_kappa(made, weighted, monkeypatch):
    made = replace(made, weight="w" if weighted else None)
    batch, weight = rows(40, weights=weighted), None
    evidence = count(made, batch)
    classes = evidence.classes.find(batch.column("y")).astype(np.int32)
    if weighted:
        weight = batch.column("w").to_numpy()
    [event] = [block.event for block in made.blocks]
    omega = _posterior(event.counts(evidence.statistics[0]), len(event.parts))
    left = LeftOutRows(evidence, RowBatch(batch), classes, weight).scores(CHOICES)
    monkeypatch.setattr("tallybayes.events.interaction._posterior", lambda counts, parts: omega)
    for i in range(len(batch)):
        others = evidence - count(made, batch.slice(i, 1))
        assert others.classes == evidence.classes
        out = np.empty((1, len(others.classes)))
        add_scores(made, estimate(others, CHOICES), CHOICES, RowBatch(batch.slice(i, 1)), out)
        np.testing.assert_allclose(left[i], out[0], rtol=0, atol=1e-9)


def test_a_part_that_is_missing_or_never_seen_says_nothing():
    batch = rows(50).filter(pa.array([value in ("red", "blue") for value in rows(50).column("c").to_pylist()]))
    evidence = count(PAIR, batch)
    belief = estimate(evidence, CHOICES)
    new = pa.record_batch({"n": [0.5, None, 0.5], "c": ["never", "red", None]})
    out = np.empty((3, len(evidence.classes)))
    add_scores(PAIR, belief, CHOICES, RowBatch(new), out)
    np.testing.assert_array_equal(out, np.tile(belief.log_prior, (3, 1)))


def test_without_base_only_a_weight_makes_it_count():
    made = schema(NUMBERS, COLOURS, base=0.0)
    evidence, batch = count(made, rows(50)), RowBatch(rows(50))
    [likelihood] = estimate(evidence, CHOICES).likelihoods
    data = batch.encode(made.blocks[0], likelihood.categories)
    whole = estimate(count(PAIR, rows(50)), CHOICES).likelihoods[0].log_prob(data)
    assert not likelihood.log_prob(data).any()
    np.testing.assert_allclose(likelihood.scaled(np.array([0.5]), {}).log_prob(data), 0.5 * whole)


def test_independent_columns_hardly_interact():
    rng = np.random.default_rng(0)
    counts = rng.poisson(200, (2, 3, 4)).astype(float)
    assert np.abs(interaction_tables(counts, 2).full).max() < 0.1  # the raw ratios of these cells reach 0.2


def test_many_tables_at_once_are_those_of_each():
    counts = np.random.default_rng(0).poisson(2, (5, 3, 4, 2)).astype(float)
    for k, found in enumerate(zip(*interaction_tables(counts, 2), strict=True)):
        for mine, alone in zip(found, interaction_tables(counts[k], 2), strict=True):
            np.testing.assert_allclose(mine, alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("parts", "base"),
    [
        ([list(NUMBERS)], 1.0),
        ([list(NUMBERS), list(COLOURS)], 0.5),
        ([list(NUMBERS), ["c", "text", ["red"], ["red", "blue", "other"]]], 1.0),
        ([list(NUMBERS), ["c", BINS, [1.0], ["all"]]], 1.0),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, base):
    with pytest.raises(ValueError, match="parts"):
        Interaction.of(parts, base)


def test_parts_survive_as_plain_values():
    event = PAIR.blocks[0].event
    assert Interaction.of([[*part[:2], list(part[2]), list(part[3])] for part in event.parts], 1.0) == event
