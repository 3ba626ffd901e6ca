"""The commands as one typer group, each imported when it is used.

A file name in place of a command means `look`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from tallybayes import __version__
from tallybayes.cli.convert import convert_if_needed
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


def subcommands(commands: Mapping[str, tuple[str, str]]) -> Callable[[F], F]:
    """Make a command a group of others, given by name as (module, summary)."""

    def marked(function: F) -> F:
        function.subcommands = commands  # type: ignore[attr-defined]
        return function

    return marked


def many(*flags: str) -> Callable[[F], F]:
    """Let each of these options take all words up to the next option.

    A shell's glob gives many.
    """

    def marked(function: F) -> F:
        function.many = flags  # type: ignore[attr-defined]
        return function

    return marked


def group(summary: str, commands: Mapping[str, Mapping[str, tuple[str, str]]]) -> Any:
    """Return the group of these commands, given by section and name as (module, summary)."""
    kind = _group_of(commands, fallback="look")
    app = typer.Typer(cls=kind, help=summary, rich_markup_mode=None, subcommand_metavar="COMMAND|DATA ...")
    app.callback(epilog="'tally COMMAND --help' shows the options and examples of a command.")(_tally)
    return get_command(app)


def _group_of(commands: Mapping[str, Mapping[str, tuple[str, str]]], *, fallback: str | None) -> type[TyperGroup]:
    """Return a group that imports commands when used; `fallback` takes a file's name."""
    places = {name: module for section in commands.values() for name, (module, _) in section.items()}

    class Group(TyperGroup):
        """A group of commands."""

        def get_params(self, ctx: Any) -> list[Any]:
            return convert_if_needed(super().get_params(ctx), {})

        def list_commands(self, ctx: Any) -> list[str]:
            return list(places)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return _command(cmd_name, places[cmd_name]) if cmd_name in places else None

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
            if args[0] not in places and fallback is not None and _is_data(args[0]):
                args = [fallback, *args]
            elif args[0] not in places and not args[0].startswith("-"):
                what = "command" if fallback is None else "command or file"
                ctx.fail(f"No such {what} {args[0]!r}. {did_you_mean(args[0], places)}")
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            for section, members in commands.items():
                with formatter.section(section):
                    formatter.write_dl([(name, what) for name, (_, what) in members.items()], col_max=12)

    return Group


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
    # \b keeps the line breaks; without it the lines would be filled into one paragraph
    words: dict[str, Any] = {"help": inspect.getdoc(function), "epilog": f"\b\nExamples:\n{lines}"}
    if hasattr(function, "subcommands"):
        kind = _group_of({"Commands": function.subcommands}, fallback=None)
        app = typer.Typer(cls=kind, name=name, **words, **_PLAIN)
        app.callback()(function)
        return get_command(app)
    app = typer.Typer(**_PLAIN)
    expanded = expand_groups(function)
    typed = _command_of(expanded.__annotations__, getattr(function, "many", ()))
    app.command(name, cls=typed, **words)(expanded)
    return get_command(app)


def _command_of(hints: Mapping[str, Any], flags: tuple[str, ...]) -> type[TyperCommand]:
    """Return a command with parameters of these types, and flags that take several values."""

    class Command(TyperCommand):
        """A command."""

        def get_params(self, ctx: Any) -> list[Any]:
            return convert_if_needed(super().get_params(ctx), hints)

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, repeat_flags(args, flags))

    return Command


def repeat_flags(args: list[str], flags: tuple[str, ...]) -> list[str]:
    """Return the words with each of these flags before each of its values.

    Examples
    --------
    >>> repeat_flags(["--spam", "a", "b", "-o", "c"], ("--spam",))
    ['--spam', 'a', '--spam', 'b', '-o', 'c']
    """
    out: list[str] = []
    flag: str | None = None
    for word in args:
        if word.startswith("-") and word != "-":
            flag = word if word in flags else None
            if flag is None:
                out.append(word)
            continue
        out += [word] if flag is None else [flag, word]
    return out
