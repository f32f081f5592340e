#include "plugins/gpu_common/api/emulator/launch.hpp"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "plugins/gpu_common/api/emulator/fiber_sanitizer.hpp"

namespace tessera::gpu::emulator {
namespace {

/// A stack that ends in pages that nobody may touch.
class guarded_stack {
 public:
  guarded_stack()
      : m_base(::mmap(nullptr, guard_bytes + fiber_sanitizer::stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0)) {
    if (m_base == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(m_base, guard_bytes, PROT_NONE);
  }
  ~guarded_stack() { ::munmap(m_base, guard_bytes + fiber_sanitizer::stack_bytes); }
  guarded_stack(const guarded_stack&) = delete;
  guarded_stack& operator=(const guarded_stack&) = delete;

  char* bottom() const noexcept { return static_cast<char*>(m_base) + guard_bytes; }
  char* top() const noexcept { return bottom() + fiber_sanitizer::stack_bytes; }

 private:
  static constexpr std::size_t guard_bytes = 64 * 1024;  // the largest page there is
  void* m_base;
};

}  // namespace

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::transfer_t;

/// Runs one thread of a block at a time, then waits for the next one. Handed from launch to launch: making one is dear.
/// Built on Boost.Context's two routines themselves: its classes touch memory between the note to the thread sanitizer
/// and the switch, which looks like a race.
class kernel_fiber {
 public:
  kernel_fiber()
      : m_context(
            boost::context::detail::make_fcontext(m_stack.top(), fiber_sanitizer::stack_bytes, &kernel_fiber::enter)) {
    m_notes.describe(m_stack.bottom(), fiber_sanitizer::stack_bytes);
  }
  ~kernel_fiber() {
    m_ending = true;
    resume(fiber_sanitizer::ordered);
  }
  kernel_fiber(const kernel_fiber&) = delete;
  kernel_fiber& operator=(const kernel_fiber&) = delete;

  /// Starts the body as thread `number` of the block, or goes on with it. True when it waits at a barrier, false when
  /// it has ended.
  bool start(unsigned number, const std::function<void()>& body) {
    m_number.store(number, std::memory_order_relaxed);
    m_body.store(&body, std::memory_order_relaxed);
    return resume(fiber_sanitizer::unordered);
  }
  bool resume() { return resume(fiber_sanitizer::unordered); }

  /// On the fiber itself: back to whoever started it, until it is resumed.
  void wait() {
    m_waiting.store(true, std::memory_order_relaxed);
    leave();
    m_waiting.store(false, std::memory_order_relaxed);
  }

  unsigned number() const noexcept { return m_number.load(std::memory_order_relaxed); }

 private:
  bool resume(fiber_sanitizer::order how) {
    const fcontext_t to = m_context;
    m_notes.before_entering(how);
    const transfer_t from = jump_fcontext(to, this);
    m_notes.after_returning();
    m_context = from.fctx;
    return m_waiting.load(std::memory_order_relaxed);
  }

  void leave() {
    const fcontext_t to = m_back;
    m_notes.before_leaving();
    const transfer_t from = jump_fcontext(to, nullptr);
    m_notes.after_resuming();
    m_back = from.fctx;
  }

  static void enter(transfer_t from) {
    auto& self = *static_cast<kernel_fiber*>(from.data);
    self.m_notes.after_resuming();
    self.m_back = from.fctx;
    self.loop();
    const fcontext_t to = self.m_back;
    self.m_notes.before_ending();
    jump_fcontext(to, nullptr);
  }

  void loop() {
    while (!m_ending) {
      block_order.begin_thread();
      (*m_body.load(std::memory_order_relaxed))();
      block_order.end_thread();
      leave();
    }
  }

  guarded_stack m_stack;
  fcontext_t m_context, m_back = nullptr;  // the one is used by the resumer, the other by the fiber
  fiber_sanitizer m_notes;
  std::atomic<unsigned> m_number{0};
  std::atomic<const std::function<void()>*> m_body{nullptr};
  std::atomic<bool> m_waiting{false};
  std::atomic<bool> m_ending{false};

 public:
  order_notes block_order;  ///< what orders the threads of a block with its begin, its end and its barriers
};

namespace {

thread_local running_block* active = nullptr;

/// The fibers of one block. Leased by a stream for a launch.
class team {
 public:
  /// Runs one block; false when some thread missed a barrier at which others waited.
  bool run(running_block& block, unsigned threads, const std::function<void()>& body) {
    bool together = true;
    m_waiting.clear();
    order_notes::begin_block(this);
    unsigned used = 0;
    for (unsigned t = 0; t < threads; ++t) {
      if (used == m_fibers.size()) m_fibers.push_back(std::make_unique<kernel_fiber>());
      kernel_fiber& fiber = *m_fibers[used];
      fiber.block_order.join(this);
      block.current.store(&fiber, std::memory_order_relaxed);
      if (fiber.start(t, body)) {
        m_waiting.push_back(&fiber);
        ++used;
      } else if (fiber_sanitizer::fiber_per_thread) {
        ++used;
      }
    }
    while (!m_waiting.empty()) {
      together = together && m_waiting.size() == threads;
      std::size_t kept = 0;
      for (kernel_fiber* fiber : m_waiting) {
        block.current.store(fiber, std::memory_order_relaxed);
        if (fiber->resume()) m_waiting[kept++] = fiber;
      }
      m_waiting.resize(kept);
    }
    order_notes::end_block(this);
    return together;
  }

 private:
  std::vector<std::unique_ptr<kernel_fiber>> m_fibers;
  std::vector<kernel_fiber*> m_waiting;
};

/// Teams that no launch uses. As many as launches that ever ran at once.
class team_pool {
 public:
  std::unique_ptr<team> take() {
    const std::lock_guard lock(m_mutex);
    if (m_free.empty()) return std::make_unique<team>();
    auto one = std::move(m_free.back());
    m_free.pop_back();
    return one;
  }
  void give(std::unique_ptr<team> one) {
    const std::lock_guard lock(m_mutex);
    m_free.push_back(std::move(one));
  }

 private:
  std::mutex m_mutex;
  std::vector<std::unique_ptr<team>> m_free;
};

team_pool& teams() {
  static team_pool pool;
  return pool;
}

}  // namespace

extent3 running_block::thread() const noexcept {
  const unsigned n = current.load(std::memory_order_relaxed)->number();
  return {n % threads.x, n / threads.x % threads.y, n / threads.x / threads.y};
}

running_block& here() noexcept { return *active; }

void barrier() {
  running_block& block = here();
  if (block.threads.x * block.threads.y * block.threads.z == 1) return;
  kernel_fiber& fiber = *block.current.load(std::memory_order_relaxed);
  fiber.block_order.before_barrier();
  fiber.wait();
  fiber.block_order.after_barrier();
}

void run_grid(extent3 grid, extent3 threads, std::size_t shared_bytes, const std::function<void()>& body) {
  auto crew = teams().take();
  const auto shared = std::make_unique<unsigned char[]>(shared_bytes);
  running_block block;
  block.grid = grid;
  block.threads = threads;
  block.shared = shared.get();
  active = &block;
  bool together = true;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        block.block = {x, y, z};
        // What the block before left is not to be relied on: all of it is not a number.
        std::memset(shared.get(), 0xff, shared_bytes);
        together = crew->run(block, threads.x * threads.y * threads.z, body) && together;
      }
  active = nullptr;
  teams().give(std::move(crew));
  if (!together) lose_device(running_device(), error_t::missed_barrier);
}

}  // namespace tessera::gpu::emulator
