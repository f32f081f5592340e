// Instructions on registers that can fail.
#include "languages/sial/interpreter/checked_step.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include "languages/sial/interpreter/arithmetic_step.hpp"
#include "tests/unit/sial/interpreter/sized_program.hpp"

namespace tessera::sial::test {
namespace {

/// r0 = r1 op r2 for ints, s0 = s1 op s2 for scalars.
class sial_checked_step : public ::testing::Test {
 protected:
  void run(opcode what) {
    ASSERT_TRUE(is_checked_step(what));
    checked_step({what, 0, 0, 1, 2}, m_program.program, i.data(), s.data());
  }
  std::int64_t quotient(std::int64_t left, std::int64_t right) {
    i = {0, left, right};
    run(opcode::divide_int);
    return i[0];
  }
  std::string failure(opcode what) {
    return failure_of([&] { checked_step({what, 0, 0, 1, 2}, m_program.program, i.data(), s.data()); });
  }
  const sized_program m_program;
  std::array<std::int64_t, 3> i{};
  std::array<double, 3> s{};
};

TEST_F(sial_checked_step, divides_ints_towards_zero) {
  EXPECT_EQ(quotient(7, 2), 3);
  EXPECT_EQ(quotient(-7, 2), -3);
  EXPECT_EQ(quotient(5, -1), -5);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(quotient(least, 1), least);
  i = {0, least, -1};
  EXPECT_EQ(failure(opcode::divide_int), "-9223372036854775808 / -1 is beyond the 64 bits of an int");
  i = {0, 7, 0};
  EXPECT_EQ(failure(opcode::divide_int), "an int is divided by zero");
}

/// What arithmetic_step does, and what it leaves for checked_step: nothing else than results beyond 64 bits.
TEST_F(sial_checked_step, refuses_ints_beyond_64_bits) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  std::uint32_t at = 0;
  const auto done = [&](opcode what, std::int64_t a, std::int64_t b) {
    i = {1, a, b};
    return arithmetic_step({what, 0, 0, 1, 2}, i.data(), s.data(), at);
  };
  EXPECT_TRUE(done(opcode::add_int, most - 1, 1) && i[0] == most);
  EXPECT_TRUE(done(opcode::subtract_int, least + 1, 1) && i[0] == least);
  EXPECT_TRUE(done(opcode::multiply_int, -3037000500, 3037000499) && i[0] == -9223372033963249500);
  EXPECT_TRUE(done(opcode::negate_int, most, 0) && i[0] == least + 1);
  for (const auto& [what, a, b, said] : {std::tuple{opcode::add_int, most, std::int64_t{1}, "9223372036854775807 + 1"},
                                         {opcode::subtract_int, least, std::int64_t{1}, "-9223372036854775808 - 1"},
                                         {opcode::multiply_int, most, std::int64_t{2}, "9223372036854775807 * 2"},
                                         {opcode::negate_int, least, std::int64_t{0}, "-(-9223372036854775808)"}}) {
    EXPECT_FALSE(done(what, a, b)) << said;
    EXPECT_EQ(i[0], 1) << said;
    EXPECT_EQ(failure(what), std::string(said) + " is beyond the 64 bits of an int");
  }
}

TEST_F(sial_checked_step, rounds_ties_to_even) {
  for (const auto& [value, rounded] : {std::pair{2.5, 2}, {3.5, 4}, {-1.2, -1}}) {
    s[1] = value;
    run(opcode::round);
    EXPECT_EQ(i[0], rounded);
  }
  for (const double value : {0x1p62, -0x1p63, std::numeric_limits<double>::quiet_NaN()}) {
    s[1] = value;
    EXPECT_NE(failure(opcode::round), "") << value;
  }
}

TEST_F(sial_checked_step, refuses_what_is_no_number) {
  s = {0, 6, 4};
  run(opcode::divide_scalar);
  EXPECT_EQ(s[0], 1.5);
  s[2] = 0;
  EXPECT_EQ(failure(opcode::divide_scalar), "a scalar is divided by zero");
  s = {0, 2, 10};
  run(opcode::power);
  EXPECT_EQ(s[0], 1024);
  s = {0, -1, 0.5};
  EXPECT_NE(failure(opcode::power), "");
  s = {0, 9, 0};
  run(opcode::square_root);
  EXPECT_EQ(s[0], 3);
  s[1] = -9;
  EXPECT_EQ(failure(opcode::square_root), "the square root of -9 is asked for");
}

TEST_F(sial_checked_step, refuses_an_index_without_a_value) {
  i[0] = 4;
  run(opcode::check_bound);
  i[0] = unbound;
  EXPECT_EQ(failure(opcode::check_bound), "index 'j' has no value here");
}

}  // namespace
}  // namespace tessera::sial::test
