"""Why a function is not admitted, asked for on demand only."""

from dataclasses import dataclass

from laneway.domain.function_facts import card_serial_number, has_assignable_domain, netdev_names
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.specs.device_spec import DeviceSpecs, PciDeviceSpec

NO_SPEC_MATCHES = "no_spec_matches"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why a function is no device. ``code`` is stable, ``message`` for a person."""

    code: str
    message: str


def why_not(function: PciFunction, parent: PciFunction | None, specs: DeviceSpecs) -> tuple[Refusal, ...]:
    """Why no spec admits the function; empty if one does. ``parent`` is its PF, if known."""
    if specs.match(function, parent) is not None:
        return ()
    never = _never_assignable(function)
    if never:
        return never
    fitting = specs.fitting(function, parent)
    if fitting:
        return tuple(_remote_managed_refusal(function, parent, spec) for spec in fitting)
    return (_no_spec_matches(function, parent, specs),)


def _never_assignable(function: PciFunction) -> tuple[Refusal, ...]:
    reasons: list[Refusal] = []
    if not has_assignable_domain(function):
        message = f"its domain {function.address.domain:x} is above ffff, which no guest can have"
        reasons.append(Refusal("domain_too_large", message))
    if function.is_bridge:
        reasons.append(Refusal("bridge", "it is a bridge (class 06), and those are never handed out"))
    return tuple(reasons)


def _remote_managed_refusal(function: PciFunction, parent: PciFunction | None, spec: PciDeviceSpec) -> Refusal:
    """Why a spec whose matchers all fit does not admit it (rules C18 and C20)."""
    if function.dev_type is DevType.PF:
        message = f"device_spec entry {spec.entry} is remote_managed, which a PF cannot be: name its VFs"
        return Refusal("remote_managed_pf", message)
    assert card_serial_number(function, parent) is None
    where = "its VPD has no" if function.parent_addr is None else "neither its VPD nor its PF's has a"
    message = f"device_spec entry {spec.entry} is remote_managed, and {where} card serial number"
    return Refusal("remote_managed_no_serial", message)


def _no_spec_matches(function: PciFunction, parent: PciFunction | None, specs: DeviceSpecs) -> Refusal:
    nearest = specs.nearest(function, parent)
    if nearest is None:
        return Refusal(NO_SPEC_MATCHES, "there is no device spec")
    differences = ", ".join(_differences(function, parent, nearest))
    return Refusal(NO_SPEC_MATCHES, f"no device spec matches; the nearest is entry {nearest.entry}: {differences}")


def _differences(function: PciFunction, parent: PciFunction | None, spec: PciDeviceSpec) -> list[str]:
    found: list[str] = []
    if spec.vendor_id not in (None, function.vendor_id):
        found.append(f"vendor_id is {function.vendor_id}, not {spec.vendor_id}")
    if spec.product_id not in (None, function.product_id):
        found.append(f"product_id is {function.product_id}, not {spec.product_id}")
    if not spec.fits_place(function, parent):
        if spec.devname is not None:
            names = (*netdev_names(function), *netdev_names(parent))
            found.append(f"devname is {' and '.join(names) or 'none'}, not {spec.devname}")
        else:
            found.append(f"address is {function.address}, not {spec.address}")
    return found
