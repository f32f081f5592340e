#!/usr/bin/env bash
# Runs the conformance suite and the measurements of a GPU plugin from an unpacked bundle (bundle.sh), and writes what came out as JSON.
#
#   tessera/run_all.sh [--plugin cuda] [--out results] [--minutes 10] [--sizes "4096 8192 16384"] [--tile 2048] [--link-bytes 268435456] [--replays 2000]
#                      [--contractions 1024] [--extents "16 32 64"] [--blocks "8 16"] [--side 160]
#                      [--list-length 1000000] [--matrices "lap3d:60 lap3d:100"] [--applications "lavamd --size 12; ..."]
#
# Writes into the folder: machine.json, plugins.json, conformance_<plugin>.json, device.json (sparse products, links, overlap, calls), device_own_kernels.json (sparse products without the vendor's library), graphs.json (the runtime's own time per device task,
# submitted, recorded, as graphs), batches.json (block contractions of extents 16 to 64, singly and in batches), vendor_<n>.json (the vendor's libraries by themselves, with the plugin cuda, and a list in managed memory), deepcopy_<scheme>.json (the same list by Tessera), eigs_<matrix>.json (on the device, on the host, and in many panels as graphs and without), <application>_host.json, _device_<run>.json and _auto_<run>.json (its loops on the host, on the device alone, and as the policy auto splits them; later runs have compiled their kernels, and know the devices), and a JSON file per other job; failures.txt names what did not end well. A measurement that would begin after the minutes are over is left out and said so.
# Exit codes: 0 done, 1 something failed, 2 wrong arguments, 5 the plugin finds no device.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export LD_LIBRARY_PATH="$here/lib:$here/lib/needed${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
tessera="$here/bin/tessera"
# The bundle's OpenBLAS may be older than the processor, and then uses kernels for a far older one.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -qw avx2 /proc/cpuinfo && "$here/bin/tessera" gemm --n 8 --json - --quiet 2>/dev/null | grep -q Prescott; then
  export OPENBLAS_CORETYPE=Haswell
  ! grep -qw avx512vl /proc/cpuinfo || ! grep -qw avx512dq /proc/cpuinfo || OPENBLAS_CORETYPE=SkylakeX
fi

plugin=cuda out=results minutes=10 sizes="4096 8192 16384" tile=2048 link_bytes=268435456 replays=2000 contractions=1024 extents="16 32 64" blocks="8 16" side=160 list_length=1000000 self_test=""
matrices="lap3d:60 lap3d:100"
applications="stream --size 33554432 --rounds 20; stream --nstream --size 33554432 --rounds 20; hotspot --size 4096 --rounds 50; srad --size 4096 --rounds 20; lavamd --size 12; cfd --size 60 --rounds 20; comd --size 40 --steps 20"
while [ $# -gt 0 ]; do
  case "$1" in
    --self-test) self_test=yes ;;
    --plugin | --out | --minutes | --sizes | --tile | --link-bytes | --replays | --contractions | --extents | --blocks | --side | --list-length | --matrices | --applications)
      [ $# -ge 2 ] || { echo "[run_all] error: $1 needs a value" >&2; exit 2; }
      case "$1" in --plugin) plugin=$2 ;; --out) out=$2 ;; --minutes) minutes=$2 ;; --sizes) sizes=$2 ;; --tile) tile=$2 ;; --link-bytes) link_bytes=$2 ;; --replays) replays=$2 ;;
        --contractions) contractions=$2 ;; --extents) extents=$2 ;; --blocks) blocks=$2 ;; --side) side=$2 ;; --list-length) list_length=$2 ;;
        --matrices) matrices=$2 ;; --applications) applications=$2 ;; esac
      shift
      ;;
    *) echo "[run_all] error: unknown option '$1'; see the head of this script" >&2; exit 2 ;;
  esac
  shift
done
if [ -n "$self_test" ]; then  # the programs and the plugins find all they need
  "$tessera" plugins --json - >/dev/null && exec "$tessera" gemm --n 200 --quiet
fi

mkdir -p "$out" || exit 2
: >"$out/failures.txt"
file="$(find "$here" -name "tessera_$plugin.so" | head -n 1)"
[ -n "$file" ] || { echo "[run_all] error: the bundle has no plugin '$plugin'" >&2; exit 2; }
# configuration NAME [line of the plugin's table]...: the plugin's devices alone do the work
configuration() {
  local name=$1
  shift
  { printf '[runtime]\nplugins = ["host", "%s"]\n\n[plugin.%s]\n' "$plugin" "$plugin"; printf '%s\n' "$@"; } >"$out/$name.toml"
}
# measure NAME command...: with --json, while there is time
measure() {
  local name=$1
  shift
  if [ "$SECONDS" -ge $((minutes * 60 - 20)) ]; then
    echo "$name: left out, the $minutes minutes are over" | tee -a "$out/failures.txt"
    return
  fi
  local begin=$SECONDS
  if timeout $((minutes * 60 - SECONDS)) "$@" --json "$out/$name.json" >"$out/$name.txt" 2>&1; then
    echo "[run_all] $name: done in $((SECONDS - begin)) s"
  else
    echo "$name: exit code $?" | tee -a "$out/failures.txt"
    tail -n 3 "$out/$name.txt"
  fi
}

