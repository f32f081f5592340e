// What all checks with streams rely on: a point is reached when the work before it has finished, and a copy's struct is
// read before the call returns. Of a plugin that fails here, work may use memory until its devices are closed: these
// checks keep theirs until then, and the others are not run.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/conformance/suite/blocking_task.hpp"
#include "tests/conformance/suite/held_work.hpp"
#include "tests/conformance/suite/host_code.hpp"
#include "tests/conformance/suite/kept_stream.hpp"

namespace tessera::conformance {
namespace {

using release_at_end = blocking_task::release_at_end;

/// How long the device's work is held up at most.
constexpr std::chrono::seconds limit{1};

void timelines_increase(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    const queue stream(device);
    std::uint64_t last = 0, seen = 0;
    tsr_ticket ticket{};
    for (int i = 0; i < 1000; ++i) {
      ticket = stream.signal();
      expect(ticket.value > last,
             "stream_signal gives {} after {}: the values of one stream increase, so that no point is taken for an "
             "earlier one",
             ticket.value, last);
      last = ticket.value;
      std::uint64_t value = 0, failed = 0;
      expect_ok(device.table().stream_progress(device.handle(), stream.handle(), &value, &failed), "stream_progress");
      expect(value >= seen && value <= last, "stream_progress answers {} after {}, signalled is {}", value, seen, last);
      expect(failed == 0, "stream_progress names a failed point, {}, though nothing failed", failed);
      seen = value;
    }
    wait_until([&] { return stream.reached(ticket); }, "the point of stream_signal on a stream without work");
  });
}

/// A point behind a host task that waits.
void point_behind_a_task(const device& on, kept_stream& stream, std::deque<blocking_task>& tasks) {
  if (!runs_host_code(on)) return;
  blocking_task& task = tasks.emplace_back(limit);
  tsr_ticket point{};
  {
    const release_at_end always{task};
    task.enqueue(on, stream.handle());
    point = stream.signal();
    for (int i = 0; i < 20 && !task.ran_out(); ++i) {
      const bool early = stream.reached(point);
      expect(
          !early || task.done(),
          "stream_progress says that the point of stream_signal is reached, and the host task before it still runs: a "
          "point is reached when the work before it has finished");
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  wait_until([&] { return stream.reached(point); }, "the point of stream_signal behind a host task");
  expect(task.done(), "a point is reached and the host task before it has not run");
}

/// Points behind rows of copies whose results are looked at as soon as it is reached.
void points_behind_copies(kept_stream& stream, kept_memory& kept, std::uint64_t bytes) {
  constexpr int rounds = 4, copies = 8;
  auto& source = kept.filled(bytes, 0);
  std::vector<std::vector<unsigned char>*> back;
  for (int i = 0; i < copies; ++i) back.push_back(&kept.filled(bytes, 0));
  for (int round = 1; round <= rounds; ++round) {
    const auto mark = static_cast<unsigned char>(round);
    std::fill(source.begin(), source.end(), mark);
    stream.into(0, source);
    for (auto* const to : back) stream.out_of(0, *to);
    const tsr_ticket point = stream.signal();
    wait_until([&] { return stream.reached(point); }, "the point of stream_signal behind some copies");
    for (int i = copies - 1; i >= 0; --i) {
      const auto& one = *back[static_cast<std::size_t>(i)];
      for (const std::size_t at : {one.size() - 1, one.size() / 2, std::size_t{0}})
        expect(one[at] == mark,
               "stream_progress says that the point of stream_signal is reached, and copy {} of {} before it has not "
               "been done: a point is reached when the work before it has finished",
               i + 1, copies);
    }
  }
}

void signals_wait_for_work(const subject& what) {
  kept_memory kept;
  std::deque<blocking_task> tasks;
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    const std::uint64_t bytes = std::min(bytes_of_row(device), std::uint64_t{1} << 20);
    kept_stream stream(device, bytes, kept);
    point_behind_a_task(device, stream, tasks);
    points_behind_copies(stream, kept, bytes);
    stream.destroy();
    stream.free();
  });
}

/// A copy whose struct describes another one as soon as the call has returned.
void copies_are_read_at_once(const subject& what) {
  kept_memory kept;
  std::deque<blocking_task> tasks;
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    constexpr std::uint64_t bytes = 64;
    const std::uint64_t row = std::max(std::min(bytes_of_row(device), std::uint64_t{1} << 20), bytes);
    kept_stream stream(device, row, kept);
    const auto &before = kept.filled(row, 0), &wanted = kept.filled(bytes, 1), &other = kept.filled(bytes, 2);
    auto& back = kept.filled(bytes, 9);
    blocking_task& task = tasks.emplace_back(limit);
    {
      const release_at_end always{task};
      if (runs_host_code(device)) task.enqueue(device, stream.handle());
      for (int i = 0; i < 16; ++i) stream.into(0, before);
      tsr_copy& read = stream.into(0, wanted);
      read.source = host_address(other.data());
    }
    stream.out_of(0, back);
    stream.wait();
    expect(back != other,
           "copy does what its struct says after the call has returned: the struct is the caller's again then, and is "
           "read before");
    expect(back == wanted, "a copy behind {} others on its stream does not bring what it was given", 16);
    stream.destroy();
    stream.free();
  });
}

}  // namespace

std::vector<check> foundation_checks() {
  return {{"ordering.timelines_increase", timelines_increase, devices, false, true},
          {"ordering.signals_wait_for_work", signals_wait_for_work, devices, false, true},
          {"enqueueing.copies_are_read_at_once", copies_are_read_at_once, devices, false, true}};
}

}  // namespace tessera::conformance
