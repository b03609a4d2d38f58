"""A service of OpenStack over HTTP: who we are there, repeated tries, and failures as errors of ours.

The libraries are imported when a service is opened: they are optional, and slow.
"""

import logging
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from laneway.domain.errors import ErrorCode, LanewayError

if TYPE_CHECKING:
    from keystoneauth1.adapter import Adapter

TIMEOUT = 10.0
"""Seconds without an answer that are too many, where the config does not say."""

_TRIES = {
    "connect_retries": 1,
    "status_code_retries": 3,
    "retriable_status_codes": (500, 502, 503, 504),
}
"""What keystoneauth does about failures that may pass: it waits 0.5 s before the first new try, then twice as long."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where OpenStack is, and who we are there.

    ``nova_conf`` are nova's files, each with its sections of a service (``[placement]``). Without them it
    is the entry ``cloud`` of a ``clouds.yaml``, or what the environment says (OS_CLOUD, OS_AUTH_URL, ...).
    """

    nova_conf: tuple[Path, ...] = ()
    cloud: str | None = None

    def __str__(self) -> str:
        if self.nova_conf:
            return str(self.nova_conf[0])
        return f"cloud {self.cloud}" if self.cloud is not None else "the environment"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service has answered; ``content`` is its JSON, None where that is not what it sent."""

    status: int
    content: object = None
    text: str = field(default="", repr=False)

    @property
    def message(self) -> str:
        """The service's own words (https://specs.openstack.org/openstack/api-sig/guidelines/errors.html)."""
        content = self.content if isinstance(self.content, dict) else {}
        errors, neutrons = content.get("errors"), content.get("NeutronError")
        if isinstance(errors, list) and errors and isinstance(errors[0], dict):
            return " ".join(str(errors[0].get("detail") or errors[0].get("title")).split())
        if isinstance(neutrons, dict):
            return " ".join(str(neutrons.get("message")).split())
        return " ".join(self.text.split())[:400]


class Http(Protocol):
    """Requests to one service."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Asks. An answer may be a refusal; where there is none, LanewayError is raised."""


class OpenedService:
    """Requests by keystoneauth. ``unreachable`` is the code of all failures to get an answer.

    Where the service did answer, the detail of such a failure has the ``status``. ``version`` is the
    folder of the API's version, such as ``/v2.0``, which catalogues give or leave out. ``repeats_writes`` is false of
    a service that may have done what it answers with a failure: then only who asks can tell what there is left to do.
    """

    def __init__(
        self, adapter: "Adapter", name: str, unreachable: ErrorCode, *, version: str = "", repeats_writes: bool = True
    ) -> None:
        from keystoneauth1.exceptions import ClientException  # noqa: PLC0415 - late, see the module

        self._adapter = adapter
        self._name = name
        self._unreachable = unreachable
        self._version = version
        self._repeats_writes = repeats_writes
        self._failures = (ClientException,)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """As ``Http`` says: failures that may pass are tried again, what is left of them is raised."""
        options: dict[str, object] = {"raise_exc": False, "headers": dict(headers or {})}
        if method == "GET" or self._repeats_writes:
            options |= _TRIES
        if query:
            options["params"] = list(query)
        if body is not None:
            options["json"] = body
        try:
            response = self._adapter.request(self._versioned(path), method, **options)
        except self._failures as error:
            raise self._failure(f"cannot be reached: {error}") from error
        try:
            content = response.json() if response.text else None
        except ValueError:
            content = None
        answer = Answer(response.status_code, content, response.text)
        if answer.status in (401, 403) or answer.status >= 500:
            what = "fails" if answer.status >= 500 else "does not let us do that"
            told = f"{what}: {method} {path} is answered with {answer.status}, {answer.message}"
            raise self._failure(told, status=answer.status)
        return answer

    def _versioned(self, path: str) -> str:
        if not self._version:
            return path
        endpoint = self._adapter.endpoint_override or self._adapter.get_endpoint() or ""
        return path if endpoint.rstrip("/").endswith(self._version) else f"{self._version}{path}"

    def _failure(self, what: str, **detail: object) -> LanewayError:
        return LanewayError(self._unreachable, f"{self._name} {what}", {"service": self._name, **detail})


