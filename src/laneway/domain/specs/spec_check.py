"""Device specs against the facts of a host: what contradicts them, and what has no effect.

Errors are only what contradicts facts that are present. Hardware that a spec names and the host
lacks is a warning (rule D35), so that a dead card never stops a service.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.errors import ConfigProblem, ErrorCode, Findings
from laneway.domain.function_facts import netdev_names
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.domain.requests.placement_terms import (
    LIVE_MIGRATABLE_TRAIT,
    ONE_TIME_USE_TRAIT,
    is_reported,
    resource_class_by,
    traits_by,
)
from laneway.domain.specs.device_spec import DeviceSpecs, PciDeviceSpec, report_on
from laneway.domain.specs.refusal import why_not


def check_against_facts(
    inventory: Inventory,
    specs: DeviceSpecs,
    *,
    report_in_placement: bool = False,
    pci_in_placement: bool = False,
) -> Findings:
    """What is wrong with, or noteworthy in, the specs on this host (rules C18, D8, D18, D35; with
    ``report_in_placement`` also C88 to C90).

    Raises LanewayError(invalid_inventory) where two functions have one address.
    """
    findings = Findings()
    host = _Host.of(inventory, specs)
    for spec in specs:
        contradicted = spec.remote_managed and _check_remote_managed(spec, host, findings)
        if not contradicted and not host.admitted[spec.entry]:
            _warn_of_no_effect(spec, specs, host, findings)
    _check_pfs(host, findings, report_in_placement=report_in_placement)
    if report_in_placement:
        _check_one_time_use(host, findings)
    elif pci_in_placement and specs.specs:
        _warn_of_unreported(findings)
    return findings


@dataclass(frozen=True, slots=True)
class _Host:
    """The functions of a host in the ways that the checks ask for, with the spec of each device."""

    functions: Mapping[PciAddress, PciFunction]
    vfs: Mapping[PciAddress, Sequence[PciFunction]]
    by_ids: Mapping[tuple[str, str], Sequence[PciFunction]]
    by_netdev: Mapping[str, Sequence[PciFunction]]
    spec_of: Mapping[PciAddress, PciDeviceSpec]
    admitted: Mapping[int, Sequence[PciFunction]]
    """By the entry of the spec."""

    @classmethod
    def of(cls, inventory: Inventory, specs: DeviceSpecs) -> "_Host":
        functions = inventory.by_address
        vfs: dict[PciAddress, list[PciFunction]] = defaultdict(list)
        by_ids: dict[tuple[str, str], list[PciFunction]] = defaultdict(list)
        by_netdev: dict[str, list[PciFunction]] = defaultdict(list)
        spec_of: dict[PciAddress, PciDeviceSpec] = {}
        admitted: dict[int, list[PciFunction]] = defaultdict(list)
        for function in inventory.functions:
            by_ids[function.vendor_id, function.product_id].append(function)
            for name in netdev_names(function):
                by_netdev[name].append(function)
            parent = None
            if function.parent_addr is not None:
                vfs[function.parent_addr].append(function)
                parent = functions.get(function.parent_addr)
            spec = specs.match(function, parent)
            if spec is not None:
                spec_of[function.address] = spec
                admitted[spec.entry].append(function)
        return cls(functions, vfs, by_ids, by_netdev, spec_of, admitted)

    def parent(self, function: PciFunction) -> PciFunction | None:
        return self.functions.get(function.parent_addr) if function.parent_addr is not None else None

    def named_by(self, spec: PciDeviceSpec) -> Sequence[PciFunction]:
        """The functions that the spec names by exact address or devname, without the VFs that it
        means with them, and whatever their ids.
        """
        if spec.devname is not None:
            return self.by_netdev.get(spec.devname, ())
        address = spec.exact_address
        return (self.functions[address],) if address in self.functions and address is not None else ()

    def fitting(self, spec: PciDeviceSpec) -> list[PciFunction]:
        """The functions that all its matchers fit, whichever spec admits them."""
        if spec.devname is not None or spec.exact_address is not None:
            named = self.named_by(spec)
            pf_addresses = [spec.exact_address] if spec.exact_address is not None else [pf.address for pf in named]
            candidates = [*named, *(vf for address in pf_addresses for vf in self.vfs.get(address, ()))]
        else:
            candidates = [found for ids, known in self.by_ids.items() if spec.fits_ids(*ids) for found in known]
        return [function for function in candidates if spec.fits(function, self.parent(function))]


def _check_remote_managed(spec: PciDeviceSpec, host: _Host, findings: Findings) -> bool:
    """Does a remote-managed spec contradict the PF that it names (rules C18, C19 and D1)?"""
    key, value = ("devname", spec.devname) if spec.devname is not None else ("address", str(spec.address))
    report = report_on(spec, findings)
    for function in host.named_by(spec):
        if function.dev_type is not DevType.PF:
            continue
        if spec.fits_ids(function.vendor_id, function.product_id):
            fault = f"is the PF {function.address}, which cannot be remote_managed"
            remedy = _vf_ids_remedy(function, host)
            report.error(key, value, fault, remedy, ErrorCode.REMOTE_MANAGED_PF)
            return True
        if not _may_fit_vfs(spec, function, host):
            fault = (
                f"is the PF {function.address} ({function.vendor_id}:{function.product_id}),"
                f" and {spec.vendor_id or '*'}:{spec.product_id or '*'} fits neither it nor its VFs"
            )
            report.error(key, value, fault, _vf_ids_remedy(function, host))
            return True
    return False


def _may_fit_vfs(spec: PciDeviceSpec, pf: PciFunction, host: _Host) -> bool:
    """Do the ids fit a VF of the PF, as far as is known? VFs have the vendor id of their PF (SR-IOV
    1.1, 3.4.1.1), and the product id of all of them stands in the PF's capability.
    """
    if any(spec.fits_ids(vf.vendor_id, vf.product_id) for vf in host.vfs.get(pf.address, ())):
        return True
    vf_product_id = pf.sriov.vf_product_id if pf.sriov else None
    if vf_product_id is None:
        return not host.vfs.get(pf.address) and spec.vendor_id in {None, pf.vendor_id}
    return spec.fits_ids(pf.vendor_id, vf_product_id)


def _vf_ids_remedy(pf: PciFunction, host: _Host) -> str:
    known = [vf.product_id for vf in host.vfs.get(pf.address, ())]
    if pf.sriov is not None and pf.sriov.vf_product_id is not None:
        known.append(pf.sriov.vf_product_id)
    return f'write "product_id": "{known[0]}" to mean its VFs' if known else "add the product_id of its VFs"


def _warn_of_no_effect(spec: PciDeviceSpec, specs: DeviceSpecs, host: _Host, findings: Findings) -> None:
    """Says why a spec admits nothing (rules D18 and D35)."""
    report = report_on(spec, findings)
    fitting = host.fitting(spec)
    shadowing = {host.spec_of[found.address].entry for found in fitting if found.address in host.spec_of}
    if shadowing:
        fault = f"admits nothing, as {_entries(sorted(shadowing))} all that it fits before it"
        report.warning("shadowed", None, spec.source, fault, "put it first, or take it out")
    elif fitting:
        fault = f"admits nothing: {_why_none_is_admitted(fitting, specs, host)}"
        report.warning("admits_nothing", None, spec.source, fault, "take it out, or choose others")
    elif spec.devname is not None and not host.named_by(spec):
        fault = "is no network interface of this host, so the entry admits nothing"
        report.warning("devname_absent", "devname", spec.devname, fault, "correct the name if the card is there")
    else:
        fault = f"admits nothing on this host: {_why_none_fits(spec, host)}"
        report.warning("admits_nothing", None, spec.source, fault, "correct it if the device is there")


def _entries(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"entry {numbers[0]} admits"
    return f"entries {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} admit"


def _why_none_is_admitted(fitting: Sequence[PciFunction], specs: DeviceSpecs, host: _Host) -> str:
    """Each reason once, with the first function that it holds for."""
    reasons: dict[str, str] = {}
    for function in fitting:
        for refusal in why_not(function, host.parent(function), specs):
            reasons.setdefault(refusal.code, f"of {function.address}, {refusal.message}")
    return "; ".join(reasons.values())


def _why_none_fits(spec: PciDeviceSpec, host: _Host) -> str:
    named = host.named_by(spec)
    if named:
        return f"{named[0].address} is {named[0].vendor_id}:{named[0].product_id}"
    if spec.exact_address is not None:
        return f"it has no function {spec.exact_address}"
    if any(spec.fits_ids(*ids) for ids in host.by_ids):
        return f"no function with these ids is at {spec.address}"
    return f"it has no function {spec.vendor_id or '*'}:{spec.product_id or '*'}"


def _check_pfs(host: _Host, findings: Findings, *, report_in_placement: bool) -> None:
    """What is to be said of a PF and its VFs, once for each pair of specs."""
    said: set[tuple[int, int]] = set()
    compared: set[tuple[int, ...]] = set()
    for pf_address, vfs in host.vfs.items():
        vf_specs = {spec.entry: (spec, vf) for vf in vfs if (spec := host.spec_of.get(vf.address)) is not None}
        pf_spec = host.spec_of.get(pf_address)
        for entry, (vf_spec, _) in vf_specs.items():
            if pf_spec is not None and (pf_spec.entry, entry) not in said:
                said.add((pf_spec.entry, entry))
                _report_pf_and_vfs(pf_address, pf_spec, vf_spec, findings, report_in_placement=report_in_placement)
        if report_in_placement and tuple(vf_specs) not in compared:
            compared.add(tuple(vf_specs))
            _check_one_provider(pf_address, [one for one in vf_specs.values() if is_reported(one[0].tags)], findings)


def _report_pf_and_vfs(
    pf_address: PciAddress,
    pf_spec: PciDeviceSpec,
    vf_spec: PciDeviceSpec,
    findings: Findings,
    *,
    report_in_placement: bool,
) -> None:
    """Valid, as only one of the two is ever handed out, but worth a note (rules C88 and D8)."""
    report = report_on(pf_spec, findings)
    fault = f"admits the PF {pf_address}, and entry {vf_spec.entry} VFs of it"
    if report_in_placement and is_reported(pf_spec.tags) and is_reported(vf_spec.tags):
        remedy = "keep one of the two, as report_in_placement is on"
        report.error(None, pf_spec.source, fault, remedy)
    else:
        remedy = "a claim of the one makes the other unclaimable"
        report.warning("pf_and_vfs", None, pf_spec.source, fault, remedy)


def _check_one_provider(
    pf_address: PciAddress, admitted: Sequence[tuple[PciDeviceSpec, PciFunction]], findings: Findings
) -> None:
    """VFs of one PF share a provider, so one resource class and one set of traits (rule C89).

    ``admitted`` has a VF for each of the specs. Names are compared as Placement writes them (rules P3 and P5).
    """
    for spec, vf in admitted[1:]:
        for tag in _differing(spec, vf, *admitted[0]):
            fault = f"differs from that of entry {admitted[0][0].entry}, which also admits VFs of {pf_address}"
            report_on(spec, findings).error(tag, spec.tags.get(tag), fault, "write the same in both")


def _differing(spec: PciDeviceSpec, vf: PciFunction, other: PciDeviceSpec, other_vf: PciFunction) -> Iterator[str]:
    """The tags by which the two would not be one provider."""
    classes = {resource_class_by(one.tags, of.vendor_id, of.product_id) for one, of in ((spec, vf), (other, other_vf))}
    if len(classes) > 1:
        yield "resource_class"
    ours, others = (traits_by(one.tags) - {ONE_TIME_USE_TRAIT} for one in (spec, other))  # which no VF may have
    if ours != others:
        yield "live_migratable" if ours ^ others == {LIVE_MIGRATABLE_TRAIT} else "traits"


def _check_one_time_use(host: _Host, findings: Findings) -> None:
    """Placement cannot mark a single VF as used (rules C90 and D19)."""
    for functions in host.admitted.values():
        vf = next((found for found in functions if found.dev_type.is_virtual), None)
        if vf is None:
            continue
        spec = host.spec_of[vf.address]
        if spec.tags.get("one_time_use") is True and is_reported(spec.tags):
            fault = f"cannot hold for the VF {vf.address}, as report_in_placement is on"
            report_on(spec, findings).error("one_time_use", True, fault, "set it for whole devices only")


def _warn_of_unreported(findings: Findings) -> None:
    findings.warnings.append(
        ConfigProblem(
            "pci_in_placement_alone",
            "pci_in_placement is on but report_in_placement is off: this host reports no device to Placement,"
            " so no request finds one here; turn report_in_placement on",
            "report_in_placement",
            value=False,
        )
    )
