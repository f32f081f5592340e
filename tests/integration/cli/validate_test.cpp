// --validate of the commands that run jobs, and what a session does with findings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <array>
#include <map>

#include "apps/common/session.hpp"
#include "tests/integration/cli/program.hpp"
#include "tests/integration/validate/validating.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

/// The kinds of findings of a session that is configured in this way and makes a mistake on each place, with the tasks
/// that made them.
std::vector<std::string> found_in_mistakes(const char* config, const std::vector<std::string>& devices) {
  tessera::apps::command_options options;
  options.config = {source(config)};
  options.validate = options.quiet = true;
  testing::internal::CaptureStderr();
  std::vector<std::string> found;
  {
    tessera::apps::session s(options);
    tessera::runtime& rt = s.rt();
    auto a = rt.make_array<double>("A", {24}, {8});  // a block for each place
    for (int k = 0; k < 3; ++k) fill(rt, a(k), 1.0);
    rt.submit(
        "host", [](tessera::view<const double> x) { const_cast<double&>(x[0]) = 2; }, tessera::read(a(0)));
    int k = 1;
    for (const std::string& device : devices) {
      const auto& liar = rt.define(tessera::testing::fills_with_seven(device.c_str(), tessera::intent::read));
      const std::int64_t elements = 3;
      rt.submit_operation(liar, &elements, sizeof elements, std::array{tessera::block::access(tessera::read(a(k++)))},
                          {.at = rt.at(device)});
    }
    EXPECT_EQ(tessera::test_support::error_of([&] { rt.fence(); }).kind(), tessera::error_kind::validation) << config;
    for (const auto& f : rt.findings()) found.push_back(std::string(name_of(f.fault)) + ": " + f.here.description);
  }
  testing::internal::GetCapturedStderr();
  return found;
}

TEST(validate, right_commands_have_no_finding_where_mistakes_have) {
  const std::map<const char*, std::vector<std::string>> devices_of = {
      {"configs/host.toml", {}}, {"configs/sim_one.toml", {"sim0"}}, {"configs/sim_two.toml", {"sim0", "sim1"}}};
  for (const auto& [config, devices] : devices_of) {
    std::vector<std::string> expected = {"read block written: task 'host' submitted"};
    for (const std::string& device : devices) expected.push_back("read block written: task '" + device + "' submitted");
    EXPECT_THAT(found_in_mistakes(config, devices), testing::UnorderedElementsAreArray(expected)) << config;
    const outcome factor =
        run({"cholesky", "--n", "200", "--tile", "64", "--validate", "--config", source(config), "--json", "-"});
    EXPECT_EQ(factor.code, 0) << config << "\n" << factor.err;
    const auto figures = json_of(factor.out);
    EXPECT_EQ(figures.at("validation"), nlohmann::json::array()) << config;
    EXPECT_TRUE(figures.at("residual_ok").get<bool>()) << config;
    EXPECT_EQ(figures.at("statistics").at("failed_copies"), 0) << config;
    const outcome product =
        run({"gemm", "--n", "150", "--tile", "64", "--set", "runtime.validate=true", "--config", source(config)});
    EXPECT_EQ(product.code, 0) << config << "\n" << product.err;
    EXPECT_THAT(product.out, HasSubstr("validation   nothing found\n")) << config;
  }
  EXPECT_FALSE(json_of(run({"gemm", "--n", "100", "--json", "-"}).out).contains("validation"));
}

TEST(validate, a_value_that_is_none_is_refused) {
  const plugin_test::folder place;
  const std::string file = place.write("bad.toml", "[runtime]\nvalidate = \"maybe\"\n");
  const outcome wrong = run({"gemm", "--n", "100", "--config", file});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("runtime.validate"));
  EXPECT_THAT(wrong.err, HasSubstr("bad.toml:2:1"));
  EXPECT_EQ(run({"gemm", "--n", "100", "--validate=maybe"}).code, 2);
}

TEST(validate, findings_are_all_told_and_written_as_json) {
  const plugin_test::folder place;
  tessera::apps::command_options options;
  options.validate = options.quiet = true;
  options.json = (place.path() / "found.json").string();
  testing::internal::CaptureStderr();
  unsigned first = 0, second = 0;
  {
    tessera::apps::session s(options);
    auto a = s.rt().make_array<double>("A", {8}, {4});
    fill(s.rt(), a(0), 1.0);
    first = __LINE__ + 1;
    s.rt().submit(
        "liar", [](tessera::view<const double> x) { const_cast<double&>(x[0]) = 2; }, tessera::read(a(0)));
    second = __LINE__ + 1;
    s.rt().submit(
        "lazy", [](tessera::view<double>) {}, tessera::write(a(1)));
    try {
      s.rt().fence();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const tessera::error& e) {
      EXPECT_EQ(e.kind(), tessera::error_kind::validation);
      EXPECT_THAT(e.what(), HasSubstr("2 findings since the last fence"));
    }
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("validation: 2 findings\n1. "));
  const nlohmann::json all = nlohmann::json::parse(contents(options.json)).at("validation");
  ASSERT_EQ(all.size(), 2u);
  for (const auto& one : all) {
    EXPECT_THAT(told, HasSubstr(one.at("text").get<std::string>()));
    EXPECT_THAT(one.at("here").at("file").get<std::string>(), HasSubstr("validate_test.cpp"));
  }
  const bool in_order = all[0].at("here").at("line") == first;
  const auto &liar = all[in_order ? 0 : 1], &lazy = all[in_order ? 1 : 0];
  EXPECT_EQ(liar.at("kind"), "read block written");
  EXPECT_EQ(liar.at("here").at("line"), first);
  EXPECT_EQ(liar.at("here").at("use"), "A(0) read, version 1");
  EXPECT_EQ(liar.at("there").at("what"), "task 'fill' submitted");
  EXPECT_EQ(lazy.at("kind"), "elements never written");
  EXPECT_EQ(lazy.at("here").at("line"), second);
  EXPECT_TRUE(lazy.at("there").is_null());
}

}  // namespace
