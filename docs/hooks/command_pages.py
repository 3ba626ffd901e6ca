"""The reference of the command line, made by walking the program's own tree of commands."""

from __future__ import annotations

import inspect
import re
from typing import Any

from tallybayes.cli import main

PAGE = "reference/command-line.md"
# Marks of rich, the control character that keeps lines as they are, and where a docstring's help ends.
_MARKS = re.compile(r"\[/?[a-z ]*\]|\x08\n?|\f.*", re.DOTALL)
_EXAMPLE = re.compile(r"(?:\s{2,}|\$ )(\S.*)")


def pages() -> dict[str, str]:
    """The page's text, by its place below docs/."""
    parts = [section(words, command) for words, command in walk(("tally",), program())]
    lead = "Every command and option, as `tally --help` and `tally COMMAND --help` tell them."
    return {PAGE: "\n\n".join([f"# Command reference\n\n{lead}", *parts]) + "\n"}


def program() -> Any:
    """The whole command line as typer has it."""
    return main.program()


def walk(words: tuple[str, ...], command: Any) -> list[tuple[tuple[str, ...], Any]]:
    """A command and all below it that are not hidden, each with the words that call it."""
    found = [(words, command)]
    if hasattr(command, "list_commands"):
        context = _context(words, command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            found += [] if below.hidden else walk((*words, name), below)
    return found


def section(words: tuple[str, ...], command: Any) -> str:
    """What one command does, how it is called, and what it takes."""
    context = _context(words, command)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{_cell(names)}` | {_literal(_cell(_plain(said)))} |" for names, said in filter(None, records)]
    said = [_fenced(_plain(text)) for text in (command.help, command.epilog) if text]
    table = "| | |\n|---|---|\n" + "\n".join(rows)
    return "\n\n".join([f"## {' '.join(words)}", f"```sh\n{usage}\n```", *said, table])


def _context(words: tuple[str, ...], command: Any) -> Any:
    return command.context_class(command, info_name=" ".join(words))


def _plain(text: str) -> str:
    """A help text without the marks that a terminal wants."""
    return _MARKS.sub("", inspect.cleandoc(text))


def _fenced(text: str) -> str:
    """A help text as Markdown: examples, which are set in, are fenced; all else is meant literally."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        example = _EXAMPLE.match(line)
        if inside != bool(example):
            out += ["```", ""] if inside else ["", "```sh"]
        inside = bool(example)
        out.append(example.group(1) if example else _literal(line))
    return "\n".join([*out, "```"] if inside else out).strip()


def _literal(text: str) -> str:
    """Text whose stars, underscores and angles are no Markdown, except between backquotes."""
    parts = text.split("`")
    return "`".join(re.sub(r"([*_<])", r"\\\1", part) if k % 2 == 0 else part for k, part in enumerate(parts))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
