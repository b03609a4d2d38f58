"""The use case ``simulate``: a scenario played on the tracker, without touching any host."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from laneway.contracts.answer import Json, error_json, errors_json, step_json, warning_json
from laneway.contracts.codec import convert
from laneway.contracts.inventory import decode_inventory
from laneway.contracts.scenario import Scenario, Step, read_scenario
from laneway.domain.address import PciAddress
from laneway.domain.admission import admit, check_against_facts
from laneway.domain.alias import Aliases, parse_aliases
from laneway.domain.claim import Update
from laneway.domain.device import ExtraInfo, PciDevice, Status
from laneway.domain.device_spec import DeviceSpecs
from laneway.domain.device_spec_parser import parse_device_specs
from laneway.domain.errors import ConfigProblem, ErrorCode, Findings, LanewayError
from laneway.domain.healing import heal
from laneway.domain.host_view import IommuGroups
from laneway.domain.inventory import Inventory, PciFunction
from laneway.domain.report import HostReport
from laneway.domain.request import ClaimRequest
from laneway.domain.tracker import PciDeviceTracker
from laneway.fleet.explain import explained
from laneway.fleet.requests import read_claim

_NOT_SUPPORTED = ("move", "profile")


def simulate(document: object, identity: str | None) -> Json:
    """Plays one scenario document and answers it, whatever is wrong with it."""
    try:
        simulation = Simulation(read_scenario(document))
    except LanewayError as error:
        return refusal(identity, error)
    return {
        "id": identity,
        "ok": True,
        "error": None,
        "errors": [],
        "warnings": [warning_json(problem) for problem in simulation.warnings],
        "steps": list(simulation.run()),
    }


def refusal(identity: str | None, error: LanewayError) -> Json:
    """The answer to a document that could not be started."""
    return {
        "id": identity,
        "ok": False,
        "error": error_json(error),
        "errors": errors_json(error),
        "warnings": [],
        "steps": [],
    }


class Simulation:
    """One scenario: a host that changes only by the scenario's steps."""

    def __init__(self, scenario: Scenario) -> None:
        """Reads inventory and config, and syncs once.

        Raises LanewayError(invalid_inventory) or ConfigError with all problems.
        """
        self._scenario = scenario
        self._made_claims = 0
        inventory = decode_inventory(scenario.inventory)
        self._device_spec, self._alias = scenario.device_spec, scenario.alias
        self.warnings: list[ConfigProblem] = []
        specs, self._aliases = self._config(inventory, self._device_spec, self._alias)
        report = HostReport(inventory, specs)
        groups = IommuGroups.ENFORCE if scenario.enforce_iommu_groups else IommuGroups.IGNORE
        admitted = admit(inventory, specs).devices
        stored = [_stored_device(number, raw, admitted) for number, raw in enumerate(scenario.stored)]
        healed = heal(stored)
        self.warnings += [ConfigProblem("healed", note, option="stored") for note in healed.notes]
        self._tracker = PciDeviceTracker(report, healed.state, iommu_groups=groups)

    def run(self) -> Iterable[Json]:
        """Plays the steps; the answer to each, in order."""
        for step in self._scenario.steps:
            try:
                yield self._play(step)
            except LanewayError as error:
                yield step_json(step.op, self._tracker, error=error)

    def _play(self, step: Step) -> Json:
        if step.op in _NOT_SUPPORTED or step.values.get("ports") is not None:
            what = "ports" if step.values.get("ports") is not None else step.op
            raise LanewayError(
                ErrorCode.NOT_SUPPORTED,
                f"this version of Laneway cannot simulate {what}",
                {"op": step.op},
            )
        if step.op in ("claim", "check"):
            return self._claim(step)
        if step.op == "sync":
            self._sync(decode_inventory(step.values["inventory"]))
        elif step.op in ("restart", "reload"):
            self._reconfigure(step)
        else:
            self._tracker.apply(_OPERATIONS[step.op](self._tracker, step))
        return step_json(step.op, self._tracker)

    def _claim(self, step: Step) -> Json:
        request = self._request(step)
        with explained(self._tracker, request):
            claimed = self._tracker.claim(request)
        if step.op == "claim":
            self._tracker.apply(claimed.update)
        record = claimed.record
        return step_json(step.op, self._tracker, devices=record.devices, proven_best=record.proven_best)

    def _request(self, step: Step) -> ClaimRequest:
        claim = step.text("claim")
        if claim is None:
            self._made_claims += 1
            claim = f"claim-{self._made_claims}"
        return read_claim(step.values, self._aliases, consumer=step.text("consumer") or "check", claim=claim)

    def _sync(self, inventory: Inventory) -> None:
        self._tracker = self._tracker.sync(HostReport(inventory, self._tracker.view.report.specs)).tracker

    def _reconfigure(self, step: Step) -> None:
        """A bad config changes nothing: neither specs nor aliases."""
        inventory = self._tracker.view.report.inventory
        device_spec = _raw_list(step, "device_spec", self._device_spec)
        alias = _raw_list(step, "alias", self._alias)
        specs, aliases = self._config(inventory, device_spec, alias)
        self._tracker = self._tracker.sync(HostReport(inventory, specs)).tracker
        self._device_spec, self._alias, self._aliases = device_spec, alias, aliases

    def _config(
        self, inventory: Inventory, device_spec: Sequence[object], alias: Sequence[object]
    ) -> tuple[DeviceSpecs, Aliases]:
        findings = Findings()
        in_placement = self._scenario.report_in_placement
        specs = parse_device_specs(device_spec, findings, report_in_placement=in_placement)
        aliases = parse_aliases(alias, findings, pci_in_placement=self._scenario.pci_in_placement)
        facts = check_against_facts(
            inventory,
            specs,
            report_in_placement=in_placement,
            pci_in_placement=self._scenario.pci_in_placement,
        )
        findings.errors += facts.errors
        findings.raise_errors()
        self.warnings = findings.warnings + facts.warnings
        return specs, aliases


