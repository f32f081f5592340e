// Operations that the calling thread runs at once, without a task.
#include "core/schedule/in_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/schedule/operands.hpp"
#include "core/schedule/operation_table.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using test_support::error_of;

/// What operations, which capture nothing, write down.
struct seen_call {
  int calls = 0, workspaces = 0;
  bool checked = false;
  std::uint64_t workspace = 0, arguments = 0, first_bytes = 0;
};
seen_call at_once;

/// A host, and calls on it.
struct calling_at_once {
  calling_at_once() {
    at_once = {};
    places.push_back(std::make_unique<placement::place>());
    places[0]->space = 0;
    places[0]->device = &machine.devices[0]->device();
    values.resize(8, 1);
    operands.push_back({.host = values.data(), .type = element_type::f64, .intent = intent::update, .bytes = 64});
  }
  void run(const operation::definition& what, operation::in_place_facts* facts = nullptr) {
    is.run(what, &argument, sizeof argument, operands, facts);
  }

  transfer::rig machine{std::vector<std::string>{}};
  location::tree tree{[] {
    location::properties root;
    root.name = "machine";
    return root;
  }()};
  placement::placer placer{{&tree, machine.is.get(), nullptr}, "eager"};
  std::vector<std::unique_ptr<placement::place>> places;
  thread_table threads;
  thread_registry registry{{.threads = &threads,
                            .places = &places,
                            .coherence = machine.is.get(),
                            .thread_ends = [](thread_context&) {},
                            .thread_ended = [] {}}};
  host_runner host{{.owner = nullptr, .coherence = machine.is.get(), .placer = &placer, .places = &places}};
  run_mode mode;
  in_place_calls is{{.registry = &registry, .host = &host, .placer = &placer, .places = &places, .mode = &mode}};
  std::vector<double> values;
  std::vector<operation::operand> operands;
  std::uint64_t argument = 3;
};

const operation::definition host_form{.name = "host_form", .host = [](const operation::context& c) {
                                        ++at_once.calls;
                                        at_once.arguments = *static_cast<const std::uint64_t*>(c.arguments);
                                        static_cast<double*>(c.operands[0].host)[0] = 9;
                                      }};
const operation::definition table_form{
    .name = "table_form",
    .enqueue =
        [](const operation::context& c) {
          ++at_once.calls;
          at_once.checked = c.checked;
          at_once.workspace = c.workspace.bytes;
        },
    .available = [](const plugin::device&, element_type type) { return type == element_type::f64; },
    .workspace = [](const plugin::device&, const void*, std::span<const block::access> uses) -> std::uint64_t {
      ++at_once.workspaces;
      at_once.first_bytes = uses[0].block->bytes;
      return 512;
    }};

TEST(in_place_calls, run_on_the_memory_that_the_caller_has) {
  calling_at_once c;
  c.run(host_form);
  EXPECT_EQ(at_once.calls, 1);
  EXPECT_EQ(at_once.arguments, 3u);
  EXPECT_EQ(c.values[0], 9);
  EXPECT_EQ(c.threads.submitted(), 0u) << "there was no task";
}

TEST(in_place_calls, through_a_device_table_have_the_workspace_that_they_ask_for) {
  calling_at_once c;
  c.run(table_form);
  EXPECT_EQ(at_once.calls, 1);
  EXPECT_EQ(at_once.workspace, 512u);
  EXPECT_EQ(at_once.first_bytes, 64u) << "asked about blocks like the operands";
  EXPECT_FALSE(at_once.checked);
}

TEST(in_place_calls, what_was_found_out_once_is_not_asked_again) {
  calling_at_once c;
  operation::in_place_facts facts;
  c.run(table_form, &facts);
  EXPECT_TRUE(facts.known);
  EXPECT_EQ(facts.workspace, 512u);
  c.operands[0].type = element_type::i32;  // nobody looks
  c.run(table_form, &facts);
  EXPECT_EQ(at_once.calls, 2);
  EXPECT_EQ(at_once.workspaces, 1);
  EXPECT_TRUE(at_once.checked);
  EXPECT_EQ(at_once.workspace, 512u);
}

