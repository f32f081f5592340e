// docs/commands.md, the pages of docs/commands and the program agree: commands, options, JSON keys. What guides show as
// commands runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/integration/cli/program.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using keys = std::set<std::string>;

/// The lines between a heading and the next one of its level or above.
std::string section(const std::string& heading) {
  static const std::string page = [] {
    std::string all = contents(source("docs/commands.md"));
    for (const auto& entry : std::filesystem::directory_iterator(source("docs/commands")))
      all += contents(entry.path());
    return all;
  }();
  const std::string level = heading.substr(0, heading.find(' '));
  std::istringstream lines(page);
  std::string line, found;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.starts_with('#') && line.find(' ') <= level.size()) inside = line == heading;
    if (inside) found += line + "\n";
  }
  EXPECT_FALSE(found.empty()) << "docs/commands.md and docs/commands have no heading '" << heading << "'";
  return found;
}

/// The keys of the tables whose head begins with "| JSON key". `sometimes`: those whose type says "optional", and those
/// below a key that is optional or may be null; all others are there whenever their parent is.
struct documented_keys {
  keys always, sometimes;
};
documented_keys documented(const std::string& heading) {
  documented_keys found;
  keys parents;  // that may be absent or null
  const auto below_one = [&](const std::string& key) {
    for (std::size_t end = key.find_first_of(".["); end != key.npos; end = key.find_first_of(".[", end + 1))
      if (parents.contains(key.substr(0, end))) return true;
    return false;
  };
  std::istringstream lines(section(heading));
  std::string line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("| JSON key"))
      inside = true;
    else if (!line.starts_with("|"))
      inside = false;
    else if (inside && line.starts_with("| `")) {
      const std::size_t end = line.find('`', 3), type = line.find('|', end) + 1;
      const std::string key = line.substr(3, end - 3), cell = line.substr(type, line.find('|', type) - type);
      const bool optional = cell.find("optional") != cell.npos;
      if (optional || cell.find("or null") != cell.npos) parents.insert(key);
      (optional || below_one(key) ? found.sometimes : found.always).insert(key);
    }
  }
  EXPECT_FALSE(found.always.empty()) << heading;
  return found;
}

/// Paths of all values: "links[].bytes". The locations of a tree count as one kind of object.
keys keys_of(const std::string& json) {
  keys found;
  const std::function<void(const nlohmann::json&, const std::string&)> walk = [&](const nlohmann::json& value,
                                                                                  const std::string& path) {
    if (value.is_array())
      for (const auto& one : value) walk(one, path.empty() ? "[]" : path + "[]");
    if (!value.is_object()) return;
    for (const auto& [key, inner] : value.items()) {
      const std::string here = path.empty() ? key : path + "." + key;
      found.insert(here);
      const bool branch = path.empty() && (key == "children" || key == "detached");
      if (branch)
        for (const auto& node : inner) walk(node, "");
      else
        walk(inner, here);
    }
  };
  walk(json_of(json), "");
  return found;
}

void expect_agreement(const keys& real, const documented_keys& page, const std::string& what) {
  for (const std::string& key : real)
    EXPECT_TRUE(page.always.contains(key) || page.sometimes.contains(key))
        << what << ": '" << key << "' is not in docs/commands";
  for (const std::string& key : page.always)
    EXPECT_TRUE(real.contains(key)) << what << ": '" << key << "' is documented and not there";
}

documented_keys together(documented_keys a, const documented_keys& b) {
  a.always.insert(b.always.begin(), b.always.end());
  a.sometimes.insert(b.sometimes.begin(), b.sometimes.end());
  return a;
}

TEST(documented, a_key_is_optional_by_its_own_type_or_by_its_parent) {
  const documented_keys topology = documented("## tessera topology"), runs = documented("## Figures of every run");
  EXPECT_TRUE(topology.always.contains("name") && topology.always.contains("peer_links[].from"));
  EXPECT_TRUE(topology.sometimes.contains("memory_bytes") && topology.sometimes.contains("space.device"));
  EXPECT_TRUE(runs.always.contains("links[].from") && runs.sometimes.contains("validation[].there.line"));
  const documented_keys history = documented("## tessera history");
  EXPECT_TRUE(history.always.contains("crossovers[].moved") && history.sometimes.contains("crossovers[].moved.amount"));
}

TEST(documented, keys_of_runs) {
  const std::string config = source("configs/sim_two.toml");
  const documented_keys common = documented("## Figures of every run");
  // Small blocks, and devices that get some however fast they seem, so that every list has something in it.
  const auto keys_of_run = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--config", config, "--set", "runtime.placement=eager", "--json", "-"});
    return keys_of(run(words).out);
  };
  expect_agreement(keys_of_run({"cholesky", "--n", "500", "--tile", "50"}),
                   together(common, documented("## tessera cholesky")), "cholesky");
  expect_agreement(keys_of_run({"gemm", "--n", "500", "--tile", "100"}),
                   together(common, documented("## tessera gemm")), "gemm");
}

