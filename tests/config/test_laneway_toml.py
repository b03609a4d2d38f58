"""laneway.toml: strict, with all errors at once, each at its line."""

import os
from pathlib import Path

import pytest

from laneway.config import Config, Surroundings
from laneway.config.laneway_toml import read_laneway_toml
from laneway.domain.device import Binding
from laneway.domain.errors import ConfigError, ErrorCode
from laneway.domain.tracking.host_view import IommuGroups

PATH = Path("/etc/laneway/laneway.toml").absolute()


def read(text: str, around: Surroundings) -> Config:
    return read_laneway_toml(PATH, text, around)


def errors_of(text: str, around: Surroundings) -> list[str]:
    """Every error, without the folder."""
    with pytest.raises(ConfigError) as caught:
        read(text, around)
    return [problem.message.replace(f"{PATH.parent}{os.sep}", "") for problem in caught.value.problems]


def test_an_empty_file_hands_out_nothing(around: Surroundings) -> None:
    assert read("", around) == Config(state_path=around.state_path, sources=(PATH,))


def test_everything_that_a_file_says_is_in_the_config(around: Surroundings) -> None:
    config = read(
        """
        [host]
        name = "gpu-1"
        driver = "linux"
        uri = "qemu:///system"
        iommu_groups = "ignore"
        [state]
        path = "state"
        [placement]
        report_in_placement = true
        pci_in_placement = true
        cloud = "here"
        root_provider = "gpu-1.example.org"
        [neutron]
        bind_ports = true
        cloud = "there"
        [[device_spec]]
        vendor_id = "10de"
        managed = true
        [[device_spec]]
        vendor_id = "8086"
        [[alias]]
        name = "gpu"
        vendor_id = "10de"
        product_id = "20b0"
        """,
        around,
    )
    assert (config.host, config.driver, config.uri) == ("gpu-1", "linux", "qemu:///system")
    assert config.iommu_groups is IommuGroups.IGNORE
    assert config.state_path == PATH.parent / "state"
    assert config.report_in_placement
    assert config.pci_in_placement
    assert (config.cloud, config.root_provider) == ("here", "gpu-1.example.org")
    assert (config.bind_ports, config.neutron_cloud) == (True, "there")
    assert [spec.vendor_id for spec in config.device_specs] == ["10de", "8086"]
    assert [spec.binding for spec in config.device_specs] == [Binding.LIBVIRT, Binding.LANEWAY]
    assert [spec.place for spec in config.device_specs] == [f"{PATH}:17", f"{PATH}:20"]
    assert list(config.aliases.by_name) == ["gpu"]
    assert config.sources == (PATH,)
    assert config.warnings == ()


def test_all_errors_are_told_at_once_each_at_its_line(around: Surroundings) -> None:
    text = """\
hots = 3
[host]
driver = ""
iommu_group = "enforce"
[placement]
report_in_placement = "true"
[[device_spec]]
vendor_id = "10de"
product_id = "20bx"
[[device_spec]]
phsyical_network = "x"
[[alias]]
name = "a"
vendor_id = "10de"
product_id = "20b0"
numa_policy = "strict"
"""
    with pytest.raises(ConfigError) as caught:
        read(text, around)
    problems = caught.value.problems
    assert [problem.place for problem in problems] == [f"{PATH}:{line}" for line in (1, 3, 4, 6, 9, 10, 16)]
    assert all(f"{problem.place}" in problem.message for problem in problems)
    assert all(problem.remedy and problem.remedy in problem.message for problem in problems)
    assert caught.value.code is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[hots]", 'laneway.toml:1: there is no table "hots" here; did you mean "host"?'),
        ("[[device-spec]]", 'laneway.toml:1: there is no table "device-spec" here; did you mean "device_spec"?'),
        ("iommu_groups = 'ignore'", 'laneway.toml:1: there is no key "iommu_groups" here; it belongs in [host]'),
        (
            "zzz = 1",
            'laneway.toml:1: there is no key "zzz" here;'
            " a config has [host], [state], [placement], [neutron], [[device_spec]], [[alias]]",
        ),
        ("[host]\n\npath = 'x'", 'laneway.toml:3: [host] has no key "path"; it belongs in [state]'),
        ("[host]\ndrivr = 'x'", 'laneway.toml:2: [host] has no key "drivr"; did you mean "driver"?'),
        ("[host]\nzzz = 'x'", 'laneway.toml:2: [host] has no key "zzz"; [host] has name, driver, uri, iommu_groups'),
        (
            "[host]\niommu_groups = 'maybe'",
            'laneway.toml:2: iommu_groups "maybe" in [host] is not possible; write "enforce" or "ignore"',
        ),
        (
            "[state]\npath = 3",
            "laneway.toml:2: path 3 in [state] is not possible; write a text in quotes, not empty and without NUL",
        ),
        (
            "[placement]\npci_in_placement = 1",
            "laneway.toml:2: pci_in_placement 1 in [placement] is not possible; write true or false, without quotes",
        ),
        ("host = 'x'", 'laneway.toml:1: host "x" is not a table; write [host]'),
        ("[[state]]", "laneway.toml:1: state [{}] is not a table; write [state]"),
        (
            "[device_spec]\nvendor_id = '8086'",
            "laneway.toml:1: device_spec is not an array of tables;"
            " write [[device_spec]], with two brackets, and its keys below it",
        ),
    ],
    ids=lambda value: value.replace("\n", " ") if not value.startswith("laneway.toml") else "",
)
def test_what_is_not_known_is_an_error_with_what_would_be_right(around: Surroundings, text: str, message: str) -> None:
    assert errors_of(text, around) == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[host]\nname 3", "laneway.toml:2:6: this is not TOML: "),
        ("x = '''\n\n", "laneway.toml:3:1: this is not TOML: "),
        ("[host]\n[host]", "laneway.toml:2:6: this is not TOML: "),
    ],
    ids=["a missing equals sign", "a text without an end", "a table twice"],
)
def test_a_syntax_error_names_its_line_and_column(around: Surroundings, text: str, message: str) -> None:
    (found,) = errors_of(text, around)
    assert found.startswith(message)


