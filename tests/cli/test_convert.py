"""Values of options: as they are where they have the wanted type, else as typer converts them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
import typer
from typer.core import TyperCommand
from typer.main import get_command

from tallybayes.cli.convert import convert_if_needed
from tallybayes.errors import TallyError


def draw(
    name: Annotated[str, typer.Argument()],
    others: Annotated[list[str] | None, typer.Argument()] = None,
    width: Annotated[int | None, typer.Option()] = None,
    scale: Annotated[float, typer.Option()] = 1.0,
    words: Annotated[list[str] | None, typer.Option()] = None,
    kind: Annotated[Literal["box", "line"], typer.Option()] = "box",
    fill: Annotated[bool, typer.Option("--fill/--no-fill")] = True,
) -> None:
    """Draw something."""
    drawn.append({**locals()})


drawn: list[dict[str, Any]] = []


class Quick(TyperCommand):
    """A command that leaves values that fit as they are."""

    def get_params(self, ctx: Any) -> list[Any]:
        return convert_if_needed(super().get_params(ctx), _HINTS)


_HINTS = {
    "name": str,
    "others": list[str] | None,
    "width": int | None,
    "scale": float,
    "words": list[str] | None,
    "kind": Literal["box", "line"],
    "fill": bool,
}


def _command(kind: type[TyperCommand]) -> Any:
    app = typer.Typer(add_completion=False)
    app.command("draw", cls=kind)(draw)
    return get_command(app)


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "a b c",
        "a --width 7 --scale 2",
        "a --width=-7 --scale 1e3 --no-fill",
        "a --words x --words y --kind line",
        "a --fill --words 7",
    ],
)
def test_values_are_those_of_typer(line: str) -> None:
    drawn.clear()
    for kind in (TyperCommand, Quick):
        _command(kind)(line.split(), standalone_mode=False)
    assert drawn[0] == drawn[1]
    assert [type(value) for value in drawn[0].values()] == [type(value) for value in drawn[1].values()]


def test_a_word_that_is_missing_is_refused_as_by_typer() -> None:
    said = []
    for kind in (TyperCommand, Quick):
        with pytest.raises(typer.BadParameter.__mro__[2]) as refused:
            _command(kind)([], standalone_mode=False)
        said.append(refused.value.format_message())
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a --width seven", "--width: wanted a whole number, got 'seven'."),
        ("a --scale wide", "--scale: wanted a number, got 'wide'."),
        ("a --kind circle", "--kind: wanted one of box, line, got 'circle'."),
        ("a --kind boxes", "--kind: wanted one of box, line, got 'boxes'. Did you mean 'box'?"),
    ],
)
def test_what_typer_refuses_is_refused_in_our_words(line: str, sentence: str) -> None:
    with pytest.raises(TallyError) as refused:
        _command(Quick)(line.split(), standalone_mode=False)
    assert str(refused.value) == sentence
    with pytest.raises(typer.BadParameter):
        _command(TyperCommand)(line.split(), standalone_mode=False)
