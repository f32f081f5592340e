// `tessera sial` as a user runs it: jobs of several programs, what they leave, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* first_program = R"(sial first
predefined int rounds
aoindex i = 1:3
aoindex j = 1:3
index k = 1:rounds
distributed d[i,j]
static s[i,j]
temp t[i,j]
scalar x
pardo i,j
  t[i,j] = (scalar)(10*i + j)
  put d[i,j] = t[i,j]
  do k
    put d[i,j] += 1.0
  enddo k
endpardo i,j
sip_barrier
do i
do j
  get d[i,j]
  s[i,j] = d[i,j]
enddo j
enddo i
x = 2.5
println "first"
set_persistent d "d"
set_persistent s "s"
set_persistent x "x"
endsial first
)";
constexpr const char* second_program = R"(sial second
aoindex i = 1:3
aoindex j = 1:3
distributed d[i,j]
static s[i,j]
scalar x
scalar mine
scalar all
restore_persistent d "d"
restore_persistent s "s"
restore_persistent x "x"
pardo i,j
  get d[i,j]
  mine += d[i,j] * s[i,j]
endpardo i,j
collective all += mine
print all
print x
endsial second
)";

/// Two programs and their initialization data.
class sial : public testing::Test {
 protected:
  sial() {
    write("first.sialx", first_program);
    write("second.sialx", second_program);
    job(2);
  }
  void job(int rounds) {
    write("job.toml", "programs = [\"first.siox\", \"second.siox\"]\n[ints]\nrounds = " + std::to_string(rounds) +
                          "\n[segments]\nao = [1, 2, 3]\n");
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(at(name)) << text; }
  std::string at(const std::string& name) { return (m_folder.path() / name).string(); }
  outcome run_job(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"sial",      "run", "--init", at("job.toml"), "--sial-dir", m_folder.path().string(),
                                   "--workers", "3",   "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// sum over blocks of l_i l_j (10 i + j + rounds)^2, l the lengths 1, 2, 3.
  static std::string output(int rounds) {
    double sum = 0;
    for (int i = 1; i <= 3; ++i)
      for (int j = 1; j <= 3; ++j) sum += i * j * (10.0 * i + j + rounds) * (10.0 * i + j + rounds);
    char text[200];
    std::snprintf(text, sizeof text, "17:  all = %.14f\n18:  x = 2.50000000000000\n", sum);
    return text;
  }

  plugin_test::folder m_folder;
};

TEST_F(sial, programs_of_a_job_hand_on_what_they_keep) {
  const outcome done = run_job();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "first\n\n" + output(2));
}

