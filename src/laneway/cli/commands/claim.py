"""``laneway claim``: devices of this host for one virtual machine."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from datetime import timedelta

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.parameters import Asked, asking, claiming


@laneway_command(
    "claim",
    Example("laneway claim db-1 --alias gpu:2", "Two GPUs for the virtual machine db-1"),
    Example("laneway claim db-1 --alias gpu:1,nic:1 --numa-node 0", "A GPU and a network card, near the guest's node"),
    Example(
        'laneway claim db-1 --alias gpu:1,nic:1 --constraint \'{"match": "pcie_root", "requests": ["gpu", "nic"]}\'',
        "Both below one PCIe root",
    ),
    Example(
        'laneway claim db-1 --request \'{"name": "vf", "count": 2, "any_of": [{"dev_type": "type-VF"}]}\'',
        "Devices that no alias describes",
    ),
    Example(
        "laneway claim db-1 --port 7c8b2a4e-5f0d-4c1b-9d56-0e6f3a1b2c3d",
        "The device that a port of OpenStack Neutron needs",
    ),
    Example("laneway claim db-1 --alias gpu:1 --id job-17 --ttl 15m", "Under an id of your own, for 15 minutes"),
)
@asking
@claiming
def command(settings: Settings, asked: Asked, claim_id: str | None, ttl: timedelta | None) -> int:
    """Claim devices of this host for a consumer, which is the name or uuid of a virtual machine.

    The best choice is found if there is any: near the guest's NUMA nodes first, then the one that takes least away
    from others. A consumer may claim more than once. Nothing is changed when the answer is no.
    """
    from laneway.bootstrap import new_claim_id
    from laneway.cli.asking import claim_on
    from laneway.cli.deciding import decide
    from laneway.cli.host import open_host
    from laneway.cli.render.answers import claim_answer

    host = open_host(settings)
    claim = claim_id or new_claim_id()
    return decide(
        settings,
        host,
        "claim",
        lambda plane: plane.claim(host.name, claim_on(host, settings, asked, claim), time_to_live=ttl),
        lambda outcome, names, screen: claim_answer(outcome, asked.consumer, claim, names, screen),
    )
