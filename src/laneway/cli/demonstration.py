"""Plays the example hosts: every step is a real command line, run in this process."""

import io
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from laneway import cli
from laneway.cli import output
from laneway.cli.command import Settings
from laneway.cli.render.screen import Screen, Tone
from laneway.cli.shell_words import command_line
from laneway.contracts.codec import parse_json
from laneway.contracts.inventory import encode_inventory
from laneway.demo.script import HOSTS, DemoHost, Step

DEMO_SCHEMA = "laneway.demo/1"


def demonstrate(names: Sequence[str], folder: Path, settings: Settings) -> None:
    """Plays the hosts of these names; their files go into the folder."""
    chosen = [host for host in HOSTS if host.name in names]
    if settings.as_json:
        plays = [_as_data(host, _files(host, folder)) for host in chosen]
        output.write_json({"schema": DEMO_SCHEMA, "hosts": plays})
        return
    screen = output.screen(settings)
    for host in chosen:
        _show(host, _files(host, folder), screen, settings)


def _files(host: DemoHost, folder: Path) -> list[str]:
    """Writes the host's files; the options that make a command work on them."""
    paths = {name: folder / f"{host.name}.{ending}" for name, ending in _ENDINGS.items()}
    paths["snapshot"].write_bytes(encode_inventory(host.inventory()) + b"\n")
    paths["config"].write_text(host.config, encoding="utf-8")
    return [word for name, path in paths.items() for word in (f"--{name}", str(path))]


_ENDINGS = {"snapshot": "json", "config": "toml", "state": "db"}


def _show(host: DemoHost, files: Sequence[str], screen: Screen, settings: Settings) -> None:
    options = command_line(files)
    title = f"{host.name}: {host.title}"
    output.write_lines(
        [
            screen.paint("=" * min(len(title), screen.width or len(title)), Tone.DIM),
            screen.paint(title, Tone.STRONG),
            screen.paint("Its config:", Tone.DIM),
            "",
            *(f"  {line}" if line else "" for line in host.config.rstrip().splitlines()),
            "",
            screen.paint(f"Each command below has these options too: {options}", Tone.DIM),
            "",
        ]
    )
    for step in host.steps:
        first, *others = step.shown.splitlines()
        prompt = [f"$ {first}", *others]
        output.write_lines(
            [screen.paint(f"# {step.purpose}", Tone.DIM), *(screen.paint(line, Tone.STRONG) for line in prompt)]
        )
        with redirect_stderr(sys.stdout):
            cli.main([*shlex.split(step.line), *files, "--color", settings.color])
        output.write_lines([""])


def _as_data(host: DemoHost, files: Sequence[str]) -> dict[str, object]:
    return {
        "name": host.name,
        "title": host.title,
        "config": host.config,
        "steps": [_play(step, files) for step in host.steps],
    }


def _play(step: Step, files: Sequence[str]) -> dict[str, object]:
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as stdout:
        status = cli.main([*shlex.split(step.line), *files, "--json"])
        stdout.flush()
        answer = parse_json(stdout.buffer.getvalue())
    return {"purpose": step.purpose, "command": f"laneway {step.line}", "exit_status": int(status), "answer": answer}
