// What was learnt, from run to run: what is written is read back, and nothing that a file contains does harm.
#include "core/placement/history_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "core/base/error.hpp"

namespace tessera::placement {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::vector<std::string> here{"cpu: Zen", "sim: fast, 00, 1e+09 FLOP/s, OpenBLAS"}, elsewhere{"cpu: Alpha"};
const std::vector<place_kind> kinds{{.name = "cpu", .is_host = true},
                                    {.name = "sim: fast", .link_seconds = 1e-5, .link_bytes_per_second = 1e10}};

class history_file : public ::testing::Test {
 protected:
  history_file() {
    std::string pattern = (fs::temp_directory_path() / "tessera_history_XXXXXX").string();
    m_folder = ::mkdtemp(pattern.data());
    m_file = m_folder / "history.json";
  }
  ~history_file() override {
    ::chmod(m_folder.c_str(), 0700);
    fs::remove_all(m_folder);
  }
  void put(const std::string& text) const { std::ofstream(m_file, std::ios::binary) << text; }
  std::string text() const {
    std::ifstream stream(m_file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  fs::path m_folder, m_file;
};

history_cell cell(const std::string& operation, const std::string& place, std::uint32_t bucket,
                  std::vector<float> samples, bool fresh = true) {
  history_cell c;
  c.operation = operation;
  c.type = element_type::f64;
  c.place = place;
  c.bucket = bucket;
  c.amount = std::exp2(bucket) * 1.5;
  c.block_bytes = 8192;
  c.input_bytes = 16384;
  c.inputs = 2;
  c.samples = std::move(samples);
  c.fresh = fresh;
  return c;
}

TEST_F(history_file, what_is_written_is_read_back) {
  const std::vector<history_cell> cells{cell("gemm", "cpu", 20, {1.5F, 0.1F, 3.25e-7F}),
                                        cell("gemm", "sim: fast", 20, {0.25F})};
  EXPECT_EQ(write_history(m_folder / "a/b/h.json", here, kinds, cells), "") << "folders are made";
  const stored_history back = read_history(m_folder / "a/b/h.json", here);
  EXPECT_EQ(back.refused, "");
  ASSERT_EQ(back.cells.size(), 2u);
  EXPECT_EQ(back.cells[0].samples, cells[0].samples);
  EXPECT_EQ(back.cells[0].amount, cells[0].amount);
  EXPECT_EQ(back.cells[0].type, element_type::f64);
  EXPECT_EQ(back.cells[1].place, "sim: fast");
  EXPECT_FALSE(back.cells[0].fresh);
  ASSERT_EQ(back.kinds.size(), 2u);
  EXPECT_TRUE(back.kinds[0].is_host);
  EXPECT_EQ(back.kinds[1].link_bytes_per_second, 1e10);
  for (const auto& entry : fs::directory_iterator(m_folder / "a/b"))
    EXPECT_EQ(entry.path().filename(), "h.json") << "nothing is left beside it";
}

TEST_F(history_file, what_another_run_wrote_meanwhile_stays) {
  write_history(m_file, here, kinds,
                std::vector{cell("gemm", "cpu", 20, {1}), cell("syrk", "cpu", 12, {2}), cell("trsm", "cpu", 9, {3})});
  write_history(
      m_file, here, kinds,
      std::vector{cell("gemm", "cpu", 20, {9}), cell("syrk", "cpu", 12, {8}, false), cell("potrf", "cpu", 5, {7})});
  const auto cells = read_history(m_file, here).cells;
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0].samples, std::vector<float>{9}) << "measured in this run";
  EXPECT_EQ(cells[1].operation, "potrf");
  EXPECT_EQ(cells[2].samples, std::vector<float>{2}) << "not measured in this run";
  EXPECT_EQ(cells[3].operation, "trsm");
}

TEST_F(history_file, several_machines_share_a_file) {
  write_history(m_file, here, kinds, std::vector{cell("gemm", "cpu", 20, {1})});
  const stored_history foreign = read_history(m_file, elsewhere);
  EXPECT_THAT(foreign.refused, HasSubstr("other machines"));
  EXPECT_TRUE(foreign.replaceable);
  EXPECT_TRUE(foreign.cells.empty());
  EXPECT_EQ(write_history(m_file, elsewhere, kinds, std::vector{cell("syrk", "cpu", 10, {2})}), "");
  EXPECT_EQ(read_history(m_file, here).cells.at(0).operation, "gemm");
  EXPECT_EQ(read_history(m_file, elsewhere).cells.at(0).operation, "syrk");
  for (int k = 0; k < 20; ++k)
    write_history(m_file, std::vector<std::string>{"cpu: " + std::to_string(k)}, kinds,
                  std::vector{cell("gemm", "cpu", 20, {1})});
  int left = 0;
  for (int k = 0; k < 20; ++k)
    left += !read_history(m_file, std::vector<std::string>{"cpu: " + std::to_string(k)}).cells.empty();
  EXPECT_LE(left, 16);
  EXPECT_EQ(read_history(m_file, std::vector<std::string>{"cpu: 19"}).cells.size(), 1u);
}

TEST_F(history_file, absent_and_empty_files_are_beginnings) {
  EXPECT_EQ(read_history(m_file, here).refused, "");
  put("");
  EXPECT_EQ(read_history(m_file, here).refused, "");
  EXPECT_EQ(write_history(m_file, here, kinds, std::vector{cell("gemm", "cpu", 20, {1})}), "");
  EXPECT_EQ(read_history(m_file, here).cells.size(), 1u);
}

TEST_F(history_file, every_truncation_is_refused_and_then_replaced) {
  write_history(m_file, here, kinds,
                std::vector{cell("gemm", "cpu", 20, {1, 2, 3}), cell("gemm", "sim: fast", 21, {4})});
  const std::string whole = text();
  for (std::size_t length = 24; length + 2 < whole.size(); length += 7) {
    put(whole.substr(0, length));
    const stored_history h = read_history(m_file, here);
    ASSERT_NE(h.refused, "") << length;
    ASSERT_TRUE(h.cells.empty()) << length;
    ASSERT_TRUE(h.replaceable) << length;
  }
  EXPECT_EQ(write_history(m_file, here, kinds, std::vector{cell("gemm", "cpu", 20, {1})}), "");
  EXPECT_EQ(read_history(m_file, here).cells.size(), 1u);
}

TEST_F(history_file, every_changed_byte_is_read_or_refused) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  write_history(m_file, here, kinds,
                std::vector{cell("gemm", "cpu", 20, {1, 2, 3}), cell("gemm", "sim: fast", 21, {4})});
  const std::string whole = text();
  for (int k = 0; k < 2000; ++k) {
    std::string changed = whole;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      changed[random() % changed.size()] = static_cast<char>(random() % 256);
    put(changed);
    const stored_history h = read_history(m_file, here);
    for (const history_cell& c : h.cells)
      for (const float ns : c.samples)
        ASSERT_TRUE(ns > 0 && std::isfinite(ns) && c.bucket < history::buckets) << changed;
    if (!h.refused.empty()) {
      ASSERT_TRUE(h.cells.empty());
    }
  }
}

