"""Messages as the kernel sends them (lib/kobject_uevent.c)."""


def message(action: str, path: str, subsystem: str, **more: str) -> bytes:
    values = {"ACTION": action, "DEVPATH": path, "SUBSYSTEM": subsystem, **more, "SEQNUM": "4711"}
    parts = [f"{action}@{path}", *(f"{key}={value}" for key, value in values.items())]
    return b"".join(part.encode() + b"\0" for part in parts)
