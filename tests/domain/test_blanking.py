"""A capture for others names no single card."""

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.blanking import without_identifiers
from laneway.domain.inventory import DevType, HostUse, Inventory, NetDevice, PciFunction, Vpd

MAC = "3c:ec:ef:12:34:56"
NAMED_BY_MAC = "enx3cecef123456"


def inventory(**facts: object) -> Inventory:
    function = PciFunction(
        address=PciAddress.parse("3b:00.0"),
        vendor_id="15b3",
        product_id="1021",
        dev_type=DevType.PF,
        **facts,  # type: ignore[arg-type]
    )
    return Inventory(functions=(function,), host="h1")


FULL = inventory(
    netdevs=(NetDevice(name=NAMED_BY_MAC, mac=MAC, permanent_mac=MAC, up=True), NetDevice(name="ens5")),
    in_use_by=(HostUse(code="default_route", detail=f"{NAMED_BY_MAC} via x"), HostUse(code="boot_console")),
    vpd=Vpd(card_serial_number="SN4711", part_number="MCX7", product_name="A Card", fields={"V3": "SN4711"}),
    device_serial_number="b4-96-91-ff-ff-aa-bb-c0",
)


def test_no_serial_number_and_no_mac_address_is_left() -> None:
    text = repr(without_identifiers(FULL)).lower()
    for secret in ("sn4711", MAC, MAC.replace(":", ""), "b4-96-91"):
        assert secret not in text


def test_everything_else_is_as_it_was() -> None:
    blanked = without_identifiers(FULL).functions[0]
    assert blanked.netdevs == (NetDevice(name="enx000000000000", up=True), NetDevice(name="ens5"))
    assert blanked.in_use_by == (
        HostUse(code="default_route", detail="enx000000000000 via x"),
        HostUse(code="boot_console"),
    )
    assert blanked.vpd == Vpd(part_number="MCX7", product_name="A Card")
    assert (str(blanked.address), blanked.vendor_id, blanked.dev_type) == ("0000:3b:00.0", "15b3", DevType.PF)


@pytest.mark.parametrize("facts", [{}, {"netdevs": (), "in_use_by": ()}], ids=["nothing known", "none there"])
def test_what_is_not_known_stays_not_known(facts: dict[str, object]) -> None:
    assert without_identifiers(inventory(**facts)) == inventory(**facts)
