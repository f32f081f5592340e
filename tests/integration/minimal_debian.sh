#!/usr/bin/env bash
# Tries both first commands of the README as a new user on a fresh machine would: makes a minimal Debian 12 tree, puts a
# fresh clone of the last commit into it, and runs ./bootstrap run and ./bootstrap test there. Needs root, debootstrap
# and a Debian mirror; takes most of an hour on two cores. Not part of the test suite (docs/building.md).
#
#   tests/integration/minimal_debian.sh [--tree DIR] [--mirror URL] [COMMAND...]
#
# --tree DIR    where the tree is or shall be; an existing one is used again (default build/minimal_debian)
# --mirror URL  default: the first Debian mirror in this machine's /etc/apt
# COMMAND       bootstrap's commands, default: run test
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
tree="$root/build/minimal_debian" mirror=""
while [ $# -gt 0 ]; do
  case "$1" in
    --tree) tree=$2 && shift 2 ;;
    --mirror) mirror=$2 && shift 2 ;;
    -*) sed -n 's/^# \{0,1\}//;2,/^$/p' "$0" && exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- run test

fail() {
  echo "minimal_debian: $*" >&2
  exit 1
}
[ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"

# The mirror of the machine's own packages, in either form of apt's source lists.
mirror_in_use() {
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ ! -f "$file" ] || cat "$file"
  done | sed -nE -e 's#^URIs:[[:space:]]*([^[:space:]]+/debian)/?([[:space:]].*)?$#\1#p' \
    -e 's#^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+/debian)/?[[:space:]].*#\2#p' | awk 'NR == 1'  # reads to the end: a closed pipe would be a failure
}

if [ ! -e "$tree/etc/debian_version" ]; then
  command -v debootstrap >/dev/null || fail "debootstrap is missing; apt-get install debootstrap"
  mirror="${mirror:-$(mirror_in_use)}"
  [ -n "$mirror" ] || fail "no Debian mirror found in /etc/apt; give --mirror URL"
  mkdir -p "$tree"
  debootstrap --variant=minbase bookworm "$tree" "$mirror"
fi

# The last commit alone: what is not committed is not what a user gets.
rm -rf "$tree/root/tessera"
git clone -q --no-hardlinks "$root" "$tree/root/tessera"

# /proc and /sys are the only things mounted, in a mount namespace of their own, so that nothing is left behind.
for command in "$@"; do
  echo "minimal_debian: ./bootstrap $command"
  start=$SECONDS
  # shellcheck disable=SC2016  # expanded inside
  unshare --mount --fork --pid bash -c '
    set -e
    tree=$1 command=$2
    mount -t proc proc "$tree/proc"
    mount --bind /sys "$tree/sys"
    exec chroot "$tree" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      /root/tessera/bootstrap "$command"' minimal_debian "$tree" "$command" </dev/null ||
    fail "./bootstrap $command ended with exit code $?"
  echo "minimal_debian: ./bootstrap $command: done in $((SECONDS - start)) s"
done
