"""Puts the agents of a host into Neutron's database: neutron_agent.py --config-file NEUTRON.CONF up|down HOST [PHYSNET...]

An agent would report by a message broker, and there is none. ``down`` puts their last signs of life into the past.
"""

import sys
from datetime import timedelta

from neutron import manager  # noqa: F401 - registers options
from neutron.common import config
from neutron.db import agents_db
from neutron.objects.agent import Agent
from neutron_lib import constants, context
from neutron_lib.db import api
from oslo_utils import timeutils

LONG_AGO = timedelta(days=3650)


def main(option: str, file: str, action: str, host: str, *networks: str) -> None:
    config.register_common_config_options()
    config.init([option, file])
    as_admin = context.get_admin_context()
    if action == "up":
        bring_up(as_admin, host, networks)
    else:
        with api.CONTEXT_WRITER.using(as_admin):
            for agent in Agent.get_objects(as_admin, host=host):
                agent.heartbeat_timestamp = timeutils.utcnow() - LONG_AGO
                agent.update()


def bring_up(as_admin: context.Context, host: str, networks: tuple[str, ...]) -> None:
    about = {
        (constants.AGENT_TYPE_NIC_SWITCH, "neutron-sriov-nic-agent"): {
            "device_mappings": {network: ["ens1f0"] for network in networks},
            "devices": 0,
            "extensions": [],
        },
        (constants.AGENT_TYPE_OVS, "neutron-openvswitch-agent"): {
            "bridge_mappings": {network: f"br-{network}" for network in networks},
            "tunnel_types": [],
            "datapath_type": "system",
            "ovs_hybrid_plug": False,
            "devices": 0,
        },
    }
    for (kind, binary), configurations in about.items():
        state = {"agent_type": kind, "binary": binary, "host": host, "topic": "N/A", "configurations": configurations}
        agents_db.AgentDbMixin().create_or_update_agent(as_admin, state | {"start_flag": True}, timeutils.utcnow())


if __name__ == "__main__":
    main(*sys.argv[1:])
