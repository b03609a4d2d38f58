#!/usr/bin/env bash
# Prints the Debian mirror that packages come from: LANEWAY_DEBIAN_MIRROR, else the one that this machine's own apt uses.
set -euo pipefail

from_index_targets() {
  # shellcheck disable=SC2016 # apt's own variable
  apt-get indextargets --format '$(REPO_URI)' 2>/dev/null
}

from_source_lists() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE 'https?://[^ ]+'
}

mirror=${LANEWAY_DEBIAN_MIRROR:-$({ from_index_targets || true; from_source_lists || true; } | grep -m1 '/debian/\?$' || true)}
if [[ -z $mirror ]]; then
  echo "apt's configuration names no Debian mirror; name one in LANEWAY_DEBIAN_MIRROR" >&2
  exit 1
fi
echo "$mirror"
