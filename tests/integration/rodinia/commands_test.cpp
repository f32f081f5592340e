// The commands of the applications: they check themselves, and say what is wrong with their input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/integration/cli/program.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

std::string data(const char* name) { return source(std::string("tests/data/rodinia/") + name); }

struct rodinia_command {
  const char* name;
  std::vector<std::string> arguments;
  std::size_t checks;
};
void PrintTo(const rodinia_command& c, std::ostream* out) { *out << c.name; }

class rodinia_commands : public testing::TestWithParam<rodinia_command> {};

TEST_P(rodinia_commands, check_themselves) {
  for (const std::string policy : {"static", "any"}) {
    std::vector<std::string> words = GetParam().arguments;
    words.insert(words.end(), {"--verify", "--json", "-", "--policy", policy, "--workers", "2"});
    const outcome done = run(words);
    ASSERT_EQ(done.code, 0) << done.err;
    const nlohmann::json seen = json_of(done.out);
    EXPECT_EQ(seen["checks"].size(), GetParam().checks) << done.out;
    for (const auto& check : seen["checks"]) EXPECT_TRUE(check["right"]) << check;
    EXPECT_GE(seen["checksums"].size(), 2u);
    EXPECT_GE(seen["seconds"], 0);
    EXPECT_GT(seen["model"]["seconds"], 0);
    EXPECT_TRUE(seen["model"]["left_out"].empty()) << seen["model"];
    for (const auto& bound : seen["model"]["bounds"])
      EXPECT_THAT(bound["what"].get<std::string>(), testing::HasSubstr("of the host")) << bound;
    EXPECT_FALSE(seen["regions"].empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, rodinia_commands,
    testing::Values(
        rodinia_command{"bfs", {"bfs", "--size", "2000"}, 1},
        rodinia_command{"bfs_file", {"bfs", "--graph", data("graph4096.txt"), "--scan"}, 1},
        rodinia_command{"gaussian", {"gaussian", "--size", "100"}, 3},
        rodinia_command{"gaussian_as_it_comes", {"gaussian"}, 3},
        rodinia_command{"gaussian_in_double", {"gaussian", "--type", "f64"}, 3},
        rodinia_command{"gaussian_file", {"gaussian", "--matrix", data("matrix16.txt"), "--type", "f64"}, 2},
        rodinia_command{"hotspot", {"hotspot", "--size", "64", "--type", "f32", "--divisor", "1000"}, 1},
        rodinia_command{
            "hotspot_files",
            {"hotspot", "--temperatures", data("temp_64.txt"), "--powers", data("power_64.txt"), "--size", "128"},
            1},
        rodinia_command{"cfd", {"cfd", "--size", "5", "--rounds", "3"}, 2},
        rodinia_command{"cfd_full", {"cfd", "--size", "4", "--full", "--type", "f32"}, 2},
        rodinia_command{"cfd_file", {"cfd", "--mesh", data("tets_box_hole.domn")}, 2},
        rodinia_command{"lavamd", {"lavamd", "--size", "2"}, 1}, rodinia_command{"nw", {"nw", "--size", "300"}, 2},
        rodinia_command{"nw_file", {"nw", "--size", "100", "--scores", data("blosum62.txt")}, 2},
        rodinia_command{"particlefilter", {"particlefilter", "--particles", "1000"}, 2},
        rodinia_command{"lud", {"lud", "--size", "100", "--type", "f64"}, 2},
        rodinia_command{"lud_file", {"lud", "--matrix", data("lud_64.dat")}, 1},
        rodinia_command{"nn", {"nn", "--size", "5000", "--nearest", "7"}, 1},
        rodinia_command{
            "nn_file", {"nn", "--records", data("cane_excerpt.db"), "--records", data("cane_excerpt.db")}, 1},
        rodinia_command{"pathfinder", {"pathfinder", "--size", "1000", "--rows", "20", "--type", "u8"}, 1},
        rodinia_command{"srad", {"srad", "--size", "150"}, 2}),
    [](const auto& test) { return test.param.name; });

/// Counts of iterations fit where all loops that are split have one length.
TEST(rodinia_commands, split_loops_of_one_length_by_counts) {
  const std::vector<std::string> ends{"--verify", "--json", "-", "--config", source("configs/two_domains.toml")};
  struct {
    std::vector<std::string> words;
    std::string counts;
  } const fitting[] = {{{"hotspot", "--size", "64"}, "10,20,4,30"},
                       {{"pathfinder", "--size", "1000", "--rows", "20"}, "300,0,600,100"},
                       {{"nn", "--size", "5000"}, "0,0,0,5000"},
                       {{"lavamd", "--size", "2"}, "3,0,1,4"},
                       {{"srad", "--size", "150"}, "50,97,2,1"},
                       {{"cfd", "--size", "4", "--full"}, "100,200,0,84"},
                       {{"nw", "--size", "64"}, "0,1"},  // a block
                       {{"stream", "--size", "1000", "--rounds", "2"}, "400,100,499,1"}};
  for (auto [words, counts] : fitting) {
    words.insert(words.end(), ends.begin(), ends.end());
    words.insert(words.end(), {"--policy", "range:" + counts});
    const outcome done = run(words);
    ASSERT_EQ(done.code, 0) << words.front() << done.err;
    const nlohmann::json seen = json_of(done.out);
    EXPECT_TRUE(words.front() == "nw" || seen["bytes_transferred"] > 0) << seen;
  }
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"gaussian", "--size", "100", "--policy", "range:60,40"},
                                             {"lud", "--size", "100", "--policy", "range:60,40"},
                                             {"nw", "--size", "300", "--policy", "range:1,0"},
                                             {"bfs", "--size", "2000", "--policy", "range:1500,500"},
                                             {"particlefilter", "--particles", "1000", "--policy", "range:1000,0"}}) {
    const outcome done = run(words);
    EXPECT_EQ(done.code, 3) << words.front() << done.err;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, testing::AllOf(HasSubstr("policy range: the counts sum to"), HasSubstr("at: region '"),
                                         HasSubstr("split by --policy")))
        << words.front();
  }
}

