// Every command on every ready machine: it ends well, its answer is right, its JSON says the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string machines[] = {
    "host",        "two_domains", "sim_one",  "sim_two",       "two_gpus_sim",
    "sim_quarter", "sim_faults",  "sim_lost", "host_and_disk", "cuda_emulated",
#if defined(TESSERA_TEST_OPENCL)
    "opencl",
#endif
};

/// Machines of a plugin made of gpu_common, of the same name.
bool is_gpu(const std::string& machine) { return machine == "cuda_emulated" || machine == "opencl"; }

/// Devices that a ready machine has beside the host.
std::size_t devices_of(const std::string& machine) {
  if (machine == "sim_two" || machine == "two_gpus_sim" || machine == "sim_lost") return 2;
  return machine.starts_with("sim") || is_gpu(machine) ? 1 : 0;
}

class on_machine : public testing::TestWithParam<std::string> {
 protected:
  std::string config() const { return source("configs/" + GetParam() + ".toml"); }
};
INSTANTIATE_TEST_SUITE_P(configs, on_machine, testing::ValuesIn(machines), [](const auto& test) { return test.param; });

TEST_P(on_machine, cholesky_of_a_real_matrix) {
  const outcome done =
      run({"cholesky", "--matrix", source("apps/cholesky/data/bcsstk09.mtx"), "--config", config(), "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = json_of(done.out);
  EXPECT_EQ(json.at("n"), 1083);
  EXPECT_LT(json.at("scaled_residual").get<double>(), 30);
  EXPECT_GT(json.at("scaled_residual").get<double>(), 0);
  EXPECT_EQ(json.at("residual_ok"), true);
  EXPECT_GT(json.at("gflops").get<double>(), 0);
  // 1083 rows in tiles of 128 are 9 tiles: 9 potrf, 36 trsm, 36 syrk, 84 gemm.
  EXPECT_EQ(json.at("tile"), 128);
  EXPECT_EQ(json.at("tasks"), 9 + 36 + 36 + 84);
  if (GetParam() == "host") {
    EXPECT_EQ(json.at("bytes_transferred"), 0);
  }
  if (GetParam() == "host_and_disk") {
    EXPECT_GT(json.at("bytes_transferred"), 0) << "what does not fit goes to the disk";
  }
}

TEST(configurations_of_gpus, leave_the_host_alone_where_there_is_none) {
  for (const std::string config : {"configs/cuda.toml", "configs/hip.toml"}) {
    const outcome done = run({"topology", "--config", source(config)});
    EXPECT_EQ(done.code, 0) << config << ": " << done.err;
    EXPECT_EQ(done.err, "") << "quietly";
    EXPECT_THAT(done.out, HasSubstr("core0")) << config;
  }
}

TEST(lost_device, is_told_and_the_job_begins_again_without_it) {
  const std::vector<std::string> job = {"cholesky",
                                        "--matrix",
                                        source("apps/cholesky/data/bcsstk09.mtx"),
                                        "--config",
                                        source("configs/sim_lost.toml"),
                                        "--set",
                                        "runtime.placement=eager",
                                        "--quiet",
                                        "--json",
                                        "-"};
  std::vector<std::string> cancelling = job;
  cancelling.insert(cancelling.end(), {"--set", "runtime.survive_loss=false"});
  // The shortest queue, not cost: a device that seems slow would get too few tasks to be lost. Whether something is
  // missed with it depends on how busy this machine is.
  constexpr int max_attempts = 20;
  bool told = false;
  for (int attempt = 0; attempt < max_attempts && !told; ++attempt) {
    const outcome done = run(job);
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = json_of(done.out);
    EXPECT_LT(json.at("scaled_residual").get<double>(), 30);
    if (done.err.empty()) continue;
    told = true;
    EXPECT_THAT(done.err, AllOf(HasSubstr("sim0"), HasSubstr("is lost"), HasSubstr("; beginning again without it")));
    EXPECT_EQ(json.at("statistics").at("lost_devices"), 1);
    EXPECT_GT(json.at("statistics").at("lost_blocks"), 0);
  }
  EXPECT_TRUE(told);
  bool cancelled = false;
  for (int attempt = 0; attempt < max_attempts && !cancelled; ++attempt) {
    const outcome ended = run(cancelling);
    cancelled = ended.code == 9;
    if (!cancelled) continue;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("sim0"), HasSubstr("lost"), Not(HasSubstr("beginning again"))));
  }
  EXPECT_TRUE(cancelled);
}

