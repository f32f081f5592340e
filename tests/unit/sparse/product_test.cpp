// Forms of matrices: the same products, bit by bit, whatever the form, the width and the part of the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/single_precision.hpp"
#include "libraries/sparse/product/form_choice.hpp"
#include "libraries/sparse/product/matrix_product.hpp"
#include "libraries/sparse/product/row_groups.hpp"
#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;
using ::testing::HasSubstr;

/// Each entry becomes a block of 3 x 3, as in problems with three unknowns per point; `more` rows of a diagonal behind.
csr_matrix in_blocks(const csr_matrix& a, std::int32_t more = 0) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      for (std::int32_t r = 0; r < 3; ++r)
        for (std::int32_t c = 0; c < 3; ++c)
          entries.push_back({3 * i + r, 3 * a.entry_columns[k] + c, a.values[k] / (1 + r + c)});
  const auto rows = static_cast<std::int32_t>(3 * a.rows);
  for (std::int32_t i = rows; i < rows + more; ++i) entries.push_back({i, i, 1.0 / i});
  return matrix_of("blocks", rows + more, rows + more, entries);
}

csr_matrix matrix_named(const std::string& name) {
  if (name == "blocks") return in_blocks(generate("lap2d:9"), 2);  // the last block begins before its multiple of three
  if (name == "gaps") return matrix_of("gaps", 70, 100'000, {{0, 99'999, 1.5}, {0, 3, -1}, {9, 7, 2}, {69, 0, 3}});
  if (name == "band" || name == "scattered") {
    // Columns of a band follow each other from row to row, values do not; the other way round.
    std::vector<triplet> entries;
    for (std::int32_t i = 0; i < 203; ++i)
      for (std::int32_t k = 0; k < 5; ++k)
        name == "band" ? entries.push_back({i, i + k, 1.0 / (1 + i + 7 * k)})
                       : entries.push_back({i, 41 * k + i * i % 40, 1 + k / 3.0});
    return matrix_of(name, 203, 207, entries);
  }
  return generate(name);
}

std::vector<double> waves(std::size_t count) {
  std::vector<double> made(count);
  for (std::size_t k = 0; k < count; ++k) made[k] = std::sin(0.7 * static_cast<double>(k) + 1);
  return made;
}

