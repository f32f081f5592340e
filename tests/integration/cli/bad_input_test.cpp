// Wrong input of the user: the documented exit code, and a message that says what, where and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// Standard error has one error, with these parts; nothing looks like a result.
void expect_failure(const std::vector<std::string>& arguments, int code, const std::vector<std::string>& parts,
                    const std::vector<std::string>& environment = {}) {
  const outcome done = run(arguments, environment);
  EXPECT_EQ(done.code, code) << done.err;
  EXPECT_THAT(done.err, HasSubstr("error: "));
  for (const std::string& part : parts) EXPECT_THAT(done.err, HasSubstr(part));
  EXPECT_EQ(done.out, "");
}

struct wrong_config {
  std::string name, text;
  std::vector<std::string> parts;
};
void PrintTo(const wrong_config& c, std::ostream* out) { *out << c.name; }

class bad_config : public testing::TestWithParam<wrong_config> {};

TEST_P(bad_config, says_what_where_and_what_to_do) {
  const plugin_test::folder place;
  const std::string file = place.write("bad.toml", GetParam().text);
  expect_failure({"topology", "--config", file}, 3, GetParam().parts);
  expect_failure({"cholesky", "--n", "10", "--config", file}, 3, GetParam().parts);  // the same, whatever the command
}

INSTANTIATE_TEST_SUITE_P(
    texts, bad_config,
    testing::Values(
        wrong_config{"malformed", "[runtime\nworkers = 1\n", {"this is not TOML", "bad.toml:1:"}},
        wrong_config{
            "unknown_key", "[runtime]\n\n  worker = 1\n", {"'worker'", "bad.toml:3:3", "did you mean 'workers'?"}},
        wrong_config{
            "unknown_table", "[runtim]\nworkers = 1\n", {"'runtim'", "bad.toml:1:", "did you mean 'runtime'?"}},
        wrong_config{"wrong_type", "[runtime]\nworkers = \"many\"\n", {"runtime.workers", "bad.toml:2:1"}},
        wrong_config{"out_of_range", "[runtime]\nworkers = -1\n", {"runtime.workers", "bad.toml:2:1"}},
        wrong_config{"unknown_word", "[runtime]\nplacement = \"localty\"\n", {"localty", "bad.toml:2:1", "locality"}},
        wrong_config{"unknown_option_of_a_plugin",
                     "[runtime]\nplugins = [\"host\", \"sim\"]\n[[plugin.sim.device]]\nmemori = \"1 MiB\"\n",
                     {"memori", "bad.toml:4:1", "device[0].memory"}},
        wrong_config{"option_of_a_plugin_out_of_range",
                     "[runtime]\nplugins = [\"host\", \"sim\"]\n[[plugin.sim.device]]\nmemory = \"-1 MiB\"\n",
                     {"memory", "bad.toml:4:1"}},
        wrong_config{"misspelled_plugin_table",
                     "[runtime]\nplugins = [\"host\", \"sim\"]\n[plugin.sym]\nclock = \"real\"\n",
                     {"'sym'", "bad.toml:3:", "did you mean [plugin.sim]?"}},
        wrong_config{"no_host", "[runtime]\nplugins = [\"sim\"]\n", {"host memory", "bad.toml:2:1", "add \"host\""}},
        wrong_config{"no_such_location",
                     "[[location]]\nname = \"LocA\"\ntype = \"virtual\"\n[[hierarchy]]\nparent = \"LocA\"\nchildren = "
                     "[\"LocX\"]\n",
                     {"LocX", "bad.toml:6:", "LocA"}},
        wrong_config{
            "cycle",
            "[[location]]\nname = [\"A\", \"B\"]\ntype = \"virtual\"\n"
            "[[hierarchy]]\nparent = \"A\"\nchildren = [\"B\"]\n[[hierarchy]]\nparent = \"B\"\nchildren = [\"A\"]\n",
            {"cycle", "bad.toml:9:", "'A'", "'B'"}},
        wrong_config{"unknown_type",
                     "[[loctype]]\nname = \"fast\"\nkind = \"cpu\"\n[[location]]\nname = \"A\"\ntype = \"fasd\"\n",
                     {"fasd", "bad.toml:6:1", "did you mean 'fast'?"}},
        wrong_config{"no_such_topology_file", "[topology]\nxml = \"/no/such.xml\"\n", {"/no/such.xml", "bad.toml:2:1"}},
        wrong_config{"synthetic", "[topology]\nsynthetic = \"castle:2\"\n", {"castle:2", "bad.toml:2:1", "package:2"}},
        wrong_config{"policy", "[region]\npolicy = \"percentage:[50,20]\"\n", {"percentage", "bad.toml:2:1"}}),
    [](const auto& test) { return test.param.name; });

