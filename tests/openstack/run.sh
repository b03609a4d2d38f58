#!/usr/bin/env bash
# The tests with real services of OpenStack: `make test-openstack`, or this script with arguments for pytest.
#
# Each service has a script in services/ that installs it from pinned packages, into a cache outside the checkout
# (LANEWAY_OPENSTACK_CACHE, else the user's cache folder), and starts and stops it with new data. There is no
# Keystone and no message broker. Exit status: pytest's; 75 where a download failed, with a line that begins "NOT RUN".
# OVN and MariaDB are unpacked from Debian's packages: where they cannot be had, that line is said and all else is tested.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
services=$repository/tests/openstack/services
export LANEWAY_OPENSTACK_CACHE=${LANEWAY_OPENSTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/openstack}
export LANEWAY_PYTHON=${LANEWAY_PYTHON:-$repository/.venv/bin/python}

mkdir -p "$LANEWAY_OPENSTACK_CACHE"
data=$(mktemp -d)
end() {
  "$services/placement.sh" stop "$data/placement"
  "$services/neutron.sh" stop "$data/neutron"
  "$services/neutron.sh" stop "$data/neutron-ovn"
  "$services/ovn.sh" stop "$data/neutron-ovn/ovn"
  "$services/databases.sh" stop "$data/databases"
  rm -rf "$data"
}
trap end EXIT

"$services/placement.sh" install
"$services/neutron.sh" install
with_ovn=true
"$services/ovn.sh" install || { [[ $? == 75 ]] && with_ovn=false; }
with_databases=true
"$services/databases.sh" install || { [[ $? == 75 ]] && with_databases=false; }

LANEWAY_TEST_PLACEMENT=$("$services/placement.sh" start "$data/placement")
LANEWAY_TEST_NEUTRON=$("$services/neutron.sh" start "$data/neutron" sriovnicswitch,openvswitch)
LANEWAY_TEST_NEUTRON_DATA=$data/neutron
export LANEWAY_TEST_PLACEMENT LANEWAY_TEST_NEUTRON LANEWAY_TEST_NEUTRON_DATA
if $with_ovn; then
  "$services/ovn.sh" start "$data/neutron-ovn/ovn"
  LANEWAY_TEST_NEUTRON_OVN=$("$services/neutron.sh" start "$data/neutron-ovn" sriovnicswitch,ovn)
  LANEWAY_TEST_NEUTRON_OVN_DATA=$data/neutron-ovn
  export LANEWAY_TEST_NEUTRON_OVN LANEWAY_TEST_NEUTRON_OVN_DATA
fi
if $with_databases; then
  chmod a+x "$data" # PostgreSQL does not run as root
  LANEWAY_TEST_DATABASES=$("$services/databases.sh" start "$data/databases")
  PYTHONPATH=$("$services/databases.sh" drivers)
  export LANEWAY_TEST_DATABASES PYTHONPATH
fi
unset LANEWAY_CONFIG "${!OS_@}"

cd "$repository"
"$services/placement.sh" version
"$services/neutron.sh" version
! $with_ovn || "$services/ovn.sh" version
! $with_databases || "$services/databases.sh" version
"$LANEWAY_PYTHON" -m pytest -p no:cacheprovider "$services" "$@"
