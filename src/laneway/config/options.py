"""The keys of ``laneway.toml`` outside ``[[device_spec]]`` and ``[[alias]]``: one table, which also checks them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from laneway.config.problems import problem, suggestion
from laneway.config.toml_places import TomlPlaces
from laneway.domain.config_entry import shown
from laneway.domain.errors import ConfigProblem, Findings
from laneway.domain.tracking.host_view import IommuGroups

LISTS = ("device_spec", "alias")
"""Arrays of tables, whose entries the domain reads: their keys are not in the table below."""


class Kind(Enum):
    """What a value must be, in words for a person."""

    TEXT = "a text in quotes, not empty and without NUL"
    BOOLEAN = "true or false, without quotes"


@dataclass(frozen=True, slots=True)
class Option:
    """One key. ``choices`` are all values that it may have; none means any of its kind."""

    table: str
    key: str
    kind: Kind = Kind.TEXT
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.table}.{self.key}"

    @property
    def expected(self) -> str:
        """What would be right, for a message."""
        return " or ".join(f'"{choice}"' for choice in self.choices) or self.kind.value

    def accepts(self, value: object) -> bool:
        """Whether the value is of the kind, and one of the choices."""
        if self.kind is Kind.BOOLEAN:
            return isinstance(value, bool)
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            return False
        return not self.choices or value in self.choices


OPTIONS = (
    Option("host", "name"),
    Option("host", "driver"),
    Option("host", "uri"),
    Option("host", "iommu_groups", choices=tuple(IommuGroups)),
    Option("state", "path"),
    Option("placement", "report_in_placement", Kind.BOOLEAN),
    Option("placement", "pci_in_placement", Kind.BOOLEAN),
    Option("placement", "cloud"),
    Option("placement", "root_provider"),
    Option("neutron", "bind_ports", Kind.BOOLEAN),
    Option("neutron", "cloud"),
)

TABLES = tuple(dict.fromkeys(option.table for option in OPTIONS))


@dataclass(frozen=True, slots=True)
class OptionValues:
    """The values that a config gives, by the option's name (``host.driver``)."""

    values: Mapping[str, str | bool]

    def text(self, name: str) -> str | None:
        """The text of an option, None where the config does not give it."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool:
        """Whether an option is true; false where the config does not give it."""
        return self.values.get(name) is True


def read_options(document: Mapping[str, object], findings: Findings, places: TomlPlaces) -> OptionValues:
    """What the document says of the options. Everything unknown or of the wrong kind goes into ``findings``."""
    values: dict[str, str | bool] = {}
    for name, content in document.items():
        if name in TABLES and isinstance(content, dict):
            values |= _read_table(name, content, findings, places)
        elif name in TABLES:
            fault = f"{name} {shown(content)} is not a table"
            findings.errors.append(problem(places.of(name), fault, f"write [{name}]", option=name, value=content))
        elif name not in LISTS:
            findings.errors.append(_unknown_name(name, content, places))
    return OptionValues(values)


def _read_table(
    table: str, content: Mapping[str, object], findings: Findings, places: TomlPlaces
) -> dict[str, str | bool]:
    known = {option.key: option for option in OPTIONS if option.table == table}
    values: dict[str, str | bool] = {}
    for key, value in content.items():
        option = known.get(key)
        if option is None:
            findings.errors.append(_unknown_key(table, key, value, tuple(known), places))
        elif not option.accepts(value):
            fault = f"{key} {shown(value)} in [{table}] is not possible"
            remedy = f"write {option.expected}"
            found = problem(places.of(table, key), fault, remedy, option=option.name, key=key, value=value)
            findings.errors.append(found)
        else:
            assert isinstance(value, str | bool)
            values[option.name] = value
    return values


def _unknown_key(table: str, key: str, value: object, known: tuple[str, ...], places: TomlPlaces) -> ConfigProblem:
    elsewhere = [option.table for option in OPTIONS if option.key == key]
    if elsewhere:
        remedy = f"it belongs in [{elsewhere[0]}]"
    else:
        remedy = suggestion(key, known, f"[{table}] has {', '.join(known)}")
    fault = f"[{table}] has no key {shown(key)}"
    return problem(places.of(table, key), fault, remedy, option=table, key=key, value=value)


def _unknown_name(name: str, content: object, places: TomlPlaces) -> ConfigProblem:
    homes = [option.table for option in OPTIONS if option.key == name]
    names = (*(f"[{table}]" for table in TABLES), *(f"[[{table}]]" for table in LISTS))
    if homes:
        remedy = f"it belongs in [{homes[0]}]"
    else:
        remedy = suggestion(name, (*TABLES, *LISTS), f"a config has {', '.join(names)}")
    kind = "table" if isinstance(content, dict | list) else "key"
    fault = f"there is no {kind} {shown(name)} here"
    return problem(places.of(name), fault, remedy, option=name, value=content)