/// Names of regions in the counts are those of the regions, or devices would have no part of them.
TEST(rodinia_commands, compare_with_what_devices_and_links_can_do) {
  for (const auto& [name, size] : {std::pair("cfd", "8"),
                                   {"gaussian", "64"},
                                   {"hotspot", "64"},
                                   {"lavamd", "2"},
                                   {"lud", "64"},
                                   {"nn", "1000"},
                                   {"srad", "64"}}) {
    const outcome done = run({name, "--size", size, "--config", source("configs/sim_one.toml"), "--json", "-"});
    ASSERT_EQ(done.code, 0) << done.err;
    const nlohmann::json model = json_of(done.out)["model"];
    // Whether the device or the host takes longer depends on the machine; a rate that is not known is always told.
    const std::vector<std::string> left_out = model["left_out"];
    EXPECT_THAT(left_out, testing::Contains("arithmetic of sim0")) << name << model;
    EXPECT_THAT(left_out, testing::Not(testing::Contains("memory of sim0"))) << name << model;
    std::vector<std::string> bounds;
    for (const auto& bound : model["bounds"]) bounds.push_back(bound["what"]);
    EXPECT_THAT(bounds, testing::Contains(testing::StartsWith("link "))) << name << model;
  }
}

struct known_result {
  const char* name;
  std::vector<std::string> words;
  std::vector<std::pair<const char*, double>> checksums;  ///< integers are exact
};
void PrintTo(const known_result& c, std::ostream* out) { *out << c.name; }

class rodinia_results : public testing::TestWithParam<known_result> {};

