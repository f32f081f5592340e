// Timelines, tickets across streams, callbacks, waits.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/conformance/suite/held_work.hpp"

namespace tessera::conformance {
namespace {

void one_stream_keeps_order(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    auto random = what.generator();
    const auto bytes = random_bytes(random, allocatable(device, copyable(device, 10007)));
    const queue stream(device);
    const std::uint32_t space = compute_space(device);
    const buffer a(device, space, bytes.size()), b(device, space, bytes.size()), c(device, space, bytes.size());
    std::vector<unsigned char> back(bytes.size());
    const auto enqueue = [&](const tsr_copy& copy) {
      expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), "copy");
    };
    tsr_link_desc link{};
    link.struct_size = sizeof link;
    if (device.table().link(device.handle(), a.where(), b.where(), &link) == TSR_UNIMPLEMENTED)
      skip("link says that the device copies nothing inside its own memory");
    enqueue(plain_copy(a.where(), a.at(0), host_space, host_address(bytes.data()), bytes.size()));
    for (int i = 0; i < 20; ++i) {
      enqueue(plain_copy(b.where(), b.at(0), a.where(), a.at(0), bytes.size()));
      enqueue(plain_copy(c.where(), c.at(0), b.where(), b.at(0), bytes.size()));
      enqueue(plain_copy(a.where(), a.at(0), c.where(), c.at(0), bytes.size()));
    }
    enqueue(plain_copy(host_space, host_address(back.data()), a.where(), a.at(0), bytes.size()));
    stream.finish();
    expect(back == bytes, "copies of one stream overtake each other");
  });
}

/// A token goes from stream to stream 200 times; every hop waits for the ticket of the one before, which has usually
/// not been reached then.
void tickets_order_streams(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    if (device.table().stream_wait == nullptr) {
      expect(!device.has(TSR_DEVICE_DEVICE_WAIT), "TSR_DEVICE_DEVICE_WAIT is claimed but stream_wait is missing");
      skip("stream_wait is not offered");
    }
    const std::uint64_t bytes = allocatable(device, copyable(device, 4096));
    constexpr int hops = 200;
    auto random = what.generator();
    if (streams_of(device, 2) < 2) throw beyond_limits("the device has one stream at a time");
    std::vector<queue> streams;
    for (std::size_t i = 0; i < streams_of(device, 4); ++i)
      streams.emplace_back(device, i % 2 == 0 ? TSR_STREAM_COMPUTE : TSR_STREAM_COPY);
    std::vector<buffer> cells;
    for (int i = 0; i <= hops; ++i) cells.emplace_back(device, compute_space(device), bytes);
    const auto token = random_bytes(random, bytes);
    expect_ok(device.table().stream_wait(device.handle(), streams[0].handle(), tsr_ticket{nullptr, 0}),
              "stream_wait for the zero ticket");
    const tsr_copy first = plain_copy(cells[0].where(), cells[0].at(0), host_space, host_address(token.data()), bytes);
    expect_ok(device.table().copy(device.handle(), streams[0].handle(), &first), "copy");
    tsr_ticket ticket = streams[0].signal();
    // Through the host, because not every device copies inside itself.
    std::vector<std::vector<unsigned char>> relay(hops, std::vector<unsigned char>(bytes));
    std::size_t last = 0;
    for (int i = 0; i < hops; ++i) {
      last = random() % streams.size();
      const queue& stream = streams[last];
      expect_ok(device.table().stream_wait(device.handle(), stream.handle(), ticket), "stream_wait");
      const tsr_copy out =
          plain_copy(host_space, host_address(relay[static_cast<std::size_t>(i)].data()),
                     cells[static_cast<std::size_t>(i)].where(), cells[static_cast<std::size_t>(i)].at(0), bytes);
      const buffer& next = cells[static_cast<std::size_t>(i) + 1];
      const tsr_copy in = plain_copy(next.where(), next.at(0), host_space,
                                     host_address(relay[static_cast<std::size_t>(i)].data()), bytes);
      expect_ok(device.table().copy(device.handle(), stream.handle(), &out), "copy");
      expect_ok(device.table().copy(device.handle(), stream.handle(), &in), "copy");
      ticket = stream.signal();
    }
    streams[last].finish();
    expect(downloaded<unsigned char>(streams[last], cells.back(), bytes) == token,
           "after {} hops over {} streams ordered by tickets the data is wrong (seed {})", hops, streams.size(),
           what.seed);
    for (const queue& stream : streams) stream.finish();
  });
}

