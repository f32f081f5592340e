#!/usr/bin/env bash
# Builds unit tests for AArch64 and runs them under qemu-user: atomics, alignment, char's sign, page sizes. See README.md.
set -euo pipefail

source_dir="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
tree="${TESSERA_AARCH64_ROOT:-$source_dir/build/aarch64_root}"
build="$source_dir/build/aarch64"
rooms="base block memory task transfer schedule"

usage() {
  cat <<USAGE
usage: tests/aarch64/run.sh [--tree DIR] [--build DIR] [--jobs N] [ROOM...]

  ROOM         as in tests/unit (default: $rooms)
  --tree DIR   the arm64 packages; made when it is not there (default: \$TESSERA_AARCH64_ROOT, or build/aarch64_root; 0.5 GB)
  --build DIR  default: build/aarch64
  --jobs N     parallel compilations (default: one per CPU)
USAGE
}
fail() {
  printf 'run.sh: %s\n' "$@" >&2
  exit 2
}

jobs="$(nproc)" chosen=""
while [ $# -gt 0 ]; do
  case "$1" in
    --tree | --build | --jobs)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case "$1" in --tree) tree=$2 ;; --build) build=$2 ;; --jobs) jobs=$2 ;; esac
      shift
      ;;
    -h | --help) usage && exit 0 ;;
    -*) fail "unknown option $1" "$(usage)" ;;
    *) [ -d "$source_dir/tests/unit/$1" ] || fail "no room $1 in tests/unit" && chosen="$chosen $1" ;;
  esac
  shift
done
rooms="${chosen:-$rooms}"

missing=""
for pair in aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64-static:qemu-user-static cmake:cmake ninja:ninja-build; do
  command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
done
[ -d "$tree" ] || command -v mmdebstrap >/dev/null || missing="$missing mmdebstrap"
[ -z "$missing" ] || fail "missing; as root: apt-get install --no-install-recommends$missing"

if [ ! -d "$tree" ]; then  # unpacked only: nothing of it is installed here, and nothing runs while it is made
  packages="libc6-dev,libstdc++-12-dev,$(awk '$1 == "build" && $2 ~ /-dev$/ { printf "%s%s", comma, $2; comma = "," }' \
    "$source_dir/cmake/debian_packages.txt")"
  mmdebstrap --variant=extract --architectures=arm64 --include="$packages" bookworm "$tree.part"
  mv "$tree.part" "$tree"
fi

# Warnings are no errors here: GCC 12 for AArch64 sees writes beyond the end in vectorised std::iota and std::fill that are not there.
cmake -S "$source_dir" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$source_dir/cmake/toolchains/aarch64.cmake" \
  -DTESSERA_AARCH64_ROOT="$tree" -DTESSERA_WERROR=OFF -DTESSERA_BUILD_BENCH=OFF -DTESSERA_BUILD_EXAMPLES=OFF -DTESSERA_OPENCL=OFF -DTESSERA_CUDA=OFF -DTESSERA_HIP=OFF
targets="" names=""
for room in $rooms; do
  targets="$targets unit_${room//\//_}"
  names="$names|unit_${room//\//_}"
done
# shellcheck disable=SC2086
cmake --build "$build" --parallel "$jobs" --target $targets plugin_host plugin_sim plugin_disk
ctest --test-dir "$build" --output-on-failure -R "^(${names#|})\$"
