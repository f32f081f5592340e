// Which operations go over the rows together.
#include "libraries/sparse/program/fusion.hpp"

#include <gtest/gtest.h>

namespace tessera::sparse {
namespace {

using vectors = std::vector<std::shared_ptr<vector_data>>;
using smalls = std::vector<std::shared_ptr<small_data>>;

class fusion : public ::testing::Test {
 protected:
  void add(operation_kind kind, vectors from, vectors to, smalls small_from = {}, smalls small_to = {}) {
    program.push_back({kind, "", std::move(from), std::move(to), std::move(small_from), std::move(small_to)});
  }
  void mxm(const vectors& from, const vectors& to) { add(operation_kind::mxm, from, to); }
  void copy(const vectors& from, const vectors& to) { add(operation_kind::copy, from, to); }
  void gram(const vectors& from, const smalls& to) { add(operation_kind::gram, from, {}, {}, to); }
  void combine(const vectors& from, const smalls& by, const vectors& to) { add(operation_kind::combine, from, to, by); }
  void small(const smalls& from, const smalls& to) { add(operation_kind::small, {}, {}, from, to); }

  /// "small operations | operations on rows" of each pass, by their ordinals.
  std::string passes() const {
    std::string text;
    for (const pass& p : fuse(program)) {
      for (const std::size_t k : p.small) text += std::to_string(k) + " ";
      text += "|";
      for (const std::size_t k : p.panels) text += " " + std::to_string(k);
      text += "\n";
    }
    return text;
  }

  static std::shared_ptr<vector_data> vector() { return std::make_shared<vector_data>(); }
  static std::shared_ptr<small_data> matrix() { return std::make_shared<small_data>(); }
  std::shared_ptr<vector_data> x = vector(), y = vector(), z = vector();
  std::shared_ptr<small_data> g = matrix(), h = matrix();
  std::vector<operation> program;
};

TEST_F(fusion, joins_what_stays_within_a_panel) {
  mxm({x}, {y});
  copy({y}, {z});
  gram({y, z}, {g});
  combine({y}, {h}, {y});
  EXPECT_EQ(passes(), "| 0 1 2 3\n");
}

TEST_F(fusion, ends_a_pass_before_a_product_with_what_it_makes) {
  copy({x}, {y});
  mxm({y}, {z});
  EXPECT_EQ(passes(), "| 0\n| 1\n");
}

TEST_F(fusion, ends_a_pass_before_what_a_product_still_reads_is_overwritten) {
  mxm({x}, {y});
  copy({z}, {x});
  EXPECT_EQ(passes(), "| 0\n| 1\n");
}

TEST_F(fusion, ends_a_pass_before_sums_are_used) {
  gram({x, y}, {g});
  combine({x}, {g}, {z});
  EXPECT_EQ(passes(), "| 0\n| 1\n");
}

TEST_F(fusion, puts_tasks_for_all_rows_between_passes) {
  mxm({x}, {y});
  add(operation_kind::tasks, {y}, {z});
  gram({x, z}, {g});
  mxm({z}, {x});
  EXPECT_EQ(passes(), "| 0\n1 | 2 3\n") << "what they make is ready for other rows too";
}

TEST_F(fusion, keeps_what_tasks_read_and_write_apart_from_others) {
  gram({z, x}, {g});
  add(operation_kind::tasks, {x}, {z});
  copy({y}, {x});
  copy({y}, {z});
  EXPECT_EQ(passes(), "| 0\n1 | 2 3\n") << "a reader of the result, and two writers behind";
}

TEST_F(fusion, keeps_tasks_in_their_order) {
  add(operation_kind::tasks, {x}, {y});
  add(operation_kind::call, {y}, {z});
  add(operation_kind::tasks, {y}, {x});
  copy({x}, {z});
  EXPECT_EQ(passes(), "0 1 2 | 3\n");
}

TEST_F(fusion, puts_small_operations_between_passes) {
  gram({x, y}, {g});
  small({g}, {h});
  small({h}, {h});
  combine({x}, {h}, {x});
  EXPECT_EQ(passes(), "| 0\n1 2 | 3\n");
}

TEST_F(fusion, does_not_replace_a_small_matrix_that_rows_still_read) {
  combine({x}, {h}, {y});
  small({}, {h});
  combine({y}, {h}, {z});
  EXPECT_EQ(passes(), "| 0\n1 | 2\n");
}

TEST_F(fusion, does_not_sum_twice_into_one_matrix_at_a_time) {
  gram({x, x}, {g});
  gram({y, y}, {g});
  EXPECT_EQ(passes(), "| 0\n| 1\n");
}

TEST_F(fusion, takes_an_operation_to_the_earliest_pass) {
  gram({x, x}, {g});
  combine({x}, {g}, {y});
  gram({x, z}, {h});  // needs nothing of the second pass
  EXPECT_EQ(passes(), "| 0 2\n| 1\n");
}

TEST_F(fusion, keeps_the_order_of_writers) {
  gram({x, x}, {g});
  combine({x}, {g}, {y});
  copy({z}, {y});  // not before what it overwrites
  gram({y, z}, {h});
  EXPECT_EQ(passes(), "| 0\n| 1 2 3\n");
}

}  // namespace
}  // namespace tessera::sparse
