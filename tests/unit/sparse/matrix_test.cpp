// Compressed rows, generated families, panels of rows.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>

#include "libraries/lapack/lapack.hpp"
#include "libraries/sparse/matrix/available_memory.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/program/device_data.hpp"
#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

/// All eigenvalues, ascending, of the dense matrix.
std::vector<double> spectrum(const csr_matrix& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> dense(n * n, 0.0), values(n);
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
      dense[i * n + static_cast<std::size_t>(a.entry_columns[k])] = a.values[k];
  EXPECT_EQ(lapack::dsyev(static_cast<int>(n), dense.data(), values.data()), 0);
  return values;
}

class sparse_files : public ::testing::Test {
 protected:
  csr_matrix read(const std::string& text) { return read_matrix(folder.write("m.mtx", text)); }
  plugin_test::folder folder;
};

TEST_F(sparse_files, give_both_triangles_and_add_up_what_is_given_twice) {
  const csr_matrix a =
      read("%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n3 1 2.5\n1 1 1\n2 2 4\n3 1 0.5\n1 1 2\n");
  EXPECT_EQ(a.rows, 3);
  EXPECT_EQ(a.row_starts, (std::vector<std::int64_t>{0, 2, 3, 4}));
  EXPECT_EQ(a.entry_columns, (std::vector<std::int32_t>{0, 2, 1, 0}));
  EXPECT_EQ(a.values, (std::vector<double>{3, 3, 4, 3}));
  EXPECT_EQ(diagonal_of(a), (std::vector<double>{3, 4, 0}));
  EXPECT_EQ(infinity_norm(a), 6);
}

TEST_F(sparse_files, may_be_patterns_and_integers) {
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n").values,
            (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 7\n1 2 -7\n").values,
            (std::vector<double>{-7, 7}));
}

TEST_F(sparse_files, are_written_with_all_digits) {
  csr_matrix a = generate("hs:6");
  write_matrix(a, folder.path() / "written.mtx");
  const csr_matrix b = read_matrix(folder.path() / "written.mtx");
  EXPECT_EQ(b.row_starts, a.row_starts);
  EXPECT_EQ(b.entry_columns, a.entry_columns);
  EXPECT_EQ(b.values, a.values);
  EXPECT_NE(message_of([&] { write_matrix(a, folder.path() / "none" / "m.mtx"); }, error_kind::output).find("m.mtx"),
            std::string::npos);
}

TEST(sparse_matrix_of, refuses_triplets_outside_of_the_matrix) {
  for (const triplet& outside : {triplet{2, 0, 1}, triplet{0, 3, 1}, triplet{-1, 0, 1}, triplet{0, -1, 1}})
    EXPECT_THAT(message_of([&] { (void)matrix_of("m", 2, 3, {outside}); }, error_kind::input),
                ::testing::HasSubstr("is outside of the matrix, 2 x 3"));
}

TEST(sparse_matrix_of, refuses_sizes_that_no_matrix_has) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{-1, 2}, {2, -1}, {1, INT64_C(1) << 31}})
    EXPECT_THAT(message_of([&] { (void)matrix_of("m", rows, columns, {}); }, error_kind::input),
                ::testing::HasSubstr("sizes are 0 to 2147483647"));
  EXPECT_EQ(matrix_of("m", 0, 0, {}).nonzeros(), 0);
}

TEST_F(sparse_files, that_are_wrong_are_refused_with_their_line) {
  const auto message = [&](const std::string& text) { return message_of([&] { read(text); }, error_kind::input); };
  const std::string head = "%%MatrixMarket matrix coordinate real symmetric\n";
  EXPECT_NE(message(head + "2 2 1\n1 1 nan\n").find("m.mtx:3"), std::string::npos);
  EXPECT_NE(message(head + "2 2 1\n1 1 inf\n").find("not finite"), std::string::npos);
  EXPECT_NE(message(head + "2 2 1\n3 1 1\n").find("m.mtx:3"), std::string::npos);
  EXPECT_NE(message(head + "2 2 2\n1 1 1\n").find("1 of 2 entries"), std::string::npos);
  EXPECT_NE(message(head + "2 2 2\n1 1 1e308\n1 1 1e308\n").find("not finite"), std::string::npos);
}

