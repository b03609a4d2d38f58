"""The requests of the Neutron client, and what it makes of answers; ``services`` has the same with the real one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.network import NetworkPort, StandbyBinding
from laneway.openstack.neutron_client import LARGEST_PROFILE, NeutronClient
from laneway.openstack.service import Answer

PROFILE = {"pci_slot": "0000:81:00.1", "vf_num": 1}
FULL: dict[str, object] = {
    "id": "p1",
    "network_id": "n1",
    "binding:vnic_type": "direct",
    "mac_address": "fa:16:3e:00:00:01",
    "revision_number": 4,
    "device_id": "vm1",
    "device_owner": "compute:laneway",
    "binding:host_id": "h1",
    "binding:vif_type": "hw_veb",
    "binding:profile": PROFILE,
    "numa_affinity_policy": "socket",
    "trusted": True,
}
PORT = NetworkPort(
    id="p1",
    network="n1",
    vnic_type="direct",
    mac_address="fa:16:3e:00:00:01",
    revision=4,
    device_id="vm1",
    device_owner="compute:laneway",
    host="h1",
    vif_type="hw_veb",
    profile=PROFILE,
    numa_policy="socket",
    trusted=True,
)
BINDING = {"host": "h2", "vif_type": "hw_veb", "vnic_type": "direct", "status": "INACTIVE", "profile": PROFILE}


class ScriptedHttp:
    """Answers each request with the same; ``asked`` are the requests, in order."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []
        self.bodies: list[object] = []
        self.headers: list[Mapping[str, str] | None] = []
        self.queries: list[Sequence[tuple[str, str]]] = []

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        self.asked.append((method, path))
        self.queries.append(query)
        self.bodies.append(body)
        self.headers.append(headers)
        if isinstance(self.answer, LanewayError):
            raise self.answer
        return self.answer if isinstance(self.answer, Answer) else Answer(200, self.answer)


def answering(answer: object) -> tuple[ScriptedHttp, NeutronClient]:
    http = ScriptedHttp(answer)
    return http, NeutronClient(http)


def neutron_error(status: int, message: str) -> Answer:
    return Answer(status, {"NeutronError": {"type": "T", "message": message, "detail": ""}})


@pytest.mark.parametrize(
    ("content", "port"),
    [
        pytest.param(FULL, PORT, id="all of it"),
        pytest.param(
            {**FULL, "device_id": "", "device_owner": "", "binding:host_id": "", "binding:profile": {}},
            NetworkPort(
                id="p1",
                network="n1",
                vnic_type="direct",
                mac_address="fa:16:3e:00:00:01",
                revision=4,
                vif_type="hw_veb",
                numa_policy="socket",
                trusted=True,
            ),
            id="empty text is nothing",
        ),
        pytest.param(
            {key: value for key, value in FULL.items() if not key.startswith("binding:")},
            NetworkPort(
                id="p1",
                network="n1",
                vnic_type="normal",
                mac_address="fa:16:3e:00:00:01",
                revision=4,
                device_id="vm1",
                device_owner="compute:laneway",
                numa_policy="socket",
                trusted=True,
            ),
            id="one whose active binding somebody has deleted",
        ),
    ],
)
def test_a_port_is_read(content: Mapping[str, object], port: NetworkPort) -> None:
    http, client = answering({"ports": [content]})
    assert client.ports(["p1"]) == [port]
    assert http.queries == [[("id", "p1")]]


@pytest.mark.parametrize(
    ("attribute", "in_profile", "trusted"),
    [
        pytest.param({}, {}, None, id="nobody says so"),
        pytest.param({"trusted": None}, {"trusted": "true"}, True, id="the profile, as text"),
        pytest.param({}, {"trusted": "Yes"}, True, id="the profile, in another text"),
        pytest.param({}, {"trusted": "perhaps"}, False, id="a text that says neither"),
        pytest.param({}, {"trusted": True}, True, id="the profile"),
        pytest.param({"trusted": False}, {"trusted": "true"}, False, id="the attribute counts before the profile"),
        pytest.param({}, {"trusted": ["x"]}, None, id="something else"),
    ],
)
def test_a_port_is_trusted_where_it_says_so(
    attribute: dict[str, object], in_profile: dict[str, object], trusted: bool | None
) -> None:
    """Rule C70."""
    content = {key: value for key, value in FULL.items() if key != "trusted"}
    _, neutron = answering({"ports": [{**content, **attribute, "binding:profile": in_profile}]})
    (port,) = neutron.ports(["p1"])
    assert port.trusted is trusted


