#!/usr/bin/env bash
# bootstrap_test.sh SOURCE: the decisions of ./bootstrap, with stand-ins for everything it calls.
# shellcheck disable=SC2016  # the stand-ins' bodies are expanded when they run
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
source_folder=$1

# A clone without sources, and a PATH that holds the stand-ins and the plain tools alone.
clone="$work/a clone"
mkdir -p "$clone/cmake" "$clone/apps/cholesky/data" "$work/elsewhere"
cp "$source_folder/bootstrap" "$clone/"
cp "$source_folder/cmake/debian_packages.txt" "$clone/cmake/"
touch "$clone/apps/cholesky/data/bcsstk09.mtx"

# fresh_machine: root on Debian, everything installed, a build that succeeds
fresh_machine() {
  rm -rf "${work:?}/bin" "$work/calls" "$clone/build"
  mkdir "$work/bin"
  local tool
  for tool in bash env sed grep tail mkdir rm cat tr dirname uname printf chmod touch; do
    ln -s "$(command -v "$tool")" "$work/bin/$tool"
  done
  stand_in id 'echo 0'
  stand_in nproc 'echo 3'
  stand_in dpkg-query 'printf installed'
  stand_in apt-get 'echo "frontend $DEBIAN_FRONTEND" >>"'"$work"'/calls"'
  stand_in ninja ''
  stand_in make ''
  stand_in ctest ''
  # The build makes a program that says how it was called.
  stand_in cmake 'cd "'"$clone"'" && case "$*" in *--build*)
      mkdir -p build/release/bin
      printf "#!/bin/bash\necho \"job \$*\"\nexit \${JOB_CODE:-0}\n" >build/release/bin/tessera
      echo "libint2_FOUND:INTERNAL=${LIBINT2:-}" >build/release/CMakeCache.txt
      chmod +x build/release/bin/tessera ;;
    esac'
}

# bootstrap ARGUMENTS...: runs it from an unrelated folder; its code is in $code, its output in $work/output
bootstrap() {
  : >"$work/output"
  (cd "$work/elsewhere" && PATH="$work/bin" "$clone/bootstrap" "$@" >"$work/output" 2>&1 </dev/null)
  code=$?
}
exits() { [ "$code" -eq "$1" ]; }
not_printed() { ! printed "$1"; }

fresh_machine
bootstrap help
check "help succeeds" exits 0
check "help names the commands" printed "install-deps"
bootstrap
check "no command prints the usage" printed "usage:"
for arguments in "frobnicate" "run --preset fast" "run --jobs 0" "run --jobs many" "run --preset" "run --frobnicate" "test --reached-since"; do
  # shellcheck disable=SC2086
  bootstrap $arguments
  check "'$arguments' is a usage error" exits 2
  check "'$arguments' names a way out" printed "error:"
done
check "wrong arguments start nothing" not_called cmake

# Everything is there.
fresh_machine
bootstrap run -- --tile 64
check "run succeeds" exits 0
check "run ends with the job and its arguments" printed "job cholesky --matrix apps/cholesky/data/bcsstk09.mtx --tile 64"
check "with arguments the first job alone runs" not_printed "job chem"
check "nothing is installed when nothing is missing" not_called apt-get
LIBINT2=1 bootstrap run
check "run goes on with a molecule where there are integrals" printed "job chem apps/chem/data/water.xyz"
check "run begins with the matrix" printed "job cholesky --matrix apps/cholesky/data/bcsstk09.mtx"
bootstrap run
check "without integrals the matrix is all" not_printed "job chem"
check "run builds the programs and plugins alone" called "--target product"
check "one job per CPU" called "--parallel 3"
JOB_CODE=6 bootstrap run
check "run ends with the code of the job" exits 6
bootstrap test --jobs 2 -- -L unit
check "test succeeds" exits 0
check "test builds everything" called "--target all"
check "test passes arguments on" called "ctest --preset release --parallel 2 -L unit"
stand_in ctest 'exit 8'
bootstrap test
check "a failed test is code 23" exits 23
# What CMakePresets.json offers, bootstrap accepts.
presets="$(sed -n 's/.*{ "name": "\([a-z-]*\)", "configurePreset": .*/\1/p' "$source_folder/CMakePresets.json" | sort -u)"
check "there are presets to try" [ "$(wc -w <<<"$presets")" -ge 5 ]
stand_in ctest ''
for preset in $presets; do
  bootstrap test --preset "$preset"
  check "--preset $preset is accepted" exits 0
  check "--preset $preset is passed on" called "cmake --preset $preset"
done
stand_in cmake 'case "$*" in *--build*) exit 1 ;; esac'
bootstrap test
check "a failed build is code 22" exits 22
stand_in cmake 'echo why it failed; exit 1'
bootstrap test
check "a failed configuration is code 21" exits 21
check "a failed configuration shows why" printed "why it failed"
rm "$clone/apps/cholesky/data/bcsstk09.mtx"
fresh_machine
bootstrap run
check "a missing matrix is said" printed "bcsstk09.mtx is missing"
touch "$clone/apps/cholesky/data/bcsstk09.mtx"

