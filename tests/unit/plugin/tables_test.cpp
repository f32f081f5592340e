// Tables that plugins give: completed to what this build knows, and refused where something is missing.
#include "core/plugin/tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/plugin/layouts.hpp"
#include "core/plugin/search.hpp"
#include "tests/support/error_of.hpp"

namespace {

using namespace tessera;
using namespace tessera::plugin;
using test_support::error_of;
using testing::HasSubstr;

/// A struct as another build of the header may have it.
struct grown {
  std::uint32_t struct_size;
  std::uint32_t known;
  std::uint64_t newer;
};
struct shrunk {
  std::uint32_t struct_size;
  std::uint32_t known;
};

TEST(completed, has_zeros_where_the_plugin_knows_less_and_nothing_of_what_it_knows_more) {
  const shrunk old{sizeof(shrunk), 7};
  const grown here = completed(reinterpret_cast<const grown*>(&old));
  EXPECT_EQ(here.known, 7u);
  EXPECT_EQ(here.newer, 0u);
  EXPECT_EQ(here.struct_size, sizeof(grown));
  const grown newer{sizeof(grown), 8, 9};
  const shrunk there = completed(reinterpret_cast<const shrunk*>(&newer));
  EXPECT_EQ(there.known, 8u);
  EXPECT_EQ(there.struct_size, sizeof(shrunk));
  EXPECT_EQ(completed<grown>(nullptr).known, 0u);
}

TEST(completed_array, steps_as_the_plugin_has_built_it) {
  const grown newer[3]{{sizeof(grown), 1, 9}, {sizeof(grown), 2, 9}, {sizeof(grown), 3, 9}};
  const auto all = completed_array(reinterpret_cast<const shrunk*>(newer), 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].known, 2u);
  EXPECT_EQ(all[2].known, 3u);
  EXPECT_TRUE(completed_array<shrunk>(nullptr, 3).empty());
  const shrunk of_no_size[1]{{0, 1}};
  EXPECT_TRUE(completed_array(of_no_size, 1).empty()) << "it would step on the spot";
}

TEST(roomy, is_filled_by_a_plugin_that_writes_a_longer_struct) {
  roomy<shrunk> out;
  EXPECT_EQ(out.value.struct_size, sizeof(shrunk));
  const grown newer{sizeof(grown), 5, ~std::uint64_t{0}};
  std::memcpy(static_cast<void*>(&out), &newer, sizeof newer);
  EXPECT_EQ(out.value.known, 5u);
  EXPECT_GE(sizeof out.room, 256u);
}

tsr_plugin_table plugin_table() {
  tsr_plugin_table t{};
  t.struct_size = sizeof t;
  t.enumerate = [](tsr_plugin*, std::uint32_t, tsr_device_desc*, std::uint32_t*) { return tsr_status{TSR_OK}; };
  return t;
}

TEST(checked_table, is_refused_where_there_is_none) {
  const std::filesystem::path file = "/plugins/x.so";
  const std::vector<std::pair<std::string, std::function<void()>>> all{
      {"tsr_plugin_table", [&] { (void)checked_table(static_cast<const tsr_plugin_table*>(nullptr), file); }},
      {"tsr_device_table", [&] { (void)checked_table(static_cast<const tsr_device_table*>(nullptr), file); }},
      {"tsr_policy_table", [&] { (void)checked_table(static_cast<const tsr_policy_table*>(nullptr), file); }},
      {"tsr_layer_table", [&] { (void)checked_table(static_cast<const tsr_layer_table*>(nullptr), file); }},
      {"tsr_operations_table", [&] { (void)checked_operations(nullptr, file); }}};
  for (const auto& [name, check] : all) {
    const error e = error_of(check);
    EXPECT_EQ(e.kind(), error_kind::plugin);
    EXPECT_EQ(e.message(), "the plugin gives no " + name + " (a null pointer)");
    EXPECT_EQ(e.where(), file.string());
  }
}

TEST(checked_table, names_the_first_mandatory_entry_that_is_missing) {
  tsr_policy_table policy{};
  policy.struct_size = sizeof policy;
  EXPECT_EQ(error_of([&] { (void)checked_table(&policy, "/x.so"); }).message(),
            "the mandatory entry \"place\" of the plugin's tsr_policy_table is missing");
  tsr_device_table device{};
  device.struct_size = sizeof device;
  EXPECT_THAT(error_of([&] { (void)checked_table(&device, "/x.so"); }).message(), HasSubstr("entry \"spaces\""));
  device.spaces = [](tsr_device*, std::uint32_t, tsr_space_desc*) { return tsr_status{TSR_OK}; };
  EXPECT_THAT(error_of([&] { (void)checked_table(&device, "/x.so"); }).message(), HasSubstr("entry \"link\""));
  const tsr_plugin_table plugin = plugin_table();
  EXPECT_THAT(error_of([&] { (void)checked_table(&plugin, "/x.so"); }).message(), HasSubstr("entry \"device_open\""));
}

