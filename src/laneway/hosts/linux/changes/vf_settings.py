"""Steps about what the PF of a network VF enforces for it: set and set back, or kept while the VF is gone.

They are made of the PF, whose interface is looked for each time: it may have another name by then.
"""

import errno
import json
import re
from dataclasses import asdict, fields, replace

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.hosts.linux.changes import vf_messages
from laneway.hosts.linux.changes.vf_kernel import VfKernel
from laneway.hosts.linux.changes.vf_messages import VfState, Vlan
from laneway.hosts.linux.device_directory import DeviceDirectory
from laneway.hosts.linux.listing import DEVICES
from laneway.hosts.linux.netdevs import NetdevReader
from laneway.hosts.linux.tree import HostTree
from laneway.interfaces.host_changes import HostChangeError, LinkState, Step, VfSettings

VF_SETTINGS = "vf_settings"
KEPT_SETTINGS = "kept_vf_settings"
"""Changes nothing: taken back, it makes the settings again with which a VF went away."""

_NEUTRAL = VfState(mac="00:00:00:00:00:00", vlan=Vlan(), spoof_check=True, trust=False, link_state=LinkState.AUTO)
"""What a VF is set back to where nothing tells how it was: what drivers begin with. The VF may choose its MAC then."""

_NAMES = tuple(field.name for field in fields(VfState))
_WORDS = {"mac": "MAC", "vlan": "VLAN", "spoof_check": "spoof check", "trust": "trust", "link_state": "link state"}
_REFUSALS = frozenset({errno.EOPNOTSUPP, errno.EINVAL})
_TARGET = re.compile(r"(\S+) vf (\d+)")


class VfSettingsSteps:
    """Plans, makes and takes back the settings of VFs of the host whose files are ``tree``."""

    def __init__(self, tree: HostTree, kernel: VfKernel) -> None:
        self._tree = tree
        self._kernel = kernel

    def plan(self, vf: PciFunction, settings: VfSettings) -> Step | None:
        """The step that makes what differs of the settings; None where nothing does.

        Raises HostChangeError where the function is no VF, or its PF cannot be asked, or no_permission.
        """
        try:
            return self._planned(vf, settings)
        except LanewayError as failure:
            if failure.code is ErrorCode.HOST_CHANGE_FAILED:
                raise HostChangeError(failure.message, failure.detail, undone=True) from failure
            raise

    def _planned(self, vf: PciFunction, settings: VfSettings) -> Step | None:
        if vf.parent_addr is None or vf.vf_index is None:
            raise _failed(f"{vf.address} is no VF, so no PF can enforce a MAC or a VLAN for it", vf.address)
        wanted = VfState.wanted(settings)
        found = self._read(vf.parent_addr, vf.vf_index)
        differing = [
            name
            for name in _NAMES
            if getattr(wanted, name) is not None and getattr(wanted, name) != getattr(found, name)
        ]
        if not differing:
            return None
        before = _only(found, differing)
        words = ", ".join(_WORDS[name] for name in differing)
        return Step(
            kind=VF_SETTINGS,
            address=vf.address,
            target=f"{vf.parent_addr} vf {vf.vf_index}",
            value=state_to_text(_only(wanted, differing)),
            found=state_to_text(before),
            undo=state_to_text(_known(before, differing)),
            summary=f"set {words} of VF {vf.vf_index} on its PF {vf.parent_addr}",
        )

    def keep(self, pf: PciAddress, count: int) -> tuple[Step, ...]:
        """For each of the first so many VFs of a PF that is not as drivers begin with, the step that keeps how it is.

        A PF without an interface enforces nothing. Raises as ``plan``.
        """
        if not self._tree.names(f"{DEVICES}/{pf}/net"):
            return ()
        return tuple(step for vf in range(count) if (step := self._kept(pf, vf)) is not None)

    def _kept(self, pf: PciAddress, vf: int) -> Step | None:
        found = self._read(pf, vf)
        names = [name for name in _NAMES if getattr(found, name) not in (None, getattr(_NEUTRAL, name))]
        if not names:
            return None
        before = state_to_text(_only(found, names))
        words = ", ".join(_WORDS[name] for name in names)
        return Step(
            kind=KEPT_SETTINGS,
            address=pf,
            target=f"{pf} vf {vf}",
            found=before,
            undo=before,
            summary=f"keep {words} of VF {vf} of {pf}, which goes away",
        )

    def do(self, step: Step) -> None:
        """Makes the settings, or sets back what is not as it was (a step of ``restoring``).

        Raises LanewayError(host_change_failed), which names the setting and the PF, or no_permission;
        where it sets back, after all has been tried.
        """
        if step.undo is None:
            self._restore(step)
            return
        pf, vf = _target(step)
        wanted = state_from_text(step.value)
        for name, setting in vf_messages.settings(vf, wanted).items():
            self._set(pf, vf, name, getattr(wanted, name), setting)

    def _restore(self, step: Step) -> None:
        """What could not be read before and is refused now is let be: it was refused, too, when it was to be set."""
        pf, vf = _target(step)
        before, known = state_from_text(step.value), state_from_text(step.found)
        now = self._read(pf, vf)
        failures = []
        for name, setting in vf_messages.settings(vf, before).items():
            if getattr(before, name) == getattr(now, name):
                continue
            try:
                self._set(pf, vf, name, getattr(before, name), setting)
            except LanewayError as failure:
                if getattr(known, name) is not None or failure.detail.get("errno") not in _REFUSALS:
                    failures.append(failure)
        if failures:
            raise failures[0]

    def _read(self, pf: PciAddress, vf: int) -> VfState:
        interface, index = self._interface(pf)
        try:
            states = self._kernel.read(index)
        except OSError as error:
            raise _refused(f"the settings of the VFs of {pf} ({interface}) cannot be read", pf, error) from error
        return states.get(vf) or VfState()

    def _set(self, pf: PciAddress, vf: int, name: str, value: object, setting: bytes) -> None:
        interface, index = self._interface(pf)
        try:
            self._kernel.set_one(index, setting)
        except OSError as error:
            what = f"{pf} ({interface}) does not set {_WORDS[name]} {_word(value)} for its VF {vf}"
            raise _refused(what, pf, error, name) from error

    def _interface(self, pf: PciAddress) -> tuple[str, int]:
        """Name and index of the first interface of the PF."""
        try:
            directory = DeviceDirectory(f"{self._tree.root}{DEVICES}/{pf}", str(pf), [])
        except OSError as error:
            raise _refused(f"the PF {pf} is not there", pf, error) from error
        for interface in NetdevReader(None).read(directory, virtio=False, below_switchdev=False):
            index = (self._tree.text(f"{DEVICES}/{pf}/net/{interface.name}/ifindex") or "").strip()
            if index.isdecimal():
                return interface.name, int(index)
        raise _failed(
            f"the PF {pf} has no network interface here, so it can set nothing for its VFs: is it on its driver,"
            " and its interface in this network namespace?",
            pf,
        )


