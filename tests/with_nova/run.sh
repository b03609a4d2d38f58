#!/usr/bin/env bash
# Runs the tests of this folder with nova's own code: `make test-nova`, or this script with arguments for pytest.
# nova needs other releases of what both use, so it has an environment of its own, which `make bench` uses, too.
#
# Exit status: pytest's; 75 where a download failed, with a line that begins "NOT RUN".
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${LANEWAY_PYTHON:-$repository/.venv/bin/python}
# shellcheck source=../downloading.sh
. "$repository/tests/downloading.sh"

cd "$repository"
download "nova" "$(mktemp)" make --silent bench/.venv-nova/.peer
unset LANEWAY_CONFIG
"$python" -m pytest "$@" tests/with_nova
