#!/usr/bin/env bash
# reach_test.sh SOURCE BUILD: which tests of a build cmake/reach.cmake says can see a change.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# reached FILE...: asks about these
reached() {
  local changed
  changed="$(IFS=';' && echo "$*")"
  cmake -D "BUILD=$build" -D "CHANGED=$changed" -P "$source_folder/cmake/reach.cmake" >"$work/output" 2>&1
}
answer_is() { [ "$(cat "$work/output")" = "$1" ]; }
runs() { grep -Eq "^tests .*[(|]$1[)|]" "$work/output"; }
leaves_out() { ! runs "$1"; }

source_folder="$1" build="$2"
reached docs/sial.md CHANGELOG.md bench/sial/by_hand.cpp tests/layering/rules.cpp
check "documents and benchmarks reach no test of a sanitizer" answer_is none
for file in core/base/error.cpp include/tessera/detail/array.hpp hierarchy/region/engine.cpp plugins/host/plugin.cpp CMakeLists.txt \
  apps/sial/CMakeLists.txt cmake/reach.cmake tests/support/slow_down.hpp .ci/run bootstrap; do
  reached docs/sial.md "$file"
  check "everything sees $file" answer_is all
done
reached languages/sial/exchange/socket_hub.cpp
check "tests of a library see its sources" runs unit_sial_exchange
check "and those of what is made from it" runs integration_sial
check "and those that start the program" runs integration_cli
check "others do not" leaves_out unit_transfer
check "nor regions" leaves_out integration_regions
reached libraries/sparse/matrix/csr_matrix.cpp docs/sparse.md
check "a document beside it changes nothing" runs unit_sparse
check "SIAL does not see sparse matrices" leaves_out integration_sial
reached apps/stream/kernels.hpp
check "headers are seen by their floor: rodinia's tests have one of stream" runs integration_rodinia_stream
check "not by what has nothing of that floor" leaves_out unit_transfer
reached tests/integration/cli/eigs_test.cpp
check "a test sees its own source" runs integration_cli
check "not that of another one" leaves_out integration_sial
reached tests/unit/plugins/disk_test.cpp
check "a program of its own is built" grep -Eq "^targets (.* )?bin/unit_plugins( |$)" "$work/output"
if runs unit_plugins_opencl; then  # and not taken for a part of unit_plugins
  check "also one that ends in _opencl" grep -Eq "^targets (.* )?bin/unit_plugins_opencl( |$)" "$work/output"
fi
check "a part of a program is not" test "$(grep -c 'bin/unit_sparse_opencl' "$work/output")" -eq 0
reached tests/integration/runtime/machines.hpp
check "all tests see headers of tests" runs integration_sial
check "also those of rooms" runs unit_transfer

finish
