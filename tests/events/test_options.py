"""Options: plain Python values whatever type they are given in, so that a model file can hold each of them."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.errors import BadOption
from tallybayes.events import Event, parse, registered
from tallybayes.events.bernoulli import Bernoulli
from tallybayes.events.text.text import Text
from tallybayes.inference.choices import Choices
from tallybayes.sklearn import TextNB
from tallybayes.storage.model_file import dump, parse_bytes
from tests.laws.rows import rows_for

# A value of each option that is not its default; the default itself for options that are not listed.
VALUES: dict[str, list[Any]] = {
    "threshold": [0.5, 1, -0.0],
    "group": ["a", "'; import os", "ü\x00"],
    "bag": ["binary"],
    "ngrams": [(1, 2)],
    "analyzer": ["char"],
    "lowercase": [False],
    "strip_accents": ["ascii"],
    "stop_words": [("the", "today")],
    "min_df": [2, 1.0, 0.05],
    "max_df": [1, 0.9, 20],
    "max_features": [5],
    "unknown": ["smooth"],
}


class Word(enum.StrEnum):
    """A word that is an enumeration's member, as configurations hold them."""

    BINARY = "binary"


def forms(value: Any) -> Iterator[Any]:
    """Yield a value in every type that a user may hold it in."""
    yield value
    if isinstance(value, bool):
        yield np.bool_(value)
    elif isinstance(value, int):
        yield from (type_(value) for type_ in (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.array))
    elif isinstance(value, float):
        yield from (type_(value) for type_ in (np.float16, np.float32, np.float64, np.longdouble, np.array))
    elif isinstance(value, str):
        yield np.str_(value)
        if value == "binary":
            yield Word.BINARY
    elif isinstance(value, tuple):
        yield list(value)
        yield tuple(next(reversed(list(forms(part)))) for part in value)


EVERY = [
    (event, f.name, form)
    for event in registered().values()
    for f in fields(event)  # type: ignore[arg-type]
    for value in VALUES.get(f.name, [f.default])
    for form in forms(value)
]


@pytest.mark.parametrize(("event", "option", "value"), EVERY, ids=lambda part: getattr(part, "name", repr(part)))
def test_a_model_with_any_option_in_any_type_comes_back_from_its_file(
    event: type[Event], option: str, value: Any
) -> None:
    made = event(**{option: value})
    assert parse(made.spec) == made
    assert parse(made.spec).spec == made.spec
    got, read = getattr(made, option), getattr(parse(made.spec), option)
    assert type(got) is type(read)
    model = tb.fit(rows_for(made, 30), "label", events=made, alpha=1.0, calibrate=None)
    again = parse_bytes(dump(model))
    assert again == model
    assert dump(again) == dump(model)


@pytest.mark.parametrize("option", ["min_df", "max_df"])
def test_one_document_is_not_all_of_them_after_loading(option: str) -> None:
    for value in (1, 1.0):
        assert type(getattr(parse(Text(**{option: value}).spec), option)) is type(value)


CHOICES = [
    {option: form}
    for option, values in {
        "alpha": [0.25, 2, {"c0": 0.25, "*": 2}],
        "floor": [0.001, 0.5],
        "prior": [(0.25, 0.75), {"a": 0.25, "b": 0.75}],
    }.items()
    for value in values
    for form in ([dict.fromkeys(value, form) for form in forms(0.5)] if isinstance(value, dict) else list(forms(value)))
]


@pytest.mark.parametrize("chosen", CHOICES, ids=repr)
def test_a_model_with_any_choice_in_any_type_comes_back_from_its_file(chosen: dict[str, Any]) -> None:
    model = tb.fit({"c0": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}, "y", **chosen)
    again = parse_bytes(dump(model))
    assert again == model
    assert dump(again) == dump(model)


@pytest.mark.parametrize("value", list(forms(0.75)))
def test_the_text_classifier_takes_numpy_numbers(value: Any, tmp_path: Any) -> None:
    made = TextNB(max_df=value).fit(["a b", "b c", "c d", "d a"], [0, 1, 0, 1])
    made.model_.save(tmp_path / "m.tally")
    assert tb.load(tmp_path / "m.tally").schema.blocks[0].event.max_df == 0.75  # type: ignore[attr-defined]


HUGE = [float("inf"), float("nan"), np.float64("-inf"), 10**400, -(10**400), 10**9999]
BAD = [
    *((Bernoulli, {"threshold": value}) for value in [*HUGE, "1", [1.0], Decimal(1), 1j]),
    *((Text, {option: value}) for option in ("min_df", "max_df") for value in [*HUGE, "a", None, [1]]),
    *((Text, {"max_features": value}) for value in [*HUGE, 0, -1, 1.5, "a"]),
    *((Text, {"stop_words": value}) for value in [("a", 1), "the", 5, (None,)]),
    *((Text, {"ngrams": value}) for value in [(1, float("inf")), "ab", (1, 10**400), 3]),
    *((Choices, {option: value}) for option in ("alpha", "floor") for value in [*HUGE, np.zeros(2), None, [1.0], 1j]),
    *((Choices, {"alpha": {"x": value}}) for value in [*HUGE, np.zeros(2), None, "auto"]),
    *((Choices, {name: np.zeros(2)}) for name in ("estimate", "variance", "unseen", "calibrate")),
]


@pytest.mark.parametrize(("made", "options"), BAD, ids=lambda part: getattr(part, "__name__", ""))
def test_what_no_file_can_hold_is_refused_with_a_sentence(made: Any, options: dict[str, Any]) -> None:
    with pytest.raises(BadOption, match=r"^[a-z_ ]+: wanted .*, got .*\.$") as caught:
        made(**options)
    assert len(str(caught.value)) < 600


UNSPELLABLE = [
    object(),
    b"x",
    Decimal(1),
    1j,
    np.zeros(2),
    {"a": 1},
    (1, object()),
    "\ud800",
    np.datetime64("2020"),
    len,
]
OPTIONS = [(event, f.name) for event in registered().values() for f in fields(event)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("event", "option"), OPTIONS, ids=lambda part: getattr(part, "name", part))
@pytest.mark.parametrize("value", UNSPELLABLE, ids=lambda value: type(value).__name__)
def test_no_event_takes_an_option_that_no_file_can_hold(event: type[Event], option: str, value: Any) -> None:
    if option == "tokenizer" and callable(value):
        return  # a file has its name
    with pytest.raises(BadOption, match=rf"^{event.name} {option}: wanted .*, got "):
        event(**{option: value})


@pytest.mark.parametrize("prior", [[10**400, 0], {"a": 10**400, "b": 0}, [float("inf"), 0], [float("nan"), 1]])
def test_a_prior_that_is_not_finite_is_refused_with_a_sentence(prior: Any) -> None:
    with pytest.raises(BadOption, match=r"^prior: wanted .*, got "):
        tb.fit({"x": [1.0, 2.0], "y": ["a", "b"]}, "y", prior=prior)


def test_an_infinite_number_in_a_specification_is_refused() -> None:
    with pytest.raises(BadOption, match=r"^bernoulli threshold: wanted a finite number, got inf\.$"):
        parse("bernoulli(threshold=1e999)")