TEST_F(sparse_files, that_memory_does_not_hold_are_refused_by_what_they_promise) {
  const auto refused = [&](const std::string& sizes, error_kind kind = error_kind::memory) {
    const std::filesystem::path file =
        folder.write("large.mtx", "%%MatrixMarket matrix coordinate real symmetric\n" + sizes + "\n1 1 1\n");
    return message_of([&] { (void)read_matrix(file, std::int64_t{1} << 30); }, kind);
  };
  // Rows alone: two arrays of 2^31 numbers. The file does not have what it promises, which is not looked at.
  EXPECT_THAT(refused("2147483647 2147483647 4"), ::testing::HasSubstr("of 2147483647 rows"));
  EXPECT_THAT(refused("2147483647 2147483647 4"), ::testing::HasSubstr("and there are 1 GiB"));
  // So many entries as a file has no room for are not believed.
  EXPECT_THAT(refused("2000000 2000000 1000000000", error_kind::input),
              ::testing::HasSubstr("the file ends after 1 of 1000000000 entries"));
}

TEST(sparse_matrix, says_why_it_is_not_symmetric) {
  EXPECT_NE(message_of(
                [] {
                  require_symmetric(matrix_of("m", 2, 3, {{0, 0, 1}}));
                },
                error_kind::input)
                .find("2 x 3"),
            std::string::npos);
  EXPECT_NE(message_of(
                [] {
                  require_symmetric(matrix_of("m", 3, 3, {{0, 2, 1}, {1, 1, 2}}));
                },
                error_kind::input)
                .find("(1, 3) is 1 and (3, 1) is 0"),
            std::string::npos);
  EXPECT_NO_THROW(require_symmetric(matrix_of("m", 3, 3, {{0, 2, 1}, {2, 0, 1 + 1e-13}})));
}

TEST(sparse_matrix, of_others_is_looked_through) {
  const csr_matrix good = matrix_of("m", 2, 2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}});
  EXPECT_NO_THROW(require_well_formed(good));
  const auto message = [&](const auto& change) {
    csr_matrix bad = good;
    change(bad);
    return message_of([&] { require_well_formed(bad); }, error_kind::input);
  };
  EXPECT_NE(message([](csr_matrix& a) { a.row_starts.pop_back(); }).find("do not fit"), std::string::npos);
  EXPECT_NE(message([](csr_matrix& a) { a.name.clear(), a.row_starts.pop_back(); }).find("at: a matrix without a name"),
            std::string::npos);
  EXPECT_NE(message([](csr_matrix& a) { a.row_starts[1] = 9; }).find("row 1 ends"), std::string::npos);
  EXPECT_NE(message([](csr_matrix& a) { a.entry_columns[1] = 2; }).find("outside"), std::string::npos);
  EXPECT_NE(message([](csr_matrix& a) { a.entry_columns[1] = 0; }).find("ascend"), std::string::npos);
  EXPECT_NE(message([](csr_matrix& a) { a.values[2] = std::numeric_limits<double>::quiet_NaN(); }).find("(2, 1)"),
            std::string::npos);
  csr_matrix bad = good;
  bad.entry_columns[1] = 1 << 30;
  EXPECT_NE(message_of([&] { (void)transposed(bad); }, error_kind::input).find("outside"), std::string::npos);
  bad.row_starts.pop_back();
  EXPECT_NE(message_of([&] { (void)linear_operator::jacobi(bad); }, error_kind::input).find("do not fit"),
            std::string::npos);
}

struct family {
  const char* name;
  std::int64_t rows, nonzeros;
};
void PrintTo(const family& f, std::ostream* out) { *out << f.name; }

class sparse_family : public ::testing::TestWithParam<family> {};

