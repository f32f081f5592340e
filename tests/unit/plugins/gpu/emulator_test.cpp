// The emulator that GPU plugins run on where there is no GPU: launches, barriers, shared memory, events, broken
// devices.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "plugins/gpu_common/api/emulator/dialect.hpp"

namespace tessera::gpu {
namespace {

void must(error_t error) { ASSERT_EQ(error, error_t::success) << text_of(error); }

class gpu_emulator : public testing::Test {
 protected:
  void SetUp() override {
    must(use_device(ordinal));
    must(create_stream(&stream));
  }
  void TearDown() override {
    destroy_stream(stream);
    revive_device(ordinal);
  }
  static constexpr int ordinal = 5;  // nobody else's
  stream_t stream{};
};

__global__ void count_visits(int* visits, extent3 grid, extent3 threads) {
  const auto& block = emulator::here();
  const extent3 t = block.thread();
  const unsigned at_block = block.block.x + grid.x * (block.block.y + grid.y * block.block.z);
  const unsigned at_thread = t.x + threads.x * (t.y + threads.y * t.z);
  ++visits[at_block * threads.x * threads.y * threads.z + at_thread];
}

TEST_F(gpu_emulator, runs_every_thread_of_every_block_once) {
  const extent3 grid{3, 2, 2}, threads{5, 3, 2};
  std::vector<int> visits(3 * 2 * 2 * 5 * 3 * 2, 0);
  must(launch(&count_visits, grid, threads, 0, stream, visits.data(), grid, threads));
  must(synchronize_stream(stream));
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

/// Turns each block's part of `data` around, `rounds` times, through shared memory.
__global__ void reverse(int* data, int rounds) {
  int* const kept = shared_memory<int>();
  int* const own = data + block_x() * threads_x();
  for (int r = 0; r < rounds; ++r) {
    kept[thread_x()] = own[thread_x()];
    barrier();
    own[thread_x()] = kept[threads_x() - 1 - thread_x()];
    barrier();
  }
}

TEST_F(gpu_emulator, barriers_order_the_threads_of_a_block) {
  for (const unsigned threads : {1u, 2u, 33u, 256u, 1024u}) {
    const unsigned blocks = 3;
    std::vector<int> data(blocks * threads), expected(data.size());
    for (unsigned i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
    for (unsigned b = 0; b < blocks; ++b)
      for (unsigned t = 0; t < threads; ++t)
        expected[b * threads + t] = static_cast<int>(b * threads + threads - 1 - t);
    must(launch(&reverse, {blocks}, {threads}, threads * sizeof(int), stream, data.data(), 5));
    must(synchronize_stream(stream));
    EXPECT_EQ(data, expected) << threads << " threads";
  }
}

__global__ void read_shared(unsigned* out) {
  out[block_x()] = shared_memory<unsigned>()[7];
  shared_memory<unsigned>()[7] = 1;
}

TEST_F(gpu_emulator, shared_memory_holds_nothing_of_the_block_before) {
  std::vector<unsigned> found(3, 0);
  must(launch(&read_shared, {3}, {1}, 32, stream, found.data()));
  must(synchronize_stream(stream));
  EXPECT_EQ(found, std::vector<unsigned>(3, ~0u));
}

__global__ void add_up(int* sum) { add_atomically(sum, 2); }

TEST_F(gpu_emulator, atomics_of_two_streams_add_up) {
  stream_t other{};
  must(create_stream(&other));
  int sum = 0;
  for (const stream_t one : {stream, other})
    for (int i = 0; i < 20; ++i) must(launch(&add_up, {4}, {32}, 0, one, &sum));
  must(synchronize_device());
  EXPECT_EQ(sum, 2 * 20 * 4 * 32 * 2);
  must(destroy_stream(other));
}

__global__ void some_wait(int) {
  if (thread_x() < 3) barrier();
}

TEST_F(gpu_emulator, a_barrier_that_some_threads_miss_breaks_the_device_for_good) {
  must(launch(&some_wait, {1}, {8}, 0, stream, 0));
  EXPECT_EQ(synchronize_stream(stream), error_t::missed_barrier);
  EXPECT_EQ(kind_of(error_t::missed_barrier), error_kind::sticky);
  int untouched = 0;
  EXPECT_EQ(launch(&add_up, {1}, {1}, 0, stream, &untouched), error_t::missed_barrier);
  void* memory = nullptr;
  EXPECT_EQ(allocate(&memory, 8), error_t::missed_barrier);
  must(destroy_stream(stream));
  must(use_device(ordinal - 1));
  must(allocate(&memory, 8));  // another device is not concerned
  must(release(memory));
  must(use_device(ordinal));
  revive_device(ordinal);
  must(create_stream(&stream));
  EXPECT_EQ(untouched, 0);
}

TEST_F(gpu_emulator, refuses_what_a_device_refuses) {
  int number = 0;
  EXPECT_EQ(launch(&add_up, {0}, {1}, 0, stream, &number), error_t::invalid_value);
  EXPECT_EQ(launch(&add_up, {1}, {0}, 0, stream, &number), error_t::invalid_value);
  EXPECT_EQ(launch(&add_up, {1}, {1025}, 0, stream, &number), error_t::invalid_value);
  EXPECT_EQ(launch(&add_up, {1, 65536}, {1}, 0, stream, &number), error_t::invalid_value);
  EXPECT_EQ(launch(&add_up, {1}, {1}, 48 * 1024 + 1, stream, &number), error_t::invalid_value);
  EXPECT_EQ(use_device(emulator::device_count), error_t::no_device);
  EXPECT_EQ(copy_2d(&number, 2, &number, 4, 4, 1, stream), error_t::invalid_value) << "rows longer than their pitch";
  char text[64] = {};
  must(register_host(text, 32));
  EXPECT_EQ(register_host(text + 31, 1), error_t::already_registered);
  must(register_host(text + 32, 1));
  must(unregister_host(text));
  EXPECT_EQ(unregister_host(text), error_t::invalid_value);
  must(unregister_host(text + 32));
}

TEST_F(gpu_emulator, events_order_streams_and_count_as_reached_before_they_are_recorded) {
  stream_t other{};
  must(create_stream(&other));
  event_t event{};
  must(create_event(&event));
  EXPECT_EQ(query(event), error_t::success);
  must(wait(other, event));
  std::atomic<bool> go{false};
  std::vector<int> order;
  must(emulator::enqueue(stream, [&] {
    while (!go) std::this_thread::yield();
    order.push_back(1);
  }));
  must(record(event, stream));
  EXPECT_EQ(query(event), error_t::not_ready);
  must(wait(other, event));
  must(emulator::enqueue(other, [&] { order.push_back(2); }));
  go = true;
  must(synchronize_stream(other));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(query(event), error_t::success);
  must(destroy_event(event));
  must(destroy_stream(other));
}

#if defined(__SANITIZE_THREAD__)
/// Without the barrier that `reverse` has: a neighbour's element may not be there yet.
__global__ void race(int* out) {
  shared_memory<int>()[thread_x()] = 1;
  out[thread_x()] = shared_memory<int>()[threads_x() - 1 - thread_x()];
}

TEST_F(gpu_emulator, a_lost_device_gives_no_event) {
  event_t kept{};
  must(create_event(&kept));
  emulator::lose_device(ordinal);
  event_t event{};
  EXPECT_EQ(create_event(&event), error_t::lost);
  EXPECT_EQ(event, event_t{}) << "an answer that is an error gives nothing that somebody would have to destroy";
  EXPECT_EQ(destroy_event(kept), error_t::success);
}

TEST_F(gpu_emulator, the_thread_sanitizer_sees_a_missing_barrier) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        use_device(0);
        stream_t own{};
        create_stream(&own);
        std::vector<int> out(8);
        launch(&race, {1}, {8}, 32, own, out.data());
        synchronize_stream(own);
        destroy_stream(own);
        std::exit(0);
      },
      "data race");
}
#endif

#if defined(__SANITIZE_ADDRESS__)
__global__ void overrun(int* out) { *out = shared_memory<int>()[4]; }

TEST_F(gpu_emulator, the_address_sanitizer_sees_shared_memory_overrun) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        use_device(0);
        stream_t own{};
        create_stream(&own);
        int out = 0;
        launch(&overrun, {1}, {1}, 16, own, &out);
        synchronize_stream(own);
      },
      "heap-buffer-overflow");
}
#endif

}  // namespace
}  // namespace tessera::gpu
