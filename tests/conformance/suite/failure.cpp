// One check per documented error, and how failures of asynchronous work travel.
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "tests/conformance/suite/blocking_task.hpp"
#include "tests/conformance/suite/held_work.hpp"
#include "tests/conformance/suite/host_code.hpp"
#include "tests/conformance/suite/watch.hpp"

namespace tessera::conformance {
namespace {

auto* const untouched_memory = reinterpret_cast<tsr_memory*>(std::uintptr_t{4096});

void alloc_of_nothing(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    tsr_memory* memory = untouched_memory;
    plugin::take_error_details();
    expect_status(device.table().mem_alloc(device.handle(), 0, 0, &memory), TSR_INVALID_ARGUMENT,
                  "mem_alloc of 0 bytes");
    expect(memory == untouched_memory, "a failed mem_alloc wrote its out_ argument");
  });
}

void alloc_in_no_space(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    tsr_memory* memory = untouched_memory;
    const auto count = static_cast<std::uint32_t>(device.spaces().size());
    for (const std::uint32_t space : {count, count + 1, ~0u})
      expect_status(device.table().mem_alloc(device.handle(), space, 64, &memory), TSR_OUT_OF_RANGE,
                    fmt::format("mem_alloc in space {} of {}", space, count));
    expect(memory == untouched_memory, "a failed mem_alloc wrote its out_ argument");
  });
}

void no_such_space(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    tsr_space_desc description{};
    description.struct_size = sizeof description;
    for (const auto index : {static_cast<std::uint32_t>(device.spaces().size()), ~0u})
      expect_status(device.table().spaces(device.handle(), index, &description), TSR_OUT_OF_RANGE,
                    fmt::format("spaces({})", index));
    expect(description.bytes == 0 && description.name == nullptr, "a failed spaces wrote its out_ argument");
  });
}

void failures_are_explained(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    tsr_memory* memory = nullptr;
    plugin::take_error_details();
    device.table().mem_alloc(device.handle(), 0, 0, &memory);
    expect(!plugin::take_error_details().empty(), "a failed mem_alloc left no details with host->error (rule R3)");
    device.table().mem_alloc(device.handle(), ~0u, 1, &memory);
    expect(!plugin::take_error_details().empty(), "a failed mem_alloc left no details with host->error (rule R3)");
  });
}

void null_handles(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    const tsr_device_table& table = device.table();
    expect_status(table.mem_free(device.handle(), nullptr), TSR_INVALID_ARGUMENT, "mem_free(NULL)");
    expect_status(table.stream_destroy(device.handle(), nullptr), TSR_INVALID_ARGUMENT, "stream_destroy(NULL)");
    tsr_ticket ticket{};
    expect_status(table.stream_signal(device.handle(), nullptr, &ticket), TSR_INVALID_ARGUMENT, "stream_signal(NULL)");
    std::uint64_t value = 0, failed = 0;
    expect_status(table.stream_progress(device.handle(), nullptr, &value, &failed), TSR_INVALID_ARGUMENT,
                  "stream_progress(NULL)");
    const queue stream(device);
    expect_status(table.copy(device.handle(), stream.handle(), nullptr), TSR_INVALID_ARGUMENT, "copy(NULL)");
    const buffer memory(device, 0, 64);
    const unsigned char byte[64] = {};
    const tsr_copy copy = plain_copy(memory.where(), memory.at(0), host_space, host_address(byte), 64);
    expect_status(table.copy(device.handle(), nullptr, &copy), TSR_INVALID_ARGUMENT, "copy on a NULL stream");
  });
}

void copy_out_of_range(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    for (std::uint32_t space = 0; space < device.spaces().size(); ++space) {
      const std::uint64_t size = device.spaces()[space].description.granularity;  // what an allocation is rounded up to
      const std::uint64_t bytes = (1000 + size - 1) / size * size;
      const queue stream(device);
      const buffer memory(device, space, bytes);
      std::vector<unsigned char> host(bytes * 4);
      const auto refused = [&](std::uint64_t offset, std::uint64_t width, std::uint64_t rows, std::uint64_t stride,
                               const char* how) {
        for (const bool out : {false, true}) {
          tsr_copy copy =
              out ? plain_copy(host_space, host_address(host.data()), memory.where(), memory.at(offset), width)
                  : plain_copy(memory.where(), memory.at(offset), host_space, host_address(host.data()), width);
          copy.rows[0] = rows;
          copy.destination_stride[0] = out ? width : stride;
          copy.source_stride[0] = out ? stride : width;
          copy.destination_stride[1] = copy.destination_stride[0] * rows;
          copy.source_stride[1] = copy.source_stride[0] * rows;
          const tsr_status status = device.table().copy(device.handle(), stream.handle(), &copy);
          if (status == TSR_OK) stream.finish();  // it is in the queue, and `host` ends with this check
          expect_status(status, TSR_OUT_OF_RANGE,
                        fmt::format("copy {} a device with {}", out ? "out of" : "into", how));
        }
      };
      refused(bytes - 7, 8, 1, 8, "its last byte beyond the allocation");
      refused(bytes + 64, 8, 1, 8, "its first byte beyond the allocation");
      refused(~0ull - 3, 8, 1, 8, "an offset that wraps around");
      refused(0, 16, 4, bytes / 2, "a row beyond the allocation");
      // Counted in 32 bits these are sizes that fit.
      constexpr std::uint64_t wide = std::uint64_t{1} << 32;
      refused(0, wide + 8, 1, wide + 8, "4 GiB and 8 bytes, more than the allocation has,");
      refused(wide, 8, 1, 8, "an offset of 4 GiB, beyond the allocation");
      refused(0, 8, wide + 1, 8, "2^32 + 1 rows, more than the allocation has");
      refused(0, 8, 2, wide, "rows 4 GiB apart, more than the allocation has");
      tsr_copy wraps = plain_copy(memory.where(), memory.at(0), host_space, host_address(host.data()), 16);
      wraps.rows[0] = 4;
      wraps.destination_stride[0] = 1ull << 63, wraps.source_stride[0] = 16;
      const tsr_status status = device.table().copy(device.handle(), stream.handle(), &wraps);
      if (status == TSR_OK) stream.finish();
      expect(status == TSR_OUT_OF_RANGE || status == TSR_INVALID_ARGUMENT,
             "copy with a stride that wraps around answers {}", plugin::name_of(status));
      const tsr_copy good = plain_copy(memory.where(), memory.at(bytes - 8), host_space, host_address(host.data()), 8);
      expect_ok(device.table().copy(device.handle(), stream.handle(), &good), "copy that ends at the allocation's end");
      stream.finish();
    }
  });
}