// Numbers of nonzeros follow from the formulas; spectra are compared with LAPACK.
INSTANTIATE_TEST_SUITE_P(all, sparse_family,
                         ::testing::Values(family{"lap2d:7", 49, 217}, family{"lap3d:5", 125, 725},
                                           family{"xxz:8", 70, 390}, family{"xx:8", 70, 350},
                                           family{"hs:8", 70, 70 * 17}, family{"hs:10", 252, 252 * 26},
                                           family{"kkt3d:3", 2 * 27 + 6 * 9, 2 * 343 + 27 + 54 + 12 * 49}));

TEST_P(sparse_family, has_the_size_and_the_spectrum_of_its_formula) {
  const csr_matrix a = generate(GetParam().name);
  EXPECT_EQ(a.rows, GetParam().rows);
  EXPECT_EQ(a.nonzeros(), GetParam().nonzeros);
  EXPECT_NO_THROW(require_well_formed(a));
  EXPECT_NO_THROW(require_symmetric(a));
  const std::vector<double> all = spectrum(a), known = known_lowest(GetParam().name, all.size());
  for (std::size_t k = 0; k < known.size(); ++k) EXPECT_NEAR(known[k], all[k], 1e-11 * infinity_norm(a)) << k;
  if (std::string_view(GetParam().name).starts_with("kkt3d")) {
    EXPECT_EQ(std::ranges::count_if(all, [](double v) { return v < 0; }), 27);
  } else if (!std::string_view(GetParam().name).starts_with("xxz")) {
    EXPECT_EQ(known.size(), all.size());
  }
}

TEST_P(sparse_family, is_not_made_where_there_is_no_memory_for_it) {
  const auto& [name, rows, nonzeros] = GetParam();
  const std::string said = message_of([&] { generate(name, 12 * nonzeros); }, error_kind::memory);
  EXPECT_NE(said.find(fmt::format("a matrix of {} rows and {} entries takes", rows, nonzeros)), std::string::npos);
  EXPECT_NE(said.find(fmt::format("the family '{}'", name)), std::string::npos);
}

TEST(sparse_families, know_published_values) {
  EXPECT_NEAR(known_lowest("xxz:12", 1)[0], -5.3873909174452, 1e-12);
  EXPECT_NEAR(known_lowest("xxz:24", 1)[0], -10.6700145165372, 1e-11);
  const std::vector<double> hs = known_lowest("hs:20", 5);
  EXPECT_NEAR(hs[0], -8.3274787134, 1e-9);
  EXPECT_NEAR(hs[1], -8.0807386034, 1e-9);
  EXPECT_EQ(hs[1], hs[2]);
  EXPECT_NEAR(hs[3], -7.8586725044, 1e-9);
}

TEST(sparse_families, have_graphs_whose_rows_add_up_to_zero) {
  for (const char* name : {"rmat:8", "rmat:6:20"}) {
    const csr_matrix a = generate(name);
    EXPECT_NO_THROW(require_symmetric(a));
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i)
      EXPECT_EQ(std::accumulate(a.values.begin() + a.row_starts[i], a.values.begin() + a.row_starts[i + 1], 0.0), 0);
  }
  EXPECT_NE(message_of([] { generate("rmat:6:20", 30000); }, error_kind::memory).find("a matrix of 64 rows"),
            std::string::npos);
  const std::vector<double> all = spectrum(generate("nrmat:7"));
  EXPECT_NEAR(all.front(), 0, 1e-12);
  EXPECT_LE(all.back(), 2 + 1e-12);
}

TEST(sparse_families, refuse_what_they_have_not) {
  const auto message = [](const char* name) { return message_of([&] { generate(name); }, error_kind::usage); };
  EXPECT_NE(message("lap4d:3").find("no family 'lap4d'"), std::string::npos);
  EXPECT_NE(message("lap3d").find("size is missing"), std::string::npos);
  EXPECT_NE(message("lap3d:x").find("'x' is not a whole number"), std::string::npos);
  EXPECT_NE(message("lap3d:0").find("1 to 1290"), std::string::npos);
  EXPECT_NE(message("hs:9").find("even"), std::string::npos);
  EXPECT_NE(message("hs:8:2").find("only rmat"), std::string::npos);
}

