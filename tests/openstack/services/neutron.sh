#!/usr/bin/env bash
# The real Neutron's API on this machine, without Keystone and without a message broker: a token is the name of a role.
#
#   neutron.sh install                  into the cache; nothing if it is there. 75 where a download failed
#   neutron.sh version                  that was installed
#   neutron.sh start FOLDER DRIVERS     with new data in FOLDER, and ML2's drivers DRIVERS; prints its URL once it
#                                       answers. The driver ovn needs the databases that ovn.sh started in FOLDER/ovn
#   neutron.sh restart FOLDER           with its data, under its URL, whether it runs or not
#   neutron.sh stop FOLDER              ends it
#   neutron.sh agents FOLDER NETWORK HOST...   what the agents of these hosts would report
#
# SQLite takes one writer, so there is one process with one thread.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
environment=$LANEWAY_OPENSTACK_CACHE/neutron
# shellcheck source=../../downloading.sh
. "$here/../../downloading.sh"
# shellcheck source=processes.sh
. "$here/processes.sh"

install() {
  install_pinned neutron "$here/neutron.txt"
}

version() {
  "$environment/bin/python" -c 'from importlib.metadata import version; print("Neutron", version("neutron"))'
}

write_config() {
  local folder=$1 drivers=$2 port=$3
  # agent_down_time: nobody reports again, so that agents live as long as can be said, some 24 days.
  cat >"$folder/neutron.conf" <<CONF
[DEFAULT]
core_plugin = ml2
service_plugins =
auth_strategy = noauth
transport_url = fake:///
api_paste_config = $environment/etc/neutron/api-paste.ini
state_path = $folder/state
agent_down_time = 2147483
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
[database]
connection = sqlite:///$folder/neutron.sqlite
[oslo_concurrency]
lock_path = $folder/lock
[ml2]
type_drivers = flat,vlan,geneve,vxlan
tenant_network_types = vlan
mechanism_drivers = $drivers
extension_drivers = port_security,port_device_profile,port_numa_affinity_policy,port_hints,port_trusted
[ml2_type_vlan]
network_vlan_ranges = physnet1:100:1099,physnet2:2000:2999
[ml2_type_geneve]
vni_ranges = 1:1000
max_header_size = 38
[ml2_type_vxlan]
vni_ranges = 1001:2000
[ovn]
ovn_nb_connection = unix:$folder/ovn/ovnnb.sock
ovn_sb_connection = unix:$folder/ovn/ovnsb.sock
ovn_metadata_enabled = false
CONF
  # Neutron takes the server's own arguments for its options, so that gunicorn's stand in a file.
  # The threads of the driver ovn would outlive a polite end.
  cat >"$folder/gunicorn.py" <<CONF
bind = "127.0.0.1:$port"
workers, threads, worker_class = 1, 1, "gthread"
timeout, keepalive, graceful_timeout = 300, 60, 1
wsgi_app = "roles_by_token:application"
pythonpath = "$here"
control_socket_disable = True
CONF
}

start() {
  local folder=$1 drivers=$2 port
  mkdir -p "$folder/lock" "$folder/state"
  port=$(free_port)
  write_config "$folder" "$drivers" "$port"
  "$environment/bin/python" "$here/neutron_schema.py" --config-file "$folder/neutron.conf" >"$folder/log" 2>&1 || {
    tail -n 20 "$folder/log" >&2
    return 1
  }
  restart "$folder"
}

restart() {
  local folder=$1 url
  stop "$folder"
  url=http://$(sed -n 's/^bind = "\(.*\)"$/\1/p' "$folder/gunicorn.py")
  PATH=$LANEWAY_OPENSTACK_CACHE/ovn/usr/bin:$PATH \
    LD_LIBRARY_PATH=$LANEWAY_OPENSTACK_CACHE/ovn/usr/lib/$(uname -m)-linux-gnu PYTHONWARNINGS=ignore \
    PYTHONDONTWRITEBYTECODE=1 ASGI_WORKERS=1 OS_NEUTRON_CONFIG_DIR=$folder OS_NEUTRON_CONFIG_FILES=neutron.conf \
    GUNICORN_CMD_ARGS="-c $folder/gunicorn.py" setsid "$environment/bin/gunicorn" >>"$folder/log" 2>&1 </dev/null &
  remember "$folder/process"
  wait_for "$url" /v2.0/networks "$folder/process" "$folder/log"
}

stop() {
  end "$1/process"
}

agents() {
  local folder=$1
  shift
  "$environment/bin/python" -W ignore "$here/neutron_agent.py" --config-file "$folder/neutron.conf" "$@" >>"$folder/log" 2>&1
}

"$@"