void foreign_copies(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    const queue stream(device);
    unsigned char from[8] = {}, to[8] = {};
    const tsr_copy copy = plain_copy(host_space, host_address(to), host_space, host_address(from), 8);
    const tsr_status status = device.table().copy(device.handle(), stream.handle(), &copy);
    expect(status == TSR_OK || status == TSR_INVALID_ARGUMENT || status == TSR_UNIMPLEMENTED,
           "a copy between two ends that are plain host memory answers {}", plugin::name_of(status));
    stream.finish();
  });
}

/// A failing host task: the failure is reported once, at the next signal; the stream goes on.
void failed_work_is_reported_once(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_device_table& table = device.table();
    if (!runs_host_code(device)) return;
    tried = true;
    const queue stream(device);
    std::optional<queue> other;
    if (streams_of(device, 2) == 2) other.emplace(device);
    const tsr_ticket before = stream.signal();
    wait_until([&] { return stream.reached(before); }, "the point of stream_signal on a stream without work");
    expect_ok(enqueue_host_code(
                  device, stream.handle(), [](void*, void* const*) { return tsr_status{TSR_DATA_LOSS}; }, nullptr),
              "enqueueing a host task");
    std::atomic<int> calls{0};
    if (table.stream_callback != nullptr)
      expect_ok(table.stream_callback(
                    device.handle(), stream.handle(), [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &calls),
                "stream_callback");
    const tsr_ticket failing = stream.signal();
    // A ticket that failed lets the wait pass.
    if (other && table.stream_wait != nullptr)
      expect_ok(table.stream_wait(device.handle(), other->handle(), failing), "stream_wait");
    if (other) other->finish();

    tsr_status status = TSR_OK;
    std::uint64_t failed = 0;
    wait_until([&] { return stream.reached(failing, &status, &failed) && status != TSR_OK; },
               "the failure of a host task, which stream_progress tells at the point behind it,");
    expect_status(status, TSR_DATA_LOSS, "stream_progress after a host task that answered DATA_LOSS");
    expect(failed == failing.value, "the failed point is {}, but the first signal after the failing work was {}",
           failed, failing.value);
    if (table.stream_callback != nullptr)
      wait_until([&] { return calls == 1; },
                 "the callback of stream_callback, which is called behind failed work too,");

    status = TSR_OK;
    stream.reached(failing, &status);
    expect(status == TSR_OK, "the same failure is reported twice");
    const buffer memory(device, compute_space(device), 8);
    const std::uint64_t word = 0x0123456789abcdef;
    upload(stream, memory, &word, sizeof word);
    expect(downloaded<std::uint64_t>(stream, memory, 1)[0] == word, "after a failure the stream does not work on");
  });
  if (!tried) skip(fmt::format("nothing can be made to fail: {}", no_host_code));
}

