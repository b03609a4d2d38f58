#!/usr/bin/env bash
# The tests with real services of OpenStack: `make test-openstack`, or this script with arguments for pytest.
#
# Each service has a script in services/ that installs it from pinned packages, into a cache outside the checkout
# (LANEWAY_OPENSTACK_CACHE, else the user's cache folder), and starts and stops it with new data. There is no
# Keystone and no message broker. Exit status: pytest's; 75 where a download failed, with a line that begins "NOT RUN".
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
services=$repository/tests/openstack/services
export LANEWAY_OPENSTACK_CACHE=${LANEWAY_OPENSTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/openstack}
export LANEWAY_PYTHON=${LANEWAY_PYTHON:-$repository/.venv/bin/python}

mkdir -p "$LANEWAY_OPENSTACK_CACHE"
data=$(mktemp -d)
end() {
  "$services/placement.sh" stop "$data/placement"
  rm -rf "$data"
}
trap end EXIT

"$services/placement.sh" install
LANEWAY_TEST_PLACEMENT=$("$services/placement.sh" start "$data/placement")
export LANEWAY_TEST_PLACEMENT
unset LANEWAY_CONFIG "${!OS_@}"

cd "$repository"
"$services/placement.sh" version
"$LANEWAY_PYTHON" -m pytest -p no:cacheprovider "$services" "$@"
