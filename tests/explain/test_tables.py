from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadOption
from tallybayes.events import Event
from tests.laws.rows import every_event, rows_for

each_event = pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)


@each_event
def test_every_table_is_numbers_text_and_a_chart(event: Event, tmp_path: Path) -> None:
    model = tb.fit(rows_for(event, 60, seed=4), "label", events=event)
    for name in model.schema.columns[:1]:
        table = model.table(name)
        assert table.values.shape == (len(table.rows), 3)
        assert table.density.shape == (len(table.profile.values), 3)
        assert set(table.to_dict()) == {"column", "event", "rows", "classes", "counts", "values"}
        assert str(table).startswith(f"{name} ({event.name})")
        table.chart().save(tmp_path / "table.png")
        assert (tmp_path / "table.png").stat().st_size > 2_000
    whole = model.tables()
    assert [one.column for one in whole.columns] == list(model.schema.columns)
    assert whole.prior.shares.sum() == pytest.approx(1.0)
    assert whole.prior.rows.tolist() == model.evidence.rows.to_float().tolist()
    assert str(whole).startswith("label\n")
    assert set(whole.to_dict()) == {"prior", "columns"}


def test_tables_are_found_by_column():
    tables = tb.fit({"outlook": list("ssr"), "play": ["no", "yes", "yes"]}, "play").tables()
    assert tables["outlook"].counts.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    with pytest.raises(BadOption, match="Did you mean 'outlook'"):
        tables["outlok"]


def test_the_most_telling_words_are_those_of_the_largest_log_odds():
    texts = ["cheap pills now", "cheap cheap watches for you", "lunch today at noon", "are you free for lunch"]
    model = tb.fit(texts, ["spam", "spam", "ham", "ham"], alpha=1.0)
    table = model.table("text")
    telling = table.top_words(3)
    first = telling["spam"][0]
    assert (first.word, first.counts, first.documents) == ("cheap", (0.0, 3.0), (0.0, 2.0))
    shares = dict(zip(table.rows, table.values, strict=True))
    assert first.log_odds == pytest.approx(np.log(shares["cheap"][1] / shares["cheap"][0]))
    assert telling["ham"][0].word == "lunch"
    assert all(word.log_odds > 0 for words in telling.values() for word in words)
    assert "for spam" in str(table)


def test_densities_are_those_that_the_lecture_works_out():
    temperature = [83, 70, 68, 64, 69, 75, 75, 72, 81, 85, 80, 65, 72, 71]
    play = ["yes"] * 9 + ["no"] * 5
    model = tb.fit({"temperature": temperature, "play": play}, "play", estimate="mle", variance="n-1")
    table = model.table("temperature")
    assert dict(zip(table.rows, table.values[:, 1], strict=True))["mean"] == 73
    said = model.belief.likelihoods[0].profile(0, [66.0])
    assert np.exp(said.log[0]) == pytest.approx([0.027918, 0.033964], abs=5e-7)


def test_a_table_of_some_classes_and_of_frequent_values() -> None:
    rows = {"x": list("aaabbcdd"), "y": ["p", "q", "r", "p", "q", "r", "p", "q"]}
    table = tb.fit(rows, "y").table("x")
    some = table.of_classes(["r", "p"])
    assert some.classes == ("r", "p")
    assert (some.values == table.values[:, [2, 0]]).all()
    assert (some.density == table.density[:, [2, 0]]).all()
    few = table.frequent(2)
    assert few.rows == ("a", "b")
    assert (few.counts == table.counts[:2]).all()  # type: ignore[index]
    assert [point["value"] for point in few.points()][::3] == ["a", "b"]
    assert table.frequent(4) is table


def test_a_table_of_words_of_some_classes() -> None:
    model = tb.fit(["cheap pills", "cheap cheap watches", "lunch today"], ["spam", "spam", "ham"])
    table = model.table("text").of_classes(["spam"])
    assert list(table.top_words(1)) == ["spam"]
    assert table.top_words(1)["spam"][0].word == "cheap"
