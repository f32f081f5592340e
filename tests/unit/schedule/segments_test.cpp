// Segments of recordings: random programs on random places keep what a plan promises.
#include "core/schedule/segments.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "core/block/table.hpp"
#include "core/task/pool.hpp"

namespace tessera::schedule {
namespace {

using uses = std::vector<std::pair<int, intent>>;  // block, intent

/// Records tasks that are never run, and places them by hand.
class program {
 public:
  explicit program(int blocks, std::int64_t elements = 8) {
    device.number = 1;
    reduce.number = 2;
    for (int k = 0; k < blocks; ++k) m_blocks.push_back(&m_table.create(element_type::f64, {elements}));
  }
  void add(const uses& of, std::uint16_t place, const operation::definition* what = nullptr) {
    task::record& t = m_pool.take();
    t.operation = what != nullptr ? what : &device;
    t.access_count = static_cast<std::uint8_t>(of.size());
    if (of.size() > t.accesses.size()) {
      t.need_more().accesses.resize(of.size());
      t.flags |= task::flag_many_accesses;
    }
    for (std::size_t k = 0; k < of.size(); ++k)
      t.all_accesses()[k] = {.block = m_blocks[static_cast<std::size_t>(of[k].first)],
                             .version = 0,
                             .intent = of[k].second,
                             .flags = 0,
                             .space = 0};
    m_recorder.add(t);
    m_pool.give_back(t, t);
    m_places.push_back(place);
  }
  const task::recording& finish(std::uint16_t sums_at = 0) {
    m_is = m_recorder.finish();
    for (const task::recorded_task& t : m_is->tasks) t.place = sums_at;
    for (std::size_t k = 0; k < m_places.size(); ++k) m_is->tasks[m_is->submitted[k]].place = m_places[k];
    return *m_is;
  }

  operation::definition device{.name = "work", .enqueue = [](const operation::context&) {}};
  operation::definition host{.name = "host", .host = [](const operation::context&) {}};
  operation::definition reduce{.name = "reduce", .enqueue = [](const operation::context&) {}};

 private:
  block::table m_table;
  task::pool m_pool{0};
  std::vector<block::record*> m_blocks;
  task::graph_recorder m_recorder{m_table, reduce, reduce};
  std::vector<std::uint16_t> m_places;
  std::unique_ptr<task::recording> m_is;
};

constexpr std::uint64_t no_limit = ~std::uint64_t{0};
const std::vector<segment_place> host_and_two_devices{
    {}, {.captures = true, .max_bytes = no_limit}, {.captures = true, .max_bytes = no_limit, .streams = 2}};

TEST(segments, a_chain_on_one_device_is_one) {
  program p(1);
  for (int k = 0; k < 10; ++k) p.add({{0, k == 0 ? intent::write : intent::update}}, 1);
  const auto plan = plan_segments(p.finish(), host_and_two_devices);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->segments.size(), 1u);
  const segment& s = *plan->segments[0];
  EXPECT_EQ(s.members.size(), 10u);
  ASSERT_EQ(s.uses.size(), 1u);
  EXPECT_EQ(static_cast<intent>(s.uses[0].intent), intent::write) << "nothing of the old contents is needed";
  EXPECT_EQ(s.uses[0].version, 10u);
  EXPECT_EQ(s.sinks, 1u);
  EXPECT_TRUE(s.after.empty());
}

TEST(segments, host_tasks_and_other_devices_part_them) {
  program p(2);
  for (int k = 0; k < 3; ++k) p.add({{0, intent::update}}, 1);
  p.add({{0, intent::read}, {1, intent::write}}, 0, &p.host);
  for (int k = 0; k < 3; ++k) p.add({{0, intent::update}}, 1);
  for (int k = 0; k < 3; ++k) p.add({{0, intent::update}}, 2);
  const auto plan = plan_segments(p.finish(), host_and_two_devices);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->segments.size(), 3u);
  EXPECT_EQ(plan->segment_of[3], segment_plan::none);
}

TEST(segments, what_has_none) {
  {
    program p(1);
    p.add({{0, intent::update}}, 0, &p.host);
    p.add({{0, intent::update}}, 0, &p.host);
    EXPECT_FALSE(plan_segments(p.finish(), host_and_two_devices)) << "the host";
  }
  {
    program p(1);
    p.add({{0, intent::update}}, 1);
    EXPECT_FALSE(plan_segments(p.finish(), host_and_two_devices)) << "one task";
  }
  {
    program p(2);
    p.device.work = [](const void*, std::span<const block::access>) { return 1e9; };
    for (int k = 0; k < 4; ++k) p.add({{0, intent::update}}, 1);
    auto slow = host_and_two_devices;
    slow[1].ns_per_flop = 1;
    EXPECT_FALSE(plan_segments(p.finish(), slow)) << "tasks of a second";
  }
  {
    program p(2);
    for (int k = 0; k < 4; ++k) p.add({{1, intent::read}, {0, intent::accumulate}}, 1);
    EXPECT_FALSE(plan_segments(p.finish(1), host_and_two_devices))
        << "first additions of private copies, and their sum";
  }
}

