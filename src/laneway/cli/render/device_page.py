"""The page of ``laneway devices``: the functions, how ready the host is, and what to do next."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.cli.render.device_table import device_table
from laneway.cli.render.functions import is_plumbing, summary
from laneway.cli.render.readiness import problems_block, readiness_block
from laneway.cli.render.screen import Screen, Tone
from laneway.cli.render.view import FunctionView, Names
from laneway.domain.inventory import Inventory

if TYPE_CHECKING:
    from laneway.cli.render.first_spec import EmptyConfig


def device_page(
    inventory: Inventory,
    views: Sequence[FunctionView],
    names: Names,
    screen: Screen,
    *,
    as_tree: bool = False,
    every: bool = False,
    empty_config: "EmptyConfig | None" = None,
    notes: int = 0,
) -> list[str]:
    """All lines of the page.

    ``empty_config`` is where a first device spec would go, if there is none; ``notes`` counts what
    ``laneway check`` has to say about the config.
    """
    listed = [view for view in views if every or not is_plumbing(view)]
    if as_tree:
        from laneway.cli.render.device_tree import device_tree

        body = device_tree(listed, inventory.numa_nodes, names, screen, every=every)
    else:
        body = device_table(listed, names, screen, every=every)
    blocks = [
        [_title(inventory, views, screen)],
        body if listed else [],
        _hint(views, listed, screen),
        readiness_block(inventory.platform, inventory.readiness, screen),
        problems_block(inventory.problems, screen),
        _first_steps(views, names, screen, empty_config) if empty_config else [],
        [screen.paint(f"The config deserves a look ({notes} noted): laneway check", Tone.WAITING)] if notes else [],
    ]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _title(inventory: Inventory, views: Sequence[FunctionView], screen: Screen) -> str:
    host = screen.paint(inventory.host or "this host", Tone.STRONG)
    counted = [view for view in views if not is_plumbing(view)]
    total = f"{len(views)} PCI function{'' if len(views) == 1 else 's'}"
    return f"{host}: {total}; {summary(counted)}" if counted else f"{host}: {total}"


def _hint(views: Sequence[FunctionView], listed: Sequence[FunctionView], screen: Screen) -> list[str]:
    hidden = len(views) - len(listed)
    if not hidden:
        return []
    what = "bridge or system peripheral is" if hidden == 1 else "bridges and system peripherals are"
    return [screen.paint(f"{hidden} {what} not listed; --all lists every function.", Tone.DIM)]


def _first_steps(views: Sequence[FunctionView], names: Names, screen: Screen, config: "EmptyConfig") -> list[str]:
    from laneway.cli.render.first_spec import how_to_offer

    return how_to_offer(views, names, screen, config)
