#!/usr/bin/env bash
# ci_test.sh SOURCE: .ci/run sums up the presets and fails when any of them fails or tests nothing, and tells what
# clang-tidy finds.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
mkdir -p "$work/clone/.ci" "$work/clone/tools"
cp "$1/.ci/run" "$work/clone/.ci/"

# bootstrap_says PRESET CODE LINE: the stand-in for one preset
bootstrap_says() {
  printf 'case "$*" in *"--preset %s"*) echo "%s"; exit %d ;; esac\n' "$1" "$3" "$2" >>"$work/clone/bootstrap"
}
# tidy_says CODE LINE: the stand-in for clang-tidy
tidy_says() {
  printf '#!/bin/bash\necho "%s"\nexit %d\n' "$2" "$1" >"$work/clone/tools/tidy"
  chmod +x "$work/clone/tools/tidy"
}
fresh() {
  tidy_says 0 "no source to look at"
  printf '#!/bin/bash\n' >"$work/clone/bootstrap"
  chmod +x "$work/clone/bootstrap"
}
run_ci() {
  bash "$work/clone/.ci/run" >"$work/output" 2>&1 </dev/null
  code=$?
}
exits() { [ "$code" -eq "$1" ]; }
last_line_is() { [ "$(tail -n 1 "$work/output")" = "$1" ]; }

fresh
bootstrap_says release 0 "100% tests passed, 0 tests failed out of 40"
bootstrap_says asan 0 "100% tests passed, 0 tests failed out of 30"
bootstrap_says tsan 0 "100% tests passed, 0 tests failed out of 30"
run_ci
check "all pass" exits 0
check "the sum is the last line" last_line_is "100 passed, 0 failed"

fresh
bootstrap_says release 0 "100% tests passed, 0 tests failed out of 40"
bootstrap_says asan 23 "97% tests passed, 1 tests failed out of 30"
bootstrap_says tsan 0 "100% tests passed, 0 tests failed out of 30"
run_ci
check "a failed test fails the run" exits 1
check "the later presets still run" last_line_is "99 passed, 1 failed"

fresh
bootstrap_says release 0 "100% tests passed, 0 tests failed out of 40"
bootstrap_says asan 22 "ninja: build stopped"
bootstrap_says tsan 0 "100% tests passed, 0 tests failed out of 30"
run_ci
check "a failed build fails the run" exits 1
check "a failed build is named" printed "asan: no test was run"

fresh
bootstrap_says release 0 "100% tests passed, 0 tests failed out of 40"
bootstrap_says asan 0 "nothing"
bootstrap_says tsan 0 "100% tests passed, 0 tests failed out of 30"
run_ci
check "a preset that tests nothing fails the run" exits 1

for answer in "1 0" "77 0"; do  # findings are told, and fail nothing
  fresh
  for preset in release asan tsan; do bootstrap_says "$preset" 0 "100% tests passed, 0 tests failed out of 30"; done
  tidy_says "${answer% *}" "tidy answers ${answer% *}"
  run_ci
  check "tidy answers ${answer% *}: the run ends with ${answer#* }" exits "${answer#* }"
  check "what tidy says last is in the summary" printed "  tidy: tidy answers ${answer% *}"
done

# A slow machine: the clock of the run starts at 81 minutes, so that nothing begins after release.
fresh
for preset in release asan tsan; do bootstrap_says "$preset" 0 "100% tests passed, 0 tests failed out of 30"; done
sed -i '2iSECONDS=4860' "$work/clone/.ci/run"
run_ci
check "what would not end in time is left out" printed "  tsan: left out, this machine is too slow"
check "release is never left out" last_line_is "30 passed, 0 failed"
check "clang-tidy is left out then" printed "  tidy: left out, the tests have taken 81 minutes"

# A machine on which release took twelve times as long.
fresh
for preset in release asan tsan; do bootstrap_says "$preset" 0 "100% tests passed, 0 tests failed out of 30"; done
sed -i '2d; s/^slowness=100/slowness=1200/' "$work/clone/.ci/run"
run_ci
check "what takes too long on a slow machine is left out" printed "  tsan: left out, this machine is too slow"

finish
