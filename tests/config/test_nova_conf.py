"""nova.conf as it is: multi-valued options, continued lines, old names, several files."""

import logging
from pathlib import Path

import pytest

from laneway.config import Config, Surroundings, load_config
from laneway.domain.device import Binding
from laneway.domain.errors import ConfigError, ConfigProblem
from laneway.domain.tracking.host_view import IommuGroups


def vendors(config: Config) -> list[str | None]:
    return [spec.vendor_id for spec in config.device_specs]


def problems_of(paths: list[Path], around: Surroundings) -> tuple[ConfigProblem, ...]:
    with pytest.raises(ConfigError) as caught:
        load_config(nova_conf=paths, surroundings=around)
    return caught.value.problems


@pytest.fixture
def nova_conf(tmp_path: Path) -> Path:
    return tmp_path / "nova.conf"


def test_what_a_nova_operator_wrote_is_read_as_nova_reads_it(nova_conf: Path, around: Surroundings) -> None:
    """Rules C1 and C63."""
    nova_conf.write_text("""\
[DEFAULT]
host = compute-7
my_ip = 192.0.2.1
[PCI]
# several values, one of them over several lines
device_spec = {"vendor_id": "10de",
    "product_id": "20b0",
\t"managed": "no"}

device_spec = [{"address": {"bus": "0a$"}}, {"vendor_id": "15b3"}]
device_spec : '{"vendor_id": "1af4"}'
alias = {"name": "gpu", "vendor_id": "10de", "product_id": "20b0"}
report_in_placement = yes
[placement]
auth_type = password
[filter_scheduler]
pci_in_placement = 1
[compute]
cpu_dedicated_set = 0-3
""")
    config = load_config(nova_conf=[nova_conf], surroundings=around)
    assert config.host == "compute-7"
    assert vendors(config) == ["10de", None, "15b3", "1af4"]
    assert [spec.entry for spec in config.device_specs] == [0, 1, 2, 3]
    assert [spec.binding for spec in config.device_specs] == [Binding.OPERATOR, *[Binding.LIBVIRT] * 3]
    assert [spec.place for spec in config.device_specs] == [f"{nova_conf}:{line}" for line in (6, 10, 10, 11)]
    assert list(config.aliases.by_name) == ["gpu"]
    assert config.report_in_placement
    assert config.pci_in_placement
    assert config.sources == (nova_conf,)
    assert config.warnings == ()


