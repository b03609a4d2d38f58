"""Formatting NVMe namespaces; nvme-cli is played, with what its versions 1.16 to 2.13 print."""

import json

import pytest

from hosts.host_tree import HostTreeBuilder
from hosts.linux.changes.played import Bench, PlayedPrograms
from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.nvme_format import NvmeError, format_namespaces
from laneway.hosts.linux.changes.programs import Ended

ADDRESS = PciAddress.parse("0000:01:00.0")
CAN_FORMAT, MANAGES_NAMESPACES = 0x2, 0x8


def said(text: str) -> Ended:
    return Ended(status=0, output=text)


def controller(*, oacs: int = CAN_FORMAT, fna: int = 0) -> Ended:
    return said(json.dumps({"vid": 6966, "sn": "disk1", "oacs": oacs, "fna": fna, "psds": [{"max_power": 2500}]}))


def namespaces(*ids: int) -> Ended:
    return said("\n".join(f"[{index:4}]:{number:#x}" for index, number in enumerate(ids)))


def programs(told: Ended, **answers: Ended) -> PlayedPrograms:
    return PlayedPrograms(
        {
            "nvme id-ctrl": told,
            "nvme list-ns": answers.get("attached", namespaces(1)),
            "nvme list-ns /dev/nvme0 --all": answers.get("existing", namespaces(1)),
            "nvme id-ns": answers.get("namespace", said(json.dumps({"nsze": 64, "flbas": 0}))),
            "nvme format": answers.get("format", said("Success formatting namespace:1")),
        }
    )


@pytest.fixture
def host(host: HostTreeBuilder) -> HostTreeBuilder:
    host.function(str(ADDRESS))
    host.write("dev/nvme0", "")
    state(host, "live")
    return host


def state(host: HostTreeBuilder, text: str) -> None:
    host.write(f"sys/bus/pci/devices/{ADDRESS}/nvme/nvme0/state", f"{text}\n")


def formats(bench: Bench) -> list[str]:
    return [command for command in bench.programs.ran if command.startswith("nvme format")]


def test_every_namespace_is_formatted_within_the_time_that_is_left(host: HostTreeBuilder) -> None:
    bench = Bench(host.root, programs(controller(), attached=namespaces(1, 18)))
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert formats(bench) == [
        "nvme format /dev/nvme0 --namespace-id=1 --ses=1 --force --timeout=600000",
        "nvme format /dev/nvme0 --namespace-id=18 --ses=1 --force --timeout=600000",
    ]
    assert bench.told == [
        "formatting namespace 1 of nvme0, within 600 s",
        "formatting namespace 18 of nvme0, within 600 s",
    ]


def test_warnings_around_the_answer_do_not_matter(host: HostTreeBuilder) -> None:
    answer = controller()
    bench = Bench(host.root, programs(said(f"Warning: old firmware\n{answer.output}\n")))
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert len(formats(bench)) == 1


def test_keys_are_erased_where_the_controller_can(host: HostTreeBuilder) -> None:
    bench = Bench(host.root, programs(controller(fna=0x4)))
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert formats(bench) == ["nvme format /dev/nvme0 --namespace-id=1 --ses=2 --force --timeout=600000"]


@pytest.mark.parametrize(
    ("flbas", "index"), [(0x0, 0), (0x12, 2), (0x6F, 63)], ids=["0", "with metadata at its end", "above 15"]
)
def test_a_controller_that_formats_all_at_once_is_told_so_once(host: HostTreeBuilder, flbas: int, index: int) -> None:
    namespace = said(json.dumps({"flbas": flbas}))
    bench = Bench(host.root, programs(controller(fna=0x1), attached=namespaces(1, 2), namespace=namespace))
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert formats(bench) == [
        f"nvme format /dev/nvme0 --namespace-id=4294967295 --ses=1 --force --lbaf={index} --timeout=600000"
    ]


def test_the_second_namespace_has_the_time_that_the_first_left(host: HostTreeBuilder) -> None:
    played = programs(controller(), attached=namespaces(1, 2))
    bench = Bench(host.root, played)

    def long() -> Ended:
        bench.seconds += 400
        return Ended(status=0)

    played.answers["nvme format"] = long
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert [command.split()[-1] for command in formats(bench)] == ["--timeout=600000", "--timeout=200000"]
    with pytest.raises(NvmeError, match="the time for formatting nvme0 is over"):
        format_namespaces(ADDRESS, bench.bench, 300.0)


def test_a_controller_that_comes_up_is_waited_for(host: HostTreeBuilder) -> None:
    state(host, "connecting")
    bench = Bench(host.root, programs(controller()))
    bench.at_pause.append(lambda: state(host, "live"))
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert len(formats(bench)) == 1


def test_a_controller_that_does_not_come_up_is_a_failure(host: HostTreeBuilder) -> None:
    state(host, "dead")
    bench = Bench(host.root, programs(controller()))
    with pytest.raises(NvmeError, match=r"0000:01:00.0 is not live"):
        format_namespaces(ADDRESS, bench.bench, 600.0)


FAILURES = {
    "the controller cannot format": (
        programs(controller(oacs=0x4)),
        r"nvme0 cannot format \(OACS is 0x4\)",
    ),
    "there is no namespace": (programs(controller(), attached=said("")), "nvme0 has no namespace"),
    "a format fails": (
        programs(controller(), format=Ended(status=1, output="NVMe status: Invalid Format(0x10a)")),
        r"nvme format of nvme0 ended with status 1: NVMe status: Invalid Format\(0x10a\)",
    ),
    "a format takes too long": (programs(controller(), format=Ended(status=None)), "when its time was over"),
    "nvme does not answer in JSON": (programs(said("Usage: nvme id-ctrl <device>")), "did not answer in JSON: 'Usage"),
    "nvme answers in other JSON": (programs(said("[1]")), "did not answer in JSON"),
    "nvme leaves a field out": (programs(said('{"fna": 0}')), "did not tell oacs"),
    "nvme-cli is not there": (PlayedPrograms(), "install nvme-cli"),
    "a namespace was detached": (
        programs(controller(oacs=CAN_FORMAT | MANAGES_NAMESPACES), existing=namespaces(1, 2, 3)),
        "detached from nvme0, and still there: namespace 2, 3; attach or delete them",
    ),
}


@pytest.mark.parametrize(("played", "words"), FAILURES.values(), ids=FAILURES)
def test_it_fails_where(host: HostTreeBuilder, played: PlayedPrograms, words: str) -> None:
    with pytest.raises(NvmeError, match=words):
        format_namespaces(ADDRESS, Bench(host.root, played).bench, 600.0)


@pytest.mark.parametrize("relative", ["physfn", "sriov_totalvfs"], ids=["of a VF", "of a PF"])
def test_a_detached_namespace_may_be_another_controllers(host: HostTreeBuilder, relative: str) -> None:
    host.write(f"sys/bus/pci/devices/{ADDRESS}/{relative}", "")
    played = programs(controller(oacs=CAN_FORMAT | MANAGES_NAMESPACES), existing=namespaces(1, 2))
    bench = Bench(host.root, played)
    format_namespaces(ADDRESS, bench.bench, 600.0)
    assert bench.told[0] == ("detached from nvme0, and still there: namespace 2; what is in it stays")
    assert len(formats(bench)) == 1
