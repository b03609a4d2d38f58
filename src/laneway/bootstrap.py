"""The one place where the parts are put together: config, host driver, store and use cases.

Parts that a command may not need (SQLAlchemy, msgspec) are imported where they are needed:
``laneway devices`` has to be there at once.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

from laneway.compute.host_config import check_on_host
from laneway.config import Config, Surroundings, load_config
from laneway.config.config import AUTO_DRIVER
from laneway.domain.device import PciDevice
from laneway.domain.errors import ConfigProblem, ErrorCode, LanewayError
from laneway.domain.identity import Census
from laneway.domain.inventory import DevType, Inventory
from laneway.domain.report import HostReport
from laneway.domain.specs.admission import admit
from laneway.domain.tracking.claim import HostState
from laneway.domain.tracking.displacement import displacement
from laneway.domain.tracking.host_view import HostView
from laneway.hosts.pci_ids import PciNames
from laneway.hosts.registry import open_driver
from laneway.interfaces.host_driver import Ability, HostDriver

if TYPE_CHECKING:
    from laneway.compute.host_changer import HostChanger, HostDriverThatChanges
    from laneway.compute.managed_host import ManagedHost
    from laneway.domain.running_vms import RunningVm, RunningVms
    from laneway.domain.tracking.drift import Drift
    from laneway.fleet.control_plane import ControlPlane
    from laneway.fleet.profiles import Profiles
    from laneway.interfaces.guest_definition import GuestDefinition
    from laneway.interfaces.host_changes import Progress
    from laneway.interfaces.journal import JournalState
    from laneway.store.migrate import DatabaseStatus, Upgrade

DATABASE = "laneway.db"
UNNAMED_HOST = "unnamed"

_WORDS = {
    Ability.WATCH: "watch its host",
    Ability.PREPARE: "take devices from its host",
    Ability.SET_VF_COUNT: "make or remove VFs",
    Ability.CLEAN: "clean devices",
}
_KERNEL, _LIBVIRT = "linux", "libvirt"
"""Host drivers by name: a hook of libvirt's runs where both can work, and may use one of them only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Which host, config and state a command works on, as its options say. None: as usual."""

    config: Path | None = None
    nova_conf: Sequence[Path] = ()
    snapshot: Path | None = None
    root: Path | None = None
    state: Path | None = None

    @property
    def is_this_machine(self) -> bool:
        return self.snapshot is None and self.root is None