TEST(segments, independent_tasks_join_when_they_wait_for_the_same) {
  program p(30);
  p.add({{0, intent::write}}, 0, &p.host);
  for (int k = 1; k < 20; ++k) p.add({{0, intent::read}, {k, intent::write}}, 1);
  const auto plan = plan_segments(p.finish(), host_and_two_devices);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->segments.size(), 1u);

  program q(30);
  q.add({{0, intent::write}}, 0, &q.host);
  for (int k = 1; k < 20; ++k) q.add({{0, intent::read}, {k, intent::write}}, 2);
  const auto two = plan_segments(q.finish(), host_and_two_devices);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->segments.size(), 2u) << "one for each stream";

  program pipeline(20);
  for (int k = 0; k < 10; ++k) {
    pipeline.add({{k, intent::write}}, 0, &pipeline.host);
    pipeline.add({{k, intent::update}}, 1);
    pipeline.add({{k, intent::update}, {k + 10, intent::write}}, 0, &pipeline.host);
  }
  EXPECT_FALSE(plan_segments(pipeline.finish(), host_and_two_devices)) << "joined, each would wait for all";
}

TEST(segments, stay_below_the_memory_that_they_are_given) {
  program p(9, 1000);  // 8000 bytes each
  for (int k = 0; k < 8; ++k) p.add({{k, intent::read}, {k + 1, intent::update}}, 1);
  auto small = host_and_two_devices;
  small[1].max_bytes = 25000;
  const auto plan = plan_segments(p.finish(), small);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->segments.size(), 4u);
  for (const auto& s : plan->segments) EXPECT_LE(s->bytes_used, 25000u);

  program q(9, 1);  // 8 bytes each, which take a page
  for (int k = 0; k < 8; ++k) q.add({{k, intent::read}, {k + 1, intent::update}}, 1);
  small[1].granule = 8192;
  const auto pages = plan_segments(q.finish(), small);
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->segments.size(), 4u);
}

TEST(segments, scratch_and_contents_are_not_mixed) {
  program p(2);
  for (int k = 0; k < 3; ++k) p.add({{0, intent::update}, {1, intent::scratch}}, 1);
  for (int k = 0; k < 3; ++k) p.add({{0, intent::read}, {1, k == 0 ? intent::write : intent::update}}, 1);
  const auto plan = plan_segments(p.finish(), host_and_two_devices);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->segments.size(), 2u);
  EXPECT_EQ(static_cast<intent>(plan->segments[0]->uses[1].intent), intent::scratch);
  EXPECT_EQ(static_cast<intent>(plan->segments[1]->uses[0].intent), intent::read);
}

TEST(recorder, refuses_more_versions_than_it_can_count) {
  block::table table;
  task::pool pool(0);
  const operation::definition what{.name = "work"}, reduce{.name = "reduce"};
  block::record& b = table.create(element_type::f64, {8});
  for (const std::uint32_t writes : {5u, 6u}) {
    task::graph_recorder recorder(table, reduce, reduce, 5);
    for (std::uint32_t k = 0; k < writes; ++k) {
      task::record& t = pool.take();
      t.operation = &what;
      t.access_count = 1;
      t.accesses[0] = {.block = &b, .version = 0, .intent = intent::update, .flags = 0, .space = 0};
      recorder.add(t);
      pool.give_back(t, t);
    }
    if (writes == 5) {
      EXPECT_EQ(recorder.finish()->size(), 5u);
      continue;
    }
    try {
      recorder.finish();
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("is written 6 times by one recording; at most 5"), std::string::npos)
          << e.what();
    }
  }
}

