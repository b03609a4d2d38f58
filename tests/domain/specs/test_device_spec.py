"""Which spec a function matches: order, addresses, names, remote-managed devices (C12, C13, C18 to C20)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import at, function, pf, vf
from domain.reading import specs
from laneway.domain.function_facts import has_assignable_domain
from laneway.domain.inventory import DevType, NetDevice, PciFunction, Vpd
from laneway.domain.specs.address_pattern import AddressGlob, AddressRegex
from laneway.domain.specs.device_spec import DeviceSpecs, PciDeviceSpec

PF0 = pf("0000:81:00.0", netdevs=(NetDevice(name="ens1f0"),))
PF1 = pf("0000:81:00.1", netdevs=(NetDevice(name="ens1f1"), NetDevice(name="ens1f1r0")))
VF0 = vf("0000:81:02.0", "0000:81:00.0")
VF1 = vf("0000:81:0a.0", "0000:81:00.1", netdevs=(NetDevice(name="ens1f1v0"),))
PARENTS = {PF0.address: PF0, PF1.address: PF1}


def entries(found: DeviceSpecs, *functions: PciFunction) -> list[int | None]:
    """The entry that admits each function."""
    matched = (found.match(each, PARENTS.get(each.parent_addr or each.address)) for each in functions)
    return [spec.entry if spec else None for spec in matched]


@pytest.mark.parametrize(
    ("content", "admitted"),
    [
        pytest.param({"address": "*"}, [0, 0, 0, 0], id="a star takes all"),
        pytest.param({"vendor_id": "8086"}, [0, 0, 0, 0], id="a vendor takes all of it"),
        pytest.param({"vendor_id": "10de"}, [None] * 4, id="another vendor takes none"),
        pytest.param({"product_id": "154c"}, [None, None, 0, 0], id="a product of any vendor"),
        pytest.param({"address": "0000:81:00.1"}, [None, 0, None, 0], id="a PF's address means its VFs too"),
        pytest.param({"address": "0000:81:0a.0"}, [None, None, None, 0], id="a VF's address means it alone"),
        pytest.param({"address": "0001:81:00.1"}, [None] * 4, id="another domain is another device"),
        pytest.param(
            {"address": "0000:81:00.1", "product_id": "154c"},
            [None, None, None, 0],
            id="a PF's address and its VFs' id",
        ),
        pytest.param({"address": "81:00.1"}, [None, 0, None, None], id="a partial address means no VFs"),
        pytest.param({"address": "*:*:00.*"}, [0, 0, None, None], id="a glob"),
        pytest.param({"address": {"slot": "0[0a]"}}, [0, 0, None, 0], id="regular expressions"),
        pytest.param({"address": {"slot": "00", "function": "1"}}, [None, 0, None, None], id="expressions mean no VFs"),
        pytest.param({"devname": "ens1f1"}, [None, 0, None, 0], id="a PF's interface means its VFs too"),
        pytest.param({"devname": "ens1f1r0"}, [None, 0, None, 0], id="any interface of the PF will do"),
        pytest.param({"devname": "ens1f1v0"}, [None, None, None, 0], id="a VF's interface means it alone"),
        pytest.param({"devname": "ens1f1", "product_id": "1572"}, [None, 0, None, None], id="an interface and an id"),
        pytest.param({"devname": "ens9"}, [None] * 4, id="an interface that is not there"),
    ],
)
def test_what_a_spec_admits(content: dict[str, object], admitted: list[int | None]) -> None:
    """Rules C5, C7, C9, C11 and C12."""
    assert entries(specs(content), PF0, PF1, VF0, VF1) == admitted


@pytest.mark.parametrize(
    ("values", "admitted"),
    [
        pytest.param(
            [{"vendor_id": "8086"}, {"address": "0000:81:00.1"}], [0, 0, 0, 0], id="a general one before an exact one"
        ),
        pytest.param(
            [{"address": "0000:81:00.1"}, {"vendor_id": "8086"}], [1, 0, 1, 0], id="an exact one before a general one"
        ),
        pytest.param(
            [{"devname": "ens1f1"}, {"address": "0000:81:0a.0"}], [None, 0, None, 0], id="a name before an address"
        ),
        pytest.param(
            [{"address": "0000:81:0a.0"}, {"devname": "ens1f1"}], [None, 1, None, 0], id="an address before a name"
        ),
        pytest.param(
            [{"address": "0000:81:00.1", "product_id": "ffff"}, {"address": "0000:81:00.1"}],
            [None, 1, None, 1],
            id="ids that do not fit",
        ),
        pytest.param([], [None] * 4, id="no specs admit nothing"),
    ],
)
def test_the_first_that_matches_counts(values: Sequence[object], admitted: list[int | None]) -> None:
    """Rule C13."""
    assert entries(specs(*values), PF0, PF1, VF0, VF1) == admitted


def test_a_pf_that_is_not_in_the_inventory_is_still_known_by_address() -> None:
    found = specs({"address": "0000:81:00.1"}, {"devname": "ens1f1"})
    assert found.match(VF1, None) is found.specs[0]


def test_bridges_and_domains_beyond_a_guests_are_never_admitted() -> None:
    """Rule C14."""
    bridge = function("0000:00:01.0", class_code="060400")
    far = function("10000:01:00.0")
    for found in (
        specs({"address": "*"}),
        specs({"vendor_id": "8086"}, {"address": "0000:00:01.0"}),
        specs({"address": "00:01.0"}),
    ):
        assert found.match(bridge, None) is None
        assert found.match(far, None) is None


@pytest.mark.parametrize(
    ("own", "pfs", "admitted"),
    [
        ("MT1", None, True),
        (None, "MT2", True),
        ("", "MT2", True),
        (" ", "", False),
        (None, None, False),
        ("x" * 256, None, False),
    ],
    ids=["its own serial", "its PF's", "its own is empty", "both are blank", "no serial", "longer than VPD can hold"],
)
def test_a_remote_managed_device_needs_a_card_serial(own: str | None, pfs: str | None, admitted: bool) -> None:
    """Rules C20 and C30."""
    parent = pf("0000:82:00.0", vpd=Vpd(card_serial_number=pfs))
    child = vf("0000:82:00.3", "0000:82:00.0", vpd=Vpd(card_serial_number=own))
    found = specs({"vendor_id": "8086", "remote_managed": "true"})
    assert (found.match(child, parent) is not None) is admitted


@pytest.mark.parametrize(
    "content", [{"vendor_id": "8086"}, {"address": "0000:82:00.0"}, {"devname": "p0"}, {"address": "*"}], ids=str
)
def test_a_remote_managed_spec_never_admits_a_pf_and_leaves_it_to_the_next(content: dict[str, object]) -> None:
    """Rule C18."""
    parent = pf("0000:82:00.0", vpd=Vpd(card_serial_number="MT1"), netdevs=(NetDevice(name="p0"),))
    found = specs({**content, "remote_managed": True}, {"vendor_id": "8086"})
    assert found.match(parent, None) is found.specs[1]


def test_a_spec_that_is_not_remote_managed_needs_no_serial() -> None:
    """Rules C17 and C20."""
    assert specs({"vendor_id": "8086", "remote_managed": False}).match(VF0, PF0) is not None


def test_a_match_by_exact_address_looks_at_no_other_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    fits_ids = PciDeviceSpec.fits_ids

    def counted(self: PciDeviceSpec, vendor_id: str, product_id: str) -> bool:
        looked_at.append(self.entry)
        return fits_ids(self, vendor_id, product_id)

    monkeypatch.setattr(PciDeviceSpec, "fits_ids", counted)
    found = specs(*({"address": f"0000:{n // 32:02x}:{n % 32:02x}.0"} for n in range(1_000)))
    assert found.match(function("0000:1e:1f.0"), None) is found.specs[0x1E * 32 + 0x1F]
    assert found.match(function("0000:1e:1f.1"), None) is None
    assert looked_at == [0x1E * 32 + 0x1F]


IDS = st.sampled_from(["1572", "154c"])
NAMES = st.sampled_from(["a", "b"])
PLACES = st.one_of(
    st.none(),
    st.builds(
        AddressGlob, *[st.sampled_from([None, 0])] * 2, st.sampled_from([None, 0, 1]), st.sampled_from([None, 0, 1])
    ),
    st.builds(AddressRegex, slot=st.sampled_from([".*", "00", "0[01]"]), function=st.sampled_from([".*", "1"])),
)
SPECS = st.builds(
    lambda product_id, place, devname, remote: (product_id, None if devname else place, devname, remote),
    st.none() | IDS,
    PLACES,
    st.none() | NAMES,
    st.booleans(),
)
SERIALS = st.sampled_from([None, Vpd(), Vpd(card_serial_number="s")])
NETDEVS = st.sampled_from([None, (), (NetDevice(name="a"),), (NetDevice(name="b"),)])


@given(
    st.lists(SPECS, max_size=6),
    IDS,
    st.sampled_from(["0000:00:00.0", "0000:00:01.1", "0001:00:00.1", "10000:00:00.0"]),
    st.sampled_from([DevType.PF, DevType.VF, DevType.PCI]),
    st.sampled_from([None, "020000", "060400"]),
    SERIALS,
    NETDEVS,
    st.booleans(),
)
def test_the_index_finds_what_trying_every_spec_in_order_finds(
    drawn: list[tuple[str | None, AddressGlob | AddressRegex | None, str | None, bool]],
    product_id: str,
    address: str,
    dev_type: DevType,
    class_code: str | None,
    vpd: Vpd | None,
    netdevs: tuple[NetDevice, ...] | None,
    parent_known: bool,
) -> None:
    parent = pf("0000:00:00.0", netdevs=(NetDevice(name="a"),), vpd=Vpd(card_serial_number="p"))
    parent_addr = at("0000:00:00.0") if dev_type is DevType.VF else None
    tried = function(
        address,
        dev_type,
        product_id=product_id,
        class_code=class_code,
        vpd=vpd,
        netdevs=netdevs,
        parent_addr=parent_addr,
    )
    its_parent = parent if parent_addr is not None and parent_known else None
    found = DeviceSpecs(
        tuple(
            PciDeviceSpec(entry=n, product_id=ids, address=place, devname=devname, tags={"remote_managed": remote})
            for n, (ids, place, devname, remote) in enumerate(drawn)
        )
    )
    fitting = [spec for spec in found if spec.fits(tried, its_parent)]
    able = [spec for spec in fitting if spec.can_manage(tried, its_parent)]
    never = tried.is_bridge or not has_assignable_domain(tried)
    assert found.fitting(tried, its_parent) == fitting
    for _ in range(2):
        assert found.match(tried, its_parent) is (None if never or not able else able[0])
