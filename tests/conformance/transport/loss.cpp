// A rank that is lost, a job that is ended, an endpoint that is closed with requests under way.
#include <fmt/format.h>

#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {
namespace {

bool alive(rig& r, std::int32_t of) {
  bool lives = false;
  r.need_ok(r.call.alive(r.endpoint, of, &lives), "alive");
  return lives;
}

void until_lost(rig& r, std::int32_t of) {
  r.until([&] { return !alive(r, of); }, "word that a rank is lost");
}

/// All of what a rank can ask of a lost one is answered; the others go on.
void a_lost_rank_answers_no_more(rig& r) {
  if (r.size() == 1 || r.call.lose == nullptr) return;
  const std::int32_t lost = r.size() - 1, survivors = lost;
  tsr_window* const one = r.window(1000);
  r.barrier();
  std::int64_t value = 1, before = 0;
  if (r.rank() == lost) {
    request pending;
    const tsr_status begun = r.call.barrier(r.endpoint, &pending);
    r.need_ok(begun, "barrier");
    r.need_ok(r.call.lose(r.endpoint), "lose");
    r.expect(pending.status == TSR_RANK_LOST, "what the lost rank had under way has ended");
    bool happened = false;
    request done;
    r.expect_status(r.call.progress(r.endpoint, 1, &happened), TSR_RANK_LOST, "progress of a lost rank");
    r.expect_status(r.call.barrier(r.endpoint, &done), TSR_RANK_LOST, "barrier of a lost rank");
    r.expect(done.status == 4711, "a refused request is untouched");
    r.expect_status(r.call.describe(r.endpoint, &r.desc), TSR_OK, "describe of a lost rank");
    r.expect(!alive(r, lost), "a lost rank knows it");
    return;
  }
  until_lost(r, lost);
  request done;
  const tsr_transfer block = block_of(one, lost, 0, &value, 8);
  const tsr_message message{sizeof(tsr_message), lost, 0, 0, nullptr, nullptr, 0};
  r.expect_status(r.call.send(r.endpoint, &message, &done), TSR_RANK_LOST, "send to a lost rank");
  r.expect_status(r.call.get(r.endpoint, &block, &done), TSR_RANK_LOST, "get from a lost rank");
  r.expect_status(r.call.put(r.endpoint, &block, &done), TSR_RANK_LOST, "put to a lost rank");
  r.expect_status(r.call.accumulate(r.endpoint, &block, TSR_I64, &done), TSR_RANK_LOST, "accumulate to a lost rank");
  r.expect_status(r.call.fetch_add(r.endpoint, one, lost, 0, 1, &before, &done), TSR_RANK_LOST, "fetch_add there");
  r.expect_status(r.call.compare_swap(r.endpoint, one, lost, 0, 0, 1, &before, &done), TSR_RANK_LOST, "swap there");
  r.expect_status(r.call.flush(r.endpoint, one, lost, &done), TSR_RANK_LOST, "flush of a lost rank");
  r.expect(done.status == 4711, "refused requests are untouched");
  r.flush(one);  // nothing is owed
  const std::int32_t to = (r.rank() + 1) % survivors;
  r.need(r.fetch_add(one, to, 8, 5) >= 0, "others go on");
  r.send(to, 77, {}, pattern(30000, 1));
  std::uint32_t of_survivors = 0, last = 0;  // of different ranks, so in any order
  const auto came = [&](std::uint32_t& number, std::uint32_t id, const char* what) {
    r.until(
        [&] {
          for (; !r.inbox.empty(); r.inbox.pop_front()) ++(r.inbox.front().id == 77 ? of_survivors : last);
          return number == 1;
        },
        what);
    r.expect(id == 77 ? of_survivors == 1 : last == 1, what);
  };
  came(of_survivors, 77, "a message of a survivor");
  if (r.rank() == 0 && survivors > 1) {  // the others enter the barrier at their leisure
    for (std::int32_t k = 1; k < survivors; ++k) r.send(k, 78, {}, {});
  } else if (r.rank() != 0) {
    came(last, 78, "the last message");
  }
  // The lost rank had entered this one, so that it may end; the next one cannot.
  r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  const tsr_status first = r.finish(done, "a barrier that the lost rank has entered");
  r.expect(first == TSR_OK || first == TSR_RANK_LOST, "a barrier that the lost rank has entered ends");
  r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  r.expect_status(r.finish(done, "a barrier with a lost rank"), TSR_RANK_LOST, "a barrier with a lost rank");
  tsr_window* none = nullptr;
  r.need_ok(r.call.window_create(r.endpoint, 8, &none, &done), "window_create");
  r.expect_status(r.finish(done, "window_create"), TSR_RANK_LOST, "window_create with a lost rank");
  r.expect(none == nullptr, "no window");
}

/// Requests towards it that are under way end, and a flush tells.
void what_was_under_way_ends(rig& r) {
  if (r.size() == 1 || r.call.lose == nullptr) return;
  const std::int32_t lost = r.size() - 1;
  tsr_window* const one = r.window(static_cast<std::uint64_t>(r.size()) * 20032);
  const std::vector<std::byte> large = pattern(20000, 9);
  std::deque<request> sent;
  request put;
  if (r.rank() == lost) {
    std::int64_t ready = 0;
    while (ready < r.size() - 1) {  // no message is taken until all of them are full
      request look;
      r.need_ok(r.call.fetch_add(r.endpoint, one, 0, 0, 0, &ready, &look), "fetch_add");
      while (look.under_way()) r.progress(0);
    }
    r.call.lose(r.endpoint);
    return;
  }
  tsr_status status = TSR_OK;
  for (int k = 0; k < 2000 && status == TSR_OK; ++k) {
    const tsr_message message{sizeof(tsr_message), lost, 0, 0, nullptr, large.data(), large.size()};
    status = r.call.send(r.endpoint, &message, &sent.emplace_back());
  }
  r.expect_status(status, TSR_NOT_READY, "a rank that takes nothing fills up");
  sent.pop_back();
  const tsr_transfer block =
      block_of(one, lost, static_cast<std::uint64_t>(r.rank()) * 20032 + 32, large.data(), large.size());
  r.need_ok(r.with_room([&] { return r.call.put(r.endpoint, &block, &put); }, "put"), "put");
  r.fetch_add(one, 0, 0, 1);
  until_lost(r, lost);
  for (request& each : sent) {
    const tsr_status end = r.finish(each, "a message to a lost rank");
    r.expect(end == TSR_OK || end == TSR_RANK_LOST, fmt::format("a message to a lost rank ended with {}", end));
  }
  const tsr_status end = r.finish(put, "a put to a lost rank");
  r.expect(end == TSR_OK || end == TSR_RANK_LOST, fmt::format("a put to a lost rank ended with {}", end));
  request flush;
  r.need_ok(r.call.flush(r.endpoint, one, TSR_ALL_RANKS, &flush), "flush");
  const tsr_status told = r.finish(flush, "flush");
  r.expect(told == TSR_OK || told == TSR_RANK_LOST, fmt::format("the flush ended with {}", told));
  r.expect(end == TSR_OK || told == TSR_RANK_LOST, "a flush tells of a put that was lost");
  r.flush(one);  // once
}

void abort_ends_the_job(rig& r) {
  request done;
  const std::int64_t mine = 1;
  std::vector<std::int64_t> all(static_cast<std::size_t>(r.size()));
  if (r.rank() == 0) {
    for (std::int32_t k = 1; k < r.size(); ++k) r.take("that a rank has something under way");
    r.need_ok(r.call.abort(r.endpoint, 17, "the disk is full"), "abort");
  } else {
    r.need_ok(r.call.agree(r.endpoint, &mine, sizeof mine, all.data(), &done), "agree");
    r.send(0, 0, {}, {});
  }
  tsr_status status = TSR_OK;
  while (status == TSR_OK) {
    bool happened = false;
    status = r.call.progress(r.endpoint, 8, &happened);
    if (status == TSR_OK) {
      const tsr_status slept = r.call.wait(r.endpoint, 50'000'000);
      if (slept != TSR_OK && slept != TSR_DEADLINE_EXCEEDED) status = slept;
    }
  }
  r.expect_status(status, TSR_CANCELLED, "progress after the end");
  if (r.rank() != 0)
    r.expect(done.status == TSR_CANCELLED, fmt::format("what was under way ended with {}", done.status));
  r.expect(last_error().find("the disk is full") != std::string::npos && last_error().find("17") != std::string::npos,
           "the text and the code are told: " + last_error());
  request later;
  r.expect_status(r.call.barrier(r.endpoint, &later), TSR_CANCELLED, "barrier after the end");
  bool lives = false;
  r.expect_status(r.call.describe(r.endpoint, &r.desc), TSR_OK, "describe after the end");
  r.expect_status(r.call.alive(r.endpoint, 0, &lives), TSR_OK, "alive after the end");
  r.expect_status(r.call.wake(r.endpoint), TSR_OK, "wake after the end");
}

/// The memory of what is given up is freed before the transport ends; the address sanitizer would see a use.
void closed_with_requests_under_way(rig& r) {
  tsr_window* const one = r.window(100000);
  r.barrier();
  std::vector<std::byte> memory(100000);
  std::deque<request> done;
  const tsr_message message{sizeof(tsr_message), r.next(), 0, 0, nullptr, memory.data(), memory.size()};
  const tsr_transfer block = block_of(one, r.next(), 0, memory.data(), memory.size());
  if (r.rank() == 0) {
    for (int k = 0; k < 10; ++k) r.call.send(r.endpoint, &message, &done.emplace_back());
    for (int k = 0; k < 10; ++k) r.call.get(r.endpoint, &block, &done.emplace_back());
    for (int k = 0; k < 10; ++k) r.call.put(r.endpoint, &block, &done.emplace_back());
    r.call.flush(r.endpoint, one, TSR_ALL_RANKS, &done.emplace_back());
    r.call.barrier(r.endpoint, &done.emplace_back());
    return;  // and the endpoint is closed
  }
  until_lost(r, 0);
  r.inbox.clear();
}

}  // namespace

std::vector<check> loss_checks() {
  return {{"loss.answers_no_more", a_lost_rank_answers_no_more, true},
          {"loss.under_way", what_was_under_way_ends, true},
          {"loss.abort", abort_ends_the_job, true},
          {"loss.closed", closed_with_requests_under_way, true}};
}

}  // namespace tessera::transport_conformance