def test_many_ports_are_read_in_requests_of_a_bounded_length() -> None:
    http, client = answering({"ports": []})
    client.ports([f"p{number}" for number in range(100)])
    assert [len(query) for query in http.queries] == [40, 40, 20]
    assert client.ports([]) == []
    assert len(http.queries) == 3


def test_ports_are_found_by_host_and_by_mac() -> None:
    http, client = answering({"ports": []})
    client.ports_on("h1")
    client.ports_with_mac("n1", "fa:16:3e:00:00:01")
    assert http.queries == [
        [("binding:host_id", "h1")],
        [("network_id", "n1"), ("mac_address", "fa:16:3e:00:00:01")],
    ]


NETWORK = "provider:physical_network"


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        pytest.param({NETWORK: "physnet1"}, "physnet1", id="one on a physical network"),
        pytest.param({NETWORK: None}, None, id="a tunnelled one"),
        pytest.param({"segments": [{NETWORK: None}, {NETWORK: "p2"}, {NETWORK: "p3"}]}, "p2", id="several segments"),
        pytest.param({"segments": [{NETWORK: None}, {NETWORK: None}]}, None, id="several tunnelled segments"),
        pytest.param({"segments": [], NETWORK: "p1"}, "p1", id="no segments"),
    ],
)
def test_c70_the_physical_network_is_that_of_the_first_segment_that_has_one(
    network: Mapping[str, object], expected: str | None
) -> None:
    """C70."""
    http, client = answering({"network": network})
    assert client.physical_network("n1") == expected
    assert http.asked == [("GET", "/networks/n1")]


@pytest.mark.parametrize(
    ("answer", "ask"),
    [
        pytest.param({"network": {"id": "n1"}}, lambda client: client.physical_network("n1"), id="of a network"),
        pytest.param(
            {"ports": [{key: value for key, value in FULL.items() if key != "binding:host_id"}]},
            lambda client: client.ports(["p1"]),
            id="of a port",
        ),
    ],
)
def test_what_is_not_shown_is_not_taken_for_nothing(answer: object, ask: Callable[[NeutronClient], object]) -> None:
    """A user without the role sees neither, and would take a tunnelled network and a free port for what is there."""
    _, client = answering(answer)
    with pytest.raises(LanewayError, match="only the role 'service'") as caught:
        ask(client)
    assert caught.value.code is ErrorCode.NO_PERMISSION


@pytest.mark.parametrize(
    ("change", "body"),
    [
        pytest.param(
            lambda client: client.take(PORT, "vm1"),
            {"device_id": "vm1", "device_owner": "compute:laneway"},
            id="taken",
        ),
        pytest.param(
            lambda client: client.bind(PORT, "h1", PROFILE),
            {"binding:host_id": "h1", "binding:profile": PROFILE},
            id="bound",
        ),
        pytest.param(
            lambda client: client.unbind(PORT, {"theirs": 1}),
            {"binding:host_id": "", "binding:profile": {"theirs": 1}, "device_id": "", "device_owner": ""},
            id="unbound",
        ),
        pytest.param(lambda client: client.renew_mac(PORT), {"mac_address": None}, id="given a new MAC"),
    ],
)
def test_a_port_is_changed_only_if_it_is_as_it_was_read(
    change: Callable[[NeutronClient], None], body: Mapping[str, object]
) -> None:
    http, client = answering({"port": FULL})
    change(client)
    assert http.asked == [("PUT", "/ports/p1")]
    assert http.bodies == [{"port": body}]
    assert http.headers == [{"If-Match": "revision_number=4"}]


def test_standby_bindings_are_read_without_the_active_one() -> None:
    active = {**BINDING, "host": "h1", "status": "ACTIVE"}
    http, client = answering({"bindings": [active, {**BINDING, "profile": None}]})
    assert client.standby_bindings(PORT) == [StandbyBinding(host="h2", vif_type="hw_veb", profile={})]
    assert http.asked == [("GET", "/ports/p1/bindings")]