/// Releases a task however the scope ends, and lets the stream get past one behind it.
struct release_and_pass {
  blocking_task &task, &behind;
  ~release_and_pass() {
    task.release();
    for (int i = 0; i < 1000 && !behind.done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

/// Several host tasks that fail, each with a point behind it: one failure at each question, the oldest first, each
/// once.
void failures_are_reported_one_by_one(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    const tsr_device_table& table = device.table();
    if (!runs_host_code(device)) return;
    tried = true;
    using function = tsr_status (*)(void*, void* const*);
    constexpr std::array<std::pair<tsr_status, function>, 3> tasks{
        {{TSR_DATA_LOSS, [](void*, void* const*) { return tsr_status{TSR_DATA_LOSS}; }},
         {TSR_ABORTED, [](void*, void* const*) { return tsr_status{TSR_ABORTED}; }},
         {TSR_UNAVAILABLE, [](void*, void* const*) { return tsr_status{TSR_UNAVAILABLE}; }}}};
    const queue stream(device);
    const bool held = hold_of(stream) == hold::gate;
    std::vector<tsr_ticket> points;
    tsr_ticket last{};
    {
      blocking_task before(held_work::limit);  // none has failed when the last is enqueued
      blocking_task behind(held_work::limit);
      behind.release();
      if (held) before.enqueue(device, stream.handle());
      const release_and_pass always{before, behind};
      for (const auto& task : tasks) {
        expect_ok(enqueue_host_code(device, stream.handle(), task.second, nullptr), "enqueueing a host task");
        points.push_back(stream.signal());
        const tsr_ticket good = stream.signal();
        expect(good.value > points.back().value, "stream_signal gives {} after {}", good.value, points.back().value);
      }
      behind.enqueue(device, stream.handle());
      last = stream.signal();
      before.release();
      wait_until([&] { return behind.done(); }, "a host task behind others that fail");
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      std::uint64_t value = 0, failed = 0;
      tsr_status status = TSR_OK;
      plugin::take_error_details();
      wait_until(
          [&] {
            status = table.stream_progress(device.handle(), stream.handle(), &value, &failed);
            return status != TSR_OK || value >= last.value;
          },
          "the failure of a host task, which stream_progress tells at the point behind it,");
      expect_status(status, tasks[i].first,
                    fmt::format("stream_progress, asked for failure {} of {} of one stream, the oldest first,", i + 1,
                                tasks.size()));
      expect(failed == points[i].value, "failure {} of {} is said to be at point {}, and was before {}", i + 1,
             tasks.size(), failed, points[i].value);
      expect(value >= points[i].value, "stream_progress reports the failure of point {} and says that {} is reached",
             points[i].value, value);
      expect(i + 1 == tasks.size() || value < points[i + 1].value,
             "stream_progress reports the failure of point {} and says that {} is reached, past the failed point {}, "
             "which it has not told",
             points[i].value, value, points[i + 1 < tasks.size() ? i + 1 : i].value);
      expect(!plugin::take_error_details().empty(),
             "stream_progress reports a failure and leaves no details with host->error (rule R3)");
    }
    stream.finish();  // none is left
  });
  if (!tried) skip(fmt::format("nothing can be made to fail: {}", no_host_code));
}

void bad_images(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().module_load == nullptr) return;
    tried = true;
    tsr_module* module = nullptr;
    const char rubbish[] = "this is no image";
    const tsr_status status = device.table().module_load(device.handle(), rubbish, sizeof rubbish, &module);
    expect(status != TSR_OK, "module_load takes rubbish");
    expect(module == nullptr, "a failed module_load wrote its out_ argument");
  });
  if (!tried) skip("modules are not offered");
}

/// Handles that were never given, or not any more.
void handles_that_are_none(const subject& what) {
  const opened all(what);
  std::vector<std::uint64_t> zeros(512, 0);
  for_each_device(all, [&](const device& on) {
    auto* const forged = reinterpret_cast<tsr_memory*>(zeros.data());
    now_trying("mem_free of a handle that was never given");
    expect_status(on.table().mem_free(on.handle(), forged), TSR_INVALID_ARGUMENT,
                  "mem_free of a handle that was never given");
    const queue stream(on);
    std::vector<unsigned char> host(64, 1);
    const tsr_space_ref said{on.handle(), compute_space(on)};
    now_trying("copy with a handle that was never given");
    for (const tsr_copy& one : {plain_copy(said, {forged, 0}, host_space, host_address(host.data()), 64),
                                plain_copy(host_space, host_address(host.data()), said, {forged, 0}, 64)})
      expect_status(on.table().copy(on.handle(), stream.handle(), &one), TSR_INVALID_ARGUMENT,
                    "copy with a handle that was never given");
    tsr_memory* memory = nullptr;
    need_ok(on.table().mem_alloc(on.handle(), compute_space(on), allocatable(on, 64), &memory), "mem_alloc");
    need_ok(on.table().mem_free(on.handle(), memory), "mem_free");
    now_trying("mem_free of memory that was freed");
    expect_status(on.table().mem_free(on.handle(), memory), TSR_INVALID_ARGUMENT, "mem_free of memory that was freed");
    now_trying("");
  });
}

}  // namespace

std::vector<check> failure_checks() {
  return {{"failure.alloc_of_nothing", alloc_of_nothing},
          {"failure.alloc_in_no_space", alloc_in_no_space},
          {"failure.no_such_space", no_such_space},
          {"failure.failures_are_explained", failures_are_explained},
          {"failure.null_handles", null_handles},
          {"failure.handles_that_are_none", handles_that_are_none},
          {"failure.copy_out_of_range", copy_out_of_range},
          {"failure.foreign_copies", foreign_copies},
          {"failure.failed_work_is_reported_once", failed_work_is_reported_once},
          {"failure.failures_are_reported_one_by_one", failures_are_reported_one_by_one},
          {"failure.bad_images", bad_images}};
}

}  // namespace tessera::conformance