TEST(row_panels, weigh_the_same_and_cover_all_rows) {
  // Row i has i entries: half of the weight is beyond 70 % of the rows.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 200; ++i)
    for (std::int32_t j = 0; j < i; ++j) entries.push_back({i, j, 1});
  const csr_matrix a = matrix_of("m", 200, 200, entries);
  const row_panels two = balanced_panels(a, 100, 0);
  ASSERT_EQ(two.count(), 2);
  EXPECT_NEAR(static_cast<double>(two.ends[0]), 141, 2);
  EXPECT_EQ(two.ends[1], 200);
  EXPECT_EQ(balanced_panels(a, 1000, 8).ends, (std::vector<std::int64_t>{200}));
  const row_panels single = balanced_panels(a, 1, 1000000);
  EXPECT_EQ(single.count(), 200);
  for (std::int64_t p = 0; p < two.count(); ++p) {
    EXPECT_EQ(two.of_row(two.begin(p)), p);
    EXPECT_EQ(two.of_row(two.end(p) - 1), p);
  }
}

TEST(row_panels, have_as_many_rows_each_where_they_weigh_about_the_same) {
  const csr_matrix a = generate("lap3d:10");
  EXPECT_EQ(balanced_panels(a, 300, 8).ends, (std::vector<std::int64_t>{300, 600, 900, 1000}));
}

/// 1000 rows of 4 million entries each, of which only the counts are there.
csr_matrix counts_beyond_31_bits() {
  csr_matrix a{.name = "counts", .rows = 1000, .columns = 1000, .row_starts = {}, .entry_columns = {}, .values = {}};
  for (std::int64_t i = 0; i <= a.rows; ++i) a.row_starts.push_back(i * 4'000'000);
  return a;
}

TEST(row_panels, have_64_bits_for_entries) {
  csr_matrix a = counts_beyond_31_bits();
  EXPECT_EQ(balanced_panels(a, 250, 8).ends, (std::vector<std::int64_t>{250, 500, 750, 1000}));
  // Two rows have 3 billion more each, so that they are panels of their own.
  for (std::size_t i = 501; i < a.row_starts.size(); ++i) a.row_starts[i] += 3'000'000'000;
  for (std::size_t i = 502; i < a.row_starts.size(); ++i) a.row_starts[i] += 3'000'000'000;
  const row_panels uneven = balanced_panels(a, 250, 8);
  EXPECT_THAT(uneven.ends, ::testing::IsSupersetOf({501, 1000}));
  EXPECT_TRUE(std::ranges::is_sorted(uneven.ends));
  EXPECT_EQ(bytes_of_compressed_rows(a.rows, a.row_starts.back()), 12 * 10'000'000'000 + 8 * 1000);
}

TEST(row_panels, of_devices_have_31_bits_for_entries) {
  csr_matrix a = counts_beyond_31_bits();
  for (std::size_t i = 501; i < a.row_starts.size(); ++i) a.row_starts[i] += 3'000'000'000;
  runtime rt(testing::host_only(1));
  const row_panels panels{{250, 500, 750, 1000}};
  EXPECT_NE(message_of([&] { (void)matrix_blocks(rt, a, panels); }, error_kind::usage)
                .find("rows 500 to 749 have 4000000000 entries"),
            std::string::npos);
}

TEST(row_panels, know_which_columns_they_touch) {
  const csr_matrix a = generate("lap2d:10");
  const auto touched = touched_panels(a, row_panels{{30, 60, 100}});
  EXPECT_EQ(touched, (std::vector<std::vector<std::int32_t>>{{0, 1}, {0, 1, 2}, {1, 2}}));
}

TEST(row_panels, know_which_columns_they_touch_however_they_are_cut) {
  const auto one_by_one = [](const csr_matrix& a, const row_panels& panels) {
    std::vector<std::set<std::int32_t>> touched(static_cast<std::size_t>(panels.count()));
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = a.row_starts[static_cast<std::size_t>(i)];
           k < a.row_starts[static_cast<std::size_t>(i) + 1]; ++k)
        touched[static_cast<std::size_t>(panels.of_row(i))].insert(
            static_cast<std::int32_t>(panels.of_row(a.entry_columns[static_cast<std::size_t>(k)])));
    std::vector<std::vector<std::int32_t>> lists;
    for (const auto& panel : touched) lists.emplace_back(panel.begin(), panel.end());
    return lists;
  };
  for (const char* name : {"lap3d:9", "hs:12", "rmat:9", "kkt3d:5", "xxz:10"}) {
    const csr_matrix a = generate(name);
    for (const std::int64_t rows : {1, 7, 64, 100, 5000}) {
      const row_panels even = balanced_panels(a, rows, 8);
      row_panels uneven;  // of 1 row, 2, 4 and so on, and again
      for (std::int64_t end = 0, more = 1; end < a.rows; more = more < rows ? 2 * more : 1)
        uneven.ends.push_back(end = std::min(end + more, a.rows));
      for (const row_panels& panels : {even, uneven})
        EXPECT_EQ(touched_panels(a, panels), one_by_one(a, panels)) << name << ", " << rows;
    }
  }
  const csr_matrix corners = matrix_of("corners", 40, 40, {{.row = 0, .column = 39, .value = 1}, {39, 0, 1}});
  EXPECT_EQ(touched_panels(corners, row_panels{{1, 39, 40}}), (std::vector<std::vector<std::int32_t>>{{2}, {}, {0}}));
}

