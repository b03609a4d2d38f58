"""Whole commands: how long ``laneway devices`` takes from its start to its end, and ``laneway simulate`` on a stream.

Prints measures as JSON. The argument is the directory of a tree of 512 functions, as
``bench.tree`` makes it.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench import shapes
from bench.timing import seconds_of_command
from laneway.bootstrap import Source, open_host
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest

LANEWAY = str(Path(sys.executable).with_name("laneway"))
OWNERS = 40
SCENARIOS = 10_000

_CONFIG = """
[[device_spec]]
vendor_id = "8086"
product_id = "154c"
physical_network = "physnet0"
"""


def main() -> None:
    root = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        print(json.dumps(_devices(root, Path(directory)) | _simulate()))


def _devices(root: Path, directory: Path) -> dict[str, float]:
    config, state = directory / "laneway.toml", directory / "laneway.db"
    config.write_text(_CONFIG)
    _claim_some(Source(root=root, config=config, state=state))
    command = [LANEWAY, "devices", "--root", str(root), "--config", str(config), "--state", str(state)]
    shown = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
    assert all(f"vm-{number}" in shown for number in range(OWNERS)), "owners must be shown"
    nothing = [sys.executable, "-c", "pass"]
    taken = [(seconds_of_command(command), seconds_of_command(nothing)) for _ in range(11)]
    return {
        "devices_command": median(seconds for seconds, _ in taken),
        "python_pass": median(seconds for _, seconds in taken),
    }


def _claim_some(source: Source) -> None:
    host = open_host(source)
    request = DeviceRequest(name="r", alternatives=(Alternative(dev_type=DevType.VF),), count=2)
    with host.control_plane() as plane:
        for number in range(OWNERS):
            consumer = f"vm-{number}"
            plane.claim(host.name, ClaimRequest(consumer=consumer, claim=consumer, requests=(request,)))


def _simulate() -> dict[str, float]:
    document = json.dumps(_scenario()).encode() + b"\n"
    command = [LANEWAY, "simulate", "-"]
    answer = json.loads(subprocess.run(command, input=document, check=True, stdout=subprocess.PIPE).stdout)
    assert all(step["ok"] for step in answer["steps"]), "a step must not be refused"
    return {"simulate_scenario": seconds_of_command(command, given=document * SCENARIOS) / SCENARIOS}


def _scenario() -> shapes.Facts:
    """A small host and a life of a claim."""
    return {
        "schema": "laneway.scenario/1",
        "device_spec": list(shapes.SPECS),
        "inventory": json.loads(shapes.inventory(shapes.cards(2, vfs=3))),
        "steps": [
            {"op": "claim", "consumer": "vm", "requests": [{"name": "nic", "any_of": [shapes.A_VF], "count": 2}]},
            {"op": "allocate", "consumer": "vm"},
            {"op": "free", "consumer": "vm"},
        ],
    }


if __name__ == "__main__":
    main()