# Packages are missing and may be installed.
fresh_machine
stand_in dpkg-query 'case "$*" in *libfmt-dev*|*ninja-build*) exit 1 ;; *) printf installed ;; esac'
bootstrap install-deps
check "root installs" exits 0
check "what is missing is installed" called "install -y --no-install-recommends -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 libfmt-dev ninja-build"
check "the lists are updated first" called "apt-get -q update"
check "apt asks nothing" called "frontend noninteractive"
check "what is there is left alone" not_called "libhwloc-dev "
bootstrap install-deps --bench
check "the peers are installed on demand" exits 0
stand_in dpkg-query 'case "$*" in *libtbb-dev*) exit 1 ;; *) printf installed ;; esac'
rm -f "$work/calls"
bootstrap install-deps
check "the peers are not installed otherwise" not_called libtbb-dev
bootstrap install-deps --bench
check "the peers are installed when asked for" called libtbb-dev

# Alternatives: the best that apt offers.
for_all="-o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0"
fresh_machine
stand_in dpkg-query 'case "$*" in *-22-dev*|*-19-dev*|*-16-dev*) exit 1 ;; *) printf installed ;; esac'
bootstrap install-deps
check "the best alternative is installed" called "install -y --no-install-recommends $for_all llvm-22-dev libclang-22-dev"
check "no other is" not_called "19-dev"
rm "$work/calls"
stand_in apt-get 'case "$*" in *-22-dev*) echo "E: Unable to locate package llvm-22-dev"; exit 100 ;; esac'
bootstrap install-deps
check "what apt has not is left out" exits 0
check "the next alternative is installed then" called "$for_all llvm-19-dev libclang-19-dev"
check "and no older one" not_called "16-dev"
stand_in apt-get 'case "$*" in *update*|*-22-dev*|*-19-dev*) exit 100 ;; esac'
bootstrap install-deps
check "an archive that cannot be reached is no failure" exits 0
check "the last alternative is installed then" called "$for_all llvm-16-dev libclang-16-dev"
stand_in apt-get 'exit 100'
bootstrap test
check "no alternative at all: the tests do without" exits 0
check "the command names the last one" printed "apt-get install --no-install-recommends llvm-16-dev libclang-16-dev"
# One is installed that is not the best.
stand_in dpkg-query 'case "$*" in *-22-dev*|*-19-dev*) exit 1 ;; *) printf installed ;; esac'
bootstrap install-deps
check "an older one that is installed will do" exits 0
check "nobody is asked for another" eval '! printed "Please run"'
rm "$work/calls"
stand_in apt-get ''
bootstrap install-deps
check "a better one is installed where it can be had" called "$for_all llvm-22-dev libclang-22-dev"
rm "$work/calls"
stand_in id 'echo 1000'
bootstrap install-deps
check "without root it is left at that" exits 0
check "and apt not called" not_called "apt-get"
stand_in dpkg-query 'case "$*" in *-22-dev*|*-19-dev*|*-16-dev*) exit 1 ;; *) printf installed ;; esac'
stand_in apt-get 'case "$*" in *-22-dev*) exit 100 ;; esac'
bootstrap test
check "the command names what apt offers" printed "apt-get install --no-install-recommends llvm-19-dev libclang-19-dev"

# Packages are missing and may not be installed.
fresh_machine
stand_in id 'echo 1000'
stand_in dpkg-query 'case "$*" in *libfmt-dev*|*ccache*) exit 1 ;; *) printf installed ;; esac'
bootstrap run
check "without root the code is 20" exits 20
check "the exact command is printed" printed "sudo apt-get update && sudo apt-get install --no-install-recommends libfmt-dev ccache"
check "nothing is built" not_called "cmake --"
stand_in sudo 'exit 1'
bootstrap run
check "a sudo that asks is not used" exits 20
stand_in sudo 'shift; "$@"'
bootstrap install-deps
check "a sudo that does not ask is used" called "sudo -n env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get"
fresh_machine
stand_in dpkg-query 'case "$*" in *libfmt-dev*) exit 1 ;; *) printf installed ;; esac'
stand_in apt-get 'echo no such mirror; exit 100'
bootstrap run
check "a failed installation is code 20" exits 20
check "a failed installation shows why" printed "no such mirror"

# Only tools are missing: the build goes on, with make.
fresh_machine
rm "$work/bin/ninja"
stand_in id 'echo 1000'
stand_in dpkg-query 'case "$*" in *ninja-build*) exit 1 ;; *) printf installed ;; esac'
bootstrap test
check "missing tools do not stop it" exits 0
check "missing tools are said" printed "going on without them"
check "make takes the place of ninja" called "-G Unix Makefiles"

# Not Debian.
fresh_machine
rm "$work/bin/dpkg-query" "$work/bin/apt-get"
bootstrap test
check "another system goes on with what it has" exits 0
check "another system is told what is needed" printed "libhwloc-dev"

# clean
fresh_machine
mkdir -p "$clone/build/release" "$clone/build/tsan"
bootstrap clean --preset tsan
check "clean --preset leaves the others" [ -d "$clone/build/release" ]
check "clean --preset removes its own" [ ! -e "$clone/build/tsan" ]
bootstrap clean
check "clean removes all of build" [ ! -e "$clone/build" ]

finish