@dataclass(frozen=True, kw_only=True)
class LocalHost:
    """One host, discovered once, with its config checked against its facts."""

    config: Config
    driver: HostDriver
    inventory: Inventory
    database: Path
    name: str
    warnings: tuple[ConfigProblem, ...] = field(default=())

    @property
    def config_path(self) -> Path:
        """The file that the config came from, or where one would be looked for first."""
        return self.config.sources[0] if self.config.sources else _usual_config()

    @cached_property
    def report(self) -> HostReport:
        return HostReport(self.inventory, self.config.device_specs)

    def look(self) -> HostView:
        """The host as it stands, read quickly and without a lock, unless something follows that is not stored yet.

        Raises as the store does.
        """
        from laneway.store.sqlite_read import read_state  # noqa: PLC0415 - late, see the module

        report, groups = self.report, self.config.iommu_groups
        quick = read_state(self.database, self.name)
        ended = quick.next_expiry is not None and quick.next_expiry <= now()
        another_boot = report.inventory.boot_id not in (None, quick.boot_id)
        if ended or (another_boot and any(row.prepared for row in quick.held.values())):
            return self._look_closely()
        admitted = dict(admit(report.inventory, report.specs).devices)
        census = Census(report.inventory.by_address)
        marks = chain.from_iterable(quick.blocks.values())
        meant = (*(row.recorded for row in quick.held.values()), *(mark.function for mark in marks))
        if any(recorded is not None and displacement(recorded, census) for recorded in meant):
            return self._look_closely()
        held = {}
        for address, row in quick.held.items():
            today = admitted.get(address)
            if today is None or today.entry != row.entry:
                return self._look_closely()
            if row.prepared and today.dev_type is DevType.PF:  # its VFs are gone meanwhile
                return self._look_closely()
            held[address] = PciDevice(
                function=today.function,
                extra_info=today.extra_info,
                entry=row.entry,
                status=row.status,
                consumer=row.consumer,
                claim=row.claim,
                request=row.request,
                attach=row.attach,
                prepared=row.prepared,
            )
        state = HostState(held=held, blocks=quick.blocks, boot_id=quick.boot_id)
        return HostView(report, state, groups, admitted)

    def look_at_stored(self) -> HostView:
        """As ``look``, with held devices as they were when they were claimed. Raises as the store does."""
        view = self.look()
        return self._look_closely() if view.held else view

    @contextmanager
    def control_plane(self) -> Iterator["ControlPlane"]:
        """The use cases over this host's database, with the host synced.

        Raises LanewayError: database_unreachable, database_too_old, database_too_new, no_permission.
        """
        from laneway.fleet.control_plane import ControlPlane  # noqa: PLC0415 - late, see the module
        from laneway.store.sqlite import open_store  # noqa: PLC0415 - late, see the module

        with open_store(self.database, actor=_actor()) as store:
            plane = ControlPlane(store, now, self.config.iommu_groups)
            plane.sync(self.name, self.report)
            yield plane

    @contextmanager
    def managed(self, ability: Ability, progress: "Progress") -> Iterator["ManagedHost"]:
        """The use cases that change this host; its database and its journal are open meanwhile.

        Raises LanewayError(not_supported) where the driver has not this ability, and as ``control_plane``.
        """
        from laneway.compute.managed_host import ManagedHost  # noqa: PLC0415 - late, see the module

        require_ability(self.driver, ability)
        with self.control_plane() as plane, host_changer(self.database, self.driver, progress) as changer:
            yield ManagedHost(name=self.name, specs=self.config.device_specs, plane=plane, changer=changer)

    def remembered(self) -> "JournalState":
        """What is remembered of changes to this host. Raises LanewayError(database_unreachable) or (no_permission)."""
        from laneway.store.journal import SqliteJournal, journal_path  # noqa: PLC0415 - late, see the module

        with SqliteJournal(journal_path(self.database)) as journal:
            return journal.state()

    def changed(self) -> "JournalState":
        """As ``remembered``, but nothing of a host that can only be looked at: it may be another machine's capture."""
        from laneway.interfaces.journal import JournalState  # noqa: PLC0415 - late, see the module

        return self.remembered() if Ability.PREPARE in self.driver.describe().abilities else JournalState()

    def drift(self, view: HostView) -> "tuple[Drift, ...]":
        """Where the host does not stand as it is recorded. What cannot be seen of VMs is not missed.

        Raises LanewayError(database_unreachable) or (no_permission).
        """
        from laneway.compute.restoring import not_restored  # noqa: PLC0415 - late, see the module
        from laneway.domain.tracking.drift import find_drift  # noqa: PLC0415 - late, see the module

        state = self.changed()
        is_this_boot = self.inventory.boot_id in (None, state.boot_id)
        taken = {address: hold.driver for address, hold in state.taken.items()} if is_this_boot else {}
        vms: Sequence[RunningVm] = ()
        with suppress(LanewayError):
            vms = self.running_vms().vms
        return (*find_drift(view, vms, taken), *not_restored(state, view))

    def running_vms(self) -> "RunningVms":
        """The VMs that run on this host already. Raises LanewayError(not_supported)."""
        from laneway.interfaces.running_vms import VmObservingHostDriver  # noqa: PLC0415 - late, see the module

        if not isinstance(self.driver, VmObservingHostDriver):
            name = self.driver.describe().name
            message = f"the host driver {name!r} cannot tell which virtual machines run; claim and allocate for each"
            raise LanewayError(ErrorCode.NOT_SUPPORTED, message, {"driver": name})
        return self.driver.running_vms(self.inventory.functions)

    def _look_closely(self) -> HostView:
        with self.control_plane() as plane:
            return plane.look(self.name).view


def open_host(source: Source) -> LocalHost:
    """Reads the config, discovers the host, and checks the one against the other.

    Raises ConfigError with all errors, and LanewayError(host_unreachable) or (no_permission) where
    nothing of the host can be read.
    """
    config = load_config(source.config, nova_conf=source.nova_conf)
    return _opened(
        source, config, open_driver(config.driver, uri=config.uri, root=source.root, snapshot=source.snapshot)
    )


def open_host_without_libvirt(source: Source) -> LocalHost:
    """This machine by its kernel alone: libvirt answers nobody while it waits for its hook. Raises as ``open_host``."""
    config = load_config(source.config, nova_conf=source.nova_conf)
    if config.host is None and (config.driver == _LIBVIRT or config.uri is not None):
        raise LanewayError(
            ErrorCode.INVALID_CONFIG,
            "this host is stored under the name that libvirt gives it, and a hook may not ask libvirt; "
            'set its name in the config: [host] name = "..."',
            {"driver": config.driver},
        )
    return _opened(source, config, open_driver(_KERNEL, root=source.root, snapshot=source.snapshot))


def _opened(source: Source, config: Config, driver: HostDriver) -> LocalHost:
    inventory = driver.discover()
    findings = check_on_host(config, inventory)
    findings.raise_errors()
    return LocalHost(
        config=config,
        driver=driver,
        inventory=inventory,
        database=source.state or config.state_path / DATABASE,
        name=host_name(config, inventory, source),
        warnings=tuple(findings.warnings),
    )


