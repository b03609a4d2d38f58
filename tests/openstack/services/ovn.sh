#!/usr/bin/env bash
# OVN's two databases, without northd and controllers, for Neutron's driver `ovn`; and chassis that look like hosts.
#
#   ovn.sh install                        into the cache, from Debian's packages; nothing if it is there. 75 where a
#                                         download failed
#   ovn.sh version                        that was installed
#   ovn.sh start FOLDER                   with new data in FOLDER
#   ovn.sh stop FOLDER                    ends them
#   ovn.sh chassis FOLDER NAME ADDRESS [SERIAL]   a host with physnet1; with the serial number of its card: a DPU
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$LANEWAY_OPENSTACK_CACHE/ovn
packages=(openvswitch-common ovn-common ovn-central libxdp1 libbpf1)
# shellcheck source=../../downloading.sh
. "$here/../../downloading.sh"
# shellcheck source=processes.sh
. "$here/processes.sh"
LD_LIBRARY_PATH=$root/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH

get_packages() {
  cd "$1"
  apt-get download -q "${packages[@]}" || { as_root apt-get update -qq && apt-get download -q "${packages[@]}"; }
}

install() {
  [[ -e $root/usr/sbin/ovsdb-server && -e $root/installed ]] && return
  command -v dpkg >/dev/null || { echo "NOT RUN: OVN is unpacked from Debian's packages" >&2 && exit $DOWNLOAD_FAILED; }
  local folder
  folder=$(mktemp -d)
  mkdir -p "$root"
  download "OVN" "$root/apt.log" get_packages "$folder"
  for package in "$folder"/*.deb; do dpkg -x "$package" "$root"; done
  rm -rf "$folder"
  "$root/usr/bin/ovn-nbctl" --version >"$root/installed"
}

version() {
  sed -n 's/^ovn-nbctl \(.*\)/OVN \1/p' "$root/installed"
}

start() {
  local folder=$1
  mkdir -p "$folder"
  export OVS_RUNDIR=$folder OVN_RUNDIR=$folder
  for db in nb sb; do
    "$root/usr/bin/ovsdb-tool" create "$folder/$db.db" "$root/usr/share/ovn/ovn-$db.ovsschema"
    setsid "$root/usr/sbin/ovsdb-server" --remote="punix:$folder/ovn$db.sock" --unixctl="$folder/$db.ctl" \
      --log-file="$folder/$db.log" "$folder/$db.db" >"$folder/$db.out" 2>&1 </dev/null &
    remember "$folder/$db.process"
    for _ in $(seq 100); do [[ -S $folder/ovn$db.sock ]] && break; sleep 0.1; done
    "$root/usr/bin/ovn-${db}ctl" --db="unix:$folder/ovn$db.sock" init
  done
}

stop() {
  for db in nb sb; do end "$1/$db.process"; done
}

chassis() {
  local folder=$1 name=$2 address=$3 serial=${4:-} id
  sb() { OVN_RUNDIR=$folder "$root/usr/bin/ovn-sbctl" --db="unix:$folder/ovnsb.sock" "$@"; }
  sb chassis-add "$name" geneve "$address"
  id=$(sb --bare --columns=_uuid find chassis "name=$name")
  sb set chassis "$name" "hostname=$name" other_config:ovn-bridge-mappings=physnet1:br-physnet1 \
    other_config:datapath-type=system other_config:iface-types=geneve,system
  [[ -z $serial ]] || sb set chassis "$name" "other_config:ovn-cms-options=card-serial-number=$serial"
  sb create chassis_private "name=$name" "chassis=$id" nb_cfg=0 "nb_cfg_timestamp=$(date +%s)000" >/dev/null
}

"$@"
