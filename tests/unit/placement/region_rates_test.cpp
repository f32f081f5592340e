// What regions have learnt, from run to run: beside what placement has learnt, and each program by itself.
#include "core/placement/region_rates.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "core/placement/history_file.hpp"
#include "support/slow_down.hpp"

namespace tessera::placement {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> rates_here{"cpu: Zen", "sim: fast, 00, 1e+09 FLOP/s, OpenBLAS"},
    rates_elsewhere{"cpu: Alpha"};
const std::vector<place_kind> rates_kinds{{.name = "cpu", .is_host = true}};

class region_rates : public ::testing::Test {
 protected:
  region_rates() {
    std::string pattern = (fs::temp_directory_path() / "tessera_rates_XXXXXX").string();
    m_folder = ::mkdtemp(pattern.data());
    m_file = m_folder / "history.json";
  }
  ~region_rates() override { fs::remove_all(m_folder); }
  void put(const std::string& text) const { std::ofstream(m_file, std::ios::binary) << text; }
  std::string text() const {
    std::ifstream stream(m_file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string write(const std::string& program, const std::vector<region_rate>& rates) const {
    return write_region_rates(m_file, rates_here, program, rates);
  }
  std::vector<region_rate> read(const std::string& program) const {
    return read_region_rates(m_file, rates_here, program);
  }
  fs::path m_folder, m_file;
};

history_cell cell(const std::string& operation) {
  history_cell c;
  c.operation = operation;
  c.type = element_type::f64;
  c.place = "cpu";
  c.bucket = 20;
  c.amount = 1.5 * (1 << 20);
  c.samples = {1.5F};
  c.fresh = true;
  return c;
}

TEST_F(region_rates, stand_beside_what_placement_learnt) {
  EXPECT_TRUE(read("heat").empty());
  EXPECT_EQ(write("heat", {{"axpy", "core0", 2e6, 0}, {"axpy", "sim0", 9e6, 0.25}}), "");
  EXPECT_EQ(write_history(m_file, rates_here, rates_kinds, std::vector{cell("gemm")}), "");
  EXPECT_EQ(write("heat", {{"axpy", "sim0", 4.5e6, 0.5}, {"dot", "core0", 1e6, 0}}), "");
  EXPECT_EQ(read_history(m_file, rates_here).cells.size(), 1u);
  const std::vector<region_rate> all = read("heat");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].leaf, "core0");
  EXPECT_EQ(all[0].iterations_per_second, 2e6);
  EXPECT_EQ(all[1].leaf, "sim0");
  EXPECT_EQ(all[1].iterations_per_second, 4.5e6);
  EXPECT_EQ(all[1].fixed_seconds, 0.5);
  EXPECT_EQ(all[2].region, "dot");
  EXPECT_TRUE(read_region_rates(m_file, rates_elsewhere).empty());
}

TEST_F(region_rates, that_are_impossible_or_damaged_are_measured_again) {
  EXPECT_EQ(write("heat", {{"axpy", "sim0", 4.5e6, 0.5}}), "");
  EXPECT_EQ(write("life", {{"step", "core0", 1e6, 0}}), "");
  EXPECT_EQ(write_history(m_file, rates_here, rates_kinds, std::vector{cell("gemm")}), "");
  const std::string sound = text();
  const auto with = [&](const std::string& old, const std::string& fresh) {
    std::string damaged = sound;
    put(damaged.replace(damaged.find(old), old.size(), fresh));
  };
  with("4500000", "-500000");
  EXPECT_TRUE(read("heat").empty());
  EXPECT_EQ(read("life").size(), 1u) << "another program's are as they were";
  EXPECT_EQ(read_history(m_file, rates_here).cells.size(), 1u);
  for (const std::string fixed : {"1e308", "-1", "1e7", "\"x\""}) {
    with("\"fixed_seconds\": 0.5", "\"fixed_seconds\": " + fixed);
    EXPECT_TRUE(read("heat").empty()) << fixed;
  }
  with("\"programs\": {", "\"programs\": 3, \"others\": {");
  EXPECT_TRUE(read("heat").empty());
  EXPECT_EQ(write("heat", {{"axpy", "sim0", 1, 0}}), "");
  EXPECT_EQ(read("heat").size(), 1u);
  put("{}");
  EXPECT_NE(write("heat", {{"axpy", "core0", 2e6, 0}}), "");
  EXPECT_EQ(text(), "{}");
}

TEST_F(region_rates, of_one_program_do_not_push_out_those_of_another) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  EXPECT_EQ(write("small", {{"axpy", "core0", 2e6, 0}}), "");
  std::vector<region_rate> many;
  for (std::size_t k = 0; k < max_region_rates + 10; ++k) many.push_back({std::to_string(k), "core0", 1e6, 0});
  EXPECT_EQ(write("large", many), "");
  EXPECT_EQ(read("small").size(), 1u);
  const std::vector<region_rate> kept = read("large");
  EXPECT_EQ(kept.size(), max_region_rates);
  EXPECT_EQ(kept.front().region, "10") << "its own oldest go";

  // The program that wrote last comes first; of more programs than are kept, those that wrote longest ago go.
  EXPECT_EQ(write("small", {{"dot", "core0", 2e6, 0}}), "");
  std::vector<program_rates> all = read_region_rates(m_file, rates_here);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].program, "small");
  EXPECT_EQ(all[0].rates.size(), 2u);
  for (std::size_t k = 0; k + 1 < max_programs; ++k)
    EXPECT_EQ(write("p" + std::to_string(k), {{"axpy", "core0", 2e6, 0}}), "");
  all = read_region_rates(m_file, rates_here);
  EXPECT_EQ(all.size(), max_programs);
  EXPECT_EQ(all.back().program, "small");
  EXPECT_TRUE(read("large").empty());
}

/// A program in another encoding loses no more than those letters.
TEST_F(region_rates, have_names_that_are_not_utf8) {
  const std::string name = "W\xe4rme", kept = "W\xef\xbf\xbdrme";
  for (const double rate : {1e6, 2e6}) EXPECT_EQ(write(name, {{name, "core0", rate, 0}, {"dot", "core0", 3, 0}}), "");
  const std::vector<region_rate> all = read(kept);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].region, kept);
  EXPECT_EQ(all[0].region, kept_name(name));
  EXPECT_EQ(all[0].iterations_per_second, 2e6);
  EXPECT_EQ(kept_name("W\xc3\xa4rme"), "W\xc3\xa4rme");
  EXPECT_EQ(write_history(m_file, rates_here, rates_kinds, std::vector{cell(name)}), "");
  EXPECT_EQ(read_history(m_file, rates_here).cells.front().operation, kept);
  EXPECT_NE(this_program(), "");
}

}  // namespace
}  // namespace tessera::placement