/// Of independent programs, for inputs of a usual size; docs/rodinia.md has those of files that are not here.
TEST_P(rodinia_results, are_the_known_ones) {
  std::vector<std::string> words = GetParam().words;
  words.insert(words.end(), {"--json", "-", "--workers", "2"});
  const outcome done = run(words);
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json sums = json_of(done.out)["checksums"];
  for (const auto& [what, expected] : GetParam().checksums) {
    ASSERT_TRUE(sums.contains(what)) << sums;
    const double seen = sums[what].get<double>();
    EXPECT_LE(std::abs(seen - expected), sums[what].is_number_integer() ? 0 : 1e-10 * std::abs(expected))
        << what << ": " << seen;
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, rodinia_results,
    testing::Values(
        known_result{"hotspot",
                     {"hotspot", "--size", "1024", "--rounds", "10"},
                     {{"sum", 340624737.305721},
                      {"minimum", 322.5778070937},
                      {"maximum", 327.1470049600},
                      {"first", 323.0042248891}}},
        known_result{"srad",
                     {"srad", "--size", "2048", "--rounds", "2"},
                     {{"sum", 7207560.68968172},
                      {"minimum", 1.03570155231},
                      {"maximum", 2.63869052089},
                      {"first", 1.09094153540}}},
        known_result{"pathfinder",
                     {"pathfinder", "--size", "100000", "--rows", "100"},
                     {{"sum", 14308081}, {"minimum", 102}, {"maximum", 181}, {"first", 158}, {"last", 145}}},
        tessera::testing::is_slow
            ? known_result{"bfs", {"bfs", "--size", "65536"}, {{"sum of levels", 419263}, {"levels", 10}}}
            : known_result{"bfs", {"bfs", "--size", "1000000"}, {{"sum of levels", 7951616}, {"levels", 11}}},
        known_result{
            "nw", {"nw", "--size", "2048"}, {{"last", -19}, {"before", -20}, {"sum", -22051384487}, {"maximum", 64}}}),
    [](const auto& test) { return test.param.name; });

TEST(rodinia_commands, are_listed_with_the_other_applications) {
  const outcome done = run({"apps", "--json", "-"});
  EXPECT_EQ(done.code, 0) << done.err;
  std::set<std::string> names;
  const nlohmann::json all = json_of(done.out);
  for (const auto& one : all["applications"]) {
    names.insert(one["name"]);
    EXPECT_FALSE(one["line"].get<std::string>().empty());
  }
  for (const char* name : {"bfs", "cfd", "gaussian", "hotspot", "lavamd", "lud", "nn", "nw", "particlefilter",
                           "pathfinder", "srad", "stream"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("topology"));
}

void expect_refused(const std::vector<std::string>& words, int code, const std::vector<std::string>& parts) {
  const outcome done = run(words);
  EXPECT_EQ(done.code, code) << words.front() << ": " << done.err;
  EXPECT_EQ(done.out, "");
  for (const std::string& part : parts) EXPECT_THAT(done.err, HasSubstr(part)) << words.front();
}

TEST(rodinia_commands, refuse_sizes) {
  for (const char* name :
       {"bfs", "cfd", "gaussian", "hotspot", "lavamd", "lud", "nn", "nw", "particlefilter", "pathfinder", "srad"}) {
    expect_refused({name, "--size", "0"}, 2, {"--size"});
    expect_refused({name, "--size", "-3"}, 2, {"--size"});
    expect_refused({name, "--size", "many"}, 2, {"--size"});
  }
  expect_refused({"srad", "--size", "99999999"}, 2, {"--size"});
  expect_refused({"hotspot", "--size", "60000", "--set", "memory.host_limit=1GiB"}, 7, {"1 GiB", "smaller problem"});
  expect_refused({"pathfinder", "--rows", "0"}, 2, {"--rows"});
  expect_refused({"nn", "--nearest", "0"}, 2, {"--nearest"});
  expect_refused({"srad", "--type", "i8"}, 2, {"--type"});
  expect_refused({"lud", "--policy", "statik", "--size", "10"}, 3, {"statik", "static", "--policy, column 1"});
  expect_refused({"lud", "--policy", "percentage:60,3o", "--size", "10"}, 3, {"'3o'", "--policy, column 15"});
  expect_refused({"lud", "--policy", "range:3,4", "--size", "10"}, 3, {"the counts sum to 7", "split by --policy"});
  for (const char* name : {"bfs", "nw"})  // no list fits all of their loops
    expect_refused({name, "--policy", "range:400,600", "--size", "1000"}, 3,
                   {"the counts sum to 1000, but the loop has", "percentage gives loops of all lengths"});
  expect_refused({"lud", "--at", "nowhere", "--size", "10"}, 2, {"there is no location 'nowhere'", "at: --at"});
}

TEST(rodinia_commands, refuse_locations_that_cannot_have_their_arrays_and_loops) {
  const plugin_test::folder place;
  const std::string file = (place.path() / "store.toml").string();
  std::ofstream(file)
      << "[runtime]\nplugins = [\"host\", \"sim\", \"disk\"]\n[plugin.disk]\ncapacity = \"1 MiB\"\npath = \""
      << place.path().string() << "\"\n";
  for (const char* name : {"hotspot", "stream", "comd"}) {
    expect_refused({name, "--at", "disk0", "--size", "10", "--config", file}, 2,
                   {"'disk0' is a storage location", "at: --at"});
    expect_refused({name, "--at", "sim0", "--size", "10", "--config", file}, 2,
                   {"no cores are at or below location 'sim0'", "at: --at", "--policy percentage:0,",
                    ",100 leaves the loops to it"});
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place.path()), {}), 1);  // store.toml alone
}

