// Collectives: barrier and agree, their order, and ranks that do not call the same.
#include <fmt/format.h>

#include "tests/conformance/transport/rig.hpp"

namespace tessera::transport_conformance {
namespace {

void nobody_leaves_a_barrier_early(rig& r) {
  tsr_window* const one = r.window(8);
  for (std::int64_t round = 1; round <= 20; ++round) {
    r.fetch_add(one, 0, 0, 1);
    r.barrier();
    const std::int64_t entered = r.fetch_add(one, 0, 0, 0);
    r.expect(entered == round * r.size(), fmt::format("{} ranks have entered, in round {}", entered, round));
    r.barrier();
  }
  r.destroy(one);
}

void a_barrier_waits_for_the_last_one(rig& r) {
  request done;
  if (r.rank() != 0 || r.size() == 1) r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  if (r.rank() == 0 && r.size() > 1) {
    for (std::int32_t to = 1; to < r.size(); ++to) r.send(to, 0, {}, {});  // not there yet
    for (std::int32_t k = 1; k < r.size(); ++k) r.take("that they have entered");
    r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  } else if (r.size() > 1) {
    r.take("word that rank 0 has not entered");
    for (int k = 0; k < 10; ++k) r.progress();
    r.expect(done.under_way(), "the barrier has ended although rank 0 has not entered");
    r.send(0, 0, {}, {});
  }
  r.finish_ok(done, "barrier");
}

void agree_has_all_in_order(rig& r) {
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{TSR_MAX_AGREE_BYTES}}) {
    const auto mine_at = [&](std::int32_t rank) { return pattern(length, 50 + static_cast<std::uint64_t>(rank)); };
    std::vector<std::byte> mine = mine_at(r.rank()), all(length * static_cast<std::uint64_t>(r.size()));
    request done;
    r.need_ok(r.call.agree(r.endpoint, mine.data(), length, all.data(), &done), "agree");
    std::fill(mine.begin(), mine.end(), std::byte{0xee});  // it was copied
    r.finish_ok(done, "agree");
    for (std::int32_t of = 0; of < r.size(); ++of) {
      const auto expected = mine_at(of);
      r.expect(std::equal(expected.begin(), expected.end(),
                          all.begin() + static_cast<std::ptrdiff_t>(length) * static_cast<std::ptrdiff_t>(of)),
               fmt::format("what rank {} gave, of {} bytes", of, length));
    }
  }
}

void several_under_way(rig& r) {
  std::int64_t mine[3] = {r.rank(), r.rank() * 10, r.rank() * 100};
  std::vector<std::int64_t> all[3];
  request done[5];
  tsr_window* one = nullptr;
  for (int k = 0; k < 3; ++k) {
    all[k].resize(static_cast<std::size_t>(r.size()));
    r.need_ok(r.call.agree(r.endpoint, &mine[k], 8, all[k].data(), &done[k]), "agree");
  }
  r.need_ok(r.call.window_create(r.endpoint, 64, &one, &done[3]), "window_create");
  r.need_ok(r.call.barrier(r.endpoint, &done[4]), "barrier");
  r.finish_ok(done[4], "the last one");
  for (int k = 0; k < 4; ++k) r.expect(done[k].status == TSR_OK, "they end in their order");
  for (int k = 0; k < 3; ++k)
    for (std::int32_t of = 0; of < r.size(); ++of)
      r.expect(all[k][static_cast<std::size_t>(of)] == (k == 0 ? 1 : k == 1 ? 10 : 100) * of, "each has its own");
  r.destroy(one);
}

/// Messages go on while a collective waits.
void messages_beside_a_collective(rig& r) {
  request done;
  if (r.rank() != 0) r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  if (r.rank() == 0) {
    for (std::int32_t to = 1; to < r.size(); ++to) r.send(to, 9, {}, pattern(20000, 4));
    for (std::int32_t k = 1; k < r.size(); ++k) r.expect(r.take("an answer").id == 10, "an answer");
    r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  } else {
    const received one = r.take("a question");
    r.expect(one.id == 9 && one.payload == pattern(20000, 4), "a question");
    r.send(0, 10, {}, {});
  }
  r.finish_ok(done, "barrier");
}