def test_c83_standby_bindings_are_made_changed_activated_and_deleted() -> None:
    """C83: the answer to an activation has no wrapper, and may get one."""
    http, client = answering({"binding": BINDING})
    client.add_standby(PORT, "h2", PROFILE)
    client.change_standby(PORT, "h2", PROFILE)
    client.activate(PORT, "h2")
    http.answer = BINDING
    client.activate(PORT, "h2")
    for http.answer in (Answer(204), neutron_error(404, "no such binding")):
        client.delete_standby(PORT, "h2")
    path = "/ports/p1/bindings"
    assert http.asked == [
        ("POST", path),
        ("PUT", f"{path}/h2"),
        *[("PUT", f"{path}/h2/activate")] * 2,
        *[("DELETE", f"{path}/h2")] * 2,
    ]
    assert http.bodies[:3] == [
        {"binding": {"host": "h2", "vnic_type": "direct", "profile": PROFILE}},
        {"binding": {"profile": PROFILE}},
        None,
    ]


FAILED = "binding_failed"


@pytest.mark.parametrize(
    ("answer", "change"),
    [
        (
            {"port": {**FULL, "binding:vif_type": FAILED}},
            lambda client: client.bind(PORT, "h1", PROFILE),
        ),
        (
            {"binding": {**BINDING, "vif_type": FAILED}},
            lambda client: client.add_standby(PORT, "h2", PROFILE),
        ),
        (
            {"binding": {**BINDING, "vif_type": "unbound"}},
            lambda client: client.change_standby(PORT, "h2", PROFILE),
        ),
        ({**BINDING, "vif_type": FAILED}, lambda client: client.activate(PORT, "h2")),
    ],
    ids=["bind", "add a standby", "change a standby", "activate"],
)
def test_a_binding_that_failed_is_answered_like_one_that_did_not(
    answer: object, change: Callable[[NeutronClient], None]
) -> None:
    _, client = answering(answer)
    with pytest.raises(LanewayError, match=r"openstack network agent list --host h") as caught:
        change(client)
    assert caught.value.code is ErrorCode.PORT_BINDING_FAILED


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ErrorCode.NEUTRON_REFUSED),
        (404, ErrorCode.NEUTRON_CONFLICT),
        (409, ErrorCode.NEUTRON_CONFLICT),
        (412, ErrorCode.NEUTRON_CONFLICT),
        (413, ErrorCode.NEUTRON_REFUSED),
    ],
)
def test_a_refusal_has_neutron_s_words(status: int, code: ErrorCode) -> None:
    _, client = answering(neutron_error(status, "no\n such luck"))
    with pytest.raises(LanewayError, match=r"PUT /ports/p1.*: no such luck") as caught:
        client.take(PORT, "vm1")
    assert (caught.value.code, caught.value.detail["status"]) == (code, status)


@pytest.mark.parametrize(
    ("detail", "code", "message"),
    [
        ({"status": 403}, ErrorCode.NO_PERMISSION, "openstack role add --user USER --project service service"),
        ({"status": 500}, ErrorCode.NEUTRON_UNREACHABLE, "^it fails$"),
        ({}, ErrorCode.NEUTRON_UNREACHABLE, "^it fails$"),
    ],
    ids=["without the role", "a failure", "no answer"],
)
def test_what_is_no_answer(detail: dict[str, Any], code: ErrorCode, message: str) -> None:
    _, client = answering(LanewayError(ErrorCode.NEUTRON_UNREACHABLE, "it fails", detail))
    with pytest.raises(LanewayError, match=message) as caught:
        client.take(PORT, "vm1")
    assert caught.value.code is code


@pytest.mark.parametrize("change", ["bind", "add_standby", "change_standby"])
def test_a_profile_that_is_too_large_is_not_sent(change: str) -> None:
    http, client = answering({"port": FULL})
    with pytest.raises(LanewayError, match=f"would have {LARGEST_PROFILE + 1} bytes"):
        getattr(client, change)(PORT, "h1", {"a": "x" * (LARGEST_PROFILE - 8)})
    assert http.asked == []
