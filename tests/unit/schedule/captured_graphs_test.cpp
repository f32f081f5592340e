// When a graph is captured, launched again, thrown away, or given up: against a GRAPH table that counts.
#include "core/schedule/captured_graphs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/error_of.hpp"

namespace tessera::schedule {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct fake_graphs {
  int begun = 0, ended = 0, launched = 0, destroyed = 0;
  std::uintptr_t next = 0;
  std::set<tsr_graph*> live;
  bool capturing = false;
  tsr_status begin = TSR_OK, end = TSR_OK, launch = TSR_OK;
};
fake_graphs* fake = nullptr;  // the table has no room for a context

tsr_graph_table table() {
  tsr_graph_table t{};
  t.struct_size = sizeof t;
  t.version = 1;
  t.capture_begin = [](tsr_device*, tsr_stream*) {
    if (fake->begin != TSR_OK) return fake->begin;
    ++fake->begun;
    fake->capturing = true;
    return tsr_status{TSR_OK};
  };
  t.capture_end = [](tsr_device*, tsr_stream*, tsr_graph** out) {
    fake->capturing = false;
    ++fake->ended;
    if (fake->end != TSR_OK) return fake->end;
    *out = reinterpret_cast<tsr_graph*>(++fake->next);
    fake->live.insert(*out);
    return tsr_status{TSR_OK};
  };
  t.launch = [](tsr_device*, tsr_stream*, tsr_graph* graph) {
    EXPECT_TRUE(fake->live.contains(graph));
    EXPECT_FALSE(fake->capturing);
    ++fake->launched;
    return fake->launch;
  };
  t.destroy = [](tsr_device*, tsr_graph* graph) {
    EXPECT_EQ(fake->live.erase(graph), 1u);
    ++fake->destroyed;
    return tsr_status{TSR_OK};
  };
  return t;
}

struct graphs : ::testing::Test {
  graphs() { fake = &state; }
  ~graphs() override { fake = nullptr; }
  graph_key at(std::uint64_t address, std::uint64_t epoch = 0) { return {{{nullptr, address}}, {nullptr}, epoch}; }
  void enqueue(captured_graphs& of, graph_key key) { enqueue(of, std::move(key), device); }
  void enqueue(captured_graphs& of, graph_key key, const plugin::device& on) {
    operation::context c;
    c.device = &on;
    of.enqueue(
        c, std::move(key), 7, counters, [&] { return may_be_captured; },
        [&] {
          if (throws) throw std::runtime_error("refused");
          state.capturing ? ++recorded : ++singly;
        });
  }
  fake_graphs state;
  tsr_graph_table graph = table();
  plugin::device device{"dev0", "dev", 0, nullptr, tsr_device_desc{}, tsr_device_table{}, {}, nullptr, nullptr, &graph};
  graph_counters counters;
  int recorded = 0, singly = 0;
  bool throws = false, may_be_captured = true;
};

TEST_F(graphs, are_not_captured_where_that_may_not_be) {
  captured_graphs one;
  may_be_captured = false;
  for (int k = 0; k < 3; ++k) enqueue(one, at(1));
  EXPECT_EQ(singly, 3);
  EXPECT_EQ(state.launched, 0);
  may_be_captured = true;
  for (int k = 0; k < 3; ++k) enqueue(one, at(1));
  EXPECT_EQ(recorded, 1);
  EXPECT_EQ(state.launched, 3);
}

TEST_F(graphs, are_captured_once_and_launched_every_time) {
  {
    captured_graphs one;
    for (int k = 0; k < 10; ++k) enqueue(one, at(1));
    EXPECT_EQ(recorded, 1);
    EXPECT_EQ(singly, 0);
    EXPECT_EQ(state.launched, 10);
    const graph_statistics s = counters.read();
    EXPECT_EQ(s.captured, 1u);
    EXPECT_EQ(s.recaptured, 0u);
    EXPECT_EQ(s.launched, 10u);
    EXPECT_EQ(s.tasks, 70u);
  }
  EXPECT_TRUE(state.live.empty());
}

TEST_F(graphs, of_buffers_that_take_turns_are_kept_side_by_side) {
  captured_graphs one;
  for (int k = 0; k < 20; ++k) enqueue(one, at(1 + k % 2));
  EXPECT_EQ(recorded, 2);
  EXPECT_EQ(counters.read().recaptured, 1u);
  EXPECT_EQ(state.launched, 20);
}

TEST_F(graphs, are_not_launched_with_other_arguments) {
  captured_graphs one;
  const auto bytes = [] { return std::make_shared<const std::vector<std::byte>>(8); };
  graph_key patched = at(1);
  enqueue(one, patched);
  patched.patches[0] = bytes();
  enqueue(one, patched);
  enqueue(one, patched);
  EXPECT_EQ(recorded, 2);
  patched.patches[0] = bytes();
  enqueue(one, patched);
  EXPECT_EQ(recorded, 3);
  enqueue(one, at(1));
  EXPECT_EQ(recorded, 3) << "the first one is still there";
}

TEST_F(graphs, of_memory_that_may_be_gone_are_destroyed_and_never_launched) {
  captured_graphs one;
  for (int k = 0; k < 2; ++k) enqueue(one, at(1));
  enqueue(one, at(2));
  EXPECT_EQ(recorded, 2);
  enqueue(one, at(1, 5));
  EXPECT_EQ(recorded, 3) << "the same address, but a slab was given back since";
  EXPECT_EQ(state.destroyed, 2);
  EXPECT_EQ(state.live.size(), 1u);
  EXPECT_EQ(counters.read().recaptured, 2u);
  enqueue(one, at(1, 5));
  EXPECT_EQ(recorded, 3);
}

TEST_F(graphs, of_another_device_have_its_epochs) {
  plugin::device second{"dev1", "dev", 1, nullptr, tsr_device_desc{}, tsr_device_table{}, {}, nullptr, nullptr, &graph};
  captured_graphs one;
  enqueue(one, at(1, 3));
  enqueue(one, at(1, 7), second);
  EXPECT_EQ(state.destroyed, 0) << "epochs are counted by each space for itself";
  enqueue(one, at(1, 3));
  EXPECT_EQ(recorded, 2);
}

TEST_F(graphs, that_are_never_used_again_are_no_longer_captured) {
  captured_graphs one;
  for (std::uint64_t k = 1; k <= 50; ++k) enqueue(one, at(k));
  EXPECT_EQ(recorded, 4);
  EXPECT_EQ(singly, 46);
  EXPECT_EQ(counters.read().one_by_one, 46u);
  enqueue(one, at(50));  // the same twice in a row: it may stay so
  EXPECT_EQ(recorded, 5);
  EXPECT_EQ(state.live.size(), 4u) << "and one has made room";
  for (int k = 0; k < 10; ++k) enqueue(one, at(50));
  EXPECT_EQ(recorded, 5);
}

TEST_F(graphs, that_cannot_be_captured_are_enqueued_singly) {
  for (const auto spoil : {&fake_graphs::begin, &fake_graphs::end}) {
    state.*spoil = spoil == &fake_graphs::begin ? TSR_UNIMPLEMENTED : TSR_ABORTED;
    captured_graphs one;
    singly = 0;
    for (int k = 0; k < 3; ++k) enqueue(one, at(1));
    EXPECT_EQ(singly, 3);
    EXPECT_EQ(state.launched, 0);
    state.*spoil = TSR_OK;
  }
  EXPECT_LE(state.begun, 1) << "it is tried once";
}

TEST_F(graphs, a_task_that_refuses_ends_the_capture) {
  captured_graphs one;
  throws = true;
  EXPECT_THROW(enqueue(one, at(1)), std::runtime_error);
  EXPECT_FALSE(state.capturing);
  EXPECT_TRUE(state.live.empty());
  throws = false;
  enqueue(one, at(1));
  EXPECT_EQ(singly, 1);
}

TEST_F(graphs, a_launch_that_fails_is_an_error) {
  captured_graphs one;
  state.launch = TSR_DEVICE_LOST;
  const error lost = test_support::error_of([&] { enqueue(one, at(1)); });
  EXPECT_EQ(lost.kind(), error_kind::device);
  EXPECT_THAT(lost.message(), AllOf(HasSubstr("launch of a graph"), HasSubstr("DEVICE_LOST")));
  EXPECT_EQ(counters.read().captured, 1u);
  EXPECT_EQ(counters.read().launched, 0u) << "what did not run is not counted";
  EXPECT_EQ(counters.read().tasks, 0u);
  EXPECT_EQ(singly, 0) << "nor is it tried in another way, behind the caller's back";

  state.launch = TSR_INTERNAL;  // the graph that is known: likewise
  EXPECT_THAT(test_support::error_of([&] { enqueue(one, at(1)); }).message(), HasSubstr("INTERNAL"));
  EXPECT_EQ(state.launched, 2);
  EXPECT_EQ(counters.read().launched, 0u);

  state.launch = TSR_OK;
  enqueue(one, at(1));
  EXPECT_EQ(recorded, 1) << "the graph itself is good";
  EXPECT_EQ(counters.read().launched, 1u);
  EXPECT_EQ(counters.read().tasks, 7u);
  EXPECT_EQ(counters.read().one_by_one, 0u);
}

}  // namespace
}  // namespace tessera::schedule
