// The host plugin, driven through its C ABI.
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <future>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {
namespace {

struct host_plugin : testing::Test {
  opened_plugin plugin{"host"};
  const opened_plugin::device& d = plugin.devices.at(0);
  tsr_memory* allocate(std::uint64_t bytes) const {
    tsr_memory* memory = nullptr;
    opened_plugin::check(d.table->mem_alloc(d.handle, 0, bytes, &memory));
    return memory;
  }
  void* base(tsr_memory* memory) const {
    void* pointer = nullptr;
    opened_plugin::check(d.table->mem_base(d.handle, memory, &pointer));
    return pointer;
  }
};

TEST_F(host_plugin, describes_itself) {
  EXPECT_STREQ(plugin.header->name, "host");
  EXPECT_STREQ(d.description.name, "host");
  EXPECT_EQ(d.description.device_class, static_cast<tsr_device_class>(TSR_DEVICE_CPU));
  EXPECT_GE(d.description.space_count, 1u);
  EXPECT_GT(d.description.peak_f64, 1e8);
  tsr_space_desc space{};
  ASSERT_EQ(d.table->spaces(d.handle, 0, &space), TSR_OK);
  EXPECT_EQ(space.kind, static_cast<tsr_space_kind>(TSR_SPACE_HOST));
  EXPECT_GT(space.bytes, 0u);
  ASSERT_NE(d.blas, nullptr);
  EXPECT_NE(std::string(d.blas->library).find("OpenBLAS"), std::string::npos);
}

TEST_F(host_plugin, large_slabs_do_not_lie_whole_powers_of_two_apart) {
  const auto colours_of = [&](const opened_plugin& of) {
    const auto& by = of.devices.at(0);
    std::vector<std::uintptr_t> colours;
    std::vector<tsr_memory*> slabs(5);
    for (tsr_memory*& slab : slabs) {
      opened_plugin::check(by.table->mem_alloc(by.handle, 0, std::uint64_t{1} << 28, &slab));
      void* pointer = nullptr;
      opened_plugin::check(by.table->mem_base(by.handle, slab, &pointer));
      colours.push_back(reinterpret_cast<std::uintptr_t>(pointer) % (1 << 20));
      EXPECT_EQ(colours.back() % 4096, 0u);
    }
    for (tsr_memory* slab : slabs) opened_plugin::check(by.table->mem_free(by.handle, slab));
    return colours;
  };
  const auto first = colours_of(plugin);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), first.size());
  EXPECT_EQ(colours_of(opened_plugin("host")), first) << "the same in each run";
}