def test_what_is_not_said_is_as_in_nova(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text("")
    config = load_config(nova_conf=[nova_conf], surroundings=around)
    assert config == Config(state_path=around.state_path, iommu_groups=IommuGroups.IGNORE, sources=(nova_conf,))


def test_laneways_own_section_says_what_nova_has_no_option_for(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text(
        "[laneway]\ndriver = linux\nuri = qemu:///system\niommu_groups = enforce\nstate_path = state\n"
        "root_provider = gpu-1.example.org\n"
        "bind_ports = yes\n"
    )
    config = load_config(nova_conf=[nova_conf], surroundings=around)
    assert (config.driver, config.uri, config.iommu_groups) == ("linux", "qemu:///system", IommuGroups.ENFORCE)
    assert config.state_path == nova_conf.parent / "state"
    assert config.root_provider == "gpu-1.example.org"
    assert config.bind_ports is True


def test_old_names_count_and_are_told(nova_conf: Path, around: Surroundings, capfd: pytest.CaptureFixture[str]) -> None:
    """Rule C1."""
    nova_conf.write_text("""\
[pci]
device_spec = {"vendor_id": "0003"}
passthrough_whitelist = {"vendor_id": "0002"}
[DEFAULT]
pci_passthrough_whitelist = {"vendor_id": "0001"}
pci_alias = {"name": "old", "vendor_id": "10de", "product_id": "20b0"}
""")
    config = load_config(nova_conf=[nova_conf], surroundings=around)
    assert vendors(config) == ["0001", "0002", "0003"]
    assert [spec.place for spec in config.device_specs] == [f"{nova_conf}:{line}" for line in (5, 3, 2)]
    assert list(config.aliases.by_name) == ["old"]
    assert [(found.code, found.place) for found in config.warnings] == [
        ("deprecated_name", f"{nova_conf}:{line}") for line in (3, 5, 6)
    ]
    assert "[DEFAULT]pci_alias is an old name; write [pci]alias" in config.warnings[2].message
    assert capfd.readouterr().err == ""


def test_values_of_several_files_and_folders_follow_each_other(tmp_path: Path, around: Surroundings) -> None:
    first = tmp_path / "first.conf"
    first.write_text('[DEFAULT]\nhost = first\n[pci]\ndevice_spec = {"vendor_id": "0001"}\n')
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "20.conf").write_text('[pci]\ndevice_spec = {"vendor_id": "0003"}\n')
    (folder / "10.conf").write_text('[DEFAULT]\nhost = second\n[pci]\npassthrough_whitelist = {"vendor_id": "0002"}\n')
    (folder / "ignored.txt").write_text("no config")
    config = load_config(nova_conf=[first, folder], surroundings=around)
    assert config.host == "second"
    assert vendors(config) == ["0001", "0002", "0003"]
    assert [spec.place for spec in config.device_specs] == [
        f"{path}:{line}" for path, line in ((first, 4), (folder / "10.conf", 4), (folder / "20.conf", 2))
    ]
    assert config.sources == (first, folder / "10.conf", folder / "20.conf")


def test_all_errors_are_told_at_once_each_at_its_line(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text("""\
[DEFAULT]
host = $my_ip
[pci]
device_spec = {"vendor_id": "10de",
  'x'}
device_spec = {"vendor_id": "xyz"}
alias = {"name": "gpu", "vendor_id": "10de", "product_id": "20bx"}
report_in_placement = maybe
[filter_scheduler]
pci_in_placement = 2
[laneway]
iommu_groups = strict
stat_path = /x
zzz = 1
""")
    problems = problems_of([nova_conf], around)
    assert sorted(problem.place or "" for problem in problems) == sorted(
        f"{nova_conf}:{line}" for line in (2, 4, 6, 7, 8, 10, 12, 13, 14)
    )
    messages = "\n".join(problem.message for problem in problems)
    for expected in (
        "[DEFAULT]host names $my_ip, an option that Laneway does not read; write the value itself",
        "[pci]report_in_placement is not possible: Unexpected boolean value 'maybe'",
        "[laneway]iommu_groups is not possible: Valid values are [enforce, ignore], but found 'strict'",
        '[laneway] has no option "stat_path"; did you mean "state_path"?',
        '[laneway] has no option "zzz"; it has driver, uri, iommu_groups, state_path',
    ):
        assert expected in messages


def test_an_option_that_names_another_is_told_at_the_value_that_does(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text(
        '[pci]\ndevice_spec = {"vendor_id": "$vendor"}\ndevice_spec = {"address": {"bus": "0a$"}, "tag": "a$$b"}\n'
    )
    (problem,) = problems_of([nova_conf], around)
    assert problem.place == f"{nova_conf}:2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pci]\nalias\n", "nova.conf:2: No ':' or '=' found in assignment: 'alias'"),
        ("[pci\n", "nova.conf:1: Invalid section (must end with ]): '[pci'"),
        ("[]\n", "nova.conf:1: Empty section name"),
        ("  alias = 1\n", "nova.conf:1: Unexpected continuation line"),
        ("[pci]\n= 1\n", "nova.conf:2: Key cannot be empty"),
        ("\nalias = 1\n", "nova.conf:2: Key before the first section: 'alias'"),
    ],
    ids=lambda text: "" if text.startswith("nova.conf") else repr(text),
)
def test_a_line_that_is_none_of_a_config_is_named(
    nova_conf: Path, around: Surroundings, text: str, message: str
) -> None:
    nova_conf.write_text(text)
    (problem,) = problems_of([nova_conf], around)
    assert message in problem.message


def test_all_bad_lines_of_all_files_are_told_and_what_is_wrong_beside_them(
    tmp_path: Path, around: Surroundings
) -> None:
    first, second = paths = [tmp_path / "a.conf", tmp_path / "b.conf"]
    first.write_text("  oops\n[pci]\nalias = {bad\nnothing\n  and more of it\ndevice_spec = {bad\n[x")
    second.write_text("alias = 1\n  x\n")
    missing = tmp_path / "c.conf"
    places = [f"{missing}", f"{first}:1", f"{first}:4", f"{first}:7", f"{second}:1", f"{first}:6", f"{first}:3"]
    assert [problem.place for problem in problems_of([*paths, missing], around)] == places


