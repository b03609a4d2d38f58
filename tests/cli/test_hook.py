"""``laneway hook libvirt``: what libvirt's qemu hook asks, and what it is answered."""

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from cli.conftest import ExampleHost
from cli.documents import validated
from laneway import bootstrap
from laneway.demo import gpu_server
from laneway.domain.address import PciAddress
from laneway.interfaces.journal import JournalState, PreparedDevice
from laneway.store.journal import SqliteJournal, journal_path

GPU, OTHER, UPLINK, UUID = "0000:19:00.0", "0000:1a:00.0", "0000:04:00.1", "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"
STARTS = ("prepare", "start", "migrate", "restore")


def hostdev(address: str, *, managed: str = "no", element: str = "hostdev") -> str:
    at = PciAddress.parse(address)
    kind = "mode='subsystem' type='pci'" if element == "hostdev" else "type='hostdev'"
    return (
        f"<{element} {kind} managed='{managed}'><source><address domain='0x{at.domain:04x}' bus='0x{at.bus:02x}' "
        f"slot='0x{at.slot:02x}' function='0x{at.function}'/></source></{element}>"
    )


def domain(*devices: str, name: str = "db-1") -> str:
    return (
        f"<domain type='kvm'>\n  <name>{name}</name>\n  <uuid>{UUID}</uuid>\n"
        f"  <devices>{''.join(devices)}</devices>\n</domain>\n"
    )


class Answer(NamedTuple):
    status: int
    out: str
    err: str


Hook = Callable[..., Answer]

SILENT_YES = (0, "", "")


