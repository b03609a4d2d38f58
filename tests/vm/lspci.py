"""What lspci says of functions: another reader of the same host."""

import re
from collections.abc import Mapping

from vm.commands import output_of

_NUMBER = re.compile(r"\[([0-9a-f]{4})\]$")


def functions_of_lspci() -> Mapping[str, Mapping[str, str]]:
    """For each address what ``lspci -vmmnnk`` says, by its names; ids as numbers only."""
    found = {}
    for block in output_of("lspci", "-D", "-vmm", "-nn", "-k").strip().split("\n\n"):
        fields = dict(line.split(":\t", 1) for line in block.splitlines())
        found[fields["Slot"]] = {name: _number(value) for name, value in fields.items()}
    return found


def paths_of_lspci() -> Mapping[str, tuple[str, ...]]:
    """For each address the bridges above it, from the root down, as ``lspci -PP`` says."""
    found = {}
    for line in output_of("lspci", "-D", "-PP").splitlines():
        *bridges, own = line.split(" ", 1)[0].split("/")
        domain = (bridges or [own])[0].split(":")[0]
        found[_with_domain(own, domain)] = tuple(_with_domain(bridge, domain) for bridge in bridges)
    return found


def _number(value: str) -> str:
    found = _NUMBER.search(value)
    return found[1] if found else value


def _with_domain(address: str, domain: str) -> str:
    return address if address.count(":") == 2 else f"{domain}:{address}"