def test_a_text_nested_beyond_reason_is_an_error(around: Surroundings) -> None:
    (found,) = errors_of(f"x = {'[' * 100_000}", around)
    assert found.startswith("laneway.toml")


@pytest.mark.parametrize(
    "text", [f"x = {'9' * 5_000}", f"[[device_spec]]\nvendor_id = -{'9' * 5_000}"], ids=["any key", "an id"]
)
def test_a_number_of_more_digits_than_python_reads_is_an_error(text: str, around: Surroundings) -> None:
    (found,) = errors_of(text, around)
    assert found == "laneway.toml: a number has too many digits; write a number that the key can have"


@pytest.mark.parametrize(
    ("table", "key"), [("state", "path"), ("host", "name"), ("host", "driver")], ids=["a path", "a name", "a driver"]
)
def test_a_text_with_nul_is_an_error(table: str, key: str, around: Surroundings) -> None:
    (found,) = errors_of(f'[{table}]\n{key} = "a\\u0000b"', around)
    assert found.startswith(f'laneway.toml:2: {key} "a\\u0000b" in [{table}] is not possible')


def test_a_relation_between_options_is_checked(around: Surroundings) -> None:
    text = "[placement]\nreport_in_placement = true\n[[device_spec]]\ndevname = 'eth0'\n"
    (found,) = errors_of(text, around)
    assert "laneway.toml:4" in found
    assert "report_in_placement" in found


def test_problems_are_told_from_the_top_of_the_file_down(around: Surroundings) -> None:
    text = "[[alias]]\nname = 3\n[[device_spec]]\nvendor_id = 3\n[host]\nname = 3\n"
    with pytest.raises(ConfigError) as caught:
        read(text, around)
    assert [found.place for found in caught.value.problems] == [f"{PATH}:{line}" for line in (1, 2, 4, 6)]


def test_warnings_stand_at_their_lines(around: Surroundings) -> None:
    config = read('[[device_spec]]\nvendor_id = "10de"\nphsyical_network = "x"\n', around)
    assert [(found.code, found.place) for found in config.warnings] == [("unknown_tag", f"{PATH}:3")]


def test_an_element_that_counts_as_several_entries_keeps_the_line_of_the_element(around: Surroundings) -> None:
    text = """device_spec = [
      '[{"vendor_id": "8086"}, {"vendor_id": "10de"}]',
      { vendor_id = "1af4", product_id = "xyz" },
      { vendor_id = 3 },
    ]"""
    with pytest.raises(ConfigError) as caught:
        read(text, around)
    assert [(found.entry, found.place) for found in caught.value.problems] == [(2, f"{PATH}:3"), (3, f"{PATH}:4")]