TEST(in_place_calls, without_a_form_for_the_host_are_refused) {
  calling_at_once c;
  c.operands[0].type = element_type::i32;
  const error e = error_of([&] { c.run(table_form); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_EQ(e.message(), "table_form does not run on the host");
  const operation::definition nothing{.name = "nothing"};
  EXPECT_EQ(error_of([&] { c.run(nothing); }).message(), "nothing does not run on the host");
  EXPECT_EQ(at_once.calls, 0);
}

TEST(in_place_calls, with_workspace_are_for_four_blocks_at_most) {
  calling_at_once c;
  c.operands.resize(5, c.operands[0]);
  EXPECT_EQ(error_of([&] { c.run(table_form); }).message(),
            "an operation with workspace runs in place on four blocks at most");
  c.operands.resize(4);
  c.run(table_form);
  EXPECT_EQ(at_once.calls, 1);
}

TEST(in_place_calls, what_an_operation_throws_reaches_the_caller) {
  calling_at_once c;
  const operation::definition refuses{
      .name = "refuses", .host = [](const operation::context&) { throw error(error_kind::task, "not today"); }};
  EXPECT_EQ(error_of([&] { c.run(refuses); }).message(), "not today");
}

TEST(in_place_calls, are_sent_nowhere_where_there_are_no_devices) {
  calling_at_once c;
  EXPECT_FALSE(c.is.choose_device({}).has_value());
  EXPECT_EQ(c.threads.size(), 0u) << "the calling thread needs no context for that";
}

TEST(operand_of, has_the_address_of_the_host_where_there_is_one) {
  transfer::rig machine(std::vector<std::string>{});
  block::record& b = machine.make();
  double there = 0;
  const tsr_address elsewhere{reinterpret_cast<tsr_memory*>(&machine), 40};
  const block::access use = transfer::rig::use(b, intent::update);
  const operation::operand host = operand_of(use, elsewhere, &there), device = operand_of(use, elsewhere, nullptr);
  EXPECT_EQ(host.host, &there);
  EXPECT_EQ(host.address.memory, nullptr);
  EXPECT_EQ(host.address.offset, reinterpret_cast<std::uintptr_t>(&there));
  EXPECT_EQ(device.host, nullptr);
  EXPECT_EQ(device.address.memory, elsewhere.memory);
  EXPECT_EQ(device.address.offset, 40u);
  for (const operation::operand& o : {host, device}) {
    EXPECT_EQ(o.type, b.type);
    EXPECT_EQ(o.intent, intent::update);
    EXPECT_EQ(o.bytes, b.bytes);
    EXPECT_EQ(o.extents, b.extents);
  }
  machine.end();
}

TEST(operation_table, has_a_row_for_what_ran_where_and_none_for_the_rest) {
  operation::catalog catalog;
  const auto nothing = [](const operation::context&) {};
  const operation::definition &a = catalog.add({.name = "a", .host = nothing}),
                              &b = catalog.add({.name = "b", .host = nothing}),
                              &own = catalog.add({.name = "own", .special = [](void*) {}});
  (void)catalog.add({.name = "never", .host = nothing});
  std::vector<std::unique_ptr<placement::place>> places;
  for (const std::uint32_t k : {0u, 1u}) {
    places.push_back(std::make_unique<placement::place>());
    places[k]->number = k;
    places[k]->name = k == 0 ? "cpu" : "gpu";
  }
  thread_table threads;
  for (const std::uint32_t place : {0u, 0u, 1u}) {
    thread_context& one = threads.publish(threads.make());
    one.place = place;
    for (const operation::definition* const what : {&a, &own}) {
      operation_counters::add(one.counters.of(what->number).tasks, 2);
      operation_counters::add(one.counters.of(what->number).nanoseconds, 10);
    }
  }
  operation_counters::add(threads[2].counters.of(b.number).tasks, 1);
  const std::vector<operation_statistics> rows = operation_table(catalog, places, threads);
  ASSERT_EQ(rows.size(), 3u) << "neither the runtime's own tasks nor what never ran";
  const auto is = [&](std::size_t row, const char* name, const char* place, std::uint64_t tasks, std::uint64_t ns) {
    EXPECT_EQ(rows[row].operation, name);
    EXPECT_EQ(rows[row].place, place);
    EXPECT_EQ(rows[row].tasks, tasks);
    EXPECT_EQ(rows[row].nanoseconds, ns);
  };
  is(0, "a", "cpu", 4, 20);
  is(1, "a", "gpu", 2, 10);
  is(2, "b", "gpu", 1, 0);
}

}  // namespace
}  // namespace tessera::schedule
