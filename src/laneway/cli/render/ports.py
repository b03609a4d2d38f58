"""The ports of a host: how they shall stand, and how they do."""

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.screen import Screen, Tone
from laneway.fleet.port_standings import PortStanding, PortStandings
from laneway.interfaces.network import KeptPorts, is_plugged

COLUMNS = (
    Column("PORT"),
    Column("CONSUMER", least=16),
    Column("ADDRESS"),
    Column("SHALL BE"),
    Column("IS"),
)
AGAIN = "It is tried again by the agent at each update, and by `laneway ports --repair`."


def ports_page(standings: PortStandings, screen: Screen) -> list[str]:
    """A line for each port, and below them what is wrong."""
    if not standings.ports:
        return ["No port has a device of this host."]
    lines = table(COLUMNS, [_row(port, standings) for port in standings.ports], screen)
    problems = [standings.error] if standings.error else [port.error for port in standings.ports if port.error]
    told = [screen.paint(" ".join(error.message.split()), Tone.BAD) for error in problems]
    return [*lines, "", *told] if told else lines


def done_lines(kept: KeptPorts, screen: Screen) -> list[str]:
    """What was done to ports."""
    changed = (port for port in kept.ports if port.done)
    return [screen.paint(f"Port {port.port} of {port.consumer}: {', '.join(port.done)}.") for port in changed]


def failed_lines(kept: KeptPorts, screen: Screen) -> list[str]:
    """What is not as it should be, and that it will be."""
    told = [screen.paint(f"note: {' '.join(error.message.split())}", Tone.WAITING) for error in kept.errors]
    return [*told, screen.paint(AGAIN, Tone.DIM)] if told else []


def _row(port: PortStanding, standings: PortStandings) -> tuple[Cell, ...]:
    known = port.wish.device.address if port.wish else port.record.address if port.record else None
    tone = None if port.stands is None else Tone.GOOD if port.stands else Tone.BAD if port.error else Tone.WAITING
    return (
        Cell(port.port),
        Cell(port.consumer or "-"),
        Cell("-" if known is None else str(known)),
        Cell(port.wished),
        Cell(_there(port, standings), tone),
    )


def _there(port: PortStanding, standings: PortStandings) -> str:
    if standings.error is not None:
        return "not known"
    there = port.there
    if there is None:
        return "no port"
    if port.wished == "standby" and port.stands:
        return "standby"
    if there.host is None:
        return "free" if there.device_id is None else f"free, of {there.device_id}"
    where = "" if there.host == standings.host else f" on {there.host}"
    return f"bound{where}, {there.vif_type}" if is_plugged(there.vif_type) else f"not bound{where}, {there.vif_type}"
