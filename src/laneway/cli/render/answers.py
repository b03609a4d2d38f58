"""What a decision led to, and what to do next."""

from collections.abc import Iterable, Mapping, Sequence

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.functions import ids, what_it_is
from laneway.cli.render.screen import Screen, Tone
from laneway.cli.render.view import Names
from laneway.cli.shell_words import command_line
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Binding, Status
from laneway.domain.inventory import PciFunction
from laneway.fleet.control_plane import Outcome

CHOICE_COLUMNS = (
    Column("REQUEST"),
    Column("ADDRESS"),
    Column("ID", spare=3),
    Column("DEVICE", least=24),
    Column("NUMA", right=True, spare=2),
    Column("GROUP", right=True, spare=1),
)


def claim_answer(outcome: Outcome, named: str, claim: str, names: Names, screen: Screen) -> list[str]:
    """The devices that the consumer of this name has now, and the next steps."""
    already = " already" if outcome.repeated else ""
    consumer = quoted(named)
    steps = [(f"laneway allocate {consumer}", "the VM is to run with them")]
    if _are_taken_by_us(outcome):
        steps.append((f"laneway prepare {consumer}", "take them from the host's drivers"))
    steps.append((f"laneway hostdev {consumer} --format {_usual_format(outcome)}", "what goes into its definition"))
    return [
        screen.paint(f"{named} has{already} claimed, under the id {claim}:", Tone.GOOD),
        "",
        *_choice(outcome, names, screen),
        "",
        "Next:",
        *_commands(steps, screen),
    ]


def check_answer(outcome: Outcome, names: Names, screen: Screen) -> list[str]:
    """What a claim would give."""
    return [screen.paint("Yes, this can be claimed:", Tone.GOOD), "", *_choice(outcome, names, screen)]


def changed_answer(verb: str, outcome: Outcome, names: Names, screen: Screen) -> list[str]:
    """The devices that a decision changed, such as "Allocated: ..."; or that there were none."""
    if not outcome.changed:
        return [f"Nothing to do: there is nothing to be {verb}."]
    rows = [_row("", function, names) for function in _functions(outcome, sorted(outcome.changed))]
    return [screen.paint(f"{verb.capitalize()}:", Tone.GOOD), "", *table(CHOICE_COLUMNS, rows, screen)]


def freed_answer(outcome: Outcome, names: Names, screen: Screen) -> list[str]:
    """The devices that are freed, and what has to happen to some of them before others can claim them."""
    lines = changed_answer("freed", outcome, names, screen)
    held = outcome.tracker.view.held
    statuses = {held[address].status for address in outcome.changed if address in held}
    if Status.RELEASING in statuses:
        lines += ["", "Next: `laneway release` gives the host back what was prepared; an agent does so by itself."]
    if Status.DIRTY in statuses:
        lines += [
            "",
            "Next: `laneway clean` makes them fit for others; an agent does so where their device spec says how.",
        ]
    return lines


def _usual_format(outcome: Outcome) -> str:
    """The format of the hypervisor that most hosts of this system have."""
    system = outcome.tracker.view.report.inventory.os
    return "hyperv" if system is not None and system.family == "windows" else "libvirt"


def quoted(consumer: str) -> str:
    """The consumer as a word of a shell."""
    return command_line([consumer])


def _choice(outcome: Outcome, names: Names, screen: Screen) -> list[str]:
    rows = [
        _row(name if number == 0 else "", function, names)
        for name, addresses in (outcome.devices or {}).items()
        for number, function in enumerate(_functions(outcome, addresses))
    ]
    lines = table(CHOICE_COLUMNS, rows, screen)
    if outcome.proven_best is False:
        lines += ["", "There may be a better choice: the search ended at its bound before that was known."]
    return lines


def _are_taken_by_us(outcome: Outcome) -> bool:
    """Whether one of the chosen devices is for ``laneway prepare``, not for libvirt or the operator."""
    held = outcome.tracker.view.held
    chosen = (
        held[address] for addresses in (outcome.devices or {}).values() for address in addresses if address in held
    )
    return any(one.attach is Attach.VFIO and one.extra_info.binding is Binding.LANEWAY for one in chosen)


def _functions(outcome: Outcome, addresses: Iterable[PciAddress]) -> list[PciFunction]:
    inventory: Mapping[PciAddress, PciFunction] = outcome.tracker.view.report.inventory.by_address
    return [inventory[address] for address in addresses if address in inventory]


def _row(name: str, function: PciFunction, names: Names) -> tuple[Cell, ...]:
    return (
        Cell(name, Tone.STRONG),
        Cell(str(function.address), Tone.HELD),
        Cell(ids(function)),
        Cell(what_it_is(function, names)),
        Cell("-" if function.numa_node is None else str(function.numa_node)),
        Cell("-" if function.iommu_group is None else str(function.iommu_group)),
    )


def _commands(commands: Sequence[tuple[str, str]], screen: Screen) -> list[str]:
    width = max(len(line) for line, _ in commands)
    return [f"  {screen.paint(line.ljust(width))}  {screen.paint(purpose, Tone.DIM)}" for line, purpose in commands]