TEST(checked_table, an_entry_behind_the_size_that_the_plugin_gives_is_missing) {
  tsr_layer_table layer{};
  layer.wrap = decltype(layer.wrap)(0x10);  // never called
  layer.struct_size = offsetof(tsr_layer_table, wrap);
  EXPECT_THAT(error_of([&] { (void)checked_table(&layer, "/x.so"); }).message(), HasSubstr("entry \"wrap\""));
  layer.struct_size = sizeof layer;
  EXPECT_EQ(checked_table(&layer, "/x.so").wrap, layer.wrap);
}

/// Operations with one thing wrong.
struct some_operations {
  some_operations() {
    all[0].host = all[1].host = [](const tsr_host*, const tsr_block_view*, std::uint32_t, const void*, std::uint64_t) {
      return tsr_status{TSR_OK};
    };
    for (tsr_operation& one : all) one.struct_size = sizeof one;
    all[0].name = "x.first";
    all[1].name = "x.second";
    all[1].intents = intents;
    all[1].intent_count = 2;
    table.struct_size = sizeof table;
    table.operations = all;
    table.count = 2;
  }
  std::string refused() {
    return error_of([&] { (void)checked_operations(&table, "/x.so"); }).message();
  }
  tsr_intent intents[2]{TSR_READ, TSR_SCRATCH};
  tsr_operation all[2]{};
  tsr_operations_table table{};
};

TEST(checked_operations, are_those_of_the_table) {
  some_operations o;
  const auto all = checked_operations(&o.table, "/x.so");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_STREQ(all[1].name, "x.second");
  o.table.operations = nullptr;
  o.table.count = 0;
  EXPECT_TRUE(checked_operations(&o.table, "/x.so").empty()) << "none are allowed";
}

TEST(checked_operations, are_refused_where_one_lacks_something) {
  struct lack {
    std::function<void(some_operations&)> spoil;
    std::string message;
  };
  const std::vector<lack> all{
      {[](some_operations& o) { o.table.operations = nullptr; }, "entry \"operations\""},
      {[](some_operations& o) { o.all[0].struct_size = 0; }, "the first operation of the plugin has struct_size 0"},
      {[](some_operations& o) { o.all[1].name = nullptr; }, "entry \"name\" of the plugin's tsr_operation"},
      {[](some_operations& o) { o.all[0].host = nullptr; }, "entry \"host\" of the plugin's tsr_operation"},
      {[](some_operations& o) { o.all[1].intents = nullptr; }, "entry \"intents\" of the plugin's tsr_operation"},
      {[](some_operations& o) { o.intents[1] = TSR_SCRATCH + 1; }, "operation \"x.second\" has intent 5 for block 1"}};
  for (const lack& one : all) {
    some_operations o;
    one.spoil(o);
    EXPECT_THAT(o.refused(), HasSubstr(one.message));
  }
}

TEST(layouts, lie_within_their_structs_in_the_order_of_the_header) {
  const std::vector<struct_layout> all = struct_layouts();
  ASSERT_FALSE(all.empty());
  std::set<std::string_view> names;
  for (const struct_layout& s : all) {
    EXPECT_TRUE(names.insert(s.name).second) << s.name << " twice";
    EXPECT_EQ(s.bytes % s.alignment, 0u) << s.name;
    std::size_t end = 0;
    for (const field_layout& f : s.fields) {
      EXPECT_GE(f.offset, end) << s.name << "." << f.name;
      EXPECT_GE(f.since, s.since) << s.name << "." << f.name << " is older than its struct";
      EXPECT_FALSE(f.type.empty());
      end = f.offset + f.bytes;
    }
    EXPECT_LE(end, s.bytes) << s.name;
  }
}

TEST(layouts, spell_types_as_c_does) {
  const auto type_of = [](std::string_view in, std::string_view field) -> std::string {
    for (const struct_layout& s : struct_layouts())
      if (s.name == in)
        for (const field_layout& f : s.fields)
          if (f.name == field) return f.type;
    return "missing";
  };
  EXPECT_EQ(type_of("tsr_operation", "struct_size"), "uint32_t");
  EXPECT_EQ(type_of("tsr_operation", "name"), "const char*");
  EXPECT_EQ(type_of("tsr_operation", "intents"), "const uint32_t*") << "enumerations are integers";
  EXPECT_EQ(type_of("tsr_block_view", "extents"), "int64_t[8]");
  EXPECT_EQ(type_of("tsr_operation", "host"),
            "int32_t (*)(const tsr_host*, const tsr_block_view*, uint32_t, const void*, uint64_t)");
}

TEST(layouts, constants_have_their_values) {
  std::set<std::string_view> names;
  bool ok = false;
  for (const constant_value& c : constant_values()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " twice";
    ok = ok || (c.name == "TSR_OK" && c.value == 0);
  }
  EXPECT_TRUE(ok);
}

TEST(wish_of, knows_what_may_be_absent) {
  EXPECT_EQ(wish_of("cuda?").name, "cuda");
  EXPECT_TRUE(wish_of("cuda?").optional);
  EXPECT_EQ(wish_of("cuda").name, "cuda");
  EXPECT_FALSE(wish_of("cuda").optional);
  EXPECT_EQ(wish_of("/a/b.so?").name, "/a/b.so");
  EXPECT_EQ(wish_of("?").name, "");
}

}  // namespace
