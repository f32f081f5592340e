#!/usr/bin/env bash
# New plugins, made and used as their README.md says: skeleton_test.sh STEP [LANGUAGE], with the variables that CMakeLists.txt sets.
#   PREFIX   where Tessera is installed, or a folder that looks like it: bin/tessera and include/tessera/plugin.h
#   WORK     a folder of its own
#   CC CXX RUSTC CARGO, FLAGS   what compiles; FLAGS are those of a sanitizer. RUSTC and CARGO may be empty
# Every step fails with a sentence on standard error, and ends with 77 where it is left out.
set -euo pipefail

name=my_device-x  # every kind of character that is allowed
optimise=-O0      # of plugins that are built to fail

fail() {
  echo "skeleton_test: $*" >&2
  exit 1
}
left_out() {
  echo "skeleton_test: left out: $*"
  exit 77
}
fresh() {
  rm -rf "${1:?}"
  mkdir -p "$1"
}
# expect_text FILE WORDS...: the file holds each
expect_text() {
  local file=$1 words
  shift
  for words in "$@"; do grep -qF -- "$words" "$file" || fail "'$words' is not in $file: $(cat "$file")"; done
}
need_rust() { [ -n "$RUSTC" ] || left_out "no rustc of version 1.77 or newer was found when Tessera was configured, or a sanitizer is on, which Rust's library is not built for"; }

# What a block calls.
compilers() {
  export PREFIX PATH="$PREFIX/bin:$PATH" CC CXX CARGO_TARGET_DIR=target
  unset LD_LIBRARY_PATH
  # shellcheck disable=SC2086  # FLAGS are words
  cc() { "$CC" $FLAGS -Wall -Wextra -Wpedantic -Werror "$@"; }
  # shellcheck disable=SC2086
  c++() { "$CXX" $FLAGS -Wall -Wextra -Wpedantic -Werror "$@"; }
  rustc() { "$RUSTC" -D warnings "$@"; }
  # shellcheck disable=SC2317  # called by blocks
  cargo() { "$CARGO" "$@"; }
}

# new FOLDER LANGUAGE: a new plugin there
new() {
  rm -rf "${1:?}"
  mkdir -p "$WORK"
  "$PREFIX/bin/tessera" plugins new "$name" --language "$2" --directory "$1" >"$1.txt"
  expect_text "$1.txt" "wrote $1/README.md"
}

# The blocks of the README, typed from the first line to the last in the folder of the plugin.
step_guide() {
  local folder="$WORK/$1" block text count=0
  [ "$1" != rust ] || need_rust
  new "$folder" "$1"
  cd "$folder"
  awk '/^```sh$/ { file = "block_" ++n ".sh"; next } /^```$/ { file = ""; next } file != "" { print > file }' README.md
  compilers
  for block in block_*.sh; do
    text=$(cat "$block")
    case $text in
      cmake*) [ -n "$(find "$PREFIX/" -name tesseraConfig.cmake)" ] || { echo "not typed, since there is no package of Tessera here: $text"; continue; } ;;
      cargo*) [ -n "$CARGO" ] || { echo "not typed, since there is no cargo: $text"; continue; } ;;
    esac
    echo "--- $text"
    # shellcheck source=/dev/null
    source "./$block" >"$block.txt" 2>&1 || fail "README.md: $text: $(cat "$block.txt")"
    count=$((count + 1))
  done
  [ "$count" -ge 3 ] || fail "only $count blocks of README.md were typed"
  cat block_*.txt >all.txt
  expect_text all.txt "$name 0.1.0: " " 0 failed" "${name}0" residual error
  ! grep -q '^failed' all.txt || fail "the suite: $(grep '^failed' all.txt)"
  if [ -e "target/release/libtessera_my_device_x.so" ]; then
    "$PREFIX/bin/tessera" plugins check --filter lifecycle target/release/libtessera_my_device_x.so >cargo.txt || fail "what cargo made: $(cat cargo.txt)"
  fi
  # A program in SIAL with the device in its machine.
  printf '%s\n' 'sial p' 'index i = 1:4' 'index j = 1:4' 'special fill_block_sequential wr' 'scalar x' 'scalar y' 'temp a[i,j]' 'temp b[j,i]' 'pardo i, j' \
    'execute fill_block_sequential a[i,j] 1.0' 'execute fill_block_sequential b[j,i] 2.0' 'x += a[i,j] * b[j,i]' 'endpardo i, j' \
    'collective y += x' 'print y' 'endsial p' >p.sialx
  "$PREFIX/bin/tessera" sial run p.sialx --set "runtime.plugins=[\"host\", \"$PWD/build/tessera_$name.so\"]" >sial.txt 2>&1 || fail "sial run: $(cat sial.txt)"
  expect_text sial.txt "y = 32.0"
  [ "$1" != rust ] || runs_products
}

