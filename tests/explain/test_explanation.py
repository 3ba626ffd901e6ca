from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tests.examples import examples

MESSAGES = ["cheap pills now", "cheap cheap watches for you", "lunch today at noon", "are you free for lunch"]
KINDS = ["spam", "spam", "ham", "ham"]


@pytest.mark.parametrize("bag", ["multinomial", "bernoulli", "complement", "binary"])
@pytest.mark.parametrize("unknown", ["skip", "smooth"])
def test_words_add_up_to_what_their_text_says(bag, unknown):
    if bag == "bernoulli" and unknown == "smooth":
        unknown = "skip"
    model = tb.fit(MESSAGES, KINDS, events=f"text(bag={bag!r}, unknown={unknown!r})")
    one = model.explain("cheap lunch with zebra, cheap watches")
    words = {part.word: part for part in one.parts if part.word is not None}
    assert set(words) == {"cheap", "lunch", "with", "zebra", "watches"}
    assert words["cheap"].value == (2.0 if bag in ("multinomial", "complement") else 1.0)
    assert words["cheap"].counts == (0.0, 3.0)
    assert words["zebra"].note == "not known"
    total = one.prior + one.split + sum(part.term for part in one.parts)
    assert total == pytest.approx(one.log_odds, abs=1e-12)
    assert one.to_dict()["parts"][0]["column"] == "text"


WORDS = st.text(st.sampled_from(list("abAé \u0301ß-")), max_size=12)


@given(
    texts=st.lists(WORDS, min_size=4, max_size=12),
    labels=st.lists(st.sampled_from("xyz"), min_size=12, max_size=12),
    bag=st.sampled_from(["multinomial", "bernoulli", "complement", "binary"]),
    ngrams=st.sampled_from([(1, 1), (1, 2)]),
    alpha=st.sampled_from([0.1, 1.0, "loo"]),
    calibrate=st.sampled_from([None, "loo"]),
)
@examples(100)
def test_words_of_any_texts_add_up_to_the_answer(texts, labels, bag, ngrams, alpha, calibrate):
    labels = ["x", "y", *labels[2 : len(texts)]]
    event = f"text(bag={bag!r}, ngrams={ngrams})"
    model = tb.fit({"t": texts, "y": labels}, "y", events={"t": event}, alpha=alpha, calibrate=calibrate)
    for text in [*texts[:3], "ab abba ßa", ""]:
        one = model.explain({"t": text})
        total = one.prior + one.split + math.fsum(part.term for part in one.parts)
        assert total == pytest.approx(one.log_odds, rel=1e-12, abs=1e-12)
        p = model.predict_proba({"t": [text]})[0, model.classes.index(one.of)]
        assert one.probability == pytest.approx(p, rel=1e-9)


def test_one_row_may_be_given_in_many_forms():
    frame = pd.DataFrame({"x": [1.0, 2.0, 8.0, 9.0], "c": list("ppqq"), "y": ["no", "no", "yes", "yes"]})
    model = tb.fit(frame, "y")
    forms = [frame.iloc[1:2], frame.iloc[1], {"x": 2.0, "c": "p"}, [{"x": 2.0, "c": "p"}], {"x": [2.0], "c": ["p"]}]
    terms = [model.explain(form).terms.tolist() for form in forms]
    assert all(one == terms[0] for one in terms)
    X = frame[["x"]].to_numpy()
    dense = tb.fit(X, frame["y"])
    assert dense.explain(X[1]).terms.tolist() == dense.explain(X[1:2]).terms.tolist()
    assert dense.explain(X[1]).values == [2.0]


def test_unseen_values_are_marked_as_unseen():
    model = tb.fit({"c": list("ppqq"), "d": list("rsrs"), "y": ["no", "no", "yes", "yes"]}, "y")
    one = model.explain({"c": "unheard of"})
    assert list(one.notes) == ["never seen", "missing"]
    assert one.counts.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert "unheard of (never seen)" in str(one)


@st.composite
def categorical_models(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, columns, classes = 30, draw(st.integers(1, 4)), draw(st.integers(2, 3))
    rows = {f"c{f}": rng.choice(list("abc"), n).tolist() for f in range(columns)}
    labels = rng.integers(0, classes, n)
    labels[:classes] = range(classes)
    rows["y"] = [f"k{c}" for c in labels]
    return tb.fit(rows, "y"), {name: rows[name][7] for name in rows if name != "y"}


@given(drawn=categorical_models())
@examples(60)
def test_no_fewer_changes_change_the_answer(drawn):
    model, row = drawn
    answer, flip = model.predict([row])[0], model.explain(row).counterfactual
    names = list(row)

    def answers(size: int) -> set[str]:
        """Return every answer that changing n columns can give."""
        found = set()
        for some in itertools.combinations(names, size):
            values = [model.table(name).rows for name in some]
            for new in itertools.product(*values):
                found.add(model.predict([row | dict(zip(some, new, strict=True))])[0])
        return found

    if flip is None:
        assert all(answers(size) <= {answer} for size in range(1, len(names) + 1))
        return
    changed = model.predict([row | {change.column: change.new for change in flip.changes}])[0]
    assert changed != answer
    assert flip.old == answer
    assert all(answers(size) <= {answer} for size in range(1, len(flip.changes)))


def test_words_are_taken_away_until_the_answer_changes():
    model = tb.fit(MESSAGES, KINDS)
    text = "cheap lunch, cheap watches"
    flip = model.explain(text).counterfactual
    assert [change.word for change in flip.changes] == ["cheap"]
    assert model.predict([text.replace("cheap", "")])[0] == flip.new == "ham"
    assert str(flip).startswith("ham instead of spam: 1 change\n")
    assert flip.to_dict()["changes"][0]["word"] == "cheap"


def test_a_number_becomes_what_the_other_class_has_most_often():
    rows = {"x": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0], "y": ["no"] * 3 + ["yes"] * 3}
    model = tb.fit(rows, "y")
    (change,) = model.explain({"x": 2.5}).counterfactual.changes
    assert change.old == 2.5
    assert model.predict([{"x": change.new}])[0] == "yes"
    assert 6 < change.new < 9


def test_an_answer_that_no_change_can_alter_is_reported():
    rows = {"c": ["p"] * 50, "y": ["no"] * 49 + ["yes"]}
    assert tb.fit(rows, "y").explain({"c": "p"}).counterfactual is None


def test_the_chart_is_drawn(tmp_path: Path):
    model = tb.fit({f"c{f}": list("ppqq") for f in range(20)} | {"y": ["no", "no", "yes", "yes"]}, "y", calibrate=None)
    one = model.explain({f"c{f}": "p" for f in range(20)})
    bars = one.points()
    assert [bar["what"] for bar in bars][:2] == ["prior", "c0 = p"]
    assert bars[-1]["what"] == "5 more"
    assert sum(bar["log_odds"] for bar in bars) == pytest.approx(one.log_odds)
    one.chart().save(tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 5_000


def test_a_column_without_any_value_says_nothing() -> None:
    rows = {"x": [None] * 4, "z": [1.0, 2.0, 3.0, 4.0], "y": ["no", "no", "yes", "yes"]}
    why = tb.fit(rows, "y").explain({"x": None, "z": 2.0})
    [part] = [part for part in why.parts if part.column == "x"]
    assert (part.term, part.counts) == (0.0, (0.0, 0.0))
