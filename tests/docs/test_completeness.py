"""Nothing that a user can name is left undocumented."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import tallybayes as tb
from tallybayes.events import registered

from .pages import ROOT, sections

EVENTS = ROOT / "docs" / "events.md"
CHOICES = ROOT / "docs" / "choices.md"
OPTIONS = inspect.signature(tb.fit).parameters


@pytest.mark.parametrize("name", registered())
def test_every_event_model_has_a_section(name: str) -> None:
    assert name in sections(EVENTS), f"docs/events.md has no section '## {name}'"


@pytest.mark.parametrize("name", registered())
def test_every_option_of_an_event_model_is_in_its_section(name: str) -> None:
    for option in fields(registered()[name]):  # type: ignore[arg-type]
        assert f"`{option.name}`" in sections(EVENTS)[name], f"docs/events.md, {name}: `{option.name}` is missing"


@pytest.mark.parametrize("name", registered())
def test_every_section_of_an_event_model_speaks_of_the_three_rules(name: str) -> None:
    for rule in ("mle", "map", "bayes"):
        assert f"`{rule}`" in sections(EVENTS)[name], f"docs/events.md, {name}: `{rule}` is missing"


def test_every_section_is_about_an_existing_event_model() -> None:
    titles = {title for title in sections(EVENTS) if title.islower() and " " not in title}
    assert titles == set(registered())


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_of_fit_has_a_section(option: str) -> None:
    assert option in sections(CHOICES), f"docs/choices.md has no section '## `{option}`'"


@pytest.mark.parametrize("option", OPTIONS)
def test_every_value_and_the_default_of_an_option_are_in_its_section(option: str) -> None:
    section = sections(CHOICES)[option]
    default = OPTIONS[option].default
    if default is not inspect.Parameter.empty:
        assert f"Default: `{default!r}`".replace("'", '"') in section.replace("'", '"')
    for value in _literals(get_type_hints(tb.fit)[option]):
        assert f'`"{value}"`' in section, f"docs/choices.md, {option}: {value!r} is missing"


@pytest.mark.parametrize("name", tb.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    thing = getattr(tb, name)
    assert isinstance(thing, str) or thing.__doc__


def test_every_public_method_of_a_model_has_a_docstring() -> None:
    for name, member in vars(tb.Model).items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"Model.{name}"


def test_every_option_of_fit_is_described_in_its_docstring() -> None:
    for option in OPTIONS:
        assert f"\n{option} : " in inspect.cleandoc(tb.fit.__doc__ or "")


def test_every_module_says_what_it_is_for() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def _literals(did_you_mean: object) -> list[str]:
    if get_origin(did_you_mean) is Literal:
        return [value for value in get_args(did_you_mean) if isinstance(value, str)]
    return [value for part in get_args(did_you_mean) for value in _literals(part)]
