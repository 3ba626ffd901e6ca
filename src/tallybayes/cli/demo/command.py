"""`tally demo`: a short tour; with --course the classic examples and a report."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import argument, option
from tallybayes.errors import BadOption, wanted

if TYPE_CHECKING:
    from rich.console import Console

# The parts in order, and the function that runs each.
PARTS = {
    "weather": "weather.run",
    "numeric": "weather.run_numeric",
    "spam": "spam.run",
    "digits": "digits.run",
    "xor": "xor.run_xor",
    "loo": "leave_one_out.run_loo",
}
PAGE = "tally-demo.html"


@example("tally demo", "tally demo weather", "tally demo --course")
def demo(
    part: str | None = argument(None, "[PART]", f"A part of the course: {', '.join(PARTS)}."),
    course: bool = option(False, "--course", "Walk through all classic examples, and write a report."),
    output: str = option(PAGE, "--output -o FILE", "Where --course saves the report."),
    force: bool = option(False, "--force -f", "Overwrite an existing report."),
) -> None:
    """See what it does, in a few seconds and with bundled data.

    A prediction with its reasons, rows forgotten exactly, and probabilities that hold. --course walks through the
    classic examples: the weather and a new day, with words and with numbers; spam; digits as pictures; XOR, and why it
    fails; leave-one-out; and a report as one HTML page.
    """
    from rich.console import Console

    from tallybayes.cli.demo import tour
    from tallybayes.cli.outputs import check_free
    from tallybayes.errors import did_you_mean

    if part is not None and part not in PARTS:
        raise BadOption(wanted("demo", f"one of {', '.join(PARTS)}", repr(part), did_you_mean(part, PARTS)))
    if part is None and course:
        check_free(output, force=force)
    console = Console(highlight=False)
    if part is None and not course:
        tour.run(console)
        return
    for k, name in enumerate([part] if part else PARTS):
        if k:
            console.rule(style="dim")
        play(name, console)
    if part is None:
        console.rule(style="dim")
        _report(console, output, force=force)


def play(name: str, console: Console) -> None:
    """Run one part."""
    module, function = PARTS[name].split(".")
    getattr(import_module(f"tallybayes.cli.demo.{module}"), function)(console)


def _report(console: Console, output: str, *, force: bool) -> None:
    from tallybayes.cli.demo.data import messages
    from tallybayes.cli.demo.narration import heading, tell
    from tallybayes.cli.outputs import replacing
    from tallybayes.reporting import report

    heading(console, "A report on one page")
    page = report(messages(), "kind", source="messages.csv", command="tally report messages.csv --label kind").to_html()
    with replacing(output, force=force) as file:
        file.write(page.encode())
    tell(console, f"The report on the messages is in {output}: open it in a browser.")
    tell(console, "Next: tally YOUR.csv looks at a file of your own and suggests what to do.")
