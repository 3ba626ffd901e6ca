"""Row 25: independence and conditional independence, measured on data, over all rows and given the class."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb


def drawn(follow: str) -> dict[str, np.ndarray]:
    """A class and two coins, which follow nothing, the class, or one the other."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 4000)
    heads = np.where(y == 1, 0.8, 0.2) if follow == "the class" else 0.5
    a, b = (rng.random((2, 4000)) < heads).astype(int)
    if follow == "the other":
        b = np.where(rng.random(4000) < 0.9, a, b)
    return {"a": a, "b": b, "y": y}


@pytest.mark.parametrize(
    ("follow", "overall", "given"),
    [
        ("nothing", False, False),  # P(a, b) = P(a) P(b), and given y too
        ("the class", True, False),  # dependent, but independent given the class, as naive Bayes wants it
        ("the other", True, True),  # dependent whatever the class
    ],
)
def test_the_three_kinds_of_dependence_are_distinguished(follow: str, overall: bool, given: bool) -> None:
    [pair] = tb.dependence(drawn(follow), "y")
    for p, depend in ((pair.overall_p, overall), (pair.p, given)):
        assert p < 1e-6 if depend else p > 0.01


def test_independent_but_not_given_the_class_is_exclusive_or() -> None:
    [pair] = tb.dependence({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 1] * 20, "y": [0, 1, 1, 0] * 20}, "y")
    assert pair.overall_p == pytest.approx(1.0)
    assert pair.p < 1e-15


def test_independence_is_what_the_definition_says() -> None:
    rows = drawn("the class")
    joint = float(tb.probability(rows, "a=1, b=1"))
    apart = float(tb.probability(rows, "a=1")) * float(tb.probability(rows, "b=1"))
    assert abs(joint - apart) > 0.05
    for c in (0, 1):
        joint = float(tb.probability(rows, f"a=1, b=1 | y={c}"))
        apart = float(tb.probability(rows, f"a=1 | y={c}")) * float(tb.probability(rows, f"b=1 | y={c}"))
        assert abs(joint - apart) < 0.02


def test_votes_of_congress_are_not_independent_given_the_party(data) -> None:
    votes = tb.dependence(data / "house-votes-84" / "house_votes_84.csv.gz", "label", missing_values=["?"])
    assert len(votes) == 120
    assert len(votes.dependent()) == 71
    worst = votes.worst(1)[0]
    assert worst.columns == ("el-salvador-aid", "aid-to-nicaraguan-contras")
    assert (round(worst.given, 3), round(worst.overall, 3)) == (0.302, 0.638)
    assert worst.interaction < 0  # they say the same of the party, and are counted twice


def test_squares_of_a_decided_game_depend_on_each_other(data) -> None:
    game = tb.dependence(data / "tic-tac-toe" / "tic_tac_toe.csv.gz", "label")
    assert len(game.columns) == 9
    assert game.dependent()
    pair = game.worst(1)[0]
    assert pair.interaction > 0  # who has both squares says more of who wins than who has either
