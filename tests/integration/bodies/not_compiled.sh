#!/bin/sh
# not_compiled.sh COMPILER SOURCES: the cases of not_compiled.cpp.
set -eu
compiler=$1 root=$2
file=$root/tests/integration/bodies/not_compiled.cpp
compile() {
  LC_ALL=C "$compiler" -std=c++20 -fsyntax-only -I"$root" -I"$root/core/plugin/abi" -I"$root/include" "$@" "$file" 2>&1
}
said=$(compile) || {
  printf 'without a case it does not compile:\n%s\n' "$said"
  exit 1
}
failed=0 cases=0 number=0
while [ $number -lt 30 ]; do
  number=$((number + 1))
  expected=$(sed -n "s/^#.*CASE == $number *\/\/ expect: //p" "$file")
  [ -n "$expected" ] || continue
  cases=$((cases + 1))
  if said=$(compile "-DCASE=$number"); then
    echo "case $number compiles"
    failed=1
  elif ! printf '%s\n' "$said" | grep -qF -e "$expected"; then
    printf "case %s: '%s' is not in:\n%s\n" "$number" "$expected" "$said"
    failed=1
  fi
done
[ "$cases" -eq "$(grep -c 'expect: ' "$file")" ] || {
  echo "a case has a number above 30, or another form"
  failed=1
}
exit $failed
