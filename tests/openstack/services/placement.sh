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
downloads_failed=75

install() {
  cmp -s "$here/placement.txt" "$environment/installed.txt" && return
  rm -rf "$environment"
  "$LANEWAY_PYTHON" -m venv "$environment"
  "$environment/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes \
    --requirement "$here/placement.txt" >"$environment/pip.log" 2>&1 || {
    echo "NOT RUN: failed download: openstack-placement (see $environment/pip.log)" >&2
    exit $downloads_failed
  }
  cp "$here/placement.txt" "$environment/installed.txt"
}

version() {
  "$environment/bin/python" -c 'from importlib.metadata import version; print("Placement", version("openstack-placement"))'
}

# A process id may be given to another process: that one has another start time.
started_at() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

is_running() {
  local pid since
  { read -r pid since <"$1/process"; } 2>/dev/null && [[ $(started_at "$pid") == "$since" ]]
}

start() {
  local folder=$1 port
  mkdir -p "$folder"
  port=$("$environment/bin/python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
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
  echo "$! $(started_at $!)" >"$folder/process"
  for _ in $(seq 600); do
    curl -fs -m 2 -o /dev/null "http://127.0.0.1:$port/" && echo "http://127.0.0.1:$port" && return
    is_running "$folder" || break
    sleep 0.1
  done
  tail -n 20 "$folder/log" >&2
  return 1
}

stop() {
  local pid
  is_running "$1" || return 0
  read -r pid _ <"$1/process"
  kill "$pid"
  while is_running "$1"; do sleep 0.1; done
}

"$@"
