"""Categories: equal values are one category, whatever their type, order and batches."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.categories import Categories, encode
from tallybayes.errors import BadData, TallyError
from tallybayes.storage.model_file import dump, parse_bytes
from tests.examples import examples
from tests.values import columns, in_python

DAY = datetime.date(2024, 2, 29)


def categorical(column: Any, label: Any) -> tb.Model:
    return tb.fit({"x": column, "y": label}, "y", events={"x": "categorical"}, calibrate=None, missing_values=())


def test_a_batch_in_which_a_category_is_always_missing_goes_with_any_other() -> None:
    """Missing is a value of its own there, and of no kind: it was refused beside dates."""
    fields = pa.schema([("day", pa.date32()), ("label", pa.string())])
    nothing = pa.table({"day": [None, None], "label": ["a", "b"]}, schema=fields)
    days = pa.table({"day": [DAY, None], "label": ["a", "b"]}, schema=fields)
    how = {"missing": "category", "calibrate": None}
    one, other = (tb.fit(rows, "label", **how) for rows in (nothing, days))
    both = tb.fit(pa.concat_tables([nothing, days]), "label", **how)
    assert both.table("day").rows == (DAY, None)
    assert one + other == other + one == both
    assert both.forget(days).evidence == one.evidence
    assert both.forget(nothing).evidence == other.evidence


def test_zero_is_one_value_in_classes_and_in_categories() -> None:
    rows = [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0), (1.0, 1.0)]
    files = {dump(categorical(*zip(*order, strict=True))) for order in itertools.permutations(rows)}
    assert len(files) == 1
    whole = parse_bytes(files.pop())
    assert whole.classes == (0.0, 1.0)
    assert math.copysign(1, whole.classes[0]) == 1
    one, other = (categorical([zero, 1.0], [zero, 1.0]) for zero in (0.0, -0.0))
    assert one.evidence == other.evidence
    assert (one + other).forget({"x": [-0.0, 1.0], "y": [0.0, 1.0]}).evidence == one.evidence
    assert whole.predict_proba([{"x": -0.0}]).tolist() == whole.predict_proba([{"x": 0.0}]).tolist()


@pytest.mark.filterwarnings("ignore::tallybayes.errors.LeftOutWarning")
@examples(300)
@given(column=columns(6), label=columns(6), cut=st.integers(1, 5))
def test_counts_are_those_of_python_whatever_the_type_and_the_batches(
    column: pa.Array, label: pa.Array, cut: int
) -> None:
    try:
        whole = categorical(column, label)
    except TallyError:
        return
    statistic = whole.evidence.statistics[0]
    counts = statistic.sums["counts"].to_float()
    cells = itertools.product(enumerate(whole.evidence.classes.values), enumerate(statistic.labels[0].values))
    found = {(value, known): counts[c, v] for (c, known), (v, value) in cells if counts[c, v]}
    pairs = Counter(zip(in_python(column), in_python(label), strict=True))
    assert found == {pair: n for pair, n in pairs.items() if None not in pair}
    assert parse_bytes(dump(whole)) == whole
    part = {"x": column[cut:], "y": label[cut:]}
    assert dump(whole.forget(part).learn(part)) == dump(whole)


@examples(300)
@given(known=columns(4), asked=columns(6), unseen=st.sampled_from(["smooth", "skip", "error"]))
def test_a_value_is_found_where_python_finds_it_equal(known: pa.Array, asked: pa.Array, unseen: str) -> None:
    try:
        model = categorical(known, ["a", "b", "a", "b"]).with_(unseen=unseen)
    except TallyError:
        return
    values = model.evidence.statistics[0].labels[0]
    try:
        p, found = model.predict_proba({"x": asked}), values.find(asked)
    except TallyError:
        return  # another kind, or a value never seen where that is an error
    assert np.isfinite(p).all()
    where = {value: at for at, value in enumerate(values.values) if value is not None}
    expected = [where.get(value, -1) if value is not None else -1 for value in in_python(asked)]
    assert found.tolist() == expected


@given(column=columns(5))
def test_a_value_is_refused_only_where_its_type_cannot_hold_it(column: pa.Array) -> None:
    outside = [type(value) is object for value in in_python(column)]
    codes, _ = encode(column, strict=False)
    assert (codes == -2).tolist() == outside
    if any(outside):
        with pytest.raises(BadData, match=rf"^column 'x': wanted .*, got .* \(row {4 + outside.index(True)}\)\. .*\.$"):
            encode(column, where="column 'x'", first=3)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_whole_numbers_of_a_matrix_are_categories_in_every_width(dtype: str) -> None:
    rows, label = [[1, 2], [1, 3], [2, 2]] * 2, [0, 1] * 3
    model, same = (tb.fit(np.array(rows, type_), label, events="categorical") for type_ in (dtype, "int64"))
    assert model.evidence == same.evidence
    np.testing.assert_array_equal(model.predict_proba(np.array(rows * 20, dtype)), same.predict_proba(rows * 20))


@pytest.mark.parametrize("value", [2, -1, 0.5, math.inf, 1e300])
def test_a_number_is_no_boolean_unless_it_is_0_or_1(value: float) -> None:
    model = categorical([True, False, True], ["a", "b", "a"])
    assert (
        model.predict_proba({"x": [value]}).tolist()
        == model.with_(unseen="smooth").predict_proba({"x": [value * 3]}).tolist()
    )
    assert model.predict_proba({"x": [1]}).tolist() == model.predict_proba({"x": [True]}).tolist()


def test_whole_numbers_of_a_matrix_beyond_int64_are_refused_by_column_and_row() -> None:
    matrix = np.array([[1, 2]] * 300, np.uint64)
    matrix[299, 1] = 2**63
    with pytest.raises(BadData, match=r"^column 'x1': wanted whole numbers .*, got 9223372036854775808 \(row 300\)\."):
        tb.fit(matrix, [0, 1] * 150, events="categorical")
    model = tb.fit(matrix[:299], [0, 1] * 149 + [0], events="categorical", calibrate=None)
    few, many = model.predict_proba(matrix[299:]), model.predict_proba(np.repeat(matrix[299:], 100, axis=0))
    np.testing.assert_array_equal(few[0], many[0])
    np.testing.assert_array_equal(few, model.predict_proba(np.array([[1, 99]])))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint16, np.int64])
def test_whole_numbers_are_placed_as_find_places_them(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    known = Categories.of(np.unique(rng.integers(-100, 100_000, 5_000)).tolist())
    limits = np.iinfo(dtype)
    values = np.concatenate([rng.integers(limits.min, limits.max, 3_000), [limits.min, limits.max, 0]]).astype(dtype)
    found = known.find(pa.array(values))
    placed = known.place_integers(values)
    assert placed is not None
    assert (placed == np.where(found < 0, len(known), found)).all()


def test_whole_numbers_too_far_apart_have_no_table() -> None:
    assert Categories.of([0, 1 << 40]).place_integers(np.array([0])) is None
    assert Categories.of(["a"]).place_integers(np.array([0])) is None


def test_few_texts_are_found_among_many() -> None:
    known = Categories.of([f"ü{k}" for k in range(5_000)])
    wanted = ["ü7", "none", "ü4999"]
    assert known.find(pa.array(wanted)).tolist() == [known.values.index(w) if w in known.values else -1 for w in wanted]
