"""``nova.conf`` to ``Config``: nova's own options, read as nova reads them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oslo_config import cfg

from laneway.config.config import AUTO_DRIVER, Config
from laneway.config.nova_lines import Name, NovaLines
from laneway.config.problems import problem, suggestion, unusable
from laneway.config.surroundings import Surroundings
from laneway.config.text_file import is_folder, read_text
from laneway.domain.errors import ConfigError, Findings
from laneway.domain.requests.alias import parse_aliases
from laneway.domain.specs.device_spec_parser import Dialect, parse_device_specs
from laneway.domain.tracking.host_view import IommuGroups

OWN_SECTION = "laneway"
"""A section that nova ignores, for what nova has no option for."""


@dataclass(frozen=True, slots=True)
class NovaOption:
    """An option of a ``nova.conf``, with the old names that nova still accepts (rule C1)."""

    section: str
    key: str
    old_names: tuple[Name, ...] = ()

    @property
    def names(self) -> tuple[Name, ...]:
        return ((self.section, self.key), *self.old_names)

    @property
    def deprecated(self) -> list[cfg.DeprecatedOpt]:
        """The old names as oslo.config wants them."""
        return [cfg.DeprecatedOpt(key, group=section) for section, key in self.old_names]


DEVICE_SPEC = NovaOption(
    "pci", "device_spec", (("pci", "passthrough_whitelist"), ("DEFAULT", "pci_passthrough_whitelist"))
)
ALIAS = NovaOption("pci", "alias", (("DEFAULT", "pci_alias"),))
REPORT_IN_PLACEMENT = NovaOption("pci", "report_in_placement")
PCI_IN_PLACEMENT = NovaOption("filter_scheduler", "pci_in_placement")
HOST = NovaOption("DEFAULT", "host")
DRIVER = NovaOption(OWN_SECTION, "driver")
URI = NovaOption(OWN_SECTION, "uri")
IOMMU_GROUPS = NovaOption(OWN_SECTION, "iommu_groups")
STATE_PATH = NovaOption(OWN_SECTION, "state_path")
ROOT_PROVIDER = NovaOption(OWN_SECTION, "root_provider")
BIND_PORTS = NovaOption(OWN_SECTION, "bind_ports")

NOVA_OPTIONS = (
    *(DEVICE_SPEC, ALIAS, REPORT_IN_PLACEMENT, PCI_IN_PLACEMENT, HOST),
    *(DRIVER, URI, IOMMU_GROUPS, STATE_PATH, ROOT_PROVIDER, BIND_PORTS),
)

_OF_PCI = (DEVICE_SPEC, ALIAS, REPORT_IN_PLACEMENT, PCI_IN_PLACEMENT)
"""The options of nova's PCI code."""


def read_nova_conf(paths: Sequence[Path], surroundings: Surroundings) -> Config:
    """The config that nova's files say; of a folder all ``*.conf`` in it, in the order of their names.

    IOMMU groups are ignored, as nova does, unless ``[laneway]iommu_groups`` says otherwise.
    Raises ConfigError with everything that is wrong.
    """
    texts, findings = _read_texts(paths)
    lines = NovaLines(texts)
    findings.errors += lines.problems
    reader = _Reader(None if findings.errors else _read_files(paths), lines, findings)
    reader.report_old_names()
    reader.report_unknown_keys()
    reader.report_ignored()
    report_in_placement = reader.boolean(REPORT_IN_PLACEMENT)
    pci_in_placement = reader.boolean(PCI_IN_PLACEMENT)
    values, places = reader.entries(DEVICE_SPEC)
    device_specs = parse_device_specs(
        values, findings, dialect=Dialect.NOVA, report_in_placement=report_in_placement, places=places
    )
    values, places = reader.entries(ALIAS)
    aliases = parse_aliases(values, findings, pci_in_placement=pci_in_placement, places=places)
    driver = reader.text(DRIVER) or AUTO_DRIVER
    uri = reader.text(URI)
    iommu_groups = reader.text(IOMMU_GROUPS) or IommuGroups.IGNORE
    state_path = reader.text(STATE_PATH)
    root_provider = reader.text(ROOT_PROVIDER)
    bind_ports = reader.boolean(BIND_PORTS)
    if report_in_placement:
        reader.report_missing_access(REPORT_IN_PLACEMENT, "placement")
    if bind_ports:
        reader.report_missing_access(BIND_PORTS, "neutron")
    host = reader.text(HOST)
    findings.raise_errors()
    return Config(
        device_specs=device_specs,
        aliases=aliases,
        host=host,
        driver=driver,
        uri=uri,
        iommu_groups=IommuGroups(iommu_groups),
        state_path=surroundings.resolve(state_path, beside=paths[0]) if state_path else surroundings.state_path,
        report_in_placement=report_in_placement,
        pci_in_placement=pci_in_placement,
        root_provider=root_provider,
        bind_ports=bind_ports,
        sources=tuple(texts),
        warnings=tuple(findings.warnings),
    )