void tickets_order_devices(const subject& what) {
  const opened all(what);
  if (all.devices.size() < 2) skip("the plugin has one device: where it can have two, an --option asks for them");
  const device &a = *all.devices[0], &b = *all.devices[1];
  if (b.table().stream_wait == nullptr) skip("stream_wait is not offered");
  std::uint64_t bytes = 1 << 20;
  for (const device* one : {&a, &b}) bytes = allocatable(*one, copyable(*one, bytes));
  auto random = what.generator();
  const auto token = random_bytes(random, bytes);
  const queue first(a), second(b);
  const buffer at_a(a, compute_space(a), bytes), at_b(b, compute_space(b), bytes);
  std::vector<unsigned char> relay(bytes);
  for (const auto& copy : {plain_copy(at_a.where(), at_a.at(0), host_space, host_address(token.data()), bytes),
                           plain_copy(host_space, host_address(relay.data()), at_a.where(), at_a.at(0), bytes)})
    expect_ok(a.table().copy(a.handle(), first.handle(), &copy), "copy");
  const tsr_ticket ticket = first.signal();
  expect_ok(b.table().stream_wait(b.handle(), second.handle(), ticket), "stream_wait for another device's ticket");
  const tsr_copy in = plain_copy(at_b.where(), at_b.at(0), host_space, host_address(relay.data()), bytes);
  expect_ok(b.table().copy(b.handle(), second.handle(), &in), "copy");
  second.finish();
  expect(downloaded<unsigned char>(second, at_b, bytes) == token,
         "a ticket of another device of the plugin does not hold work back");
  first.finish();
}

