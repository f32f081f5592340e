// The registry with sound plugins: search, names, devices, other kinds, layers.
#include "core/plugin/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/plugin/call_watch.hpp"
#include "core/plugin/explain.hpp"
#include "core/plugin/loaded_plugin.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace tessera;
using namespace tessera::plugin;
using namespace plugin_test;
using test_support::error_of;
using testing::HasSubstr;

TEST(registry, opens_a_device_and_completes_its_table) {
  const registry all({.directories = {}, .wanted = {built("mini")}});
  ASSERT_EQ(all.devices().size(), 1u);
  const device& mini = *all.devices().front();
  EXPECT_EQ(mini.name(), "mini0");
  EXPECT_EQ(mini.plugin_name(), "mini");
  EXPECT_EQ(mini.index(), 0u);
  ASSERT_EQ(mini.spaces().size(), 1u);
  EXPECT_EQ(mini.spaces()[0].name, "mini0:memory");
  EXPECT_EQ(mini.table().struct_size, sizeof(tsr_device_table));
  EXPECT_EQ(mini.table().host_task, nullptr);
  ASSERT_NE(mini.blas(), nullptr);
  EXPECT_NE(mini.blas()->axpy, nullptr);
  EXPECT_EQ(mini.blas()->gemm, nullptr);
  EXPECT_EQ(mini.tensor(), nullptr);
  ASSERT_EQ(all.plugins().size(), 1u);
  EXPECT_EQ(all.plugins()[0].kind, "device");
  EXPECT_EQ(all.plugins()[0].options.size(), 3u);
}

TEST(registry, hands_checked_options_to_open) {
  registry_options options{.directories = {}, .wanted = {built("mini")}};
  options.options = [](const std::string& plugin) {
    EXPECT_EQ(plugin, "mini");
    return std::vector<raw_option>{{"count", std::int64_t{3}, "t"}, {"device[2].memory", std::string("1 MiB"), "t"}};
  };
  const registry all(options);
  ASSERT_EQ(all.devices().size(), 3u);
  EXPECT_EQ(all.devices()[2]->name(), "mini2");
  EXPECT_EQ(all.devices()[2]->spaces()[0].description.bytes, 1u << 20);
  EXPECT_EQ(all.devices()[1]->spaces()[0].description.bytes, 16u << 20);
}

TEST(registry, wrong_options_are_configuration_errors_with_a_place) {
  registry_options options{.directories = {}, .wanted = {built("mini") + "?"}};
  options.options = [](const std::string&) {
    return std::vector<raw_option>{{"cuont", std::int64_t{3}, "a.toml:4:2"}};
  };
  try {
    const registry all(options);
    FAIL() << "an unknown option passed";
  } catch (const error& failure) {
    EXPECT_EQ(failure.kind(), error_kind::configuration);
    EXPECT_EQ(failure.where(), "a.toml:4:2");
    EXPECT_THAT(failure.hint(), HasSubstr("\"count\""));
  }
}

TEST(registry, two_registries_share_the_library) {
  for (int i = 0; i < 3; ++i) {
    const registry one({.directories = {}, .wanted = {built("mini")}});
    EXPECT_EQ(one.devices().size(), 1u);
  }
}

TEST(registry, failures_of_device_calls_carry_the_plugins_details) {
  const registry all({.directories = {}, .wanted = {built("mini")}});
  const device& mini = *all.devices().front();
  tsr_memory* memory = nullptr;
  try {
    mini.check(mini.table().mem_alloc(mini.handle(), 0, 1ull << 40, &memory), "allocation of 1 TiB");
    FAIL() << "a TiB was allocated";
  } catch (const error& failure) {
    EXPECT_EQ(failure.kind(), error_kind::memory);
    EXPECT_THAT(failure.message(), HasSubstr("allocation of 1 TiB"));
    EXPECT_THAT(failure.message(), HasSubstr("RESOURCE_EXHAUSTED"));
    EXPECT_THAT(failure.message(), HasSubstr("the device's memory is full"));
    EXPECT_THAT(failure.where(), HasSubstr("mini0"));
  }
  try {
    mini.check(mini.table().mem_free(mini.handle(), nullptr), "free");
    FAIL() << "a null allocation was freed";
  } catch (const error& failure) {
    EXPECT_EQ(failure.kind(), error_kind::device);
  }
}

