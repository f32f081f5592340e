// Matrices and vectors that a solver starts from: any form of a file, summed up and mirrored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/sparse/files.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace tessera::apps {
namespace {

using test_support::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class problem_files : public ::testing::Test {
 protected:
  std::string write(const std::string& form, const std::string& lines) {
    return folder.write("v.mtx", "%%MatrixMarket matrix " + form + "\n" + lines);
  }
  plugin_test::folder folder;
};

TEST_F(problem_files, have_vectors_whose_entries_are_added_up_and_mirrored) {
  const auto read = [&](const std::string& form, const std::string& lines) {
    return read_vectors(write(form, lines), 2, false);
  };
  EXPECT_THAT(read("array real general", "2 1\n3\n4\n"), ElementsAre(3, 4));
  EXPECT_THAT(read("coordinate real general", "2 1 3\n1 1 5\n2 1 6\n1 1 -5\n"), ElementsAre(0, 6));
  EXPECT_THAT(read("coordinate real symmetric", "2 2 3\n1 1 5\n2 1 6\n2 1 1\n"), ElementsAre(5, 7, 7, 0));
  EXPECT_THAT(read("array integer symmetric", "2 2\n1\n2\n3\n"), ElementsAre(1, 2, 2, 3));
}

TEST_F(problem_files, have_complex_vectors_in_real_form) {
  const auto read = [&](const std::string& form, const std::string& lines) {
    return read_vectors(write(form, lines), 4, true);
  };
  EXPECT_THAT(read("array complex general", "2 1\n1 2\n3 4\n"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read("coordinate complex general", "2 1 3\n1 1 1 2\n2 1 3 4\n1 1 1 -1\n"), ElementsAre(2, 1, 3, 4));
  // Rows are the real and the imaginary part of (1, 4 - 5i), then of (4 + 5i, 0).
  EXPECT_THAT(read("coordinate complex hermitian", "2 2 2\n1 1 1 0\n2 1 4 5\n"), ElementsAre(1, 4, 0, -5, 4, 0, 5, 0));
  EXPECT_THAT(read("coordinate real symmetric", "2 2 1\n2 1 6\n"), ElementsAre(0, 6, 0, 0, 6, 0, 0, 0));
}

TEST_F(problem_files, refuse_vectors_that_do_not_fit) {
  const auto refusal = [&](const std::string& form, const std::string& lines, bool of_complex, error_kind kind,
                           std::int64_t rows = 60) {
    return message_of([&] { (void)read_vectors(write(form, lines), rows, of_complex); }, kind);
  };
  EXPECT_THAT(refusal("coordinate complex general", "60 1 1\n1 1 1 0\n", false, error_kind::input),
              HasSubstr("the vectors are complex, and the matrix is real"));
  EXPECT_THAT(refusal("coordinate real general", "60 1 1\n1 1 1\n", true, error_kind::input),
              HasSubstr("the vectors have 60 rows, and the matrix has 30"));
  constexpr std::int64_t most = 2147483647;
  EXPECT_THAT(refusal("coordinate real general", "2147483647 2147483647 1\n1 1 1\n", false, error_kind::memory, most),
              HasSubstr("2147483647 vectors of 2147483647 rows take 32 EiB"));
}

TEST_F(problem_files, say_by_their_first_line_whether_a_matrix_is_complex) {
  const std::string hermitian = write("coordinate complex hermitian", "2 2 3\n1 1 2 0\n2 1 1 -3\n2 1 0 1\n");
  const problem_matrix complex = read_problem(hermitian, false);
  EXPECT_TRUE(complex.is_complex);
  EXPECT_EQ(complex.matrix.rows, 4);
  EXPECT_THAT(complex.matrix.values, ElementsAre(2, 1, -2, 2, 2, 1, 1, 2, -2, 1));
  EXPECT_THAT(message_of([&] { (void)read_problem(hermitian, true); }, error_kind::usage), HasSubstr("no mass matrix"));
  const problem_matrix real = read_problem(write("coordinate pattern symmetric", "2 2 1\n2 1\n"), true);
  EXPECT_FALSE(real.is_complex);
  EXPECT_THAT(real.matrix.values, ElementsAre(1, 1));
  const auto refusal = [&](const std::string& form, const std::string& lines, error_kind kind) {
    return message_of([&] { (void)read_problem(write(form, lines), false); }, kind);
  };
  EXPECT_THAT(refusal("coordinate complex general", "1 1 1\n1 1 2 0\n", error_kind::input), HasSubstr("not hermitian"));
  EXPECT_THAT(refusal("coordinate complex hermitian", "2 2 1\n1 1 2 1\n", error_kind::input), HasSubstr("v.mtx:3"));
  EXPECT_THAT(refusal("coordinate complex hermitian", "1 1 2\n1 1 1e308 0\n1 1 1e308 0\n", error_kind::input),
              HasSubstr("not finite"));
}

}  // namespace
}  // namespace tessera::apps
