#!/usr/bin/env bash
# Compiles Python modules for the test host, which would take twenty times as long there: compile.sh ROOT FOLDER...
set -euo pipefail

root=$1
shift
"$(dirname "${BASH_SOURCE[0]}")/of-root.sh" "$root" usr/bin/python3 python3 -m compileall -q -s "$root" \
  -x '/(tests?|idlelib|lib2to3|ensurepip)/' "$@"
