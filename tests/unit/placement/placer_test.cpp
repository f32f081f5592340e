// Where tasks go, with fake devices and without a scheduler: a task and places in, a number out.
#include "core/placement/placer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/task/flow.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::placement {
namespace {

using ::testing::HasSubstr;
using transfer::block_bytes;

location::properties location_of(location::kind what, const std::string& name) {
  location::properties made;
  made.kind = what;
  made.name = name;
  return made;
}

/// A host with two workers, and two devices of one plugin, each of 16 blocks; one operation that runs on all of them.
struct places {
  explicit places(std::string_view policy_name)
      : rig({"alpha", "alpha"}, 16, true), tree(location_of(location::kind::machine, "machine")) {
    host = tree.add(0, location_of(location::kind::memory, "numa0"));
    tree.add(host, location_of(location::kind::worker, "core0"));
    for (std::uint32_t k = 0; k < 3; ++k) {
      auto e = std::make_unique<place>();
      e->number = k;
      e->name = k == 0 ? "cpu:numa0" : rig.devices[k]->device().name();
      e->location = k == 0 ? host : tree.add(0, location_of(location::kind::worker, "dev" + std::to_string(k)));
      e->space = static_cast<memory::space_number>(k);
      e->device = &rig.devices[k]->device();
      e->is_host = k == 0;
      e->parallelism = k == 0 ? 2 : 1;
      e->granule = rig.spaces[k]->granule();
      all.push_back(std::move(e));
    }
    anywhere.name = "anywhere";
    anywhere.enqueue = [](const operation::context&) {};
    anywhere.work = [](const void*, std::span<const block::access>) { return 1e6; };
    choice.emplace(placer_setup{&tree, rig.is.get(), nullptr}, policy_name);
    choice->begin(all);
  }
  std::uint32_t choose(const operation::definition& what, std::vector<block::access> accesses,
                       location::node_id hint = location::no_node) {
    task::renew(t);
    t.operation = &what;
    t.access_count = static_cast<std::uint8_t>(accesses.size());
    std::ranges::copy(accesses, t.accesses.begin());
    t.hint = hint;
    return choice->choose(t, host);
  }

