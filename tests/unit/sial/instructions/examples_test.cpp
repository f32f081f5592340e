// The example libraries, loaded and called.
#ifdef SIAL_EXAMPLE_LIBRARIES
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/error_of.hpp"
#include "tests/support/sial_call.hpp"

namespace tessera::sial {
namespace {

using test_support::block;
using test_support::call_site;
using test_support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

struct sial_examples : testing::Test {
  sial_examples() { call.registry = instruction_registry({SIAL_EXAMPLE_LIBRARIES}); }
  call_site call;
};

TEST_F(sial_examples, in_c) {
  call.registry.load("denominators");
  call.data.float_arrays["orbital_energies"] = {{5}, {-8, -4, -2, 1, 3}};
  block x("x", {2, 2}, {1, 1, 6, 7});  // a = 4, 5; i = 2, 3
  x.at({2, 2}, {3, 1});
  call("my_denominator", "u", {&x});
  EXPECT_THAT(x.values, ElementsAre(1 / -5.0, 1 / -7.0, 6 / -3.0, 7 / -5.0));
  x.at({3, 2}, {4, 1});
  EXPECT_THAT(message_of([&] { call("my_denominator", "u", {&x}); }, error_kind::task),
              HasSubstr("'orbital_energies' is too short"));
}

TEST_F(sial_examples, with_a_form_for_devices) {
  call.registry.load("damping");
  block x("x", {2}, {1, 2}), y("y", {2}, {3, 6}), w = block::scalar("w", 0.25);
  call("my_damp", "urr", {&x, &y, &w});
  EXPECT_THAT(x.values, ElementsAre(1.5, 3));
  const instruction& is = call.registry.find("my_damp", "urr");
  ASSERT_TRUE(is.kernel.has_value());  // integration_sial runs it
  EXPECT_EQ(is.kernel->name, "damp");
}

TEST_F(sial_examples, in_cpp) {
  call.registry.load("median");
  block x("x", {2, 2}, {9, 1, 5, 2}), odd("y", {3}, {7, 1, 3}), m = block::scalar("m", 0);
  call("my_median", "rw", {&x, &m});
  EXPECT_EQ(m.values[0], 3.5);
  EXPECT_THAT(x.values, ElementsAre(9, 1, 5, 2));
  call("my_median", "ru", {&odd, &m});
  EXPECT_EQ(m.values[0], 3);
  EXPECT_THAT(message_of(
                  [&] {
                    call("my_median", "rw", {&x, &odd});
                  },
                  error_kind::task),
              HasSubstr("'my_median' failed: the second argument is to be a scalar"));
}

TEST_F(sial_examples, in_fortran) {
  if (!SIAL_EXAMPLE_FORTRAN) GTEST_SKIP() << "no Fortran compiler was found";
  call.registry.load("normalize");
  block x("x", {2, 3}, {3, 4, 0, 0, 0, -2}), n = block::scalar("n", 7), vector("v", {2});
  call("my_normalize", "uw", {&x, &n});
  EXPECT_THAT(x.values, ElementsAre(0.6, 0.8, 0, 0, 0, -1));
  EXPECT_EQ(n.values[0], 2);
  EXPECT_EQ(call.host.printed, "my_normalize: no min_length, 0 is used\n");
  call.data.scalars["min_length"] = 1.0;
  call("my_normalize", "uw", {&x, &n});
  EXPECT_EQ(n.values[0], 0);
  EXPECT_EQ(call.host.printed, "my_normalize: no min_length, 0 is used\n");
  EXPECT_THAT(message_of(
                  [&] {
                    call("my_normalize", "uw", {&vector, &n});
                  },
                  error_kind::task),
              HasSubstr("'my_normalize' failed: v is no matrix"));
}

}  // namespace
}  // namespace tessera::sial
#endif
