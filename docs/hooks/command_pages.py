"""The reference of the command line, made by walking the program's own tree of commands."""

from __future__ import annotations

import inspect
import re
from typing import Any

import typer.main

from tallybayes.cli.main import app

PAGE = "reference/command-line.md"


def pages() -> dict[str, str]:
    """The page's text, by its place below docs/."""
    program = typer.main.get_command(app)
    parts = [section(words, command) for words, command in walk(("tally",), program)]
    lead = "Every command and option, as `tally --help` and `tally COMMAND --help` tell them."
    return {PAGE: "\n\n".join([f"# Command reference\n\n{lead}", *parts]) + "\n"}


def walk(words: tuple[str, ...], command: Any) -> list[tuple[tuple[str, ...], Any]]:
    """A command and all below it that are not hidden, each with the words that call it."""
    below = {name: one for name, one in getattr(command, "commands", {}).items() if not one.hidden}
    return [(words, command)] + [found for name, one in below.items() for found in walk((*words, name), one)]


def section(words: tuple[str, ...], command: Any) -> str:
    """What one command does, how it is called, and what it takes."""
    context = command.context_class(command, info_name=" ".join(words))
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{_cell(names)}` | {_cell(_plain(said))} |" for names, said in filter(None, records)]
    said = [_fenced(_plain(text)) for text in (command.help, command.epilog) if text]
    return "\n\n".join([f"## {' '.join(words)}", f"```sh\n{usage}\n```", *said, "| | |\n|---|---|\n" + "\n".join(rows)])


def _plain(text: str) -> str:
    """A help text without the marks of rich and typer."""
    return re.sub(r"\[/?[a-z ]*\]|\x08\n?", "", inspect.cleandoc(text).split("\f")[0])


def _fenced(text: str) -> str:
    """Lines that call the program, fenced, so that they are shown as they would be typed."""
    call = re.compile(r"^\s*\$?\s*(tally .+)$")
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        found = call.match(line)
        if found and not inside:
            out += ["", "```sh"]
        elif inside and not found:
            out += ["```", ""]
        inside = found is not None
        out.append(found.group(1) if found else line)
    return "\n".join([*out, "```"] if inside else out).strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
