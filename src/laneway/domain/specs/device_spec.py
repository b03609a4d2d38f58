"""Device specs: which functions of a host may be handed out, and with which tags."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from laneway.domain.address import MAX_ASSIGNABLE_DOMAIN, PciAddress
from laneway.domain.cleaning import Cleaning
from laneway.domain.config_entry import EntryReport
from laneway.domain.device import Binding, TagValue
from laneway.domain.errors import ErrorCode, Findings
from laneway.domain.function_facts import card_serial_number, netdev_names
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.specs.address_pattern import AddressGlob, AddressPattern, AddressRegex

OPTION = "device_spec"


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDeviceSpec:
    """One entry of ``device_spec``. A matcher that is None matches everything (rule C5).

    ``entry`` is its number in the option, lists counted through; ``source`` its JSON text, which
    parses to this spec again in the same ``dialect``; ``place`` file and line, where known.
    """

    entry: int
    vendor_id: str | None = None
    product_id: str | None = None
    address: AddressPattern | None = None
    devname: str | None = None
    tags: Mapping[str, TagValue] = field(default_factory=dict)
    binding: Binding = Binding.LANEWAY
    cleaning: Cleaning | None = None
    allow_in_use: bool = False
    source: str = field(default="{}", compare=False)
    dialect: str = field(default="laneway", compare=False)
    place: str | None = field(default=None, compare=False)

    @property
    def remote_managed(self) -> bool:
        return self.tags.get("remote_managed") is True

    @property
    def exact_address(self) -> PciAddress | None:
        """The one address that it names, if it names one."""
        return self.address.exact if isinstance(self.address, AddressGlob) else None

    def fits_ids(self, vendor_id: str, product_id: str) -> bool:
        return self.vendor_id in {None, vendor_id} and self.product_id in {None, product_id}

    def agreement(self, vendor_id: str, product_id: str) -> int:
        """How many of the two ids do not stand against it."""
        return (self.vendor_id in {None, vendor_id}) + (self.product_id in {None, product_id})

    def fits_place(self, function: PciFunction, parent: PciFunction | None) -> bool:
        """Does it name where the function is? An exact address or a devname of a PF means its VFs
        too (rules C11 and C12).
        """
        if self.devname is not None:
            return self.devname in netdev_names(function) or self.devname in netdev_names(parent)
        if self.address is None or self.address.matches(function.address):
            return True
        return function.parent_addr is not None and function.parent_addr == self.exact_address

    def fits(self, function: PciFunction, parent: PciFunction | None) -> bool:
        """Do all its matchers fit? Whether it may be handed out is another question."""
        return self.fits_ids(function.vendor_id, function.product_id) and self.fits_place(function, parent)

    def can_manage(self, function: PciFunction, parent: PciFunction | None) -> bool:
        """May it be tagged as this spec tags it? A remote-managed device is no PF and has a card
        serial number (rules C18 and C20).
        """
        return not self.remote_managed or (
            function.dev_type is not DevType.PF and card_serial_number(function, parent) is not None
        )


def report_on(spec: PciDeviceSpec, findings: Findings) -> EntryReport:
    """Where to say what is wrong with a spec."""
    return EntryReport(
        findings=findings,
        option=OPTION,
        code=ErrorCode.INVALID_DEVICE_SPEC,
        entry=spec.entry,
        place=spec.place,
    )


_Candidate = tuple[int, int, int, AddressRegex | None, bool, PciDeviceSpec]
"""Position, mask and value of the address, its regular expression, remote_managed, and the spec."""

_Place = tuple[str, str, PciAddress | None, PciAddress | None, tuple[str, ...]]
"""The ids of a function; its address, its PF's and the interfaces of both, as far as a spec names them."""


