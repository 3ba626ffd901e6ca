"""The model file: canonical, verified, and safe to load whatever it contains."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from scipy.sparse import csr_array

import tallybayes as tb
from tallybayes.errors import BadModelFile
from tallybayes.evidence import container
from tallybayes.storage.model_file import dump, parse_bytes
from tests.examples import examples
from tests.laws.rows import every_event, rows_for, tokenizer_of


def mixed() -> tb.Model:
    rows = {
        "outlook": ["sunny", None, "rainy", "overcast"],
        "wind": [1.5, 2.25, None, -3.0],
        "calls": [0, 3, 2, 1],
        "day": pa.array([1, 2, 3, 4], pa.date32()),
        "play": ["yes", "no", "no", "yes"],
        "w": [0.5, 1.0, 2.0, 0.1],
    }
    events = {"calls": "poisson"}
    prior = {"yes": 0.25, "no": 0.75}
    return tb.fit(rows, "play", events=events, weights="w", prior=prior, alpha={"wind": 2.0}, missing="category")


@pytest.mark.parametrize(
    "prior",
    [
        [0.25, 0.75],
        (0.25, 0.75),
        np.array([0.25, 0.75]),
        {"no": 0.25, "yes": 0.75},
        {"no": np.float64(0.25), "yes": 0.75},
    ],
)
def test_a_model_with_a_given_prior_equals_its_file(tmp_path: Path, prior: Any) -> None:
    model = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y", prior=prior)
    model.save(tmp_path / "given.tally")
    again = tb.load(tmp_path / "given.tally")
    assert again == model
    assert again.prior == {"no": 0.25, "yes": 0.75}


def test_priors_that_say_the_same_are_equal() -> None:
    model = tb.fit({"x": ["p", "q"], "y": [0, 1]}, "y", prior=[0.25, 0.75], calibrate=None)
    assert model == model.with_(prior=np.array([0.25, 0.75]))
    by_class = model.with_(prior={0: 0.25, 1: 0.75})
    assert by_class == model.with_(prior={np.int64(0): np.float32(0.25), np.int64(1): 0.75})


@pytest.mark.parametrize("event", every_event(), ids=lambda event: event.spec)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_what_is_saved_is_what_is_loaded(event, weighted: bool, tmp_path) -> None:
    table = rows_for(event, 50, weighted=weighted)
    model = tb.fit(table, "label", events=event, weights="w" if weighted else None, estimate="map", alpha=0.25)
    model.save(tmp_path / "m.tally")
    again = tb.load(tmp_path / "m.tally", tokenizer=tokenizer_of(event))
    assert again == model
    assert again.schema == model.schema
    np.testing.assert_array_equal(again.log_joint(table), model.log_joint(table))
    again.save(tmp_path / "again.tally")
    assert (tmp_path / "again.tally").read_bytes() == (tmp_path / "m.tally").read_bytes()


def test_every_kind_of_class_and_value_comes_back(tmp_path) -> None:
    model = mixed()
    model.save(tmp_path / "m.tally")
    again = tb.load(tmp_path / "m.tally")
    assert again == model
    assert again.choices == model.choices
    assert again.table("day").rows == model.table("day").rows
    assert again.table("outlook").rows == ("overcast", "rainy", "sunny", None)


def test_an_array_of_columns_is_not_written_out_by_name() -> None:
    model = tb.fit(np.eye(3).repeat(2, axis=0), [0, 1, 0, 1, 0, 1])
    assert b'\\"numbered\\":3' in dump(model)
    assert parse_bytes(dump(model)).schema == model.schema


def test_the_file_is_written_with_the_usual_permissions(tmp_path) -> None:
    mixed().save(tmp_path / "m.tally")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "m.tally").stat().st_mode & 0o777 == 0o666 & ~mask


CONTENT = dump(mixed())


@examples(300)
@given(at=st.integers(0, len(CONTENT) - 1), value=st.integers(0, 255))
def test_an_altered_byte_is_found(at: int, value: int) -> None:
    altered = bytearray(CONTENT)
    if altered[at] == value:
        return
    altered[at] = value
    try:
        loaded = parse_bytes(bytes(altered))
    except BadModelFile:
        return
    # white space in the header of the container may change without changing what it says
    assert loaded == mixed()
    assert dump(loaded) == CONTENT


@examples(100)
@given(size=st.integers(0, len(CONTENT) - 1))
def test_a_truncated_file_is_refused(size: int) -> None:
    with pytest.raises(BadModelFile, match=r"wanted .*, got "):
        parse_bytes(CONTENT[:size])


@examples(200)
@given(garbage=st.binary(max_size=200))
def test_garbage_is_refused(garbage: bytes) -> None:
    with pytest.raises(BadModelFile):
        parse_bytes(garbage)


def test_a_pickle_is_not_opened() -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (pytest.fail, ("the file ran code",))

    with pytest.raises(BadModelFile):
        parse_bytes(pickle.dumps(Trap()))


def forged(change, content: bytes = CONTENT) -> bytes:
    """Return a forged file: changed parts with a matching checksum."""
    tensors = load_tensors(content)
    size = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["tallybayes"])
    del header["checksum"]
    change(header, tensors)
    header["checksum"] = container.checksum(header, tensors)
    dense = {name: one.copy() for name, one in tensors.items()}  # safetensors cannot write a reversed view
    return save_tensors(dense, metadata={"tallybayes": container._json(header)})


def test_an_array_with_gaps_is_written_as_it_is() -> None:
    content = container.pack({"blocks": []}, {"a": np.arange(6)[::2], "b": np.arange(3)[::-1]})
    found = load_tensors(content)
    assert found["a"].tolist() == [0, 2, 4]
    assert found["b"].tolist() == [2, 1, 0]


def test_the_forgery_itself_is_sound() -> None:
    assert forged(lambda header, tensors: None) == CONTENT


FORGERIES = {
    "another version": lambda h, t: h.update(format=99),
    "no blocks": lambda h, t: h.pop("blocks"),
    "an unknown event": lambda h, t: h["blocks"][0].update(event="evil"),
    "an event that is code": lambda h, t: h["blocks"][0].update(event="bernoulli(threshold=__import__('os'))"),
    "columns that do not fit": lambda h, t: h["blocks"][0].update(columns=["a", "b", "c", "d", "e"]),
    "a huge number of columns": lambda h, t: h["blocks"][0].update(columns={"numbered": 1 << 60}),
    "more columns than the file has room for": lambda h, t: (
        h.update(columns={"numbered": 1 << 39}),
        h["blocks"][0].update(columns={"numbered": 1 << 39}),
    ),
    "more missing labels than one": lambda h, t: h["blocks"][0]["labels"][0].update(kind="nothing", count=1 << 40),
    "a column twice": lambda h, t: h.update(columns=["outlook"] * 4),
    "columns that are numbers": lambda h, t: h.update(columns=[1, 2, 3, 4]),
    "a huge exponent": lambda h, t: h.update(rows=1 << 40),
    "limbs not in their form": lambda h, t: t.update(rows=np.zeros((2, 3), np.uint32)),
    "limbs of another shape": lambda h, t: t.update(rows=np.ones((7, 3), np.uint32)),
    "limbs of another type": lambda h, t: t.update(rows=t["rows"].astype(np.float64)),
    "a negative class weight": lambda h, t: t["rows"].__setitem__((0, -1), 0x80000000),
    "a lost array": lambda h, t: t.pop("rows"),
    "classes that are not sorted": lambda h, t: t.update(
        {"classes.bytes": np.frombuffer(b"yesno", np.uint8), "classes.ends": np.array([3, 5])}
    ),
    "text that ends before it begins": lambda h, t: t.update({"classes.ends": np.array([4, 2])}),
    "text that is not text": lambda h, t: t.update({"classes.bytes": np.full(5, 255, np.uint8)}),
    "labels of an unknown kind": lambda h, t: h["classes"].update(kind="code"),
    "more labels than there are": lambda h, t: h["classes"].update(count=10**9),
    "a rule that is none": lambda h, t: h["choices"].update(estimate="evil"),
    "a choice that is none": lambda h, t: h["choices"].update(evil=1),
    "an alpha that is text": lambda h, t: h["choices"].update(alpha="much"),
    "a prior of the wrong length": lambda h, t: h["choices"].update(prior_of=[1.0]),
    "missing of no kind": lambda h, t: h.update(missing="evil"),
    "a label that is a list": lambda h, t: h.update(label=["y"]),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(BadModelFile, match=r"^model file: wanted .*, got .*\.$"):
        parse_bytes(forged(FORGERIES[name]))


def with_header(written: str) -> bytes:
    """Return a file with this text as its header."""
    return save_tensors(load_tensors(CONTENT), metadata={"tallybayes": written})


DEEP = "[" * 5000 + "]" * 5000
HEADERS = {
    "NaN": '{"format": 1, "x": NaN}',
    "an infinite number": '{"format": 1, "x": Infinity}',
    "a number beyond doubles": '{"format": 1, "x": 1e999}',
    "a number of many digits": f'{{"format": 1, "x": {"9" * 5000}}}',
    "lists in lists": f'{{"format": 1, "x": {DEEP}}}',
    "lists in lists, fewer": f'{{"format": 1, "x": {DEEP[4500:-4500]}}}',
    "a list": "[]",
    "no format": "{}",
    "a long format": f'{{"format": "{"x" * 10000}"}}',
    "a lone surrogate": '{"format": 1, "x": "\\ud800"}',
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_of_any_json_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(BadModelFile, match=r"^model file: wanted .*, got .*\.$") as caught:
        parse_bytes(with_header(HEADERS[name]))
    assert len(str(caught.value)) < 400


HOSTILE: list[Any] = [
    *(None, True, -1, 0, 1, 2.5, 1 << 28, 1 << 62, -(1 << 70), 10**300, 1e308),
    *("", "x" * 500, "-" * 3000, "f(" * 3000, "text(stop_words=" + "(" * 300, "bernoulli(threshold=1e999)", "\ud800"),
    *(
        [],
        {},
        ["x0"],
        [["x0"]],
        {"numbered": 1 << 22},
        {"numbered": 1 << 28},
        {"sparse": 0},
        json.loads(DEEP[4600:-4600]),
    ),
]


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container of a header with each of its keys."""
    for key in part if isinstance(part, dict) else range(len(part)):
        yield part, key
        if isinstance(part[key], dict | list):
            yield from places(part[key])


