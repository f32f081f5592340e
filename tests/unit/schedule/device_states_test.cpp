// Devices that come and go, with their drivers' threads; and when they may not.
#include "core/schedule/device_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/unit/schedule/driven.hpp"

namespace tessera::schedule {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

/// Tells what it hears from drivers to the states.
struct state_listener final : notebook {
  void device_changed() override { changed(); }
  std::function<void()> changed = [] {};
};

/// A machine of a host, two devices and one that stores, with threads for the devices once they are started.
struct changing {
  changing() {
    nodes.push_back(tree.root());
    for (std::uint32_t k = 1; k <= 3; ++k) {
      location::properties what;
      what.kind = location::kind::memory;
      what.name = machine.devices[k]->device().name();
      nodes.push_back(tree.add(tree.root(), what));
    }
    for (std::uint32_t k = 0; k < 3; ++k) {
      places.push_back(std::make_unique<placement::place>());
      placement::place& where = *places.back();
      where.number = k;
      where.location = nodes[k];
      where.space = static_cast<memory::space_number>(k);
      where.is_host = k == 0;
      where.device = &machine.devices[k]->device();
      where.name = k == 0 ? "cpu" : where.device->name();
      drivers.add(setup(), where);
    }
    memory::space_setup store;
    store.number = 3;
    store.device = &machine.devices[3]->device();
    store.location = nodes[3];
    stored = std::make_unique<memory::space>(store);
    drivers.add_store(setup(), *stored);
    owner.changed = [this] { is.note_change(); };
    placer.begin(places);
  }
  ~changing() {
    if (running) drivers.stop();
    machine.end();
  }
  void start() {
    drivers.start();
    running = true;
  }
  driver_setup setup() {
    return {
        .owner = &owner, .coherence = machine.is.get(), .placer = &placer, .settings = &settings, .failures = &failed};
  }
  static location::properties root() {
    location::properties machine;
    machine.kind = location::kind::machine;
    machine.name = "machine";
    return machine;
  }
  placement::place_state state(std::size_t k) const { return places[k]->state.load(); }

