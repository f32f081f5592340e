// Plugins that cannot be used: refused with the reason, by every command, and shown by `tessera plugins`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using plugin_test::built;
using plugin_test::folder;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// The outcome and reason that `tessera plugins --plugin-path` gives for a file.
std::pair<std::string, std::string> listed(const fs::path& file) {
  const outcome done =
      run({"plugins", "--plugin-path", TESSERA_PLUGIN_DIR, "--plugin-path", file.parent_path(), "--json", "-"});
  EXPECT_EQ(done.code, 0) << done.err;
  const auto json = json_of(done.out);
  for (const auto& one : json.at("files"))
    if (one.at("path") == file.string()) return {one.at("outcome"), one.at("reason")};
  return {"not listed", ""};
}

struct wrong_plugin {
  std::string name;
  std::vector<std::string> parts;
};
void PrintTo(const wrong_plugin& p, std::ostream* out) { *out << p.name; }

class bad_plugin : public testing::TestWithParam<wrong_plugin> {};

TEST_P(bad_plugin, is_refused_with_the_reason) {
  const folder place;
  const fs::path file = place.take(GetParam().name);
  const std::string path_setting =
      std::string("runtime.plugin_path=[\"") + TESSERA_PLUGIN_DIR + "\", \"" + place.path().string() + "\"]";
  const outcome done = run(
      {"gemm", "--n", "10", "--set", "runtime.plugins=[\"host\", \"" + GetParam().name + "\"]", "--set", path_setting});
  EXPECT_EQ(done.code, 5) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("error: "));
  EXPECT_THAT(done.err, HasSubstr(file.string()));
  EXPECT_THAT(done.err, HasSubstr("hint"));
  for (const std::string& part : GetParam().parts) EXPECT_THAT(done.err, HasSubstr(part));

  const auto [outcome_word, reason] = listed(file);
  EXPECT_EQ(outcome_word, "refused");
  EXPECT_THAT(reason, HasSubstr(GetParam().parts.front()));

  const outcome checked = run({"plugins", "check", file});
  EXPECT_EQ(checked.code, 5);
  EXPECT_THAT(checked.out, HasSubstr(GetParam().parts.front()));
  EXPECT_THAT(checked.out, HasSubstr("1 failed"));
}

INSTANTIATE_TEST_SUITE_P(plugins, bad_plugin,
                         testing::Values(wrong_plugin{"undefined_symbol",
                                                      {"mini_symbol_that_nobody_defines", "-Wl,-z,defs"}},
                                         wrong_plugin{"major", {"ABI ", "this program offers"}},
                                         wrong_plugin{"kind", {"kind 77", "1 device"}},
                                         wrong_plugin{"no_query", {"does not export tsr_plugin_query"}},
                                         wrong_plugin{"null_header", {"cannot serve this version"}}),
                         [](const auto& test) { return test.param.name; });

TEST(bad_plugins, a_fault_that_shows_when_it_is_opened) {
  const folder place;
  const fs::path file = place.take("missing_entry");
  const outcome done = run({"topology", "--set", "runtime.plugins=[\"host\", \"" + file.string() + "\"]"});
  EXPECT_EQ(done.code, 5);
  EXPECT_THAT(done.err, HasSubstr("\"copy\""));
  EXPECT_THAT(done.err, HasSubstr("struct_size"));
  const outcome list = run({"plugins", "--set", "runtime.plugins=[\"host\", \"" + file.string() + "\"]"});
  EXPECT_EQ(list.code, 5);
  EXPECT_THAT(list.out, HasSubstr("refused      " + file.string()));
  EXPECT_THAT(list.out, HasSubstr("opened"));
}

TEST(bad_plugins, writable_by_everybody) {
  const folder place;
  const fs::path file = place.take("mini");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(listed(file).first, "refused");
  EXPECT_THAT(listed(file).second, HasSubstr("writable by everybody"));
  const outcome by_file = run({"topology", "--set", "runtime.plugins=[\"host\", \"" + file.string() + "\"]"});
  EXPECT_EQ(by_file.code, 5) << by_file.err;
  EXPECT_THAT(by_file.err, HasSubstr("chmod o-w"));

  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(listed(file).first, "not wanted");
  fs::permissions(place.path(), fs::perms::others_write, fs::perm_options::add);
  const outcome by_folder = run({"topology", "--set", "runtime.plugins=[\"host\", \"" + file.string() + "\"]"});
  EXPECT_EQ(by_folder.code, 5) << by_folder.err;
  EXPECT_THAT(by_folder.err, HasSubstr("directory " + place.path().string()));
  EXPECT_EQ(listed(file).first, "refused");
}