TEST_P(on_machine, cholesky_of_a_random_matrix_in_tiles_that_do_not_divide_it) {
  const outcome done = run({"cholesky", "--n", "333", "--tile", "50", "--seed", "7", "--repeat", "2", "--rhs", "ones",
                            "--config", config(), "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = json_of(done.out);
  EXPECT_LT(json.at("scaled_residual").get<double>(), 30);
  EXPECT_EQ(json.at("seed"), 7);
  EXPECT_EQ(json.at("repeat"), 2);
}

TEST_P(on_machine, gemm) {
  for (const std::string type : {"f64", "f32"}) {
    const outcome done = run({"gemm", "--n", "190", "--m", "70", "--k", "333", "--tile", "64", "--type", type,
                              "--config", config(), "--json", "-"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = json_of(done.out);
    EXPECT_EQ(json.at("m"), 70);
    EXPECT_EQ(json.at("type"), type);
    EXPECT_LT(json.at("scaled_error").get<double>(), 4);
    EXPECT_EQ(json.at("error_ok"), true);
    EXPECT_EQ(json.at("tasks"), 2 * 3 * 6);
  }
}

TEST(topology, of_an_application_shows_what_is_placed_where) {
  const std::vector<std::string> application{"hotspot", "--size", "64", "--policy", "percentage:75,25"};
  const auto shown = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--config", source("configs/host.toml"), "--"});
    words.insert(words.end(), application.begin(), application.end());
    words.insert(words.end(), {"--workers", "2"});
    return run(words);
  };
  const outcome text = shown({"topology"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"temperatures 32 KiB", "heat 75 %"}) EXPECT_THAT(text.out, HasSubstr(part));
  EXPECT_THAT(text.out, Not(HasSubstr("checksum")));
  EXPECT_THAT(shown({"topology", "--svg", "tree.txt"}).err, HasSubstr("ends in .svg, not to 'tree.txt'"));
  EXPECT_THAT(shown({"topology", "--svg", "a.svg", "--dot", "b.dot"}).err, HasSubstr("in one form"));
  EXPECT_THAT(run({"topology", "--", "hotspoot"}).err, HasSubstr("did you mean 'hotspot'?"));
  EXPECT_THAT(run({"topology", "--", "cholesky"}).err, HasSubstr("there is no application over regions 'cholesky'"));
}

TEST_P(on_machine, topology_in_all_forms) {
  const outcome text = run({"topology", "--config", config()});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with("machine")) << text.out;
  const auto json = json_of(run({"topology", "--config", config(), "--json", "-"}).out);
  EXPECT_EQ(json.at("name"), "machine");
  EXPECT_EQ(json.at("kind"), "machine");
  const std::string dot = run({"topology", "--config", config(), "--dot", "-"}).out;
  EXPECT_THAT(dot, AllOf(HasSubstr("graph"), HasSubstr("machine")));
  const std::string svg = run({"topology", "--config", config(), "--svg", "-"}).out;
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("</svg>")));
  for (const std::string& all : {text.out, json.dump(), dot, svg}) {
    EXPECT_THAT(all, HasSubstr("core"));
    if (GetParam() == "sim_one") {
      EXPECT_THAT(all, HasSubstr("sim0"));
    }
  }
}

