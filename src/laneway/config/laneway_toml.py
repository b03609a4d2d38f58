"""``laneway.toml`` to ``Config``."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from laneway.config.config import AUTO_DRIVER, Config
from laneway.config.options import OptionValues, read_options
from laneway.config.problems import problem, unusable
from laneway.config.surroundings import Surroundings
from laneway.config.toml_places import TomlPlaces
from laneway.domain.errors import Findings
from laneway.domain.requests.alias import parse_aliases
from laneway.domain.specs.device_spec_parser import Dialect, parse_device_specs
from laneway.domain.tracking.host_view import IommuGroups

_SYNTAX_ERROR = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


def read_laneway_toml(path: Path, text: str, surroundings: Surroundings) -> Config:
    """The config that the text of the file at ``path`` says.

    Raises ConfigError with everything that is wrong in it; a text that is no TOML at all has one
    error, with line and column.
    """
    document = _parse(path, text)
    places = TomlPlaces(path, text)
    findings = Findings()
    values = read_options(document, findings, places)
    report_in_placement = values.flag("placement.report_in_placement")
    pci_in_placement = values.flag("placement.pci_in_placement")
    entries = _entries(document, "device_spec", findings, places)
    device_specs = parse_device_specs(
        entries,
        findings,
        dialect=Dialect.LANEWAY,
        report_in_placement=report_in_placement,
        places=[places.of("device_spec", index) for index in range(len(entries))],
    )
    entries = _entries(document, "alias", findings, places)
    aliases = parse_aliases(
        entries,
        findings,
        pci_in_placement=pci_in_placement,
        places=[places.of("alias", index) for index in range(len(entries))],
    )
    findings.errors = places.told(findings.errors)
    findings.raise_errors()
    return Config(
        device_specs=device_specs,
        aliases=aliases,
        host=values.text("host.name"),
        driver=values.text("host.driver") or AUTO_DRIVER,
        uri=values.text("host.uri"),
        iommu_groups=IommuGroups(values.text("host.iommu_groups") or IommuGroups.ENFORCE),
        state_path=_state_path(values, path, surroundings),
        report_in_placement=report_in_placement,
        pci_in_placement=pci_in_placement,
        cloud=values.text("placement.cloud"),
        root_provider=values.text("placement.root_provider"),
        bind_ports=values.flag("neutron.bind_ports"),
        neutron_cloud=values.text("neutron.cloud"),
        sources=(path,),
        warnings=tuple(places.told(findings.warnings)),
    )


def read_state_path(path: Path, text: str, surroundings: Surroundings) -> Path:
    """Where the state stands, also by a text that has errors: as far as it can be read. Raises nothing."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        document = _lines_before(_place_of(error, text)[1], text)
    except (ValueError, RecursionError):
        document = {}
    table = document.get("state")
    named = table.get("path") if isinstance(table, dict) else None
    if isinstance(named, str) and named.strip() and "\0" not in named:
        return surroundings.resolve(named, beside=path)
    return surroundings.state_path


def _lines_before(line: int, text: str) -> dict[str, object]:
    """What the lines before this one say; nothing where they are no TOML either."""
    try:
        return tomllib.loads("".join(text.splitlines(keepends=True)[: line - 1]))
    except (ValueError, RecursionError):
        return {}


def _parse(path: Path, text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fault, line, column = _place_of(error, text)
        raise unusable(f"{path}:{line}:{column}", f"this is not TOML: {fault}", "mend this line") from error
    except RecursionError as error:
        raise unusable(str(path), "arrays are nested too deeply", "write plain tables") from error
    except ValueError as error:  # Python's own bound, which no setting comes near
        raise unusable(str(path), "a number has too many digits", "write a number that the key can have") from error


def _place_of(error: tomllib.TOMLDecodeError, text: str) -> tuple[str, int, int]:
    """What the parser found wrong, with line and column, which it only tells within its message."""
    found = _SYNTAX_ERROR.fullmatch(str(error))
    assert found is not None
    if found[2] is None:
        return found[1], text.count("\n") + 1, len(text) - text.rfind("\n")
    return found[1], int(found[2]), int(found[3])


def _entries(document: Mapping[str, object], option: str, findings: Findings, places: TomlPlaces) -> list[object]:
    """The elements of an array of tables, whatever they are: the domain reads them."""
    content = document.get(option, [])
    if isinstance(content, list):
        return content
    fault = f"{option} is not an array of tables"
    remedy = f"write [[{option}]], with two brackets, and its keys below it"
    findings.errors.append(problem(places.of(option), fault, remedy, option=option, value=content))
    return []


def _state_path(values: OptionValues, path: Path, surroundings: Surroundings) -> Path:
    """As the config says, a relative path from the config's own folder; else the usual folder."""
    named = values.text("state.path")
    if named is None:
        return surroundings.state_path
    return surroundings.resolve(named, beside=path)