def read_state_path(paths: Sequence[Path], surroundings: Surroundings) -> Path:
    """Where the state stands, also by files that have errors: as far as they can be read.

    Raises ConfigError where a file cannot be read at all.
    """
    texts, findings = _read_texts(paths)
    findings.raise_errors()
    lines = NovaLines(texts)
    named = _Reader(None if lines.problems else _read_files(paths), lines, findings).text(STATE_PATH)
    return surroundings.resolve(named, beside=paths[0]) if named else surroundings.state_path


def _files_of(path: Path) -> list[Path]:
    return sorted(path.glob("*.conf")) if is_folder(path) else [path]


def _read_texts(paths: Sequence[Path]) -> tuple[dict[Path, str], Findings]:
    """The texts of all files, and what is wrong with those that cannot be read."""
    texts: dict[Path, str] = {}
    findings = Findings()
    for file in (file for path in paths for file in _files_of(path)):
        try:
            texts[file] = _text_of(file)
        except ConfigError as error:
            findings.errors += error.problems
    return texts, findings


def _text_of(file: Path) -> str:
    text = read_text(file, encoding="utf-8")
    if text is None:
        raise unusable(str(file), "there is no such file", "name a nova.conf that exists")
    if text.startswith("\ufeff"):
        fault = "it begins with a byte order mark, which oslo.config does not read"
        raise unusable(f"{file}:1", fault, "save it as UTF-8 without one")
    return text


def _read_files(paths: Sequence[Path]) -> cfg.ConfigOpts:
    """The options of all files; values are converted when they are asked for."""
    conf = cfg.ConfigOpts()
    for option in (DEVICE_SPEC, ALIAS):
        conf.register_opt(cfg.MultiStrOpt(option.key, default=[], deprecated_opts=option.deprecated), option.section)
    for option in (REPORT_IN_PLACEMENT, PCI_IN_PLACEMENT, BIND_PORTS):
        conf.register_opt(cfg.BoolOpt(option.key, default=False), option.section)
    for option in (HOST, DRIVER, URI, STATE_PATH, ROOT_PROVIDER):
        conf.register_opt(cfg.StrOpt(option.key), option.section)
    # Once more, in no section: that is where oslo.config looks for what a value names as $host.
    conf.register_opt(cfg.StrOpt(HOST.key))
    conf.register_opt(cfg.StrOpt(IOMMU_GROUPS.key, choices=list(IommuGroups)), IOMMU_GROUPS.section)
    # Without a handler Python prints what oslo.config logs of old names, which are reported with their places.
    cfg.LOG.addHandler(logging.NullHandler())
    arguments = [f"--config-{'dir' if is_folder(path) else 'file'}={path}" for path in paths]
    conf(arguments, default_config_files=[], default_config_dirs=[], use_env=False)
    return conf


