// Messages, progress, wait and wake.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {
namespace {

using bytes = std::vector<std::byte>;

std::span<const std::byte> bytes_of(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

/// T5: small and large ones alternate, so that a large payload would be overtaken if anything could.
void order_of_a_pair(rig& r) {
  constexpr std::uint32_t count = 60;
  std::vector<std::uint32_t> seen(static_cast<std::size_t>(r.size()));
  std::uint32_t total = 0;
  const auto large = [&](std::int32_t from, std::uint32_t k) {
    return pattern(k % 3 == 0 ? r.desc.eager_bytes * 3 + 1000 : k % 5, static_cast<std::uint64_t>(from) * 1000 + k);
  };
  r.listen([&](std::int32_t source, std::uint32_t id, std::span<const std::byte> header,
               std::span<const std::byte> payload) {
    std::uint32_t& next = seen[static_cast<std::size_t>(source)];
    r.expect(id == next, fmt::format("message {} of rank {} came as number {}", id, source, next));
    r.expect(header.size() == id % 17, fmt::format("a header of {} bytes", header.size()));
    const bytes expected = large(source, id);
    r.expect(std::equal(payload.begin(), payload.end(), expected.begin(), expected.end()),
             fmt::format("the payload of message {} of rank {}", id, source));
    ++next, ++total;
  });
  for (std::uint32_t k = 0; k < count; ++k)
    for (std::int32_t to = 0; to < r.size(); ++to) r.send(to, k, pattern(k % 17, k), large(r.rank(), k));
  r.until([&] { return total == count * static_cast<std::uint32_t>(r.size()); }, "all messages");
  r.listen(nullptr);
}

void payload_is_unchanged_until_the_request_ends(rig& r) {
  const bytes head = pattern(TSR_MAX_HEADER_BYTES, 7);
  for (const std::uint64_t length :
       {std::uint64_t{0}, r.desc.eager_bytes, r.desc.eager_bytes + 1, std::uint64_t{300000}}) {
    bytes payload = pattern(length, length + 3), header = head;
    request done;
    const tsr_message message{sizeof(tsr_message),
                              r.next(),
                              5,
                              static_cast<std::uint32_t>(header.size()),
                              header.data(),
                              payload.empty() ? nullptr : payload.data(),
                              length};
    r.need_ok(r.with_room([&] { return r.call.send(r.endpoint, &message, &done); }, "send"), "send");
    if (length <= r.desc.eager_bytes)
      r.expect(done.status == TSR_OK, "up to eager_bytes the request has ended at once");
    std::fill(header.begin(), header.end(), std::byte{0xee});  // was copied
    r.finish_ok(done, "send");
    std::fill(payload.begin(), payload.end(), std::byte{0xee});  // T3
    const received one = r.take("the message");
    r.expect(one.id == 5 && one.header == head, "header and id are what was sent");
    r.expect(one.payload == pattern(length, length + 3), fmt::format("a payload of {} bytes", length));
    r.expect(one.source == (r.rank() + r.size() - 1) % r.size(), "the source is the sender");
  }
}

void nothing_at_all_is_a_message(rig& r) {
  r.send(r.next(), 0xffffffffu, {}, {});
  const received one = r.take("the empty message");
  r.expect(one.id == 0xffffffffu && one.header.empty() && one.payload.empty(), "an empty message");
}

void messages_to_oneself(rig& r) {
  for (std::uint32_t k = 0; k < 5; ++k) r.send(r.rank(), k, bytes_of(k), pattern(k * 5000, k));
  for (std::uint32_t k = 0; k < 5; ++k) {
    const received one = r.take("a message to oneself");
    r.expect(one.source == r.rank() && one.id == k && one.payload == pattern(k * 5000, k), "what was sent to oneself");
  }
}

void handlers_may_send(rig& r) {
  std::uint32_t back = 0, given = 0;  // answers that came, answers to others
  std::deque<std::pair<std::int32_t, std::uint32_t>> unanswered;
  request answered;
  const auto answer = [&](std::int32_t to, std::uint32_t id) {
    const tsr_message message{sizeof(tsr_message), to, 1000 + id, 0, nullptr, nullptr, 0};
    return r.call.send(r.endpoint, &message, &answered);
  };
  r.listen([&](std::int32_t source, std::uint32_t id, auto, auto) {
    if (id >= 1000) {
      ++back;
    } else if (const auto status = answer(source, id); status == TSR_NOT_READY) {
      unanswered.emplace_back(source, id);
    } else {
      ++given;
      r.expect_status(status, TSR_OK, "send from a handler");
      r.expect(answered.status == TSR_OK, "an empty message has ended at once");
    }
  });
  for (std::uint32_t k = 0; k < 20; ++k) r.send(r.next(), k, {}, {});
  r.until(
      [&] {
        while (!unanswered.empty() && answer(unanswered.front().first, unanswered.front().second) == TSR_OK)
          unanswered.pop_front(), ++given;
        return back == 20 && given == 20;
      },
      "all answers");
  r.barrier();
  r.listen(nullptr);
}

void handlers_may_use_windows_and_not_progress(rig& r) {
  tsr_window* const one = r.window(8);
  request put, flush;
  std::int64_t value = 40 + r.rank();
  bool handled = false;
  r.listen([&](std::int32_t source, auto, auto, auto) {
    bool happened = false;
    r.expect_status(r.call.progress(r.endpoint, 1, &happened), TSR_FAILED_PRECONDITION, "progress inside of a handler");
    r.expect_status(r.call.wait(r.endpoint, 1), TSR_FAILED_PRECONDITION, "wait inside of a handler");
    const tsr_transfer block = block_of(one, source, 0, &value, 8);
    r.expect_status(r.call.put(r.endpoint, &block, &put), TSR_OK, "put inside of a handler");
    r.expect_status(r.call.flush(r.endpoint, one, source, &flush), TSR_OK, "flush inside of a handler");
    handled = true;
  });
  r.barrier();  // so that the transport itself calls it
  r.send(r.next(), 0, {}, {});
  r.until([&] { return handled && !put.under_way() && !flush.under_way(); }, "what the handler began");
  r.listen(nullptr);
  r.barrier();
  std::int64_t found = 0;
  r.get(one, r.rank(), 0, &found, 8);
  r.expect(found == 40 + r.next(), fmt::format("the handler of the next rank put {}", found));
  r.barrier();
  r.destroy(one);
}

/// A receiver that makes no progress, which is this rank itself: the sender is told, loses nothing, and what it was
/// refused left no trace.
void full_buffers_answer_not_ready(rig& r) {
  constexpr std::uint32_t most = 100000;
  std::uint32_t sent = 0, came = 0;
  bool refused = false;
  const bytes small = pattern(100, 1);
  r.listen([&](std::int32_t, std::uint32_t id, auto, std::span<const std::byte> payload) {
    r.expect(id == came && payload.size() == 100, fmt::format("message {} came as number {}", id, came));
    ++came;
  });
  std::deque<request> done;
  while (sent < most && !refused) {
    const tsr_message message{sizeof(tsr_message), r.rank(), sent, 0, nullptr, small.data(), small.size()};
    const tsr_status status = r.call.send(r.endpoint, &message, &done.emplace_back());
    if (status == TSR_NOT_READY) {
      refused = true;
      r.expect(done.back().status == 4711, "a refused request is untouched");
    } else {
      r.need_ok(status, "send");
      ++sent;
    }
  }
  r.expect(refused, fmt::format("{} messages were taken and none refused: the buffers have no bound", most));
  r.until([&] { return came == sent; }, "every message that was taken");
  r.send(r.rank(), sent, {}, small);  // there is room again
  r.until([&] { return came == sent + 1; }, "the last one");
  r.listen(nullptr);
  r.barrier();
}

/// More than any buffer holds, all to one rank.
void crowds(rig& r) {
  constexpr std::uint32_t each = 3000;
  std::vector<std::uint32_t> seen(static_cast<std::size_t>(r.size()));
  std::uint32_t total = 0;
  r.listen([&](std::int32_t source, std::uint32_t id, std::span<const std::byte> header,
               std::span<const std::byte> payload) {
    r.expect(id == seen[static_cast<std::size_t>(source)]++, fmt::format("message {} of rank {}", id, source));
    std::uint32_t said = 0;
    if (header.size() == sizeof said) std::memcpy(&said, header.data(), sizeof said);
    r.expect(said == id && payload.size() == id % 700, "header and payload belong together");
    ++total;
  });
  const bytes data = pattern(700, 3);
  for (std::uint32_t k = 0; k < each; ++k) r.send(0, k, bytes_of(k), std::span(data).first(k % 700));
  if (r.rank() == 0)
    r.until([&] { return total == each * static_cast<std::uint32_t>(r.size()); }, "all messages of the crowd");
  r.barrier();
  r.listen(nullptr);
}

/// Messages to oneself: they are sent without any progress, so that all of them still wait.
void budget_is_kept(rig& r) {
  constexpr std::uint32_t count = 12;
  r.barrier();
  r.expect(r.inbox.empty(), "nothing is left of before");
  for (std::uint32_t k = 0; k < count; ++k) {
    request done;
    const tsr_message message{sizeof(tsr_message), r.rank(), k, 0, nullptr, nullptr, 0};
    tsr_status status = TSR_NOT_READY;
    while ((status = r.call.send(r.endpoint, &message, &done)) == TSR_NOT_READY) r.progress(1);
    r.need_ok(status, "send");
  }
  const std::size_t before = r.inbox.size();
  for (int k = 0; k < 3; ++k) r.progress(0);
  r.expect(r.inbox.size() == before, "a budget of 0 hands nothing over");
  r.until(
      [&] {
        const std::size_t had = r.inbox.size();
        const bool happened = r.progress(2);
        r.expect(r.inbox.size() <= had + 2, "a budget of 2 hands at most 2 over");
        if (r.inbox.size() > had) r.expect(happened, "progress says that something happened");
        return r.inbox.size() >= count;
      },
      "all messages");
  r.inbox.clear();
  r.barrier();
}

void wake_ends_a_wait(rig& r) {
  for (int k = 0; k < 100 && r.call.wait(r.endpoint, 0) == TSR_OK; ++k) r.progress();  // what is left of before
  r.need_ok(r.call.wake(r.endpoint), "wake");
  r.expect_status(r.call.wait(r.endpoint, 60'000'000'000), TSR_OK, "a wake that came before ends the next wait");
  std::atomic<bool> waits{false};
  std::thread other([&] {
    while (!waits.load()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the wait has mostly begun; if not, that is right too
    r.call.wake(r.endpoint);
  });
  waits = true;
  const auto begin = std::chrono::steady_clock::now();
  tsr_status status = TSR_OK;
  while ((status = r.call.wait(r.endpoint, 60'000'000'000)) == TSR_OK &&
         std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1)) {
  }
  other.join();
  r.expect_status(status, TSR_OK, "wake from another thread");
  r.expect(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30), "wake has ended the wait");
  r.barrier();
}

void wait_ends_by_its_time(rig& r) {
  r.barrier();
  tsr_status status = TSR_OK;
  for (int k = 0; k < 1000 && status == TSR_OK; ++k) {
    r.progress();
    status = r.call.wait(r.endpoint, 1'000'000);
  }
  r.expect_status(status, TSR_DEADLINE_EXCEEDED, "a wait with nothing to come");
  r.barrier();
}

void wait_sees_a_message(rig& r) {
  for (std::uint32_t k = 0; k < 50; ++k) {
    if (r.rank() == 0) {
      r.send(r.next(), k, {}, {});
      r.expect(r.take("the ball").id == k, "the ball comes back");
    } else {
      const received one = r.take("the ball");
      r.send(r.next(), one.id, {}, {});
    }
  }
}

}  // namespace

std::vector<check> message_checks() {
  return {{"messages.order_of_a_pair", order_of_a_pair},
          {"messages.payload_is_unchanged_until_the_request_ends", payload_is_unchanged_until_the_request_ends},
          {"messages.nothing_at_all", nothing_at_all_is_a_message},
          {"messages.to_oneself", messages_to_oneself},
          {"messages.handlers_may_send", handlers_may_send},
          {"messages.handlers_may_use_windows", handlers_may_use_windows_and_not_progress},
          {"messages.full_buffers", full_buffers_answer_not_ready},
          {"messages.crowds", crowds},
          {"messages.budget", budget_is_kept},
          {"messages.wake", wake_ends_a_wait},
          {"messages.wait_ends_by_its_time", wait_ends_by_its_time},
          {"messages.wait_sees_a_message", wait_sees_a_message}};
}

}  // namespace tessera::transport_conformance
