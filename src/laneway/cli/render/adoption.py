"""What is recorded of virtual machines that run already."""

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.readiness import problems_block
from laneway.cli.render.screen import Screen, Tone
from laneway.fleet.adoption import Adoptee, Adoption

COLUMNS = (
    Column("CONSUMER"),
    Column("ADDRESS"),
    Column("ATTACH"),
    Column("SEEN BY"),
    Column("OUTCOME", least=32, wraps=True),
)


def adoption_page(adoption: Adoption, screen: Screen, *, applied: bool) -> list[str]:
    """A line for each device of a running VM, what could not be told, and what to do next."""
    blocks = [
        table(COLUMNS, [_row(adoptee, applied=applied) for adoptee in adoption.devices], screen)
        or ["No virtual machine that runs here has a device of this host."],
        problems_block(adoption.running.problems, screen, "Left to a person"),
        [] if applied or adoption.update.is_empty else ["Nothing is changed yet. To record this: laneway adopt --yes"],
    ]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _row(adoptee: Adoptee, *, applied: bool) -> tuple[Cell, ...]:
    if adoptee.refusal is not None:
        outcome = Cell(f"left as it is: {adoptee.refusal.message}", Tone.WAITING)
    elif adoptee.known:
        outcome = Cell("recorded already", Tone.DIM)
    else:
        outcome = Cell("recorded as allocated" if applied else "to be recorded as allocated", Tone.GOOD)
    process = f" ({adoptee.vm.pid})" if adoptee.vm.pid is not None else ""
    return (
        Cell(adoptee.vm.consumer),
        Cell(str(adoptee.address), Tone.HELD),
        Cell(str(adoptee.attach)),
        Cell(f"{adoptee.vm.source}{process}"),
        outcome,
    )
