#include "plugins/kit/jit/host_groups.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace tessera::kit {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024, guard_bytes = 64 * 1024;

/// One thread of a group, on a stack that ends in pages that nobody may touch.
struct fiber {
  fiber()
      : memory(::mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0)) {
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(memory, guard_bytes, PROT_NONE);
  }
  ~fiber() { ::munmap(memory, guard_bytes + stack_bytes); }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  void* const memory;
  ucontext_t own{};
  ucontext_t* back = nullptr;
  const host_kernel* kernel = nullptr;
  void* const* arguments = nullptr;
  kernel_place at{};
  bool ended = false;

  void wait() { ::swapcontext(&own, back); }
  void run() {
    kernel->one(&at, arguments);
    ended = true;
  }
};

void enter(unsigned high, unsigned low) {
  reinterpret_cast<fiber*>(static_cast<std::uintptr_t>(high) << 32 | low)->run();  // makecontext passes ints
}

/// Stacks are kept by the thread, for its next group.
std::vector<std::unique_ptr<fiber>>& kept() {
  thread_local std::vector<std::unique_ptr<fiber>> fibers;
  return fibers;
}

/// One group whose threads wait for each other.
void run_group(const host_kernel& kernel, const kernel_place& at, void* const* arguments) {
  const unsigned threads = at.threads[0] * at.threads[1] * at.threads[2];
  auto& fibers = kept();
  while (fibers.size() < threads) fibers.push_back(std::make_unique<fiber>());
  ucontext_t here;
  for (unsigned t = 0; t < threads; ++t) {
    fiber& one = *fibers[t];
    one.back = &here;
    one.kernel = &kernel;
    one.arguments = arguments;
    one.ended = false;
    one.at = at;
    one.at.thread[0] = t % at.threads[0];
    one.at.thread[1] = t / at.threads[0] % at.threads[1];
    one.at.thread[2] = t / at.threads[0] / at.threads[1];
    one.at.barrier = [](void* self) { static_cast<fiber*>(self)->wait(); };
    one.at.argument = &one;
    ::getcontext(&one.own);
    one.own.uc_stack.ss_sp = static_cast<char*>(one.memory) + guard_bytes;
    one.own.uc_stack.ss_size = stack_bytes;
    one.own.uc_link = &here;
    const auto self = reinterpret_cast<std::uintptr_t>(&one);
    ::makecontext(&one.own, reinterpret_cast<void (*)()>(&enter), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self));
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (fibers[t]->ended) continue;
      ::swapcontext(&here, &fibers[t]->own);
      any = any || !fibers[t]->ended;
    }
  }
}

}  // namespace

void run_groups(host_call& call) {
  const auto arguments = call.arguments();
  kernel_place at{};
  const unsigned threads = call.group[0] * call.group[1] * call.group[2];
  for (int d = 0; d < 3; ++d) at.threads[d] = call.group[d], at.groups[d] = call.grid[d];
  for (at.group[2] = 0; at.group[2] < call.grid[2]; ++at.group[2])
    for (at.group[1] = 0; at.group[1] < call.grid[1]; ++at.group[1])
      for (at.group[0] = 0; at.group[0] < call.grid[0]; ++at.group[0])
        if (call.kernel->waits == 0 || threads == 1)
          call.kernel->all(&at, arguments.data());
        else
          run_group(*call.kernel, at, arguments.data());
}

}  // namespace tessera::kit