struct wrong_file {
  const char* name;
  std::vector<std::string> words;  ///< the file follows
  std::string text;
  std::vector<std::string> parts;
};
void PrintTo(const wrong_file& c, std::ostream* out) { *out << c.name; }

class rodinia_files : public testing::TestWithParam<wrong_file> {};

TEST_P(rodinia_files, are_refused_with_the_line) {
  const plugin_test::folder place;
  std::vector<std::string> words = GetParam().words;
  words.push_back(place.write("bad.txt", GetParam().text));
  expect_refused(words, 4, GetParam().parts);
  words.back() = (place.path() / "missing.txt").string();
  expect_refused(words, 4, {"missing.txt", "No such file"});
  words.back() = place.path().string();
  expect_refused(words, 4, {"it is a folder"});
}

const std::string record = "1991  4 26 12 24 WILLIAM    27.9  59.9  135  196\n";

INSTANTIATE_TEST_SUITE_P(
    all, rodinia_files,
    testing::Values(
        wrong_file{"bfs_no_nodes", {"bfs", "--graph"}, "0\n", {"bad.txt:1", "from 1 to"}},
        wrong_file{"bfs_degree", {"bfs", "--graph"}, "2\n0 1\n1 x\n", {"bad.txt:3", "'x' is no integer"}},
        wrong_file{"bfs_gap", {"bfs", "--graph"}, "2\n0 1\n2 1\n", {"bad.txt:3", "should begin at 1"}},
        wrong_file{"bfs_source", {"bfs", "--graph"}, "2\n0 1\n1 1\n\n5\n", {"bad.txt:5", "the source is 5"}},
        wrong_file{"bfs_edges", {"bfs", "--graph"}, "2\n0 1\n1 1\n0\n3\n", {"bad.txt:5", "add up to 2"}},
        wrong_file{"bfs_target", {"bfs", "--graph"}, "2\n0 1\n1 1\n0\n2\n1 1\n2 1\n", {"bad.txt:7", "is 2"}},
        wrong_file{"bfs_short", {"bfs", "--graph"}, "2\n0 1\n1 1\n0\n2\n1 1\n", {"the file ends"}},
        wrong_file{"cfd_size", {"cfd", "--mesh"}, "1\n0 0 1 1 1", {"bad.txt:2", "above 0"}},
        wrong_file{"cfd_neighbour", {"cfd", "--mesh"}, "1\n1 2 1 1 1", {"bad.txt:2", "is 2", "to 1"}},
        wrong_file{"cfd_short", {"cfd", "--mesh"}, "1\n1 0 1 1 1\n0 1", {"bad.txt:3", "the file ends"}},
        wrong_file{"nw_score", {"nw", "--scores"}, "# scores\n4 -1\n1.5\n", {"bad.txt:3", "'1.5' is no integer"}},
        wrong_file{"gaussian_short", {"gaussian", "--matrix"}, "2\n1 2\n3\n", {"bad.txt:4", "the file ends"}},
        wrong_file{"gaussian_word", {"gaussian", "--matrix"}, "1\n1\nnan\n", {"bad.txt:3", "'nan' is no number"}},
        wrong_file{"gaussian_more", {"gaussian", "--matrix"}, "1\n1\n1\n1\n1\n", {"bad.txt:5", "something follows"}},
        wrong_file{"hotspot_square",
                   {"hotspot", "--powers", data("power_64.txt"), "--temperatures"},
                   "1\n2\n3\n",
                   {"3 numbers", "no square"}},
        wrong_file{"hotspot_other_size",
                   {"hotspot", "--temperatures", data("temp_64.txt"), "--powers"},
                   "1\n2\n3\n4\n",
                   {"64 x 64", "2 x 2"}},
        wrong_file{"lud_word", {"lud", "--matrix"}, "2\n1 0\n0 1e999\n", {"bad.txt:3", "1e999"}},
        wrong_file{"nn_short", {"nn", "--records"}, record + "1991\n", {"bad.txt:2", "4 characters"}},
        wrong_file{"nn_word",
                   {"nn", "--records"},
                   record + record + std::string(record).replace(28, 4, "no.9"),
                   {"bad.txt:3", "no latitude"}},
        wrong_file{"nn_empty", {"nn", "--records"}, "\n\n", {"no records"}}),
    [](const auto& test) { return test.param.name; });

