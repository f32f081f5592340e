// Built-in instructions on elements: fill, swap, diagonals, information, printing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/error_of.hpp"
#include "tests/support/sial_call.hpp"

namespace tessera::sial {
namespace {

using test_support::block;
using test_support::call_site;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct sial_elements : testing::Test {
  call_site call;
  std::string complaint(const std::string& name, const std::string& signature,
                        std::initializer_list<block*> arguments) {
    return test_support::message_of([&] { call(name, signature, arguments); }, error_kind::task);
  }
};

TEST_F(sial_elements, fill_sequential) {
  block x("x", {2, 3}), start = block::scalar("", 4.5);
  call("fill_block_sequential", "wr", {&x, &start});
  EXPECT_THAT(x.values, ElementsAre(4.5, 5.5, 6.5, 7.5, 8.5, 9.5));
}

TEST_F(sial_elements, fill_cyclic) {
  block x("x", {50}), start = block::scalar("", 18);
  call("fill_block_cyclic", "wr", {&x, &start});
  EXPECT_EQ(x.values[0], 18);
  EXPECT_EQ(x.values[2], 20);
  EXPECT_EQ(x.values[3], 1);
  EXPECT_EQ(x.values[22], 20);
  EXPECT_EQ(x.values[23], 1);
}

TEST_F(sial_elements, swap) {
  block x("x", {2, 2}, {1, 2, 3, 4}), y("y", {2, 2}, {5, 6, 7, 8}), z("z", {4});
  call("swap_blocks", "uu", {&x, &y});
  EXPECT_THAT(x.values, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(y.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(complaint("swap_blocks", "uu", {&x, &z}),
              HasSubstr("super instruction 'swap_blocks' failed: x[1,1] is 2 x 2, z[1] is 4, and equal extents"));
}

TEST_F(sial_elements, single_elements) {
  block x("x", {2, 2}, {9, 2, 3, 4}), y("y", {3}), one("o", {1, 1}, {7}), s = block::scalar("s", 0);
  call("get_first_block_element", "rw", {&x, &y});
  EXPECT_THAT(y.values, ElementsAre(9, 0, 0));
  for (const char* signature : {"rw", "ru"}) {
    s.values = {0};
    call("return_sval", signature, {&one, &s});
    EXPECT_EQ(s.values[0], 7);
  }
  EXPECT_THAT(complaint("return_sval", "rw", {&x, &s}),
              HasSubstr("x[1,1] has 4 elements, and a scalar or a block of one element is expected"));
}

TEST_F(sial_elements, largest_magnitude) {
  block x("x", {4}, {1, -5, 3, 0}), s = block::scalar("s", 99);
  call("check_dconf", "rw", {&x, &s});
  EXPECT_EQ(s.values[0], 5);
  x.values[2] = std::nan("");
  call("check_dconf", "rw", {&x, &s});
  EXPECT_TRUE(std::isnan(s.values[0]));
}

TEST_F(sial_elements, worker_numbers) {
  call.worker = 3;
  call.workers = 5;
  block x = block::scalar("x", -1);
  for (const char* signature : {"w", "u"}) {
    x.values = {-1};
    call("get_my_rank", signature, {&x});
    EXPECT_EQ(x.values[0], 3);
  }
  call("get_and_print_mpi_rank", "", {});
  EXPECT_EQ(call.host.printed, "worker 3 of 5\n");
}

TEST_F(sial_elements, who_prints) {
  call("enable_all_rank_print", "", {});
  EXPECT_TRUE(call.host.all_print);
  call("disable_all_rank_print", "", {});
  EXPECT_FALSE(call.host.all_print);
  call("enable_debug_print", "", {});
  EXPECT_TRUE(call.host.debug);
  call("disable_debug_print", "", {});
  EXPECT_FALSE(call.host.debug);
}

TEST_F(sial_elements, print_a_block) {
  block x("x", {2, 2}, {1, -2.5, 3, 0});
  x.at({4, 7}, {0, 0});
  call("print_block", "r", {&x});
  EXPECT_EQ(call.host.printed,
            "x[4,7] (2 x 2), 4 elements in the order stored in memory\n"
            "1.00000000000000 -2.50000000000000\n"
            "3.00000000000000 0.00000000000000\n");
  call.host.printed.clear();
  block whole("st", {3}, {1, 2, 3}), s = block::scalar("s", 0.5);
  whole.is.whole = 1;
  call("print_static_array", "r", {&whole});
  EXPECT_THAT(call.host.printed, testing::StartsWith("st (3), 3 elements"));
  call.host.printed.clear();
  call("print_block", "r", {&s});
  EXPECT_EQ(call.host.printed, "s = 0.50000000000000\n");
}

TEST_F(sial_elements, at_most_a_million_elements_are_printed) {
  block x("x", {1000, 1001});
  call("print_block", "r", {&x});
  EXPECT_TRUE(call.host.printed.ends_with("0.00000000000000\n....\n"));
  EXPECT_EQ(std::count(call.host.printed.begin(), call.host.printed.end(), '\n'), 1002);
}

TEST_F(sial_elements, arrays_of_the_initialization_data) {
  call.data.int_arrays["int_array_data"] = {{8}, {1, 2, 3, 4, 5, 6, 7, 8}};
  call.data.float_arrays["scalar_array_data"] = {{2, 2}, {2.5, 3, 4, 5}};
  block x("x", {3, 3}), small("y", {2});
  call("get_and_print_int_array_dummy", "w", {&x});
  EXPECT_THAT(x.values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 0));
  EXPECT_EQ(call.host.printed, "int_array_data = 1 2 3 4 5 6 7 8\n");
  call("get_and_print_scalar_array_dummy", "w", {&x});
  EXPECT_THAT(x.values, ElementsAre(2.5, 3, 4, 5, 5, 6, 7, 8, 0));
  EXPECT_THAT(complaint("get_and_print_int_array_dummy", "w", {&small}),
              HasSubstr("y[1] has 2 elements, too few for the 8"));
  call.data = {};
  EXPECT_THAT(complaint("get_and_print_int_array_dummy", "w", {&x}), HasSubstr("no array 'int_array_data'"));
}

TEST_F(sial_elements, scratch) {
  block x("x", {32});
  call("get_scratch_array_dummy", "w", {&x});
  for (std::size_t k = 0; k < 32; ++k) ASSERT_EQ(x.values[k], static_cast<double>(k + 1));
}

TEST_F(sial_elements, blocks_of_the_worker) {
  call("list_block_map", "", {});
  EXPECT_EQ(call.host.printed, "blocks of worker 0:\nnone\n");
  call.host.printed.clear();
  call.host.blocks = "a[1,2]\n";
  call("list_blocks_with_number", "", {});
  EXPECT_EQ(call.host.printed, "blocks of worker 0:\na[1,2]\n");
}

TEST_F(sial_elements, what_does_nothing) {
  block x("x", {2}, {1, 2});
  for (const char* name : {"one_arg_no_op", "check_block_number_calculation", "set_flags2"}) call(name, "r", {&x});
  EXPECT_THAT(x.values, ElementsAre(1, 2));
  EXPECT_EQ(call.host.printed, "");
}

TEST_F(sial_elements, division_by_a_diagonal) {
  block x("x", {1, 2, 2}, {1, 2, 3, 4}), y("y", {1, 2, 2}, {2, 0, -4, 0.5}), flat("f", {4}), other("o", {2, 2, 1});
  call("invert_diagonal", "ur", {&x, &y});
  EXPECT_THAT(x.values, ElementsAre(0.5, 2, -0.75, 8));
  EXPECT_THAT(complaint("invert_diagonal", "ur", {&flat, &flat}), HasSubstr("f[1] has rank 1, and 3 or 5 is expected"));
  EXPECT_THAT(complaint("invert_diagonal", "ur", {&x, &other}), HasSubstr("equal extents are expected"));
}

// Against plain loops with absolute numbers; segments of length 1 are ordinary segments.
TEST_F(sial_elements, diagonals_by_absolute_numbers) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> extents(5), offsets(5);
    for (std::size_t d = 0; d < 5; ++d) {
      extents[d] = 1 + below(3);
      offsets[d] = below(4);
    }
    block x("x", extents), y("y", extents);
    x.at({1, 1, 1, 1, 1}, offsets);
    for (double& v : x.values) v = 1 + static_cast<double>(below(9));
    for (double& v : y.values) v = static_cast<double>(below(3));
    const std::vector<double> before = x.values;
    call("invert_diagonal_asym", "ur", {&x, &y});
    std::size_t k = 0;
    for (std::int64_t j = 0; j < extents[4]; ++j)
      for (std::int64_t b = 0; b < extents[3]; ++b)
        for (std::int64_t i = 0; i < extents[2]; ++i)
          for (std::int64_t a = 0; a < extents[1]; ++a)
            for (std::int64_t m = 0; m < extents[0]; ++m, ++k) {
              const bool zero = a + offsets[1] == b + offsets[3] || i + offsets[2] == j + offsets[4];
              ASSERT_EQ(x.values[k], zero ? 0.0 : y.values[k] != 0 ? before[k] / y.values[k] : before[k]);
            }

    const std::vector<std::int64_t> four(extents.begin(), extents.end() - 1);
    block d("d", four);
    d.at({1, 1, 1, 1}, {offsets[0], offsets[1], offsets[2], offsets[3]});
    for (double& v : d.values) v = 1;
    call("return_diagonal_elements", "u", {&d});
    k = 0;
    for (std::int64_t s = 0; s < four[3]; ++s)
      for (std::int64_t r = 0; r < four[2]; ++r)
        for (std::int64_t q = 0; q < four[1]; ++q)
          for (std::int64_t p = 0; p < four[0]; ++p, ++k)
            ASSERT_EQ(d.values[k], p + offsets[0] == q + offsets[1] && r + offsets[2] == s + offsets[3] ? 1.0 : 0.0);
  }
  block two("d", {2, 3}, {1, 1, 1, 1, 1, 1});
  two.at({2, 1}, {1, 0});
  call("return_diagonal_elements", "u", {&two});
  EXPECT_THAT(two.values, ElementsAre(0, 0, 1, 0, 0, 1));
}

}  // namespace
}  // namespace tessera::sial
