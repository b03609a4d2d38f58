"""Requests to a service of OpenStack, which a server of the test's answers."""

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.service import Access, Answer, OpenedService, open_service

UNREACHABLE = ErrorCode.PLACEMENT_UNREACHABLE


class ScriptedServer(ThreadingHTTPServer):
    """Answers with the statuses in turn, the last of them for ever; ``asked`` are the requests."""

    statuses: list[int]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses = [200]
        self.content = b"{}"
        self.asked: list[tuple[str, str, bytes]] = []


class Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def answer(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server.asked.append((self.command, self.path, body))
        self.send_response(server.statuses.pop(0) if len(server.statuses) > 1 else server.statuses[0])
        self.send_header("Content-Length", str(len(server.content)))
        self.end_headers()
        self.wfile.write(server.content)

    do_GET = do_PUT = answer

    def log_message(self, format: str, *args: object) -> None:
        """Nowhere."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long keystoneauth has waited, in place of waiting."""
    waited: list[float] = []
    monkeypatch.setattr("keystoneauth1.session.time.sleep", waited.append)
    return waited


def nova_conf(folder: Path, text: str) -> Access:
    file = folder / "nova.conf"
    file.write_text(text)
    return Access(nova_conf=(file,))


@pytest.fixture
def service(server: ScriptedServer, tmp_path: Path, waits: list[float]) -> OpenedService:
    url = f"http://127.0.0.1:{server.server_address[1]}"
    access = nova_conf(tmp_path, f"[placement]\nauth_type = admin_token\nendpoint = {url}\ntoken = admin\n")
    return open_service(access, "placement", UNREACHABLE)


def test_an_answer_is_its_status_and_its_json(server: ScriptedServer, service: OpenedService) -> None:
    server.content = b'{"a": [1]}'
    assert service.request("PUT", "/x", query=[("k", "1"), ("k", "2")], body={"b": 2}) == Answer(
        200, {"a": [1]}, '{"a": [1]}'
    )
    assert server.asked == [("PUT", "/x?k=1&k=2", b'{"b": 2}')]


@pytest.mark.parametrize(("status", "content"), [(204, b""), (200, b"<html>")])
def test_an_answer_without_json_has_no_content(
    status: int, content: bytes, server: ScriptedServer, service: OpenedService
) -> None:
    server.statuses, server.content = [status], content
    assert service.request("GET", "/x").content is None


@pytest.mark.parametrize("status", [400, 404, 409])
def test_a_refusal_is_an_answer_and_not_tried_again(
    status: int, server: ScriptedServer, service: OpenedService
) -> None:
    server.statuses = [status]
    assert service.request("GET", "/x").status == status
    assert len(server.asked) == 1


def test_p17_a_failure_that_passes_is_tried_again_each_time_after_a_longer_wait(
    server: ScriptedServer, service: OpenedService, waits: list[float]
) -> None:
    """P17."""
    server.statuses = [503, 500, 502, 200]
    assert service.request("GET", "/x").status == 200
    assert len(server.asked) == 4
    assert waits == [0.5, 1, 2]


@pytest.mark.parametrize(
    ("status", "tries", "message"),
    [
        pytest.param(503, 4, "Placement fails: GET /x is answered with 503, out of order", id="a failure that stays"),
        pytest.param(
            403, 1, "Placement does not let us do that: GET /x is answered with 403, out of order", id="no role"
        ),
    ],
)
def test_what_is_no_answer_is_unreachable(
    status: int, tries: int, message: str, server: ScriptedServer, service: OpenedService
) -> None:
    server.statuses, server.content = [status], b'{"errors": [{"detail": "out of\\n order"}]}'
    with pytest.raises(LanewayError) as caught:
        service.request("GET", "/x")
    assert (caught.value.code, caught.value.message) == (UNREACHABLE, message)
    assert len(server.asked) == tries


@pytest.mark.parametrize(("method", "tries"), [("GET", 4), ("PUT", 1)])
def test_a_write_is_not_repeated_where_a_failure_may_have_done_it(
    method: str, tries: int, server: ScriptedServer, tmp_path: Path, waits: list[float]
) -> None:
    server.statuses, server.content = [500], b'{"NeutronError": {"message": "out of order"}}'
    url = f"http://127.0.0.1:{server.server_address[1]}"
    access = nova_conf(tmp_path, f"[neutron]\nauth_type = admin_token\nendpoint = {url}\ntoken = admin\n")
    service = open_service(access, "network", UNREACHABLE, section="neutron", repeats_writes=False)
    with pytest.raises(LanewayError, match=r"Neutron fails: .* is answered with 500, out of order") as caught:
        service.request(method, "/x")
    assert (len(server.asked), caught.value.detail["status"]) == (tries, 500)


@pytest.mark.parametrize("endpoint", ["", "/", "/networking", "/v2.0", "/networking/v2.0/"])
def test_a_catalogue_may_name_the_version_or_not(endpoint: str, server: ScriptedServer, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{server.server_address[1]}{endpoint}"
    access = nova_conf(tmp_path, f"[neutron]\nauth_type = admin_token\nendpoint = {url}\ntoken = admin\n")
    open_service(access, "network", UNREACHABLE, section="neutron", version="/v2.0").request("GET", "/ports")
    prefix = "/networking" if "networking" in endpoint else ""
    assert [path for _, path, _ in server.asked] == [f"{prefix}/v2.0/ports"]


def test_a_server_that_is_gone_is_unreachable(server: ScriptedServer, service: OpenedService) -> None:
    server.server_close()
    with pytest.raises(LanewayError, match="Placement cannot be reached: ") as caught:
        service.request("GET", "/x")
    assert caught.value.code is UNREACHABLE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", r"\[placement\]auth_type is not given", id="nothing"),
        pytest.param("[placement]\nauth_type = nonsense\n", "nonsense", id="a kind that there is not"),
        pytest.param("[placement]\nauth_type = password\n", "auth_url|auth-url", id="half of it"),
        pytest.param("[placement\n", "No ':' or '='|not readable|Parse|section", id="no config at all"),
    ],
)
def test_a_nova_conf_that_does_not_say_who_we_are_is_told(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match=why) as caught:
        open_service(nova_conf(tmp_path, text), "placement", UNREACHABLE).request("GET", "/x")
    assert caught.value.code is UNREACHABLE


def test_a_cloud_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    with pytest.raises(LanewayError, match="as cloud nowhere does not say who we are there") as caught:
        open_service(Access(cloud="nowhere"), "placement", UNREACHABLE)
    assert caught.value.code is UNREACHABLE


def test_without_the_libraries_the_command_that_installs_them_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openstack.exceptions", None)
    with pytest.raises(LanewayError, match="-m pip install openstacksdk") as caught:
        open_service(nova_conf(tmp_path, ""), "placement", UNREACHABLE)
    assert caught.value.code is ErrorCode.NOT_SUPPORTED