TEST(bad_input, configuration_files_that_cannot_be_read) {
  expect_failure({"topology", "--config", "/no/such/file.toml"}, 3, {"/no/such/file.toml", "No such file", "hint"});
  expect_failure({"topology", "--config", "/tmp"}, 3, {"it is a directory"});
  expect_failure({"topology"}, 3, {"/no/such/env.toml"}, {"TESSERA_CONFIG=/no/such/env.toml"});
  const plugin_test::folder place;
  const std::string binary = place.write("binary.toml", std::string("\0\xff\x01[", 4));
  expect_failure({"topology", "--config", binary}, 3, {"binary.toml:1:"});
}

TEST(bad_input, settings_on_the_command_line_and_in_the_environment) {
  expect_failure({"topology", "--set", "runtime.worker=1"}, 3, {"worker", "did you mean 'workers'?", "command line"});
  expect_failure({"topology", "--set", "workers"}, 2, {"section.key=value"});
  expect_failure({"topology"}, 3, {"TESSERA_RUNTIME_WORKER", "TESSERA_RUNTIME_WORKERS"}, {"TESSERA_RUNTIME_WORKER=1"});
  expect_failure({"config", "explain", "--set", "runtime.workers=lots"}, 3, {"runtime.workers", "lots"});
}

struct wrong_matrix {
  std::string name, text;
  int code;
  std::vector<std::string> parts;
};
void PrintTo(const wrong_matrix& m, std::ostream* out) { *out << m.name; }

class bad_matrix : public testing::TestWithParam<wrong_matrix> {};

TEST_P(bad_matrix, says_what_where_and_what_to_do) {
  const plugin_test::folder place;
  const std::string file = place.write("bad.mtx", GetParam().text);
  const fs::path json = place.path() / "figures.json";
  expect_failure({"cholesky", "--matrix", file, "--json", json}, GetParam().code, GetParam().parts);
  EXPECT_FALSE(fs::exists(json)) << "no figures without a result";
}

const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";
INSTANTIATE_TEST_SUITE_P(
    files, bad_matrix,
    testing::Values(
        wrong_matrix{"empty", "", 4, {"the file is empty", "bad.mtx", "%%MatrixMarket"}},
        wrong_matrix{"no_matrix", "hello\n", 4, {"does not begin with %%MatrixMarket", "bad.mtx:1"}},
        wrong_matrix{
            "truncated", banner + "3 3 3\n1 1 1\n2 2 1\n", 4, {"ends after 2 of 3 entries", "bad.mtx:4", "truncated?"}},
        wrong_matrix{"index_out_of_range", banner + "3 3 1\n4 1 1\n", 4, {"row 4 is outside of 1 to 3", "bad.mtx:3"}},
        wrong_matrix{"index_zero", banner + "3 3 1\n0 1 1\n", 4, {"row 0 is outside of 1 to 3", "count from 1"}},
        wrong_matrix{"not_square",
                     "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n",
                     4,
                     {"2 x 3, not square", "bad.mtx"}},
        wrong_matrix{
            "not_square_symmetric", banner + "2 3 1\n1 1 1\n", 4, {"2 x 3 and cannot be symmetric", "bad.mtx:2"}},
        wrong_matrix{"not_symmetric",
                     "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 6\n2 2 2\n",
                     4,
                     {"not symmetric: (1, 2) is 6", "bad.mtx:4"}},
        wrong_matrix{"negative_size", banner + "-3 -3 1\n1 1 1\n", 4, {"-3 x -3", "bad.mtx:2"}},
        wrong_matrix{"absurd_size", banner + "99999999999 99999999999 1\n1 1 1\n", 4, {"99999999999", "bad.mtx:2"}},
        wrong_matrix{"absurd_count", banner + "3 3 99999999999\n1 1 1\n", 4, {"after 1 of 99999999999", "bad.mtx:3"}},
        wrong_matrix{"no_number", banner + "1 1 1\n1 1 x\n", 4, {"'x', which is not a number", "bad.mtx:3"}},
        wrong_matrix{"not_finite", banner + "1 1 1\n1 1 inf\n", 4, {"not finite", "bad.mtx:3"}},
        wrong_matrix{
            "pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1\n", 4, {"pattern", "bad.mtx:1"}},
        wrong_matrix{"twice", banner + "2 2 3\n1 1 1\n2 2 1\n1 1 1\n", 4, {"(1, 1) is given twice", "bad.mtx:5"}},
        wrong_matrix{"not_positive_definite",
                     banner + "3 3 3\n1 1 1\n2 2 -4\n3 3 1\n",
                     6,
                     {"not positive definite", "pivot 2", "hint"}},
        wrong_matrix{"singular", banner + "2 2 1\n1 1 1\n", 6, {"not positive definite", "pivot 2"}}),
    [](const auto& test) { return test.param.name; });

