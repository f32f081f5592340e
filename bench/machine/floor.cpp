// Costs no task runtime can avoid or beat on this machine: calls, allocation, atomics, core-to-core latency, wake-ups,
// and finding the dependencies of the random task graph without executing anything.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

using namespace bench;

namespace {

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// smallest of several timings of f(), which performs `count` operations; nanoseconds per operation
template <class F>
double best_ns(long count, F&& f, int reps = 15) {
  double best = 1e9;
  for (int r = 0; r < reps; ++r) {
    const double t0 = now();
    f();
    best = std::min(best, (now() - t0) / double(count));
  }
  return best * 1e9;
}

// both threads run f(core) at once
template <class F>
void pair_run(F&& f) {
  std::atomic<int> ready{0};
  auto body = [&](int core) {
    pin(core);
    ready.fetch_add(1);
    while (ready.load() < 2) {
    }
    f(core);
  };
  std::thread other([&] { body(1); });
  body(0);
  other.join();
}

void out(const char* kase, int threads, double ns) { row("floor", "hardware", kase, threads, "ns", ns); }

void empty_function(void*) { asm volatile(""); }

void futex(std::atomic<int>* a, int op, int value) {
  syscall(SYS_futex, reinterpret_cast<int*>(a), op, value, nullptr, nullptr, 0);
}

struct alignas(64) cache_line {
  std::atomic<long> v{0};
};

// one cache line there and back; virtual cores may move between near and far physical cores, so this varies
double round_trip() {
  cache_line a;
  double ns = 0;
  const long m = 2000;
  pair_run([&](int core) {
    double best = 1e9;
    long k = 0;
    for (int r = 0; r < 100; ++r) {
      const double t0 = now();
      for (long i = 0; i < m; ++i, k += 2) {
        const long expect = core == 0 ? k : k + 1;
        while (a.v.load(std::memory_order_acquire) != expect) {
        }
        a.v.store(expect + 1, std::memory_order_release);
      }
      best = std::min(best, (now() - t0) / double(m));
    }
    if (core == 0) ns = best * 1e9;
  });
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  if (arguments(argc, argv, {"probe"}).number("probe", 0) != 0) {
    out("core_to_core_round_trip", 2, round_trip());
    return 0;
  }
  pin(0);
  const long n = 1000000;

  {
    struct Task {
      void (*f)(void*);
      void* arg;
    };
    std::vector<Task> tasks(size_t(n), Task{empty_function, nullptr});
    out("call_through_pointer", 1, best_ns(n, [&] {
          for (auto& t : tasks) t.f(t.arg);
        }));
  }
  {
    std::vector<void*> p(static_cast<size_t>(n));
    out("malloc_free_128B_lifo", 1, best_ns(n, [&] {
          for (long i = 0; i < n; ++i) {
            void* q = std::malloc(128);
            asm volatile("" : : "r"(q) : "memory");
            std::free(q);
          }
        }));
    out("malloc_free_128B_batch", 1, best_ns(n, [&] {
          for (auto& q : p) q = std::malloc(128);
          for (auto& q : p) std::free(q);
        }));
    std::vector<char> pool(size_t(n) * 128);
    out("bump_allocate_write_128B", 1, best_ns(n, [&] { std::memset(pool.data(), 1, pool.size()); }));
  }
  for (const bool huge : {false, true}) {  // first touch of fresh memory
    const size_t size = size_t(128) << 20;
    const double ns = best_ns(long(size >> 12), [&] {
      void* m = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      madvise(m, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
      for (size_t i = 0; i < size; i += 4096) static_cast<volatile char*>(m)[i] = 1;
      munmap(m, size);
    });
    out(huge ? "first_touch_4KB_of_2MB_pages" : "first_touch_4KB_page", 1, ns);
  }
  {
    cache_line a;
    out("atomic_add", 1, best_ns(n, [&] {
          for (long i = 0; i < n; ++i) a.v.fetch_add(1);
        }));
    std::vector<double> samples;  // the best would be a moment in which the other thread does not run
    pair_run([&](int core) {
      for (int r = 0; r < 200; ++r) {
        const double t = best_ns(
            20000,
            [&] {
              for (long i = 0; i < 20000; ++i) a.v.fetch_add(1);
            },
            1);
        if (core == 0) samples.push_back(t);
      }
    });
    std::sort(samples.begin(), samples.end());
    out("atomic_add_contended", 2, samples[samples.size() / 2]);
  }
  out("core_to_core_round_trip", 2, round_trip());
  {  // one producer, one consumer, a ring of pointers with cached indices
    constexpr long ring_slots = 4096;
    auto ring = std::make_unique<std::atomic<long>[]>(ring_slots);
    cache_line head, tail;
    double ns = 0;
    pair_run([&](int core) {
      double best = 1e9;
      long pos = 0, limit = 0;  // limit: the other side's position, read only when it is needed
      for (int r = 0; r < 200; ++r) {
        const double t0 = now();
        for (const long end = pos + 50000; pos < end; ++pos) {
          if (core == 0) {
            while (pos - limit >= ring_slots) limit = tail.v.load(std::memory_order_acquire);
            ring[size_t(pos % ring_slots)].store(pos, std::memory_order_relaxed);
            head.v.store(pos + 1, std::memory_order_release);
          } else {
            while (limit <= pos) limit = head.v.load(std::memory_order_acquire);
            if (ring[size_t(pos % ring_slots)].load(std::memory_order_relaxed) != pos) fail("ring");
            tail.v.store(pos + 1, std::memory_order_release);
          }
        }
        best = std::min(best, (now() - t0) / 50000);
      }
      if (core == 0) ns = best * 1e9;
    });
    out("ring_handoff", 2, ns);
  }
  {  // sleeping thread woken through a futex, there and back
    std::atomic<int> turn{0};
    const int m = 100;
    std::vector<double> samples;  // the best would be a turn without sleep
    pair_run([&](int core) {
      for (int r = 0; r < 101; ++r) {
        const double t0 = now();
        for (int i = 0; i < m; ++i) {
          while (turn.load() != core) futex(&turn, FUTEX_WAIT_PRIVATE, 1 - core);
          turn.store(1 - core);
          futex(&turn, FUTEX_WAKE_PRIVATE, 1);
        }
        if (core == 0) samples.push_back((now() - t0) / m * 1e9);
      }
    });
    std::sort(samples.begin(), samples.end());
    out("futex_wake_round_trip", 2, samples[samples.size() / 2]);
  }
  pin(0);
  out("clock_read", 1, best_ns(n, [&] {
        for (long i = 0; i < n; ++i) now();
      }));
  {
    const std::vector<graph_access> acc = graph_accesses(n);
    long edges = 0;
    out("find_edges_of_random_graph", 1, best_ns(n, [&] {
          edge_finder<uint32_t> f(graph_handles);
          edges = 0;
          for (long i = 0; i < n; ++i) f.access(acc[size_t(i)], uint32_t(i), [&](uint32_t) { ++edges; });
        }));
    row("floor", "hardware", "random_graph", 1, "edges_per_task", double(edges) / double(n));
    // the critical path bounds the parallelism of the random graph
    std::vector<int> depth(size_t(n), 1);
    edge_finder<uint32_t> f(graph_handles);
    int longest = 1;
    for (long i = 0; i < n; ++i) {
      f.access(acc[size_t(i)], uint32_t(i),
               [&](uint32_t p) { depth[size_t(i)] = std::max(depth[size_t(i)], depth[p] + 1); });
      longest = std::max(longest, depth[size_t(i)]);
    }
    row("floor", "hardware", "random_graph", 1, "average_parallelism", double(n) / longest);
  }
}
