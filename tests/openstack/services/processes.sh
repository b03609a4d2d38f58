# How the scripts of the services start processes and end them. Sourced by them.
# shellcheck shell=bash

# A process id may be given to another process: that one has another start time.
started_at() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# remember FILE: the process that was started last stands in FILE.
remember() {
  echo "$! $(started_at $!)" >"$1"
}

# is_running FILE: whether the process in FILE runs.
is_running() {
  local pid since
  { read -r pid since <"$1"; } 2>/dev/null && [[ $(started_at "$pid") == "$since" ]]
}

# end FILE: ends the process in FILE, if it runs, and waits for that.
end() {
  local pid
  is_running "$1" || return 0
  read -r pid _ <"$1"
  kill "$pid"
  while is_running "$1"; do sleep 0.1; done
}

# wait_for URL PATH FILE LOG: prints URL once PATH answers there, or what the process in FILE has written to LOG.
wait_for() {
  for _ in $(seq 600); do
    curl -fs -m 5 -H "X-Auth-Token: service" -o /dev/null "$1$2" && echo "$1" && return
    is_running "$3" || break
    sleep 0.1
  done
  tail -n 20 "$4" >&2
  return 1
}

free_port() {
  "$LANEWAY_PYTHON" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# install_pinned NAME PINS: an environment of its own in the cache with what the file PINS says; nothing if it is there.
install_pinned() {
  local environment=$LANEWAY_OPENSTACK_CACHE/$1 pins=$2
  cmp -s "$pins" "$environment/installed.txt" && return
  echo "Installing $1 (once) ..." >&2
  rm -rf "$environment"
  "$LANEWAY_PYTHON" -m venv "$environment"
  download "$1" "$environment/pip.log" "$environment/bin/python" -m pip --disable-pip-version-check --quiet install \
    --require-hashes --requirement "$pins"
  cp "$pins" "$environment/installed.txt"
}