def test_a_value_that_names_no_option_hides_no_other(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text('[pci]\ndevice_spec = {"vendor_id": "$x"}\ndevice_spec = {bad\nalias = {bad\n')
    assert [problem.place for problem in problems_of([nova_conf], around)] == [f"{nova_conf}:{n}" for n in (2, 3, 4)]


def test_the_host_may_be_named_in_a_value(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text('[DEFAULT]\nhost = cmp1\n[pci]\ndevice_spec = {"vendor_id": "10de", "rack": "$host"}\n')
    (spec,) = load_config(nova_conf=[nova_conf], surroundings=around).device_specs
    assert spec.tags["rack"] == "cmp1"


def test_a_byte_order_mark_is_told(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text("\ufeff[pci]\n", encoding="utf-8")
    (problem,) = problems_of([nova_conf], around)
    assert (problem.place, problem.remedy) == (f"{nova_conf}:1", "save it as UTF-8 without one")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("[pci]\nreport_in_placement = true\n", [2], id="Placement"),
        pytest.param("[laneway]\nbind_ports = true\n", [2], id="Neutron"),
        pytest.param("[pci]\nreport_in_placement = true\n[placement]\nauth_type = password\n", [], id="a way in"),
        pytest.param("[laneway]\nbind_ports = 1\n[neutron]\nauth_section = placement\n", [], id="that of another"),
        pytest.param("[pci]\nreport_in_placement = false\n", [], id="it is not needed"),
    ],
)
def test_a_service_that_lets_nobody_in_is_told(
    nova_conf: Path, around: Surroundings, text: str, lines: list[int]
) -> None:
    nova_conf.write_text(text)
    warnings = load_config(nova_conf=[nova_conf], surroundings=around).warnings
    told = [(warning.place, warning.code) for warning in warnings]
    assert told == [(f"{nova_conf}:{line}", "access_missing") for line in lines]


def test_what_nova_ignores_is_told(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_text("""\
[DEFAULT]
device_spec = {"vendor_id": "10de"}
alias = of something else
[pci]
devicespec = {"vendor_id": "10de"}
device_spec {"vendor_id": "10de"}
pci_in_placement = true
colour = blue
[neutron]
auth_type = none
[filter_scheduler]
report_in_placement = true
pci_in_placement = true
""")
    config = load_config(nova_conf=[nova_conf], surroundings=around)
    assert config.device_specs.specs == ()
    told = [(warning.place, warning.code) for warning in config.warnings]
    assert told == [(f"{nova_conf}:{line}", "ignored_key") for line in (2, 5, 6, 7, 8, 12)]
    messages = [warning.message for warning in config.warnings]
    assert "[DEFAULT]device_spec is where nova does not look for it; write [pci]device_spec" in messages[0]
    assert 'has no option "devicespec", so nova ignores it; did you mean "device_spec"?' in messages[1]
    assert "[pci]pci_in_placement" in messages[3]


def test_a_missing_file_is_named(nova_conf: Path, around: Surroundings) -> None:
    (problem,) = problems_of([nova_conf], around)
    assert "nova.conf: there is no such file; name a nova.conf that exists" in problem.message


def test_windows_lines_make_no_difference(nova_conf: Path, around: Surroundings) -> None:
    nova_conf.write_bytes(b'[pci]\r\ndevice_spec = {"vendor_id": "10de",\r\n  "product_id": "20b0"}\r\n\r\nalias =\r\n')
    (problem,) = problems_of([nova_conf], around)
    assert (problem.option, problem.place) == ("alias", f"{nova_conf}:5")


def test_the_environment_says_nothing(nova_conf: Path, around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OS_DEFAULT__HOST", "from the environment")
    nova_conf.write_text("[DEFAULT]\nhost = from the file\n")
    assert load_config(nova_conf=[nova_conf], surroundings=around).host == "from the file"


def test_an_application_that_logs_still_hears_of_old_names(
    nova_conf: Path, around: Surroundings, caplog: pytest.LogCaptureFixture
) -> None:
    nova_conf.write_text('[DEFAULT]\npci_alias = {"name": "old", "vendor_id": "10de", "product_id": "20b0"}\n')
    with caplog.at_level(logging.WARNING):
        load_config(nova_conf=[nova_conf], surroundings=around)
    assert "pci_alias" in caplog.text