TEST(available_memory, is_what_limits_of_the_process_leave) {
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  ::rlimit low = before;
  low.rlim_cur = static_cast<::rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + gibibyte);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &low), 0);
  const std::int64_t left = available_memory();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LE(left, gibibyte);
  EXPECT_GT(left, gibibyte / 2);
}

TEST(available_memory, is_what_limits_of_a_container_leave) {
  const plugin_test::folder folder;
  EXPECT_GE(left_in_group(folder.path()), std::int64_t{1} << 62);
  folder.write("memory.max", "max\n"), folder.write("memory.current", "7000\n");
  EXPECT_GE(left_in_group(folder.path()), std::int64_t{1} << 62);
  folder.write("memory.max", "10000\n");
  EXPECT_EQ(left_in_group(folder.path()), 3000);
  folder.write("memory.stat", "anon 5000\ninactive_file 1500\nactive_file 500\n");
  EXPECT_EQ(left_in_group(folder.path()), 4500);
  const plugin_test::folder old;
  old.write("memory.limit_in_bytes", "9000\n"), old.write("memory.usage_in_bytes", "8000\n");
  EXPECT_EQ(left_in_group(old.path()), 1000);
}

TEST(read_matrix, takes_standard_input) {
  const plugin_test::folder folder;
  const std::string file =
      folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n");
  const int before = ::dup(STDIN_FILENO), opened = ::open(file.c_str(), O_RDONLY);
  ASSERT_GE(opened, 0);
  ASSERT_GE(::dup2(opened, STDIN_FILENO), 0);
  const csr_matrix a = read_matrix("-");
  ::dup2(before, STDIN_FILENO), ::close(before), ::close(opened);
  EXPECT_EQ(a.values, (std::vector<double>{3, 4}));
}

TEST(read_matrix, names_what_adds_up_to_infinity_and_the_first_line_of_an_empty_file) {
  const plugin_test::folder folder;
  const auto said = [&](const std::string& text) {
    return message_of([&] { (void)read_matrix(folder.write("m.mtx", text)); }, error_kind::input);
  };
  EXPECT_THAT(said("%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 1e308\n2 1 1e308\n"),
              ::testing::HasSubstr("at (2, 1), add up"));
  EXPECT_THAT(said(""), ::testing::HasSubstr("m.mtx:1"));
}

}  // namespace
}  // namespace tessera::sparse
