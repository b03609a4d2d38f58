"""What a running service cannot take over from a config that has changed."""

from laneway.config.config import Config
from laneway.config.problems import problem
from laneway.domain.errors import ConfigProblem, Findings


def check_reload(before: Config, after: Config) -> None:
    """Raises ConfigError where the new config says what only a restart can do, with all of it.

    A file that is gone is no wish to hand out nothing: it may just be about to be replaced.
    """
    findings = Findings()
    if before.sources and not set(before.sources) & set(after.sources):
        findings.errors.append(_other_file(before, after))
    else:
        place = str(after.sources[0]) if after.sources else "the config"
        settings = (
            ("host.name", before.host, after.host),
            ("host.driver", before.driver, after.driver),
            ("host.uri", before.uri, after.uri),
            ("state.path", str(before.state_path), str(after.state_path)),
        )
        for option, old, new in settings:
            if old != new:
                fault = f"{option} is {_shown(new)}, and was {_shown(old)} when the agent started"
                findings.errors.append(
                    problem(place, fault, "restart the agent to change it", option=option, value=new)
                )
        if before.report_in_placement and not after.report_in_placement:
            findings.errors.append(reporting_turned_off(after))
    findings.raise_errors()


def reporting_turned_off(after: Config) -> ConfigProblem:
    """That a config no longer reports to Placement, where a host has done so (rule C87)."""
    place = str(after.sources[0]) if after.sources else "the config"
    fault = "report_in_placement was on, and Placement would go on to offer what it was told of"
    return problem(place, fault, "turn it on again", option="placement.report_in_placement", value=False)


def _other_file(before: Config, after: Config) -> ConfigProblem:
    now = f"the config is {after.sources[0]} now" if after.sources else "the config is gone"
    return problem(str(before.sources[0]), now, "put the file back, or restart the agent if it is meant so")


def _shown(value: str | None) -> str:
    return "not given" if value is None else f'"{value}"'