# rows NAME command...: the same for programs of bench/, whose rows of suite, runtime, case, workers, metric, value become JSON
rows() {
  local name=$1 code=0
  shift
  if [ "$SECONDS" -ge $((minutes * 60 - 20)) ]; then
    echo "$name: left out, the $minutes minutes are over" | tee -a "$out/failures.txt"
    return
  fi
  timeout $((minutes * 60 - SECONDS)) "$@" >"$out/$name.txt" 2>&1 || code=$?
  if [ "$code" -ne 0 ]; then
    echo "$name: exit code $code" | tee -a "$out/failures.txt"
    tail -n 3 "$out/$name.txt"
    return
  fi
  awk -F '\t' 'NF == 6 { printf "%s\n{\"runtime\": \"%s\", \"case\": \"%s\", \"metric\": \"%s\", \"value\": %s}", (some++ ? "," : "["), $2, $3, $5, $6 }
    END { print (some ? "\n]" : "[]") }' "$out/$name.txt" >"$out/$name.json"
  echo "[run_all] $name: done"
}

configuration all
{
  printf '{"date": "%s", "host": "%s", "plugin": "%s",\n' "$(date -u +%FT%TZ)" "$(uname -srm)" "$plugin"
  printf ' "device": "%s",\n' "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1)"
  printf ' "processor": "%s", "processors": %s}\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)"
} >"$out/machine.json"
if ! "$tessera" plugins --config "$out/all.toml" --json "$out/plugins.json" >"$out/plugins.txt" 2>&1; then
  cat "$out/plugins.txt" >&2
  exit 5
fi

first="${sizes%% *}"
measure "conformance_$plugin" "$tessera" plugins check "$file"
rows device "$here/bin/bench_device" --plugin "$file" --max "$link_bytes" --n "$first" --side "$side"
rows device_own_kernels "$here/bin/bench_device" --plugin "$file" --own 1 --side "$side"
rows graphs "$here/bin/bench_graphs" --plugin "$plugin" --n "$replays"
rows batches "$here/bin/bench_batches" --plugin "$plugin" --n "$contractions" --extents "$extents" --blocks "$blocks"
if [ "$plugin" = cuda ]; then
  for n in $sizes; do
    once() { [ "$n" = "$first" ] && echo "$1" || echo 0; }
    rows "vendor_$n" "$here/bin/bench_device_vendor" --n "$n" --side "$(once "$side")" --levels "$(once 10)" --length "$list_length"
  done
fi
# Deep copies, beside the list in managed memory that vendor_<first> has: each scheme moves all levels and brings them back.
for scheme in chain marshalling block-by-block; do
  measure "deepcopy_$scheme" "$tessera" deepcopy --scenario linear --layout allinit-allused --k 10 --n "$list_length" --scheme "$scheme" --config "$out/all.toml"
done
configuration own_kernels "libraries = false"
for n in $sizes; do
  for job in gemm cholesky; do
    measure "${job}_$n" "$tessera" "$job" --n "$n" --tile "$tile" --repeat 3 --config "$out/all.toml"
  done
done
# What the vendor's libraries bring, what graphs bring, and a matrix that does not fit.
measure "gemm_${first}_own_kernels" "$tessera" gemm --n "$first" --tile "$tile" --config "$out/own_kernels.toml"
measure "cholesky_${first}_own_kernels" "$tessera" cholesky --n "$first" --tile "$tile" --config "$out/own_kernels.toml"
for percent in 150 200 400; do
  bytes=$((3 * 8 * first * first * 100 / percent))
  configuration "capped_$percent" "memory_limit = \"$bytes B\""
  measure "gemm_${first}_at_${percent}_percent" "$tessera" gemm --n "$first" --tile "$((first / 8))" --repeat 3 --config "$out/capped_$percent.toml"
done
# Eigenpairs, on the device and on the host; and loops of the applications, on the device alone and as auto splits them.
for matrix in $matrices; do
  name="${matrix/:/_}"
  measure "eigs_$name" "$tessera" eigs --generate "$matrix" --pairs 4 --tol 1e-6 --at "${plugin}0" --config "$out/all.toml"
  measure "eigs_${name}_host" "$tessera" eigs --generate "$matrix" --pairs 4 --tol 1e-6
done
only="$("$tessera" topology --config "$out/all.toml" --json - | grep -c '"kind": "worker"')"
alone=100
while [ "$only" -gt 1 ]; do alone="0,$alone" only=$((only - 1)); done
while read -r -d ';' -a words; do
  name="${words[0]:-}"
  [ -n "$name" ] || continue
  [[ ${words[*]} != *--nstream* ]] || name=nstream
  measure "${name}_host" "$tessera" "${words[@]}"
  for run in first second; do  # the first compiles kernels
    measure "${name}_device_$run" "$tessera" "${words[@]}" --config "$out/all.toml" --policy "percentage:$alone"
  done
  for run in first second third; do  # what it learns stays, and so do kernels
    measure "${name}_auto_$run" "$tessera" "${words[@]}" --config "$out/all.toml" --policy auto
  done
done <<<"$applications;"
# About 2000 tasks an iteration, as graphs of the device and as single launches. Half a minute each, so at the end.
for matrix in $matrices; do
  name="${matrix/:/_}"
  case "$matrix" in lap3d:100) panel=1000 ;; *) panel=256 ;; esac
  for graphs in true false; do
    measure "eigs_${name}_many_$graphs" "$tessera" eigs --generate "$matrix" --pairs 4 --tol 1e-2 --at "${plugin}0" --config "$out/all.toml" --panel "$panel" --set "runtime.graphs=$graphs"
  done
done
[ ! -s "$out/failures.txt" ]
