#!/usr/bin/env bash
# The real Placement on this machine, without Keystone: whoever has the token "admin" may do everything.
#
#   placement.sh install          into the cache; nothing if it is there. 75 where a download failed
#   placement.sh version          that was installed
#   placement.sh start FOLDER     with new data in FOLDER; prints its URL once it answers
#   placement.sh stop FOLDER      ends it
#
# SQLite takes one writer, so there is one process with one thread. Few candidates, taken from each host in turn:
# Placement's defaults make all of them before they cut, which takes minutes with several groups and many hosts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
environment=$LANEWAY_OPENSTACK_CACHE/placement
# shellcheck source=../../downloading.sh
. "$here/../../downloading.sh"
# shellcheck source=processes.sh
. "$here/processes.sh"

install() {
  install_pinned placement "$here/placement.txt"
}

version() {
  "$environment/bin/python" -c 'from importlib.metadata import version; print("Placement", version("openstack-placement"))'
}

start() {
  local folder=$1 port
  mkdir -p "$folder"
  port=$(free_port)
  cat >"$folder/placement.conf" <<CONF
[DEFAULT]
log_options = false
[api]
auth_strategy = noauth2
[placement_database]
connection = sqlite:///$folder/placement.sqlite
[placement]
max_allocation_candidates = 1000
allocation_candidates_generation_strategy = breadth-first
CONF
  "$environment/bin/placement-manage" --config-file "$folder/placement.conf" db sync >"$folder/log" 2>&1
  OS_PLACEMENT_CONFIG_DIR=$folder setsid "$environment/bin/gunicorn" --bind "127.0.0.1:$port" --workers 1 \
    --worker-class gthread --threads 1 --keep-alive 60 --no-control-socket placement.wsgi.api:application \
    >>"$folder/log" 2>&1 </dev/null &
  remember "$folder/process"
  wait_for "http://127.0.0.1:$port" / "$folder/process" "$folder/log"
}

stop() {
  end "$1/process"
}

"$@"
