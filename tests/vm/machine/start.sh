#!/bin/bash
# Runs on the test host as its first process, after init: starts it as far as the tests need, or has systemd do that, runs
# the command, and leaves the exit status in /job/status.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 TERM=dumb

# What the shares' file names mean to each other: TAG TARGET, one a line. All of them may be written to; nothing stays.
share() {
  local tag=$1 target=$2 layers=/run/layers/$1
  mkdir -p "$target" "$layers"/{below,changed,work}
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose "$tag" "$layers/below"
  mount -t overlay -o "lowerdir=$layers/below,upperdir=$layers/changed,workdir=$layers/work" "$tag" "$target"
}

run_command() {
  echo "started after $(cut -d' ' -f1 /proc/uptime) s" >/job/times
  bash /job/command.sh >/job/output.log 2>&1 </dev/null
  echo $? >/job/status
  echo "command ended after $(cut -d' ' -f1 /proc/uptime) s" >>/job/times
  dmesg >/job/dmesg.log
  sync
  busybox poweroff -f
}

# The command runs when all is up that multi-user.target wants.
start_by_systemd() {
  bash /job/set_up.sh >/job/set_up.log 2>&1
  echo 0123456789abcdef0123456789abcdef >/etc/machine-id # without one it is a first boot, which asks questions
  mkdir -p /run/systemd/system
  printf '%s\n' '[Unit]' 'Requires=multi-user.target command.service' >/run/systemd/system/command.target
  printf '%s\n' '[Unit]' 'After=multi-user.target' '[Service]' 'Type=oneshot' 'TimeoutStartSec=infinity' \
    'ExecStart=/bin/bash /job/start.sh run_command' >/run/systemd/system/command.service
  exec /usr/lib/systemd/systemd --unit=command.target --log-target=console
}

if [[ ${1:-} == run_command ]]; then run_command; fi

mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
echo testhost >/proc/sys/kernel/hostname
ip link set lo up
while read -r tag target; do share "$tag" "$target"; done </job/shares

[[ ! -e /job/set_up.sh ]] || start_by_systemd

# Drivers are loaded and links made by udev, as on any host.
/usr/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add
udevadm settle --timeout=60
run_command