TEST_F(sial, the_form_of_the_data_does_not_matter) {
  ASSERT_EQ(run({"sial", "init", at("job.toml"), at("job.dat")}).code, 0);
  const outcome done = run({"sial", "run", "--init", at("job.dat"), "--sial-dir", m_folder.path().string(), "--quiet"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "first\n\n" + output(2));
  EXPECT_EQ(run({"sial", "init", at("job.dat")}).out, run({"sial", "init", at("job.toml")}).out);
}

TEST_F(sial, validation_knows_what_barriers_order) {
  const outcome done = run_job({"--validate"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "first\n\n" + output(2));
}

TEST_F(sial, statements_that_ran_on_devices_are_counted) {
  const outcome done = run_job(
      {"--config", source("configs/sim_one.toml"), "--devices", "always", "--stats", "--profile", at("profile.html")});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out.find("first\n\n" + output(2)), 0u) << done.out;
  EXPECT_NE(done.err.find("block statements ran on devices"), std::string::npos) << done.err;
  EXPECT_NE(contents(at("profile.html")).find("<th>on devices"), std::string::npos);
  const outcome none = run_job({"--config", source("configs/sim_one.toml"), "--devices", "never", "--stats"});
  EXPECT_EQ(none.err.find("ran on devices"), std::string::npos) << none.err;
  EXPECT_NE(run_job({"--devices", "somewhere"}).code, 0);
  EXPECT_EQ(done.err.find("--devices always:"), std::string::npos) << done.err;
}

TEST_F(sial, what_devices_cannot_run_is_told_where_they_are_always_wanted) {
  const auto without = [&](const char* extensions, const char* use) {
    return run({"sial", "run", "--init", at("job.toml"), "--sial-dir", m_folder.path().string(), "--workers", "3",
                "--config", source("configs/sim_one.toml"), "--devices", use, "--set",
                "runtime.layers=[\"without:sim\"]", "--set",
                std::string("plugin.without.leave_out=\"") + extensions + "\"", "--set",
                "runtime.plugin_path=[\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR "/tests/plugins\"]"});
  };
  const outcome tensor = without("TENSOR", "always");
  EXPECT_EQ(tensor.code, 0) << tensor.err;
  EXPECT_THAT(tensor.err, HasSubstr("note: --devices always: sim0 cannot run contractions, copies of blocks, fills, "
                                    "which stay on the workers: its "
                                    "plugin does not offer the extension TENSOR"));
  EXPECT_THAT(
      without("TENSOR,BLAS", "always").err,
      HasSubstr("sums, scalings, which stay on the workers: its plugin does not offer the extension TENSOR nor BLAS"));
  EXPECT_EQ(without("TENSOR", "best").err.find("--devices always"), std::string::npos);
}

TEST_F(sial, a_job_goes_on_behind_the_last_completed_program) {
  write("second.sialx", std::string("sial second\nstop\nendsial second\n"));
  const outcome failed = run_job({"--checkpoint", at("kept")});
  EXPECT_EQ(failed.code, 8);
  EXPECT_THAT(failed.err, HasSubstr("second.sialx:2"));
  const outcome shown = run({"checkpoint", "show", at("kept"), "--json", "-"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(json_of(shown.out).at("sial").at("completed"), 1);
  EXPECT_EQ(json_of(shown.out).at("sial").at("programs").size(), 2u);
  EXPECT_FALSE(json_of(shown.out).at("sial").at("items").empty());
  EXPECT_THAT(run({"checkpoint", "show", at("kept")}).out, HasSubstr("1 of 2 programs completed"));
  write("second.sialx", second_program);
  const outcome done = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, output(2));
}

TEST_F(sial, a_job_that_was_killed_goes_on_too) {
  write("second.sialx",
        "sial second\nindex k = 1:2000000000\nindex l = 1:1000\nscalar x\ndo l\ndo k\nx += 1.0\nenddo k\nenddo "
        "l\nendsial second\n");
  {
    program killed({"sial", "run", "--init", at("job.toml"), "--sial-dir", m_folder.path().string(), "--checkpoint",
                    at("kept"), "--quiet"});
    for (int k = 0; k < 600 && !fs::exists(m_folder.path() / "kept" / "after-1"); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait().code, 1000 + SIGKILL);
  }
  write("second.sialx", second_program);
  const outcome done = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, output(2));
}

TEST_F(sial, checkpoints_that_are_damaged_or_of_another_job_are_refused) {
  ASSERT_EQ(run_job({"--checkpoint", at("kept")}).code, 0);
  job(3);
  const outcome other = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(other.code, 4);
  EXPECT_THAT(other.err, HasSubstr("of another job"));
  job(2);
  const fs::path elements = m_folder.path() / "kept" / "after-2" / "elements";
  {
    std::fstream file(elements, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(16);
    file.put('\x7f');
  }
  const outcome damaged = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(damaged.code, 4);
  EXPECT_THAT(damaged.err, HasSubstr("damaged"));
  fs::resize_file(elements, 8);
  const outcome cut = run_job({"--checkpoint", at("kept"), "--resume"});
  EXPECT_EQ(cut.code, 4);
  EXPECT_THAT(cut.err, HasSubstr("behind its end"));
  std::ofstream(m_folder.path() / "kept" / "after-2" / "manifest.json") << "{";
  EXPECT_EQ(run_job({"--checkpoint", at("kept"), "--resume"}).code, 4);
}

TEST_F(sial, what_is_left_is_dumped) {
  ASSERT_EQ(run_job({"--dump-final", at("left.json")}).code, 0);
  const nlohmann::json left = json_of(contents(at("left.json")));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0]["program"], "first");
  EXPECT_EQ(left[0]["ints"]["rounds"], 2);
  EXPECT_EQ(left[0]["scalars"]["x"], 2.5);
  const nlohmann::json& blocks = left[0]["arrays"][0]["blocks"];
  ASSERT_EQ(blocks.size(), 9u);
  EXPECT_EQ(blocks[5]["segments"], nlohmann::json({3, 2}));
  EXPECT_EQ(blocks[5]["shape"], nlohmann::json({3, 2}));
  EXPECT_EQ(blocks[5]["values"], nlohmann::json(std::vector<double>(6, 34.0)));
  EXPECT_EQ(left[0]["arrays"][1]["extents"], nlohmann::json({6, 6}));
  ASSERT_EQ(run_job({"--dump-final", at("left.json"), "--dump-checksums"}).code, 0);
  EXPECT_EQ(json_of(contents(at("left.json")))[0]["arrays"][0]["blocks"][5]["sum"], 6 * 34.0);
}

