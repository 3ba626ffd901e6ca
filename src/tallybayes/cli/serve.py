"""`tally serve`: serve models over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from tallybayes.cli.group import example
from tallybayes.cli.option_groups import option


@example(
    "tally serve weather.tally",
    "tally serve weather.tally --learn",
    "tally serve models/ --learn --journal postgresql://host/db --host 0.0.0.0 --token-file token.txt",
)
def serve(
    models: Annotated[list[str], typer.Argument(metavar="MODEL|FOLDER", help="Models, or folders of them.")],
    learn: bool = option(False, "--learn", "Let requests teach the models and take rows back."),
    host: str = option("127.0.0.1", "--host ADDRESS", "The address to listen at; any but loopback needs a token."),
    port: int = option(8017, "--port N", "The port to listen at; 0 takes a free one."),
    token_file: str | None = option(
        None, "--token-file FILE", "A file whose first line requests must show as 'Authorization: Bearer ...'."
    ),
    journal: str | None = option(
        None, "--journal URL", "Keep changes in postgresql://...; by default in a SQLite file beside each model."
    ),
    snapshot_every: int = option(1000, "--snapshot-every N", "Records between two snapshots of a model."),
    allow_origin: list[str] | None = option(
        None,
        "--allow-origin ORIGIN",
        "An origin whose pages may call the server, as in https://x.org. Repeatable.",
    ),
    max_body: int = option(256, "--max-body MB", "The largest request, in megabytes."),
    timeout: float = option(10.0, "--timeout SECONDS", "How long a client may be silent while it sends a request."),
    max_connections: int = option(16_384, "--max-connections N", "The most connections at a time."),
) -> None:
    """Serve models over HTTP, with a page to play with them.

    Read-only and for this machine alone, unless you say otherwise. What is learned is in a journal before it is
    acknowledged, and is there after a crash. See docs/server.md for the routes.
    """
    from tallybayes.errors import BadOption, wanted

    try:
        from tallybayes.server.body import Limits
        from tallybayes.server.serve import Options
        from tallybayes.server.serve import serve as run
    except ModuleNotFoundError as error:
        do = "Install it: pip install 'tallybayes[serve]'"
        raise BadOption(wanted("serve", f"the package {error.name}", "none", do)) from None
    least = {"--port": (port, 0), "--snapshot-every": (snapshot_every, 1), "--max-body": (max_body, 1)}
    for name, (value, low) in (least | {"--max-connections": (max_connections, 1)}).items():
        if value < low or (name == "--port" and value > 65_535):
            raise BadOption(wanted(name, f"a whole number from {low}", str(value)))
    if not timeout > 0:
        raise BadOption(wanted("--timeout", "seconds above 0", str(timeout)))
    run(
        models,
        Options(
            host=host,
            port=port,
            learn=learn,
            token_file=token_file,
            journal=journal,
            snapshot_every=snapshot_every,
            origins=tuple(allow_origin or ()),
            limits=Limits(body=max_body << 20, patience=timeout),
            connections=max_connections,
        ),
    )
