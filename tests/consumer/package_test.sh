#!/usr/bin/env bash
# The steps of the package tests: package_test.sh STEP, with the variables that CMakeLists.txt sets. Every step fails
# with a sentence on standard error.
set -euo pipefail

# shellcheck disable=SC2153  # CMakeLists.txt sets it
prefix="$WORK/prefix"
program="$prefix/$BINDIR/tessera"

fail() {
  echo "package_test: $*" >&2
  exit 1
}
expect_file() {
  local file
  for file in "$@"; do [ -e "$file" ] || fail "$file is missing"; done
}
# expect_text FILE WORDS...: the file holds each
expect_text() {
  local file=$1 words
  shift
  for words in "$@"; do grep -qF -- "$words" "$file" || fail "'$words' is not in the output: $(cat "$file")"; done
}
fresh() {
  rm -rf "${1:?}"
  mkdir -p "$1"
}

# No library path from outside: what is installed must find its own parts.
unset LD_LIBRARY_PATH

step_install() {
  fresh "$WORK/prefix"
  "$CMAKE" --install "$BUILD" --prefix "$prefix" >"$WORK/install.log"
  expect_file "$program" "$prefix/$LIBDIR/libtessera.so" "$prefix/$LIBDIR/libtessera.so.$VERSION" \
    "$prefix/$LIBDIR/tessera/plugins/tessera_host.so" "$prefix/$LIBDIR/tessera/plugins/tessera_sim.so" \
    "$prefix/include/tessera/plugin.h" "$prefix/include/tessera/tessera.hpp" \
    "$prefix/$LIBDIR/libtessera_sparse.so" "$prefix/include/tessera/sparse.hpp" \
    "$prefix/$LIBDIR/cmake/tessera/tesseraConfig.cmake" "$prefix/$LIBDIR/pkgconfig/tessera.pc" \
    "$prefix/share/tessera/configs" "$prefix/share/doc/tessera/LICENSE" "$prefix/share/man/man1/tessera.1" \
    "$prefix/share/bash-completion/completions/tessera"
  # Nothing in it may point back into the source or build tree.
  local file
  for file in "$program" "$prefix/$LIBDIR"/lib*.so "$prefix/$LIBDIR"/tessera/plugins/*.so; do
    if objdump -p "$file" | grep -E 'RUNPATH|RPATH' | grep -F "$BUILD"; then
      fail "$file looks for libraries in the build folder"
    fi
  done
  # Not grep -q behind a pipe: it leaves at its first match, and under pipefail the writer's SIGPIPE is a failure.
  objdump -p "$prefix/$LIBDIR/libtessera.so" >"$WORK/dynamic.txt"
  grep -q 'SONAME *libtessera\.so\.0\.' "$WORK/dynamic.txt" || fail "libtessera.so has no soname"
  if grep -rlF -e "$SOURCE" -e "$BUILD" "$prefix/$LIBDIR/cmake" "$prefix/$LIBDIR/pkgconfig" "$prefix/include"; then
    fail "these files name the source or build tree"
  fi
  # Nor may a link of a document lead to what is not installed.
  local link
  grep -roE '\]\([A-Za-z0-9_./-]+' "$prefix/share/doc/tessera" --include='*.md' >"$WORK/links.txt"
  while IFS=: read -r file link; do
    link=${link#](}
    case $link in *[./]*) [ -e "$(dirname "$file")/$link" ] || fail "$file has a dead link: $link" ;; esac
  done <"$WORK/links.txt"
  if grep -rnE -e '(apps|tests|build|plugins|core)/[a-z]' "$prefix/share/tessera/configs"; then
    fail "these lines name the source tree"
  fi
  "$program" --version >"$WORK/version.txt"
  expect_text "$WORK/version.txt" "$VERSION"
}

# What `./bootstrap run` has built, the target `product`, can be installed and found. Stands in for such a build folder:
# the scripts of the installation, and hard links to the files of this one that the target needs.
step_product() {
  local folder="$WORK/product/build" there="$WORK/product/prefix" file name
  fresh "$WORK/product"
  mkdir "$folder"
  (
    cd "$BUILD"
    find . -name work -prune -o -type f '(' -name cmake_install.cmake -o -path '*/CMakeFiles/Export/*' ')' -print
    find . -maxdepth 1 -type f '(' -name '*.cmake' -o -name '*.pc' ')' -not -name cmake_install.cmake
  ) >"$WORK/product/scripts.txt"
  while read -r file; do
    mkdir -p "$folder/$(dirname "$file")"
    # What is linked is as it was: it looks for libraries where it was built.
    sed "/OLD_RPATH/!s|$BUILD|$folder|g" "$BUILD/$file" >"$folder/$file"
  done <"$WORK/product/scripts.txt"
  ninja -C "$BUILD" -t query product | grep -oE '(bin|lib)/[^ ]+$' >"$WORK/product/files.txt"
  while read -r name; do
    mkdir -p "$folder/$(dirname "$name")"
    for file in "$BUILD/$name" "$BUILD/$name".*; do  # a library has its versions behind its name
      [ ! -e "$file" ] || cp -al "$file" "$folder/$(dirname "$name")/"
    done
  done <"$WORK/product/files.txt"
  "$CMAKE" --install "$folder" --prefix "$there" >"$WORK/product/install.log" 2>&1 ||
    fail "$(tail -n 5 "$WORK/product/install.log")"
  expect_text "$WORK/product/install.log" "Not installed: tessera-translate"
  "$there/$BINDIR/tessera" --version >"$WORK/product/version.txt"
  expect_text "$WORK/product/version.txt" "$VERSION"
  "$CMAKE" -S "$SOURCE/tests/consumer/project" -B "$WORK/product/consumer" -G "$GENERATOR" \
    -DCMAKE_PREFIX_PATH="$there" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" >"$WORK/product/consumer.log" 2>&1 ||
    fail "$(cat "$WORK/product/consumer.log")"
}

# What is found by its name alone, and what a program leaves behind unasked, far from the sources.
step_elsewhere() {
  fresh "$WORK/elsewhere"
  cd "$WORK/elsewhere"
  export XDG_CACHE_HOME="$WORK/elsewhere/cache"
  "$program" topology --config sim_two >named.txt
  expect_text named.txt sim1
  TESSERA_CONFIG=sim_two.toml "$program" topology >variable.txt
  expect_text variable.txt sim1
  if "$program" topology --config sim_tow >near.txt 2>&1; then fail "there is a configuration sim_tow"; fi
  expect_text near.txt "did you mean 'sim_two'? found by name alone are sim_two, sim_" "/share/tessera/configs)"
  printf '[runtime]\nplugins = ["host"]\n' >sim_two.toml # a file that is there comes first
  "$program" topology --config sim_two.toml >own.txt
  if grep -q sim1 own.txt; then fail "the file sim_two.toml is not what --config sim_two.toml means"; fi
  TESSERA_REPORT=run.html TESSERA_STATS=1 "$WORK/find_package/consumer" >out.txt 2>statistics.txt
  expect_text run.html "<!doctype html>" consumer
  expect_text statistics.txt "statistics of consumer"
}

step_find_package() {
  fresh "$WORK/find_package"
  "$CMAKE" -S "$SOURCE/tests/consumer/project" -B "$WORK/find_package" -G "$GENERATOR" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" >"$WORK/find_package.log" ||
    fail "$(cat "$WORK/find_package.log")"
  "$CMAKE" --build "$WORK/find_package"
  "$WORK/find_package/consumer"
  "$WORK/find_package/sparse"
  if [ -e "$WORK/find_package/directives" ]; then "$WORK/find_package/directives"; fi
}

step_pkg_config() {
  fresh "$WORK/pkg_config"
  export PKG_CONFIG_PATH="$prefix/$LIBDIR/pkgconfig"
  [ "$("$PKG_CONFIG" --modversion tessera)" = "$VERSION" ] || fail "tessera.pc has another version"
  expect_file "$("$PKG_CONFIG" --variable=plugindir tessera)"
  # The public headers need nobody else's.
  # shellcheck disable=SC2046  # flags are words
  "$CXX" -std=c++20 -M "$SOURCE/tests/consumer/project/consumer.cpp" $("$PKG_CONFIG" --cflags tessera) |
    tr ' ' '\n' >"$WORK/pkg_config/headers.txt"
  if grep -E '/(fmt|spdlog|boost|hwloc|toml\+\+|nlohmann|CLI|openssl)(/|\.h)' "$WORK/pkg_config/headers.txt"; then
    fail "a public header includes these"
  fi
  expect_text "$WORK/pkg_config/headers.txt" "/../include/tessera/tessera.hpp"
  # One folder on the include path; of what is inside, the few words that the interface shares.
  [ "$("$PKG_CONFIG" --cflags-only-I tessera | wc -w)" = 1 ] || fail "tessera.pc names more than one include folder"
  grep -c 'include/tessera/' "$WORK/pkg_config/headers.txt" >"$WORK/pkg_config/count.txt" || true
  [ "$(cat "$WORK/pkg_config/count.txt")" -le 27 ] || fail "tessera.hpp leads to more than 27 headers with plugin.h"
  # shellcheck disable=SC2046
  "$CXX" -std=c++20 -Wall -Wextra -Werror "$SOURCE/tests/consumer/project/consumer.cpp" \
    -o "$WORK/pkg_config/consumer" $("$PKG_CONFIG" --cflags --libs tessera)
  LD_LIBRARY_PATH="$prefix/$LIBDIR" "$WORK/pkg_config/consumer"
  # shellcheck disable=SC2046
  "$CXX" -std=c++20 -Wall -Wextra -Werror "$SOURCE/tests/consumer/project/sparse.cpp" \
    -o "$WORK/pkg_config/sparse" $("$PKG_CONFIG" --cflags --libs tessera_sparse)
  LD_LIBRARY_PATH="$prefix/$LIBDIR" "$WORK/pkg_config/sparse"
}

# Every header of the interface compiles alone, with the standard library and nothing else.
step_doors() {
  fresh "$WORK/doors"
  local header name
  for header in "$prefix"/include/tessera/*.hpp "$prefix"/include/tessera/detail/*.hpp; do
    name="${header#"$prefix"/include/tessera/}"
    printf '#include <tessera/%s>\n' "$name" >"$WORK/doors/one.cpp"
    "$CXX" -std=c++20 -Wall -Wextra -Werror -I "$prefix/include" -M -MF "$WORK/doors/${name//\//.}.d" "$WORK/doors/one.cpp" ||
      fail "$name does not find what it includes"
    if tr ' ' '\n' <"$WORK/doors/${name//\//.}.d" | grep -E '/(fmt|spdlog|boost|hwloc|toml\+\+|nlohmann|CLI|openssl)(/|\.h)'; then
      fail "$name includes these"
    fi
    printf '#include <tessera/%s>\n' "$name" >>"$WORK/doors/all.cpp"
  done
  "$CXX" -std=c++20 -Wall -Wextra -Werror -I "$prefix/include" -fsyntax-only "$WORK/doors/all.cpp"
}

# A wrong call gets a sentence from the compiler. wrong_call SENTENCE STATEMENTS
wrong_call() {
  printf '#include <tessera/operation.hpp>\n#include <tessera/tessera.hpp>\n#include <string>\nvoid wrong(tessera::runtime& rt, tessera::array<double>& x, tessera::recording& r) {\n  %s\n  (void)rt, (void)x, (void)r;\n}\n' \
    "$2" >"$WORK/messages/wrong.cpp"
  if "$CXX" -std=c++20 -I "$prefix/include" -fsyntax-only "$WORK/messages/wrong.cpp" 2>"$WORK/messages/errors.txt"; then
    fail "this compiles: $2"
  fi
  expect_text "$WORK/messages/errors.txt" "$1"
}
step_messages() {
  fresh "$WORK/messages"
  wrong_call "for a number known at run time only" \
    'rt.submit("t", [](tessera::view<double>) {}, std::vector<tessera::block_of<double>>{x(0)});'
  wrong_call "the function must take one view per use" \
    'rt.submit("t", [](tessera::view<float>) {}, tessera::write(x(0)));'
  wrong_call "the function must take one view per use" \
    'rt.submit("t", [](tessera::view<double>) {}, tessera::read(x(0)));'
  wrong_call "of blocks of rank R view<T, R>, of a matrix matrix_view<T>" \
    'auto m = rt.make_matrix<double>("m", {4, 4}, {2, 2}); rt.submit("t", [](tessera::view<double, 2>) {}, tessera::write(m(0, 0)));'
  wrong_call "a block is named by as many indices as the array has dimensions" \
    'auto m = rt.make_array<double>("m", {4, 4}, {2, 2}); (void)m(1);'
  wrong_call "a block is named by as many indices as the array has dimensions" '(void)x();'
  wrong_call "a view takes as many indices as its rank" '(void)x(0).read()(1, 2);'
  wrong_call "a view of any rank has no indices" \
    'rt.submit("t", [](tessera::view<double, tessera::any_rank> v) { v(1) = 0; }, tessera::write(x(0)));'
  wrong_call "gemm takes blocks of matrices" \
    'auto m = rt.make_array<double>("m", {4, 4}, {2, 2}); tessera::gemm(rt, 1, m(0, 0), tessera::transpose::no, m(0, 1), tessera::transpose::no, 0, m(1, 1));'
  wrong_call "with a list of uses the function must take task_blocks" \
    'rt.submit("t", [](tessera::view<double>) {}, std::vector<tessera::block_access>{tessera::read(x(0))});'
  wrong_call "what the task does is missing" 'rt.submit("t", {.priority = 1}, tessera::read(x(0)));'
  wrong_call "Options stand before the function" \
    'rt.submit("t", [](tessera::view<double>) {}, tessera::write(x(0)), tessera::task_options{});'
  wrong_call "the function must take one view per use" \
    'rt.submit("t", {.priority = 1}, [](tessera::view<double>) {}, tessera::read(x(0)));'
  wrong_call "this operation is of the BLAS" \
    'auto n = rt.make_array<std::int64_t>("n", {4}, {4}); tessera::axpy(rt, 1, n(0), n(0));'
  wrong_call "permute is for blocks of" \
    'auto n = rt.make_array<std::uint8_t>("n", {4}, {4}); tessera::permute(rt, 1, n(0), {}, 0, n(0));'
  wrong_call "blocks of bytes and of types of the program are not added up" \
    'auto n = rt.make_array<std::uint8_t>("n", {4}, {4}); (void)tessera::accumulate(n(0));'
  wrong_call "an operation to accumulate with has no data" \
    'double most = 1; (void)tessera::accumulate(x(0), [most](double a, double) { return a * most; });'
  wrong_call "its static identity()" '(void)tessera::accumulate(x(0), [](double a, double b) { return a * b; });'
  wrong_call "arguments are copied as bytes" 'r.set_arguments(0, std::string("text"));'
  wrong_call "a replay is given a value of plain bytes" 'rt.replay(r, std::string("text"));'
  wrong_call "the function of an operation captures nothing" \
    'int n = 1; rt.define({.name = "o", .host = [n](const tessera::operation::context&) { (void)n; }});'
  wrong_call "the function of an operation captures nothing" \
    'int n = 1; rt.define({.name = "o", .kernel = {.name = "k", .launch = [n](const tessera::operation::context&, tessera::operation::kernel_launch& how) { how.over(n); }}});'
  wrong_call "behind it what the member of kernel_form or native_form says" \
    'rt.define({.name = "o", .native = {{"cuda", [](const tessera::operation::context&, int) {}}}});'
  wrong_call "the function of an operation takes a const tessera::operation::context&" \
    'rt.define({.name = "o", .host = [](int) {}});'
}

# The ABI header as its component alone, as strict C11 and as C++.
step_header_alone() {
  fresh "$WORK/header_alone"
  "$CMAKE" --install "$BUILD" --prefix "$WORK/header_alone" --component plugin_abi >/dev/null
  [ "$(find "$WORK/header_alone" -type f | wc -l)" -eq 1 ] || fail "the component plugin_abi is more than one header"
  local language
  for language in "c -std=c11" "c++ -std=c++17"; do
    # shellcheck disable=SC2086
    printf '#include <tessera/plugin.h>\nint main(void) { return (int)TSR_OK; }\n' |
      "$CC" -x $language -Wall -Wextra -Wpedantic -Werror -I "$WORK/header_alone/include" -fsyntax-only -
  done
}

step_plugin() {
  fresh "$WORK/plugin"
  local sources=("$SOURCE"/examples/out_of_tree/plugin/*.c)
  "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -fPIC -fvisibility=hidden -shared -pthread \
    -I "$prefix/include" "${sources[@]}" -o "$WORK/plugin/tessera_out_of_tree.so"
  "$program" plugins check "$WORK/plugin/tessera_out_of_tree.so" | tee "$WORK/plugin/check.txt"
}

# Libraries of super instructions with the installed header and module alone.
step_super_instructions() {
  local work="$WORK/super_instructions" from="$SOURCE/examples/sial_instructions" strict="-Wall -Wextra -Wpedantic -Werror -fPIC -shared"
  fresh "$work"
  # shellcheck disable=SC2086  # flags are words
  "$CC" -std=c11 $strict -I "$prefix/include" "$from/denominators.c" -o "$work/libdenominators.so"
  # shellcheck disable=SC2086
  "$CXX" -std=c++20 $strict -I "$prefix/include" "$from/median.cpp" -o "$work/libmedian.so"
  if [ -n "$FC" ]; then
    "$FC" -fPIC -shared -J "$work" "$prefix/include/tessera/tessera_sial.f90" "$from/normalize.f90" -o "$work/libnormalize.so"
  fi
  local library
  for library in "$work"/*.so; do
    nm -D --defined-only "$library" >"$work/symbols.txt"
    expect_text "$work/symbols.txt" tessera_sial_instructions
  done
}

# The files and commands of docs/plugin_authors.md, with the installed header, library and program alone, in an empty folder that is not below the
# source or the build tree: what is typed there must not depend on either.
step_authors() {
  local work file page="$SOURCE/docs/plugin_authors.md"
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$work'" EXIT
  awk -v to="$work/" '/^```(c|cpp) [a-z_.]+$/ { file = to $2; next } /^```/ { file = ""; next } file != "" { print > file }' "$page"
  expect_file "$work"/{device.h,plugin.c,memory.c,queue.c,vectors.c,stream.cpp}
  for file in plugin memory queue vectors; do  # each step by itself
    "$CC" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -fvisibility=hidden -I "$prefix/include" -c "$work/$file.c" -o "$WORK/$file.o" ||
      fail "docs/plugin_authors.md: $file.c does not compile"
  done
  awk '/^```sh$/ { shell = 1; next } /^```/ { shell = 0 } shell { print }' "$page" >"$WORK/authors.sh"
  expect_text "$WORK/authors.sh" "tessera plugins check" "./stream"
  (
    cd "$work"
    export PREFIX="$prefix"
    unset PKG_CONFIG_PATH
    # shellcheck disable=SC2317  # what the documents tell one to type calls them
    cc() { "$CC" -Wall -Wextra -Wpedantic -Werror "$@"; }
    # shellcheck disable=SC2317
    c++() { "$CXX" -Wall -Wextra -Werror "$@"; }
    # shellcheck source=/dev/null
    source "$WORK/authors.sh"
  ) >"$WORK/authors.txt" 2>&1 || fail "the commands of docs/plugin_authors.md: $(grep -v '^passed' "$WORK/authors.txt")"
  expect_text "$WORK/authors.txt" " 0 failed" scale triad right residual
  grep -qE '^passed +blas.axpy' "$WORK/authors.txt" || fail "the suite did not check axpy"
}

# New plugins, by the commands of their own README.md: tests/skeletons on the installed prefix.
step_skeletons() {
  local language code
  for language in c c++ rust; do
    code=0
    PREFIX="$prefix" WORK="$WORK/skeletons" FLAGS="" "$SOURCE/tests/skeletons/skeleton_test.sh" guide "$language" || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || fail "the new plugin in $language"
  done
}

step_tgz() {
  fresh "$WORK/tgz"
  "$CPACK" -G TGZ --config "$BUILD/CPackConfig.cmake" -B "$WORK/tgz/made" >"$WORK/tgz/cpack.log" ||
    fail "$(cat "$WORK/tgz/cpack.log")"
  mkdir "$WORK/tgz/unpacked"
  tar -xzf "$WORK"/tgz/made/tessera-*.tar.gz -C "$WORK/tgz/unpacked" --strip-components=1
  local there="$WORK/tgz/unpacked"
  "$there/$BINDIR/tessera" --version >"$WORK/tgz/version.txt"
  expect_text "$WORK/tgz/version.txt" "$VERSION"
  "$there/$BINDIR/tessera" plugins >"$WORK/tgz/plugins.txt"
  expect_text "$WORK/tgz/plugins.txt" "$there/$LIBDIR/tessera/plugins/tessera_host.so"
}

step_deb() {
  fresh "$WORK/deb"
  "$CPACK" -G DEB --config "$BUILD/CPackConfig.cmake" -B "$WORK/deb" >"$WORK/deb/cpack.log" ||
    fail "$(cat "$WORK/deb/cpack.log")"
  local package=("$WORK"/deb/tessera_*.deb)
  dpkg-deb --field "${package[0]}" Depends >"$WORK/deb/depends.txt"
  expect_text "$WORK/deb/depends.txt" libc6 libstdc++6 libhwloc15 libopenblas0
  dpkg-deb --contents "${package[0]}" >"$WORK/deb/contents.txt"
  expect_text "$WORK/deb/contents.txt" ./usr/bin/tessera ./usr/include/tessera/plugin.h tessera/plugins/tessera_host.so
}

"step_$1"
