"""Keeps Placement informed of one host's devices, or finds that it may not be kept uninformed."""

from collections.abc import Callable, Sequence

from laneway.domain.address import PciAddress
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.placement import Consumer, PlacementService, ProviderTree, StandardNames
from laneway.openstack.device_providers import ReportedHost, reported_host
from laneway.openstack.placement_report import PlannedReport, managed_providers, owners_to_look_up, plan_report

ROUNDS = 6
"""How often Placement is read anew: once to see that all is well, once more for each write and each conflict."""


Connect = Callable[[], PlacementService]
"""Opens the service; asked anew until it succeeds. Raises as the service does, and LanewayError(not_supported)."""


class ReportingOn:
    """Reports the devices of a host: reads, decides, writes, until there is nothing left to write.

    ``root`` is the name of the host's own provider, where that is not the host's name.
    """

    def __init__(self, connect: Connect, root: str | None = None) -> None:
        self._connect = connect
        self._root = root
        self._service: PlacementService | None = None
        self._names: StandardNames | None = None
        self._used: set[PciAddress] = set()

    def report(self, host: str, view: HostView) -> None:
        """As ``ProviderReporter`` says."""
        service = self._opened()
        if self._names is None:
            self._names = service.standard_names()
        reported = reported_host(view, self._names)
        cleaned = self._cleaned(reported)
        planned = _converge(service, self._root or host, reported, cleaned)
        self._used -= cleaned
        if planned.problems:
            raise _told(planned.problems)

    def _opened(self) -> PlacementService:
        if self._service is None:
            self._service = self._connect()
        return self._service

    def _cleaned(self, reported: ReportedHost) -> frozenset[PciAddress]:
        """The devices for one use that were seen used, and are free and clean now (rule P9, D19)."""
        self._used |= {provider.address for provider in reported.providers if provider.burned}
        return frozenset(
            provider.address
            for provider in reported.providers
            if provider.address in self._used and not provider.burned
        )


class ReportingOff:
    """Refuses to stop reporting: what Placement was told once, it goes on to offer (rules P7 and C87).

    It is looked until there is nothing to refuse. A service that does not answer is not asked again, as nothing is
    reported to it.
    """

    def __init__(self, connect: Connect, root: str | None = None) -> None:
        self._connect = connect
        self._root = root
        self._is_settled = False

    def report(self, host: str, view: HostView) -> None:  # noqa: ARG002 - nothing of it is told
        """Raises ConfigError where devices of the host stand in Placement."""
        if self._is_settled:
            return
        try:
            tree = self._connect().tree(self._root or host)
        except LanewayError:
            tree = None
        if tree is not None and managed_providers(tree):
            raise ConfigError([_turned_off(tree)])
        self._is_settled = True


def _converge(
    service: PlacementService, root: str, reported: ReportedHost, cleaned: frozenset[PciAddress]
) -> PlannedReport:
    """Writes until Placement says what the host has. Raises LanewayError(placement_conflict) if that has no end."""
    conflict: LanewayError | None = None
    for _ in range(ROUNDS):
        tree = _tree(service, root)
        planned = plan_report(reported, tree, _owners(service, reported, tree), cleaned)
        if planned.changes.is_empty:
            return planned
        try:
            service.apply(planned.changes)
        except LanewayError as error:
            if error.code is not ErrorCode.PLACEMENT_CONFLICT:
                raise
            conflict = error
    raise conflict or LanewayError(
        ErrorCode.PLACEMENT_CONFLICT,
        f"the providers of {root} in Placement were changed {ROUNDS} times and are still not what they should be;"
        " see whether another service reports this host's PCI devices, too",
        {"root": root},
    )


def _tree(service: PlacementService, root: str) -> ProviderTree:
    tree = service.tree(root)
    if tree is None:
        raise LanewayError(
            ErrorCode.PLACEMENT_REFUSED,
            f"Placement has no resource provider {root!r}, below which this host's devices would stand; nova-compute"
            " makes it when it starts. If it has another name, write it under placement.root_provider"
            " ([laneway]root_provider in a nova.conf)",
            {"root": root},
        )
    return tree


def _owners(service: PlacementService, reported: ReportedHost, tree: ProviderTree) -> dict[str, Consumer]:
    found = {uuid: service.consumer(uuid) for uuid in sorted(owners_to_look_up(reported, tree))}
    return {uuid: consumer for uuid, consumer in found.items() if consumer is not None}


def _told(problems: Sequence[ConfigProblem]) -> LanewayError:
    """As an error of the config if that is to blame for any of them."""
    if any(problem.code != ErrorCode.NOT_REPORTABLE for problem in problems):
        return ConfigError(problems)
    message = "\n".join(problem.message for problem in problems)
    return LanewayError(ErrorCode.NOT_REPORTABLE, message, {"devices": [problem.value for problem in problems]})


def _turned_off(tree: ProviderTree) -> ConfigProblem:
    names = [provider.name for provider in managed_providers(tree)]
    remedy = "turn report_in_placement on again"
    return ConfigProblem(
        ErrorCode.INVALID_CONFIG,
        f"report_in_placement is off, but Placement has {len(names)} PCI devices of this host ({names[0]}), which it"
        f" would go on to offer; {remedy}",
        "report_in_placement",
        value=False,
        remedy=remedy,
    )
