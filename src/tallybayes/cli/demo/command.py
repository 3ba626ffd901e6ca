"""`tally demo`: one example, or all of them one after another, and a report at the end."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from tallybayes.cli.group import example
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["PARTS", "demo", "play"]

# The parts in their order, and what runs each.
PARTS = {
    "weather": "weather.run",
    "numeric": "weather.run_numeric",
    "spam": "spam.run",
    "digits": "digits.run",
    "xor": "others.run_xor",
    "loo": "others.run_loo",
}
PAGE = "tally-demo.html"


@example("tally demo weather", "tally demo")
def demo(
    part: Annotated[
        str | None,
        typer.Argument(metavar="[PART]", help=f"One of {', '.join(PARTS)}; all of them, and a report, by default."),
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the report goes.")] = PAGE,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a report that is there.")] = False,
) -> None:
    """Walk through the classic examples, with data that comes along.

    The weather and a new day, by hand and with numbers; spam; digits in pictures; the exclusive or, and why it fails;
    leave-one-out. At the end, the report of the messages as one HTML page.
    """
    from rich.console import Console

    from tallybayes.cli.outputs import check_free
    from tallybayes.errors import did_you_mean

    if part is not None and part not in PARTS:
        raise BadOption(wanted("demo", f"one of {', '.join(PARTS)}", repr(part), did_you_mean(part, PARTS)))
    if part is None:
        check_free(output, force=force)
    console = Console(highlight=False)
    for k, name in enumerate([part] if part else PARTS):
        if k:
            console.rule(style="dim")
        play(name, console)
    if part is None:
        console.rule(style="dim")
        _report(console, output, force=force)


def play(name: str, console: Console) -> None:
    """One part."""
    module, function = PARTS[name].split(".")
    getattr(import_module(f"tallybayes.cli.demo.{module}"), function)(console)


def _report(console: Console, output: str, *, force: bool) -> None:
    from tallybayes.cli.demo.data import messages
    from tallybayes.cli.demo.narration import heading, tell
    from tallybayes.cli.outputs import replacing
    from tallybayes.reporting import report

    heading(console, "All of it on one page")
    made = report(messages(), "kind", source="messages.csv", command="tally report messages.csv --label kind")
    with replacing(output, force=force) as file:
        file.write(made.to_html().encode())
    tell(console, f"The report of the messages is in {output}: open it in a browser.")
    tell(console, "Next: tally YOUR.csv, which looks at a file of your own and says what to do.")