# The device of the skeleton in Rust multiplies matrices: tasks run there.
runs_products() {
  "$PREFIX/bin/tessera" gemm --n 600 --tile 100 --workers 1 --stats --set runtime.placement=eager \
    --set "runtime.plugins=[\"host\", \"$PWD/build/tessera_$name.so\"]" >gemm.txt || fail "gemm: $(cat gemm.txt)"
  grep -qE "^gemm +${name}0 +[1-9]" gemm.txt || fail "no product ran on the device: $(cat gemm.txt)"
}

# build FOLDER LANGUAGE: its plugin, by the commands of the README, which take less time here
build() {
  cd "$1"
  mkdir -p build
  case $2 in
    c) cc -std=c11 "$optimise" -fPIC -fvisibility=hidden -shared -pthread -I "$PREFIX/include" plugin.c -o "build/tessera_$name.so" ;;
    c++) c++ -std=c++20 "$optimise" -fPIC -fvisibility=hidden -shared -pthread -I "$PREFIX/include" plugin.cpp -o "build/tessera_$name.so" ;;
    rust) rustc --edition 2021 -C panic=unwind --crate-name plugin plugin.rs -o "build/tessera_$name.so" ;;
  esac
}

# A mistake in the plugin's own code, an exception or a panic, in an entry and in queued work: it is a failure with its words, the process
# goes on, and nothing is printed.
step_contained() {
  local folder="$WORK/contained_$1" place
  [ "$1" != rust ] || need_rust
  compilers
  for place in entry work; do
    new "$folder" "$1"
    case "$1 $place" in
      "c++ entry") sed -i 's|^    \*out_stream = self.streams.add.*|    if (flags != 77) throw std::runtime_error("planted words");\n&|' "$folder/plugin.cpp" ;;
      "c++ work") continue ;;  # its work runs inside the entries
      "rust entry") sed -i 's|^        \*out_stream = device.streams.add.*|        if flags != 77 { panic!("planted words"); }\n&|' "$folder/plugin.rs" ;;
      "rust work") sed -i 's|^            for plane in 0..planes {|            if planes == 1 { panic!("planted words"); }\n&|' "$folder/plugin.rs" ;;
    esac
    grep -q 'planted words' "$folder"/plugin.* || fail "nothing was planted for $1, $place: the source has other lines"
    (build "$folder" "$1")
    local code=0
    (cd "$folder" && "$PREFIX/bin/tessera" plugins check "build/tessera_$name.so" --filter copies.every_pair >out.txt 2>err.txt) || code=$?
    [ "$code" -eq 5 ] || fail "$1, $place: exit code $code instead of 5: $(cat "$folder/out.txt" "$folder/err.txt")"
    expect_text "$folder/out.txt" "failed         ordering." "INTERNAL" "planted words" # by one that copies.every_pair relies on
    ! grep -qvE "^(error: 1 check failed|  at: |  hint: )" "$folder/err.txt" || fail "$1, $place: something was printed: $(cat "$folder/err.txt")"
  done
}

# escaped LANGUAGE CODE WORDS COMMAND...: what becomes of the plugin in the folder `escapes`, run alone or with its file behind COMMAND
escaped() {
  local code=0 so="$WORK/escapes_$1/build/tessera_$name.so" output="$WORK/output_$1.txt" wanted=$2 words=$3
  shift 3
  case $1 in
    plugins) "$PREFIX/bin/tessera" "$@" "$so" >"$output" 2>&1 || code=$? ;;
    *) "$PREFIX/bin/tessera" "$@" --set "runtime.plugins=[\"host\", \"$so\"]" >"$output" 2>&1 || code=$? ;;
  esac
  [ "$code" -eq "$wanted" ] || fail "exit code $code instead of $wanted: $(cat "$output")"
  expect_text "$output" "$words"
}