TEST_F(sial, profiles_name_every_line) {
  const outcome done = run_job({"--profile", at("p.txt")});
  ASSERT_EQ(done.code, 0) << done.err;
  const std::string text = contents(at("p.txt"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +9 .* 12    put d.i,j. = t.i,j.\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +18 .* 14      put d.i,j. .= 1.0\n"));
  // What was stored is counted in bytes, and how evenly workers shared it: from 1 to the number of workers.
  EXPECT_THAT(text,
              testing::ContainsRegex(" (bytes|[0-9.]+ [KM]?i?B) +- +[1-3]\\.[0-9]+ +12    put d.i,j. = t.i,j.\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n +[0-9]+ .* +all lines\n"));
  ASSERT_EQ(run_job({"--profile", at("p.html")}).code, 0);
  EXPECT_THAT(contents(at("p.html")), HasSubstr("<td class=l>12<td class=s>  put d[i,j] = t[i,j]"));
}

TEST_F(sial, a_profile_page_has_every_line_with_its_figures) {
  write("page.sialx",
        "sial page\naoindex i = 1:3\naoindex j = 1:3\ntemp t[i,j]\nscalar x\npardo i,j\nwhere i < j\n  t[i,j] = 1.0\n  "
        "x += t[i,j] * t[i,j]\nendpardo i,j\nendsial page\n");
  ASSERT_EQ(run({"sial", "run", at("page.sialx"), "--init", at("job.toml"), "--workers", "2", "--quiet", "--profile",
                 at("p.html")})
                .code,
            0);
  const std::string page = contents(at("p.html"));
  EXPECT_TRUE(page.starts_with("<!doctype html>")) << page;
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_THAT(page, HasSubstr("<title>Profile of page</title>"));
  EXPECT_THAT(page, testing::ContainsRegex("<p>2 workers; [0-9]+.[0-9]+ s in statements on data, over all workers"));
  EXPECT_THAT(page, HasSubstr("<h2>" + at("page.sialx") + "</h2>"));
  EXPECT_THAT(page,
              HasSubstr("<tr><th>times<th>seconds<th>mean &micro;s<th>min<th>max<th>std. dev.<th>waited s<th>bytes<th>"
                        "GFLOP/s<th>spread<th>line<th>"));
  EXPECT_THAT(page, HasSubstr("<tr><td><td><td><td><td><td><td><td><td><td><td class=l>7<td class=s>where i &lt; j"))
      << "conditions are not timed";
  // Three pairs i < j: shaded, times, seconds, mean, least, most, deviation, waited.
  const std::string figures =
      "<tr "
      "style=\"background:rgba.220,80,40,[0-9.]+.\"><td>3<td>[0-9.]+<td>[0-9.]+<td>[0-9.]+<td>[0-9.]+<td>[0-9.]+<td>[0-"
      "9.]+<td>-<td>[0-9.-]+<td>[0-9.]+<td class=l>";
  EXPECT_THAT(page, testing::ContainsRegex(figures + "8<td class=s>  t.i,j. = 1.0"));
  EXPECT_THAT(page, testing::ContainsRegex(figures + "9<td class=s>  x .= t.i,j. . t.i,j."));
  EXPECT_EQ(page.find("<script"), std::string::npos) << "it stands alone";
}

TEST_F(sial, exchanges_are_counted) {
  const outcome done = run_job({"--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json told = json_of(done.out);
  const auto exchange = [&](int program, int kind) {
    return told["programs"][static_cast<std::size_t>(program)]["exchanges"][static_cast<std::size_t>(kind)];
  };
  // All of d is 36 elements, 288 bytes. The first program stores it once and adds to it twice; each of the three
  // workers fetches it.
  EXPECT_EQ(exchange(0, 0)["kind"], "get");
  EXPECT_EQ(exchange(0, 0)["number"], 27);
  EXPECT_EQ(exchange(0, 0)["bytes"], 3 * 288);
  EXPECT_EQ(exchange(0, 0)["saved"], 0);
  EXPECT_EQ(exchange(0, 2)["kind"], "put");
  EXPECT_EQ(exchange(0, 2)["number"], 27);
  EXPECT_EQ(exchange(0, 2)["bytes"], 3 * 288);
  EXPECT_EQ(exchange(1, 0)["number"], 9);
  EXPECT_EQ(exchange(1, 1)["number"], 0);
  EXPECT_EQ(told["programs"][0]["gets"], 27);
  EXPECT_EQ(told["programs"][0]["hit_ratio"], 1);

  write("again.sialx",
        "sial again\naoindex i = 1:3\nserved s[i]\nindex k = 1:5\nscalar x\npardo i\nprepare s[i] = 1.0\nendpardo "
        "i\nserver_barrier\n"
        "do k\ndo i\nrequest s[i]\nx += s[i] * s[i]\nenddo i\nenddo k\nendsial again\n");
  const outcome again = run({"sial", "run", at("again.sialx"), "--init", at("job.toml"), "--workers", "2", "--quiet",
                             "--stats", "--json", at("again.json")});
  ASSERT_EQ(again.code, 0) << again.err;
  const nlohmann::json figures = json_of(contents(at("again.json")))["programs"][0];
  EXPECT_EQ(figures["exchanges"][1]["number"], 2 * 5 * 3);
  EXPECT_EQ(figures["exchanges"][1]["bytes"], 2 * 5 * 6 * 8);
  EXPECT_EQ(figures["exchanges"][1]["saved"], 2 * 4 * 3) << "fetched in the first round, there in the other four";
  EXPECT_EQ(figures["exchanges"][3]["number"], 3);
  EXPECT_EQ(figures["exchanges"][3]["bytes"], 6 * 8);
  EXPECT_EQ(figures["first_reads"], 6);
  EXPECT_THAT(again.err, HasSubstr("again: hit ratio 100.0 %: 6 of 6 blocks"));
  EXPECT_THAT(again.err, testing::ContainsRegex("\n  request +30 +480 B +24 +[0-9.]+\n"));
}

TEST_F(sial, dry_runs_count_what_programs_before_keep) {
  const outcome told = run_job({"--dry-run", "--json", "-"});
  ASSERT_EQ(told.code, 0) << told.err;
  const nlohmann::json jobs = json_of(told.out);
  ASSERT_EQ(jobs["programs"].size(), 2u);
  EXPECT_EQ(jobs["programs"][0]["kept_bytes"], 0);
  EXPECT_EQ(jobs["programs"][1]["kept_bytes"], 2 * 288) << "d and s";
  EXPECT_EQ(jobs["programs"][0]["iterations"], 9);
}

/// Bounds of loops that come from ints and scalars: the walk ahead follows them.
TEST_F(sial, blocks_are_asked_for_early_where_ints_and_scalars_bound_loops) {
  write("ahead.sialx", R"(sial ahead
predefined int rounds
aoindex i = 1:6
aoindex j = 1:6
index k = 1:10
served a[i,j]
temp t[i,j]
int n
scalar limit
scalar mine
scalar all
pardo i,j
  prepare a[i,j] = (scalar)(10 * i + j)
endpardo i,j
server_barrier
limit = 2.5
n = rounds + 1
pardo i, k
  do j
  where j <= n
    if (scalar)j < limit
      request a[i,j]
      t[i,j] = 1.0
      mine += a[i,j] * t[i,j]
    endif
    if (int)(limit * 2.0) == j + 2
      request a[i,j]
      t[i,j] = 1.0
      mine += a[i,j] * t[i,j]
    endif
  enddo j
endpardo i, k
collective all += mine
print all
endsial ahead
)");
  write("ahead.toml", "[ints]\nrounds = 2\n[segments]\nao = [100, 100, 100, 100, 100, 100]\n");
  double sum = 0;  // j = 1 and 2 by the first condition; 2 limit - 2 = 3 by the second
  for (int i = 1; i <= 6; ++i)
    for (int j = 1; j <= 3; ++j) sum += 10 * 1e4 * (10 * i + j);
  char expected[100];
  std::snprintf(expected, sizeof expected, "34:  all = %.14f\n", sum);
  for (const char* ahead : {"4", "0"}) {
    const outcome done = run({"sial", "run", at("ahead.sialx"), "--init", at("ahead.toml"), "--workers", "1", "--set",
                              "runtime.plugins=[\"host\", \"disk\"]", "--set", "memory.host_limit=1 MiB", "--set",
                              "memory.slab_bytes=256 KiB", "--set", "plugin.disk.capacity=64 MiB", "--look-ahead",
                              ahead, "--json", "-"});
    ASSERT_EQ(done.code, 0) << done.err;
    const nlohmann::json told = json_of(done.out);
    EXPECT_EQ(told["output"], expected);
    EXPECT_EQ(told["programs"][0]["gets"], 180);
    EXPECT_GT(told["programs"][0]["asked_early"].get<int>(), 0);
  }
}

TEST_F(sial, a_capped_memory_spills_to_the_disk) {
  write("large.sialx", R"(sial large
aoindex i = 1:6
aoindex j = 1:6
index n = 1:2
served a[i,j]
temp t[i,j]
scalar mine
scalar all
pardo i,j
  t[i,j] = (scalar)(i + j)
  prepare a[i,j] = t[i,j]
endpardo i,j
sip_barrier
do n
  pardo i,j
    request a[i,j]
    t[i,j] = 1.0
    mine += a[i,j] * t[i,j]
  endpardo i,j
  sip_barrier
enddo n
collective all += mine
print all
endsial large
)");
  write("large.toml", "[segments]\nao = [100, 100, 100, 100, 100, 100]\n");
  const std::vector<std::string> words{"sial",
                                       "run",
                                       at("large.sialx"),
                                       "--init",
                                       at("large.toml"),
                                       "--workers",
                                       "2",
                                       "--set",
                                       "runtime.plugins=[\"host\", \"disk\"]",
                                       "--set",
                                       "memory.host_limit=1 MiB",
                                       "--set",
                                       "memory.slab_bytes=256 KiB",
                                       "--set",
                                       "plugin.disk.capacity=64 MiB",
                                       "--json",
                                       "-"};
  const outcome done = run(words);
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json told = json_of(done.out);
  EXPECT_EQ(told["output"], "23:  all = 5040000.00000000000000\n");
  EXPECT_GT(told["bytes_transferred"].get<double>(), 0) << "nothing was spilled: the test tests nothing";
  EXPECT_GT(told["programs"][0]["asked_early"].get<int>(), 0);
}

TEST_F(sial, examples_print_what_their_pages_say) {
  const std::string folder = source("examples/sial/");
  const outcome first = run({"sial", "run", folder + "first.sialx", "--workers", "2", "--quiet"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr(contents(folder + "first.out")));
  const std::vector<std::string> with_data{folder + "transform.sialx", "--init", folder + "transform.toml"};
  for (const char* workers : {"1", "3"}) {
    std::vector<std::string> words{"sial", "run", "--workers", workers, "--quiet"};
    words.insert(words.end(), with_data.begin(), with_data.end());
    const outcome done = run(words);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(contents(folder + "transform.out")));
  }
}

/// Whether the build has integrals; where it has none, the error says so.
bool has_integrals(const outcome& done) { return done.err.find("this build has no integrals") == std::string::npos; }

TEST_F(sial, a_basis_comes_with_the_initialization_data) {
  write("overlap.sialx",
        "sial overlap\npredefined int norb\naoindex m = 1:norb\naoindex n = 1:norb\nspecial return_ovl w\n"
        "special compute_nn_repulsion u\nstatic s[m,n]\nscalar nuclear\nexecute compute_nn_repulsion nuclear\n"
        "print nuclear\nexecute return_ovl s\nprint s\nendsial overlap\n");
  // A hydrogen molecule in STO-3G: A. Szabo, N. S. Ostlund, Modern Quantum Chemistry (1989), section 3.5.2.
  write("h2.toml", R"(
[ints]
norb = 2
intspherical = 1
[segments]
ao = [1, 1]
[float_arrays]
charge = [1.0, 1.0]
coords = [0.0, 0.0, 0.0, 0.0, 0.0, 1.4]
alphas = [3.42525091, 0.62391373, 0.16885540, 3.42525091, 0.62391373, 0.16885540]
pcoeffs = [0.15432897, 0.53532814, 0.44463454, 0.15432897, 0.53532814, 0.44463454]
[int_arrays]
ivangmom = [0, 0]
npfps = [3, 3]
ncfps = [1, 1]
atom = [1, 2]
ixalphas = [1, 4]
ixpcoeffs = [1, 4]
)");
  const outcome done = run({"sial", "run", at("overlap.sialx"), "--init", at("h2.toml"), "--quiet"});
  if (!has_integrals(done)) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("nuclear = 0.71428571428571"));
  EXPECT_THAT(done.out, HasSubstr("0.6593"));
  write("none.toml", "[ints]\nnorb = 1\n[segments]\nao = [1]\n");
  const outcome none = run({"sial", "run", at("overlap.sialx"), "--init", at("none.toml")});
  EXPECT_EQ(none.code, 8);
  EXPECT_THAT(none.err, HasSubstr("it needs a molecule and its basis"));
  EXPECT_THAT(none.err, HasSubstr("overlap.sialx:9"));
}

TEST_F(sial, a_molecule_gives_a_program_its_orbitals) {
  write("h2.xyz", "2\nbohr\nH 0 0 0\nH 0 0 1.4\n");
  const std::vector<std::string> words{"sial",    "run",     "mp2.sialx", "--molecule", at("h2.xyz"),
                                       "--basis", "cc-pvdz", "--json",    "-"};
  const outcome done = run(words);
  if (!has_integrals(done)) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NEAR(nlohmann::json::parse(done.out).at("scf_energy").get<double>(), -1.1287, 1e-3);
  EXPECT_GT(nlohmann::json::parse(done.out).at("kept_integral_bytes").get<double>(), 0) << "programs read them";
  write("two.sialx", "import \"mp2.sialx\"\nsial two\nprint mp2_energy\nendsial two\n");
  const outcome anion = run({"sial", "run", at("two.sialx"), "--molecule", at("h2.xyz"), "--charge", "-1"});
  EXPECT_EQ(anion.code, 4);
  EXPECT_THAT(anion.err, HasSubstr("3 electrons do not have multiplicity 1"));
  write("both.toml", "[segments]\nmo = [1]\n");
  const outcome both =
      run({"sial", "run", "mp2.sialx", "--molecule", at("h2.xyz"), "--basis", "sto-3g", "--init", at("both.toml")});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--init and --molecule both give segments of mo"));
  EXPECT_EQ(run({"sial", "run", "mp2.sialx", "--basis", "sto-3g"}).code, 2);
  EXPECT_EQ(run({"sial", "run", at("none.sialx"), "--molecule", at("h2.xyz")}).code, 4);
}

/// A program that forgets the integrals of the field and one that goes on with them have the same.
TEST_F(sial, kept_integrals_are_those_that_are_computed) {
  write("water.xyz", "3\nbohr\nO 0 0 -0.1211\nH 0 1.43 0.986\nH 0 -1.43 0.986\n");
  const auto text = [](const std::string& before) {
    return "sial sums\npredefined int ao_segments\naoindex mu = 1:ao_segments\naoindex nu = 1:ao_segments\n"
           "aoindex la = 1:ao_segments\naoindex si = 1:ao_segments\nspecial compute_integral_batch w\n"
           "special forget_integrals\ntemp v[mu,nu,la,si]\nscalar sum\nscalar all\nsum = 0.0\n" +
           before +
           "sip_barrier\npardo mu, nu, la, si\n  execute compute_integral_batch v[mu,nu,la,si]\n"
           "  sum += v[mu,nu,la,si] * v[mu,nu,la,si]\nendpardo mu, nu, la, si\nall = 0.0\n"
           "collective all += sum\nprint all\nendsial sums\n";
  };
  write("kept.sialx", text(""));
  write("again.sialx", text("execute forget_integrals\n"));
  write("neither.sialx", "sial neither\nspecial return_h1 w\nprint \"none\"\nendsial neither\n");
  const auto seen = [&](const char* program) {
    const outcome done =
        run({"sial", "run", at(program), "--molecule", at("water.xyz"), "--json", "-", "--workers", "2"});
    EXPECT_EQ(done.code, 0) << done.err;
    return done.code == 0 ? nlohmann::json::parse(done.out) : nlohmann::json();
  };
  if (const outcome any = run({"sial", "run", at("kept.sialx"), "--molecule", at("water.xyz")}); !has_integrals(any))
    GTEST_SKIP() << any.err;
  const nlohmann::json kept = seen("kept.sialx"), again = seen("again.sialx");
  EXPECT_GT(kept.at("kept_integral_bytes").get<double>(), 8.0 * 1000);
  const auto sum_of = [](const nlohmann::json& of) {
    const std::string shown = of.at("output");
    return std::stod(shown.substr(shown.find_last_of("= ", shown.find_last_not_of(" \n")) + 1));
  };
  EXPECT_GT(sum_of(again), 1);
  EXPECT_NEAR(sum_of(kept), sum_of(again), 1e-9 * sum_of(again));
  EXPECT_EQ(seen("neither.sialx").at("kept_integral_bytes").get<double>(), 0) << "nobody reads them";
}

TEST_F(sial, wrong_words_are_told) {
  EXPECT_EQ(run({"sial", "run"}).code, 2);
  EXPECT_EQ(run({"sial", "run", at("none.sialx")}).code, 4);
  EXPECT_EQ(run({"sial", "run", m_folder.path().string()}).code, 4);
  EXPECT_EQ(run({"sial", "run", "--init", at("none.dat")}).code, 4);
  EXPECT_EQ(run({"sial", "check", "/dev/zero"}).code, 4);
  const outcome missing = run({"sial", "run", "--init", at("job.toml"), "--sial-dir", "/dev"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.err, HasSubstr("first.sialx"));
  EXPECT_THAT(missing.err, HasSubstr("searched: /dev"));
  write("wrong.sialx", "sial wrong\nscalar x\nx = 1\ny = 2.0\nendsial wrong\n");
  const outcome wrong = run({"sial", "run", at("wrong.sialx")});
  EXPECT_EQ(wrong.code, 4);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.sialx:3:"));
  EXPECT_THAT(wrong.err, HasSubstr("wrong.sialx:4:"));
  EXPECT_EQ(run({"sial", "list", at("wrong.sialx")}).code, 4);
  const outcome listed = run({"sial", "list", at("first.sialx")});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.out, HasSubstr("pardo_begin"));
}

}  // namespace
