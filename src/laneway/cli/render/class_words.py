"""What a function is, in words, by its class code (PCI Code and ID Assignment Specification)."""

_BY_SUBCLASS = {
    "0101": "IDE controller",
    "0104": "RAID controller",
    "0106": "SATA controller",
    "0107": "SAS controller",
    "0108": "NVMe controller",
    "0200": "Ethernet controller",
    "0207": "InfiniBand controller",
    "0280": "network controller",
    "0300": "VGA controller",
    "0302": "3D controller",
    "0380": "display controller",
    "0403": "audio device",
    "0600": "host bridge",
    "0601": "ISA bridge",
    "0604": "PCI bridge",
    "0880": "system peripheral",
    "0c03": "USB controller",
    "0c04": "Fibre Channel controller",
    "0c05": "SMBus",
    "1080": "encryption controller",
}
_BY_CLASS = {
    "01": "storage controller",
    "02": "network controller",
    "03": "display controller",
    "04": "multimedia device",
    "05": "memory controller",
    "06": "bridge",
    "07": "communication controller",
    "08": "system peripheral",
    "09": "input device",
    "0c": "serial bus controller",
    "0d": "wireless controller",
    "10": "encryption controller",
    "11": "signal processing controller",
    "12": "processing accelerator",
}


def class_words(class_code: str) -> str | None:
    """The class in words, or None where it has no name here."""
    return _BY_SUBCLASS.get(class_code[:4]) or _BY_CLASS.get(class_code[:2])