TEST_P(on_machine, plugins) {
  const outcome text = run({"plugins", "--config", config()});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("device plugin by"), HasSubstr("opened"), HasSubstr("tessera_host.so")));
  const auto json = json_of(run({"plugins", "--config", config(), "--json", "-"}).out);
  EXPECT_TRUE(json.at("failure").is_null());
  bool host = false;
  std::size_t devices = 0;
  for (const auto& plugin : json.at("plugins")) {
    const bool is_host = plugin.at("name") == "host";
    const bool is_sim = plugin.at("name") == (is_gpu(GetParam()) ? GetParam() : "sim");
    if (is_host) {
      host = true;
      EXPECT_EQ(plugin.at("kind"), "device");
      EXPECT_FALSE(plugin.at("vendor").get<std::string>().empty());
      EXPECT_FALSE(plugin.at("version").get<std::string>().empty());
      EXPECT_THAT(plugin.at("abi").get<std::string>(), testing::MatchesRegex("[0-9]+\\.[0-9]+"));
      ASSERT_FALSE(plugin.at("devices").empty());
      EXPECT_FALSE(plugin.at("devices").at(0).at("spaces").empty());
    }
    if (is_host || is_sim) {
      EXPECT_EQ(plugin.at("opened"), is_host || devices_of(GetParam()) > 0);
    }
    if (is_sim) devices += plugin.at("devices").size();
  }
  EXPECT_TRUE(host);
  EXPECT_EQ(devices, devices_of(GetParam()));
  for (const auto& file : json.at("files")) EXPECT_FALSE(file.at("outcome") == "refused") << file;
}

