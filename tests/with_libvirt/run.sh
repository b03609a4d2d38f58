#!/usr/bin/env bash
# Runs the tests of this folder with a real libvirt: run.sh PYTHON FOLDER, where FOLDER gets libvirt-python beside
# the environment that PYTHON is of. libvirt-python has no wheels, so it is built here, with libvirt's headers.
# What cannot be downloaded is said, and is no failure; anything else is.
set -euo pipefail

python=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
packages=(gcc libc6-dev libvirt-dev pkg-config python3-dev)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fetch() {
  local what=$1
  shift
  "$@" >"$log" 2>&1 && return
  if grep -qiE 'connection|timed out|max retries|temporary failure|could not resolve|no matching distribution|failed to fetch' "$log"; then
    echo "The tests with libvirt were not run: $what could not be downloaded:"
    tail -n 3 "$log"
    exit 0
  fi
  tail -n 20 "$log" >&2
  exit 1
}

if ! pkg-config --exists libvirt 2>"$log"; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >"$log"; then
    echo "Building libvirt-python needs libvirt's headers. On Debian and Ubuntu: apt-get install ${packages[*]}" >&2
    echo "On Fedora: dnf install gcc libvirt-devel pkgconf python3-devel" >&2
    exit 1
  fi
  echo "Installing ${packages[*]} (once) ..."
  fetch "the list of packages" apt-get update -qq
  fetch "${packages[*]}" apt-get install -qq --yes --no-install-recommends "${packages[@]}"
fi

if [ ! -e "$folder/.ready" ]; then
  echo "Building libvirt-python (once) ..."
  fetch "libvirt-python" "$python" -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps \
    --upgrade --target "$folder" --requirement "$here/requirements.txt"
  touch "$folder/.ready"
fi

PYTHONPATH=$folder "$python" -m pytest "$here"