  transfer::rig machine{{"alpha", "alpha", "store"}};
  location::tree tree{root()};
  std::vector<location::node_id> nodes;  // by device; the machine first
  std::vector<std::unique_ptr<placement::place>> places;
  state_listener owner;
  placement::placer placer{{&tree, machine.is.get(), nullptr}, "eager"};
  config::runtime_settings settings;
  class failures failed;
  std::unique_ptr<memory::space> stored;
  driver_table drivers;
  thread_table threads;
  thread_registry registry{{.threads = &threads,
                            .places = &places,
                            .coherence = machine.is.get(),
                            .thread_ends = [](thread_context&) {},
                            .thread_ended = [] {}}};
  std::function<void()> meanwhile = [] {};
  device_states is{{.tree = &tree,
                    .coherence = machine.is.get(),
                    .placer = &placer,
                    .places = &places,
                    .drivers = &drivers,
                    .registry = &registry,
                    .run_tasks_until = [this](const device_states::predicate& enough) {
                      while (!enough()) meanwhile();
                    }}};
  bool running = false;
};

TEST(device_states, all_are_attached_at_first) {
  changing c;
  EXPECT_TRUE(c.is.attached(c.nodes[1]));
  EXPECT_TRUE(c.is.attached(c.tree.root()));
  c.is.begin_detached(c.nodes[2]);
  EXPECT_EQ(c.state(2), placement::place_state::detached);
  EXPECT_TRUE(c.is.attached(c.nodes[1]));
  EXPECT_FALSE(c.is.attached(c.nodes[2]));
  EXPECT_FALSE(c.is.attached(c.tree.root())) << "not every one below it";
}

TEST(device_states, only_devices_that_are_there_and_compute_come_and_go) {
  changing c;
  const location::node_id empty = [&] {
    location::properties what;
    what.kind = location::kind::memory;
    what.name = "numa0";
    return c.tree.add(c.tree.root(), what);
  }();
  for (const auto& call : std::vector<std::function<void(location::node_id)>>{
           [&](location::node_id at) { c.is.detach(at); }, [&](location::node_id at) { c.is.attach(at); },
           [&](location::node_id at) { c.is.begin_detached(at); },
           [&](location::node_id at) { (void)c.is.attached(at); }}) {
    const error nothing = error_of([&] { call(empty); });
    EXPECT_EQ(nothing.kind(), error_kind::usage);
    EXPECT_EQ(nothing.message(), "there is no device at or below 'numa0'");
    EXPECT_THAT(nothing.what(), HasSubstr("the devices are alpha1, alpha2"));
    EXPECT_EQ(error_of([&] { call(c.nodes[3]); }).message(), "'store3' is storage, which stays");
  }
}

TEST(device_states, are_edited_by_the_program_outside_of_tasks_recordings_and_views) {
  changing c;
  thread_context& mine = c.registry.current();
  const auto messages = [&](const std::string& why) {
    EXPECT_EQ(error_of([&] { c.is.detach(c.nodes[1]); }).message(), "detach " + why);
    EXPECT_EQ(error_of([&] { c.is.attach(c.nodes[1]); }).message(), "attach " + why);
    EXPECT_TRUE(c.is.attached(c.nodes[1])) << "asking is always possible";
  };
  {
    const thread_context::runtime_scope in_a_task(mine);
    messages("inside a task");
  }
  mine.held_views = 2;
  messages("while this thread holds host views of 2 blocks");
  mine.held_views = 0;
  block::table blocks;
  const operation::definition reduce;
  task::graph_recorder taker(blocks, reduce, reduce);
  mine.recorder = &taker;
  messages("inside a recording");
  mine.recorder = nullptr;
  EXPECT_EQ(c.state(1), placement::place_state::attached);
}

TEST(device_states, in_a_simulated_run_stay) {
  changing c;
  device_states simulated{{.tree = &c.tree,
                           .coherence = c.machine.is.get(),
                           .placer = &c.placer,
                           .places = &c.places,
                           .drivers = &c.drivers,
                           .registry = &c.registry,
                           .simulated = true,
                           .run_tasks_until = [](const device_states::predicate&) {}}};
  EXPECT_EQ(error_of([&] { simulated.detach(c.nodes[1]); }).message(), "detach in a simulated run");
}

TEST(device_states, a_device_that_leaves_comes_back) {
  changing c;
  c.start();
  EXPECT_EQ(error_of([&] { c.is.attach(c.nodes[1]); }).message(), "'alpha1' is attached already");
  c.is.detach(c.nodes[1]);
  EXPECT_EQ(c.state(1), placement::place_state::detached);
  EXPECT_EQ(c.state(2), placement::place_state::attached);
  EXPECT_EQ(error_of([&] { c.is.detach(c.nodes[1]); }).message(), "'alpha1' is detached already");
  c.is.attach(c.nodes[1]);
  EXPECT_EQ(c.state(1), placement::place_state::attached);
}

TEST(device_states, all_below_a_location_leave_together_but_for_those_that_have) {
  changing c;
  c.start();
  c.is.detach(c.nodes[1]);
  c.is.detach(c.tree.root());
  EXPECT_EQ(c.state(1), placement::place_state::detached);
  EXPECT_EQ(c.state(2), placement::place_state::detached);
  c.is.attach(c.tree.root());
  EXPECT_TRUE(c.is.attached(c.tree.root()));
}

TEST(device_states, a_lost_device_never_comes_back) {
  changing c;
  c.places[1]->state = placement::place_state::lost;
  const error e = error_of([&] { c.is.attach(c.nodes[1]); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_EQ(e.message(), "alpha1 is lost and cannot be attached again");
}

TEST(device_states, counts_tasks_that_were_placed_elsewhere) {
  changing c;
  EXPECT_EQ(c.is.placed_elsewhere(), 0u);
  c.is.note_placed_elsewhere();
  c.is.note_placed_elsewhere();
  EXPECT_EQ(c.is.placed_elsewhere(), 2u);
}

}  // namespace
}  // namespace tessera::schedule
