// `tessera deepcopy`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

nlohmann::json numbers_of(std::vector<std::string> words) {
  words.insert(words.begin(), "deepcopy");
  words.insert(words.end(), {"--verify", "--repetitions", "2", "--n", "200", "--json", "-"});
  const outcome done = run(words);
  EXPECT_EQ(done.code, 0) << done.err;
  return json_of(done.out);
}

TEST(deepcopy_command, moves_between_two_memories_on_any_machine) {
  const auto chain = numbers_of({"--scheme", "chain", "--layout", "llinit-llused", "--k", "9"});
  EXPECT_EQ(chain["transfers_in"], 1);
  EXPECT_EQ(chain["bytes_in"], 1600);
  EXPECT_EQ(chain["bytes_back"], 1600);
  EXPECT_EQ(chain["nominal_bytes"], 24 * 9 + 1600);
  EXPECT_EQ(chain["repetitions"], 2);
  EXPECT_EQ(chain["wrong"], 0);
  const auto all = numbers_of({"--k", "9"});
  EXPECT_EQ(all["transfers_in"], 1);
  EXPECT_GE(all["bytes_in"], 9 * 1624);
  EXPECT_EQ(all["pointers"], 17);
  EXPECT_EQ(numbers_of({"--scheme", "shared"})["transfers_in"], 0);
  EXPECT_EQ(numbers_of({"--scheme", "block-by-block", "--k", "3"})["transfers_in"], 6);
}

TEST(deepcopy_command, of_the_tree_on_devices) {
  for (const std::string scheme : {"shared", "marshalling", "chain"}) {
    const auto seen =
        numbers_of({"--scenario", "dense", "--q", "2", "--scheme", scheme, "--config", source("configs/sim_one.toml")});
    EXPECT_EQ(seen["wrong"], 0);
    EXPECT_EQ(seen["destination"], "sim0");
    EXPECT_EQ(seen["scenario"], "dense");
  }
}

TEST(deepcopy_command, says_what_is_wrong_with_its_options) {
  const auto refused = [](std::vector<std::string> words, int code, const char* text) {
    words.insert(words.begin(), "deepcopy");
    const outcome done = run(words);
    EXPECT_EQ(done.code, code) << done.err;
    EXPECT_THAT(done.err, HasSubstr(text));
  };
  refused({"--scenario", "round"}, 2, "linear");
  refused({"--layout", "allinit"}, 2, "llinit-llused");
  refused({"--scheme", "pigeon"}, 2, "marshalling");
  refused({"--k", "0"}, 2, "--k");
  refused({"--n", "-5"}, 2, "--n");
  refused({"--q", "1000"}, 2, "--q");
  refused({"--repetitions", "x"}, 2, "--repetitions");
  refused({"--q", "3"}, 2, "'--q' is no option of --scenario linear");
  refused({"--scenario", "dense", "--k", "3"}, 2, "'--k' is no option of --scenario dense");
  refused({"--layout", "llinit-llused", "--scenario", "dense"}, 2, "a tree takes --q");
  refused({"--at", "nowhere"}, 2, "there is no location 'nowhere'\n  at: --at");
  refused({"--n", "1000000000", "--k", "10000"}, 7, "copies");
  refused({"--n", "10000000", "--k", "1", "--config", source("configs/cuda_emulated.toml")}, 7,
          "76.3 MiB, and the memory of 'cuda_emulated0'");
  refused({"--scheme", "block-by-block", "--n", "10", "--config", source("configs/sim_one.toml")}, 2,
          "has no addresses");
}

}  // namespace