def read_guest(text: str) -> "GuestDefinition":
    """What a libvirt domain asks of its host, by its XML. Raises LanewayError(invalid_request)."""
    from laneway.hosts.domain_xml import parse_guest  # noqa: PLC0415 - late, see the module

    try:
        return parse_guest(text)
    except ValueError as error:
        raise LanewayError(ErrorCode.INVALID_REQUEST, f"the domain's XML cannot be understood: {error}") from error


def require_ability(driver: HostDriver, ability: Ability) -> None:
    """Raises LanewayError(not_supported) where the driver cannot do this."""
    about = driver.describe()
    if ability not in about.abilities:
        message = (
            f"the host driver {about.name!r} cannot {_WORDS[ability]} here; a captured host is only looked at, so leave"
            " out --snapshot and --root, and docs/drivers.md says which driver can do it"
        )
        raise LanewayError(ErrorCode.NOT_SUPPORTED, message, {"driver": about.name, "ability": str(ability)})


@contextmanager
def host_changer(
    database: Path, driver: HostDriver, progress: "Progress", *, patience: float | None = None
) -> Iterator["HostChanger"]:
    """What changes a host whose driver can do so. ``patience``: seconds to wait for others that do, if not as usual."""
    from laneway.compute.host_changer import HostChanger  # noqa: PLC0415 - late
    from laneway.compute.host_lock import PATIENCE, HostLock, host_lock_path  # noqa: PLC0415 - late
    from laneway.store.journal import SqliteJournal, journal_path  # noqa: PLC0415 - late

    lock = HostLock(host_lock_path(database), patience=PATIENCE if patience is None else patience)
    with SqliteJournal(journal_path(database)) as journal:
        changing = cast("HostDriverThatChanges", driver)
        yield HostChanger(driver=changing, journal=journal, lock=lock, progress=progress)


def host_name(config: Config, inventory: Inventory, source: Source) -> str:
    """The name under which a host is stored: the config's, else the inventory's, else this machine's.

    A capture or another host that has no name is not taken for this machine, whose claims it would mix with its own.
    """
    is_this_machine = source.is_this_machine and config.uri is None
    return config.host or inventory.host or (_machine_name() if is_this_machine else UNNAMED_HOST)


def discover(source: Source) -> Inventory:
    """The facts of the host alone, whatever its config says.

    Raises LanewayError(host_unreachable) or (no_permission) where nothing of it can be read.
    """
    return open_driver(AUTO_DRIVER, root=source.root, snapshot=source.snapshot).discover()


def database_path(source: Source) -> Path:
    """The database of a host, without looking at the host. Raises ConfigError."""
    return source.state or load_config(source.config, nova_conf=source.nova_conf).state_path / DATABASE


def binding_profiles(source: Source, consumer: str) -> Mapping[str, "Profiles"]:
    """The binding profiles of a consumer's devices by host, from the database alone.

    Raises LanewayError(no_claim), and as the store does.
    """
    from laneway.fleet import profiles  # noqa: PLC0415 - late, see the module
    from laneway.store.sqlite import open_store  # noqa: PLC0415 - late, see the module

    with open_store(database_path(source)) as store:
        return profiles.binding_profiles(store, consumer)


def database_status(path: Path) -> "DatabaseStatus":
    """Where the tables stand. Raises LanewayError(database_unreachable) or (no_permission)."""
    from laneway.store import maintenance  # noqa: PLC0415 - late, see the module

    return maintenance.status(path)


def upgrade_database(path: Path) -> "Upgrade":
    """Brings the tables up to date. Raises LanewayError: database_too_new, database_unreachable, no_permission."""
    from laneway.store import maintenance  # noqa: PLC0415 - late, see the module

    return maintenance.upgrade(path)


def backup_database(path: Path, target: Path) -> None:
    """Copies the database into a new file. Raises LanewayError: usage, database_unreachable."""
    from laneway.store import maintenance  # noqa: PLC0415 - late, see the module

    maintenance.backup(path, target)


def device_names() -> PciNames:
    """The names of vendors, devices and classes that this system knows."""
    return PciNames()


def now() -> datetime:
    """The clock of the use cases."""
    return datetime.now(UTC)


def new_claim_id() -> str:
    """An id for a claim whose caller chose none."""
    from uuid import uuid4  # noqa: PLC0415 - late, see the module

    return str(uuid4())


def _machine_name() -> str:
    from socket import gethostname  # noqa: PLC0415 - late, see the module

    return gethostname()


def _usual_config() -> Path:
    around = Surroundings.here()
    system_wide, of_user = around.usual_configs
    return system_wide if around.is_root else of_user


def _actor() -> str | None:
    """The user that runs the command, behind sudo too; None where the system has no name for it."""
    from getpass import getuser  # noqa: PLC0415 - late, see the module

    try:
        name = os.environ.get("SUDO_USER") or getuser()
    except (ImportError, KeyError, OSError):
        return None
    return name.encode("utf-8", "replace").decode()
