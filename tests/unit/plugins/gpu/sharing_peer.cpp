// The process beside ipc_test: sharing_peer PLUGIN keep|leave|import. Keys go through standard input and output.
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "tests/unit/plugins/gpu/sharing.hpp"

namespace tessera::test {
namespace {

void send(const memory_key& what) {
  if (::write(STDOUT_FILENO, what.data(), what.size()) != static_cast<ssize_t>(what.size()))
    throw std::runtime_error("the pipe is shut");
}
/// False at the end of the input.
bool take(memory_key& out) { return ::read(STDIN_FILENO, out.data(), out.size()) == static_cast<ssize_t>(out.size()); }

/// Exports 1 MiB and stays until its input ends.
int keep(const sharing& here) {
  send(here.exported(here.allocate(1 << 20)));
  memory_key none;
  while (take(none)) {
  }
  return 0;
}
/// Exports two pieces, frees the first, and ends with the second.
int leave(const sharing& here) {
  tsr_memory *const freed = here.allocate(5000), *const kept = here.allocate(5000);
  send(here.exported(freed));
  send(here.exported(kept));
  return here.d().table->mem_free(here.d().handle, freed);
}
/// 0 if the key that it is given is one of memory that is not there.
int import(const sharing& here) {
  memory_key one;
  tsr_memory* none = nullptr;
  return take(one) && here.import(one, &none) == TSR_NOT_FOUND && none == nullptr ? 0 : 1;
}

}  // namespace
}  // namespace tessera::test

int main(int count, char** words) try {
  using namespace tessera::test;
  if (count != 3) return 2;
  const sharing here(words[1]);
  const std::string does = words[2];
  return does == "keep" ? keep(here) : does == "leave" ? leave(here) : does == "import" ? import(here) : 2;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "sharing_peer: %s\n", failure.what());
  return 3;
}
