#!/usr/bin/env bash
# Makes the root of the test host and its initramfs in the folder LANEWAY_TESTBED, once: fetch.sh PYTHON, where PYTHON
# is any that has pip.
#
# Debian's packages are downloaded by apt-get, as it is configured, and unpacked: nothing is installed on this
# machine, and root is not needed. Exit status: 75 where a download failed, with a line that begins "NOT RUN".
set -euo pipefail

python=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pinned=$(cd "$here/../../../requirements" && pwd)
cache=$LANEWAY_TESTBED
root=$cache/root
suite=${LANEWAY_TESTBED_SUITE:-trixie}
# shellcheck source=../../downloading.sh
. "$here/../../downloading.sh"

# What the tests need beside what Laneway needs.
test_packages="pytest iniconfig packaging pluggy pygments"

# What the kernel needs to reach its root; all else it loads from there.
first_modules=(9pnet_virtio 9p overlay virtio_iommu)

say() { echo "test host: $*" >&2; }

# apt-get for a machine on which nothing is installed, with the mirror of this one.
apt() {
  apt-get -q -y -o APT::Architecture=amd64 -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$cache/apt/sources.list" \
    -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::State::Status="$cache/apt/status" -o Dir::State::Lists="$cache/apt/lists" -o Dir::Cache="$cache/apt/cache" "$@"
}

# A program of the root, by its name or another that it goes by, run on this machine.
of_root() {
  "$here/of-root.sh" "$root" "$@"
}

keyring() {
  ls /usr/share/keyrings/debian-archive-keyring.{pgp,gpg} 2>/dev/null | head -n 1
}

download_packages() {
  local mirror packages
  [[ -n $(keyring) ]] || install_packages "Debian's archive keyring tells which packages are Debian's" "$cache/apt.log" \
    debian-archive-keyring
  mirror=$("$here/debian-mirror.sh")
  mapfile -t packages < <(grep -v '^#' "$here/packages.txt")
  rm -rf "$cache/apt"
  mkdir -p "$cache"/apt/{lists/partial,cache/archives/partial}
  : >"$cache/apt/status"
  echo "deb [arch=amd64 signed-by=$(keyring)] $mirror $suite main" >"$cache/apt/sources.list"
  say "downloading packages of Debian $suite (200 MB, once)"
  download "the list of the packages of Debian $suite" "$cache/apt.log" apt -o APT::Update::Error-Mode=any update
  download "packages of Debian $suite" "$cache/apt.log" \
    apt --no-install-recommends --download-only install "${packages[@]}"
}

unpack_packages() {
  local package directory
  say "unpacking them"
  rm -rf --one-file-system "$root"
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
  for directory in bin sbin lib lib64; do ln -s "usr/$directory" "$root/$directory"; done
  for package in "$cache"/apt/cache/archives/*.deb; do dpkg-deb --extract "$package" "$root"; done
  rm -rf "$root"/usr/share/{doc,man,locale} "$cache/apt"
  # All files are of whoever runs this: programs would run as that user, who is nobody on the test host.
  find "$root" -type f -perm /6000 -exec chmod ug-s {} +
  of_root usr/bin/kmod depmod -b "$root" "$(release)"
}

# What the packages' own scripts would do, as far as this host needs it.
configure() {
  cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
  cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
  printf '%s:x:%s:\n' kvm 993 render 992 input 991 sgx 990 libvirt 989 libvirt-qemu 988 >>"$root/etc/group"
  echo "libvirt-qemu:x:988:988::/var/lib/libvirt:/usr/sbin/nologin" >>"$root/etc/passwd"
  echo "127.0.0.1 localhost testhost" >"$root/etc/hosts"
  rm -rf "$root/var/run"
  ln -s /run "$root/var/run"
  cp "$here/qemu.conf" "$root/etc/libvirt/qemu.conf"
}

release() {
  basename "$root"/usr/lib/modules/*
}

# The pins, with their hashes, of what Laneway and the tests need.
requirements() {
  cat "$pinned/runtime.txt"
  awk -v names=" $test_packages " '/^[a-z0-9]/ { split($1, name, "=="); wanted = index(names, " " name[1] " ") } wanted' \
    "$pinned/dev.txt"
}

# They are installed for the Python of the root.
install_requirements() {
  local version
  version=$(of_root usr/bin/python3 python3 -Bc 'import sys; print("%d.%d" % sys.version_info[:2])')
  rm -rf "$root/opt/requirements"
  download "packages for Python $version" "$cache/pip.log" \
    "$python" -m pip --disable-pip-version-check --quiet install --target "$root/opt/requirements" --no-deps --no-compile \
    --require-hashes --requirement "$cache/requirements.txt" --only-binary :all: --implementation cp --python-version "$version" \
    --platform manylinux2014_x86_64 --platform manylinux_2_28_x86_64
  say "compiling Python's modules"
  "$here/compile.sh" "$root" "$root/usr/lib/python$version" "$root/usr/lib/python3" "$root/opt/requirements"
  cp "$cache/requirements.txt" "$root/opt/requirements.txt"
}

make_initramfs() {
  local work module number=10
  work=$(mktemp -d "$cache/initramfs.XXXXXX")
  mkdir -p "$work"/{bin,dev,proc,sys,modules,below,above,root}
  cp "$root/usr/bin/busybox" "$work/bin/busybox"
  ln -s busybox "$work/bin/sh"
  cp "$here/init" "$work/init"
  while read -r module; do
    "$root/usr/bin/busybox" xz -dc "$module" >"$work/modules/$number-$(basename "$module" .xz)"
    number=$((number + 1))
  done < <(modules_in_order)
  (cd "$work" && find . | "$root/usr/bin/busybox" cpio -o -H newc -R 0:0 2>"$cache/cpio.log") >"$cache/initramfs.new"
  rm -rf "$work"
  mv "$cache/initramfs.new" "$cache/initramfs.cpio"
}

# The files of the first modules and of what they need, each after what it needs.
modules_in_order() {
  local module
  for module in "${first_modules[@]}"; do
    of_root usr/bin/kmod modprobe -d "$root" -S "$(release)" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

mkdir -p "$cache"
# A root is made of the list of packages that stands here; another list makes another root.
if ! cmp -s "$here/packages.txt" "$cache/packages.txt"; then
  download_packages
  unpack_packages
  cp "$here/packages.txt" "$cache/packages.txt"
fi
configure
requirements >"$cache/requirements.txt"
cmp -s "$cache/requirements.txt" "$root/opt/requirements.txt" || install_requirements
[[ $cache/initramfs.cpio -nt $here/init ]] || make_initramfs