TEST(documented, keys_of_applications) {
  const documented_keys own = documented("## Options of the applications over regions");
  const keys real = keys_of(run({"srad", "--size", "100", "--verify", "--json", "-"}).out);
  for (const std::string& key : own.always) EXPECT_TRUE(real.contains(key)) << key;
  const keys atoms = keys_of(run({"comd", "--size", "4", "--steps", "10", "--verify", "--json", "-"}).out);
  const documented_keys of_comd = together(own, documented("## tessera comd"));
  for (const keys& some : {of_comd.always, of_comd.sometimes})
    for (const std::string& key : some) EXPECT_TRUE(atoms.contains(key)) << key;
  expect_agreement(keys_of(run({"apps", "--json", "-"}).out), documented("## tessera apps"), "apps");
}

TEST(documented, keys_of_eigenpairs) {
  const documented_keys own = documented("## tessera eigs");
  const keys by_lobpcg = keys_of(
      run({"eigs", "--generate", "lap2d:20", "--pairs", "2", "--stream", "--out", "/dev/null", "--json", "-"}).out);
  const keys by_lanczos = keys_of(
      run({"eigs", "--generate", "lap2d:20", "--pairs", "2", "--solver", "lanczos", "--block", "1", "--json", "-"})
          .out);
  const keys with_mass =
      keys_of(run({"eigs", source("apps/sparse/data/lund_a.mtx"), "--mass", source("apps/sparse/data/lund_b.mtx"),
                   "--pairs", "1", "--precond", "jacobi", "--tol", "1e-4", "--json", "-"})
                  .out);
  const plugin_test::folder folder;
  const std::string complex_matrix =
      folder.write("m.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 1 0\n2 1 0 1\n2 2 1 0\n");
  const keys of_complex = keys_of(run({"eigs", complex_matrix, "--pairs", "1", "--json", "-"}).out);
  const keys on_device = keys_of(run({"eigs", "--generate", "lap2d:20", "--pairs", "2", "--config",
                                      source("configs/sim_sparse.toml"), "--at", "sim0", "--json", "-"})
                                     .out);
  for (const keys& some : {own.always, own.sometimes})
    for (const std::string& key : some)
      EXPECT_TRUE(by_lobpcg.contains(key) || by_lanczos.contains(key) || with_mass.contains(key) ||
                  of_complex.contains(key) || on_device.contains(key))
          << key;
}

TEST(documented, keys_of_sparse_products) {
  const documented_keys own = documented("## tessera spmv");
  const keys real =
      keys_of(run({"spmv", "--generate", "lap2d:20", "--stream-size", "10000", "--repeats", "1", "--json", "-"}).out);
  for (const std::string& key : own.always) EXPECT_TRUE(real.contains(key)) << key;
}

TEST(documented, keys_of_deep_copies) {
  const documented_keys own = documented("## tessera deepcopy");
  const keys real = keys_of(run({"deepcopy", "--n", "100", "--repetitions", "2", "--json", "-"}).out);
  for (const std::string& key : own.always) EXPECT_TRUE(real.contains(key)) << key;
  for (const std::string& key : own.sometimes) EXPECT_TRUE(real.contains(key)) << key;
}

TEST(documented, keys_of_simulations) {
  expect_agreement(keys_of(run({"simulate", source("configs/machines/node_8gpu.toml"), "--job", "cholesky", "--n",
                                "4096", "--json", "-"})
                               .out),
                   documented("## tessera simulate"), "simulate");
}

TEST(documented, keys_of_what_was_learnt) {
  const plugin_test::folder folder;
  const std::string config = source("configs/sim_one.toml"),
                    kept = "runtime.history=" + (folder.path() / "kept.json").string();
  keys run_keys, history_keys;
  for (const std::string tile : {"16", "64", "256"}) {  // the device loses, and wins
    const outcome done = run({"gemm", "--n", "512", "--tile", tile, "--config", config, "--set",
                              "runtime.placement=cost", "--set", kept, "--json", "-"});
    ASSERT_EQ(done.code, 0) << done.err;
    run_keys.merge(keys_of(done.out));
  }
  EXPECT_TRUE(run_keys.contains("statistics.placement.crossovers[].device"));
  expect_agreement(run_keys, together(documented("## Figures of every run"), documented("## tessera gemm")),
                   "gemm with placement cost");
  ASSERT_EQ(
      run({"stream", "--size", "1000", "--rounds", "2", "--policy", "auto", "--config", config, "--set", kept}).code,
      0);
  expect_agreement(keys_of(run({"history", "--config", config, "--set", kept, "--json", "-"}).out),
                   documented("## tessera history"), "history");
}