TEST_F(history_file, impossible_contents_are_refused) {
  write_history(m_file, here, kinds, std::vector{cell("gemm", "cpu", 20, {1})});
  const std::string whole = text();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from << "\n" << whole;
    put(changed.replace(at, from.size(), to));
    const stored_history h = read_history(m_file, here);
    EXPECT_TRUE(h.cells.empty()) << to;
    return h.refused;
  };
  EXPECT_THAT(with("\"bucket\": 20", "\"bucket\": 4000000000"), HasSubstr("damaged"));
  EXPECT_THAT(with("\"bucket\": 20", "\"bucket\": -1"), HasSubstr("damaged"));
  EXPECT_THAT(with("\"amount\": 1572864.0", "\"amount\": 1e999"), HasSubstr("damaged"));
  EXPECT_THAT(with("\"f64\"", "\"f65\""), HasSubstr("damaged"));
  EXPECT_THAT(with("\"cpu: Zen\"", "\"cpu: Other\""), HasSubstr("another machine"));
  EXPECT_THAT(with("\"tessera_history\": 1", "\"tessera_history\": 0"), HasSubstr("version is 0"));
}

TEST_F(history_file, what_is_no_history_is_never_overwritten) {
  for (const char* content :
       {"my thesis", "{\"name\": \"package\"}", "[1, 2]", "{\"tessera_history\": 2, \"machines\": {}}"}) {
    put(content);
    const stored_history h = read_history(m_file, here);
    EXPECT_NE(h.refused, "");
    EXPECT_FALSE(h.replaceable) << content;
    EXPECT_NE(write_history(m_file, here, kinds, std::vector{cell("gemm", "cpu", 20, {1})}), "");
    EXPECT_EQ(text(), content);
  }
  put("my thesis");
  EXPECT_THROW(clear_history(m_file, here), error);
  EXPECT_EQ(text(), "my thesis");
}

