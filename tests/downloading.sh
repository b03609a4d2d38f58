# How the suites that download what they need say that a download failed. Sourced by their run.sh.
# shellcheck shell=bash

DOWNLOAD_FAILED=75 # EX_TEMPFAIL of sysexits.h: it may work another time

_no_network='connection|timed out|time.?out|max retries|temporary failure|could not resolve|could not connect|unreachable'
_no_file='failed to fetch|unable to fetch|no matching distribution|unable to locate package|404 +not found|502 |503 '

# download WHAT LOG COMMAND...: runs a command that downloads; what it prints goes into the file LOG. Where it fails for
# want of a download the last line begins "NOT RUN" and the exit status is 75; where it fails for another reason it is 1.
download() {
  local what=$1 log=$2
  shift 2
  "$@" >"$log" 2>&1 && return
  if grep -qiE "$_no_network|$_no_file" "$log"; then
    tail -n 5 "$log" >&2
    echo "NOT RUN: failed download: $what (see $log)" >&2
    exit $DOWNLOAD_FAILED
  fi
  tail -n 20 "$log" >&2
  echo "FAILED: $what (see $log)" >&2
  exit 1
}

# as_root COMMAND...: runs a command as root, if this user may.
as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

# install_packages PURPOSE LOG PACKAGE...: installs packages of Debian or Ubuntu on this machine. Exit status 1 where
# this is neither, or the user may not.
install_packages() {
  local purpose=$1 log=$2
  shift 2
  if ! command -v apt-get >/dev/null || ! { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }; then
    echo "FAILED: $purpose; install it, on Debian and Ubuntu: apt-get install $*" >&2
    exit 1
  fi
  echo "Installing $* (once) ..." >&2
  download "the list of packages" "$log" as_root apt-get update -qq -o APT::Update::Error-Mode=any
  download "$*" "$log" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq --yes --no-install-recommends "$@"
}