TEST(commands, the_report_and_the_json_file_agree) {
  const plugin_test::folder place;
  const std::string file = place.path() / "figures.json";
  const outcome done = run({"cholesky", "--n", "200", "--json", file, "--stats", "--workers", "1", "--seed", "3"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = json_of(contents(file));
  EXPECT_EQ(json.at("workers"), 1);
  for (const std::string label :
       {"machine", "plugins", "BLAS", "tile", "tasks", "time", "GFLOP/s", "residual", "transfers"})
    EXPECT_THAT("\n" + done.out, HasSubstr("\n" + label + " ")) << label;
  EXPECT_THAT("\n" + done.out, HasSubstr("\nn            " + std::to_string(json.at("n").get<int>()) + "\n"));
  EXPECT_THAT("\n" + done.out, HasSubstr("\ntasks        " + std::to_string(json.at("tasks").get<int>()) + "\n"));
  EXPECT_THAT(done.out, HasSubstr(json.at("topology").get<std::string>()));
  EXPECT_THAT(done.out, HasSubstr(json.at("plugins").get<std::string>()));
}

TEST(commands, quiet_prints_nothing) {
  const outcome done = run({"gemm", "--n", "64", "--quiet"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "");
}

TEST(commands, one_seed_one_matrix) {
  const auto residual = [](const char* seed) {
    return json_of(run({"cholesky", "--n", "100", "--workers", "1", "--seed", seed, "--json", "-"}).out)
        .at("scaled_residual")
        .get<double>();
  };
  EXPECT_EQ(residual("5"), residual("5"));
  EXPECT_NE(residual("5"), residual("6"));
}

TEST(commands, more_workers_than_cores_is_allowed_and_said) {
  const std::string many = std::to_string(cores() + 2);
  const outcome done = run({"gemm", "--n", "100", "--tile", "20", "--workers", many, "--json", "-"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr(many + " workers share"));
  EXPECT_EQ(json_of(done.out).at("workers"), cores() + 2);
}

TEST(commands, the_json_has_what_the_statistics_print) {
  const plugin_test::folder place;
  const std::string file = place.path() / "figures.json";
  const outcome done = run({"gemm", "--n", "256", "--tile", "16", "--config", source("configs/two_gpus_sim.toml"),
                            "--workers", "1", "--set", "runtime.placement=eager", "--stats", "--json", file});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json s = json_of(contents(file)).at("statistics");
  const auto printed = [&](const std::string& form) {  // the numbers of a line
    std::smatch found;
    EXPECT_TRUE(std::regex_search(done.out, found, std::regex(form))) << form << "\n" << done.out;
    std::vector<std::uint64_t> numbers;
    for (std::size_t k = 1; k < found.size(); ++k) numbers.push_back(std::stoull(found[k]));
    return numbers;
  };
  const auto json = [](std::initializer_list<nlohmann::json> values) {
    return std::vector<std::uint64_t>(values.begin(), values.end());
  };
  EXPECT_EQ(printed("tasks +(\\d+) submitted, (\\d+) retired, (\\d+) stolen"),
            json({s["tasks_submitted"], s["tasks_retired"], s["steals"]}));
  EXPECT_EQ(printed("batches +(\\d+) launches for (\\d+) tasks; (\\d+) launches in all"),
            json({s["batches"]["launches"], s["batches"]["tasks"], s["device_launches"]}));
  EXPECT_EQ(printed("(\\d+) joined a transfer under way"), json({s["joined_fetches"]}));
  EXPECT_GT(s["batches"]["tasks"], 0);
  for (const auto& space : s["spaces"]) {
    EXPECT_LE(space["used_bytes"], space["reserved_bytes"]);
    EXPECT_TRUE(space["limit_bytes"].is_null() || space["peak_bytes"] <= space["limit_bytes"]) << space;
  }
}

TEST(commands, plugins_explain) {
  const outcome sim = run({"plugins", "explain", "sim"});
  ASSERT_EQ(sim.code, 0) << sim.err;
  EXPECT_THAT(sim.out, AllOf(HasSubstr("[plugin.sim]"), HasSubstr("device[].memory"), HasSubstr("bytes"),
                             HasSubstr("real | virtual"), HasSubstr("default")));
  const outcome behind_options =
      run({"plugins", "explain", "--config", source("configs/host.toml"), "--plugin-path", TESSERA_PLUGIN_DIR, "sim"});
  EXPECT_EQ(behind_options.code, 0) << "options take one value each\n" << behind_options.err;
  const outcome by_path = run({"plugins", "explain", TESSERA_PLUGIN_DIR "/tessera_sim.so"});
  EXPECT_EQ(by_path.code, 0) << by_path.err;
  EXPECT_EQ(by_path.out, sim.out);
}

TEST(commands, plugins_check) {
  const plugin_test::folder place;
  const std::string file = place.path() / "results.json";
  const outcome done = run({"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_template.so", "--filter", "copies",
                            "--seed", "11", "--json", file});
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("passed"), HasSubstr("copies."), HasSubstr("0 failed"), HasSubstr("seed 11")));
  const auto json = json_of(contents(file));
  EXPECT_EQ(json.at("plugin"), "template");
  EXPECT_EQ(json.at("failed"), 0);
  EXPECT_GT(json.at("passed"), 0);
  EXPECT_EQ(json.at("results").size(), json.at("passed").get<std::size_t>() + json.at("skipped").get<std::size_t>());
  const outcome options = run({"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_sim.so", "--option",
                               "device[0].memory=64 MiB", "--filter", "copies", "--json", "-"});
  EXPECT_EQ(options.code, 0) << options.err;
  EXPECT_EQ(json_of(options.out).at("plugin"), "sim");
  const outcome layered = run(
      {"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_sim.so", "--layer", "fault", "--filter", "copies.every_pair"});
  EXPECT_EQ(layered.code, 0) << layered.out << layered.err;
  const outcome faulty = run({"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_sim.so", "--layer", "fault",
                              "--layer-option", "inject[0].kind=copy_fails", "--filter", "copies.every_pair"});
  EXPECT_EQ(faulty.code, 5) << "the suite sees what the layer does";
  EXPECT_THAT(faulty.out, HasSubstr("copy_fails"));
  EXPECT_EQ(run({"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_sim.so", "--layer", "host"}).code, 5) << "no layer";
  EXPECT_EQ(run({"plugins", "check", TESSERA_PLUGIN_DIR "/tessera_sim.so", "--layer-option", "a=b"}).code, 2);
}

TEST(commands, config_explain_says_where_each_value_comes_from) {
  const outcome done = run({"config", "explain", "--config", source("configs/sim_one.toml"), "--set",
                            "memory.slab_bytes=32 MiB", "--json", "-"},
                           {"TESSERA_RUNTIME_WORKERS=3"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = json_of(done.out);
  const auto where = [&](const std::string& key) -> std::string {
    for (const auto& line : json)
      if (line.at("key") == key) return line.at("where");
    return "missing";
  };
  EXPECT_THAT(where("runtime.plugins"), testing::ContainsRegex("sim_one.toml:[0-9]+:1$"));
  EXPECT_THAT(where("runtime.workers"), HasSubstr("environment TESSERA_RUNTIME_WORKERS"));
  EXPECT_THAT(where("memory.slab_bytes"), HasSubstr("command line"));
  EXPECT_EQ(where("memory.eviction"), "default");
  EXPECT_THAT(where("plugin.sim.device[0].latency"), HasSubstr("sim_one.toml:"));
  const outcome changed = run({"config", "explain", "--set", "runtime.placement=eager", "--changed"});
  EXPECT_THAT(changed.out, AllOf(HasSubstr("runtime.placement"), Not(HasSubstr("runtime.workers"))));
}

#if defined(TESSERA_TEST_OPENCL)
/// Where the system's OpenCL library finds drivers is in this folder, which is empty.
TEST(commands, plugins_without_an_opencl_driver) {
  const plugin_test::folder folder;
  const std::vector<std::string> nowhere{"OCL_ICD_VENDORS=" + folder.path().string() + "/"};
  const outcome listed = run({"plugins", "--config", source("configs/opencl.toml")}, nowhere);
  EXPECT_EQ(listed.code, 5);
  EXPECT_THAT(
      listed.err,
      AllOf(HasSubstr(
                "plugin \"opencl\" cannot serve this machine: it finds no device: OpenCL: no OpenCL driver answers"),
            HasSubstr("CL_PLATFORM_NOT_FOUND_KHR"), HasSubstr("opencl?")));
  const outcome without = run({"gemm", "--n", "64", "--config", source("configs/opencl.toml"), "--set",
                               "runtime.plugins=[\"host\", \"opencl?\"]"},
                              nowhere);
  EXPECT_EQ(without.code, 0) << without.err;
}
#endif

TEST(commands, read_a_configuration_that_can_be_read_once) {
  const plugin_test::folder folder;
  const std::string pipe = (folder.path() / "machine.toml").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gemm", "--n", "64"}, std::vector<std::string>{"stream", "--size", "1000"}}) {
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << "[runtime]\nplugins = [\"host\", \"sim\"]\n"; });
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--config", pipe});
    const outcome seen = run(all);
    writer.join();
    std::filesystem::remove(pipe);
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_THAT(seen.out, HasSubstr("sim ")) << words[0];
  }
}

TEST(commands, history) {
  const plugin_test::folder folder;
  const std::string config = source("configs/sim_two.toml");
  const std::vector<std::string> cache{"XDG_CACHE_HOME=" + folder.path().string()};
  const auto history = [&](std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"history", "--config", config};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, cache);
  };
  EXPECT_THAT(history().out, HasSubstr("nothing has been learnt yet"));
  ASSERT_EQ(
      run({"gemm", "--n", "400", "--tile", "100", "--config", config, "--set", "runtime.placement=locality"}, cache)
          .code,
      0);
  EXPECT_THAT(history().out, HasSubstr("nothing has been learnt yet")) << "that placement learns nothing";
  ASSERT_EQ(run({"gemm", "--n", "400", "--tile", "100", "--config", config}, cache).code, 0) << "cost, by default";
  const outcome shown = history();
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr(folder.path().string() + "/tessera/history-"), HasSubstr("gemm"),
                               HasSubstr("cpu"), HasSubstr("sim: fast")));
  const auto json = json_of(history({"--json", "-"}).out);
  EXPECT_GE(json.at("sizes").size(), 2u);
  EXPECT_EQ(json.at("sizes")[0].at("operation"), "gemm");
  EXPECT_EQ(json.at("sizes")[0].at("amount"), 2e6);
  EXPECT_EQ(json.at("refused"), "");
  EXPECT_TRUE(json.at("regions").empty());
  ASSERT_EQ(run({"stream", "--size", "10000", "--rounds", "3", "--policy", "auto", "--config", config}, cache).code, 0);
  EXPECT_THAT(history().out, AllOf(HasSubstr("iterations/s"), HasSubstr("\ntriad "), HasSubstr("core0")));
  bool found = false;
  const auto learnt = json_of(history({"--json", "-"}).out);
  for (const auto& row : learnt.at("regions"))
    found =
        found || (row.at("region") == "triad" && row.at("iterations_per_second") > 0 && row.at("fixed_seconds") >= 0);
  EXPECT_TRUE(found);
  EXPECT_THAT(history().out, HasSubstr("\nregions of tessera\n"));
  EXPECT_EQ(learnt.at("regions")[0].at("program"), "tessera");
  const std::string triad = history({"--name", "tria"}).out, gemm = history({"--name", "gemm", "--top", "1"}).out;
  EXPECT_THAT(triad, AllOf(HasSubstr("\ntriad "), Not(HasSubstr("gemm")), Not(HasSubstr("\nadd "))));
  EXPECT_THAT(gemm, AllOf(HasSubstr("\ngemm "), Not(HasSubstr("\ntriad "))));
  EXPECT_EQ(json_of(history({"--top", "1", "--json", "-"}).out).at("regions").size(), 1u);
  EXPECT_LE(json_of(history({"--top", "1", "--json", "-"}).out).at("sizes").size(), 1u);
  EXPECT_THAT(history({"--name", "nonesuch"}).out, HasSubstr("nothing learnt has 'nonesuch' in its name"));
  EXPECT_EQ(history({"--clear", "--name", "gemm"}).code, 2) << "it would forget all";
  EXPECT_THAT(run({"history"}, cache).out, HasSubstr("nothing has been learnt yet")) << "another machine";
  EXPECT_THAT(history({"--clear"}).out, HasSubstr("is forgotten"));
  EXPECT_THAT(history({"--clear"}).out, HasSubstr("nothing had been learnt"));
  EXPECT_THAT(history().out, HasSubstr("nothing has been learnt yet"));
}