/// Whether the pieces, as one node each, form a graph without a cycle.
bool acyclic(const task::recording& of, const segment_plan& plan) {
  const auto unit = [&](std::uint32_t t) {
    return plan.segment_of[t] == segment_plan::none ? plan.segments.size() + t : plan.segment_of[t];
  };
  std::map<std::size_t, std::set<std::size_t>> after;
  std::map<std::size_t, int> before;
  for (std::uint32_t t = 0; t < of.size(); ++t) {
    before.try_emplace(unit(t), 0);
    for (const std::uint32_t s : of.successors_of(of.tasks[t]))
      if (unit(s) != unit(t) && after[unit(t)].insert(unit(s)).second) ++before[unit(s)];
  }
  std::vector<std::size_t> ready;
  for (const auto& [u, count] : before)
    if (count == 0) ready.push_back(u);
  std::size_t seen = 0;
  for (; !ready.empty(); ++seen) {
    const std::size_t u = ready.back();
    ready.pop_back();
    for (const std::size_t s : after[u])
      if (--before[s] == 0) ready.push_back(s);
  }
  return seen == before.size();
}

TEST(segments, of_random_programs_keep_their_promises) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<std::uint64_t>(below)); };
  std::size_t segments = 0;
  for (int round = 0; round < 200; ++round) {
    const int blocks = 4 + pick(20), tasks = 20 + pick(150);
    program p(blocks, 100);
    for (int k = 0; k < tasks; ++k) {
      uses of;
      std::set<int> taken;
      for (int n = 1 + pick(6); n > 0; --n) {
        const int b = pick(blocks);
        constexpr intent all[] = {intent::read,   intent::read,       intent::write,
                                  intent::update, intent::accumulate, intent::scratch};
        if (taken.insert(b).second) of.emplace_back(b, all[pick(6)]);
      }
      const auto place = static_cast<std::uint16_t>(pick(6) == 0 ? 0 : 1 + pick(8) / 7);
      p.add(of, place, place == 0 ? &p.host : nullptr);
    }
    const task::recording& of = p.finish(static_cast<std::uint16_t>(pick(3)));
    auto places = host_and_two_devices;
    places[1].max_bytes = 800u * static_cast<unsigned>(4 + pick(30));
    const auto plan = plan_segments(of, places);
    if (!plan) continue;
    segments += plan->segments.size();
    ASSERT_TRUE(acyclic(of, *plan)) << "round " << round;

    std::vector<std::int32_t> expected(of.size(), 0);
    std::vector<std::set<std::uint64_t>> units(of.size());
    for (std::uint32_t t = 0; t < of.size(); ++t)
      for (const std::uint32_t s : of.successors_of(of.tasks[t])) {
        const std::uint32_t a = plan->segment_of[t];
        if (a == segment_plan::none)
          units[s].insert(std::uint64_t{1} << 40 | t);
        else if (a != plan->segment_of[s])
          units[s].insert(a);
      }
    for (std::uint32_t t = 0; t < of.size(); ++t)
      ASSERT_EQ(plan->predecessors[t], static_cast<std::int32_t>(units[t].size()));

    for (std::size_t k = 0; k < plan->segments.size(); ++k) {
      const segment& s = *plan->segments[k];
      ASSERT_GE(s.members.size(), 2u);
      ASSERT_GT(s.gates, 0u) << "it would never begin";
      ASSERT_LE(s.bytes_used, places[s.place].max_bytes);
      std::size_t operand = 0;
      std::map<std::uint32_t, std::vector<task::recorded_access>> by_block;
      std::map<std::uint32_t, bool> needs;
      for (const std::uint32_t t : s.members) {
        ASSERT_EQ(plan->segment_of[t], k);
        ASSERT_EQ(of.tasks[t].place, s.place);
        ASSERT_FALSE(of.tasks[t].ends_group);
        for (const task::recorded_access& a : of.accesses_of(of.tasks[t])) {
          ASSERT_EQ(s.uses[s.operands[operand++]].block, a.block);
          ASSERT_FALSE(a.fresh);
          needs.try_emplace(a.block, needs_contents(static_cast<intent>(a.intent)));
          by_block[a.block].push_back(a);
        }
      }
      ASSERT_EQ(by_block.size(), s.uses.size());
      for (const task::recorded_access& u : s.uses) {
        const auto how = static_cast<intent>(u.intent);
        bool writes = false;
        std::uint32_t version = 0;
        for (const task::recorded_access& a : by_block[u.block]) {
          writes = writes || static_cast<intent>(a.intent) != intent::read;
          version = std::max<std::uint32_t>(version, a.version);
          ASSERT_EQ(static_cast<intent>(a.intent) == intent::scratch, how == intent::scratch);
        }
        ASSERT_EQ(how != intent::read, writes);
        ASSERT_EQ(needs_contents(how), needs[u.block]);
        ASSERT_EQ(u.version, version);
      }
    }
  }
  EXPECT_GT(segments, 100u);
}

}  // namespace
}  // namespace tessera::schedule
