"""``laneway binding-profile``: what Neutron is told, without the host."""

from cli.conftest import ExampleHost

REMOTE = '{"name": "port", "any_of": [{"remote_managed": true, "physical_network": "tenant"}]}'


def test_the_profile_of_a_remote_managed_device_has_all_that_the_backend_needs(network_host: ExampleHost) -> None:
    network_host.run("claim", "tenant-1", "--request", REMOTE)
    document = network_host.json("binding-profile", "binding-profile", "tenant-1")
    ((address, profile),) = document["hosts"]["net-1"].items()
    assert profile["pci_slot"] == address
    assert {"card_serial_number", "pf_mac_address", "vf_num", "physical_network"} <= profile.keys()
    assert f"net-1 {address}\n" in network_host.run("binding-profile", "tenant-1").out


def test_it_needs_neither_the_host_nor_its_config(network_host: ExampleHost) -> None:
    network_host.run("claim", "tenant-1", "--request", REMOTE)
    with_host = network_host.run("binding-profile", "tenant-1", "--json")
    state = str(network_host.folder / "state.db")
    assert network_host.run_alone("binding-profile", "tenant-1", "--json", "--state", state) == with_host


def test_a_consumer_without_devices_is_told_so(network_host: ExampleHost) -> None:
    answer = network_host.run("binding-profile", "nobody")
    assert (answer.status, "nobody holds no device" in answer.err) == (1, True)