/// A panel of the rows from `begin` on, multiplied in parts of `strip` rows.
std::vector<double> product_of(const csr_matrix& a, matrix_form form, const std::vector<double>& x, std::int64_t begin,
                               std::int64_t strip) {
  const std::int64_t width = std::ssize(x) / a.columns;
  std::vector<double> y(static_cast<std::size_t>((a.rows - begin) * width), -1);
  panel_memory memory;
  const auto panel = make_panel_product(a, begin, a.rows, form, {{a.columns}}, memory);
  for (std::int64_t row = begin; row < a.rows; row += strip)
    panel->multiply(row, std::min(row + strip, a.rows), width, x.data(), y.data() + (row - begin) * width);
  return y;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class sparse_forms : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(all, sparse_forms,
                         ::testing::Values("lap2d:17", "hs:8", "rmat:8", "kkt3d:4", "blocks", "gaps", "band",
                                           "scattered"));

TEST_P(sparse_forms, give_the_same_bits) {
  const csr_matrix a = matrix_named(GetParam());
  for (const std::int64_t width : {1, 2, 3, 4, 5, 7, 8, 11, 32, 35}) {
    const std::vector<double> x = waves(static_cast<std::size_t>(a.columns * width));
    const std::vector<double> whole = product_of(a, matrix_form::csr, x, 0, a.rows);
    for (const matrix_form form : matrix_forms)
      for (const std::int64_t begin : {0, 5})
        for (const std::int64_t strip : {std::int64_t{1}, std::int64_t{13}, std::int64_t{64}, a.rows}) {
          const std::vector<double> y = product_of(a, form, x, begin, strip);
          EXPECT_TRUE(same_bits(y, {whole.begin() + begin * width, whole.end()}))
              << name_of(form) << " " << width << " " << begin << " " << strip;
        }
  }
}

TEST_P(sparse_forms, give_what_plain_loops_give) {
  const csr_matrix a = matrix_named(GetParam());
  constexpr std::int64_t width = 6;
  const std::vector<double> x = waves(static_cast<std::size_t>(a.columns * width));
  const std::vector<double> y = product_of(a, matrix_form::csr, x, 0, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) {
      long double sum = 0, size = 0;
      for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k) {
        const long double term =
            static_cast<long double>(a.values[k]) * x[static_cast<std::size_t>(a.entry_columns[k] * width + j)];
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(y[static_cast<std::size_t>(i * width + j)], static_cast<double>(sum),
                  static_cast<double>(1e-14L * size));
    }
}

/// A lattice of integers; with `last`, a value at the end of the diagonal.
csr_matrix integers(double last) {
  csr_matrix made = generate("lap2d:24");
  for (std::size_t k = 0; k < made.values.size(); ++k) made.values[k] = static_cast<double>(k % 31);
  made.values.back() = last;
  return made;
}

TEST(sparse_form, stores_values_in_single_precision_where_that_changes_none) {
  panel_memory memory;
  for (const auto& [form, a, exact] : {std::tuple(matrix_form::sell, integers(5), true),
                                       {matrix_form::sell, integers(0.1), false},
                                       {matrix_form::sell, integers(1e300), false},
                                       {matrix_form::sell, integers(-0x1p-140), true},
                                       {matrix_form::sell, integers(0x1p-160), false}}) {
    const auto panel = make_panel_product(a, 0, a.rows, form, {{a.columns}}, memory);
    ASSERT_EQ(panel->form(), form);
    const double of_entry = static_cast<double>(panel->bytes()) / static_cast<double>(a.nonzeros());
    EXPECT_EQ(of_entry < 8, exact) << of_entry;
    for (const std::int64_t width : {1, 4}) {
      const std::vector<double> x = waves(static_cast<std::size_t>(a.columns * width));
      EXPECT_TRUE(same_bits(product_of(a, form, x, 0, a.rows), product_of(a, matrix_form::csr, x, 0, a.rows))) << width;
    }
  }
}

TEST(sparse_form, stores_blocks_in_single_precision_where_that_changes_none) {
  csr_matrix a = matrix_named("blocks");
  panel_memory memory;
  const auto bytes = [&] {
    return make_panel_product(a, 0, a.rows, matrix_form::bcsr, {{a.columns}}, memory)->bytes();
  };
  const std::int64_t before = bytes();
  a = rounded_to_single(std::move(a)).matrix;
  EXPECT_LT(bytes(), before * 3 / 4);
  for (const std::int64_t width : {1, 3, 9}) {
    const std::vector<double> x = waves(static_cast<std::size_t>(a.columns * width));
    EXPECT_TRUE(
        same_bits(product_of(a, matrix_form::bcsr, x, 0, a.rows), product_of(a, matrix_form::csr, x, 0, a.rows)));
  }
}

TEST(single_precision, tells_how_far_eigenvalues_move) {
  const single_matrix same = rounded_to_single(generate("lap2d:5"));
  EXPECT_EQ(same.change, 0);
  EXPECT_EQ(same.matrix.values, generate("lap2d:5").values);
  // Mirror images that round to different sides become equal.
  const double half = 1 + 0x1p-24, above = half * (1 + 0x1p-50);
  const csr_matrix a = matrix_of("two", 2, 2, {{0, 0, 0.1}, {0, 1, half}, {1, 0, above}, {1, 1, -1e-50}});
  const single_matrix made = rounded_to_single(a);
  EXPECT_EQ(made.matrix.values, (std::vector<double>{double{0.1f}, 1, 1, -0.0}));
  EXPECT_EQ(made.change, std::abs(0.1 - double{0.1f}) + 0x1p-24);
  try {
    rounded_to_single(matrix_of("large", 1, 1, {{0, 0, 1e39}}));
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("entry (1, 1) is 9.9999999999999994e+38, and numbers of single precision end at 3.4e+38"));
  }
}

TEST(sparse_form, is_compressed_rows_where_another_does_not_fit) {
  panel_memory memory;
  const auto form_of = [&](const csr_matrix& a, matrix_form wanted) {
    return make_panel_product(a, 0, a.rows, wanted, {{a.columns}}, memory)->form();
  };
  const csr_matrix lattice = generate("lap2d:17"), blocks = matrix_named("blocks"), graph = generate("rmat:8");
  EXPECT_EQ(form_of(lattice, matrix_form::sell), matrix_form::sell);
  EXPECT_EQ(form_of(graph, matrix_form::sell), matrix_form::csr) << "lengths of rows differ too much";
  EXPECT_EQ(form_of(blocks, matrix_form::bcsr), matrix_form::bcsr);
  EXPECT_EQ(form_of(lattice, matrix_form::bcsr), matrix_form::csr) << "blocks would be zeros for the most part";
}