TEST(registry, first_file_of_a_name_wins_and_others_are_reported) {
  const folder first, second;
  first.take("mini");
  second.take("mini");
  second.take("absent");
  second.write("notes.txt", "not looked at");
  const registry all({.directories = {first.path(), second.path(), "/no/such/directory"}, .wanted = {"mini"}});
  ASSERT_EQ(all.files().size(), 4u);
  EXPECT_EQ(all.files()[0].outcome, file_report::state::opened);
  EXPECT_EQ(all.files()[0].path, first.path() / "tessera_mini.so");
  EXPECT_EQ(all.files()[1].outcome, file_report::state::not_wanted);
  EXPECT_EQ(all.files()[1].name, "absent");
  EXPECT_EQ(all.files()[2].outcome, file_report::state::shadowed);
  EXPECT_EQ(all.files()[2].instead, first.path() / "tessera_mini.so");
  EXPECT_THAT(all.files()[2].reason, HasSubstr("shadowed by " + (first.path() / "tessera_mini.so").string()));
  EXPECT_EQ(all.files()[3].outcome, file_report::state::unavailable);
  EXPECT_THAT(all.files()[3].reason, HasSubstr("no such directory"));
}

TEST(registry, a_plugin_that_is_named_twice_is_an_error_also_by_two_files) {
  const folder first, second;
  first.take("mini");
  const std::string here = (first.path() / "tessera_mini.so").string(), other = second.take("mini", "libother.so");
  const auto refusal = [&](const std::vector<std::string>& wanted) {
    return error_of([&] { const registry all({.directories = {first.path()}, .wanted = wanted}); });
  };
  for (const std::vector<std::string>& wanted : {std::vector<std::string>{"mini", other}, {other, "mini"}}) {
    const error e = refusal(wanted);
    EXPECT_EQ(e.kind(), error_kind::configuration);
    EXPECT_THAT(e.message(), HasSubstr("has the plugin \"mini\" twice"));
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr(here), HasSubstr(other)));
  }
  EXPECT_THAT(refusal({"mini", here}).hint(), testing::StrEq("leave one of them out"));
}

TEST(registry, the_headers_name_decides_not_the_files) {
  const folder place;
  place.take("mini", "libsomething.so");
  const registry all({.directories = {place.path()}, .wanted = {"mini"}});
  EXPECT_EQ(all.plugins()[0].path, place.path() / "libsomething.so");
  const folder liar;
  liar.take("mini", "tessera_other.so");
  const registry again({.directories = {liar.path()}, .wanted = {"mini"}});
  EXPECT_EQ(again.plugins()[0].name, "mini");
}

TEST(registry, unknown_name_lists_directories_and_the_nearest) {
  const folder place;
  place.take("mini");
  try {
    const registry all({.directories = {place.path()}, .wanted = {"mimi"}});
    FAIL() << "an unknown plugin was found";
  } catch (const error& failure) {
    EXPECT_EQ(failure.kind(), error_kind::plugin);
    EXPECT_THAT(failure.message(), HasSubstr("no plugin \"mimi\""));
    EXPECT_THAT(failure.where(), HasSubstr(place.path().string()));
    EXPECT_THAT(failure.hint(), HasSubstr("\"mini\""));
  }
  const registry without({.directories = {place.path()}, .wanted = {"mini", "mimi?"}});
  EXPECT_EQ(without.plugins().size(), 1u);
}

TEST(registry, survey_opens_nothing_and_throws_nothing) {
  const folder place;
  for (const char* name : {"mini", "absent", "undefined_symbol", "policy"}) place.take(name);
  place.write("broken.so", "text");
  const auto files = registry::survey({.directories = {place.path()}, .wanted = {"mini"}});
  ASSERT_EQ(files.size(), 5u);
  const auto of = [&](const std::string& name) -> const file_report& {
    for (const file_report& file : files)
      if (file.path.filename() == name) return file;
    return files.front();
  };
  EXPECT_EQ(of("tessera_mini.so").outcome, file_report::state::available);
  EXPECT_EQ(of("tessera_policy.so").outcome, file_report::state::not_wanted);
  EXPECT_EQ(of("tessera_absent.so").outcome, file_report::state::unavailable);
  EXPECT_THAT(of("tessera_absent.so").reason, HasSubstr("no driver of this device"));
  EXPECT_EQ(of("tessera_undefined_symbol.so").outcome, file_report::state::refused);
  EXPECT_EQ(of("broken.so").outcome, file_report::state::refused);
  EXPECT_EQ(registry::describe({.directories = {place.path()}, .wanted = {}}, "mini").options.size(), 3u);
}

TEST(registry, survey_leaves_a_probe_alone_that_does_not_answer) {
  const folder place;
  for (const char* name : {"mini", "probe_hangs"}) place.take(name);
  const registry_options options{
      .directories = {place.path()}, .wanted = {"mini"}, .probe_limit = std::chrono::milliseconds(100)};
  std::size_t hanging = 0;
  for (const file_report& file : registry::survey(options)) {
    const bool hangs = file.path.filename() == "tessera_probe_hangs.so";
    EXPECT_EQ(file.outcome, hangs ? file_report::state::hangs : file_report::state::available);
    if (!hangs) continue;
    ++hanging;
    EXPECT_THAT(file.reason, HasSubstr("its probe has not answered within 0.1 s"));
  }
  EXPECT_EQ(hanging, 1u);
  EXPECT_THAT(registry::describe(options, "probe_hangs").absent, HasSubstr("has not answered"));
  EXPECT_EQ(registry(options).devices().size(), 1u);  // nobody wants the other
}