TEST(bad_plugins, a_file_that_is_no_library) {
  const folder place;
  const fs::path text = place.write("tessera_text.so", "hello");
  EXPECT_EQ(listed(text).first, "refused");
  EXPECT_THAT(listed(text).second, HasSubstr("no ELF header"));
  const fs::path half = place.take("mini", "tessera_half.so");
  fs::resize_file(half, 6000);  // within the loaded segments, also when there is debugging information behind them
  EXPECT_EQ(listed(half).first, "refused");
}

TEST(bad_plugins, unknown_names) {
  const outcome wanted = run({"topology", "--set", "runtime.plugins=[\"host\", \"sin\"]"});
  EXPECT_EQ(wanted.code, 5);
  EXPECT_THAT(wanted.err, HasSubstr("there is no plugin \"sin\""));
  EXPECT_THAT(wanted.err, HasSubstr("did you mean \"sim\"?"));
  const outcome relative = run({"topology", "--set", "runtime.plugins=[\"host\", \"./tessera_sim.so\"]"});
  EXPECT_EQ(relative.code, 5);
  EXPECT_THAT(relative.err, HasSubstr("a file is named by its absolute path"));
  const outcome explained = run({"plugins", "explain", "hots"});
  EXPECT_EQ(explained.code, 5);
  EXPECT_THAT(explained.err, HasSubstr("did you mean \"host\"?"));
  EXPECT_EQ(run({"plugins", "explain", "./no_such.so"}).code, 5);
  EXPECT_EQ(run({"topology", "--set", "runtime.plugins=[\"host\", \"nothing_like_it?\"]"}).code, 0)
      << "the ? makes it optional";
}

TEST(bad_plugins, the_list_comes_before_the_error) {
  const outcome done = run({"plugins", "--set", "runtime.plugins=[\"host\", \"cuta\"]"});
  EXPECT_EQ(done.code, 5);
  EXPECT_THAT(done.out, HasSubstr("host:"));
  EXPECT_THAT(done.out, HasSubstr("tessera_sim.so"));
  EXPECT_THAT(done.err, HasSubstr("there is no plugin \"cuta\""));
}

TEST(bad_plugins, directories) {
  const outcome missing = run({"plugins", "--plugin-path", "/no/such/folder", "--set", "runtime.plugins=[]"});
  EXPECT_THAT(missing.out, HasSubstr("/no/such/folder: no such directory"));
  const outcome relative = run({"topology", "--set", "runtime.plugin_path=[\"plugins\"]"});
  EXPECT_EQ(relative.code, 3) << relative.err;
  EXPECT_THAT(relative.err, HasSubstr("plugin_path"));
}

TEST(bad_plugins, of_which_there_are_two_files) {
  const folder first, second;
  const fs::path used = first.take("mini"), other = second.take("mini", "tessera_another.so");
  for (const char* wanted : {R"(["host"])", R"(["host", "mini"])"}) {
    const std::vector<std::string> words{"plugins",       "--plugin-path", TESSERA_PLUGIN_DIR,
                                         "--plugin-path", first.path(),    "--plugin-path",
                                         second.path(),   "--set",         std::string("runtime.plugins=") + wanted};
    EXPECT_THAT(run(words).out, HasSubstr("shadowed     " + other.string() + ": shadowed by " + used.string()));
    auto with_json = words;
    with_json.insert(with_json.end(), {"--json", "-"});
    const auto json = json_of(run(with_json).out);
    std::size_t found = 0;
    for (const auto& one : json.at("files")) {
      if (one.at("path") == used.string()) {
        EXPECT_TRUE(one.at("instead").is_null());
      }
      if (one.at("path") != other.string()) continue;
      ++found;
      EXPECT_EQ(one.at("outcome"), "shadowed");
      EXPECT_EQ(one.at("name"), "mini");
      EXPECT_EQ(one.at("instead"), used.string());
    }
    EXPECT_EQ(found, 1u);
  }
}

TEST(plugins_check, of_a_plugin_that_cannot_be_opened_gives_the_reason_once) {
  const folder place;
  const outcome done = run({"plugins", "check", place.take("device_open_fails")});
  EXPECT_EQ(done.code, 5);
  const std::size_t first = done.out.find("the cable is not plugged in");
  ASSERT_NE(first, std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("the cable is not plugged in", first + 1), std::string::npos) << done.out;
  EXPECT_THAT(done.out, HasSubstr("manners.openings_leave_no_memory: the plugin cannot be opened"));
  EXPECT_THAT(done.out, HasSubstr("1 failed"));
}

