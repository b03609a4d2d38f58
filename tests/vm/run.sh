#!/usr/bin/env bash
# Runs the tests of this folder on real Linux hosts, which QEMU emulates: `make test-vm`, or
#   run.sh [--host with_iommu|without_iommu|with_virtio_iommu]... [ARGUMENT FOR PYTEST...]
# The hosts before_reboot, started_by_systemd, after_reboot and after_card_added are one, booted four times over one state,
# in this order.
# With LANEWAY_TESTS_UNTIL, in seconds since the epoch, what has not begun by then is left out, which is said.
# What it needs it puts once into a cache outside the checkout: LANEWAY_TESTBED, else the user's cache folder.
#
# Exit status: 0 where all tests passed, 1 where one failed or a host gave no answer; 75 where a download failed, with
# a line that begins "NOT RUN".
set -euo pipefail
umask 022  # tests run as a user without privileges, too

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
python=${LANEWAY_PYTHON:-$repository/.venv/bin/python}
export LANEWAY_TESTBED=${LANEWAY_TESTBED:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/testbed}
root=$LANEWAY_TESTBED/root
log=$LANEWAY_TESTBED/tests.log
hosts=()

while [[ ${1:-} == --host ]]; do
  hosts+=("$2")
  shift 2
done
[[ ${#hosts[@]} -gt 0 ]] || hosts=(without_iommu with_virtio_iommu before_reboot started_by_systemd after_reboot after_card_added with_iommu)

iommu_of() {
  case $1 in
    with_iommu | before_reboot | started_by_systemd | after_reboot | after_card_added) echo intel ;;
    without_iommu) echo none ;;
    with_virtio_iommu) echo virtio ;;
    *) echo "run.sh: there is no host $1" >&2 && return 1 ;;
  esac
}

# Laneway as a user has it: built as a wheel, with its entry points.
install_laneway() {
  rm -rf "$root/opt/laneway"
  "$python" -m pip --disable-pip-version-check --quiet install --target "$root/opt/laneway" --no-deps \
    --no-build-isolation --no-compile "$repository"
  "$here/machine/compile.sh" "$root" "$root/opt/laneway"
}

run_on() {
  local host=$1 quoted='' machine=()
  shift
  [[ $# == 0 ]] || quoted=$(printf ' %q' "$@")
  case $host in
    before_reboot | after_reboot) machine=(--carry "$carried") ;;
    started_by_systemd) machine=(--carry "$carried" --systemd "$here/$host/set_up.sh") ;;
    after_card_added) machine=(--carry "$carried" --added-card) ;;
  esac
  "$here/machine/boot.sh" --iommu "$(iommu_of "$host")" --share "$repository" "${machine[@]}" -- \
    "cd $(printf %q "$repository") && LANEWAY_TEST_HOST=$host LANEWAY_TESTS_UNTIL=${LANEWAY_TESTS_UNTIL:-} PYTHONPATH=/opt/laneway:/opt/requirements" \
    "python3 -B -m pytest --confcutdir=tests/vm -p no:cacheprovider -v tests/vm/$host$quoted"
}

mkdir -p "$LANEWAY_TESTBED"
exec 9>"$LANEWAY_TESTBED/lock"
flock 9
"$here/machine/fetch.sh" "$python"
install_laneway

carried=$(mktemp -d)
trap 'rm -rf "$carried"' EXIT
failed=()
: >"$log"
for host in "${hosts[@]}"; do
  echo "== $host"
  if [[ -n ${LANEWAY_TESTS_UNTIL:-} && $(date +%s) -gt ${LANEWAY_TESTS_UNTIL:-} ]]; then
    echo "LEFT OUT, as the time was over: all of $host"
    continue
  fi
  began=$SECONDS
  run_on "$host" "$@" 2>&1 | tee -a "$log" || failed+=("$host")
  echo "== $host: $((SECONDS - began)) s"
done

grep '^Linux ' "$log" | sort -u || true
ran=$(awk '/^[0-9]+ tests ran on / { count += $1 } END { print count + 0 }' "$log")
echo "$ran tests ran on ${#hosts[@]} hosts in $SECONDS s"
if [[ ${#failed[@]} -gt 0 || $ran == 0 ]]; then
  echo "FAILED: ${failed[*]:-no test ran}"
  exit 1
fi
