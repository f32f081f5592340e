// Threads times streams.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

constexpr std::size_t max_threads = 4, streams_per_thread = 2;
constexpr int rounds_of_a_thread = 60;

/// Streams are made and destroyed by one thread at a time (rule R5 promises no more).
std::mutex stream_guard;

/// The most bytes for each of so many threads: together they take half of a space at most.
std::uint64_t share_of(const device& device, std::uint32_t space, std::size_t threads) {
  const std::uint64_t capacity = device.spaces()[space].description.bytes,
                      wanted = capacity == 0 ? 20000 : std::min<std::uint64_t>(20000, capacity / 2 / threads);
  return std::max<std::uint64_t>(allocatable(device, copyable(device, wanted)), 1);
}

/// One of so many threads, with so many streams.
void work(const device& device, std::uint64_t seed, std::size_t threads, std::size_t count_of_streams) {
  random_source random(seed);
  const tsr_device_table& table = device.table();
  if (table.thread_attach != nullptr) expect_ok(table.thread_attach(device.handle()), "thread_attach");
  {
    std::vector<queue> streams;
    const auto renew = [&](std::size_t count) {
      const std::lock_guard lock(stream_guard);
      while (streams.size() > count) streams.pop_back();
      while (streams.size() < count_of_streams && count > 0) streams.emplace_back(device);
    };
    struct last_out {
      decltype(renew)& end;
      ~last_out() { end(0); }
    } const at_the_end{renew};
    renew(count_of_streams);
    for (int i = 0; i < rounds_of_a_thread; ++i) {
      const queue& stream = streams[random() % streams.size()];
      const auto space = static_cast<std::uint32_t>(random() % device.spaces().size());
      const auto bytes = random_bytes(random, 1 + random() % share_of(device, space, threads));
      const buffer memory(device, space, bytes.size());
      std::vector<unsigned char> back(bytes.size());
      const tsr_copy in =
          plain_copy(memory.where(), memory.at(0), host_space, host_address(bytes.data()), bytes.size());
      const tsr_copy out =
          plain_copy(host_space, host_address(back.data()), memory.where(), memory.at(0), bytes.size());
      expect_ok(table.copy(device.handle(), stream.handle(), &in), "copy");
      if (random() % 4 == 0) {
        const queue& other = streams[random() % streams.size()];
        const tsr_ticket ticket = stream.signal();
        if (table.stream_wait != nullptr)
          expect_ok(table.stream_wait(device.handle(), other.handle(), ticket), "stream_wait");
        else
          wait_until([&] { return stream.reached(ticket); }, "the point of stream_signal behind a copy");
        expect_ok(table.copy(device.handle(), other.handle(), &out), "copy");
        other.finish();
      } else {
        expect_ok(table.copy(device.handle(), stream.handle(), &out), "copy");
        stream.finish();
      }
      expect(back == bytes, "{} bytes came back wrong in round {} (seed {})", bytes.size(), i, seed);
      if (count_of_streams > 1 && random() % 8 == 0) renew(count_of_streams - 1);
    }
  }
  if (table.thread_detach != nullptr) expect_ok(table.thread_detach(device.handle()), "thread_detach");
}

void threads_times_streams(const subject& what) {
  const opened all(what);
  std::mutex guard;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  std::size_t streams = max_threads * streams_per_thread;
  for (const auto& device : all.devices) streams = streams_of(*device, streams);
  const std::size_t thread_count = std::min(streams, max_threads);
  for (std::size_t t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      try {
        for (const auto& device : all.devices) work(*device, what.seed + t, thread_count, streams / thread_count);
      } catch (...) {
        const std::lock_guard lock(guard);
        failure = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

/// One thread produces on a stream, another asks for its progress meanwhile.
void progress_from_another_thread(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    const queue stream(device);
    std::vector<unsigned char> host(allocatable(device, copyable(device, 1024)), 3);
    const buffer memory(device, compute_space(device), host.size());
    std::atomic<bool> stop{false};
    std::uint64_t last = 0;
    bool fell = false;
    std::thread observer([&] {
      while (!stop) {
        std::uint64_t value = 0, failed = 0;
        device.table().stream_progress(device.handle(), stream.handle(), &value, &failed);
        fell = fell || value < last;
        last = value;
      }
    });
    tsr_ticket ticket{};
    const tsr_copy copy = plain_copy(memory.where(), memory.at(0), host_space, host_address(host.data()), host.size());
    tsr_status status = TSR_OK;
    for (int i = 0; i < 500 && status == TSR_OK; ++i) {
      status = device.table().copy(device.handle(), stream.handle(), &copy);
      if (status == TSR_OK) status = device.table().stream_signal(device.handle(), stream.handle(), &ticket);
    }
    const bool done = status == TSR_OK;
    if (done) wait_until([&] { return stream.reached(ticket); }, "the point of stream_signal behind 500 copies");
    stop = true;
    observer.join();
    expect(done, "copy or stream_signal failed while another thread asked for the progress");
    expect(!fell, "the progress of a stream went backwards");
  });
}

}  // namespace

std::vector<check> stress_checks() {
  return {{"stress.threads_times_streams", threads_times_streams},
          {"stress.progress_from_another_thread", progress_from_another_thread}};
}

}  // namespace tessera::conformance