void host_waits(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().stream_host_wait == nullptr) return;
    tried = true;
    const queue stream(device);
    const tsr_ticket ticket = stream.signal();
    expect_ok(device.table().stream_host_wait(device.handle(), ticket, 60'000'000'000ull), "stream_host_wait");
    expect(stream.reached(ticket), "stream_host_wait answers OK before the ticket is reached");
    expect_ok(device.table().stream_host_wait(device.handle(), ticket, 0), "stream_host_wait for a reached ticket");
    expect_ok(device.table().stream_host_wait(device.handle(), tsr_ticket{nullptr, 0}, 0),
              "stream_host_wait for the zero ticket");
    if (hold_of(stream) != hold::gate) return;
    tsr_ticket late{};
    {
      held_work before(stream, hold::gate);
      late = stream.signal();
      constexpr std::chrono::milliseconds longer{20};
      const auto begin = std::chrono::steady_clock::now();
      const tsr_status whole =
          device.table().stream_host_wait(device.handle(), late, std::chrono::nanoseconds(longer).count());
      const auto waited = std::chrono::steady_clock::now() - begin;
      if (whole == TSR_DEADLINE_EXCEEDED)  // a clock of its own may be a little fast
        expect(waited >= longer / 2,
               "stream_host_wait with a limit of {} ms says after {:.3g} ms that the limit is over: timeout_ns is in "
               "nanoseconds (rule R7)",
               longer.count(), std::chrono::duration<double, std::milli>(waited).count());
      const tsr_status status = device.table().stream_host_wait(device.handle(), late, 1'000'000);
      expect(!before.ran_out(),
             "stream_host_wait with a limit of 1 ms comes back when the work has finished, after {} s: it keeps to "
             "timeout_ns",
             held_work::limit.count());
      expect_status(status, TSR_DEADLINE_EXCEEDED,
                    "stream_host_wait, with a limit of 1 ms, for work that is held back,");
      const tsr_status look = device.table().stream_host_wait(device.handle(), late, 0);
      expect(!before.ran_out(), "stream_host_wait with a limit of 0 waits: it only looks");
      expect_status(look, TSR_DEADLINE_EXCEEDED, "stream_host_wait, with a limit of 0, for work that is held back,");
      expect(!stream.reached(late), "stream_progress reports work as done that is held back");
    }
    expect_ok(device.table().stream_host_wait(device.handle(), late, 60'000'000'000ull), "stream_host_wait");
  });
  if (!tried) skip("stream_host_wait is not offered");
}

struct call_log {
  std::atomic<int> calls{0};
  std::vector<int> order = std::vector<int>(64, -1);
};
struct call {
  call_log* log;
  int number;
};

void callbacks_come_in_order(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().stream_callback == nullptr) {
      expect(!device.has(TSR_DEVICE_CALLBACK), "TSR_DEVICE_CALLBACK is claimed but stream_callback is missing");
      return;
    }
    tried = true;
    call_log log;
    std::vector<call> calls;
    for (int i = 0; i < 50; ++i) calls.push_back({&log, i});
    const queue stream(device);
    for (call& one : calls)
      expect_ok(device.table().stream_callback(
                    device.handle(), stream.handle(),
                    [](void* argument) {
                      auto& c = *static_cast<call*>(argument);
                      c.log->order[static_cast<std::size_t>(c.log->calls)] = c.number;
                      ++c.log->calls;
                    },
                    &one),
                "stream_callback");
    stream.finish();
    wait_until([&] { return log.calls >= 50; }, "a callback of stream_callback behind work that has finished");
    for (int i = 0; i < 50; ++i)
      expect(log.order[static_cast<std::size_t>(i)] == i, "callback {} came in place {}",
             log.order[static_cast<std::size_t>(i)], i);
  });
  if (!tried) skip("stream_callback is not offered");
}

/// A host task that adds 1 to its range, after whatever was enqueued before.
void host_tasks_see_the_data(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().host_task == nullptr) return;
    tried = true;
    const queue stream(device);
    const buffer memory(device, compute_space(device), 4096);
    std::vector<std::uint32_t> values(256), back(256);
    std::iota(values.begin(), values.end(), 0u);
    const tsr_copy in = plain_copy(memory.where(), memory.at(512), host_space, host_address(values.data()), 1024);
    const tsr_copy out = plain_copy(host_space, host_address(back.data()), memory.where(), memory.at(512), 1024);
    expect_ok(device.table().copy(device.handle(), stream.handle(), &in), "copy");
    for (int i = 0; i < 10; ++i) {
      const tsr_address range = memory.at(512);
      expect_ok(device.table().host_task(
                    device.handle(), stream.handle(),
                    [](void*, void* const* bases) {
                      for (int j = 0; j < 256; ++j) ++static_cast<std::uint32_t*>(bases[0])[j];
                      return tsr_status{TSR_OK};
                    },
                    nullptr, &range, 1, 256),
                "host_task");
    }
    expect_ok(device.table().copy(device.handle(), stream.handle(), &out), "copy");
    stream.finish();
    for (std::uint32_t j = 0; j < 256; ++j)
      expect(back[j] == j + 10, "after 10 host tasks element {} is {}", j, back[j]);
  });
  if (!tried) skip("host_task is not offered");
}

}  // namespace

std::vector<check> ordering_checks() {
  return {{"ordering.one_stream_keeps_order", one_stream_keeps_order},
          {"ordering.tickets_order_streams", tickets_order_streams},
          {"ordering.tickets_order_devices", tickets_order_devices},
          {"ordering.host_waits", host_waits},
          {"ordering.callbacks_come_in_order", callbacks_come_in_order},
          {"ordering.host_tasks_see_the_data", host_tasks_see_the_data}};
}

}  // namespace tessera::conformance