TEST(documented, keys_of_sial_programs) {
  const plugin_test::folder folder;
  const std::string program = (folder.path() / "p.sialx").string();
  std::ofstream(program) << "sial p\nindex i = 1:4\nscalar x\ntemp t[i]\ndistributed d[i]\npardo i\nt[i] = 1.0\nput "
                            "d[i] = t[i]\nendpardo i\nsip_barrier\n"
                            "pardo i\nget d[i]\nx += d[i]\nendpardo i\nendsial p\n";
  const outcome ran = run({"sial", "run", program, "--config", source("configs/sim_two.toml"), "--json", "-"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  documented_keys page = together(documented("## Figures of every run"), documented("## tessera sial run"));
  std::erase_if(page.always, [](const std::string& key) {
    return key.starts_with("statistics.") && key.find("[]") != std::string::npos;
  });  // devices have nothing to do
  const keys real = keys_of(ran.out);
  for (const std::string& key : real)
    EXPECT_TRUE(page.always.contains(key) || page.sometimes.contains(key) || key.find("[]") != std::string::npos)
        << key;
  for (const std::string& key : documented("## tessera sial run").always) EXPECT_TRUE(real.contains(key)) << key;
  std::ofstream(program) << "sial p\nx = 1\nendsial p\n";
  const outcome checked = run({"sial", "check", program, "--json", "-"});
  EXPECT_EQ(checked.code, 4) << checked.err;
  expect_agreement(keys_of(checked.out), documented("## tessera sial check"), "sial check");
}

TEST(documented, keys_of_dry_runs) {
  const plugin_test::folder folder;
  const std::string program = (folder.path() / "p.sialx").string();
  std::ofstream(program) << "sial p\nindex i = 1:4\nindex j = 1:4\nspecial fill_block_sequential wr\nscalar x\ntemp "
                            "t[i]\ntemp u[i,j]\ndistributed d[i]\npardo i\nexecute fill_block_sequential t[i] 1.0\n"
                            "x += t[i] * t[i]\nif x > 2.0\nput d[i] = t[i]\nendif\ndo j\nu[i,j] = t[i] ^ t[j]\nenddo "
                            "j\nendpardo i\nendsial p\n";
  const outcome told = run({"sial", "run", program, "--dry-run", "--json", "-"});
  ASSERT_EQ(told.code, 0) << told.err;
  const keys real = keys_of(told.out);
  expect_agreement(real, documented("## tessera sial run --dry-run"), "sial run --dry-run");
  EXPECT_TRUE(real.contains("programs[].notes[].text")) << told.out;
  EXPECT_TRUE(real.contains("programs[].executions[].times")) << told.out;
}

TEST(documented, keys_of_topology) {
  keys real = keys_of(run({"topology", "--config", source("configs/sim_two.toml"), "--json", "-"}).out);
  real.merge(keys_of(run({"topology", "--set", "topology.synthetic=package:2 numa:2 core:2 pu:1", "--json", "-"}).out));
  expect_agreement(real, documented("## tessera topology"), "topology");
}

// The command below the picture, word for word; the picture in the repository is what it draws.
TEST(documented, the_picture_of_the_front_page) {
  const std::string limit = "memory.host_limit=4GiB";
  const std::string synthetic = "topology.synthetic=numa:1(memory=8589934592) core:8 pu:1";
  const std::string command = "tessera topology --config configs/two_gpus_sim.toml --set " + limit + " \\\n  --set '" +
                              synthetic + "' --svg two_gpus.svg\n";
  EXPECT_NE(contents(source("README.md")).find(command), std::string::npos) << command;
  const std::string config = source("configs/two_gpus_sim.toml");
  const outcome drawn = run({"topology", "--config", config, "--set", limit, "--set", synthetic, "--svg", "-"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_EQ(drawn.out, contents(source("docs/pictures/two_gpus.svg")));
}

TEST(documented, keys_of_plugins) {
  expect_agreement(keys_of(run({"plugins", "--config", source("configs/sim_two.toml"), "--json", "-"}).out),
                   documented("## tessera plugins"), "plugins");
  expect_agreement(
      keys_of(run({"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_template.so", "--filter", "copies", "--json", "-"})
                  .out),
      documented("## tessera plugins check"), "plugins check");
}

TEST(documented, keys_of_an_explained_plugin) {
  expect_agreement(keys_of(run({"plugins", "layouts", "--json", "-"}).out), documented("## tessera plugins layouts"),
                   "plugins layouts");
  expect_agreement(keys_of(run({"plugins", "explain", "sim", "--json", "-"}).out),
                   documented("## tessera plugins explain"), "plugins explain");
}

TEST(documented, keys_of_a_new_plugin) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("documented_new_" + std::to_string(getpid()));
  expect_agreement(
      keys_of(run({"plugins", "new", "mine", "--language", "c", "--directory", folder.string(), "--json", "-"}).out),
      documented("## tessera plugins new"), "plugins new");
  std::filesystem::remove_all(folder);
}

TEST(documented, keys_of_recorded_runs) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("documented_trace_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "run.json").string();
  EXPECT_EQ(run({"cholesky", "--n", "500", "--tile", "50", "--quiet", "--config", source("configs/sim_two.toml"),
                 "--set", "runtime.placement=eager", "--trace", file})
                .code,
            0);
  expect_agreement(keys_of(run({"trace", "summary", file, "--json", "-"}).out), documented("## tessera trace summary"),
                   "trace summary");
  expect_agreement(keys_of(run({"trace", "compare", file, file, "--json", "-"}).out),
                   documented("## tessera trace compare"), "trace compare");
  expect_agreement(keys_of(run({"trace", "graph", file, "--json", "-"}).out), documented("## tessera trace graph"),
                   "trace graph");
  std::filesystem::remove_all(folder);
}

TEST(documented, keys_of_config_explain) {
  keys real;
  for (const std::string& key : keys_of(run({"config", "explain", "--json", "-"}).out)) real.insert(key);
  expect_agreement(real, documented("## tessera config explain"), "config explain");
}

/// The words of the commands behind "$ tessera" in the blocks of a page that say ```console.
std::vector<std::vector<std::string>> commands_of(const std::string& page) {
  std::vector<std::vector<std::string>> found;
  std::istringstream lines(contents(source(page)));
  std::string line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("```")) inside = line == "```console";
    if (!inside || !line.starts_with("$ ")) continue;
    EXPECT_TRUE(line.starts_with("$ tessera ")) << page << ": " << line;
    std::istringstream words(line.substr(std::string_view("$ tessera ").size()));
    found.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return found;
}

// In the order of the page: one may read what an earlier one has written. In a folder that has what the root of the
// repository has, so that they write nothing there.
TEST(documented, commands_of_guides_run) {
  if (tessera::testing::is_slow) GTEST_SKIP() << "sizes of the guides take minutes under a sanitizer";
  const plugin_test::folder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  for (const char* name : {"apps", "configs", "examples"})
    std::filesystem::create_directory_symlink(source(name), folder.path() / name);
  for (const auto& [page, number] :
       {std::pair{"docs/commands.md", 10u}, {"docs/regions.md", 1u}, {"docs/sparse.md", 8u}}) {
    const auto commands = commands_of(page);
    EXPECT_EQ(commands.size(), number) << page;
    std::filesystem::current_path(folder.path());
    for (const std::vector<std::string>& words : commands) {
      const outcome done = run(words);
      EXPECT_EQ(done.code, 0) << page << ": tessera " << testing::PrintToString(words) << "\n" << done.err;
    }
    std::filesystem::current_path(before);
  }
}

TEST(documented, every_command_and_every_option) {
  const std::regex option("\n  (?:-[a-z],)?(--[a-z-]+)"), command("\n  ([a-z]+)  +[A-Z]");
  const auto all = [](const std::string& text, const std::regex& what) {
    keys found;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), what); at != std::sregex_iterator(); ++at)
      found.insert((*at)[1]);
    return found;
  };
  const std::string top = run({"--help"}).out;
  const keys commands = all(top.substr(top.find("Subcommands:")), command);
  EXPECT_GE(commands.size(), 6u) << top;
  std::vector<std::vector<std::string>> lines;
  for (const std::string& name : commands) {
    const std::string only = name == "config"       ? " explain"
                             : name == "trace"      ? " summary"
                             : name == "sial"       ? " run"
                             : name == "checkpoint" ? " show"
                                                    : "";  // has subcommands alone
    if (only.empty()) lines.push_back({name});
    EXPECT_FALSE(section("## tessera " + name + only).empty());
  }
  lines.insert(lines.end(), {{"plugins", "explain"},
                             {"plugins", "layouts"},
                             {"plugins", "check"},
                             {"plugins", "new"},
                             {"config", "explain"},
                             {"trace", "summary"},
                             {"checkpoint", "show"},
                             {"sial", "run"},
                             {"sial", "check"},
                             {"sial", "list"},
                             {"sial", "init"}});
  const std::string shared = section("## Options of every run") + section("## Options that choose the machine") +
                             section("## Options of the applications over regions");
  for (std::vector<std::string> line : lines) {
    std::string heading = "## tessera";
    for (const std::string& word : line) heading += " " + word;
    const std::string page = section(heading) + shared;
    line.emplace_back("--help");
    for (const std::string& name : all(run(line).out, option))
      if (name != "--help") {
        EXPECT_NE(page.find("`" + name), std::string::npos) << heading << " does not document " << name;
      }
  }
}

}  // namespace