class _Reader:
    """Reads options one by one; what is wrong goes into ``findings``."""

    def __init__(self, conf: cfg.ConfigOpts | None, lines: NovaLines, findings: Findings) -> None:
        """``conf`` is None where oslo.config cannot read the files: then values are as they are written."""
        self._conf = conf
        self._lines = lines
        self.findings = findings

    def entries(self, option: NovaOption) -> tuple[list[object], list[str] | None]:
        """All values of a multi-valued option, with the place of each."""
        value = self._value(option)
        written = self._lines.assignments_of(option.names)
        if isinstance(value, list):
            places = [found.place for found in written]
            return value, places if len(places) == len(value) else None
        # An error is reported already; what is wrong with the entries that it is not about is told, too.
        whole = [found for found in written if "$" not in found.value]
        return [found.value for found in whole], [found.place for found in whole]

    def boolean(self, option: NovaOption) -> bool:
        """Whether the option is true; false where it is not given."""
        return self._value(option) is True

    def text(self, option: NovaOption) -> str | None:
        """The option's value; None where it is not given, or empty."""
        value = self._value(option)
        return value if isinstance(value, str) and value else None

    def report_old_names(self) -> None:
        """Warns of every value that stands under an old name."""
        for option in NOVA_OPTIONS:
            for section, key in option.old_names:
                for found in self._lines.assignments_of([(section, key)]):
                    fault = f"[{section}]{key} is an old name"
                    remedy = f"write [{option.section}]{option.key}"
                    warning = problem(found.place, fault, remedy, option=option.key, key=key, code="deprecated_name")
                    self.findings.warnings.append(warning)

    def report_unknown_keys(self) -> None:
        """Reports what stands in Laneway's own section and is no option; nova's sections hold far more than ours."""
        known = [option.key for option in NOVA_OPTIONS if option.section == OWN_SECTION]
        for found in self._lines:
            section, key = found.name
            if section == OWN_SECTION and key not in known:
                fault = f'[{OWN_SECTION}] has no option "{key}"'
                remedy = suggestion(key, known, f"it has {', '.join(known)}")
                self.findings.errors.append(problem(found.place, fault, remedy, option=OWN_SECTION, key=key))

    def report_ignored(self) -> None:
        """Warns of what is meant for nova's PCI code and stands where nova does not look: it says nothing of that."""
        read = {name: option for option in _OF_PCI for name in option.names}
        known = sorted(key for section, key in read if section == DEVICE_SPEC.section)
        meant = {key: option for (_, key), option in read.items()}
        for found in self._lines:
            section, key = found.name
            if found.name in read:
                continue
            if key in meant and key != ALIAS.key:
                fault = f"[{section}]{key} is where nova does not look for it"
                remedy = f"write [{meant[key].section}]{meant[key].key}"
            elif section == DEVICE_SPEC.section:
                fault = f'[{section}] has no option "{key}", so nova ignores it'
                remedy = suggestion(key, known, f"it has {', '.join(known)}")
            else:
                continue
            warning = problem(found.place, fault, remedy, option=key, key=key, code="ignored_key")
            self.findings.warnings.append(warning)

    def report_missing_access(self, option: NovaOption, service: str) -> None:
        """Warns where an option is on that needs a service, and nothing says how to get in there."""
        if any(found.name in ((service, "auth_type"), (service, "auth_section")) for found in self._lines):
            return
        (*_, found) = self._lines.assignments_of(option.names)
        name = f"[{option.section}]{option.key}"
        fault = f"{name} is on, and [{service}]auth_type is not given, so {service} lets nobody in"
        remedy = f"write the section [{service}] as nova has it, or name the file in which it stands, too"
        warning = problem(found.place, fault, remedy, option=option.key, key=option.key, code="access_missing")
        self.findings.warnings.append(warning)

    def _value(self, option: NovaOption) -> object:
        if self._conf is None:
            written = self._lines.assignments_of(option.names)
            return written[-1].value if written and option not in (DEVICE_SPEC, ALIAS) else None
        try:
            value: object = self._conf[option.section][option.key]
        except cfg.NoSuchOptError as error:
            fault = f"names ${error.opt_name}, an option that Laneway does not read"
            self._report(option, fault, "write the value itself, or $$ for a dollar sign", names=error.opt_name)
        except cfg.ConfigFileValueError as error:
            self._report(option, f"is not possible: {str(error).rpartition('is not valid: ')[2]}", "correct it")
        else:
            return value
        return None

    def _report(self, option: NovaOption, fault: str, remedy: str, *, names: str = "") -> None:
        """Reports the option at the last value that holds ``names``."""
        found = [found for found in self._lines.assignments_of(option.names) if names in found.value][-1]
        name = f"[{option.section}]{option.key}"
        self.findings.errors.append(
            problem(found.place, f"{name} {fault}", remedy, option=option.key, value=found.value)
        )
