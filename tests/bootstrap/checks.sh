# shellcheck shell=bash
# What both tests share: a temporary folder, a stand-in for a program, and checks that count.

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
checks=0 failures=0

# stand_in NAME BODY: a program that writes its name and arguments to $work/calls, then runs BODY
stand_in() {
  printf '#!/bin/bash\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$work" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# check WORDS CONDITION...: the condition is a command
check() {
  local words=$1
  shift
  checks=$((checks + 1))
  if ! "$@"; then
    failures=$((failures + 1))
    echo "failed: $words" >&2
    sed 's/^/    | /' "$work/output" >&2
  fi
}

printed() { grep -qF -- "$1" "$work/output"; }
called() { [ -e "$work/calls" ] && grep -qF -- "$1" "$work/calls"; }
not_called() { ! called "$1"; }

finish() {
  echo "$checks checks, $failures failed"
  [ "$failures" -eq 0 ]
}
