// Which tasks wait for which.
#include "core/task/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "tests/unit/task/rig.hpp"

namespace tessera::task {
namespace {

constexpr auto r = intent::read;
constexpr auto w = intent::write;
constexpr auto u = intent::update;
constexpr auto a = intent::accumulate;
constexpr auto c = intent::commute;

class flow : public ::testing::Test {
 protected:
  block::record& block() { return blocks.create(element_type::f64, shape{1}); }
  block::table blocks;  // goes last: flow records refer to tasks only while they are used
  rig tasks;
};

TEST_F(flow, read_after_write) {
  auto& x = block();
  record& writer = tasks.submit({{&x, w}});
  record& reader = tasks.submit({{&x, r}});
  EXPECT_TRUE(tasks.is_ready(writer));
  EXPECT_FALSE(tasks.is_ready(reader));
  EXPECT_EQ(reader.dependencies.load(), 1);
  tasks.run(writer);
  EXPECT_TRUE(tasks.is_ready(reader));
  EXPECT_EQ(writer.accesses[0].version, 1u);
  EXPECT_EQ(reader.accesses[0].version, 1u);
}

TEST_F(flow, write_after_write_is_a_chain) {
  auto& x = block();
  record &one = tasks.submit({{&x, w}}), &two = tasks.submit({{&x, w}}), &three = tasks.submit({{&x, u}});
  EXPECT_EQ(two.dependencies.load(), 1);
  EXPECT_EQ(three.dependencies.load(), 1) << "only for the last writer";
  tasks.run(one);
  EXPECT_TRUE(tasks.is_ready(two));
  EXPECT_FALSE(tasks.is_ready(three));
  tasks.run(two);
  EXPECT_TRUE(tasks.is_ready(three));
  EXPECT_EQ(three.accesses[0].version, 3u);
}

TEST_F(flow, write_after_read_waits_for_all_readers_however_many) {
  for (const int readers : {1, 4, 5, 23}) {
    auto& x = block();
    record& first = tasks.submit({{&x, w}});
    std::vector<record*> all;
    for (int k = 0; k < readers; ++k) all.push_back(&tasks.submit({{&x, r}}));
    record& second = tasks.submit({{&x, w}});
    EXPECT_EQ(second.dependencies.load(), readers) << "for the readers; they wait for the writer";
    tasks.run(first);
    for (record* t : all) EXPECT_TRUE(tasks.is_ready(*t)) << "readers run in parallel";
    for (std::size_t k = all.size(); k-- > 0;) {
      EXPECT_FALSE(tasks.is_ready(second));
      tasks.run(*all[k]);
    }
    EXPECT_TRUE(tasks.is_ready(second));
    tasks.run(second);
    EXPECT_EQ(x.flow.reader_count, 0);
  }
}

TEST_F(flow, tasks_that_commute_wait_for_what_is_before_them_and_not_for_each_other) {
  auto& x = block();
  record& first = tasks.submit({{&x, w}});
  std::vector<record*> all;
  for (int k = 0; k < 6; ++k) all.push_back(&tasks.submit({{&x, c}}));
  record &reader = tasks.submit({{&x, r}}), &other = tasks.submit({{&x, r}});
  record& last = tasks.submit({{&x, u}});
  for (record* t : all) EXPECT_EQ(t->dependencies.load(), 1) << "for the writer";
  EXPECT_EQ(reader.dependencies.load(), 6);
  EXPECT_EQ(other.dependencies.load(), 6);
  EXPECT_EQ(last.dependencies.load(), 2) << "for the readers; they wait for those that commute";
  tasks.run(first);
  for (record* t : all) EXPECT_TRUE(tasks.is_ready(*t));
  for (record* t : all) {
    EXPECT_FALSE(tasks.is_ready(reader));
    tasks.run(*t);
  }
  EXPECT_TRUE(tasks.is_ready(reader) && tasks.is_ready(other));
  EXPECT_EQ(reader.accesses[0].version, 7u);
  tasks.run(reader), tasks.run(other);
  EXPECT_TRUE(tasks.is_ready(last));
  EXPECT_EQ(last.accesses[0].version, 8u);
}

TEST_F(flow, a_read_ends_a_group_of_tasks_that_commute) {
  auto& x = block();
  record& one = tasks.submit({{&x, c}});
  record& reader = tasks.submit({{&x, r}});
  record &two = tasks.submit({{&x, c}}), &three = tasks.submit({{&x, c}});
  EXPECT_EQ(two.dependencies.load(), 1) << "for the reader";
  EXPECT_EQ(three.dependencies.load(), 1);
  tasks.run(one);
  tasks.run(reader);
  EXPECT_TRUE(tasks.is_ready(two) && tasks.is_ready(three));
  record& writer = tasks.submit({{&x, w}});
  EXPECT_EQ(writer.dependencies.load(), 2);
  tasks.run(three), tasks.run(two);
  EXPECT_TRUE(tasks.is_ready(writer));
  record& after = tasks.submit({{&x, r}});
  EXPECT_EQ(after.dependencies.load(), 1) << "for the writer alone";
}

TEST_F(flow, a_task_that_joins_late_waits_for_what_is_unfinished) {
  auto& x = block();
  record &first = tasks.submit({{&x, w}}), &one = tasks.submit({{&x, c}});
  tasks.run(first);
  tasks.run(one);
  record& two = tasks.submit({{&x, c}});
  EXPECT_TRUE(tasks.is_ready(two)) << "the writer and the other one have ended";
  EXPECT_TRUE(x.flow.more->before.empty());
}

TEST_F(flow, sums_come_behind_tasks_that_commute) {
  auto& x = block();
  record& one = tasks.submit({{&x, c}});
  record& adder = tasks.submit({{&x, a}});
  record& two = tasks.submit({{&x, c}});
  ASSERT_EQ(tasks.reductions.size(), 1u);
  record& sum = *tasks.reductions[0];
  EXPECT_TRUE(tasks.is_ready(adder));
  EXPECT_EQ(sum.dependencies.load(), 2) << "for the adder and the one before it";
  EXPECT_EQ(two.dependencies.load(), 1);
  tasks.run(adder), tasks.run(one);
  EXPECT_TRUE(tasks.is_ready(sum));
  tasks.run(sum);
  EXPECT_TRUE(tasks.is_ready(two));
}

TEST_F(flow, another_operation_ends_a_group_of_accumulates) {
  auto& x = block();
  const auto accumulate = [&](block::combination_number how) -> record& {
    record& t = tasks.make({{&x, a}});
    t.accesses[0].space = how;
    if (link(t, tasks)) tasks.ready.push_back(&t);
    return t;
  };
  record &one = accumulate(0), &two = accumulate(7), &three = accumulate(7);
  ASSERT_EQ(tasks.reductions.size(), 1u);
  record& sum = *tasks.reductions[0];
  EXPECT_TRUE(tasks.is_ready(two) && tasks.is_ready(three)) << "they have copies of their own";
  EXPECT_EQ(sum.dependencies.load(), 1);
  record& reader = tasks.submit({{&x, r}});
  ASSERT_EQ(tasks.reductions.size(), 2u);
  record& most = *tasks.reductions[1];
  EXPECT_EQ(most.dependencies.load(), 3) << "for the sum and its own two";
  tasks.run(two), tasks.run(three), tasks.run(one);
  EXPECT_FALSE(tasks.is_ready(most));
  tasks.run(sum);
  tasks.run(most);
  EXPECT_TRUE(tasks.is_ready(reader));
}

TEST_F(flow, a_task_that_several_blocks_come_from_is_one_predecessor) {
  auto &x = block(), &y = block(), &z = block();
  record& first = tasks.submit({{&x, w}, {&y, r}, {&z, u}});
  record& second = tasks.submit({{&z, r}, {&y, w}, {&x, u}});
  EXPECT_EQ(second.dependencies.load(), 1);
  EXPECT_EQ(second.edge_count, 1);
  tasks.run(first);
  EXPECT_TRUE(tasks.is_ready(second));
}

TEST_F(flow, a_block_named_twice_and_one_whose_lock_is_held_are_linked_all_the_same) {
  auto &x = block(), &y = block();
  record& writer = tasks.submit({{&y, w}, {&x, w}});
  record& twice = tasks.submit({{&x, r}, {&y, r}, {&x, r}});
  EXPECT_EQ(twice.dependencies.load(), 1);
  y.flow.lock.lock();
  std::thread other([&] {
    std::this_thread::yield();
    y.flow.lock.unlock();
  });
  record& behind = tasks.submit({{&x, u}, {&y, u}});
  other.join();
  EXPECT_TRUE(x.flow.lock.try_lock()) << "given back";
  EXPECT_TRUE(y.flow.lock.try_lock());
  x.flow.lock.unlock(), y.flow.lock.unlock();
  tasks.run(writer);
  tasks.run(twice);
  EXPECT_TRUE(tasks.is_ready(behind));
}

TEST_F(flow, finished_predecessors_make_no_edges) {
  auto& x = block();
  tasks.run(tasks.submit({{&x, w}}));
  record& reader = tasks.submit({{&x, r}});
  EXPECT_TRUE(tasks.is_ready(reader));
  tasks.run(reader);
  EXPECT_TRUE(tasks.is_ready(tasks.submit({{&x, u}})));
}

TEST_F(flow, an_endless_reading_loop_takes_bounded_memory) {
  auto& x = block();
  tasks.run(tasks.submit({{&x, w}}));
  for (int k = 0; k < 100'000; ++k) tasks.run(tasks.submit({{&x, r}}));
  EXPECT_FALSE(x.flow.more) << "one at a time needs no more than the four inline places";

  std::deque<record*> open;  // forty at a time
  for (int k = 0; k < 100'000; ++k) {
    open.push_back(&tasks.submit({{&x, r}}));
    if (open.size() == 40) {
      tasks.run(*open.front());
      open.pop_front();
    }
  }
  ASSERT_TRUE(x.flow.more);
  EXPECT_LE(x.flow.more->readers.capacity(), 128u);
  record& writer = tasks.submit({{&x, w}});
  EXPECT_EQ(writer.dependencies.load(), static_cast<std::int32_t>(open.size()));
  for (record* t : open) tasks.run(*t);
  EXPECT_TRUE(tasks.is_ready(writer));
}

TEST_F(flow, one_block_several_times_in_a_task) {
  auto& x = block();
  const std::vector<std::vector<intent>> all{{r, r}, {r, u}, {u, r}, {w, w}, {u, w, r, r, u}};
  record* before = &tasks.submit({{&x, w}});
  for (const auto& uses : all) {
    std::vector<std::pair<block::record*, intent>> list;
    for (const intent how : uses) list.emplace_back(&x, how);
    record& t = tasks.make(list);
    EXPECT_FALSE(link(t, tasks)) << "waits for the task before, never for itself";
    EXPECT_FALSE(tasks.is_ready(t));
    tasks.run(*before);
    EXPECT_TRUE(tasks.is_ready(t)) << uses.size();
    record& after = tasks.submit({{&x, w}});
    EXPECT_FALSE(tasks.is_ready(after));
    tasks.run(t);
    EXPECT_TRUE(tasks.is_ready(after));
    before = &after;
  }
}

TEST_F(flow, scratch_is_ordered_like_a_write) {
  auto& x = block();
  record &writer = tasks.submit({{&x, w}}), &temporary = tasks.submit({{&x, intent::scratch}}),
         &next = tasks.submit({{&x, w}});
  EXPECT_FALSE(tasks.is_ready(temporary));
  tasks.run(writer);
  EXPECT_FALSE(tasks.is_ready(next));
  tasks.run(temporary);
  EXPECT_TRUE(tasks.is_ready(next));
}

TEST_F(flow, more_predecessors_and_blocks_than_fit_into_a_record) {
  std::vector<block::record*> x;
  for (int k = 0; k < 20; ++k) x.push_back(&block());
  for (int round = 0; round < 3; ++round) {  // the second and third reuse what the first one allocated
    std::vector<record*> writers;
    std::vector<std::pair<block::record*, intent>> uses;
    for (block::record* b : x) {
      writers.push_back(&tasks.submit({{b, w}}));
      uses.emplace_back(b, r);
    }
    record& all = tasks.make(uses);
    EXPECT_FALSE(link(all, tasks));
    EXPECT_EQ(all.dependencies.load(), 20);
    for (std::size_t k = 0; k < writers.size(); ++k) {
      EXPECT_FALSE(tasks.is_ready(all));
      tasks.run(*writers[(k * 7) % 20]);
    }
    EXPECT_TRUE(tasks.is_ready(all));
    tasks.run(all);
  }
}

// --- references and reuse --------------------------------------------------------------------------------------------

TEST_F(flow, a_reference_to_a_recycled_record_means_finished) {
  record& first = tasks.make({});
  const block::task_reference before = reference_to(first);
  record& waiting = tasks.make({});
  EXPECT_TRUE(depend(before, waiting));
  tasks.run(first);
  EXPECT_FALSE(depend(before, waiting)) << "closed";
  record* again = nullptr;
  for (int k = 0; k < 600 && again != &first; ++k) again = &tasks.tasks().take();
  ASSERT_EQ(again, &first);
  EXPECT_NE(reference_to(first), before);
  EXPECT_FALSE(depend(before, waiting)) << "open again, but another task";
  EXPECT_TRUE(depend(reference_to(first), waiting));
}

TEST_F(flow, a_block_remembers_no_task_of_its_last_life) {
  auto& x = block();
  tasks.run(tasks.submit({{&x, w}}));
  blocks.destroy(x);
  auto& y = block();
  ASSERT_EQ(&x, &y);
  record& writer = tasks.submit({{&y, w}});
  EXPECT_TRUE(tasks.is_ready(writer));
  EXPECT_EQ(writer.accesses[0].version, 1u);
}

TEST(pool, records_come_back_and_memory_does_not_grow) {
  pool records(7);
  std::map<record*, int> seen;
  for (int k = 0; k < 100'000; ++k) {
    record& t = records.take();
    EXPECT_EQ(t.owner, 7);
    EXPECT_EQ(t.edge_count, 0);
    EXPECT_EQ(t.flags, 0);
    EXPECT_EQ(t.place, 0xffff);
    ++seen[&t];
    t.flags = 0xff;
    t.edge_count = 3;
    records.give_back(t, t);
  }
  EXPECT_LE(seen.size(), 256u) << "one chunk";
}

TEST(pool, a_chain_comes_back_whole) {
  pool records(0);
  std::vector<record*> all;
  for (int k = 0; k < 600; ++k) all.push_back(&records.take());
  for (std::size_t k = 0; k + 1 < all.size(); ++k) all[k]->next = all[k + 1];
  records.give_back(*all.front(), *all.back());
  std::map<record*, int> again;
  for (int k = 0; k < 768; ++k) ++again[&records.take()];  // what was left of the third chunk, then the chain
  EXPECT_EQ(again.size(), 768u) << "each once";
}

// --- accumulates -----------------------------------------------------------------------------------------------------

TEST_F(flow, additions_do_not_wait_and_are_reduced_once) {
  auto& x = block();
  record& writer = tasks.submit({{&x, w}});
  std::vector<record*> adders;
  for (int k = 0; k < 6; ++k) adders.push_back(&tasks.submit({{&x, a}}));
  for (record* t : adders) EXPECT_TRUE(tasks.is_ready(*t)) << "not even for the writer";
  EXPECT_TRUE(tasks.reductions.empty()) << "nobody needs the sum yet";
  record &reader = tasks.submit({{&x, r}}), &another = tasks.submit({{&x, r}});
  ASSERT_EQ(tasks.reductions.size(), 1u);
  record& reduction = *tasks.reductions[0];
  EXPECT_EQ(reduction.dependencies.load(), 7);
  for (record* t : adders) tasks.run(*t);
  EXPECT_FALSE(tasks.is_ready(reduction)) << "the writer is still missing";
  tasks.run(writer);
  EXPECT_TRUE(tasks.is_ready(reduction));
  EXPECT_FALSE(tasks.is_ready(reader));
  tasks.run(reduction);
  EXPECT_TRUE(tasks.is_ready(reader) && tasks.is_ready(another));
  EXPECT_EQ(reduction.accesses[0].version, 2u);
  EXPECT_EQ(reader.accesses[0].version, 2u);
  EXPECT_EQ(x.sums, nullptr);
}

TEST_F(flow, additions_that_have_run_are_forgotten) {
  auto& x = block();
  record& first = tasks.submit({{&x, a}});
  for (int k = 0; k < 100'000; ++k) tasks.run(tasks.submit({{&x, a}}));
  EXPECT_LE(x.sums->adders.capacity(), 8u) << "one of them is unfinished at a time, and the first";
  tasks.submit({{&x, r}});
  ASSERT_EQ(tasks.reductions.size(), 1u);
  EXPECT_FALSE(tasks.is_ready(*tasks.reductions[0]));
  tasks.run(first);
  EXPECT_TRUE(tasks.is_ready(*tasks.reductions[0])) << "it is not forgotten";
}

TEST_F(flow, readers_before_a_group_hold_its_reduction_back) {
  auto& x = block();
  tasks.run(tasks.submit({{&x, w}}));
  record &reader = tasks.submit({{&x, r}}), &adder = tasks.submit({{&x, a}}), &next = tasks.submit({{&x, u}});
  ASSERT_EQ(tasks.reductions.size(), 1u);
  tasks.run(adder);
  EXPECT_FALSE(tasks.is_ready(*tasks.reductions[0]));
  tasks.run(reader);
  EXPECT_TRUE(tasks.is_ready(*tasks.reductions[0]));
  EXPECT_FALSE(tasks.is_ready(next));
}

TEST_F(flow, groups_follow_each_other) {
  auto& x = block();
  record& one = tasks.submit({{&x, a}});
  record& reader = tasks.submit({{&x, r}});
  record& two = tasks.submit({{&x, a}});
  record& last = tasks.submit({{&x, r}});
  ASSERT_EQ(tasks.reductions.size(), 2u);
  record &first = *tasks.reductions[0], &second = *tasks.reductions[1];
  tasks.run(two);
  tasks.run(one);
  EXPECT_TRUE(tasks.is_ready(first));
  EXPECT_FALSE(tasks.is_ready(second));
  tasks.run(first);
  EXPECT_FALSE(tasks.is_ready(second)) << "the reader of the first sum comes before";
  tasks.run(reader);
  tasks.run(second);
  EXPECT_TRUE(tasks.is_ready(last));
}

TEST_F(flow, a_task_that_adds_to_what_it_reads_is_part_of_the_next_sum) {
  for (const auto& uses : std::vector<std::vector<intent>>{{r, a}, {a, r}, {a, u}, {a, a, r}}) {
    auto& x = block();
    tasks.reductions.clear();
    tasks.run(tasks.submit({{&x, w}}));
    std::vector<std::pair<block::record*, intent>> list;
    for (const intent how : uses) list.emplace_back(&x, how);
    record& both = tasks.make(list);
    EXPECT_TRUE(link(both, tasks));
    EXPECT_TRUE(tasks.reductions.empty()) << "it does not close the group that it joins";
    record& reader = tasks.submit({{&x, r}});
    ASSERT_EQ(tasks.reductions.size(), 1u);
    EXPECT_FALSE(tasks.is_ready(*tasks.reductions[0])) << "its own addition comes first";
    tasks.run(both);
    EXPECT_TRUE(tasks.is_ready(*tasks.reductions[0]));
    tasks.run(*tasks.reductions[0]);
    EXPECT_TRUE(tasks.is_ready(reader));
    tasks.run(reader);
  }
}

// --- against an oracle -----------------------------------------------------------------------------------------------

TEST_F(flow, random_programs_keep_program_order_on_every_block) {
  const char* given = std::getenv("TESSERA_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  struct promise {
    block::record* on;
    intent how;
    int version;  // that must be there when it runs
  };
  std::vector<block::record*> x;
  for (int k = 0; k < 6; ++k) x.push_back(&block());
  std::map<block::record*, int> made, now, readers;  // submitted versions; as of running; readers not yet run
  std::map<record*, std::vector<promise>> open;
  for (int step = 0; step < 60'000; ++step) {
    if (open.size() < 60 && random() % 2 == 0) {
      std::vector<std::pair<block::record*, intent>> uses;
      std::vector<promise> promises;
      for (std::uint64_t n = 1 + random() % 6; n > 0; --n) {
        block::record* b = x[random() % x.size()];
        if (std::ranges::any_of(uses, [&](const auto& p) { return p.first == b; })) continue;
        const intent how = std::array{r, r, r, w, u}[random() % 5];
        uses.emplace_back(b, how);
        promises.push_back({b, how, made[b]});
        if (how != r) ++made[b];
      }
      record& t = tasks.make(uses);
      open[&t] = promises;
      if (link(t, tasks)) tasks.ready.push_back(&t);
    } else if (!open.empty()) {
      ASSERT_FALSE(tasks.ready.empty()) << "somebody can always run";
      record& t = *tasks.ready[random() % tasks.ready.size()];
      for (const promise& p : open.at(&t)) {
        ASSERT_EQ(now[p.on], p.version) << name_of(p.how);
        if (p.how == r) continue;
        for (const auto& [other, theirs] : open)  // nobody who needs the old version is left behind
          for (const promise& q : theirs) ASSERT_FALSE(other != &t && q.on == p.on && q.version <= p.version);
        ++now[p.on];
      }
      open.erase(&t);
      tasks.run(t);
    }
  }
}

}  // namespace
}  // namespace tessera::task
