// tessera eigs: values with bounds, what did not converge, bad input.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;
using testing::Not;

/// A named pipe that a thread writes a file into, once.
class fed_pipe {
 public:
  fed_pipe(const std::filesystem::path& at, const std::string& file) : m_path(at) {
    EXPECT_EQ(::mkfifo(m_path.c_str(), 0600), 0);
    m_writer = std::thread([to = m_path, text = contents(file)] { std::ofstream(to) << text; });
  }
  ~fed_pipe() {
    const int never_read = ::open(m_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // the thread waits for a reader
    m_writer.join();
    ::close(never_read);
    std::filesystem::remove(m_path);
  }
  fed_pipe(const fed_pipe&) = delete;
  fed_pipe& operator=(const fed_pipe&) = delete;
  const std::string& path() const { return m_path; }

 private:
  std::string m_path;
  std::thread m_writer;
};

outcome eigs(std::vector<std::string> words) {
  words.insert(words.begin(), "eigs");
  return run(words);
}

TEST(eigs_command, finds_known_values) {
  const outcome done = eigs({"--generate", "lap3d:12", "--pairs", "4", "--tol", "1e-9", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  ASSERT_EQ(seen["eigenvalues"].size(), 4u);
  for (const auto& e : seen["eigenvalues"]) {
    EXPECT_LE(std::abs(e["value"].get<double>() - e["known"].get<double>()), e["error_bound"].get<double>());
    EXPECT_TRUE(e["converged"]);
  }
  EXPECT_TRUE(seen["converged"]);
  EXPECT_LT(seen["orthogonality"], 1e-10);
  EXPECT_EQ(seen["solver"], "lobpcg");
}

TEST(eigs_command, has_few_panels_for_a_device_that_has_room) {
  const auto panels = [](std::vector<std::string> where) {
    std::vector<std::string> words{"--generate", "lap3d:14", "--pairs", "1", "--iterations", "1", "--json", "-"};
    words.insert(words.end(), where.begin(), where.end());
    return json_of(eigs(words).out).at("panels").get<int>();
  };
  const std::string gpu = source("configs/cuda_emulated.toml");
  EXPECT_EQ(panels({"--config", gpu, "--at", "cuda_emulated0"}), 1);
  const int of_host = panels({"--config", gpu});
  EXPECT_GT(of_host, 2);
  EXPECT_EQ(panels({"--config", gpu, "--set", "plugin.cuda_emulated.memory_limit=\"4 MiB\"", "--at", "cuda_emulated0"}),
            of_host)
      << "so that the rest of the memory can change";
}

TEST(eigs_command, prints_a_bound_beside_each_value) {
  const outcome done = eigs({source("apps/sparse/data/gr_30_30.mtx"), "--pairs", "2", "--which", "largest"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("lambda 1"));
  EXPECT_THAT(done.out, HasSubstr("11.95905988"));
  EXPECT_THAT(done.out, HasSubstr("  +- "));
  EXPECT_THAT(done.out, HasSubstr("residual <= 1e-08 |lambda|"));
}

TEST(eigs_command, says_how_fast_it_was_and_how_it_converged) {
  const outcome done = eigs({"--generate", "lap2d:40", "--pairs", "2", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  const double each = seen["seconds_per_iteration"];
  EXPECT_NEAR(seen["gflops"].get<double>() * each, seen["flops_per_iteration"].get<double>() * 1e-9, 1e-9);
  EXPECT_NEAR(seen["gigabytes_per_second"].get<double>() * each, seen["bytes_per_iteration"].get<double>() * 1e-9,
              1e-9);
  // Two passes: the matrix in one, at least 16 times a block of 1600 x 4 numbers in both.
  EXPECT_GT(seen["bytes_per_iteration"], 16 * 1600 * 4 * 8);
  EXPECT_EQ(seen["passes"], 2);
  const nlohmann::json& steps = seen["convergence"];
  ASSERT_EQ(steps.size(), seen["iterations"].get<std::size_t>());
  EXPECT_EQ(steps.back()["converged"], 2);
  EXPECT_EQ(steps.back()["residuals"].size(), 2u);
  EXPECT_LT(steps.back()["largest_residual"], steps.front()["largest_residual"]);
  EXPECT_NEAR(steps.back()["values"][0].get<double>(), seen["eigenvalues"][0]["value"].get<double>(), 1e-9);
}

TEST(eigs_command, draws_its_convergence_in_the_report) {
  const plugin_test::folder folder;
  const std::string file = folder.path() / "r.html";
  for (const char* solver : {"lobpcg", "lanczos"}) {
    const outcome done = eigs({"--generate", "lap2d:30", "--pairs", "2", "--solver", solver, "--report", file});
    ASSERT_EQ(done.code, 0) << done.err;
    const std::string page = contents(file);
    for (const char* part : {"<h2>Eigenpairs</h2>", "<h2>Convergence</h2>", "<h2>The task graph</h2>", "Residuals",
                             "passes over the rows", "<h2>Timeline</h2>", "by formula"})
      EXPECT_THAT(page, HasSubstr(part)) << solver;
    EXPECT_EQ(page.find("nan"), page.npos);
  }
  const outcome dense = eigs({"--generate", "lap2d:3", "--pairs", "2", "--report", file});
  ASSERT_EQ(dense.code, 0) << dense.err;
  EXPECT_THAT(contents(file), HasSubstr("<h2>Eigenpairs</h2>"));
  EXPECT_EQ(contents(file).find("<h2>Convergence</h2>"), std::string::npos) << "there was no iteration";
}

TEST(eigs_command, writes_vectors) {
  const plugin_test::folder folder;
  const std::string file = folder.path() / "v.mtx";
  const outcome done =
      eigs({source("apps/sparse/data/bcsstk01.mtx"), "--pairs", "2", "--precond", "jacobi", "--out", file});
  ASSERT_EQ(done.code, 0) << done.err;
  std::ifstream written(file);
  std::string first;
  std::getline(written, first);
  EXPECT_EQ(first, "%%MatrixMarket matrix array real general");
  double rows = 0, columns = 0, square = 0;
  written >> rows >> columns;
  EXPECT_EQ(rows, 48);
  EXPECT_EQ(columns, 2);
  for (double x = 0; written >> x;) square += x * x;
  EXPECT_NEAR(square, 2, 1e-12);
}

TEST(eigs_command, finds_both_ends_with_lanczos) {
  const outcome done = eigs({"--generate", "lap2d:20", "--solver", "lanczos", "--which", "both", "--pairs", "2"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Lanczos, block 4"));
  EXPECT_THAT(done.out, HasSubstr("seen up to 4, the block"));
  const outcome single = eigs({"--generate", "lap2d:20", "--solver", "lanczos", "--block", "1", "--pairs", "1"});
  ASSERT_EQ(single.code, 0) << single.err;
  EXPECT_THAT(single.out, HasSubstr("not seen: one vector finds one of several equal eigenvalues"));
}

TEST(eigs_command, marks_pairs_whose_number_is_not_known) {
  // The last pairs are of a level of many equal values.
  const outcome done = eigs({"--generate", "hs:12", "--solver", "lanczos", "--pairs", "6"});
  EXPECT_THAT(done.out, HasSubstr("(in a cluster: may have another number)"));
  const outcome apart = eigs({"--generate", "lap2d:20", "--pairs", "2"});
  EXPECT_THAT(apart.out, Not(HasSubstr("cluster")));
}

TEST(eigs_command, ends_with_1_when_pairs_did_not_converge) {
  const outcome done = eigs({"--generate", "lap2d:40", "--pairs", "3", "--iterations", "2"});
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.out, HasSubstr("NOT CONVERGED"));
  EXPECT_THAT(done.err, HasSubstr("error: 0 of 3 pairs converged in 2 iterations"));
  EXPECT_THAT(done.err, HasSubstr("hint: "));
}

TEST(eigs_command, says_where_rounding_ends_the_search) {
  // A graph's Laplacian has the eigenvalue 0, to which no residual is small.
  const outcome done = eigs({"--generate", "rmat:7", "--pairs", "1", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  EXPECT_NEAR(seen["eigenvalues"][0]["value"].get<double>(), 0, 1e-9);
}

TEST(eigs_command, says_what_is_wrong_with_its_input) {
  const plugin_test::folder folder;
  const auto with = [&](const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.begin(), folder.write("m.mtx", text));
    return eigs(more);
  };
  const auto expect = [](const outcome& done, int code, const std::string& text) {
    EXPECT_EQ(done.code, code) << done.err;
    EXPECT_THAT(done.err, HasSubstr(text));
  };
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  expect(with(general + "2 3 1\n1 1 1\n"), 4, "2 x 3, not square");
  expect(with(general + "2 2 2\n1 2 1\n1 1 1\n"), 4, "(1, 2) is 1 and (2, 1) is 0");
  expect(with(general + "2 2 1\n1 1 nan\n"), 4, "m.mtx:3");
  expect(with(general + "2 2 1\n1 x 1\n"), 4, "m.mtx:3");
  expect(with(general + "2 2 2\n1 1 1\n2 2 1\n", {"--pairs", "3"}), 2, "3 pairs of a matrix of 2 rows");
  expect(with(general + "2 2 2\n1 1 1\n2 2 1\n", {"--pairs", "2", "--block", "1"}), 2, "a block of 1 cannot hold 2");
  expect(with("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n"), 4, "hermitian where");
  expect(eigs({"no_such.mtx"}), 4, "no such matrix file");
  expect(eigs({"none.mtx"}), 4, "standard input is -");
  expect(eigs({"--generate", "lap9d:3"}), 2, "no family 'lap9d'");
  expect(eigs({}), 2, "eigs needs a matrix");
  expect(eigs({"--generate", "lap2d:9", "--which", "middle"}), 2, "--which");
  expect(eigs({"--generate", "lap2d:9", "--which", "both"}), 2, "LOBPCG goes to one end");
  expect(eigs({"--generate", "lap2d:9", "--which", "both"}), 2, "--solver lanczos and --solver chebyshev find both");
  for (const char* solver : {"lobpcg", "lanczos"})
    expect(eigs({"--generate", "lap2d:9", "--solver", solver, "--degree", "7"}), 2, "at: --degree");
  expect(eigs({"--generate", "lap2d:9", "--at", "nowhere"}), 2, "at: --at");
  expect(eigs({"--generate", "lap2d:9", "--solver", "lanczos", "--precond", "jacobi"}), 2, "no preconditioner");
  expect(eigs({"--generate", "lap2d:9", "--solver", "lanczos", "--lag", "1"}), 2, "Lanczos takes no lag");
  expect(eigs({"--generate", "lap2d:9", "--lag", "-1"}), 2, "--lag");
  expect(eigs({"--generate", "lap2d:9", "--solver", "chebyshev", "--degree", "0"}), 2, "--degree");
  expect(eigs({"--generate", "lap2d:9", "--solver", "arnoldi"}), 2, "--solver");
  expect(eigs({"--generate", "lap2d:9", "--precond", "ilu"}), 2, "--precond");
  expect(eigs({"--generate", "lap2d:9", "--reorthogonalize", "selective"}), 2,
         "takes no choice of reorthogonalization");
  expect(eigs({"--generate", "lap2d:9", "--deflate", "no_such.mtx"}), 4, "no such matrix file");
  expect(eigs({"--generate", "lap2d:9", "--out", "/no/such/folder/v.mtx"}), 2, "/no/such/folder");
}

TEST(eigs_command, takes_a_mass_matrix_and_a_guess) {
  const plugin_test::folder folder;
  const std::string file = folder.path() / "v.mtx";
  std::vector<std::string> words{source("apps/sparse/data/lund_a.mtx"),
                                 "--mass",
                                 source("apps/sparse/data/lund_b.mtx"),
                                 "--pairs",
                                 "3",
                                 "--precond",
                                 "jacobi",
                                 "--tol",
                                 "1e-7",
                                 "--json",
                                 "-"};
  std::vector<std::string> first = words, second = words;
  first.insert(first.end(), {"--out", file});
  second.insert(second.end(), {"--guess", file});
  const outcome cold = eigs(first), warm = eigs(second);
  ASSERT_EQ(cold.code, 0) << cold.err;
  ASSERT_EQ(warm.code, 0) << warm.err;
  EXPECT_NEAR(json_of(cold.out)["eigenvalues"][0]["value"].get<double>(), 208.236649516, 1e-3);
  EXPECT_LE(json_of(warm.out)["iterations"].get<int>(), 1);
  const outcome wrong = eigs({"--generate", "lap2d:9", "--guess", file});
  EXPECT_EQ(wrong.code, 4);
  EXPECT_THAT(wrong.err, HasSubstr("the vectors have 147 rows, and the matrix has 81"));
  const outcome lanczos = eigs({"--generate", "lap2d:9", "--pairs", "1", "--solver", "lanczos", "--mass",
                                source("apps/sparse/data/lund_b.mtx")});
  EXPECT_EQ(lanczos.code, 4);
  EXPECT_THAT(lanczos.err, HasSubstr("the mass matrix is 147 x 147, and the matrix 81 x 81"));
}

TEST(eigs_command, prints_the_criterion_that_it_has_with_a_second_matrix) {
  const plugin_test::folder folder;
  std::ostringstream diagonal;
  diagonal << "%%MatrixMarket matrix coordinate real general\n81 81 81\n";
  for (int i = 1; i <= 81; ++i) diagonal << i << ' ' << i << " 2\n";
  const std::string mass = folder.write("b.mtx", diagonal.str());
  const auto printed = [&](const char* solver, const char* criterion) {
    const outcome done =
        eigs({"--generate", "lap2d:9", "--pairs", "1", "--mass", mass, "--solver", solver, "--criterion", criterion});
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  };
  EXPECT_THAT(printed("lobpcg", "relative"), HasSubstr("residual / sqrt(mu) <= 1e-08 |lambda|, mu the smallest"));
  EXPECT_THAT(printed("lobpcg", "norm"), HasSubstr("residual / sqrt(mu) <= 1e-08 ||A|| / mu, mu the smallest"));
  EXPECT_THAT(printed("lanczos", "relative"), HasSubstr("||B^-1/2 (A x - lambda B x)|| <= 1e-08 |lambda|"));
}

TEST(eigs_command, gives_vectors_in_the_order_of_the_file) {
  const plugin_test::folder folder;
  const std::string file = folder.path() / "v.mtx";
  std::vector<std::string> words{source("apps/sparse/data/lund_a.mtx"),
                                 "--mass",
                                 source("apps/sparse/data/lund_b.mtx"),
                                 "--pairs",
                                 "2",
                                 "--precond",
                                 "jacobi",
                                 "--tol",
                                 "1e-7",
                                 "--json",
                                 "-"};
  std::vector<std::string> first = words, second = words, third = words;
  first.insert(first.end(), {"--reorder", "rcm", "--out", file});
  second.insert(second.end(), {"--guess", file});
  third.insert(third.end(), {"--reorder", "rcm", "--guess", file});
  const outcome reordered = eigs(first), plain = eigs(second), again = eigs(third);
  ASSERT_EQ(reordered.code, 0) << reordered.err;
  EXPECT_EQ(json_of(reordered.out)["reorder"], "rcm");
  EXPECT_NEAR(json_of(reordered.out)["eigenvalues"][0]["value"].get<double>(), 208.236649516, 1e-3);
  for (const outcome& warm : {plain, again}) {
    ASSERT_EQ(warm.code, 0) << warm.err;
    EXPECT_LE(json_of(warm.out)["iterations"].get<int>(), 1);
  }
}

TEST(eigs_command, tells_what_rounding_the_values_changes) {
  const auto found = [](const char* storage) {
    const outcome done = eigs({source("apps/sparse/data/bcsstk01.mtx"), "--pairs", "1", "--which", "largest",
                               "--storage", storage, "--json", "-"});
    EXPECT_EQ(done.code, 0) << done.err;
    return json_of(done.out);
  };
  const nlohmann::json exact = found("double"), rounded = found("float");
  EXPECT_EQ(exact["storage_change"], 0);
  const double change = rounded["storage_change"];
  EXPECT_GT(change, 0);
  EXPECT_LT(change, 1e-7 * rounded["norm"].get<double>());
  const nlohmann::json &a = exact["eigenvalues"][0], &b = rounded["eigenvalues"][0];
  EXPECT_NE(a["value"], b["value"]);
  EXPECT_GE(b["error_bound"].get<double>(), change);
  EXPECT_LE(std::abs(a["value"].get<double>() - b["value"].get<double>()),
            a["error_bound"].get<double>() + b["error_bound"].get<double>());
  const outcome refused = eigs(
      {source("apps/sparse/data/lund_a.mtx"), "--mass", source("apps/sparse/data/lund_b.mtx"), "--storage", "float"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, testing::HasSubstr("leave out --storage or --mass"));
}

TEST(eigs_command, finds_the_same_bits_in_any_form) {
  const auto values = [](const std::string& form) {
    const outcome done = eigs({"--generate", "lap2d:30", "--pairs", "2", "--solver", "lanczos", "--block", "1",
                               "--form", form, "--json", "-"});
    EXPECT_EQ(done.code, 0) << done.err;
    nlohmann::json seen = json_of(done.out);
    if (form != "auto") {
      EXPECT_EQ(seen["form"], form);
    }
    return seen["eigenvalues"];
  };
  const nlohmann::json known = values("csr");
  for (const std::string form : {"auto", "sell", "bcsr"}) EXPECT_EQ(values(form), known) << form;
}

TEST(eigs_command, keeps_its_result_where_a_file_name_is_no_utf_8) {
  const plugin_test::folder folder;
  const std::string named = (folder.path() / "b\xe9.mtx").string();
  std::filesystem::copy_file(source("apps/sparse/data/bcsstk01.mtx"), named);
  const std::string out = (folder.path() / "v\xe9.mtx").string(), json = (folder.path() / "o.json").string();
  for (const bool written : {false, true}) {
    std::vector<std::string> words{written ? source("apps/sparse/data/bcsstk01.mtx") : named, "--pairs", "1", "--json",
                                   json};
    if (written) words.insert(words.end(), {"--out", out});
    const outcome done = eigs(words);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("lambda 1"));
    const nlohmann::json seen = json_of(contents(json));
    EXPECT_EQ(seen["eigenvalues"].size(), 1u);
    EXPECT_THAT(seen[written ? "vectors" : "matrix"].get<std::string>(), HasSubstr("\xef\xbf\xbd.mtx"));
  }
  const outcome products = run({"spmv", named, "--repeats", "1", "--stream-size", "1000", "--json", "-"});
  EXPECT_EQ(products.code, 0) << products.err;
  EXPECT_GT(json_of(products.out)["products"].size(), 0u);
}

TEST(eigs_command, finds_what_the_vectors_of_a_guess_hide_and_says_how_it_looked) {
  const plugin_test::folder folder;
  const std::string first = folder.path() / "first.mtx", second = folder.path() / "second.mtx";
  ASSERT_EQ(eigs({"--generate", "lap2d:60", "--pairs", "4", "--tol", "1e-10", "--out", first}).code, 0);
  ASSERT_EQ(
      eigs({"--generate", "lap2d:60", "--pairs", "4", "--tol", "1e-10", "--deflate", first, "--out", second}).code, 0);
  for (const char* solver : {"lobpcg", "lanczos", "chebyshev"}) {
    const outcome done =
        eigs({"--generate", "lap2d:60", "--pairs", "4", "--guess", second, "--solver", solver, "--json", "-"});
    ASSERT_EQ(done.code, 0) << done.err;
    const nlohmann::json seen = json_of(done.out);
    for (const nlohmann::json& e : seen["eigenvalues"]) {
      EXPECT_LE(std::abs(e["value"].get<double>() - e["known"].get<double>()), e["error_bound"].get<double>());
      EXPECT_FALSE(e["unsettled"].get<bool>());
    }
    EXPECT_GT(seen["search_iterations"].get<int>(), 0);
  }
}

TEST(eigs_command, takes_a_zero_matrix) {
  const plugin_test::folder folder;
  const outcome done =
      eigs({folder.write("m.mtx", "%%MatrixMarket matrix coordinate real symmetric\n50 50 0\n"), "--pairs", "2"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("lambda 2"));
}

TEST(eigs_command, refuses_what_memory_does_not_hold) {
  const outcome iterated = eigs({"--generate", "lap2d:100", "--block", "1000", "--set", "memory.host_limit=64 MiB"});
  EXPECT_NE(iterated.code, 0);
  EXPECT_THAT(iterated.err, HasSubstr("the vectors take"));
  const outcome dense = eigs({"--generate", "lap2d:100", "--block", "4000", "--set", "memory.host_limit=64 MiB"});
  EXPECT_THAT(dense.err, HasSubstr("the vectors take"));
  const outcome generated = eigs({"--generate", "rmat:28:256"});  // 2 TiB
  EXPECT_EQ(generated.code, 7);
  EXPECT_THAT(generated.err, HasSubstr("at: the family 'rmat:28:256'"));
}

TEST(eigs_command, refuses_a_tolerance_that_is_no_number) {
  for (const char* tolerance : {"nan", "inf", "-1", "2", "small"}) {
    const outcome done = eigs({"--generate", "lap2d:20", "--tol", tolerance});
    EXPECT_EQ(done.code, 2) << tolerance;
    EXPECT_THAT(done.err, AllOf(HasSubstr("--tol"), HasSubstr(tolerance)));
  }
}

TEST(eigs_command, writes_no_vectors_to_standard_output) {
  const outcome done = eigs({"--generate", "lap2d:5", "--pairs", "1", "--out", "-"});
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("vectors go to a file"));
  EXPECT_THAT(done.err, HasSubstr("at: --out"));
}

TEST(eigs_command, begins_again_without_a_device_that_is_lost) {
  for (const char* solver : {"lobpcg", "lanczos", "chebyshev"}) {
    const outcome done = eigs({"--generate", "lap3d:8", "--pairs", "2", "--solver", solver, "--config",
                               source("configs/sim_lost.toml"), "--at", "sim0", "--json", "-"});
    ASSERT_EQ(done.code, 0) << solver << ": " << done.err;
    EXPECT_THAT(done.err, HasSubstr("it is lost")) << solver;
    const nlohmann::json seen = json_of(done.out);
    EXPECT_EQ(seen["statistics"]["lost_devices"], 1) << solver;
    EXPECT_NEAR(seen["eigenvalues"][0]["value"], seen["eigenvalues"][0]["known"], 1e-7) << solver;
    // There may be nothing on it that nothing else had.
    EXPECT_EQ(done.err.find("and with it") == std::string::npos,
              done.err.find("beginning again without it") == std::string::npos)
        << solver << ": " << done.err;
  }
}

/// Few panels of a small memory are under way, and no cache for others. A device has more of them than the host.
TEST(eigs_command, has_small_panels_for_a_device_that_has_no_room) {
  const auto told = [](std::vector<std::string> more) {
    std::vector<std::string> words{
        "--generate", "lap3d:20",     "--pairs", "4",        "--tol",
        "1e-14",      "--iterations", "19",      "--config", source("configs/sim_sparse.toml"),
        "--at",       "sim0",         "--json",  "-"};
    words.insert(words.end(), more.begin(), more.end());
    const nlohmann::json seen = json_of(eigs(words).out);
    double bytes = 0;
    for (const nlohmann::json& link : seen["moved"]) bytes += link["bytes_per_iteration"].get<double>();
    return std::pair(seen["panels"].get<int>(), bytes);
  };
  const auto chosen = told({}), of_host = told({"--panel", "572"}), fifo = told({"--set", "memory.eviction=fifo"});
  EXPECT_GT(chosen.first, 2 * of_host.first);
  // What the host's panels move varies with how many are under way: it is no measure here.
  EXPECT_LT(chosen.second, 0.9 * fifo.second);
}

TEST(eigs_command, tells_of_a_device_that_is_too_small_or_lost) {
  const plugin_test::folder folder;
  const auto printed = [&](const std::string& memory) {
    const std::string machine = folder.write(
        "m.toml",
        "[runtime]\nplugins = [\"host\", \"sim\"]\n[plugin.sim]\nclock = \"virtual\"\n[[plugin.sim.device]]\n"
        "memory = \"" +
            memory + "\"\n");
    const outcome done = eigs({"--generate", "lap3d:8", "--pairs", "2", "--config", machine, "--at", "sim0"});
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  };
  EXPECT_THAT(printed("4 KiB"),
              testing::ContainsRegex("elsewhere +all of [0-9]+ tasks over the rows did not run at sim0"));
  EXPECT_THAT(printed("16 MiB"), Not(HasSubstr("elsewhere")));
  const outcome lost =
      eigs({"--generate", "lap3d:8", "--pairs", "2", "--config", source("configs/sim_lost.toml"), "--at", "sim0"});
  EXPECT_EQ(lost.code, 0) << lost.err;
  EXPECT_THAT(lost.out, testing::ContainsRegex("lost +1 device, and [0-9]+ blocks with them"));
}

TEST(eigs_command, filters_subspaces_with_a_lag) {
  const outcome done = eigs({"--generate", "lap2d:20", "--solver", "chebyshev", "--which", "both", "--pairs", "2",
                             "--degree", "12", "--lag", "1", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  EXPECT_EQ(seen["solver"], "chebyshev");
  const double low = seen["eigenvalues"][0]["value"], high = seen["eigenvalues"][1]["value"];
  EXPECT_NEAR(low + high, 8, 1e-7);
}

/// A file of eigenvalues 1 to n, with vectors that are unit vectors.
std::string diagonal(const plugin_test::folder& in, int n) {
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << n << '\n';
  for (int i = 1; i <= n; ++i) text << i << ' ' << i << ' ' << i << '\n';
  return in.write("diagonal.mtx", text.str());
}

TEST(eigs_command, adds_up_what_a_file_of_vectors_gives_twice) {
  const plugin_test::folder folder;
  const std::string second =
      folder.write("v.mtx", "%%MatrixMarket matrix coordinate real general\n60 1 3\n1 1 5\n2 1 5\n1 1 -5\n");
  const outcome done = eigs({diagonal(folder, 60), "--pairs", "3", "--deflate", second, "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json values = json_of(done.out)["eigenvalues"];
  for (const int k : {0, 1, 2}) EXPECT_NEAR(values[k]["value"].get<double>(), (std::array{1, 3, 4}[k]), 1e-6);
}

TEST(eigs_command, reads_its_files_once) {
  const plugin_test::folder folder;
  const std::string complex =
      folder.write("y.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n4 4 2\n2 1 0 1\n4 3 0 2\n");
  const std::string vector = folder.write("v.mtx", "%%MatrixMarket matrix coordinate real general\n60 1 1\n1 1 1\n");
  const auto lowest = [&](std::vector<std::string> words, const std::vector<std::string>& files) {
    std::vector<std::unique_ptr<fed_pipe>> pipes;
    for (const std::string& file : files) {
      pipes.push_back(std::make_unique<fed_pipe>(folder.path() / ("pipe" + std::to_string(pipes.size())), file));
      words.push_back(pipes.back()->path());
      if (pipes.size() < files.size()) words.push_back(pipes.size() == 1 ? "--guess" : "--deflate");
    }
    words.insert(words.begin(), {"--pairs", "1", "--json", "-"});
    const outcome done = eigs(words);
    EXPECT_EQ(done.code, 0) << done.err;
    return json_of(done.out)["eigenvalues"][0]["value"].get<double>();
  };
  EXPECT_NEAR(lowest({}, {diagonal(folder, 60), vector, vector}), 2, 1e-6);
  EXPECT_NEAR(lowest({}, {complex}), -2, 1e-6);
}

TEST(eigs_command, has_no_formula_for_what_deflated_vectors_leave) {
  const plugin_test::folder folder;
  const std::string file = folder.path() / "v.mtx", page = folder.path() / "r.html";
  ASSERT_EQ(eigs({"--generate", "lap2d:20", "--pairs", "2", "--tol", "1e-10", "--out", file}).code, 0);
  const outcome done =
      eigs({"--generate", "lap2d:20", "--pairs", "2", "--deflate", file, "--json", "-", "--report", page});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto told = json_of(done.out);
  for (const auto& e : told["eigenvalues"]) EXPECT_FALSE(e.contains("known")) << e;
  EXPECT_THAT(contents(page), Not(HasSubstr("by formula")));
}

TEST(eigs_command, finds_the_next_pairs_beside_deflated_ones) {
  const plugin_test::folder folder;
  const std::string file = folder.path() / "v.mtx";
  const outcome first = eigs({"--generate", "lap2d:20", "--pairs", "3", "--tol", "1e-9", "--out", file});
  ASSERT_EQ(first.code, 0) << first.err;
  for (const char* solver : {"lobpcg", "lanczos", "chebyshev"}) {
    const outcome next =
        eigs({"--generate", "lap2d:20", "--pairs", "1", "--deflate", file, "--solver", solver, "--json", "-"});
    ASSERT_EQ(next.code, 0) << next.err;
    EXPECT_NEAR(json_of(next.out)["eigenvalues"][0]["value"].get<double>(), 0.1768, 1e-3) << solver;
  }
}

TEST(eigs_command, says_what_helps_at_the_low_end_of_a_stiff_matrix) {
  const outcome done =
      eigs({source("apps/sparse/data/lund_a.mtx"), "--pairs", "2", "--solver", "lanczos", "--iterations", "3"});
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.err, HasSubstr("--solver lobpcg --precond block-jacobi"));
  const outcome helped = eigs({source("apps/sparse/data/lund_a.mtx"), "--pairs", "2", "--precond", "block-jacobi"});
  EXPECT_EQ(helped.code, 0) << helped.err;
}

TEST(eigs_command, draws_pairs_whose_values_differ_by_rounding_alone) {
  const plugin_test::folder folder;
  // Both real pairs of one complex value, after a single step: the picture has a range of a few last digits.
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate complex hermitian\n300 300 301\n2 1 0 1\n";
  for (int i = 1; i <= 300; ++i) text << i << ' ' << i << ' ' << (i == 300 ? 70.3 : 1e-3 * i) << " 0\n";
  const std::string matrix = folder.write("far.mtx", text.str()), page = folder.path() / "r.html";
  const outcome done = eigs({matrix, "--pairs", "1", "--which", "largest", "--solver", "lanczos", "--report", page});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(contents(page), HasSubstr("<h2>Convergence</h2>"));
}

TEST(eigs_command, takes_complex_hermitian_matrices) {
  const plugin_test::folder folder;
  // A ring of 60 points with a flux of 1: -2 cos((2 pi k + 1) / 60).
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate complex hermitian\n60 60 60\n" << std::setprecision(17);
  const double re = -std::cos(1.0 / 60), im = -std::sin(1.0 / 60);
  for (int i = 1; i < 60; ++i) text << i + 1 << ' ' << i << ' ' << re << ' ' << im << '\n';
  text << "60 1 " << re << ' ' << -im << '\n';
  const std::string matrix = folder.write("ring.mtx", text.str()), vectors = folder.path() / "v.mtx";
  const outcome done = eigs({matrix, "--pairs", "2", "--out", vectors, "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  EXPECT_EQ(seen["n"], 60);
  EXPECT_EQ(seen["complex"], true);
  const double step = 2 * std::acos(-1.0) / 60;
  EXPECT_NEAR(seen["eigenvalues"][0]["value"].get<double>(), -2 * std::cos(1.0 / 60), 1e-10);
  EXPECT_NEAR(seen["eigenvalues"][1]["value"].get<double>(), -2 * std::cos(1.0 / 60 - step), 1e-10);
  std::ifstream written(vectors);
  std::string first;
  std::getline(written, first);
  EXPECT_EQ(first, "%%MatrixMarket matrix array complex general");
  double rows = 0, columns = 0, square = 0;
  written >> rows >> columns;
  EXPECT_EQ(rows, 60);
  for (double x = 0; written >> x;) square += x * x;
  EXPECT_NEAR(square, 2, 1e-12);
  // They are a guess, and vectors to leave out.
  const outcome warm = eigs({matrix, "--pairs", "2", "--guess", vectors, "--json", "-"});
  ASSERT_EQ(warm.code, 0) << warm.err;
  EXPECT_LE(json_of(warm.out)["iterations"].get<int>(), 1);
  const outcome next = eigs({matrix, "--pairs", "1", "--deflate", vectors, "--json", "-"});
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_NEAR(json_of(next.out)["eigenvalues"][0]["value"].get<double>(), -2 * std::cos(1.0 / 60 + step), 1e-8);
  const std::string symmetric =
      folder.write("s.mtx", "%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 1 0\n");
  EXPECT_THAT(eigs({symmetric}).err, HasSubstr("hint: hermitian, or general for vectors"));
  const outcome real = eigs({"--generate", "lap2d:9", "--guess", vectors});
  EXPECT_EQ(real.code, 4);
  EXPECT_THAT(real.err, HasSubstr("the vectors are complex, and the matrix is real"));
  const outcome mass = eigs({matrix, "--mass", source("apps/sparse/data/lund_b.mtx")});
  EXPECT_EQ(mass.code, 2);
  EXPECT_THAT(mass.err, HasSubstr("a complex matrix takes no mass matrix"));
  EXPECT_THAT(mass.err, HasSubstr("at: --mass"));
}

}  // namespace
