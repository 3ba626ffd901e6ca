"""The bottom-k sample: the same rows whatever the order, the batches and the merge tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes import sources
from tallybayes.encoding.row_batch import RowBatch
from tallybayes.evidence import row_sample
from tallybayes.evidence.evidence import count_rows
from tallybayes.evidence.row_hash import RowHashes, row_hashes
from tallybayes.evidence.row_sample import BottomKSample
from tallybayes.schema.infer import infer
from tallybayes.schema.schema import Schema
from tallybayes.sources.arrays import of_array
from tallybayes.sources.attach import attach

EVENTS = {"prose": "text", "calls": "poisson"}
ROW = st.tuples(
    st.sampled_from([None, "red", "blue", "", "é"]),
    st.sampled_from([None, float("nan"), 0.0, 1.5, -2e300, 1e-300]),
    st.sampled_from([None, 0, 3]),
    st.one_of(st.none(), st.text("ab é", max_size=12)),
    st.booleans(),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from(["no", "yes", "perhaps"]),
)
TYPES = {
    "colour": pa.string(),
    "size": pa.float64(),
    "calls": pa.int32(),
    "prose": pa.string(),
    "flag": pa.bool_(),
    "times": pa.float64(),
    "label": pa.string(),
}


@pytest.fixture(autouse=True)
def _room_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sample, "MOST_ROWS", 5)
    monkeypatch.setattr(row_sample, "MOST_BYTES", 40)


@pytest.fixture
def room_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sample, "MOST_ROWS", 1000)
    monkeypatch.setattr(row_sample, "MOST_BYTES", 10_000)


def batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(TYPES)
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, TYPES.values(), strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=list(TYPES))


def schema(of: pa.RecordBatch | None = None, *, events: Any = None) -> Schema:
    fields = batch([]).schema if of is None else of.schema
    return infer(fields, "label", weight="times", events=EVENTS if events is None else events)


def choice(rows: list[tuple[Any, ...]]) -> BottomKSample:
    return BottomKSample.of(RowBatch(batch(rows), 0, "skip"), schema())


def content(made: BottomKSample) -> list[str]:
    """Return the sampled rows, in their order."""
    found = made.rows()
    return [] if found is None else written(found)


def written(rows: pa.RecordBatch) -> list[str]:
    """Return rows as text, with null for NaN: a model does not distinguish them."""
    return [repr({k: None if v != v else v for k, v in row.items()}) for row in rows.to_pylist()]


def merged(data: st.DataObject, parts: list[BottomKSample]) -> BottomKSample:
    """Merge all parts, any two neighbours at a time."""
    parts = list(parts)
    while len(parts) > 1:
        k = data.draw(st.integers(0, len(parts) - 2))
        parts[k : k + 2] = [parts[k] + parts[k + 1]]
    return parts[0]


def cut(data: st.DataObject, rows: list[Any]) -> list[list[Any]]:
    places = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    return [rows[a:b] for a, b in zip([0, *places], [*places, len(rows)], strict=True)]


@given(st.lists(ROW, min_size=1, max_size=40), st.data())
def test_any_order_split_and_merge_tree_choose_the_same_rows(rows: list[Any], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    found = merged(data, [BottomKSample(schema()), *map(choice, cut(data, shuffled))])
    assert content(found) == content(choice(rows)) == content(found.resolved())


@given(st.lists(ROW, max_size=40), st.lists(ROW, max_size=40))
def test_merging_commutes_and_nothing_is_its_identity(one: list[Any], other: list[Any]) -> None:
    a, b, nothing = choice(one), choice(other), BottomKSample(schema())
    assert content(a + b) == content(b + a)
    assert content(a + nothing) == content(nothing + a) == content(a)


@given(st.lists(ROW, min_size=1, max_size=40))
def test_the_sample_never_exceeds_its_size(rows: list[Any]) -> None:
    found = choice(rows).rows()
    prose = [row["prose"] for row in found.to_pylist()]
    assert 1 <= len(found) <= 5
    assert len(found) == 1 or sum(len((text or "").encode()) for text in prose) <= 40
    parts = choice(rows) + choice(rows) + choice(rows)
    assert sum(map(len, parts.parts)) <= 2 * 5


@given(st.lists(ROW, min_size=1, max_size=40, unique_by=repr))
def test_the_rows_chosen_are_those_of_the_lowest_hashes(rows: list[Any]) -> None:
    hashes = row_hashes(RowBatch(batch(rows), 0, "skip"), schema())
    lowest = batch(rows).take(pa.array(hashes.argsort(kind="stable")))
    found = content(choice(rows))
    assert found == written(lowest)[: len(found)]


@pytest.mark.usefixtures("room_for_all")
@given(st.lists(ROW, max_size=20), st.lists(ROW, max_size=20))
def test_subtracting_rows_restores_the_sample_before(kept: list[Any], gone: list[Any]) -> None:
    assert content((choice(kept) + choice(gone)) - choice(gone)) == content(choice(kept))


@given(st.lists(ROW, min_size=1, max_size=40), st.data())
def test_of_rows_taken_away_none_stays_among_those_chosen(rows: list[Any], data: st.DataObject) -> None:
    gone = rows[: data.draw(st.integers(0, len(rows)))]
    left = content(choice(rows) - choice(gone))
    rest = written(batch(rows[len(gone) :]))
    for row in set(left):
        assert left.count(row) <= rest.count(row)
    if not gone:
        assert left == content(choice(rows))


@given(st.lists(ROW, min_size=1, max_size=40), st.floats(0.05, 1.2), st.data())
def test_few_of_each_place_are_enough_or_known_not_to_be(rows: list[Any], share: float, data: st.DataObject) -> None:
    sent = merged(data, [BottomKSample(schema()), *(choice(part).few(share) for part in cut(data, rows))])
    if sent.complete:
        assert content(sent) == content(choice(rows))
    else:
        assert sent.bound is not None
    assert merged(data, [BottomKSample(schema()), *(choice(part).few(1.0) for part in cut(data, rows))]).complete


def hashes_of(column: pa.Array, event: str, label: pa.Array | None = None) -> list[int]:
    label = pa.array(["a", "b", "a"]) if label is None else label
    rows = pa.RecordBatch.from_arrays([column, label], names=["x", "label"])
    return row_hashes(RowBatch(rows, 0, "skip"), infer(rows.schema, "label", events={"x": event})).tolist()


@pytest.mark.parametrize("event", ["gaussian", "poisson", "multinomial", "bernoulli"])
@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint16(), pa.float32(), pa.float64()])
def test_a_number_hashes_alike_whatever_its_type(event: str, kind: pa.DataType) -> None:
    assert hashes_of(pa.array([0, 1, 1], kind), event) == hashes_of(pa.array([0.0, 1.0, 1.0]), event)


@pytest.mark.parametrize("event", ["categorical", "text"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_a_text_hashes_alike_whatever_its_type(event: str, kind: pa.DataType) -> None:
    words = pa.array(["red", None, "blue wine"])
    assert hashes_of(words.cast(kind), event) == hashes_of(words, event)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.dictionary(pa.int32(), pa.int64())])
def test_a_whole_number_as_a_value_or_a_class_hashes_alike_whatever_its_type(kind: pa.DataType) -> None:
    numbers = pa.array([3, 4, 3])
    other = numbers.dictionary_encode() if pa.types.is_dictionary(kind) else numbers.cast(kind)
    assert hashes_of(other, "categorical") == hashes_of(numbers, "categorical")
    words = pa.array(["p", "q", "r"])
    assert hashes_of(words, "categorical", other) == hashes_of(words, "categorical", numbers)


@pytest.mark.parametrize("last", [3, 9, 10**9], ids=["as the first rows", "more", "far more"])
def test_whole_numbers_hash_alike_while_they_are_counted_whatever_the_first_rows_are(last: int) -> None:
    matrix = np.random.default_rng(0).integers(0, 4, (3000, 5))
    matrix[-1, -1] = last
    (rows,) = attach(of_array(matrix), "label", np.arange(3000) % 2)
    types = infer(rows.schema, "label", events="categorical")
    encoded = RowBatch(rows, 0, "skip")
    hashes = RowHashes(encoded, types)
    assert count_rows(types, encoded, hashes) == count_rows(types, RowBatch(rows, 0, "skip"))
    assert (hashes.finish() == row_hashes(RowBatch(rows, 0, "skip"), types)).all()


def test_nothing_and_not_a_number_hash_alike() -> None:
    assert hashes_of(pa.array([1.0, None, 0.0]), "gaussian") == hashes_of(
        pa.array([1.0, float("nan"), 0.0]), "gaussian"
    )


def test_the_hash_depends_on_value_column_class_and_weight() -> None:
    one = ("red", 1.5, 3, "a word", True, 1.0, "no")
    others = [
        ("blue", 1.5, 3, "a word", True, 1.0, "no"),
        (None, 1.5, 3, "a word", True, 1.0, "no"),
        ("red", 1.25, 3, "a word", True, 1.0, "no"),
        ("red", 1.5, 0, "a word", True, 1.0, "no"),
        ("red", 1.5, 3, "a  word", True, 1.0, "no"),
        ("red", 1.5, 3, None, True, 1.0, "no"),
        ("red", 1.5, 3, "a word", False, 1.0, "no"),
        ("red", 1.5, 3, "a word", True, 2.0, "no"),
        ("red", 1.5, 3, "a word", True, 1.0, "yes"),
    ]
    hashes = row_hashes(RowBatch(batch([one, *others]), 0, "skip"), schema()).tolist()
    assert len(set(hashes)) == len(hashes)


@given(st.lists(ROW, min_size=1, max_size=10))
def test_the_position_of_a_column_does_not_matter(rows: list[Any]) -> None:
    there = batch(rows)
    turned = there.select(there.schema.names[::-1])
    assert (
        row_hashes(RowBatch(there, 0, "skip"), schema()).tolist()
        == row_hashes(RowBatch(turned, 0, "skip"), schema(turned)).tolist()
    )


def test_batches_of_different_types_are_joined() -> None:
    whole = pa.RecordBatch.from_pydict(
        {"x": [1, 2], "c": pa.array(["p", "q"]).dictionary_encode(), "label": ["a", "b"]}
    )
    real = pa.RecordBatch.from_pydict({"x": [0.5, None], "c": ["p", "r"], "label": ["a", "b"]})
    none = pa.RecordBatch.from_pydict({"x": [0.5], "c": pa.nulls(1), "label": ["a"]})
    made = [BottomKSample.of(RowBatch(one, 0, "skip"), infer(real.schema, "label")) for one in (whole, real, none)]
    assert content(made[0] + made[1] + made[2]) == content(made[2] + (made[1] + made[0]))
    assert len(content(made[0] + made[1] + made[2])) == 5


def test_booleans_beside_numbers_are_joined_as_0_and_1() -> None:
    real = pa.RecordBatch.from_pydict({"x": [0.5, None], "label": ["a", "b"]})
    booleans = pa.RecordBatch.from_pydict({"x": [True, False], "label": ["a", "b"]})
    made = [BottomKSample.of(RowBatch(one, 0, "skip"), infer(real.schema, "label")) for one in (real, booleans)]
    assert content(made[0] + made[1]) == content(made[1] + made[0])
    assert sorted(row["x"] or 0.0 for row in (made[0] + made[1]).rows().to_pylist()) == [0.0, 0.0, 0.5, 1.0]


@pytest.mark.parametrize("whole", [True, False])
def test_sampled_rows_of_a_live_array_are_views_and_others_are_copied(
    whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sample, "_HELD_BYTES", 0)
    rows = batch([("red", float(k), 3, "", True, 1.0, "no") for k in range(60)])
    slices = [rows.slice(at, 20) for at in range(0, 60, 20)]
    parts = [piece if whole else sources.take(piece, np.arange(20)) for piece in slices]
    made = BottomKSample(schema())
    for piece in parts:
        made = made + BottomKSample.of(RowBatch(piece, 0, "skip"), schema())
    copied = [all(part.batch is not piece for piece in parts) for part in made.parts]
    assert copied == [False if whole else part.batch is not parts[-1] for part in made.parts]
    assert any(copied) is not whole
    assert content(made) == content(BottomKSample.of(RowBatch(rows, 0, "skip"), schema()))


def test_the_first_rows_of_a_sample_are_those_of_lowest_hash(room_for_all: None) -> None:
    numbers = np.random.default_rng(0).normal(size=(60, 3))
    source = sources.read(numbers)
    whole = pa.Table.from_batches(list(source)).combine_chunks().to_batches()[0]
    whole = whole.append_column("label", pa.array(["no", "yes"] * 30))
    schema = infer(whole.schema, "label")
    parts = [BottomKSample.of(RowBatch(whole.slice(at, 20)), schema) for at in (0, 20, 40)]
    sample = parts[0] + parts[1] + parts[2]
    every = sample.rows()
    assert every is not None
    for most in (1, 7, 59, 60, 100):
        first = sample.rows(most)
        assert first is not None
        assert first.equals(every.slice(0, most))


@pytest.mark.parametrize(("n", "most"), [(10, 10), (11, 10), (5, 1), (1000, 10), (9000, 2000), (9000, 8500)])
def test_the_lowest_hashes_are_found_however_many_rows_are_equal(n, most):
    rng = np.random.default_rng(n)
    even = rng.integers(-(2**63), 2**63 - 1, n)
    for hashes in (even, np.resize(even[: n // 5], n), *(np.full(n, one) for one in (7, 2**63 - 1, -(2**63)))):
        found = row_sample._places(hashes, most)
        assert len(set(found.tolist())) == len(found) == most
        np.testing.assert_array_equal(np.sort(hashes[found]), np.sort(hashes)[:most])
