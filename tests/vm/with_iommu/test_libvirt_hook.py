"""Laneway as the hook of the libvirt of this host: a domain starts with devices that are its own, or not at all."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vm.changing import ON_VFIO, allocated, as_it_was, devices_of, given_up, prepared, released, standing
from vm.commands import Laneway, output_of
from vm.daemons import start_libvirtd, stop_libvirtd
from vm.devices import NIC_VFS
from vm.nested_vm import domain_xml, managed_hostdevs, running_domain

HOOK = Path("/etc/libvirt/hooks/qemu")
GUEST, UUID = "web-1", "6b1c9f44-4f6d-4b57-9a6e-0f2f3a3f9d10"
VF = NIC_VFS[0]
ELEMENT = managed_hostdevs(VF).replace("managed='yes'", "managed='no'")

Place = Callable[..., None]


@pytest.fixture(autouse=True)
def undisturbed(vfs: None) -> Iterator[None]:
    with as_it_was():
        yield


@pytest.fixture(scope="module")
def libvirt_with_hook(libvirtd: Any) -> Iterator[Any]:
    """libvirt looks for its hooks when it starts; what they do it asks each time."""
    stop_libvirtd()
    HOOK.parent.mkdir(parents=True, exist_ok=True)
    HOOK.write_text("#!/bin/sh\n")
    HOOK.chmod(0o755)
    yield start_libvirtd()
    stop_libvirtd()
    HOOK.unlink()
    start_libvirtd()


@pytest.fixture
def hook(changing: Laneway) -> Place:
    """Writes the hook as docs/libvirt-hook.md has it, with options."""

    def place(*options: str) -> None:
        words = " ".join(changing.command("hook", "libvirt", *options))
        HOOK.write_text(f'#!/bin/sh\nexport PYTHONPATH={os.environ["PYTHONPATH"]}\nexec {words} -- "$@"\n')

    return place


def test_a_domain_starts_with_what_was_prepared_for_it(changing: Laneway, libvirt_with_hook: Any, hook: Place) -> None:
    """Not before it is its own, and not before it was prepared; when it has stopped, others may have it."""
    hook("--free-on-stop")
    assert f"{VF}: nobody holds it" in refusal(libvirt_with_hook, ELEMENT)
    assert allocated(changing, UUID, place="vf") == [VF]
    assert "laneway prepare" in refusal(libvirt_with_hook, ELEMENT)
    prepared(changing, UUID)
    with running_domain(libvirt_with_hook, GUEST, ELEMENT, UUID):
        assert standing(VF) == ON_VFIO
        assert devices_of(changing)[VF]["status"] == "allocated"
    assert devices_of(changing)[VF]["status"] == "releasing"
    released(changing)


def refusal(libvirt: Any, element: str) -> str:
    """Why libvirt does not start a domain with this device."""
    with pytest.raises(libvirt.libvirtError) as refused, running_domain(libvirt, GUEST, element, UUID):
        pass
    return str(refused.value)


def test_a_definition_on_its_way_is_let_through_unchanged(changing: Laneway) -> None:
    """libvirt takes what the hook prints for the definition."""
    allocated(changing, GUEST, place="vf")
    prepared(changing, GUEST)
    given = f"{domain_xml(GUEST, ELEMENT, UUID)}\n"
    words = changing.command("hook", "libvirt", "--", GUEST, "migrate", "begin", "-")
    assert output_of(*words, given=given) == given
    given_up(changing, GUEST)
