#!/usr/bin/env bash
# under_mpirun.sh PROBE LAUNCHER [ARGUMENT ...] -- PROGRAM [ARGUMENT ...]: runs a program's ranks under a launcher of MPI.
# Where the launcher cannot even run PROBE, a program of MPI alone, it prints what was said and ends with 77: skipped.
set -uo pipefail
probe="$1"
shift
launcher=()
while [ "$#" -gt 0 ] && [ "$1" != "--" ]; do
  launcher+=("$1")
  shift
done
shift
[ -x "$probe" ] || { echo "$probe is not built" >&2; exit 1; }
if ! said="$(timeout 60 "${launcher[@]}" "$probe" </dev/null 2>&1)"; then
  printf 'MPI does not start here: %s\n%s\n' "${launcher[*]} $probe" "$said"
  exit 77
fi
exec "${launcher[@]}" "$@" </dev/null