TEST(bad_input, the_pivot_is_counted_over_all_tiles_and_found_on_devices_too) {
  // A diagonal matrix of 100 rows whose element 77 is negative: in the eighth tile of ten rows.
  std::string text = banner + "100 100 100\n";
  for (int k = 1; k <= 100; ++k) text += std::to_string(k) + " " + std::to_string(k) + (k == 77 ? " -1\n" : " 2\n");
  const plugin_test::folder place;
  const std::string file = place.write("indefinite.mtx", text);
  for (const std::string config : {"host", "sim_two"})
    expect_failure({"cholesky", "--matrix", file, "--tile", "10", "--config", source("configs/" + config + ".toml")}, 6,
                   {"pivot 77", "row and column 77, tile 7"});
}

TEST(bad_input, matrix_files_that_cannot_be_read) {
  expect_failure({"cholesky", "--matrix", "/no/such/matrix.mtx"}, 4,
                 {"no such matrix file", "/no/such/matrix.mtx", "Matrix Market form"});
  expect_failure({"cholesky", "--matrix", "/tmp"}, 4, {"directory"});
}

TEST(bad_input, sizes) {
  for (const std::string size : {"-5", "0", "99999999999999999999", "1e3", "many"}) {
    expect_failure({"cholesky", "--n", size}, 2, {"--n", "the command line"});
    expect_failure({"gemm", "--n", size}, 2, {"--n", "the command line"});
    expect_failure({"gemm", "--n", "10", "--tile", size}, 2, {"--tile"});
  }
  expect_failure({"gemm", "--n", "10", "--workers", "-1"}, 2, {"--workers"});
  expect_failure({"gemm", "--n", "10", "--seed", "-1"}, 2, {"--seed"});
  expect_failure({"gemm", "--n", "10", "--repeat", "0"}, 2, {"--repeat"});
  expect_failure({"gemm", "--n", "10", "--type", "f16"}, 2, {"--type", "f16"});
  // So many tiles that their descriptions would fill the memory, and terabytes of elements: found before anything is
  // allocated.
  expect_failure({"cholesky", "--n", "30000", "--tile", "1"}, 2, {"--tile", "choose --tile 30 or more"});
  expect_failure({"gemm", "--n", "5", "--k", "30000", "--tile", "5"}, 2, {"--tile", "choose --tile 30 or more"});
  expect_failure({"cholesky", "--n", "1000000", "--tile", "1024"}, 7, {"TiB", "choose a smaller problem"});
  expect_failure({"gemm", "--n", "500000"}, 7, {"TiB", "choose a smaller problem"});
}

TEST(bad_input, what_is_no_number) {
  expect_failure({"nn", "--size", "100", "--latitude", "nan"}, 2, {"--latitude", "'nan' is not a number"});
  expect_failure({"hotspot", "--size", "64", "--divisor", "NaN"}, 2, {"--divisor", "'NaN' is not a number"});
  expect_failure({"nn", "--size", "100", "--longitude", "inf"}, 2, {"--longitude", "range"});
}

