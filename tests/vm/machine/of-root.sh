#!/usr/bin/env bash
# Runs a program of the test host's root on this machine, whatever this machine's own libraries are:
# of-root.sh ROOT PROGRAM NAME ARGUMENT..., where NAME is what the program sees itself called.
set -euo pipefail

root=$1 program=$2 name=$3
shift 3
export PYTHONHOME=$root/usr PYTHONPATH=
exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" --argv0 "$name" \
  "$root/$program" "$@"
