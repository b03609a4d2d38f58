#!/usr/bin/env bash
# Installs Laneway on the test host as its units say, before systemd starts: with the state of the boot before.
set -euo pipefail

read -r _ repository </job/shares

cat >/opt/laneway/bin/laneway <<'PROGRAM'
#!/bin/sh
PYTHONPATH=/opt/laneway:/opt/requirements exec python3 -B -m laneway "$@"
PROGRAM
cp -a /job/carried /var/lib/laneway
mkdir -p /etc/laneway
cp "$repository/tests/vm/started_by_systemd/laneway.toml" /etc/laneway/laneway.toml
cp "$repository"/packaging/systemd/*.service /etc/systemd/system/
export SYSTEMD_OFFLINE=1
systemctl enable laneway-restore laneway-agent
# Nothing here needs the bus, which does not come up on a host that nobody has installed, nor who would wait for it and
# start again and again; nor new caches.
systemctl mask dbus.service dbus.socket systemd-machined.service systemd-logind.service
systemctl mask ldconfig.service systemd-hwdb-update.service
systemctl add-wants multi-user.target libvirtd.service
