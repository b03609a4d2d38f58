"""docs/drivers.md has every fact, and says of every driver whether it reports it."""

import tomllib
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from laneway.domain.inventory import Inventory, PciFunction
from laneway.hosts.registry import GROUP, CaptureReader
from laneway.interfaces.host_driver import HostDriver
from laneway.interfaces.running_vms import VmObservingHostDriver

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/drivers.md").read_text("utf-8")
ENTRY_POINTS = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"][GROUP]
REQUIRED = {"address", "vendor_id", "product_id", "dev_type"}
NULL = "null"


def table(title: str) -> dict[str, dict[str, str]]:
    """The table with this title: rows by their first cell, cells by the title of the column."""
    lines = iter(PAGE.splitlines())
    head = next(line for line in lines if line.startswith(f"| {title} |"))
    columns = [cell.strip("` ") for cell in head.split("|")[1:-1]]
    rows = {}
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        rows[cells[0].strip("`")] = dict(zip(columns[1:], cells[1:], strict=True))
    return rows


def made(driver: str) -> HostDriver:
    module, _, name = ENTRY_POINTS[driver].partition(":")
    factory = getattr(import_module(module), name)()
    found: HostDriver = factory.reading(PROJECT) if isinstance(factory, CaptureReader) else factory()
    return found


FACTS = table("fact of a function")


def test_the_table_has_every_fact_of_a_function_once() -> None:
    assert sorted(FACTS) == sorted(field.name for field in fields(PciFunction))


def test_the_other_table_has_every_fact_of_a_host() -> None:
    about_the_document = {"schema", "driver", "functions", "problems"}
    assert set(table("fact of the host")) == {field.name for field in fields(Inventory)} - about_the_document


@pytest.mark.parametrize("driver", ENTRY_POINTS)
def test_each_driver_reports_what_the_table_says(driver: str) -> None:
    said = {fact for fact, by_driver in FACTS.items() if by_driver[driver] != NULL}
    assert said == made(driver).describe().facts | REQUIRED


@pytest.mark.parametrize("driver", ENTRY_POINTS)
def test_the_first_table_has_what_each_driver_can_do_besides(driver: str) -> None:
    row = table("driver")[driver]
    assert row["hot plug"].startswith("no") is not hasattr(made(driver), "watch")
    assert row["running VMs for `adopt"].startswith("no") is not isinstance(made(driver), VmObservingHostDriver)
