// Nothing that a command reads is written over, wherever it is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/cli/program.hpp"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class inputs_stay : public testing::Test {
 protected:
  inputs_stay() {
    fs::remove_all(m_folder);
    fs::create_directories(m_folder);
  }
  ~inputs_stay() override { fs::remove_all(m_folder); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = m_folder / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string in(const std::string& name) const { return m_folder / name; }

  /// The command is refused because of this option, and the file is as it was.
  static void expect_kept(const std::string& input, const std::vector<std::string>& words, const char* option,
                          const std::vector<std::string>& environment = {}) {
    const std::string before = contents(input);
    const outcome done = run(words, environment);
    EXPECT_EQ(done.code, 2) << testing::PrintToString(words) << done.err;
    EXPECT_THAT(done.err, testing::AllOf(HasSubstr(option), HasSubstr("would write over"), HasSubstr(input)));
    EXPECT_EQ(contents(input), before) << testing::PrintToString(words);
  }

 private:
  fs::path m_folder = fs::path(testing::TempDir()) / "tessera_inputs_stay_test";
};

TEST_F(inputs_stay, that_are_arguments) {
  const std::string first = in("first.json"), second = in("second.json");
  for (const std::string& trace : {first, second})
    ASSERT_EQ(run({"gemm", "--n", "8", "--quiet", "--trace", trace}).code, 0);
  for (const std::string& one : {first, second})
    expect_kept(one, {"trace", "compare", first, second, "--json", one}, "--json");
  const std::string plugin = in("tessera_sim.so");
  fs::copy_file(TESSERA_PLUGIN_DIR "/tessera_sim.so", plugin);
  expect_kept(plugin, {"plugins", "check", plugin, "--json", plugin}, "--json");
  expect_kept(plugin, {"plugins", "explain", plugin, "--json", plugin}, "--json");
}

TEST_F(inputs_stay, that_stand_behind_two_dashes) {
  const std::string numbers = file("numbers.txt", "1\n");
  expect_kept(numbers, {"study", "percentage", "--app", "hotspot", "--html", numbers, "--", "--powers", numbers},
              "--html");
  expect_kept(numbers, {"topology", "--json", numbers, "--", "hotspot", "--powers=" + numbers}, "--json");
}

TEST_F(inputs_stay, of_the_environment) {
  const std::string machine = file("machine.toml", "[runtime]\nworkers = 1\n");
  expect_kept(machine, {"gemm", "--n", "8", "--quiet", "--json", machine}, "--json", {"TESSERA_CONFIG=" + machine});
  expect_kept(machine, {"config", "explain", "--json", machine}, "--json", {"TESSERA_CONFIG=" + machine});
}

TEST_F(inputs_stay, that_the_configuration_names) {
  const std::string learnt = in("learnt.json");
  const std::vector<std::string> learning{
      "gemm", "--n", "8", "--quiet", "--set", "runtime.placement=cost", "--set", "runtime.history=" + learnt};
  ASSERT_EQ(run(learning).code, 0);
  std::ofstream(learnt, std::ios::app);  // there, also where nothing was learnt
  std::vector<std::string> over = learning;
  over.insert(over.end(), {"--json", learnt});
  expect_kept(learnt, over, "--json");
  const std::string configured = file("history.toml", "[runtime]\nhistory = \"learnt.json\"\n");
  expect_kept(learnt, {"gemm", "--n", "8", "--config", configured, "--trace", learnt}, "--trace");
  fs::create_directories(in("cache/tessera"));
  const std::string kept = file("cache/tessera/history-0123456789abcdef.json", "{}");
  expect_kept(kept, {"gemm", "--n", "8", "--json", kept}, "--json", {"XDG_CACHE_HOME=" + in("cache")});
}

TEST_F(inputs_stay, that_a_program_imports) {
  const std::string imported = file("imported.sialx", "sial imported\nint unused\nendsial imported\n"),
                    program = file("program.sialx", "import \"imported.sialx\"\nsial program\nendsial program\n");
  for (const char* command : {"run", "check", "list"})
    expect_kept(imported, {"sial", command, program, "--json", imported}, "--json");
  expect_kept(imported, {"sial", "run", program, "--dump-final", imported}, "--dump-final");
}

}  // namespace
}  // namespace cli_test