TEST(call_watch, tells_and_gives_up_calls_that_do_not_return) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines, errors;
  when_given_up([&](const error& why) {
    const std::lock_guard guard(mutex);
    errors.push_back(why.what());
    changed.notify_all();
  });
  const std::filesystem::path plugin = "/somewhere/tessera_slow.so";
  {
    const call_watch watched(
        std::chrono::milliseconds(20),
        [&](int level, const std::string& line) {
          EXPECT_EQ(level, 2);
          const std::lock_guard guard(mutex);
          lines.push_back(line);
        },
        std::chrono::milliseconds(5));
    EXPECT_EQ(call_plugin(plugin, "quick", [] { return 7; }), 7);
    call_plugin(plugin, "device_open", [&] {
      return call_plugin(plugin, "inner", [&] {  // counts as the outer one
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(60), [&] { return !errors.empty(); });
      });
    });
    EXPECT_EQ(call_plugin(plugin, "quick", [] { return 8; }), 8);
  }
  when_given_up({});
  const std::lock_guard guard(mutex);
  const auto about_device_open = [](const std::string& text) {
    return text.find("device_open has not returned") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(lines, about_device_open), 1);
  ASSERT_EQ(std::ranges::count_if(errors, about_device_open), 1);
  EXPECT_THAT(errors.front(), HasSubstr(plugin.string()));
  EXPECT_EQ(call_plugin(plugin, "unwatched", [] { return 9; }), 9);
}

TEST(registry, describes_why_a_plugin_cannot_serve_this_machine) {
  const folder place;
  for (const char* name : {"mini", "absent"}) place.take(name);
  const registry_options options{.directories = {place.path()}, .wanted = {}};
  EXPECT_EQ(registry::describe(options, "mini").absent, "");
  EXPECT_EQ(explain(registry::describe(options, "mini")).find("cannot serve"), std::string::npos);
  EXPECT_THAT(explain(registry::describe(options, "absent")),
              HasSubstr("cannot serve this machine: no driver of this device"));
}

TEST(registry, operations_and_policies_keep_their_tables) {
  const registry all({.directories = {}, .wanted = {built("operations"), built("policy")}});
  ASSERT_EQ(all.operations_tables().size(), 1u);
  const tsr_operation& scale = all.operations_tables()[0].operations.at(0);
  EXPECT_STREQ(scale.name, "test.scale");
  EXPECT_EQ(scale.intents[0], std::uint32_t{TSR_UPDATE});
  double data[3] = {1, 2, 3};
  tsr_block_view view{sizeof(tsr_block_view), TSR_F64, 1, {3}, data};
  const double factor = 2;
  const tsr_host host{sizeof(tsr_host), 0, 2, nullptr, nullptr, nullptr, nullptr, 0};
  EXPECT_EQ(scale.host(&host, &view, 1, &factor, sizeof factor), TSR_OK);
  EXPECT_EQ(data[2], 6);

  ASSERT_EQ(all.policy_tables().size(), 1u);
  const tsr_candidate candidates[2] = {{0, 0, 2.0, 0, 0}, {1, 0, 1.0, 0, 0}};
  EXPECT_EQ(all.policy_tables()[0].table.place(all.policy_tables()[0].handle, "x", candidates, 2), 1u);
  EXPECT_TRUE(all.devices().empty());
}

TEST(registry, a_layer_wraps_the_plugin_it_is_told_to) {
  std::vector<std::string> lines;
  registry_options options{.directories = {test_plugins()}, .wanted = {"mini"}, .layers = {{"layer", "mini"}}};
  options.log = [&](int, const std::string& line) { lines.push_back(line); };
  {
    const registry all(options);
    ASSERT_EQ(all.devices().size(), 1u);
    ASSERT_EQ(all.plugins().size(), 2u);
    EXPECT_EQ(all.plugins()[0].kind, "layer");
    EXPECT_EQ(all.plugins()[1].vendor, "wrapped");
    EXPECT_THAT(lines, testing::Contains("opened through the layer"));
  }
  options.layers = {{"mini", "mini"}};
  EXPECT_THROW(registry{options}, error);
  EXPECT_THROW((registry{{.directories = {test_plugins()}, .wanted = {"layer"}}}), error);
}

TEST(registry, a_layer_that_cannot_wrap_a_plugin_tells_why) {
  try {
    const registry all(
        {.directories = {test_plugins()}, .wanted = {"operations"}, .layers = {{"layer", "operations"}}});
    FAIL() << "a layer for devices wraps operations";
  } catch (const error& failure) {
    EXPECT_THAT(
        failure.what(),
        testing::HasSubstr("layer \"layer\" cannot wrap plugin \"operations\": this layer wraps devices alone"));
  }
}

}  // namespace
