#!/usr/bin/env bash
# The bundle for a machine with a GPU, made, unpacked elsewhere and run end to end on the emulator.
#   bundle_test.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source_folder="$1" build="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $1" >&2
  exit 1
}
# expect CODE command...
expect() {
  local wanted=$1 code=0
  shift
  "$@" >"$work/output" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || { cat "$work/output" >&2; fail "exit code $code instead of $wanted: $*"; }
}

expect 21 "$source_folder/bench/device/bundle.sh" "$work"
expect 2 "$source_folder/bench/device/bundle.sh" a b c
expect 0 "$source_folder/bench/device/bundle.sh" "$build" "$work/bundle.tar.gz"
tar -C "$work" -xzf "$work/bundle.tar.gz"
run="$work/tessera/run_all.sh"
expect 2 "$run" --unknown
expect 2 "$run" --plugin
expect 2 "$run" --plugin no_such_plugin --out "$work/none"
expect 0 "$run" --plugin cuda_emulated --sizes 192 --tile 48 --link-bytes 65536 --replays 2 --contractions 16 --extents "16 32" --blocks 3 --side 8 --list-length 1000 --matrices lap2d:12 --applications "stream --size 2000 --rounds 2; hotspot --size 16 --rounds 2" --minutes 4 --out "$work/results"
for result in machine plugins device graphs batches conformance_cuda_emulated gemm_192 cholesky_192 gemm_192_own_kernels cholesky_192_own_kernels \
  gemm_192_at_150_percent gemm_192_at_200_percent gemm_192_at_400_percent deepcopy_chain deepcopy_marshalling deepcopy_block-by-block \
  eigs_lap2d_12 eigs_lap2d_12_host stream_host stream_device_first stream_auto_second hotspot_device_second; do
  cmake -D FILE="$work/results/$result.json" -P "$here/is_json.cmake" >&2 || fail "$result.json"
done
grep -q '"case": "product_e32_batches", "metric": "gflops"' "$work/results/batches.json" || fail "contractions in batches were not measured"
grep -q '"error_ok": *true' "$work/results/gemm_192_at_400_percent.json" || fail "the out-of-core product is not right"
grep -q 'cuda_emulated0 100.0 %' "$work/results/hotspot_device_first.txt" || fail "the device alone does not do the loops"
# Without time nothing is measured, and that is said.
expect 1 "$run" --plugin cuda_emulated --sizes 192 --tile 48 --link-bytes 4096 --minutes 0 --out "$work/late"
grep -q 'gemm_192: left out' "$work/late/failures.txt" || fail "what was left out is not named"
echo "passed"
