// The current header keeps every field of version 0.1 where it was, and every constant.
#include <gtest/gtest.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Both headers in one program, each in a namespace of its own; the exported function has one name only.
#define tsr_plugin_query tsr_plugin_query_0_1
namespace old_abi {
#include "tests/abi/0.1/tessera/plugin.h"
constexpr unsigned major = TSR_ABI_MAJOR, minor = TSR_ABI_MINOR;
}  // namespace old_abi
#undef tsr_plugin_query
#undef TESSERA_PLUGIN_H_
#undef TSR_ABI_MAJOR
#undef TSR_ABI_MINOR
#undef TSR_EXPORT
#undef TSR_HAS
#undef TSR_MAX_RANK
namespace new_abi {
#include "core/plugin/abi/tessera/plugin.h"
constexpr unsigned major = TSR_ABI_MAJOR, minor = TSR_ABI_MINOR;
}  // namespace new_abi

#define FIELD(type, field)                                                                                        \
  static_assert(offsetof(new_abi::type, field) == offsetof(old_abi::type, field), #type "." #field " has moved"); \
  static_assert(sizeof(new_abi::type::field) == sizeof(old_abi::type::field), #type "." #field " has another size");
#define CONSTANT(name)                                                                                            \
  static_assert(static_cast<int64_t>(new_abi::name) == static_cast<int64_t>(old_abi::name), #name " has another " \
                                                                                                  "value");
#include "tests/abi/0.1/contents.inc"

namespace {

TEST(abi_superset, numbers_grow) {
  EXPECT_EQ(old_abi::major, 0u);
  EXPECT_EQ(old_abi::minor, 1u);
  EXPECT_EQ(new_abi::major, old_abi::major);
  EXPECT_GT(new_abi::minor, old_abi::minor);
}

TEST(abi_superset, what_is_younger_is_at_the_end) {
  EXPECT_EQ(sizeof(old_abi::tsr_device_table), offsetof(new_abi::tsr_device_table, host_task));
  EXPECT_EQ(sizeof(old_abi::tsr_plugin_header), sizeof(new_abi::tsr_plugin_header));
  EXPECT_EQ(sizeof(old_abi::tsr_ticket), 16u);
}

}  // namespace
