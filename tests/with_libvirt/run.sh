#!/usr/bin/env bash
# Runs the tests of this folder with a real libvirt: `make test-libvirt`, or this script with arguments for pytest.
# libvirt-python has no wheels, so it is built here, with libvirt's headers, into a cache outside the checkout
# (LANEWAY_LIBVIRT_CACHE, else the user's cache folder).
#
# Exit status: pytest's; 1 where no test ran; 75 where a download failed, with a line that begins "NOT RUN".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
python=${LANEWAY_PYTHON:-$repository/.venv/bin/python}
cache=${LANEWAY_LIBVIRT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/libvirt}
# shellcheck source=../downloading.sh
. "$repository/tests/downloading.sh"

can_build() {
  local headers
  headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  command -v cc >/dev/null && [[ -e $headers/Python.h ]] && command -v pkg-config >/dev/null && pkg-config --exists libvirt
}

build() {
  local folder=$1
  echo "Building libvirt-python (once) ..." >&2
  download "libvirt-python" "$cache/build.log" "$python" -m pip --disable-pip-version-check install --quiet \
    --require-hashes --no-deps --upgrade --target "$folder.new" --requirement "$here/requirements.txt"
  rm -rf "$folder"
  mv "$folder.new" "$folder"
}

mkdir -p "$cache"
version=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
built=$cache/$version-$(cksum <"$here/requirements.txt" | cut -d' ' -f1)
can_build || install_packages "libvirt-python is built with libvirt's headers" "$cache/apt.log" \
  gcc libc6-dev libvirt-dev pkg-config python3-dev
[[ -d $built ]] || build "$built"

cd "$repository"
unset LANEWAY_CONFIG
PYTHONPATH=$built "$python" -m pytest "$@" tests/with_libvirt
