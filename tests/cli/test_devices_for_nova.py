"""``laneway devices --format nova``."""

from cli.conftest import ExampleHost
from cli.documents import validated
from laneway.demo import network_host as example
from laneway.openstack.nova_devices import nova_devices


def test_it_prints_what_a_virt_driver_of_nova_returns(network_host: ExampleHost) -> None:
    answer = network_host.run("devices", "--format", "nova")
    assert (answer.status, answer.err) == (0, "")
    assert validated("nova-devices", answer.out) == nova_devices(example.inventory())


def test_it_needs_no_config_that_is_good(network_host: ExampleHost) -> None:
    """nova's own config admits the devices."""
    network_host.config.write_text("[[device_spec]]\n")
    assert network_host.run("devices", "--format", "nova").status == 0


def test_it_is_no_view_for_people(network_host: ExampleHost) -> None:
    answer = network_host.run("devices", "--format", "nova", "--tree")
    assert (answer.status, answer.out) == (2, "")
    assert "leave --tree and --all out" in answer.err