def open_service(
    access: Access, service: str, unreachable: ErrorCode, *, section: str | None = None, **about: Any
) -> OpenedService:
    """The service of a type, such as ``placement``; ``section`` is its one of a ``nova.conf``, if not of that name.

    ``about`` is what ``OpenedService`` wants to know of the service.

    Raises LanewayError(not_supported) without openstacksdk, and LanewayError(``unreachable``) where it
    is not said who we are. Whether the service answers is seen at the first request.
    """
    section = section or service
    name = section.capitalize()
    try:
        from keystoneauth1.exceptions import ClientException  # noqa: PLC0415 - late, see the module
        from openstack.exceptions import SDKException  # noqa: PLC0415 - late, see the module
        from oslo_config.cfg import Error as ConfError  # noqa: PLC0415 - late, see the module
    except ModuleNotFoundError as missing:
        install = f"{sys.executable or 'python3'} -m pip install openstacksdk oslo.config"
        message = f"{name} needs openstacksdk, which is not installed; install it with: {install}"
        raise LanewayError(ErrorCode.NOT_SUPPORTED, message, {"module": missing.name}) from missing
    for library in ("keystoneauth", "openstack"):
        # Without a handler Python prints what they log of failures, which are told as errors.
        logging.getLogger(library).addHandler(logging.NullHandler())
    try:
        by_nova = access.nova_conf
        adapter = _of_nova(by_nova, section, service) if by_nova else _of_cloud(access.cloud, service)
    except (ClientException, ConfError, SDKException, OSError, ValueError) as error:
        message = f"{name} cannot be used, as {access} does not say who we are there: {error}"
        raise LanewayError(unreachable, message, {"service": name}) from error
    if adapter.session.timeout is None:
        adapter.session.timeout = TIMEOUT
    return OpenedService(adapter, name, unreachable, **about)


def _of_cloud(cloud: str | None, service: str) -> "Adapter":
    """By openstacksdk: https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html."""
    from keystoneauth1.adapter import Adapter  # noqa: PLC0415 - late, see the module
    from openstack.config import get_cloud_region  # noqa: PLC0415 - late, see the module

    with warnings.catch_warnings():
        # It warns of what it will give up (InfluxDB), also those who have never heard of it.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        region = get_cloud_region(cloud=cloud)
    return Adapter(
        region.get_session(),
        service_type=region.get_service_type(service),
        interface=region.get_interface(service),
        region_name=region.get_region_name(service),
        endpoint_override=region.get_endpoint(service),
    )


def _of_nova(files: Sequence[Path], section: str, service: str) -> "Adapter":
    """By the options that keystoneauth has for a section: auth_type, auth_url, username, region_name, ..."""
    from keystoneauth1 import loading  # noqa: PLC0415 - late, see the module
    from oslo_config import cfg  # noqa: PLC0415 - late, see the module

    conf = cfg.ConfigOpts()
    loading.register_auth_conf_options(conf, section)
    loading.register_session_conf_options(conf, section)
    loading.register_adapter_conf_options(conf, section)
    conf.set_default("service_type", service, group=section)
    conf.set_default("valid_interfaces", ["internal", "public"], group=section)
    arguments = [f"--config-{'dir' if file.is_dir() else 'file'}={file}" for file in files]
    conf(arguments, default_config_files=[], default_config_dirs=[], use_env=False)
    auth = loading.load_auth_from_conf_options(conf, section)
    if auth is None:
        raise ValueError(f"[{section}]auth_type is not given")
    session = loading.load_session_from_conf_options(conf, section, auth=auth)
    return loading.load_adapter_from_conf_options(conf, section, session=session, auth=auth)
