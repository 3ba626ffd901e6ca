"""The command line: one command now, `tally demo`."""

from __future__ import annotations

import sys

import typer

from tallybayes import __version__
from tallybayes.errors import TallyError

app = typer.Typer(
    help="Naive Bayes: exact counts in, honest probabilities out.", no_args_is_help=True, add_completion=False
)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"tallybayes {__version__}")
        raise typer.Exit


@app.callback()
def _tally(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Naive Bayes: exact counts in, honest probabilities out."""


@app.command()
def demo() -> None:
    """Fit the weather table, print its tables, and predict a new day."""
    from tallybayes.cli.demo import run

    run()


def main() -> None:
    """Run the command; a user's mistake is one line and exit code 2."""
    try:
        app()
    except TallyError as error:
        print(f"tally: {error}", file=sys.stderr)
        sys.exit(2)
