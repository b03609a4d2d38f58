"""What is taken over from nova, and what is inconsistent there."""

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.paragraphs import notes
from laneway.cli.render.screen import Screen, Tone
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_import import ImportedDevice, NovaImport

COLUMNS = (
    Column("CONSUMER"),
    Column("ADDRESS"),
    Column("ATTACH"),
    Column("FOR", least=16),
    Column("OUTCOME", least=32, wraps=True),
)

_TITLES = (
    (Severity.ERROR, "Left to a person", Tone.BAD),
    (Severity.WARNING, "To be looked at", Tone.WAITING),
    (Severity.NOTE, "Noted", Tone.DIM),
)


def import_page(imported: NovaImport, screen: Screen, *, applied: bool) -> list[str]:
    """A line for each device with an owner, the findings by severity, and what to do next."""
    name = imported.node.name or imported.node.host or imported.node.id
    blocks = [
        table(COLUMNS, [_row(device, applied=applied) for device in imported.devices], screen)
        or [f"nova has no device of {name} with an owner."],
        *(
            notes(title, [_told(one) for one in imported.findings if one.severity is severity], tone, screen)
            for severity, title, tone in _TITLES
        ),
        [] if applied else ["Nothing is changed yet. To record this, leave --dry-run out"],
    ]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _row(device: ImportedDevice, *, applied: bool) -> tuple[Cell, ...]:
    if device.refusal is not None:
        outcome = Cell("left as it is: see below", Tone.WAITING)
    elif device.known:
        outcome = Cell("recorded already", Tone.DIM)
    else:
        outcome = Cell(f"{'recorded' if applied else 'to be recorded'} as {device.status}", Tone.GOOD)
    return (
        Cell(device.consumer),
        Cell(str(device.record.address), Tone.HELD),
        Cell(str(device.attach)),
        Cell(_origin(device)),
        outcome,
    )


def _origin(device: ImportedDevice) -> str:
    request = device.request
    if request is None:
        return ""
    return f"port {request.requester}" if request.requester is not None else f"alias {request.alias}"


def _told(finding: Finding) -> str:
    return f"{finding.message} ({finding.code})"
