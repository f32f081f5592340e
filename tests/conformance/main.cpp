// The conformance suite as GoogleTests: conformance --plugin PATH [--option name=value]... [--layer PATH] [--inner
// PATH]
// [--lose-with name=value]... [--known-failures FILE] [--seed N] and GoogleTest's own options. Runs the same checks as
// `tessera plugins check`.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/suite/conformance.hpp"

namespace {

using namespace tessera::conformance;

class one_check : public testing::Test {
 public:
  one_check(request what, std::string name) : m_what(std::move(what)) { m_what.only = std::move(name); }
  void TestBody() override {
    static bool stands = false;  // what others rely on has passed, and is not tried again for each check
    m_what.foundations_first = !stands;
    const report done = run(m_what);
    stands = stands || done.foundations_stand;
    bool ran = false;
    for (const result& one : done.results) {
      ran = true;
      if (one.how == outcome::failed) ADD_FAILURE() << one.message << "\nseed " << done.seed;
      if (one.how == outcome::skipped || one.how == outcome::known_failure) GTEST_SKIP() << one.message;
    }
    ASSERT_TRUE(ran) << "the check did not run";
  }

 private:
  request m_what;
};

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--second-process") return run_second_process(arguments[2]);
  testing::InitGoogleTest(&count, arguments);
  request what;
  what.second_process = {std::filesystem::read_symlink("/proc/self/exe").string(), "--second-process"};
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string key = arguments[i], value = arguments[i + 1];
    const auto middle = value.find('=');
    const auto option = [&] {
      return tessera::plugin::raw_option{value.substr(0, middle), value.substr(middle + 1), "command line"};
    };
    if (key == "--plugin") {
      what.plugin = std::filesystem::absolute(value);
    } else if (key == "--option" && middle != std::string::npos) {
      what.options.push_back(option());
    } else if (key == "--lose-with" && middle != std::string::npos) {
      what.lose_with.push_back(option());
    } else if (key == "--inner") {
      what.inner = std::filesystem::absolute(value);
    } else if (key == "--layer") {
      what.layer = std::filesystem::absolute(value);
    } else if (key == "--known-failures") {
      what.known_failures = value;
    } else if (key == "--seed") {
      what.seed = std::stoull(value);
    } else {
      std::fprintf(stderr, "unknown argument %s\n", arguments[i]);
      return 2;
    }
  }
  if (what.plugin.empty()) {
    std::fprintf(stderr,
                 "usage: conformance --plugin PATH [--option name=value]... [--layer PATH] [--inner PATH] [--lose-with "
                 "name=value]...\n"
                 "                   [--known-failures FILE] [--seed N]\n");
    return 2;
  }
  for (const std::string& name : names(what)) {
    const auto dot = name.find('.');
    testing::RegisterTest(
        name.substr(0, dot).c_str(), name.substr(dot + 1).c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [what, name]() -> testing::Test* { return std::make_unique<one_check>(what, name).release(); });
  }
  return RUN_ALL_TESTS();
}