TEST(bad_plugins, the_suite_finds_a_broken_promise) {
  const outcome done = run({"plugins", "check", built("fault_axpy"), "--json", "-"});
  EXPECT_EQ(done.code, 5);
  EXPECT_THAT(done.err, HasSubstr("failed "));
  EXPECT_GE(json_of(done.out).at("failed"), 1);
  EXPECT_EQ(run({"plugins", "check", "/no/such.so"}).code, 5);
}

TEST(bad_plugins, a_table_with_a_hole_fails_the_checks_and_does_not_crash_them) {
  const outcome done = run({"plugins", "check", built("missing_entry")});
  EXPECT_EQ(done.code, 5);
  EXPECT_THAT(done.out, HasSubstr("the mandatory entry \"copy\" of the plugin's tsr_device_table is missing"));
}

TEST(bad_plugins, a_wrong_checksum) {
  const outcome done = run({"topology", "--set", "checksums.host=" + std::string(64, '0')});
  EXPECT_EQ(done.code, 5) << done.err;
  EXPECT_THAT(done.err, HasSubstr("tessera_host.so"));
}

TEST(hanging_plugins, end_a_command_that_wants_them) {
  const outcome opening =
      run({"topology", "--set", "runtime.plugins=[\"host\", \"" + built("device_open_hangs") + "\"]", "--set",
           "runtime.plugin_patience=300 ms"});
  EXPECT_EQ(opening.code, 5) << opening.err;
  EXPECT_THAT(opening.err, HasSubstr("device_open has not returned for 0.3 s"));
  EXPECT_THAT(opening.err, HasSubstr("tessera_device_open_hangs.so"));
  EXPECT_THAT(opening.err, HasSubstr("take it out of runtime.plugins"));
  const outcome probing = run({"topology", "--set", "runtime.plugins=[\"host\", \"" + built("probe_hangs") + "\"]",
                               "--set", "runtime.plugin_patience=300 ms"});
  EXPECT_EQ(probing.code, 5) << probing.err;
  EXPECT_THAT(probing.err, HasSubstr("probe has not returned for 0.3 s"));
}

TEST(hanging_plugins, that_nobody_wants_are_listed_and_harm_nothing) {
  const folder place;
  const fs::path file = place.take("probe_hangs");
  const auto [outcome_of_it, reason] = listed(file);
  EXPECT_EQ(outcome_of_it, "hangs");
  EXPECT_THAT(reason, HasSubstr("has not answered within 5 s"));
  const outcome unwanted =
      run({"topology", "--set",
           std::string("runtime.plugin_path=[\"") + TESSERA_PLUGIN_DIR + "\", \"" + place.path().string() + "\"]"});
  EXPECT_EQ(unwanted.code, 0) << unwanted.err;
}

TEST(plugins_check, ends_and_names_the_check_when_a_plugin_does_not_come_back) {
  const folder place;
  const fs::path json = place.path() / "results.json";
  const outcome hangs = run({"plugins", "check", built("fault_hang"), "--only", "memory.base_is_what_copies_write",
                             "--time-limit", "1", "--json", json});
  EXPECT_EQ(hangs.code, 5) << hangs.err;
  EXPECT_THAT(hangs.out, HasSubstr("failed         ordering.signals_wait_for_work")) << "which comes first";
  EXPECT_THAT(hangs.out, HasSubstr("has not ended within 1 s: mem_free has not returned for"));
  EXPECT_THAT(hangs.out, HasSubstr("0 passed, 1 failed, 0 skipped, 0 known failures, 1 not run"));
  const auto written = json_of(contents(json));
  EXPECT_EQ(written.at("results").at(0).at("name"), "ordering.signals_wait_for_work");
  EXPECT_EQ(written.at("results").at(0).at("outcome"), "failed");
  EXPECT_EQ(written.at("results").at(1).at("name"), "memory.base_is_what_copies_write");
  EXPECT_EQ(written.at("results").at(1).at("outcome"), "not run");
}