@examples(400)
@given(data=st.data())
def test_a_header_with_any_part_replaced_is_refused_or_read(data: st.DataObject) -> None:
    content = data.draw(st.sampled_from([CONTENT, WORDS, NUMBERED]))

    def change(header, tensors) -> None:
        for _ in range(data.draw(st.integers(1, 2))):
            spots = list(places(header))
            part, key = spots[data.draw(st.integers(0, len(spots) - 1))]
            part[key] = copy.deepcopy(data.draw(st.sampled_from(HOSTILE)))

    made = forged(change, content)
    tracemalloc.start()
    with contextlib.suppress(BadModelFile):
        again = parse_bytes(made)
        assert parse_bytes(dump(again)) == again
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("columns", [1 << 21, 1 << 22, 1 << 28])
def test_names_that_nothing_is_stored_for_are_not_made(columns: int) -> None:
    """Half a million columns without a count took a gigabyte for their names."""

    def grown(header, tensors) -> None:
        block = header["blocks"][0]
        header["columns"] = {"numbered": columns}
        header["blocks"] = [
            {**block, "event": f"multinomial(group={k!r})", "columns": header["columns"]} for k in "abc"
        ]

    tracemalloc.start()
    with pytest.raises(BadModelFile):
        parse_bytes(forged(grown, NUMBERED))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def words() -> tb.Model:
    """Fit a text of many words, each in one or two of twelve classes: its sums are stored sparse."""
    texts = [" ".join(f"w{(k * 97 + i) % 3000}" for i in range(120)) for k in range(24)]
    return tb.fit(texts, [f"c{k % 12:02d}" for k in range(24)], alpha=1.0, calibrate=None)