def _address(step: Step) -> PciAddress:
    return PciAddress.parse(str(step.values["address"]))


def _addresses(step: Step) -> list[PciAddress] | None:
    given = step.values.get("addresses")
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise LanewayError(
            ErrorCode.INVALID_REQUEST, f"addresses is {given!r}; it is a list of texts", {"key": "addresses"}
        )
    return [PciAddress.parse(text) for text in given]


def _free(tracker: PciDeviceTracker, step: Step) -> Update:
    return tracker.free(consumer=step.text("consumer"), claim=step.text("claim"), addresses=_addresses(step))


def _allocate(tracker: PciDeviceTracker, step: Step) -> Update:
    return tracker.allocate(consumer=step.text("consumer"), claim=step.text("claim"))


def _cleanup(tracker: PciDeviceTracker, step: Step) -> Update:
    keep = step.values["keep"]
    if not isinstance(keep, list) or not all(isinstance(consumer, str) for consumer in keep):
        raise LanewayError(ErrorCode.INVALID_REQUEST, f"keep is {keep!r}; it is a list of consumers", {"key": "keep"})
    return tracker.cleanup(keep)


_OPERATIONS: Mapping[str, Callable[[PciDeviceTracker, Step], Update]] = {
    "allocate": _allocate,
    "free": _free,
    "cleanup": _cleanup,
    "cordon": lambda tracker, step: tracker.cordon(_address(step)),
    "uncordon": lambda tracker, step: tracker.uncordon(_address(step)),
    "release": lambda tracker, step: tracker.release(_address(step)),
    "clean": lambda tracker, step: tracker.clean(_address(step)),
}


def _raw_list(step: Step, key: str, present: Sequence[object]) -> Sequence[object]:
    given = step.values.get(key)
    if given is None:
        return present
    if not isinstance(given, list):
        raise LanewayError(ErrorCode.INVALID_CONFIG, f"{key} is {given!r}; it is a list", {"key": key})
    return given


def _stored_device(number: int, raw: object, admitted: Mapping[PciAddress, PciDevice]) -> PciDevice:
    """A record as a store could hold it, whether it makes sense or not."""
    where = f"stored[{number}]"
    if not isinstance(raw, dict):
        raise LanewayError(ErrorCode.INVALID_SCENARIO, f"{where} is {raw!r}; it is an object", {"place": where})
    function = convert(raw, PciFunction, ErrorCode.INVALID_SCENARIO)
    status, consumer = raw.get("status", "available"), raw.get("consumer")
    if status not in set(Status):
        raise LanewayError(
            ErrorCode.INVALID_SCENARIO,
            f"{where}.status is {status!r}; it is one of {', '.join(Status)}",
            {"place": f"{where}.status"},
        )
    if consumer is not None and not isinstance(consumer, str):
        raise LanewayError(
            ErrorCode.INVALID_SCENARIO,
            f"{where}.consumer is {consumer!r}; it is a text",
            {"place": f"{where}.consumer"},
        )
    today = admitted.get(function.address)
    return PciDevice(
        function=function,
        extra_info=ExtraInfo() if today is None else today.extra_info,
        entry=None if today is None else today.entry,
        status=Status(status),
        consumer=consumer,
    )