  transfer::rig rig;
  location::tree tree;
  location::node_id host = 0;
  std::vector<std::unique_ptr<place>> all;
  operation::definition anywhere;
  task::record t;
  std::optional<placer> choice;
};

TEST(placer, eager_takes_the_shortest_queue_and_counts_the_task_there) {
  places p("eager");
  block::record& b = p.rig.make();
  const std::vector<block::access> writes{transfer::rig::use(b, intent::write)};
  EXPECT_EQ(p.choose(p.anywhere, writes), 0u) << "the nearest of equal ones";
  EXPECT_GT(p.all[0]->queued_ns.load(), 0);
  EXPECT_EQ(p.all[0]->open.load(), 1);
  const std::uint32_t second = p.choose(p.anywhere, writes);
  EXPECT_NE(second, 0u);
  EXPECT_NE(p.choose(p.anywhere, writes), second);
  p.choice->discharge(p.t, *p.all[3 - second]);
  EXPECT_EQ(p.all[3 - second]->queued_ns.load(), 0);
  EXPECT_EQ(p.all[3 - second]->open.load(), 0);
  p.rig.end();
}

TEST(placer, locality_goes_where_the_inputs_are) {
  places p("locality");
  block::record& b = p.rig.make();
  p.rig.put(b, 2, 7);
  EXPECT_EQ(p.choose(p.anywhere, {transfer::rig::use(b, intent::read)}), 2u);
  p.rig.end();
}

TEST(placer, what_is_detached_is_no_place_and_what_is_draining_the_last) {
  places p("locality");
  block::record& b = p.rig.make();
  p.rig.put(b, 2, 7);
  operation::definition on_devices = p.anywhere;
  on_devices.name = "on_devices";
  on_devices.available = [](const plugin::device& d, element_type) { return d.plugin_name() == "alpha"; };
  const std::vector<block::access> reads{transfer::rig::use(b, intent::read)};
  p.all[2]->state = place_state::draining;
  EXPECT_EQ(p.choose(on_devices, reads), 1u);
  p.all[1]->state = place_state::detached;
  EXPECT_EQ(p.choose(on_devices, reads), 2u) << "nothing else is left";
  p.all[2]->state = place_state::lost;
  EXPECT_EQ(p.choose(on_devices, reads), placer::no_place);
  const block::failure why = p.choice->why_no_place(p.t);
  EXPECT_EQ(why.kind, error_kind::device);
  EXPECT_THAT(why.text, HasSubstr("is detached"));
  EXPECT_THAT(why.text, HasSubstr("is lost"));
  p.rig.end();
}

TEST(placer, pinned_makes_hints_orders) {
  places p("pinned");
  block::record& b = p.rig.make();
  const std::vector<block::access> writes{transfer::rig::use(b, intent::write)};
  EXPECT_EQ(p.choose(p.anywhere, writes, *p.tree.find("dev2")), 2u);
  EXPECT_EQ(p.choose(p.anywhere, writes, *p.tree.find("core0")), placer::no_place) << "no place has this core";
  p.all[0]->cpus.push_back(*p.tree.find("core0"));
  EXPECT_EQ(p.choose(p.anywhere, writes, *p.tree.find("core0")), 0u);
  operation::definition on_host = p.anywhere;
  on_host.name = "on_host";
  on_host.enqueue = nullptr;
  on_host.host = [](const operation::context&) {};
  EXPECT_EQ(p.choose(on_host, writes, *p.tree.find("dev2")), placer::no_place);
  EXPECT_THAT(p.choice->why_no_place(p.t).text, HasSubstr("it must run at 'dev2'"));
  p.rig.end();
}

TEST(placer, a_memory_that_cannot_hold_all_blocks_is_no_place) {
  places p("eager");
  std::vector<block::access> many;
  for (int k = 0; k < 4; ++k) many.push_back(transfer::rig::use(p.rig.make(5 * block_bytes), intent::write));
  p.all[0]->queued_ns = 1'000'000'000'000;  // the host has the longest queue
  EXPECT_EQ(p.choose(p.anywhere, many), 0u) << "20 blocks, and the devices have room for 16";
  operation::definition on_devices = p.anywhere;
  on_devices.name = "on_devices";
  on_devices.available = [](const plugin::device& d, element_type) { return d.plugin_name() == "alpha"; };
  EXPECT_EQ(p.choose(on_devices, many), placer::no_place);
  EXPECT_EQ(p.choice->why_no_place(p.t).kind, error_kind::memory);
  p.rig.end();
}

TEST(placer, a_memory_that_cannot_hold_blocks_and_workspace_together_is_no_place) {
  places p("eager");
  std::vector<block::access> many;
  for (int k = 0; k < 3; ++k) many.push_back(transfer::rig::use(p.rig.make(5 * block_bytes), intent::write));
  p.all[0]->queued_ns = 1'000'000'000'000;  // the host has the longest queue
  EXPECT_NE(p.choose(p.anywhere, many), 0u) << "15 blocks of 16";
  operation::definition wide = p.anywhere;
  wide.name = "wide";
  wide.workspace = [](const plugin::device&, const void*, std::span<const block::access>) -> std::uint64_t {
    return 2 * block_bytes;
  };
  EXPECT_EQ(p.choose(wide, many), 0u) << "the host takes no workspace from a device's memory";
  operation::definition on_devices = wide;
  on_devices.name = "on_devices";
  on_devices.available = [](const plugin::device& d, element_type) { return d.plugin_name() == "alpha"; };
  EXPECT_EQ(p.choose(on_devices, many), placer::no_place);
  EXPECT_THAT(p.choice->why_no_place(p.t).text, HasSubstr("its blocks and its workspace: they take"));
  p.rig.end();
}

TEST(placer, a_workspace_of_any_size_is_no_small_one) {
  places p("eager");
  p.all[0]->queued_ns = 1'000'000'000'000;
  const std::vector<block::access> writes{transfer::rig::use(p.rig.make(), intent::write)};
  operation::definition endless = p.anywhere;
  endless.name = "endless";
  endless.workspace = [](const plugin::device&, const void*, std::span<const block::access>) {
    return ~std::uint64_t{0};
  };
  EXPECT_EQ(p.choose(endless, writes), 0u) << "sums with it begin from 0";
  p.rig.end();
}

TEST(placer, pinned_tells_what_the_ordered_place_does_not_hold) {
  places p("pinned");
  std::vector<block::access> many;
  for (int k = 0; k < 3; ++k) many.push_back(transfer::rig::use(p.rig.make(5 * block_bytes), intent::write));
  operation::definition wide = p.anywhere;
  wide.name = "wide";
  wide.workspace = [](const plugin::device&, const void*, std::span<const block::access>) -> std::uint64_t {
    return 2 * block_bytes;
  };
  EXPECT_EQ(p.choose(wide, many, *p.tree.find("dev2")), placer::no_place);
  const block::failure why = p.choice->why_no_place(p.t);
  EXPECT_EQ(why.kind, error_kind::memory);
  EXPECT_THAT(why.text, HasSubstr("it must run at 'dev2': its blocks and a workspace of"));
  p.rig.end();
}

TEST(placer, with_cost_a_changed_estimate_withdraws_what_is_queued) {
  places p("cost");
  ASSERT_NE(p.choice->model(), nullptr);
  block::record& b = p.rig.make();
  const std::uint32_t at = p.choose(p.anywhere, {transfer::rig::use(b, intent::write)});
  ASSERT_NE(at, placer::no_place);
  EXPECT_FALSE(p.choice->withdraw(p.t, *p.all[at])) << "nothing has changed since";
  p.choice->note_change();
  const bool trial = !p.choice->withdraw(p.t, *p.all[at]);
  if (!trial) {
    EXPECT_EQ(p.all[at]->open.load(), 0) << "it is counted nowhere now";
    EXPECT_EQ(p.all[at]->tasks.load(), 0u);
  }
  p.rig.end();
}

TEST(placer, with_other_policies_nothing_is_withdrawn) {
  places p("locality");
  block::record& b = p.rig.make();
  const std::uint32_t at = p.choose(p.anywhere, {transfer::rig::use(b, intent::write)});
  p.choice->note_change();
  EXPECT_FALSE(p.choice->withdraw(p.t, *p.all[at]));
  EXPECT_EQ(p.choice->model(), nullptr);
  p.rig.end();
}

TEST(placer, an_unknown_policy_is_refused_with_the_nearest_name) {
  const error e = test_support::error_of([] { placer p({}, "locallity"); });
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_THAT(e.what(), HasSubstr("did you mean 'locality'?"));
}

}  // namespace
}  // namespace tessera::placement