WORDS = dump(words())
NUMBERED = dump(tb.fit(csr_array((4, 100)), [0, 1, 0, 1], events="multinomial", calibrate=None))


def test_sums_of_many_zeros_are_stored_by_their_entries() -> None:
    tensors, sums = load_tensors(WORDS), words().evidence.statistics[0].sums
    entries = len(sums["tokens"].places.rows)
    assert tensors["0.tokens"].shape == (entries, 1)
    assert tensors["0.tokens.of_class"].dtype == np.uint8
    assert int(tensors["0.tokens.per_column"].sum()) == entries
    assert sum(array.nbytes for name, array in tensors.items() if "labels" not in name) < 8 * 2 * entries
    assert parse_bytes(WORDS) == words()
    assert dump(parse_bytes(WORDS)) == WORDS


def test_sums_of_many_zeros_may_be_a_table_as_in_older_files() -> None:
    def as_tables(header, tensors) -> None:
        sums = words().evidence.statistics[0].sums
        header["format"] = 1
        for name in ("tokens", "documents"):
            header["blocks"][0]["sums"][name] = 0
            del tensors[f"0.{name}.of_class"], tensors[f"0.{name}.per_column"]
            tensors[f"0.{name}"] = sums[name].whole().limbs.astype(np.uint32)

    assert parse_bytes(forged(as_tables, WORDS)) == words()


