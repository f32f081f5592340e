#!/usr/bin/env bash
# Runs a command on a machine with two host memories that has only one: in a mount namespace of its own, where the system's list of
# memory nodes has a second one. Half of the CPUs are said to be there. Everything allocated there lies in the one memory, of course.
#   tests/stress/two_memories.sh build/release/bin/stress --minutes 5 --two-memories
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,4p' "$0" >&2; exit 2; }

nodes="$(mktemp -d)"
trap 'rm -rf "$nodes"' EXIT
count="$(nproc --all)"
half=$(((count + 1) / 2))
first="0-$((half - 1))" second="$half-$((count - 1))"
[ "$count" -gt 1 ] || { first=0 second=0; }
echo 0-1 | tee "$nodes/online" "$nodes/possible" "$nodes/has_cpu" "$nodes/has_memory" "$nodes/has_normal_memory" >/dev/null
for node in 0 1; do
  mkdir "$nodes/node$node"
  sed "s/^Node 0/Node $node/" /sys/devices/system/node/node0/meminfo >"$nodes/node$node/meminfo"
  [ "$node" -eq 0 ] && echo "$first" >"$nodes/node$node/cpulist" || echo "$second" >"$nodes/node$node/cpulist"
  [ "$node" -eq 0 ] && echo "10 20" >"$nodes/node$node/distance" || echo "20 10" >"$nodes/node$node/distance"
done

namespace=(unshare --mount)
[ "$(id -u)" -eq 0 ] || namespace+=(--map-root-user)
# shellcheck disable=SC2016
"${namespace[@]}" -- bash -c 'mount --bind "$1" /sys/devices/system/node && shift && exec "$@"' two_memories "$nodes" "$@"