def restoring(step: Step) -> Step:
    """The step that takes a step of one of these kinds back; nothing takes it back in turn."""
    return replace(step, kind=VF_SETTINGS, value=step.undo, undo=None, summary=f"set {step.target} back as it was")


def state_to_text(state: VfState) -> str:
    """The state as JSON: keys in order, what is None left out."""
    values = {name: value for name in _NAMES if (value := getattr(state, name)) is not None}
    if state.vlan is not None:
        values["vlan"] = asdict(state.vlan)
    return json.dumps(values, sort_keys=True)


def state_from_text(text: str | None) -> VfState:
    values = json.loads(text or "{}")
    if "vlan" in values:
        values["vlan"] = Vlan(**values["vlan"])
    if "link_state" in values:
        values["link_state"] = LinkState(values["link_state"])
    return VfState(**values)


def _only(state: VfState, names: list[str]) -> VfState:
    return VfState(**{name: getattr(state, name) for name in names})


def _known(state: VfState, names: list[str]) -> VfState:
    """The state with the neutral value for what is not known of it."""
    return replace(state, **{name: getattr(_NEUTRAL, name) for name in names if getattr(state, name) is None})


def _target(step: Step) -> tuple[PciAddress, int]:
    match = _TARGET.fullmatch(step.target)
    if match is None:
        raise _failed(f"{step.target!r} names no VF of a PF", step.address)
    return PciAddress.parse(match[1]), int(match[2])


def _word(value: object) -> str:
    if isinstance(value, Vlan):
        return str(value.id)
    return str(value) if not isinstance(value, bool) else ("on" if value else "off")


def _refused(what: str, pf: PciAddress, error: OSError, setting: str | None = None) -> LanewayError:
    if isinstance(error, PermissionError):
        return LanewayError(ErrorCode.NO_PERMISSION, f"{what}: only root may", {"pf": str(pf), "setting": setting})
    return _failed(f"{what}: {error.strerror or error}", pf, setting=setting, errno=error.errno)


def _failed(message: str, address: PciAddress, **detail: object) -> LanewayError:
    return LanewayError(ErrorCode.HOST_CHANGE_FAILED, message, {"address": str(address), **detail})