TEST(sparse_form, reads_no_parts_of_x_without_entries) {
  const auto of_first_panel = [](const csr_matrix& a, const row_panels& panels, matrix_form form,
                                 std::int64_t without) {
    const matrix_product product(a, panels, form);
    EXPECT_EQ(product.panel(0).form(), form);
    std::vector<double> x(static_cast<std::size_t>(a.rows), 1.0), y(static_cast<std::size_t>(panels.end(0)));
    std::fill(x.begin() + panels.begin(without), x.begin() + panels.end(without),
              std::numeric_limits<double>::infinity());
    product.panel(0).multiply(0, panels.end(0), 1, x.data(), y.data());
    return y;
  };
  std::vector<triplet> blocks, wide;
  for (std::int32_t i = 0; i < 10; ++i)  // of five columns: the second three would end in the next panel
    for (std::int32_t j = i / 5 * 5; j < i / 5 * 5 + 5; ++j) blocks.push_back({i, j, 1});
  EXPECT_EQ(of_first_panel(matrix_of("blocks", 10, 10, blocks), {{5, 10}}, matrix_form::bcsr, 1),
            std::vector<double>(5, 5.0));
  for (std::int32_t i = 0; i < 7; ++i)  // and an empty row
    for (const std::int32_t j : {70'000, 140'000}) wide.push_back({i, j, 1});
  EXPECT_EQ(of_first_panel(matrix_of("wide", 150'000, 150'000, wide), {{8, 150'000}}, matrix_form::sell, 0),
            (std::vector<double>{2, 2, 2, 2, 2, 2, 2, 0}));
}

TEST(sparse_form, reads_fewer_bytes_than_compressed_rows) {
  panel_memory memory;
  const auto bytes = [&](const csr_matrix& a, matrix_form form) {
    return make_panel_product(a, 0, a.rows, form, {{a.columns}}, memory)->bytes();
  };
  const csr_matrix a = matrix_named("blocks"), lattice = generate("lap2d:17");
  EXPECT_EQ(bytes(a, matrix_form::csr), 12 * a.nonzeros() + 8 * a.rows);
  EXPECT_LT(bytes(a, matrix_form::bcsr), 10 * a.nonzeros());
  EXPECT_LT(bytes(lattice, matrix_form::sell), bytes(lattice, matrix_form::csr));
}

TEST(sparse_form, stores_once_what_eight_rows_have_in_common) {
  const auto groups = [](const csr_matrix& a) { return group_rows(a, 0, a.rows / 8 * 8); };
  const row_groups band = groups(matrix_named("band")), scattered = groups(matrix_named("scattered"));
  EXPECT_EQ(std::ranges::count(band.groups, true, &row_group::neighbours), 25);
  EXPECT_EQ(std::ranges::count(band.groups, true, &row_group::equal), 0);
  EXPECT_EQ(band.columns, 25 * 5);
  EXPECT_EQ(band.values, 200 * 5);
  EXPECT_EQ(std::ranges::count(scattered.groups, true, &row_group::neighbours), 0);
  EXPECT_EQ(std::ranges::count(scattered.groups, true, &row_group::equal), 25);
  EXPECT_EQ(scattered.columns, 200 * 5);
  EXPECT_EQ(scattered.values, 25 * 5);

  std::vector<triplet> diagonal;
  for (std::int32_t i = 0; i < 32; ++i) diagonal.push_back({i, i, i == 11 ? -0.0 : 0.0});
  diagonal.push_back({17, 31, 0.0});  // the longest of its window: the rows are no longer in order
  diagonal.push_back({30, 31, 0.0});
  const row_groups zeros = groups(matrix_of("zeros", 32, 32, diagonal));
  // Rows 17 30 0 .. 5, 6 .. 13, 14 15 16 18 .. 22, 23 .. 29 31.
  EXPECT_EQ(zeros.places[1], 30);
  EXPECT_EQ(zeros.groups[0].length, 2);
  EXPECT_FALSE(zeros.groups[0].equal || zeros.groups[0].neighbours) << "rows that are filled up";
  EXPECT_TRUE(zeros.groups[1].neighbours);
  EXPECT_FALSE(zeros.groups[1].equal) << "a zero has a sign";
  EXPECT_TRUE(zeros.groups[2].equal);
  EXPECT_FALSE(zeros.groups[2].neighbours);
}

TEST(sparse_form, is_found_by_its_name) {
  for (const matrix_form form : matrix_forms) EXPECT_EQ(form_named(name_of(form)), form);
  EXPECT_EQ(form_named("auto"), std::nullopt);
}

TEST(form_choice, measures_the_forms_that_fit) {
  const csr_matrix a = generate("lap2d:100");
  const auto forms = [](const form_choice& c) {
    std::vector<matrix_form> seen;
    for (const measured_form& m : c.measured) seen.push_back(m.form);
    return seen;
  };
  EXPECT_EQ(forms(choose_form(a, 1)), (std::vector{matrix_form::csr, matrix_form::sell}));
  EXPECT_EQ(forms(choose_form(a, 4)), (std::vector<matrix_form>{})) << "there is one form";
  EXPECT_EQ(forms(choose_form(in_blocks(generate("lap2d:50")), 4)), (std::vector{matrix_form::csr, matrix_form::bcsr}));
  EXPECT_THAT(choose_form(a, 1).text(), HasSubstr(" (csr 1.00, sell "));
}

TEST(form_choice, leaves_small_matrices_as_they_are) {
  const form_choice c = choose_form(generate("lap2d:10"), 1);
  EXPECT_EQ(c.chosen, matrix_form::csr);
  EXPECT_TRUE(c.measured.empty());
  EXPECT_EQ(c.text(), "csr");
}

TEST(sparse_programs, have_the_same_bits_in_any_form) {
  runtime rt{testing::host_only()};
  const csr_matrix a = in_blocks(generate("lap2d:40"));
  std::vector<double> first;
  for (const std::optional<matrix_form> form : {std::optional(matrix_form::csr), std::optional(matrix_form::sell),
                                                std::optional(matrix_form::bcsr), std::optional<matrix_form>()}) {
    program p(rt, a, {.panel_rows = 700, .form = form});
    block_vector x = p.vector("x", 1), y = p.vector("y", 1), wide = p.vector("X", 5), product = p.vector("Y", 5);
    x.set(waves(static_cast<std::size_t>(a.rows)));
    wide.set(waves(static_cast<std::size_t>(a.rows) * 5));
    apply(a, x, y);
    apply(a, wide, product);
    std::vector<double> all = y.values();
    const std::vector<double> more = product.values();
    all.insert(all.end(), more.begin(), more.end());
    if (first.empty()) first = all;
    EXPECT_TRUE(same_bits(all, first)) << p.form_of(a, 1).text;
    if (form) {
      EXPECT_EQ(p.form_of(a, 1).form, *form);
      EXPECT_EQ(p.form_of(a, 1).text, name_of(*form));
    } else {
      EXPECT_THAT(p.form_of(a, 1).text, HasSubstr("csr 1.00"));
    }
  }
}

TEST(sparse_programs, say_only_how_matrices_of_their_shape_lie) {
  runtime rt{testing::host_only()};
  const csr_matrix a = generate("lap2d:20"), b = generate("lap2d:5");
  program p(rt, a);
  const auto refusal = [&](const csr_matrix& of, std::int64_t columns) {
    return message_of([&] { (void)p.form_of(of, columns); }, error_kind::usage);
  };
  EXPECT_THAT(refusal(b, 1), HasSubstr("lap2d:5 is 25 x 25, and the program has 400 rows"));
  EXPECT_THAT(refusal(a, 0), HasSubstr("products with 0 columns"));
  EXPECT_THAT(refusal(a, -3), HasSubstr("products with -3 columns"));
}

TEST(sparse_programs, say_how_the_matrix_of_a_loop_lies) {
  runtime rt{testing::host_only()};
  const csr_matrix a = generate("lap2d:20");
  program p(rt, a, {.form = matrix_form::sell});
  block_vector x = p.vector("x", 1), y = p.vector("y", 1);
  const loop_outcome done = p.while_not([] { return false; }, [&] { apply(a, x, y); }, {.max_iterations = 1});
  EXPECT_EQ(done.form, "sell");
}

}  // namespace
}  // namespace tessera::sparse
