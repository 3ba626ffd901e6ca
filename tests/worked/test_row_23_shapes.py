"""Row 23: joint, marginal and conditional probability by counting shapes: of eight three are red, two of them round."""

from __future__ import annotations

import pytest

import tallybayes as tb

SHAPES = {
    "shape": ["circle", "circle", "square", "circle", "square", "triangle", "triangle", "square"],
    "colour": ["red", "red", "red", "blue", "blue", "blue", "green", "green"],
}


@pytest.mark.parametrize(
    ("query", "hits", "total"),
    [
        ("circle, red", 2, 8),
        ("red", 3, 8),
        ("circle | red", 2, 3),
        ("red | circle", 2, 3),
        ("circle", 3, 8),
    ],
)
def test_counts_are_those_of_the_slide(query: str, hits: int, total: int) -> None:
    found = tb.probability(SHAPES, query)
    assert (found.hits, found.total, float(found)) == (hits, total, hits / total)
    assert 0 < found.low < found.probability < found.high < 1


def test_the_identities_of_the_slides_hold() -> None:
    p = {
        query: float(tb.probability(SHAPES, query))
        for query in ("circle, red", "circle | red", "red | circle", "red", "circle")
    }
    assert p["circle | red"] == pytest.approx(p["circle, red"] / p["red"])
    assert p["circle, red"] == pytest.approx(p["circle | red"] * p["red"])
    assert p["red | circle"] == pytest.approx(p["circle | red"] * p["red"] / p["circle"])  # Bayes' rule


def test_a_table_of_any_size_is_queried_in_the_same_way(data) -> None:
    votes = data / "house-votes-84" / "house_votes_84.csv.gz"
    found = tb.probability(votes, "label=democrat | physician-fee-freeze=n", missing_values=["?"])
    assert (found.hits, found.total) == (245, 247)
    assert found.missing == 11
