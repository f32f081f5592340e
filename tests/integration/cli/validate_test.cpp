// --validate of the commands that run jobs, and what a session does with findings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/common/session.hpp"
#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

TEST(validate, right_commands_have_no_finding) {
  for (const char* config : {"configs/host.toml", "configs/sim_one.toml", "configs/sim_two.toml"}) {
    const outcome factor = run({"cholesky", "--n", "200", "--tile", "64", "--validate", "--config", source(config), "--json", "-"});
    EXPECT_EQ(factor.code, 0) << config << "\n" << factor.err;
    EXPECT_EQ(json_of(factor.out).at("validation"), nlohmann::json::array()) << config;
    const outcome product = run({"gemm", "--n", "150", "--tile", "64", "--set", "runtime.validate=true", "--config", source(config)});
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
    s.rt().submit("liar", [](tessera::view<const double> x) { const_cast<double&>(x[0]) = 2; }, tessera::read(a(0))); first = __LINE__;
    s.rt().submit("lazy", [](tessera::view<double>) {}, tessera::write(a(1))); second = __LINE__;
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
