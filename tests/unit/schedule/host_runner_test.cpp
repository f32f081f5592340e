// A task on the host, step by step: no thread, no scheduler, and copies that move when they are told to.
#include "core/schedule/host_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/task/flow.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Writes down what is asked for.
struct request_list final : task_owner {
  bool place_again(thread_context&, task::record&) override { return false; }
  void fail(thread_context&, task::record&, std::shared_ptr<const block::failure> why) override {
    calls.push_back("failed: " + why->text);
  }
  void give_copies(task::record&, placement::place&) override { calls.push_back("copies"); }
  bool exchange_copies(task::record&, placement::place&) override { return false; }
  void begun(const task::record&) override { calls.push_back("begun"); }
  void wait_for_points(task::record&, std::span<const block::ticket>) override { calls.push_back("waits"); }
  void wait_for_memory(task::record&, placement::place&, const transfer::acquisition&) override {
    calls.push_back("waits for memory");
  }
  void something_ended() override {}
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  std::vector<std::string> calls;
};

int called = 0;  // by an operation, which captures nothing

/// A host of so many blocks (0: no limit), with a device beside it or alone.
struct hosted {
  hosted(bool device, std::uint64_t host_blocks, run_mode mode = {})
      : rig(device ? std::vector<std::string>{"alpha"} : std::vector<std::string>{}, 16, false, 4 * 4096, host_blocks) {
    places.push_back(std::make_unique<placement::place>());
    places[0]->space = 0;
    places[0]->device = &rig.devices[0]->device();
    adds.name = "adds";
    adds.host = [](const operation::context& c) {
      ++called;
      if (c.argument_bytes != 0) throw error(error_kind::task, "it does not like its arguments");
    };
    mode.single_space = !device;
    runner.begin(mode);
    called = 0;
  }
  ~hosted() { rig.end(); }
  static location::properties machine() {
    location::properties root;
    root.name = "machine";
    return root;
  }
  task::record& task(const std::vector<block::record*>& blocks, intent how) {
    tasks.push_back(std::make_unique<task::record>());
    task::record& t = *tasks.back();
    task::renew(t);
    t.operation = &adds;
    t.sequence = tasks.size();
    t.access_count = static_cast<std::uint8_t>(blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k) t.accesses[k] = transfer::rig::use(*blocks[k], how);
    return t;
  }
  std::uint64_t counted() { return mine.counters.of(adds.number).tasks.load(); }

  transfer::rig rig;
  location::tree tree{machine()};
  placement::placer placer{{&tree, rig.is.get(), nullptr}, "eager"};
  std::vector<std::unique_ptr<placement::place>> places;
  request_list owner;
  operation::definition adds;
  class failures failed;
  thread_context mine{0};
  std::vector<std::unique_ptr<task::record>> tasks;
  host_runner runner{
      {.owner = &owner, .coherence = rig.is.get(), .placer = &placer, .places = &places, .failures = &failed}};
};

TEST(host_runner, asks_nobody_for_a_task_whose_blocks_are_where_it_runs) {
  hosted h(false, 0, {.announces_uses = true});
  block::record& b = h.rig.make();
  h.rig.put(b, 0, 1);
  const std::uint32_t before = b.committed;
  task::record& t = h.task({&b}, intent::update);
  ASSERT_TRUE(h.runner.prepare(h.mine, t));
  EXPECT_THAT(h.owner.take(), IsEmpty());
  EXPECT_EQ(called, 0);
  h.runner.execute(h.mine, t);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(h.counted(), 1u);
  EXPECT_EQ(b.committed, before + 1);
  EXPECT_EQ(h.mine.versions, 1u) << "without coherence";
  EXPECT_EQ(h.rig.pins(b, 0), 0u);
}

TEST(host_runner, a_block_that_is_elsewhere_is_brought_and_pinned_until_it_has_run) {
  hosted h(true, 0, {.announces_uses = true});
  block::record& b = h.rig.make();
  h.rig.put(b, 1, 5);
  task::record& t = h.task({&b}, intent::read);
  ASSERT_FALSE(h.runner.prepare(h.mine, t));
  EXPECT_THAT(h.owner.take(), ElementsAre("begun", "waits"));
  h.rig.settle();
  ASSERT_TRUE(h.runner.prepare(h.mine, t));
  EXPECT_THAT(h.owner.take(), IsEmpty());
  EXPECT_EQ(h.rig.words(b, 0)[0], 5);
  EXPECT_EQ(h.rig.pins(b, 0), 1u);
  h.runner.execute(h.mine, t);
  EXPECT_EQ(h.rig.pins(b, 0), 0u);
  EXPECT_EQ(h.mine.versions, 0u);
}

TEST(host_runner, what_a_task_throws_is_told_with_its_name_and_poisons_what_it_makes) {
  for (const bool device : {false, true}) {
    hosted h(device, 0);
    block::record& b = h.rig.make();
    h.rig.put(b, 0, 1);
    task::record& t = h.task({&b}, intent::update);
    t.argument_size = 8;
    ASSERT_TRUE(h.runner.prepare(h.mine, t));
    h.runner.execute(h.mine, t);
    ASSERT_NE(b.poison, nullptr);
    EXPECT_EQ((*b.poison)->text, "adds failed: it does not like its arguments");
    EXPECT_EQ(h.failed.take().first, *b.poison);
    EXPECT_EQ(h.rig.pins(b, 0), 0u);
    h.rig.put(b, 0, 2);  // written anew
    EXPECT_EQ(b.poison, nullptr);
  }
}

TEST(host_runner, a_task_that_never_fits_fails_and_one_that_may_fit_later_waits) {
  hosted h(false, 2);
  block::record &a = h.rig.make(), &b = h.rig.make(), &c = h.rig.make();
  EXPECT_FALSE(h.runner.prepare(h.mine, h.task({&a, &b, &c}, intent::write)));
  ASSERT_EQ(h.owner.calls.size(), 1u);
  EXPECT_THAT(h.owner.take()[0], HasSubstr("its blocks need 768 bytes in host:memory, which holds 512"));
  h.rig.put(a, 0, 1);
  EXPECT_FALSE(h.runner.prepare(h.mine, h.task({&b, &c}, intent::write)));
  EXPECT_THAT(h.owner.take(), ElementsAre("waits for memory"));
}

TEST(host_runner, a_task_that_only_enqueues_calls_no_function_of_the_program) {
  hosted h(true, 0);
  block::record& b = h.rig.make();
  task::record& t = h.task({&b}, intent::write);
  ASSERT_TRUE(h.runner.prepare(h.mine, t));
  EXPECT_EQ(h.runner.call(h.mine, t, host_runner::call_mode::enqueue_only), nullptr);
  EXPECT_EQ(called, 0);
  EXPECT_EQ(h.counted(), 0u);
  h.runner.finish(h.mine, t, 0, 70, nullptr);
  EXPECT_EQ(h.counted(), 1u);
  EXPECT_EQ(h.mine.counters.of(h.adds.number).nanoseconds, 70u);
}

}  // namespace
}  // namespace tessera::schedule