@dataclass(frozen=True, slots=True)
class DeviceSpecs:
    """The specs of a host, in order, of which the first that matches counts (rule C13).

    They are compiled once: those with an exact address or a devname are found by it, the others
    by the ids of a function; what is found is kept for the next function with the same ids, such as
    the next VF of a PF that is named. So a match takes as long with a thousand exact addresses as
    with ten.
    """

    specs: tuple[PciDeviceSpec, ...]
    _by_address: dict[int | None, list[_Candidate]] = field(init=False, repr=False, compare=False)
    _by_devname: dict[str, list[_Candidate]] = field(init=False, repr=False, compare=False)
    _unplaced: tuple[_Candidate, ...] = field(init=False, repr=False, compare=False)
    _by_ids: dict[tuple[str, str], tuple[_Candidate, ...]] = field(init=False, repr=False, compare=False)
    _by_place: dict[_Place, tuple[_Candidate, ...]] = field(init=False, repr=False, compare=False)
    _nearest_by_ids: dict[tuple[str, str], PciDeviceSpec] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_address: dict[int | None, list[_Candidate]] = {}
        by_devname: dict[str, list[_Candidate]] = {}
        unplaced: list[_Candidate] = []
        for position, spec in enumerate(self.specs):
            candidate = _candidate(position, spec)
            if spec.devname is not None:
                by_devname.setdefault(spec.devname, []).append(candidate)
            elif (address := spec.exact_address) is not None:
                by_address.setdefault(address, []).append(candidate)
            else:
                unplaced.append(candidate)
        object.__setattr__(self, "_by_address", by_address)
        object.__setattr__(self, "_by_devname", by_devname)
        object.__setattr__(self, "_unplaced", tuple(unplaced))
        object.__setattr__(self, "_by_ids", {})
        object.__setattr__(self, "_by_place", {})
        object.__setattr__(self, "_nearest_by_ids", {})

    def __iter__(self) -> Iterator[PciDeviceSpec]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def match(self, function: PciFunction, parent: PciFunction | None) -> PciDeviceSpec | None:
        """The spec that admits the function, or None. ``parent`` is its PF, where it is known."""
        address = function.address
        try:
            candidates = self._by_ids[function.vendor_id, function.product_id]
        except KeyError:
            candidates = self._unplaced_for(function)
        placed = self._by_address
        if (
            address in placed
            or function.parent_addr in placed
            or (self._by_devname and self._named_interfaces(function, parent))
        ):
            candidates = self._candidates_at_place(function, parent)
        for _, mask, value, regex, remote_managed, spec in candidates:
            if (
                address & mask == value
                and (regex is None or regex.matches(address))
                and not (remote_managed and not spec.can_manage(function, parent))
            ):
                return spec if address >> 16 <= MAX_ASSIGNABLE_DOMAIN and not function.is_bridge else None
        return None

    def fitting(self, function: PciFunction, parent: PciFunction | None) -> list[PciDeviceSpec]:
        """The specs whose matchers all fit, in order, whether or not they may admit the function."""
        specs = (candidate[-1] for candidate in self._candidates_at_place(function, parent))
        return [spec for spec in specs if spec.fits_place(function, parent)]

    def nearest(self, function: PciFunction, parent: PciFunction | None) -> PciDeviceSpec | None:
        """The spec that is most likely meant for a function that none admits; None without specs.

        One that names its place, else the first of those that agree with most of its ids.
        """
        placed = self._placed_at(function, parent)
        if placed:
            return min(placed, key=itemgetter(0))[-1]
        ids = function.vendor_id, function.product_id
        if ids not in self._nearest_by_ids and self.specs:
            self._nearest_by_ids[ids] = max(self.specs, key=lambda spec: spec.agreement(*ids))
        return self._nearest_by_ids.get(ids)

    def _placed_at(self, function: PciFunction, parent: PciFunction | None) -> list[_Candidate]:
        found: list[_Candidate] = []
        for address in {function.address, function.parent_addr}:
            found += self._by_address.get(address, ())
        for name in self._named_interfaces(function, parent):
            found += self._by_devname[name]
        return found

    def _named_interfaces(self, function: PciFunction, parent: PciFunction | None) -> tuple[str, ...]:
        """The interfaces of the function and of its PF that a spec names."""
        names = {netdev.name for holder in (function, parent) if holder for netdev in holder.netdevs or ()}
        return tuple(sorted(names & self._by_devname.keys()))

    def _candidates_at_place(self, function: PciFunction, parent: PciFunction | None) -> tuple[_Candidate, ...]:
        """The specs that the ids fit, in order: those that name the place, and those without one."""
        address, parent_addr = function.address, function.parent_addr
        vendor_id, product_id = function.vendor_id, function.product_id
        place = (
            vendor_id,
            product_id,
            address if address in self._by_address else None,
            parent_addr if parent_addr in self._by_address else None,
            self._named_interfaces(function, parent) if self._by_devname else (),
        )
        found = self._by_place.get(place)
        if found is None:
            placed = [found for found in self._placed_at(function, parent) if found[-1].fits_ids(vendor_id, product_id)]
            found = tuple(sorted((*placed, *self._unplaced_for(function)), key=itemgetter(0)))
            self._by_place[place] = found
        return found

    def _unplaced_for(self, function: PciFunction) -> tuple[_Candidate, ...]:
        """The specs without a place that these ids fit; kept for the next function with the same."""
        vendor_id, product_id = function.vendor_id, function.product_id
        candidates = tuple(found for found in self._unplaced if found[-1].fits_ids(vendor_id, product_id))
        self._by_ids[vendor_id, product_id] = candidates
        return candidates


def _candidate(position: int, spec: PciDeviceSpec) -> _Candidate:
    """What is left to test of a spec: an exact address has been looked up, and also means VFs."""
    pattern = spec.address
    mask = value = 0
    if isinstance(pattern, AddressGlob) and pattern.exact is None:
        mask, value = pattern.mask, pattern.value
    regex = pattern if isinstance(pattern, AddressRegex) else None
    return position, mask, value, regex, spec.remote_managed, spec
