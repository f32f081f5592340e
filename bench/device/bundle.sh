#!/usr/bin/env bash
# One archive that runs on another machine with nothing installed: programs, plugins, the shared libraries that they need but the C
# library, configurations, and run_all.sh, which measures from it.
#
#   bench/device/bundle.sh [BUILD_FOLDER] [ARCHIVE]      (default: build/release, build/tessera_bundle.tar.gz)
#
# Exit codes: 0 done, 2 wrong arguments, 21 nothing is built there, 22 the archive is larger than 60 MB or does not run.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="${1:-$root/build/release}"
archive="${2:-$root/build/tessera_bundle.tar.gz}"
most_bytes=$((60 * 1000 * 1000))

fail() {
  printf '[bundle] error: %s\n' "$2" >&2
  exit "$1"
}
[ $# -le 2 ] || fail 2 "too many arguments; see the head of this script"
[ -x "$build/bin/tessera" ] || fail 21 "there is no $build/bin/tessera; build it first: ./bootstrap test"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
prefix="$work/tessera"
cmake --install "$build" --prefix "$prefix" --component runtime >/dev/null
for program in bench_device bench_graphs bench_batches bench_device_vendor; do
  [ ! -x "$build/bin/$program" ] || install -m 755 "$build/bin/$program" "$prefix/bin/"
done
install -m 755 "$root/bench/device/run_all.sh" "$prefix/run_all.sh"

strip --strip-unneeded "$prefix"/bin/* "$prefix"/lib*/libtessera.so.*.*.* 2>/dev/null || true

# Everything that programs and plugins are linked to, but what belongs to the C library of the other machine, and what a vendor's
# driver brings. AMD's runtime stays out with its plugin: half a gigabyte, for a machine that has it anyway.
plugins="$(dirname "$(find "$prefix" -name tessera_host.so)")"
rm -f "$plugins/tessera_hip.so"
mkdir -p "$prefix/lib/needed"
# OpenBLAS is loaded by the plugins when they are opened, so no file tells of it.
blas="$(sed -n 's/^pkgcfg_lib_openblas_openblas:[A-Z]*=//p' "$build/CMakeCache.txt")"
[ -f "$blas" ] || fail 21 "$build/CMakeCache.txt does not say where OpenBLAS is"
cp -L "$blas" "$prefix/lib/needed/libopenblas.so.0"
find "$prefix" -type f \( -name '*.so*' -o -path '*/bin/*' \) -print0 |
  LD_LIBRARY_PATH="$prefix/lib" xargs -0 -n 1 ldd 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libresolv|libcuda)\.so' | grep -v "^$prefix" |
  while read -r library; do cp -L "$library" "$prefix/lib/needed/"; done

"$prefix/run_all.sh" --self-test || fail 22 "the bundle does not run here"
mkdir -p "$(dirname "$archive")"
tar -C "$work" -czf "$archive" tessera
bytes="$(stat -c %s "$archive")"
[ "$bytes" -le "$most_bytes" ] || fail 22 "$archive has $bytes bytes, more than $most_bytes"
echo "[bundle] $archive, $((bytes / 1000000)) MB: unpack it anywhere and run tessera/run_all.sh"
