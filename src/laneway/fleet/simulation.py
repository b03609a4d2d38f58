"""The use case ``simulate``: a scenario played on the tracker, without touching any host."""

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import PurePath

from laneway.contracts.answer import Json, errors_json, step_json, warning_json
from laneway.contracts.inventory import decode_inventory
from laneway.contracts.scenario import Scenario, Step, read_scenario
from laneway.domain.address import PciAddress
from laneway.domain.config_entry import shown
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, Findings, LanewayError, together
from laneway.domain.inventory import Inventory
from laneway.domain.report import HostReport
from laneway.domain.requests.alias import Aliases, parse_aliases
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.specs.admission import admit, check_against_facts
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.claim import ClaimRecord, HostState, Update
from laneway.domain.tracking.healing import heal
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.reported_changes import refused_while_held
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.fleet.explain import explained
from laneway.fleet.profiles import Profiles, profiles_of
from laneway.fleet.requests import read_claim
from laneway.fleet.simulated_moves import play_move
from laneway.fleet.stored_records import read_stored
from laneway.network.wished_bindings import refuse_ports_in_use


def simulate(document: object, identity: str | None) -> Json:
    """Plays one scenario document and answers it, whatever is wrong with it.

    A fault of ours is answered as internal_error, so that it costs this document only.
    """
    try:
        simulation = Simulation(read_scenario(document))
        steps = list(simulation.run())
    except LanewayError as error:
        return refusal(identity, error)
    except Exception as error:
        return refusal(identity, _fault(error))
    return {
        "id": identity,
        "ok": True,
        "error": None,
        "errors": [],
        "warnings": [warning_json(problem) for problem in simulation.warnings],
        "steps": steps,
    }


def refusal(identity: str | None, error: LanewayError) -> Json:
    """The answer to a document that could not be started."""
    return {
        "id": identity,
        "ok": False,
        "error": errors_json(error)[0],
        "errors": errors_json(error),
        "warnings": [],
        "steps": [],
    }


class Simulation:
    """One scenario: a host that changes only by the scenario's steps."""

    def __init__(self, scenario: Scenario) -> None:
        """Reads inventory and config, and syncs once.

        Raises LanewayError(invalid_scenario), or all that is wrong with inventory and config.
        """
        self._scenario = scenario
        self._claim_ids = _unused_claim_ids(scenario.steps)
        self._warnings: dict[str, ConfigProblem] = {}
        self._device_spec, self._alias = scenario.device_spec, scenario.alias
        inventory = self._inventory(scenario.inventory)
        specs, self._aliases = self._config(inventory, self._device_spec, self._alias)
        state = self._stored_state(inventory, specs) if scenario.stored else HostState()
        self._groups = IommuGroups.ENFORCE if scenario.enforce_iommu_groups else IommuGroups.IGNORE
        self._tracker = PciDeviceTracker(HostReport(inventory, specs), state, iommu_groups=self._groups)
        self._tracker.apply(self._tracker.settle())

    @property
    def warnings(self) -> Iterable[ConfigProblem]:
        """What is noteworthy in every config that it was given so far, each once."""
        return self._warnings.values()

    def run(self) -> Iterator[Json]:
        """Plays the steps; the answer to each, in order."""
        for step in self._scenario.steps:
            try:
                yield self._play(step)
            except LanewayError as error:
                yield step_json(step.op, self._tracker, error=error)

    def _play(self, step: Step) -> Json:
        if step.op in ("claim", "check"):
            return self._claim(step)
        if step.op == "move":
            return play_move(self._tracker, step, self._request)
        if step.op == "profile":
            devices = self._tracker.view.owned_by(step.text("consumer") or "")
            return step_json(step.op, self._tracker, profiles=profiles_of(devices))
        if step.op == "sync":
            specs = self._tracker.view.report.specs
            self._tracker = self._tracker.sync(HostReport(decode_inventory(step.values["inventory"]), specs)).tracker
            self._tracker.apply(self._tracker.settle())
        elif step.op in ("restart", "reload"):
            self._reconfigure(step)
        else:
            self._tracker.apply(_OPERATIONS[step.op](self._tracker, step))
        return step_json(step.op, self._tracker)

    def _claim(self, step: Step) -> Json:
        request = self._request(step)
        refuse_ports_in_use(self._tracker.view, request)
        with explained(self._tracker, request):
            claimed = self._tracker.claim(request)
        if step.op == "claim":
            self._tracker.apply(claimed.update)
        record = claimed.record
        return step_json(
            step.op,
            self._tracker,
            devices=record.devices,
            proven_best=record.proven_best,
            profiles=self._profiles_of_ports(record) if step.values.get("ports") is not None else None,
        )

    def _profiles_of_ports(self, record: ClaimRecord) -> Profiles:
        """What the ports' devices would be announced as, which a check has not claimed."""
        chosen = sorted(address for addresses in record.devices.values() for address in addresses)
        devices = [device for address in chosen if (device := self._tracker.view.device(address))]
        return profiles_of(devices)

    def _request(self, step: Step) -> ClaimRequest:
        consumer, claim = step.text("consumer"), step.text("claim")
        if claim is None:
            claim = next(self._claim_ids)
        # Only a check may leave the consumer out: it asks for a VM that does not exist yet.
        return read_claim(step.values, self._aliases, consumer="check" if consumer is None else consumer, claim=claim)

    def _reconfigure(self, step: Step) -> None:
        """A new config over the last inventory; a bad one changes neither specs nor aliases."""
        inventory = self._tracker.view.report.inventory
        device_spec = _entries(step, "device_spec", self._device_spec)
        alias = _entries(step, "alias", self._alias)
        specs, aliases = self._config(inventory, device_spec, alias)
        report = HostReport(inventory, specs)
        if step.op == "restart":
            tracker = PciDeviceTracker(report, self._tracker.state, iommu_groups=self._groups)
        else:
            tracker = self._tracker.sync(report).tracker
        if self._scenario.report_in_placement and (refused := tuple(refused_while_held(tracker.view))):
            raise ConfigError(refused)
        self._tracker = tracker
        self._device_spec, self._alias, self._aliases = device_spec, alias, aliases

    def _inventory(self, document: object) -> Inventory:
        """Where it cannot be read, what is wrong with the config's text is told, too."""
        try:
            return decode_inventory(document)
        except LanewayError as error:
            findings = Findings()
            self._parsed_config(self._device_spec, self._alias, findings)
            raise together([error, *([ConfigError(findings.errors)] if findings.errors else [])]) from None

    def _parsed_config(
        self, device_spec: Sequence[object], alias: Sequence[object], findings: Findings
    ) -> tuple[DeviceSpecs, Aliases]:
        specs = parse_device_specs(device_spec, findings, report_in_placement=self._scenario.report_in_placement)
        return specs, parse_aliases(alias, findings, pci_in_placement=self._scenario.pci_in_placement)

    def _config(
        self, inventory: Inventory, device_spec: Sequence[object], alias: Sequence[object]
    ) -> tuple[DeviceSpecs, Aliases]:
        findings = Findings()
        specs, aliases = self._parsed_config(device_spec, alias, findings)
        facts = check_against_facts(
            inventory,
            specs,
            report_in_placement=self._scenario.report_in_placement,
            pci_in_placement=self._scenario.pci_in_placement,
        )
        findings.errors += facts.errors
        findings.raise_errors()
        self._warn(findings.warnings + facts.warnings)
        return specs, aliases

    def _stored_state(self, inventory: Inventory, specs: DeviceSpecs) -> HostState:
        """What the records come to, in which not everything may be as it should."""
        healed = heal(read_stored(self._scenario.stored, admit(inventory, specs).devices))
        self._warn([ConfigProblem("healed", note, option="stored") for note in healed.notes])
        return healed.state

    def _warn(self, problems: Sequence[ConfigProblem]) -> None:
        for problem in problems:
            self._warnings.setdefault(problem.message, problem)


