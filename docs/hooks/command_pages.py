"""The command-line reference, generated from the program's tree of commands."""

from __future__ import annotations

import inspect
import re
from typing import Any

from tallybayes.cli import main

PAGE = "reference/command-line.md"
# Rich's markup, the control character that keeps line breaks, and the end of a docstring's help.
_MARKS = re.compile(r"\[/?[a-z ]*\]|\x08\n?|\f.*", re.DOTALL)
_EXAMPLE = re.compile(r"(?:\s{2,}|\$ )(\S.*)")


def pages() -> dict[str, str]:
    """Return the page's text by its path below docs/."""
    parts = [section(words, command) for words, command in walk(("tally",), program())]
    lead = "Every command and option, as `tally --help` and `tally COMMAND --help` show them."
    return {PAGE: "\n\n".join([f"# Command reference\n\n{lead}", *parts]) + "\n"}


def program() -> Any:
    """Return the whole command line as a typer group."""
    return main.program()


def walk(words: tuple[str, ...], command: Any) -> list[tuple[tuple[str, ...], Any]]:
    """Return a command and all visible ones below it, each with the words that call it."""
    found = [(words, command)]
    if hasattr(command, "list_commands"):
        context = _context(words, command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            found += [] if below.hidden else walk((*words, name), below)
    return found


def section(words: tuple[str, ...], command: Any) -> str:
    """Return one command's section: usage, help and options."""
    context = _context(words, command)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{_cell(names)}` | {_literal(_cell(_plain(text)))} |" for names, text in filter(None, records)]
    texts = [_fenced(_plain(text)) for text in (command.help, command.epilog) if text]
    table = "| | |\n|---|---|\n" + "\n".join(rows)
    return "\n\n".join([f"## {' '.join(words)}", f"```sh\n{usage}\n```", *texts, table])


def _context(words: tuple[str, ...], command: Any) -> Any:
    return command.context_class(command, info_name=" ".join(words))


def _plain(text: str) -> str:
    """Return a help text without terminal markup."""
    return _MARKS.sub("", inspect.cleandoc(text))


def _fenced(text: str) -> str:
    """Return a help text as Markdown: indented examples are fenced, the rest is escaped."""
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
    """Escape stars, underscores and angle brackets, except between backquotes."""
    parts = text.split("`")
    return "`".join(re.sub(r"([*_<])", r"\\\1", part) if k % 2 == 0 else part for k, part in enumerate(parts))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
