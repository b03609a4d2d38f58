"""Settings of a VF: made when it is prepared, kept for the next boot, taken back when it is released."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compute.changing_host import ChangingHost, ObedientVfKernel, add_network_pf
from domain.hosts import at
from hosts.linux.changes.kernels import any_kernel
from hosts.linux.fake_kernel import FakeKernel
from laneway.compute.preparing import prepare
from laneway.compute.releasing import release
from laneway.compute.restoring import restore
from laneway.compute.vf_counts import set_vf_count
from laneway.interfaces.host_changes import VfSettings

PF, VF = "0000:86:00.0", "0000:86:02.1"
SETTINGS = VfSettings(mac="02:00:00:00:00:01", vlan=7)
TRUSTED = {"address": "*", "trusted": "true"}


def network_host(folder: Path) -> tuple[FakeKernel, ObedientVfKernel]:
    kernel = any_kernel(folder)
    return kernel, add_network_pf(kernel, PF)


@pytest.fixture
def with_vf(
    quick_folder: Path, tmp_path: Path, changing_host: Callable[..., ChangingHost]
) -> Callable[..., ChangingHost]:
    """A host with a VF that is allocated."""

    def make(spec: object) -> ChangingHost:
        kernel, _ = network_host(quick_folder / f"{tmp_path.name}-root")
        host = changing_host(specs=[spec], kernel=kernel)
        set_vf_count(host.managed, at(PF), 2)
        host.claim("vm", "0000:86:02.1")
        return host

    return make


def summaries(host: ChangingHost) -> list[str]:
    return [step.summary for step in host.journal().steps if step.kind == "vf_settings"]


def test_settings_are_made_and_taken_back(with_vf: Callable[..., ChangingHost]) -> None:
    host = with_vf({"address": "*"})
    prepare(host.managed, "vm", settings={at(VF): SETTINGS})
    assert summaries(host) == [f"set MAC, VLAN of VF 0 on its PF {PF}"]
    made = host.kernel.vf_kernel
    assert isinstance(made, ObedientVfKernel)
    count = len(made.made)
    assert count == 2
    release(host.managed, "vm")
    assert len(made.made) > count
    assert host.journal().steps == ()


@pytest.mark.parametrize(
    ("spec", "settings", "said"),
    [
        pytest.param(TRUSTED, None, ["trust"], id="by the tag"),
        pytest.param(TRUSTED, SETTINGS, ["MAC", "VLAN", "trust"], id="by the tag beside others"),
        pytest.param({"address": "*"}, None, [], id="not without it"),
    ],
)
def test_a_vf_is_trusted(
    with_vf: Callable[..., ChangingHost], spec: object, settings: VfSettings | None, said: list[str]
) -> None:
    host = with_vf(spec)
    prepare(host.managed, "vm", settings={} if settings is None else {at(VF): settings})
    expected = [f"set {', '.join(said)} of VF 0 on its PF {PF}"] if said else []
    assert summaries(host) == expected


def test_what_is_said_counts_more_than_the_tag(with_vf: Callable[..., ChangingHost]) -> None:
    host = with_vf(TRUSTED)
    prepare(host.managed, "vm", settings={at(VF): VfSettings(trust=False)})
    settings = host.journal().prepared[at(VF)].vf_settings
    assert settings is not None
    assert settings.trust is False


def test_after_a_boot_they_are_made_again(with_vf: Callable[..., ChangingHost], tmp_path: Path) -> None:
    host = with_vf({"address": "*"})
    prepare(host.managed, "vm", settings={at(VF): SETTINGS})
    kernel, made = network_host(tmp_path / "two")
    kernel.boot("two")
    host.start(kernel)
    assert restore(host.managed).is_complete
    assert len(made.made) == 2
    assert host.journal().prepared[at(VF)].vf_settings == SETTINGS
