// How a call of a device that failed is named: once.
#include "core/operation/device_call.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"
#include "tests/support/fake_device.hpp"

namespace tessera::operation {
namespace {

TEST(device_call, leaves_out_the_name_that_the_caller_says) {
  testing::fake_world world;
  testing::fake_device device(world, 0, false, 1 << 20, "fake");
  context c;
  c.device = &device.device();
  plugin::take_error_details();  // of other tests
  c.task_name = "fill";
  EXPECT_NO_THROW(check(c, TSR_OK, "fill"));
  const auto told = [&](const char* call) {
    return test_support::error_of([&] { check(c, TSR_INTERNAL, call); }).message();
  };
  EXPECT_EQ(told("fill"), "fill failed: INTERNAL") << "in place nobody else says it";
  c.caller_names_task = true;
  EXPECT_EQ(told("fill"), "INTERNAL");
  EXPECT_EQ(told("fill with zero"), "fill with zero failed: INTERNAL") << "a part of the task";
}

}  // namespace
}  // namespace tessera::operation