void different_calls_are_told_to_all(rig& r) {
  if (r.size() == 1) return;
  std::int64_t mine = 1;
  std::vector<std::int64_t> all(static_cast<std::size_t>(r.size()) * 2);
  request done;
  if (r.rank() == 0)
    r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  else
    r.need_ok(r.call.agree(r.endpoint, &mine, sizeof mine, all.data(), &done), "agree");
  r.expect_status(r.finish(done, "different calls"), TSR_FAILED_PRECONDITION, "a barrier beside agree");
  std::int64_t two[2] = {1, 2};
  r.need_ok(r.call.agree(r.endpoint, two, r.rank() == 0 ? 16 : 8, all.data(), &done), "agree");
  r.expect_status(r.finish(done, "different sizes"), TSR_FAILED_PRECONDITION, "agree with different sizes");
  tsr_window* one = nullptr;
  if (r.rank() == 0)
    r.need_ok(r.call.window_create(r.endpoint, 64, &one, &done), "window_create");
  else
    r.need_ok(r.call.barrier(r.endpoint, &done), "barrier");
  r.expect_status(r.finish(done, "different calls"), TSR_FAILED_PRECONDITION, "window_create beside a barrier");
  r.expect(one == nullptr, "no window");
  r.barrier();  // and the next ones work
  const auto ranks = r.agree(r.rank());
  r.expect(ranks.back() == r.size() - 1, "agree works again");
}

void the_description_agrees(rig& r) {
  r.expect(r.rank() >= 0 && r.rank() < r.size(), "a rank is below the size");
  r.expect(r.desc.node_name != nullptr && r.desc.node_name[0] != '\0', "the node has a name");
  r.need(r.desc.node_of != nullptr, "node_of is there");
  r.expect(r.desc.node == r.desc.node_of[r.rank()], "the own node");
  r.expect(r.desc.thread_mode == TSR_THREAD_ONE || r.desc.thread_mode == TSR_THREAD_ONE_AT_A_TIME, "a thread mode");
  std::int32_t most = -1;
  for (std::int32_t of = 0; of < r.size(); ++of) {
    r.expect(r.desc.node_of[of] >= 0 && r.desc.node_of[of] <= most + 1, "nodes are numbered by their first ranks");
    most = std::max(most, r.desc.node_of[of]);
  }
  r.expect(r.desc.nodes == most + 1, "as many nodes as numbers");
  const auto sizes = r.agree(r.size()), ranks = r.agree(r.rank()), nodes = r.agree(r.desc.node);
  for (std::int32_t of = 0; of < r.size(); ++of) {
    r.expect(sizes[static_cast<std::size_t>(of)] == r.size(), "all know the same size");
    r.expect(ranks[static_cast<std::size_t>(of)] == of, "ranks are in their order");
    r.expect(nodes[static_cast<std::size_t>(of)] == r.desc.node_of[of], "all know the same nodes");
    bool lives = false;
    r.need_ok(r.call.alive(r.endpoint, of, &lives), "alive");
    r.expect(lives, "all ranks live");
  }
}

}  // namespace

std::vector<check> collective_checks() {
  return {{"collectives.description", the_description_agrees},
          {"collectives.barrier", nobody_leaves_a_barrier_early},
          {"collectives.barrier_waits", a_barrier_waits_for_the_last_one},
          {"collectives.agree", agree_has_all_in_order},
          {"collectives.several", several_under_way},
          {"collectives.messages_beside", messages_beside_a_collective},
          {"collectives.different", different_calls_are_told_to_all}};
}

}  // namespace tessera::transport_conformance