@pytest.fixture
def hook(gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> Hook:
    """Runs the hook as libvirt does: ``hook(xml, "prepare", "begin", "-", "--fail-open")``."""

    def run(xml: str | bytes, *words: str) -> Answer:
        options = [word for word in words if word.startswith("--")]
        arguments = [word for word in words if word not in options]
        text = xml.encode() if isinstance(xml, str) else xml
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        told = gpu_server.run_alone("hook", "libvirt", *options, *gpu_server.options, "--", "db-1", *arguments)
        return Answer(told.status, told.out, told.err)

    return run


def hold(host: ExampleHost, consumer: str = "db-1", address: str = GPU, *, prepared: bool = True) -> None:
    """Has a GPU allocated to the consumer, and prepared; they are handed out by address."""
    assert host.run("claim", consumer, "--alias", "l40s:1").status == 0
    step = host.json("step", "allocate", consumer)
    assert step["statuses"][address]["consumer"] == consumer
    if not prepared:
        return
    functions = gpu_server.inventory().by_address
    with SqliteJournal(journal_path(host.folder / "state.db")) as journal:
        taken = PreparedDevice(recorded=functions[PciAddress.parse(address)], consumer=consumer)
        journal.keep(JournalState(prepared={**journal.state().prepared, taken.address: taken}))


class TestStarting:
    @pytest.mark.parametrize(
        ("operation", "consumer", "element"),
        [
            ("prepare", "db-1", "hostdev"),
            ("start", UUID, "interface"),
            ("migrate", UUID, "hostdev"),
            ("restore", "db-1", "interface"),
        ],
    )
    def test_a_domain_starts_with_what_is_allocated_to_it(
        self, gpu_server: ExampleHost, hook: Hook, operation: str, consumer: str, element: str
    ) -> None:
        hold(gpu_server, consumer)
        answer = hook(domain(hostdev(GPU, element=element)), operation, "begin", "-")
        assert (answer.status, answer.err) == (0, "")

    @pytest.mark.parametrize("operation", STARTS)
    def test_a_domain_whose_device_is_anothers_does_not(
        self, gpu_server: ExampleHost, hook: Hook, operation: str
    ) -> None:
        hold(gpu_server, "db-2")
        answer = hook(domain(hostdev(GPU)), operation, "begin", "-")
        assert (answer.status, answer.out) == (1, "")
        assert answer.err.splitlines() == [
            "no: db-1 may not start with the devices that it is defined with:",
            f"    {GPU}: it belongs to db-2",
        ]

    def test_of_several_devices_each_is_looked_at(self, gpu_server: ExampleHost, hook: Hook) -> None:
        hold(gpu_server)
        hold(gpu_server, "db-2", OTHER)
        xml = domain(hostdev(GPU, managed="yes"), hostdev(OTHER), hostdev(UPLINK), hostdev("0000:ff:00.0"))
        answer = hook(xml, "prepare", "begin", "-")
        assert answer.status == 1
        assert [line.split(": ")[0].strip() for line in answer.err.splitlines()[1:]] == [
            GPU,
            OTHER,
            UPLINK,
            "0000:ff:00.0",
        ]

    def test_what_is_not_prepared_is_refused_with_the_command_that_does_it(
        self, gpu_server: ExampleHost, hook: Hook
    ) -> None:
        hold(gpu_server, prepared=False)
        answer = hook(domain(hostdev(GPU)), "prepare", "begin", "-")
        assert answer.status == 1
        assert "run: laneway prepare db-1" in answer.err

    def test_what_is_claimed_and_not_allocated_is_refused(self, gpu_server: ExampleHost, hook: Hook) -> None:
        assert gpu_server.run("claim", "db-1", "--alias", "l40s:1").status == 0
        assert "run: laneway allocate db-1" in hook(domain(hostdev(GPU)), "prepare", "begin", "-").err

    def test_a_device_that_no_spec_admits_is_let_through_where_that_is_allowed(self, hook: Hook) -> None:
        assert hook(domain(hostdev(UPLINK)), "prepare", "begin", "-").status == 1
        assert hook(domain(hostdev(UPLINK)), "prepare", "begin", "-", "--allow-untracked").status == 0

    @pytest.mark.parametrize("operation", ["migrate", "restore"])
    def test_where_libvirt_wants_the_xml_back_it_gets_it_unchanged(
        self, gpu_server: ExampleHost, hook: Hook, operation: str
    ) -> None:
        hold(gpu_server)
        xml = domain(hostdev(GPU)).replace("kvm", "kvm' title='Grüße")
        assert hook(xml, operation, "begin", "-").out == xml

    def test_a_domain_without_host_devices_needs_neither_config_nor_database(
        self, gpu_server: ExampleHost, hook: Hook
    ) -> None:
        gpu_server.config.write_text("this is no TOML")
        assert hook(domain(), "prepare", "begin", "-") == SILENT_YES


class TestRunningAlready:
    @pytest.mark.parametrize("operation", ["reconnect", "attach"])
    @pytest.mark.parametrize(
        ("xml", "said"),
        [(domain(hostdev(GPU)), "nobody holds it"), ("<nonsense", "XML cannot be understood"), (b"\xff", "UTF-8")],
        ids=["a device that is not its own", "no XML", "no text"],
    )
    def test_a_guest_that_runs_is_never_refused_as_libvirt_would_kill_it(
        self, hook: Hook, operation: str, xml: str | bytes, said: str
    ) -> None:
        answer = hook(xml, operation, "begin", "-")
        assert (answer.status, answer.out) == (0, "")
        assert answer.err.startswith("note: db-1 runs already: ")
        assert said in answer.err

    def test_not_even_by_a_fault_of_ours(self, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
        def break_down(_text: str) -> None:
            raise RuntimeError("a fault")

        monkeypatch.setattr(bootstrap, "read_guest", break_down)
        assert hook(domain(), "reconnect", "begin", "-").status == 0


@pytest.mark.parametrize("operation", ["started", "stopped", "release", "no-such-operation"])
def test_other_operations_are_answered_with_yes_and_nothing_is_read(
    gpu_server: ExampleHost, hook: Hook, operation: str
) -> None:
    gpu_server.config.unlink()
    assert hook("<nonsense", operation, "begin", "-") == SILENT_YES


class TestUndecided:
    @pytest.fixture
    def unreachable(self, gpu_server: ExampleHost) -> ExampleHost:
        (gpu_server.folder / "state.db").write_text("this is no database" * 100)
        return gpu_server

    def test_without_the_database_no_guest_starts(self, unreachable: ExampleHost, hook: Hook) -> None:
        answer = hook(domain(hostdev(GPU)), "prepare", "begin", "-")
        assert answer.status == 69
        assert "db-1 may not start, as it cannot be told who owns its devices" in answer.err

    def test_unless_it_is_to_fail_open(self, unreachable: ExampleHost, hook: Hook) -> None:
        answer = hook(domain(hostdev(GPU)), "prepare", "begin", "-", "--fail-open")
        assert answer.status == 0
        assert answer.err.startswith("note: db-1 is let through unchecked (--fail-open): ")

    def test_a_config_that_is_wrong_is_no_yes_either(self, gpu_server: ExampleHost, hook: Hook) -> None:
        gpu_server.config.write_text("this is no TOML")
        assert hook(domain(hostdev(GPU)), "prepare", "begin", "-").status == 78
        assert hook(domain(hostdev(GPU)), "prepare", "begin", "-", "--fail-open").status == 0

    def test_what_is_refused_stays_refused(self, gpu_server: ExampleHost, hook: Hook) -> None:
        hold(gpu_server, "db-2")
        assert hook(domain(hostdev(GPU)), "prepare", "begin", "-", "--fail-open").status == 1

    @pytest.mark.parametrize(
        ("xml", "said"),
        [
            ("", "XML cannot be understood"),
            (b"<domain>\xff</domain>", "is not UTF-8"),
            ("<!DOCTYPE d [<!ENTITY a 'b'>]><domain><name>&a;</name></domain>", "document type"),
            (domain(name="db-2"), "is that of db-2, and db-1 was named"),
        ],
        ids=["nothing", "no text", "entities", "of another"],
    )
    def test_an_xml_that_tells_nothing_of_the_guest_is_refused_in_any_case(
        self, hook: Hook, xml: str | bytes, said: str
    ) -> None:
        answer = hook(xml, "prepare", "begin", "-", "--fail-open")
        assert (answer.status, answer.out) == (2, "")
        assert said in answer.err

    def test_libvirt_is_never_asked(self, gpu_server: ExampleHost, hook: Hook) -> None:
        """Where the config names it, the kernel is, and the host has to be named."""
        gpu_server.config.write_text('[host]\ndriver = "libvirt"\n')
        answer = hook(domain(hostdev(GPU)), "prepare", "begin", "-")
        assert answer.status == 78
        assert "a hook may not ask libvirt" in answer.err
        gpu_server.config.write_text('[host]\ndriver = "libvirt"\nname = "gpu-1"\n')
        assert hook(domain(hostdev(GPU)), "prepare", "begin", "-").status == 1


class TestStopping:
    @pytest.mark.parametrize(
        ("reason", "consumer"), [("-", "db-1"), ("shutdown", UUID), ("destroyed", "db-1"), ("crashed", "db-1")]
    )
    def test_what_a_guest_holds_is_freed_where_that_is_wanted(
        self, gpu_server: ExampleHost, hook: Hook, reason: str, consumer: str
    ) -> None:
        hold(gpu_server, consumer, prepared=False)
        assert hook(domain(hostdev(GPU)), "release", "end", reason).status == 0
        assert gpu_server.json("claims", "claims")["devices"] != []
        assert hook(domain(hostdev(GPU)), "release", "end", reason, "--free-on-stop") == SILENT_YES
        assert gpu_server.json("claims", "claims")["devices"] == []

    @pytest.mark.parametrize("reason", ["migrated", "saved", "failed"])
    def test_what_is_still_needed_is_kept(self, gpu_server: ExampleHost, hook: Hook, reason: str) -> None:
        hold(gpu_server, prepared=False)
        assert hook(domain(hostdev(GPU)), "release", "end", reason, "--free-on-stop").status == 0
        assert gpu_server.json("claims", "claims")["devices"] != []

    def test_what_others_hold_is_not(self, gpu_server: ExampleHost, hook: Hook) -> None:
        hold(gpu_server, "db-2", prepared=False)
        assert hook(domain(hostdev(GPU)), "release", "end", "shutdown", "--free-on-stop").status == 0
        assert gpu_server.json("claims", "claims")["devices"] != []


class TestJson:
    def test_what_was_freed(self, gpu_server: ExampleHost, hook: Hook) -> None:
        hold(gpu_server, prepared=False)
        answer = hook(domain(), "release", "end", "shutdown", "--free-on-stop", "--json")
        assert validated("hook", answer.out) == {
            "schema": "laneway.hook/1",
            "guest": "db-1",
            "operation": "release",
            "allowed": True,
            "freed": [GPU],
        }

    @pytest.mark.parametrize("operation", STARTS)
    def test_a_yes(self, gpu_server: ExampleHost, hook: Hook, operation: str) -> None:
        hold(gpu_server)
        assert validated("hook", hook(domain(hostdev(GPU)), operation, "begin", "-", "--json").out)["allowed"] is True

    def test_a_no(self, hook: Hook) -> None:
        answer = hook(domain(hostdev(GPU)), "prepare", "begin", "-", "--json")
        assert answer.status == 1
        error = validated("failure", answer.out)["error"]
        assert error["code"] == "not_owner"
        assert error["detail"]["devices"][0]["address"] == GPU
