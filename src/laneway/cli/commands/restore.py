"""``laneway restore``: after a boot, what was prepared before is prepared again."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from laneway.cli.command import Example, Settings, laneway_command


@laneway_command(
    "restore",
    Example("laneway restore", "After a boot, before any VM starts; packaging/systemd/laneway-restore.service does so"),
    Example("laneway restore --json | jq '.devices[] | select(.ok | not)'", "What could not be restored, and why"),
)
def command(settings: Settings) -> int:
    """After a boot, make the VFs of `laneway vfs` again, and prepare allocated devices that were prepared before.

    A boot takes everything from guests: drivers, overrides and VFs are the kernel's choice then. What cannot be
    restored is named with its reason, everything else is restored all the same, and the exit status is 1. In a boot in
    which it has been done it does nothing.
    """
    from laneway.cli.changing import answer, progress_of
    from laneway.cli.host import open_host
    from laneway.cli.render.changes import restored_page
    from laneway.compute.restoring import restore
    from laneway.interfaces.host_driver import Ability

    with open_host(settings).managed(Ability.PREPARE, progress_of(settings)) as host:
        changes = restore(host)
    return answer(settings, "restore", changes, restored_page)