def _unused_claim_ids(steps: Sequence[Step]) -> Iterator[str]:
    """Ids for the claims that have none, unlike those that the scenario names anywhere."""
    named = {step.values.get("claim") for step in steps if isinstance(step.values.get("claim"), str)}
    return (claim for number in count(1) if (claim := f"claim-{number}") not in named)


def _fault(error: Exception) -> LanewayError:
    """What to report of an exception that nobody expected."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return LanewayError(
        ErrorCode.INTERNAL_ERROR,
        f"this is a fault of Laneway, please report it with the scenario: {type(error).__name__}: {error}",
        {"exception": type(error).__name__, "where": f"{PurePath(last.filename).name}, line {last.lineno}"},
    )


def _address(step: Step) -> PciAddress:
    return PciAddress.parse(step.text("address") or "")


def _addresses(step: Step) -> list[PciAddress] | None:
    texts = step.texts("addresses")
    return None if texts is None else [PciAddress.parse(text) for text in texts]


def _free(tracker: PciDeviceTracker, step: Step) -> Update:
    return tracker.free(consumer=step.text("consumer"), claim=step.text("claim"), addresses=_addresses(step))


def _allocate(tracker: PciDeviceTracker, step: Step) -> Update:
    return tracker.allocate(consumer=step.text("consumer"), claim=step.text("claim"))


_OPERATIONS: Mapping[str, Callable[[PciDeviceTracker, Step], Update]] = {
    "allocate": _allocate,
    "free": _free,
    "cleanup": lambda tracker, step: tracker.cleanup(step.texts("keep") or ()),
    "cordon": lambda tracker, step: tracker.cordon(_address(step)),
    "uncordon": lambda tracker, step: tracker.uncordon(_address(step)),
    "release": lambda tracker, step: tracker.released(_address(step)),
    "clean": lambda tracker, step: tracker.cleaned(_address(step)),
}


def _entries(step: Step, key: str, present: Sequence[object]) -> Sequence[object]:
    """The entries of a config under a key of the step; those in force where it is absent."""
    given = step.values.get(key)
    if given is None:
        return present
    if not isinstance(given, list):
        raise LanewayError(ErrorCode.INVALID_CONFIG, f"{key}: {shown(given)} is not a list of entries", {"place": key})
    return given