/// Memory that begins and ends where no memory is: `count` elements at one end of it.
template <class T>
class between_gaps {
 public:
  between_gaps(std::size_t count, bool at_end) : m_count(count) {
    const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    m_bytes = bytes + 2 * page;
    m_all = static_cast<char*>(mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(m_all, page, PROT_NONE);
    mprotect(m_all + page + bytes, page, PROT_NONE);
    m_first = reinterpret_cast<T*>(at_end ? m_all + page + bytes - count * sizeof(T) : m_all + page);
  }
  ~between_gaps() { munmap(m_all, m_bytes); }
  between_gaps(const between_gaps&) = delete;
  between_gaps& operator=(const between_gaps&) = delete;
  std::span<T> elements() const { return {m_first, m_count}; }
  tsr_address address() const { return at(m_first); }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t m_count, m_bytes = 0;
  char* m_all = nullptr;
  T* m_first = nullptr;
};

template <class T>
struct host_vectors : host_plugin {};
using complex_types = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(host_vectors, complex_types);

TYPED_TEST(host_vectors, dots_look_at_nothing_beside_their_elements) {
  using T = TypeParam;
  const owned_stream s(this->d, TSR_STREAM_INLINE);
  for (const auto& [incx, incy] : {std::pair<int, int>{1, 1}, {-1, 1}, {1, 2}, {2, -3}, {-2, -1}, {3, 2}})
    for (const int n : {1, 2, 3, 8, 33})
      for (const bool at_end : {false, true}) {
        const auto length = [&](int step) { return static_cast<std::size_t>((n - 1) * std::abs(step) + 1); };
        const between_gaps<T> x(length(incx), at_end), y(length(incy), at_end), result(1, at_end);
        T want = 0;
        for (int k = 0; k < n; ++k) {
          const auto place = [&](int step) { return static_cast<std::size_t>((step < 0 ? k + 1 - n : k) * step); };
          T &a = x.elements()[place(incx)], &b = y.elements()[place(incy)];
          a = T(static_cast<float>(k % 7 - 3), static_cast<float>(k % 5));
          b = T(static_cast<float>(k % 4), static_cast<float>(1 - k % 3));
          want += std::conj(a) * b;
        }
        tsr_vector_operation v{};
        v.struct_size = sizeof v;
        v.type = sizeof(T) == 8 ? TSR_C64 : TSR_C128;
        v.n = n, v.incx = incx, v.incy = incy;
        v.x = x.address(), v.y = y.address(), v.result = result.address();
        opened_plugin::check(this->d.blas->dot(this->d.handle, s.handle, &v));
        EXPECT_EQ(result.elements()[0], want) << "n = " << n << ", increments " << incx << ", " << incy;
      }
}

TEST_F(host_plugin, inline_streams_work_inside_the_call) {
  const owned_stream s(d, TSR_STREAM_INLINE);
  std::thread::id where;
  const auto note = [](void* argument, void* const* bases) -> tsr_status {
    *static_cast<std::thread::id*>(argument) = std::this_thread::get_id();
    *static_cast<int*>(bases[0]) = 42;
    return TSR_OK;
  };
  tsr_memory* memory = allocate(64);
  const tsr_address range = at(memory, 8);
  ASSERT_EQ(d.table->host_task(d.handle, s.handle, note, &where, &range, 1, 0), TSR_OK);
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(static_cast<int*>(base(memory))[2], 42);
  const auto ticket = s.signal();
  std::uint64_t value = 0, failed = 1;
  EXPECT_EQ(d.table->stream_progress(d.handle, s.handle, &value, &failed), TSR_OK);
  EXPECT_EQ(value, ticket.value);
  EXPECT_EQ(failed, 0u);
}

TEST_F(host_plugin, inline_failures_are_on_the_timeline_too) {
  const owned_stream s(d, TSR_STREAM_INLINE);
  const auto bad = [](void*, void* const*) -> tsr_status { return TSR_DATA_LOSS; };
  const auto before = s.signal();
  ASSERT_EQ(d.table->host_task(d.handle, s.handle, bad, nullptr, nullptr, 0, 0), TSR_OK);
  const auto failing = s.signal(), after = s.signal();
  std::uint64_t value = 0, failed = 0;
  EXPECT_EQ(d.table->stream_progress(d.handle, s.handle, &value, &failed), TSR_DATA_LOSS);
  EXPECT_EQ(failed, failing.value);
  EXPECT_EQ(value, after.value);
  EXPECT_NE(opened_plugin::last_error().find("DATA_LOSS"), std::string::npos);
  EXPECT_EQ(d.table->stream_progress(d.handle, s.handle, &value, &failed), TSR_OK);
  EXPECT_LT(before.value, failing.value);
}

TEST_F(host_plugin, an_inline_stream_waits_for_an_asynchronous_one) {
  const owned_stream slow(d), direct(d, TSR_STREAM_INLINE);
  struct gate_and_flag {
    std::promise<void> gate;
    std::atomic<bool> done{false};
  } shared;
  const auto task = [](void* argument, void* const*) -> tsr_status {
    auto& both = *static_cast<gate_and_flag*>(argument);
    both.gate.get_future().wait();
    both.done = true;
    return TSR_OK;
  };
  ASSERT_EQ(d.table->host_task(d.handle, slow.handle, task, &shared, nullptr, 0, 0), TSR_OK);
  const auto ticket = slow.signal();
  EXPECT_EQ(d.table->stream_host_wait(d.handle, ticket, 1000), TSR_DEADLINE_EXCEEDED);
  auto opener = std::async(std::launch::async, [&] { shared.gate.set_value(); });
  ASSERT_EQ(d.table->stream_wait(d.handle, direct.handle, ticket), TSR_OK);
  EXPECT_TRUE(shared.done);
}

TEST_F(host_plugin, stream_threads_may_use_every_allowed_cpu) {
  // Also when the creating thread is bound to one of them, as a worker is.
  cpu_set_t all, one, seen;
  sched_getaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU only";
  std::vector<std::uint64_t> mask(CPU_SETSIZE / 64);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) mask[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  opened_plugin masked("host", {}, mask);
  const auto& device = masked.devices.at(0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  {
    const owned_stream s(device);
    const auto look = [](void* argument, void* const*) -> tsr_status {
      sched_getaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(argument));
      return TSR_OK;
    };
    ASSERT_EQ(device.table->host_task(device.handle, s.handle, look, &seen, nullptr, 0, 0), TSR_OK);
    s.finish();
  }
  sched_setaffinity(0, sizeof all, &all);
  EXPECT_TRUE(CPU_EQUAL(&seen, &all));
}

TEST_F(host_plugin, misuse_is_recognised) {
  tsr_memory* memory = allocate(1000);
  const owned_stream s(d, TSR_STREAM_INLINE);
  char bytes[64] = {};
  const tsr_space_ref here{d.handle, 0};
  const auto try_copy = [&](tsr_address to, std::uint64_t n) {
    const auto c = flat_copy(here, to, plain, at(bytes), n);
    return d.table->copy(d.handle, s.handle, &c);
  };
  EXPECT_EQ(try_copy(at(memory, 936), 64), TSR_OK);
  EXPECT_EQ(try_copy(at(memory, 937), 64), TSR_OUT_OF_RANGE);
  EXPECT_EQ(try_copy(at(memory, ~0ull), 64), TSR_OUT_OF_RANGE);
  EXPECT_EQ(d.table->mem_free(d.handle, memory), TSR_OK);
  EXPECT_EQ(d.table->mem_free(d.handle, memory), TSR_INVALID_ARGUMENT) << "freed twice";
  EXPECT_EQ(try_copy(at(memory), 64), TSR_INVALID_ARGUMENT) << "freed memory";
  EXPECT_EQ(try_copy({nullptr, 0}, 64), TSR_INVALID_ARGUMENT) << "null pointer";
  tsr_stream* gone = nullptr;
  ASSERT_EQ(d.table->stream_create(d.handle, 0, &gone), TSR_OK);
  ASSERT_EQ(d.table->stream_destroy(d.handle, gone), TSR_OK);
  EXPECT_EQ(d.table->stream_destroy(d.handle, gone), TSR_INVALID_ARGUMENT);
  tsr_ticket ticket{};
  EXPECT_EQ(d.table->stream_signal(d.handle, gone, &ticket), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(d.table->stream_wait(d.handle, s.handle, {s.handle, 1000}), TSR_INVALID_ARGUMENT) << "never signalled";
  EXPECT_EQ(d.table->host_register(d.handle, bytes, 64), TSR_OK);
  EXPECT_EQ(d.table->host_register(d.handle, bytes + 63, 1), TSR_ALREADY_EXISTS);
  EXPECT_EQ(d.table->host_unregister(d.handle, bytes), TSR_OK);
  EXPECT_EQ(d.table->host_unregister(d.handle, bytes), TSR_INVALID_ARGUMENT);
  std::uint64_t live = 9;
  EXPECT_EQ(d.table->query(d.handle, TSR_QUERY_LIVE_ALLOCATIONS, 0, &live), TSR_OK);
  EXPECT_EQ(live, 0u);
}

TEST_F(host_plugin, opens_again_after_close) {
  auto device = d;
  for (int i = 0; i < 100; ++i) {
    tsr_memory* memory = nullptr;
    tsr_stream* stream = nullptr;
    ASSERT_EQ(device.table->mem_alloc(device.handle, 0, 5000, &memory), TSR_OK);  // left to device_close
    ASSERT_EQ(device.table->stream_create(device.handle, 0, &stream), TSR_OK);
    ASSERT_EQ(plugin.table->device_close(plugin.plugin, device.handle), TSR_OK);
    EXPECT_EQ(plugin.table->device_close(plugin.plugin, device.handle), TSR_INVALID_ARGUMENT);
    device = plugin.open_device(0);
  }
}

TEST_F(host_plugin, potrf_tells_the_first_bad_pivot_also_for_nan) {
  const owned_stream s(d, TSR_STREAM_INLINE);
  const auto info_of = [&](std::vector<double> a, std::int64_t n, tsr_triangle triangle) {
    std::int32_t info = -7;
    tsr_potrf p{};
    p.struct_size = sizeof p;
    p.type = TSR_F64;
    p.triangle = triangle;
    p.n = n;
    p.lda = std::max<std::int64_t>(n, 1);
    p.a = at(a.data());
    p.info = at(&info);
    opened_plugin::check(d.blas->potrf(d.handle, s.handle, &p));
    return info;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(info_of({}, 0, TSR_LOWER), 0);
  EXPECT_EQ(info_of({4, 2, 2, 3}, 2, TSR_LOWER), 0);
  EXPECT_EQ(info_of({4, 2, 2, 1}, 2, TSR_LOWER), 2);
  EXPECT_EQ(info_of({4, 2, 2, 1}, 2, TSR_UPPER), 2);
  EXPECT_EQ(info_of({-4, 2, 2, 1}, 2, TSR_LOWER), 1);
  EXPECT_EQ(info_of({0, 0, 0, 1}, 2, TSR_LOWER), 1);
  EXPECT_EQ(info_of({4, 2, 2, nan}, 2, TSR_LOWER), 2);
  for (const int n : {40, 200}) {  // beyond LAPACK's unblocked and blocked sizes
    std::vector<double> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
    for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i * n + i)] = i == n - 3 ? nan : 2;
    EXPECT_EQ(info_of(a, n, TSR_LOWER), n - 2);
    EXPECT_EQ(info_of(a, n, TSR_UPPER), n - 2);
  }
}

TEST_F(host_plugin, blas_refuses_what_cannot_be) {
  const owned_stream s(d, TSR_STREAM_INLINE);
  tsr_memory* memory = allocate(8 * 64);
  const double one = 1, zero = 0;
  tsr_gemm good{};
  good.struct_size = sizeof good;
  good.type = TSR_F64;
  good.m = good.n = good.k = good.lda = good.ldb = good.ldc = 8;
  good.alpha = &one;
  good.beta = &zero;
  good.a = good.b = good.c = at(memory);
  std::vector<double> c(64);
  good.c = at(c.data());
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &good), TSR_OK);
  auto g = good;
  g.lda = 7;
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_INVALID_ARGUMENT);
  g = good;
  g.m = -1;
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_INVALID_ARGUMENT);
  g = good;
  g.a.offset = 8;
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_OUT_OF_RANGE);
  g = good;
  g.k = std::int64_t{1} << 40;
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_OUT_OF_RANGE);
  g = good;
  g.alpha = nullptr;
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_INVALID_ARGUMENT);
  g = good;
  g.type = TSR_I32;
  EXPECT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_UNIMPLEMENTED);
  g = good;
  g.batch = 2;
  EXPECT_EQ(d.blas->gemm_strided(d.handle, s.handle, &g), TSR_INVALID_ARGUMENT) << "the results overlap";
  EXPECT_FALSE(d.blas->supports(d.handle, TSR_BLAS_GEMM, TSR_BF16));
}

