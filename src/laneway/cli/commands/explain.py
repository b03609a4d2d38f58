"""``laneway explain``: what a claim would answer, and why."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from datetime import timedelta

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import Asked, asking, claiming


@laneway_command(
    "explain",
    Example("laneway explain db-1 --alias gpu:2", "Would db-1 get two GPUs now? Which, or why not?"),
    Example("laneway explain db-1 --alias gpu:1,nic:1 --numa-node 1 --json", "The same as data"),
)
@asking
@claiming
def command(settings: Settings, asked: Asked, claim_id: str | None, ttl: timedelta | None) -> int:  # noqa: ARG001 - it changes no answer
    """Say which devices a claim would get, or why it would get none. Nothing is changed.

    The options are those of `laneway claim`, and so is the exit status: 0 for yes, 1 for no.
    """
    from laneway.bootstrap import new_claim_id
    from laneway.cli.asking import claim_on
    from laneway.cli.deciding import decide
    from laneway.cli.host import open_host
    from laneway.cli.render.answers import check_answer

    host = open_host(settings)
    claim = claim_id or new_claim_id()
    return decide(
        settings,
        host,
        "check",
        lambda plane: plane.check(host.name, claim_on(host, settings, asked, claim)),
        check_answer,
    )
