"""Puts the agents of hosts into Neutron's database: neutron_agent.py --config-file NEUTRON.CONF NETWORK HOST...

An agent would report by a message broker, and there is none.
"""
# mypy: disable-error-code="import-not-found"

import sys

from neutron import manager  # noqa: F401 - registers options
from neutron.common import config
from neutron.db import agents_db
from neutron_lib import constants, context
from oslo_utils import timeutils


def main(option: str, file: str, network: str, *hosts: str) -> None:
    config.register_common_config_options()
    config.init([option, file])
    kinds = {
        (constants.AGENT_TYPE_NIC_SWITCH, "neutron-sriov-nic-agent"): {
            "device_mappings": {network: ["ens1f0"]},
            "devices": 0,
            "extensions": [],
        },
        (constants.AGENT_TYPE_OVS, "neutron-openvswitch-agent"): {
            "bridge_mappings": {network: f"br-{network}"},
            "tunnel_types": [],
            "datapath_type": "system",
            "ovs_hybrid_plug": False,
            "devices": 0,
        },
    }
    for host in hosts:
        for (kind, binary), configurations in kinds.items():
            about = {"agent_type": kind, "binary": binary, "host": host, "topic": "N/A", "start_flag": True}
            state = {**about, "configurations": configurations}
            agents_db.AgentDbMixin().create_or_update_agent(context.get_admin_context(), state, timeutils.utcnow())


if __name__ == "__main__":
    main(*sys.argv[1:])
