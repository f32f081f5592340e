// The README's table of planted faults is that of the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "tests/conformance/faults/planted.hpp"
#include "tests/conformance/faults/requests.hpp"

namespace tessera::conformance {
namespace {

/// The faults as README.md lists them.
std::string table() {
  std::string text = "| a plugin that | is planted as | is found by |\n|---|---|---|\n";
  const auto add = [&](std::span<const fault> some, const char* where) {
    for (const fault& one : some)
      text += "| " + std::string(one.wrong) + " | `" + where + one.planted + "` | `" + one.check + "` |\n";
  };
  add(of_kinds, "");
  add(of_devices, "");
  add(of_streams, "careless: ");
  add(of_calls, "careless: ");
  add(of_limits, "boastful: ");
  return text;
}

TEST(readme, lists_the_planted_faults) {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/conformance/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find("\n\n" + table()), std::string::npos) << "the table of README.md is to be:\n\n" << table();
}

TEST(readme, lists_faults_of_checks_that_there_are) {
  const auto all = names();
  for (const auto& some :
       {std::span<const fault>(of_kinds), std::span<const fault>(of_devices), std::span<const fault>(of_streams),
        std::span<const fault>(of_calls), std::span<const fault>(of_limits)})
    for (const fault& one : some) EXPECT_THAT(all, ::testing::Contains(one.check));
}

}  // namespace
}  // namespace tessera::conformance
