// tessera spmv: figures of products, what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

outcome spmv(std::vector<std::string> words) {
  words.insert(words.begin(), "spmv");
  words.insert(words.end(), {"--stream-size", "100000", "--repeats", "2"});
  return run(words);
}

TEST(spmv_command, measures_each_width_in_each_form) {
  const outcome done =
      spmv({"--generate", "lap3d:16", "--columns", "1,3", "--form", "csr,sell,bcsr,auto", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  ASSERT_EQ(seen["products"].size(), 8u);
  EXPECT_GT(seen["triad_gigabytes_per_second"], 0);
  const double n = 4096, nonzeros = 7 * 4096 - 6 * 256;
  EXPECT_EQ(seen["n"], n);
  EXPECT_EQ(seen["nonzeros"], nonzeros);
  EXPECT_EQ(seen["bandwidth"], 256);
  const nlohmann::json& csr = seen["products"][0];
  EXPECT_EQ(csr["columns"], 1);
  EXPECT_EQ(csr["form"], "csr");
  EXPECT_EQ(csr["matrix_bytes"], 12 * nonzeros + 8 * n);
  EXPECT_EQ(csr["of_csr_bound"], csr["of_bound"]);
  EXPECT_EQ(csr["bytes"], 12 * nonzeros + 8 * n + 3 * 8 * n) << "x once, y read and written";
  for (const auto& p : seen["products"]) {
    EXPECT_LE(p["error"], 1);
    EXPECT_NEAR(p["gflops"].get<double>(), 2e-9 * nonzeros * p["columns"].get<double>() / p["seconds"].get<double>(),
                1e-9 * p["gflops"].get<double>());
    EXPECT_NEAR(p["of_bound"].get<double>(),
                p["gigabytes_per_second"].get<double>() / seen["triad_gigabytes_per_second"].get<double>(), 1e-9);
    EXPECT_NEAR(p["of_csr_bound"].get<double>() / p["of_bound"].get<double>(),
                1 + (12 * nonzeros + 8 * n - p["matrix_bytes"].get<double>()) / p["bytes"].get<double>(), 1e-9);
  }
  EXPECT_THAT(seen["products"][3]["choice"].get<std::string>(), HasSubstr("csr 1.00, sell "));
}

TEST(spmv_command, prints_lines) {
  const outcome done = spmv({source("apps/sparse/data/gr_30_30.mtx"), "--columns", "4", "--form", "csr"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("900, 7744 nonzeros, bandwidth 31"));
  EXPECT_THAT(done.out, HasSubstr("4 x csr"));
  EXPECT_THAT(done.out, HasSubstr(" of the bound"));
  EXPECT_THAT(done.out, HasSubstr("what is written is read first"));
}

TEST(spmv_command, reorders) {
  const outcome done = spmv({source("apps/sparse/data/dwt_1005.mtx"), "--reorder", "rcm", "--json", "-"}),
                plain = spmv({source("apps/sparse/data/dwt_1005.mtx"), "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json after = json_of(done.out), before = json_of(plain.out);
  EXPECT_EQ(after["reorder"], "rcm");
  EXPECT_EQ(after["nonzeros"], before["nonzeros"]);
  EXPECT_LT(after["bandwidth"].get<int>(), before["bandwidth"].get<int>() / 3);
}

TEST(spmv_command, says_what_is_wrong) {
  const plugin_test::folder folder;
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  const auto expect = [](const outcome& done, int code, const std::string& text) {
    EXPECT_EQ(done.code, code) << done.err;
    EXPECT_THAT(done.err, HasSubstr(text));
  };
  expect(spmv({}), 2, "spmv needs a matrix");
  expect(spmv({"no_such.mtx"}), 4, "no such matrix file");
  expect(spmv({"--generate", "lap2d:9", "--form", "diagonal"}), 2, "--form");
  expect(spmv({"--generate", "lap2d:9", "--columns", "0"}), 2, "--columns");
  expect(spmv({folder.write("wide.mtx", general + "2 3 1\n1 1 1\n")}), 4, "2 x 3, not square");
  expect(spmv({folder.write("one_way.mtx", general + "2 2 1\n1 2 1\n"), "--reorder", "rcm"}), 4, "not symmetric");
  expect(spmv({folder.write("one_way.mtx", general + "2 2 1\n1 2 1\n"), "--reorder", "rcm"}), 4,
         "hint: reverse Cuthill-McKee reorders symmetric matrices");
}

}  // namespace
