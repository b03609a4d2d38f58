"""``laneway binding-profile``: what Neutron is told of a consumer's devices."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import json

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import words


@laneway_command(
    "binding-profile",
    Example("laneway binding-profile db-1", "The binding:profile for each port of db-1"),
    Example("laneway binding-profile db-1 --json", "The same for a program"),
)
@click.argument("consumer", type=words)
def command(settings: Settings, consumer: str) -> int:
    """Print the Neutron binding:profile of each device that a consumer holds.

    It is made from the database alone: neither the host nor its device specs are looked at, so it
    can be printed on another machine.
    """
    from laneway.bootstrap import binding_profiles
    from laneway.cli.host import source_of

    found = binding_profiles(source_of(settings), consumer)
    if settings.as_json:
        hosts = {
            host: {str(address): profile for address, profile in profiles.items()} for host, profiles in found.items()
        }
        output.write_json({"schema": "laneway.binding-profile/1", "consumer": consumer, "hosts": hosts})
        return ExitStatus.YES
    for host, profiles in found.items():
        for address, profile in profiles.items():
            output.write_lines([f"{host} {address}", f"  {json.dumps(profile)}"])
    return ExitStatus.YES