TEST_F(history_file, clearing_forgets_one_machine) {
  EXPECT_FALSE(clear_history(m_file, here));
  write_history(m_file, here, kinds, std::vector{cell("gemm", "cpu", 20, {1})});
  write_history(m_file, elsewhere, kinds, std::vector{cell("gemm", "cpu", 20, {1})});
  EXPECT_TRUE(clear_history(m_file, here));
  EXPECT_FALSE(clear_history(m_file, here));
  EXPECT_EQ(read_history(m_file, elsewhere).cells.size(), 1u);
  EXPECT_TRUE(clear_history(m_file, elsewhere));
  EXPECT_FALSE(fs::exists(m_file));
  put("{\"tessera_history\": 1, dama");
  EXPECT_TRUE(clear_history(m_file, here)) << "a damaged one goes too";
}

TEST_F(history_file, links_are_followed) {
  write_history(m_folder / "real.json", here, kinds, std::vector{cell("gemm", "cpu", 20, {1})});
  fs::create_symlink(m_folder / "real.json", m_file);
  EXPECT_EQ(write_history(m_file, here, kinds, std::vector{cell("syrk", "cpu", 20, {1})}), "");
  EXPECT_TRUE(fs::is_symlink(m_file));
  EXPECT_EQ(read_history(m_folder / "real.json", here).cells.size(), 2u);
}

TEST_F(history_file, a_path_that_cannot_be_written_is_reported) {
  EXPECT_NO_THROW(require_history_writable(m_file));
  EXPECT_NO_THROW(require_history_writable(m_folder / "new/folder/h.json"));
  EXPECT_FALSE(fs::exists(m_folder / "new")) << "asking makes nothing";
  EXPECT_THROW(require_history_writable(m_folder), error);
  put("x");
  EXPECT_THROW(require_history_writable(m_file / "h.json"), error) << "below a file";
  EXPECT_NE(write_history(m_file / "h.json", here, kinds, std::vector{cell("gemm", "cpu", 20, {1})}), "");
  if (::geteuid() != 0) {
    ::chmod(m_folder.c_str(), 0500);
    EXPECT_THROW(require_history_writable(m_folder / "h.json"), error);
  }
}

TEST(history_path, follows_the_setting_and_the_environment) {
  const auto with = [](const char* cache, const char* home) {
    cache != nullptr ? ::setenv("XDG_CACHE_HOME", cache, 1) : ::unsetenv("XDG_CACHE_HOME");
    home != nullptr ? ::setenv("HOME", home, 1) : ::unsetenv("HOME");
    return history_path("auto", "0123").string();
  };
  const char* const home = std::getenv("HOME");
  const std::string before = home != nullptr ? home : "";
  EXPECT_EQ(with("/c", "/h"), "/c/tessera/history-0123.json");
  EXPECT_EQ(with(nullptr, "/h"), "/h/.cache/tessera/history-0123.json");
  EXPECT_EQ(with("relative", "/h"), "/h/.cache/tessera/history-0123.json") << "as the XDG specification says";
  EXPECT_EQ(with(nullptr, nullptr), "");
  ::setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(history_path("off", "0123"), "");
  EXPECT_EQ(history_path("/x/y.json", "0123"), "/x/y.json");
  EXPECT_EQ(signature_of(here).size(), 16u);
  EXPECT_NE(signature_of(here), signature_of(elsewhere));
}

}  // namespace
}  // namespace tessera::placement
