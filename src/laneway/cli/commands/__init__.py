"""The commands, each in the module of its name, and the one line that says what it does.

A module is imported only when its command is called (or its help is asked for).
"""

from collections.abc import Mapping
from types import MappingProxyType

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "devices": "The devices of this host, who holds them, and why others may not be had.",
        "check": "Hold the config against the host.",
        "capture": "Write the inventory of this host into a file.",
        "claim": "Claim devices for a virtual machine.",
        "allocate": "Record that a virtual machine has what it claimed.",
        "free": "Give devices back.",
        "claims": "List who holds what.",
        "explain": "Say what a claim would get, or why nothing.",
        "simulate": "Play scenarios, without any host.",
        "prepare": "Take a virtual machine's devices from the host.",
        "release": "Give devices back to the host's drivers.",
        "clean": "Make devices fit for the next virtual machine.",
        "restore": "Prepare again after a boot what was prepared before.",
        "vfs": "Make the virtual functions of a card.",
        "hostdev": "Print what goes into a virtual machine's definition.",
        "binding-profile": "Print what Neutron is told of a consumer's devices.",
        "ports": "Say how Neutron's ports stand, and put them right.",
        "adopt": "Take over virtual machines that run already.",
        "hook": "Let libvirt start only machines that own their devices.",
        "import": "Take over what nova records of this host.",
        "cleanup": "Free the devices of consumers that are gone.",
        "cordon": "Keep a device from being claimed.",
        "uncordon": "Let a cordoned device be claimed again.",
        "agent": "Keep this host's devices up to date in the background.",
        "status": "Say whether an agent runs, and what is wrong.",
        "reload": "Have the agent read its config again.",
        "db": "Look after the database.",
        "demo": "Example hosts: claims, refusals and reasons without hardware.",
        "completion": "Print the completion script of a shell.",
    }
)
"""What each command does, in the order in which the help lists them."""