TEST(rodinia_commands, draw_the_tree_with_arrays_and_shares) {
  const plugin_test::folder files;
  const std::string svg = files.path() / "tree.svg";
  const outcome picture = run({"hotspot", "--size", "64", "--rounds", "2", "--tree", svg, "--quiet"});
  ASSERT_EQ(picture.code, 0) << picture.err;
  EXPECT_THAT(contents(svg), testing::AllOf(HasSubstr("<svg"), HasSubstr("temperature"), HasSubstr("%")));
  const outcome text =
      run({"stream", "--size", "1000", "--rounds", "2", "--policy", "percentage:75,25", "--quiet", "--tree", "-"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("a 7.81 KiB"), HasSubstr("add 75 %"), HasSubstr("add 25 %")));
  expect_refused({"nn", "--size", "10", "--tree", "/no/such/folder/tree.svg"}, 2, {"/no/such/folder/tree.svg"});
  for (const std::string application : {"nn", "stream"})
    expect_refused({application, "--size", "10", "--tree", "-", "--json", "-"}, 2,
                   {"both go to standard output", "--tree"});
}

TEST(rodinia_commands, time_one_loop_of_stream) {
  for (const char* loop : {"triad", "nstream"})
    for (const char* config : {"configs/host.toml", "configs/sim_one.toml"})
      for (const char* type : {"f64", "f32"}) {
        const outcome done = run({"stream", std::string("--") + loop, "--size", "1000", "--rounds", "7", "--type", type,
                                  "--config", source(config), "--json", "-"});
        ASSERT_EQ(done.code, 0) << done.err;
        const nlohmann::json seen = json_of(done.out);
        ASSERT_EQ(seen["kernels"].size(), 1u);
        EXPECT_EQ(seen["kernels"][0]["name"], loop);
        EXPECT_TRUE(seen["error_ok"]) << seen["error"];
        EXPECT_EQ(seen["model"]["flops"], 7 * 1000 * (loop == std::string("triad") ? 2 : 3));
      }
  expect_refused({"stream", "--triad", "--nstream"}, 2, {"--triad", "--nstream"});
}

TEST(rodinia_commands, refuse_what_does_not_fit_together) {
  expect_refused({"hotspot", "--temperatures", data("temp_64.txt")}, 2, {"--powers"});
  expect_refused({"hotspot", "--temperatures", data("temp_64.txt"), "--powers", data("power_64.txt"), "--size", "100"},
                 2, {"no multiple of the 64 rows"});
  expect_refused({"particlefilter", "--frames", "100"}, 2, {"leaves the image after 31 frames", "--size 404"});
}

}  // namespace