# planted FUNCTION STATEMENT: a new plugin in C++ whose function begins with the statement, outside of what contains
planted() {
  new "$WORK/escapes_c++" c++
  sed -i "/^tsr_status $1(/,/{\$/ s|{\$|&\\n  $2;|" "$WORK/escapes_c++/plugin.cpp"
  sed -i 's|^#include <algorithm>|#include <pthread.h>\n&|' "$WORK/escapes_c++/plugin.cpp"
  grep -qF "$2" "$WORK/escapes_c++/plugin.cpp" || fail "nothing was planted into $1"
  (build "$WORK/escapes_c++" c++)
}

# What docs/unwinding.md says of mistakes that nothing in the plugin contains.
step_escapes() {
  [ -z "$FLAGS" ] || left_out "a sanitizer ends processes, and tells of what they leave behind, in its own way"
  [ "$1" != rust ] || need_rust
  compilers
  export RUST_BACKTRACE=0
  local thrown='throw std::runtime_error("planted words")'
  if [ "$1" = c++ ]; then
    planted device_open "$thrown"
    escaped c++ 5 "the plugin threw a C++ exception out of device_open: planted words" topology
    planted device_open 'throw 42'
    escaped c++ 5 "the plugin threw a C++ exception out of device_open" topology
    planted link_of "$thrown"
    escaped c++ 0 "$name" topology  # no direct way
    planted stream_create "$thrown"
    escaped c++ 9 "the plugin threw a C++ exception out of stream_create: planted words" gemm --n 50
    planted device_close "$thrown"
    escaped c++ 0 "a C++ exception came out of it" topology
    planted copy "$thrown"
    escaped c++ 5 "planted words" plugins check --only copies.every_pair
    planted copy 'throw 42'
    escaped c++ 5 "no std::exception" plugins check --only copies.every_pair
    planted copy 'pthread_exit(nullptr)'
    escaped c++ 5 "the plugin ends the thread that calls it" plugins check --only copies.every_pair
    planted device_open 'pthread_exit(nullptr)'
    escaped c++ 134 "exception not rethrown" topology
    planted device_open 'std::abort()'
    escaped c++ 134 "the check ordering.timelines_increase ended the process" plugins check --only lifecycle.devices_keep_their_descriptions
    return 0
  fi
  local folder="$WORK/escapes_rust"
  new "$folder" rust
  sed -i 's|^    catch_unwind(AssertUnwindSafe(body)).*|    body()|; s|^        keep_panics();||; s|^        let mut device = locked(&plugin.device);|        if index == 0 { panic!("planted words"); }\n&|' "$folder/plugin.rs"
  mkdir "$folder/build"
  "$RUSTC" -A warnings --edition 2021 --crate-name plugin "$folder/plugin.rs" -o "$folder/build/tessera_$name.so"
  escaped rust 134 "panic in a function that cannot unwind" topology
  expect_text "$WORK/output_$1.txt" "planted words"
  new "$folder" rust
  ! "$RUSTC" --edition 2021 -C panic=abort "$folder/plugin.rs" -o "$WORK/abort.so" 2>"$WORK/abort.txt" || fail "the plugin can be compiled with panic=abort"
  expect_text "$WORK/abort.txt" "build with panic=unwind"
}

# tessera.rs against the header; and that a difference is found.
step_layout() {
  need_rust
  fresh "$WORK/layout"
  cd "$WORK/layout"
  "$LAYOUT" >layout.rs
  cp "$SOURCE/plugins/template/tessera.rs" .
  "$RUSTC" --edition 2021 --crate-type lib --emit metadata layout.rs || fail "plugins/template/tessera.rs is not <tessera/plugin.h>"
  local change
  for change in 's/^    pub bytes: u64,$/    pub bytes: u32,/' 's/^pub const TSR_ABORTED: tsr_status = 10;/pub const TSR_ABORTED: tsr_status = 11;/' \
    's/^    pub capabilities: u32,$/    pub capabilities: u64,/' '/^    pub mem_free:/d' '/^    pub max_copy:/d' 's/^pub const TSR_ABI_MINOR: u32 = 1;/pub const TSR_ABI_MINOR: u32 = 0;/'; do
    sed "$change" "$SOURCE/plugins/template/tessera.rs" >tessera.rs
    [ "$(cat tessera.rs)" != "$(cat "$SOURCE/plugins/template/tessera.rs")" ] || fail "'$change' changes nothing"
    ! "$RUSTC" --edition 2021 --crate-type lib --emit metadata layout.rs 2>/dev/null || fail "'$change' is not found"
  done
}

step="step_$1"
shift
"$step" "$@"
