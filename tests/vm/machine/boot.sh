#!/usr/bin/env bash
# Boots the test host, runs a command on it and exits with the command's status:
#   boot.sh [--iommu intel|virtio|none] [--append WORDS] [--share FOLDER]... [--carry FOLDER] [--added-card]
#           [--systemd SCRIPT] [--timeout SECONDS] [--keep] -- COMMAND
# COMMAND is one line for bash. A shared folder stands at its own path and may be written to; nothing that is written
# stays, but what is put into /job. /job/carried is the folder to carry, which gets back what is in it in the end.
# With --added-card there is a card more. With --systemd the host is started by systemd, for which the script on the
# host sets things up before, and the command runs when all is up. Needs what fetch.sh makes. 124: it took too long. 125: the host gave no answer.
# shellcheck disable=SC2054 # QEMU's words have commas
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${LANEWAY_TESTBED:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/testbed}
root=$cache/root
iommu=intel append='' seconds=5400 keep='' carried='' added_card='' set_up='' shares=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --iommu) iommu=$2 && shift 2 ;;
    --append) append=$2 && shift 2 ;;
    --share) shares+=("$(realpath "$2")") && shift 2 ;;
    --carry) carried=$(realpath "$2") && shift 2 ;;
    --added-card) added_card=1 && shift ;;
    --systemd) set_up=$2 && shift 2 ;;
    --timeout) seconds=$2 && shift 2 ;;
    --keep) keep=1 && shift ;;
    --) shift && break ;;
    *) echo "boot.sh: $1?" >&2 && exit 2 ;;
  esac
done
command=$*

job=$(mktemp -d "$cache/job.XXXXXX")
guest=
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
  [[ -z $guest ]] || kill "$guest" || true
  if [[ -n $keep ]]; then echo "test host: $job is kept" >&2; else rm -rf "$job"; fi
}
trap clean_up EXIT

cp "$here/start.sh" "$job/start.sh"
printf '%s\n' "$command" >"$job/command.sh"
[[ -z $set_up ]] || cp "$set_up" "$job/set_up.sh"
: >"$job/shares"
[[ -z $carried ]] || cp -a "$carried" "$job/carried"
: >"$job/output.log"

folders=()
share() {
  local tag=$1 folder=$2 readonly=$3
  folders+=(-fsdev "local,id=$tag,path=$folder,security_model=none,readonly=$readonly,multidevs=remap"
    -device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag,bus=pcie.0")
}
share root "$root" on
share job "$job" off
for number in "${!shares[@]}"; do
  share "share$number" "${shares[$number]}" on
  echo "share$number ${shares[$number]}" >>"$job/shares"
done

# no_timer_check: the kernel tries its timer at boot, and panics where this machine was too busy to be in time.
words="console=ttyS0 quiet panic=-1 nokaslr no_timer_check rdinit=/init" units=()
case $iommu in
  intel)
    units=(-device intel-iommu,intremap=on,caching-mode=on)
    words+=" intel_iommu=on iommu=pt"
    ;;
  virtio) units=(-device virtio-iommu-pci,bus=pcie.0) ;;
  none) ;;
  *) echo "boot.sh: --iommu $iommu?" >&2 && exit 2 ;;
esac

# The test host can talk to the QEMU that it runs in, to plug and unplug devices: by the virtio port "qmp".
monitor=(-chardev "socket,id=server,path=$job/qmp.sock,server=on,wait=off" -mon chardev=server,mode=control
  -chardev "socket,id=client,path=$job/qmp.sock" -device virtio-serial-pci,bus=pcie.0
  -device virtserialport,chardev=client,name=qmp)

# shellcheck source=topology.sh
. "$here/topology.sh"
topology "$job"

# One thread for all CPUs: with several, timer interrupts are lost and the host hangs.
export QEMU_MODULE_DIR=$root/usr/lib/x86_64-linux-gnu/qemu
timeout --kill-after=5 "$seconds" "$here/of-root.sh" "$root" usr/bin/qemu-system-x86_64 qemu -name testhost \
  -machine q35,kernel-irqchip=split -accel tcg,thread=single,tb-size=512 -cpu max -nodefaults -no-reboot -display none \
  -vga none -monitor none -serial "file:$job/console.log" \
  -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" -L "$root/usr/lib/ipxe/qemu" \
  -kernel "$root"/boot/vmlinuz-* -initrd "$cache/initramfs.cpio" -append "$words $append" \
  "${units[@]}" "${folders[@]}" "${devices[@]}" "${monitor[@]}" </dev/null 2>"$job/qemu.log" &
guest=$!
tail -q -s 0.2 --pid=$guest -n +1 -f "$job/output.log"
status=0
wait $guest || status=$?
guest=

if [[ -e $job/status ]]; then
  [[ -z $carried ]] || cp -a "$job/carried/." "$carried"
  exit "$(cat "$job/status")"
fi
keep=1
cat "$job/qemu.log" >&2
tail -n 20 "$job/console.log" >&2 || true
[[ $status == 124 || $status == 137 ]] && echo "test host: stopped after $seconds s" >&2 && exit 124
echo "test host: it gave no answer (QEMU's exit status is $status)" >&2
exit 125