TEST(plugins_check, says_which_checks_did_not_run) {
  const outcome hangs =
      run({"plugins", "check", built("fault_hang"), "--filter", "memory.", "--time-limit", "1", "--json", "-"});
  EXPECT_EQ(hangs.code, 5) << hangs.err;
  EXPECT_THAT(hangs.err, HasSubstr("9 checks, memory.spaces_are_described to memory.mapping_shows_the_contents: "
                                   "ordering.signals_wait_for_work did not end\n"));
  EXPECT_THAT(hangs.err, HasSubstr("9 not run"));
  const auto json = json_of(hangs.out);
  EXPECT_EQ(json.at("not_run"), 9);
  EXPECT_EQ(json.at("results").back().at("name"), "memory.mapping_shows_the_contents");
  EXPECT_EQ(json.at("results").back().at("outcome"), "not run");
  const outcome relies = run({"plugins", "check", built("fault_timeline"), "--filter", "copies."});
  EXPECT_EQ(relies.code, 5) << relies.err;
  EXPECT_THAT(relies.out, HasSubstr("it relies on ordering.timelines_increase, which fails\n"));
  EXPECT_THAT(relies.out, HasSubstr("0 passed, 1 failed, 0 skipped, 0 known failures, 4 not run"));
}

TEST(plugins_check, fails_when_a_plugin_ends_the_thread_that_calls_it) {
  const outcome done = run({"plugins", "check", built("fault_exit_thread"), "--filter", "memory.", "--json", "-"});
  EXPECT_EQ(done.code, 5) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the plugin ends the thread that calls it"));
  const auto json = json_of(done.out);
  EXPECT_EQ(json.at("failed"), 1);
  EXPECT_EQ(json.at("results").front().at("outcome"), "failed");
  EXPECT_EQ(json.at("results").back().at("outcome"), "not run");
}

TEST(plugins_check, names_the_check_when_a_plugin_takes_the_process_with_it) {
  for (const char* how : {"crash", "abort"}) {
    const outcome done = run({"plugins", "check", built(std::string("fault_") + how), "--filter", "memory."});
    EXPECT_NE(done.code, 0) << how;
    EXPECT_THAT(done.err, HasSubstr("the check ordering.signals_wait_for_work")) << how;
    EXPECT_THAT(done.err, HasSubstr("meanwhile the suite was calling mem_free")) << how;
    EXPECT_THAT(done.err, HasSubstr(how == std::string("abort") ? "ended the process" : "crashed the process"));
  }
}

TEST(plugins_check, runs_one_check_and_lists_all) {
  const outcome one = run({"plugins", "check", built("mini"), "--only", "copies.every_pair", "--json", "-"});
  EXPECT_EQ(one.code, 0) << one.err;
  const auto results = json_of(one.out).at("results");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results.at(0).at("name"), "copies.every_pair");
  const outcome unknown = run({"plugins", "check", built("mini"), "--only", "copies.every_pear"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'copies.every_pair'?"));
  const outcome list = run({"plugins", "check", "--list"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("copies.every_pair\n"));
  EXPECT_THAT(json_of(run({"plugins", "check", "--list", "--json", "-"}).out).at("checks"),
              testing::Contains("copies.every_pair"));
  EXPECT_EQ(run({"plugins", "check"}).code, 2) << "no plugin";
}

TEST(plugins_check, judges_plugins_of_every_kind) {
  for (const char* name : {"operations", "policy"}) {
    const outcome done = run({"plugins", "check", built(name), "--json", "-"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.err, testing::AllOf(HasSubstr(std::string(name) + "."), testing::Not(HasSubstr("copies."))));
  }
  const outcome named = run(
      {"plugins", "check", built("operations"), "--arguments", "test.scale=000000000000f83f", "--filter", "threads"});
  EXPECT_EQ(named.code, 0) << named.out;
  EXPECT_THAT(named.out, HasSubstr("1 passed"));
  const outcome layer =
      run({"plugins", "check", built("layer"), "--inner", "mini", "--inner-option", "count=2", "--filter", "memory."});
  EXPECT_EQ(layer.code, 0) << layer.out << layer.err;
  EXPECT_THAT(layer.out, HasSubstr("memory.capacity_is_there"));
}

TEST(plugins_check, loses_a_device_as_it_is_told) {
  const outcome done =
      run({"plugins", "check", built("mini"), "--layer", TESSERA_PLUGIN_DIR "/tessera_fault.so", "--filter", "loss.",
           "--lose-with", "inject[0].kind=lost", "--lose-with", "inject[0].every=40", "--json", "-"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_GE(json_of(done.out).at("passed"), 3);
}

}  // namespace
