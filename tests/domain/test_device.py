"""Tracked devices as values."""

from domain.hosts import function
from laneway.domain.device import ExtraInfo, PciDevice


def test_a_device_has_novas_label() -> None:
    """Rule C26."""
    device = PciDevice(function=function("0000:3b:00.0", vendor_id="10de", product_id="20b0"), extra_info=ExtraInfo())
    assert device.label == "label_10de_20b0"