@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli"])
def test_counts_of_many_columns_come_back_from_their_entries(event: str) -> None:
    rows = csr_array(([1.0] * 40, (np.arange(40), np.arange(40) * 70)), shape=(40, 3000))
    model = tb.fit(rows, np.arange(40) % 10, events=event, calibrate=None)
    content = dump(model)
    assert len(content) < 12_000  # whole, ten classes of 3,000 columns would be 120,000 bytes
    assert parse_bytes(content) == model
    assert dump(parse_bytes(content)) == content


def replaced(name: str, change):
    """Return a change of one array."""
    return lambda header, tensors: tensors.update({name: change(tensors[name].copy())})


def with_first(value: int):
    def change(array):
        array[0] = value
        return array

    return change


SPARSE_FORGERIES = {
    "a class that is none": replaced("0.tokens.of_class", with_first(12)),
    "classes out of order": replaced("0.tokens.of_class", lambda a: a[::-1]),
    "a class twice": replaced("0.tokens.of_class", lambda a: a * 0),
    "classes of another type": replaced("0.tokens.of_class", lambda a: a.astype(np.uint16)),
    "classes of another shape": replaced("0.tokens.of_class", lambda a: a[:, None]),
    "a class too few": replaced("0.tokens.of_class", lambda a: a[:-1]),
    "a value too few": replaced("0.tokens", lambda a: a[:-1]),
    "a value that is zero": replaced("0.tokens", with_first(0)),
    "a value below zero": replaced("0.tokens", with_first(0x80000000)),
    "a column too many": replaced("0.tokens.per_column", lambda a: np.append(a, a[:1])),
    "columns of no word": replaced(
        "0.tokens.per_column", lambda a: np.append(a[:-2], [0, a[-1] + a[-2]]).astype(a.dtype)
    ),
    "lengths that overflow": replaced("0.tokens.per_column", lambda a: a * 0 + 255),
    "lengths that are negative": replaced("0.tokens.per_column", lambda a: a.view(np.int8)),
    "no classes": lambda h, t: t.pop("0.tokens.of_class"),
    "no base": lambda h, t: h["blocks"][0]["sums"]["tokens"].pop("sparse"),
    "a base that is text": lambda h, t: h["blocks"][0]["sums"]["tokens"].update(sparse="0"),
    "entries where all is zero": lambda h, t: h["blocks"][0]["sums"]["tokens"].update(sparse=None),
    "a sum of few zeros by its entries": lambda h, t: (
        h["blocks"][0]["sums"].update(missing={"sparse": 0}),
        t.update({"0.missing": np.ones((1, 1), np.uint32), "0.missing.of_class": np.zeros(1, np.uint8)}),
        t.update({"0.missing.per_column": np.ones(1, np.uint8)}),
    ),
}


@pytest.mark.parametrize("name", SPARSE_FORGERIES)
def test_forged_entries_are_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(BadModelFile, match=r"^model file: wanted .*, got .*\.$"):
        parse_bytes(forged(SPARSE_FORGERIES[name], WORDS))


def test_a_small_file_cannot_ask_for_much_memory() -> None:
    """Two classes of a trillion zero columns: nothing is stored, and nothing may be allocated."""
    zeros = dump(tb.fit(csr_array((4, 100)), [0, 1, 0, 1], events="multinomial", calibrate=None))

    def grown(header, tensors) -> None:
        header["columns"] = header["blocks"][0]["columns"] = {"numbered": 1 << 39}

    assert parse_bytes(zeros)
    tracemalloc.start()
    with pytest.raises(BadModelFile):
        parse_bytes(forged(grown, zeros))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_saving_over_a_model_keeps_no_rest_of_it(tmp_path) -> None:
    path = tmp_path / "m.tally"
    mixed().save(path)
    small = tb.fit({"x": ["p", "q"], "y": ["no", "yes"]}, "y")
    small.save(path)
    assert path.read_bytes() == dump(small)
    assert [p.name for p in tmp_path.iterdir()] == ["m.tally"]


def test_a_file_of_version_0_1_takes_every_text_as_a_value() -> None:
    rows = {"x": ["?", "a", "b", "?"], "y": ["p", "q", "q", "p"]}
    model = tb.fit(rows, "y", missing_values=())
    header, tensors = container.unpack(dump(model), "the file")
    assert header.pop("missing_values") == []
    old = parse_bytes(container.pack(header, tensors))
    assert old == model
    assert old.predict([{"x": "?"}]).tolist() == ["p"]
    assert old.predict_proba([{"x": "NA"}]).tolist() == model.predict_proba([{"x": "never seen"}]).tolist()