TEST_F(host_plugin, gemm_with_beta_zero_does_not_read_its_result) {
  const owned_stream s(d, TSR_STREAM_INLINE);
  for (const int n : {1, 3, 8, 70}) {
    const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::vector<std::complex<double>> a(size, {0, 1}), c(size, {std::nan(""), std::nan("")});
    const std::complex<double> one = 1, zero = 0;
    tsr_gemm g{};
    g.struct_size = sizeof g;
    g.type = TSR_C128;
    g.transpose_b = TSR_CONJUGATE_TRANSPOSE;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = n;
    g.alpha = &one;
    g.beta = &zero;
    g.a = g.b = at(a.data());
    g.c = at(c.data());
    ASSERT_EQ(d.blas->gemm(d.handle, s.handle, &g), TSR_OK);
    for (const auto x : c) ASSERT_EQ(x, std::complex<double>(n)) << n;
  }
}

TEST_F(host_plugin, many_threads_use_many_streams) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const owned_stream s(d, t % 2 == 0 ? TSR_STREAM_COMPUTE : TSR_STREAM_INLINE);
      for (int round = 0; round < 50; ++round) {
        tsr_memory* memory = allocate(4096);
        std::vector<int> in(1000, t * 1000 + round), out(1000);
        const auto up = flat_copy({d.handle, 0}, at(memory), plain, at(in.data()), 4000);
        const auto down = flat_copy(plain, at(out.data()), {d.handle, 0}, at(memory), 4000);
        opened_plugin::check(d.table->copy(d.handle, s.handle, &up));
        opened_plugin::check(d.table->copy(d.handle, s.handle, &down));
        s.finish();
        wrong += in != out;
        opened_plugin::check(d.table->mem_free(d.handle, memory));
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera::test
