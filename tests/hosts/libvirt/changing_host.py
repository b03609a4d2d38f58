"""A libvirt whose functions change drivers as those of a real one do, and whose calls can be made to fail."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from hosts.libvirt.node_xml import CAPABILITIES, domain, function, node_name
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.libvirt.connection import Described


@dataclass(frozen=True, kw_only=True)
class Fn:
    """A function as it is; ``preferred`` is the driver that the kernel gives it when it is asked to choose.

    ``group`` 0 is a group of its own, None none at all.
    """

    driver: str | None = None
    group: int | None = 0
    preferred: str | None = None
    klass: str = "0x030200"
    facts: tuple[str, ...] = ()
    place: str = "pci0000:80/0000:80:01.0"


@dataclass
class ChangingHost:
    """``fails`` raises before a call is done, ``breaks`` are calls after which a device has no driver.

    ``silent_at``: which question for node devices gets no answer, counted from 1.
    """

    functions: dict[str, Fn]
    domains: Sequence[Described] = ()
    told_version: int = 9_000_000
    told: Described = CAPABILITIES
    vfio_driver: str = "vfio-pci"
    fails: Callable[[str, str], LanewayError | None] = lambda call, name: None
    breaks: frozenset[str] = frozenset()
    calls: list[tuple[str, str]] = field(default_factory=list)
    open_to_change: int = 0
    asked: int = 0
    silent_at: int | None = None

    def __post_init__(self) -> None:
        self.functions = {
            address: fn if fn.preferred is not None else replace(fn, preferred=fn.driver)
            for address, fn in self.functions.items()
        }

    @property
    def drivers(self) -> Mapping[str, str | None]:
        return {address: fn.driver for address, fn in self.functions.items()}

    @contextmanager
    def connect(self, uri: str) -> Iterator["ChangingHost"]:
        yield self

    @contextmanager
    def connect_to_change(self, uri: str) -> Iterator["ChangingHost"]:
        self.open_to_change += 1
        yield self

    def host_name(self) -> str | None:
        return "node-1"

    def capabilities(self) -> Described:
        return self.told

    def version(self) -> int:
        return self.told_version

    def running_domains(self) -> Sequence[Described]:
        return self.domains

    def node_devices(self) -> Sequence[Described]:
        self.asked += 1
        if self.asked == self.silent_at:
            raise LanewayError(ErrorCode.HOST_UNREACHABLE, "the connection broke")
        return [
            function(
                address,
                *fn.facts,
                *([] if fn.group is None else [f"<iommuGroup number='{fn.group or 100 + number}'/>"]),
                driver=fn.driver,
                klass=fn.klass,
                place=fn.place,
            )
            for number, (address, fn) in enumerate(self.functions.items())
        ]

    def detach(self, name: str, driver: str) -> None:
        assert driver == "vfio"
        self._set("detach", name, self.vfio_driver)

    def reattach(self, name: str) -> None:
        self._set("reattach", name, self.functions[self._address(name)].preferred)

    def reset(self, name: str) -> None:
        self._called("reset", name)

    def start(self, name: str, *addresses: str) -> None:
        self.domains = [*self.domains, domain(name, *addresses)]

    def _set(self, call: str, name: str, driver: str | None) -> None:
        self._called(call, name)
        address = self._address(name)
        self.functions[address] = replace(self.functions[address], driver=None if call in self.breaks else driver)

    def _called(self, call: str, name: str) -> None:
        self.calls.append((call, self._address(name)))
        error = self.fails(call, self._address(name))
        if error is not None:
            raise error

    def _address(self, name: str) -> str:
        return next(address for address in self.functions if node_name(address) == name)


def failing_at(number: int) -> Callable[[str, str], LanewayError | None]:
    """Fails once: the call of this number, counted from 0."""
    calls = iter(range(number + 1))

    def fails(call: str, address: str) -> LanewayError | None:
        is_due = next(calls, None) == number
        return LanewayError(ErrorCode.HOST_CHANGE_FAILED, f"{call} refused") if is_due else None

    return fails


def failing(*calls: tuple[str, str]) -> Callable[[str, str], LanewayError | None]:
    def fails(call: str, address: str) -> LanewayError | None:
        return LanewayError(ErrorCode.HOST_CHANGE_FAILED, f"{call} refused") if (call, address) in calls else None

    return fails