TEST(commands, a_history_that_cannot_be_written_is_said_before_the_work) {
  const outcome done = run({"gemm", "--n", "64", "--config", source("configs/sim_one.toml"), "--set",
                            "runtime.placement=cost", "--set", "runtime.history=/dev/null/h.json"});
  EXPECT_EQ(done.code, 3);
  EXPECT_THAT(done.err, AllOf(HasSubstr("/dev/null/h.json"), HasSubstr("runtime.history")));
}

TEST(commands, declared_trees) {
  for (const std::string config : {"declared_tree", "declared_tree_csv"}) {
    const outcome done = run({"topology", "--config", source("configs/" + config + ".toml")});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.out, AllOf(HasSubstr("LocA"), HasSubstr("LocG[1]")));
  }
}

TEST(commands, imagined_machines) {
  const outcome done = run({"topology", "--set", "topology.synthetic=package:2 numa:2 core:4 pu:1", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("imagined"));
  EXPECT_THAT(done.out, AllOf(HasSubstr("package1"), HasSubstr("numa3"), HasSubstr("core15")));
}

TEST(commands, help_and_version) {
  EXPECT_EQ(run({"--help"}).code, 0);
  EXPECT_THAT(run({"--version"}).out, testing::ContainsRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(run({"version"}).out, run({"--version"}).out);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"cholesky"},
                                                                                       {"gemm"},
                                                                                       {"topology"},
                                                                                       {"plugins"},
                                                                                       {"plugins", "explain"},
                                                                                       {"plugins", "check"},
                                                                                       {"config"},
                                                                                       {"config", "explain"},
                                                                                       {"history"},
                                                                                       {"simulate"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--help");
    const outcome done = run(arguments);
    EXPECT_EQ(done.code, 0) << command.back();
    EXPECT_THAT(done.out, AllOf(AnyOf(HasSubstr("Example:\n"), HasSubstr("Examples:\n")),
                                HasSubstr("tessera " + command.front())))
        << command.back();
  }
}

}  // namespace