TEST(bad_input, a_working_set_larger_than_any_memory) {
  // Three matrices of 512 x 512 doubles are 6 MiB.
  expect_failure({"gemm", "--n", "512", "--tile", "512", "--set", "memory.host_limit=4 MiB"}, 7,
                 {"6 MiB", "4 MiB", "host_limit"});
  expect_failure({"cholesky", "--n", "512", "--tile", "512", "--set", "memory.host_limit=1 MiB"}, 7,
                 {"2 MiB", "1 MiB", "host_limit"});
  // Two memories that hold the matrices together, and no task of one tile each alone.
  expect_failure({"gemm", "--n", "512", "--tile", "512", "--set", "memory.host_limit=4 MiB", "--set",
                  "runtime.plugins=[\"host\", \"sim\"]", "--set", "plugin.sim.device[0].memory=4 MiB"},
                 7, {"no memory holds more than 4 MiB", "gemm", "host_limit"});
  EXPECT_EQ(run({"gemm", "--n", "512", "--tile", "512", "--set", "memory.host_limit=64 MiB", "--quiet"}).code, 0);
}

TEST(bad_input, a_json_path_that_cannot_be_written) {
  const plugin_test::folder place;
  const std::string file = place.path() / "missing" / "figures.json";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"gemm", "--n", "32", "--quiet"}, {"topology"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--json", file});
    expect_failure(arguments, 2, {"cannot write", "No such file or directory", file, "hint"});
  }
  const outcome full = run({"config", "explain", "--json", "/dev/full"});
  EXPECT_EQ(full.code, 11);
  EXPECT_THAT(full.err, HasSubstr("/dev/full"));
}

TEST(bad_input, the_command_line) {
  expect_failure({}, 2, {"tessera --help"});
  expect_failure({"cholesk"}, 2, {"there is no command 'cholesk'", "did you mean 'cholesky'?"});
  expect_failure({"topologie"}, 2, {"did you mean 'topology'?"});
  expect_failure({"gemm", "--n", "10", "--tiel", "5"}, 2, {"--tiel", "did you mean '--tile'?"});
  expect_failure({"study", "percentage", "--app", "hotspot", "--workers", "1", "--", "--size", "64"}, 2,
                 {"was not expected: --workers", "behind --: tessera study percentage ... -- --workers",
                  "tessera study percentage --help"});
  expect_failure({"plugins", "explian"}, 2, {"explian", "did you mean 'explain'?"});
  expect_failure({"sial", "run", "a.sialx", "--progres", "always"}, 2, {"--progres", "did you mean '--progress'?"});
  expect_failure({"sial", "run", "a.sialx", "--init", "a.toml", "--progress", "sometimes"}, 2,
                 {"sometimes", "`tessera sial run --help` lists its options"});
  expect_failure({"hotspot", "--size", "abc"}, 2, {"--size: 'abc' is no number in the range 1 to 65536"});
  expect_failure({"nn", "--latitude", "200"}, 2, {"--latitude: '200' is no number in the range -90 to 90"});
  expect_failure({"hotspot", "--size"}, 2, {"--size wants a value"});
  expect_failure({"hotspot", "--size", "64", "--size", "32"}, 2, {"--size is given 2 times"});
  expect_failure({"hotspot", "--powers", "p.txt"}, 2, {"belong together", "at: --powers", "give both files"});
  for (const auto& [name, file] : std::vector<std::pair<std::string, std::string>>{
           {"bfs", "--graph"}, {"cfd", "--mesh"}, {"gaussian", "--matrix"}, {"lud", "--matrix"}, {"nn", "--records"}})
    expect_failure({name, file, "x", "--size", "64"}, 2, {"--size excludes " + file});
  expect_failure({"cfd", "--mesh", "x", "--full"}, 2, {"--full excludes --mesh"});
  expect_failure({"config"}, 2, {"tessera config --help"});
  expect_failure({"cholesky"}, 2, {"needs a matrix", "--matrix FILE or --n N"});
  expect_failure({"cholesky", "--n", "10", "--matrix", "x.mtx"}, 2, {"--matrix", "--n"});
  expect_failure({"topology", "--json", "-", "--dot", "-"}, 2, {"both go to standard output"});
  expect_failure({"plugins", "check", "x.so", "--option", "nothing"}, 2, {"NAME=VALUE"});
  expect_failure({"plugins", "check", "x.so", "--filter", "no_such_check"}, 2, {"no_such_check"});
  expect_failure({"plugins", "check", "x.so", "--arguments", "scale=0g"}, 2, {"scale=0g", "OPERATION=HEX"});
  expect_failure({"plugins", "check", "x.so", "--inner-option", "a=b"}, 2, {"--inner"});
  expect_failure({"plugins", "check", "x.so", "--lose-with", "lost"}, 2, {"NAME=VALUE"});
}

}  // namespace
