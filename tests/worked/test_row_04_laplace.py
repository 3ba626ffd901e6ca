"""Row 4: without smoothing an unseen pair is impossible; add α to each count and αK to the total."""

from __future__ import annotations

import numpy as np
import pytest

import tallybayes as tb

MAIL = {"word": ["viagra", "mahalanobis", "hello", "hello"], "kind": ["spam", "ham", "ham", "spam"]}


def shares(**choices: object) -> dict[str, list[float]]:
    table = tb.fit(MAIL, "kind", **choices).table("word")
    return dict(zip(table.rows, table.values.tolist(), strict=True))


def test_the_most_likely_shares_are_0_or_1_for_words_of_one_kind() -> None:
    assert shares(estimate="mle") == {"hello": [0.5, 0.5], "mahalanobis": [0.5, 0.0], "viagra": [0.0, 0.5]}


@pytest.mark.parametrize("alpha", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("estimate", ["map", "bayes"])
def test_alpha_is_added_to_each_count_and_k_times_alpha_to_the_total(alpha: float, estimate: str) -> None:
    got = shares(estimate=estimate, alpha=alpha)
    np.testing.assert_allclose(got["viagra"], [alpha / (2 + 3 * alpha), (1 + alpha) / (2 + 3 * alpha)], rtol=1e-15)


def test_alpha_0_is_the_most_likely() -> None:
    assert shares(alpha=0.0) == shares(estimate="mle")


def test_alpha_may_differ_by_column() -> None:
    rows = {**MAIL, "other": ["a", "b", "a", "b"]}
    model = tb.fit(rows, "kind", alpha={"word": 2.0, "oth*": 0.0})
    np.testing.assert_allclose(model.table("word").values[2], [2 / 8, 3 / 8], rtol=1e-15)
    np.testing.assert_allclose(model.table("other").values[0], [0.5, 0.5], rtol=1e-15)


def test_a_row_impossible_under_every_class_is_reported_and_answered_by_the_prior() -> None:
    rows = {"a": ["p", "q"], "b": ["p", "q"], "kind": ["spam", "ham"]}
    model = tb.fit(rows, "kind", estimate="mle")
    with pytest.warns(tb.ImpossibleRowWarning, match=r"1 of these rows \(first: row 1\)"):
        probabilities = model.predict_proba([{"a": "p", "b": "q"}])
    assert probabilities.tolist() == [[0.5, 0.5]]
