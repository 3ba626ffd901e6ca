"""The commands as one typer group: each is imported on use; a file name in place of a command means `look`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

import typer
from typer.core import TyperGroup
from typer.main import get_command

from tallybayes import __version__
from tallybayes.cli.option_groups import expand_groups
from tallybayes.errors import did_you_mean

F = TypeVar("F", bound=Callable[..., None])
_PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None}


def example(*lines: str) -> Callable[[F], F]:
    """Give a command the examples that its help ends with; the tests run them."""

    def marked(function: F) -> F:
        function.examples = lines  # type: ignore[attr-defined]
        return function

    return marked


def group(summary: str, commands: Mapping[str, Mapping[str, tuple[str, str]]]) -> Any:
    """Return the group of these commands, given by section and name as (module, summary)."""
    places = {name: module for section in commands.values() for name, (module, _) in section.items()}

    class Group(TyperGroup):
        """A group that imports a command's module when the command is used."""

        def list_commands(self, ctx: Any) -> list[str]:
            return list(places)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return _command(cmd_name, places[cmd_name]) if cmd_name in places else None

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            if args[0] not in places and _is_data(args[0]):
                args = ["look", *args]
            elif args[0] not in places and not args[0].startswith("-"):
                ctx.fail(f"No such command or file {args[0]!r}. {did_you_mean(args[0], places)}")
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            for section, members in commands.items():
                with formatter.section(section):
                    formatter.write_dl([(name, what) for name, (_, what) in members.items()], col_max=12)

    app = typer.Typer(cls=Group, help=summary, rich_markup_mode=None, subcommand_metavar="COMMAND|DATA ...")
    app.callback(epilog="'tally COMMAND --help' shows the options and examples of a command.")(_tally)
    return get_command(app)


def _tally(
    version: bool = typer.Option(
        False, "--version", is_eager=True, help="Print the version.", callback=lambda v: _say(v)
    ),
) -> None:
    pass


def _say(version: bool) -> None:
    if version:
        typer.echo(f"tallybayes {__version__}")
        raise typer.Exit


def _is_data(word: str) -> bool:
    return word == "-" or os.path.exists(os.path.expanduser(word)) or "*" in word or os.path.splitext(word)[1] != ""


def _command(name: str, module: str) -> Any:
    """Return a command with its options and examples."""
    function = getattr(import_module(f"tallybayes.cli.{module}"), name)
    lines = "\n".join(f"  {line}" for line in function.examples)
    app = typer.Typer(**_PLAIN)
    # \b keeps the line breaks; without it the lines would be filled into one paragraph
    app.command(name, help=inspect.getdoc(function), epilog=f"\b\nExamples:\n{lines}")(expand_groups(function))
    return get_command(app)
