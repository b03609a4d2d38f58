"""Why a function is not admitted: by code, and in words that name the nearest spec."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import function, pf, vf
from domain.reading import specs
from laneway.domain.inventory import DevType, NetDevice, PciFunction, Vpd
from laneway.domain.specs.admission import why_not
from laneway.domain.specs.device_spec import DeviceSpecs

PLAIN = function("0000:3b:00.0", product_id="1572")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param([], "there is no device spec", id="without specs"),
        pytest.param(
            [{"vendor_id": "10de"}],
            "no device spec matches; the nearest is entry 0: vendor_id is 8086, not 10de",
            id="another vendor",
        ),
        pytest.param(
            [
                {"vendor_id": "10de", "product_id": "1572"},
                {"vendor_id": "8086", "product_id": "1572", "address": "0000:5e:00.0"},
            ],
            "no device spec matches; the nearest is entry 1: address is 0000:3b:00.0, not 0000:5e:00.0",
            id="the one whose ids agree is nearer",
        ),
        pytest.param(
            [
                {"vendor_id": "8086", "address": {"bus": "5."}},
                {"address": "0000:3b:00.0", "vendor_id": "10de", "product_id": "20b0"},
            ],
            "no device spec matches; the nearest is entry 1: vendor_id is 8086, not 10de, product_id is 1572, not 20b0",
            id="the one that names its address is nearest",
        ),
        pytest.param(
            [{"vendor_id": "8086", "address": {"bus": "5."}}],
            "no device spec matches; the nearest is entry 0: address is 0000:3b:00.0, not bus ~ 5.",
            id="regular expressions",
        ),
        pytest.param(
            [{"devname": "ens1"}],
            "no device spec matches; the nearest is entry 0: devname is none, not ens1",
            id="no interface",
        ),
    ],
)
def test_what_is_said_where_no_spec_matches(values: list[object], message: str) -> None:
    (refusal,) = why_not(PLAIN, None, specs(*values))
    assert (refusal.code, refusal.message) == ("no_spec_matches", message)


def test_the_interfaces_that_a_function_and_its_pf_have_are_named() -> None:
    parent = pf("0000:81:00.0", netdevs=(NetDevice(name="ens1"),))
    child = vf("0000:81:02.0", "0000:81:00.0", netdevs=(NetDevice(name="ens1v0"),))
    (refusal,) = why_not(child, parent, specs({"devname": "ens2"}))
    assert refusal.message.endswith("devname is ens1v0 and ens1, not ens2")


@pytest.mark.parametrize(
    ("refused", "codes"),
    [
        pytest.param(function("10000:01:00.0"), ["domain_too_large"], id="a domain of 20 bits"),
        pytest.param(function("0000:00:01.0", class_code="060400"), ["bridge"], id="a bridge"),
        pytest.param(function("10000:00:01.0", class_code="060400"), ["domain_too_large", "bridge"], id="both"),
        pytest.param(pf("0000:82:00.0", vpd=Vpd(card_serial_number="s")), ["remote_managed_pf"], id="a PF"),
        pytest.param(vf("0000:82:00.3", "0000:82:00.0"), ["remote_managed_no_serial"], id="a VF without a serial"),
        pytest.param(function("0000:83:00.0"), ["remote_managed_no_serial"], id="a plain function without a serial"),
        pytest.param(vf("0000:82:00.3", "0000:82:00.0", vpd=Vpd(card_serial_number="s")), [], id="an admitted VF"),
    ],
)
def test_the_codes_of_refusals(refused: PciFunction, codes: list[str]) -> None:
    refusals = why_not(refused, None, specs({"address": "*", "remote_managed": True}))
    assert [refusal.code for refusal in refusals] == codes


def test_every_spec_that_fits_but_may_not_admit_is_named() -> None:
    found = specs(
        {"vendor_id": "8086", "remote_managed": True}, {"address": "*", "remote_managed": True}, {"vendor_id": "10de"}
    )
    refusals = why_not(vf("0000:82:00.3", "0000:82:00.0"), None, found)
    assert [refusal.message for refusal in refusals] == [
        f"device_spec entry {entry} is remote_managed, and neither its VPD nor its PF's has a card serial number"
        for entry in (0, 1)
    ]


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "vendor_id": st.sampled_from(["8086", "10de"]),
                "product_id": st.sampled_from(["1572", "154c"]),
                "address": st.sampled_from(["0000:3b:00.0", "*:3b:*.*", "*", "0000:5e:00.0"]),
                "remote_managed": st.booleans(),
            },
        ).filter(lambda content: set(content) > {"remote_managed"} or (content and "remote_managed" not in content)),
        max_size=4,
    ),
    st.sampled_from(["0000:3b:00.0", "0000:5e:00.0", "10000:3b:00.0"]),
    st.sampled_from([DevType.PF, DevType.VF, DevType.PCI]),
)
def test_there_are_reasons_exactly_where_no_spec_admits(values: list[object], address: str, dev_type: DevType) -> None:
    found: DeviceSpecs = specs(*values)
    tried = function(address, dev_type)
    assert bool(why_not(tried, None, found)) is (found.match(tried, None) is None)
