// The current header keeps every field of version 1.0 where it was, every constant, and grows at the ends alone.
#include <gtest/gtest.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Both headers in one program, each in a namespace of its own; the exported function has one name only.
#define tsr_plugin_query tsr_plugin_query_1_0
namespace old_abi {
#include "tests/abi/1.0/tessera/plugin.h"
constexpr unsigned major = TSR_ABI_MAJOR, minor = TSR_ABI_MINOR, max_rank = TSR_MAX_RANK, key_bytes = TSR_IPC_KEY_BYTES;
}  // namespace old_abi
#undef tsr_plugin_query
#undef TESSERA_PLUGIN_H_
#undef TSR_ABI_MAJOR
#undef TSR_ABI_MINOR
#undef TSR_EXPORT
#undef TSR_HAS
#undef TSR_MAX_RANK
#undef TSR_IPC_KEY_BYTES
namespace new_abi {
#include "core/plugin/abi/tessera/plugin.h"
constexpr unsigned major = TSR_ABI_MAJOR, minor = TSR_ABI_MINOR, max_rank = TSR_MAX_RANK, key_bytes = TSR_IPC_KEY_BYTES;
}  // namespace new_abi

#define FIELD(type, field)                                                                                        \
  static_assert(offsetof(new_abi::type, field) == offsetof(old_abi::type, field), #type "." #field " has moved"); \
  static_assert(sizeof(new_abi::type::field) == sizeof(old_abi::type::field), #type "." #field " has another size");
#define CONSTANT(name)                                                                            \
  static_assert(static_cast<int64_t>(new_abi::name) == static_cast<int64_t>(old_abi::name), #name \
                " has another "                                                                   \
                "value");
// What grows is a new minor version.
#define SIZE(type)                                                                                 \
  static_assert(sizeof(new_abi::type) >= sizeof(old_abi::type), #type " has shrunk");              \
  static_assert(new_abi::minor > old_abi::minor || sizeof(new_abi::type) == sizeof(old_abi::type), \
                #type " has grown within 1.0");
#include "tests/abi/1.0/contents.inc"
#undef FIELD
#undef CONSTANT
#undef SIZE

// A field that came later begins where its struct ended before, so that struct_size tells whether it is there: padding
// at an end is no room (tsr_host, tsr_device_desc, tsr_launch, tsr_csr and tsr_bsr of version 1.0 have some).
#define AT_0(type, field)
#define AT_1(type, field)                                                \
  static_assert(offsetof(new_abi::type, field) >= sizeof(old_abi::type), \
                #type "." #field " lies in what was padding in version 1.0");
#define FIELD(type, field, minor) AT_##minor(type, field)
#define BORN(type, field, minor)
#define STRUCT(type, minor)
#define CONSTANT(name, minor)
#include "core/plugin/abi/contents.inc"

namespace {

TEST(abi_superset, numbers_grow) {
  EXPECT_EQ(old_abi::major, 1u);
  EXPECT_EQ(old_abi::minor, 0u);
  EXPECT_EQ(new_abi::major, old_abi::major);
  EXPECT_GE(new_abi::minor, old_abi::minor);
  EXPECT_EQ(new_abi::max_rank, old_abi::max_rank);
  EXPECT_EQ(new_abi::key_bytes, old_abi::key_bytes);
}

TEST(abi_superset, what_has_no_size_does_not_grow) {
  EXPECT_EQ(sizeof(old_abi::tsr_ticket), 16u);
  EXPECT_EQ(sizeof(new_abi::tsr_ticket), sizeof(old_abi::tsr_ticket));
  EXPECT_EQ(sizeof(new_abi::tsr_address), sizeof(old_abi::tsr_address));
  EXPECT_EQ(sizeof(new_abi::tsr_space_ref), sizeof(old_abi::tsr_space_ref));
  EXPECT_EQ(sizeof(new_abi::tsr_workspace), sizeof(old_abi::tsr_workspace));
  EXPECT_EQ(sizeof(new_abi::tsr_counter), sizeof(old_abi::tsr_counter));
  EXPECT_EQ(sizeof(new_abi::tsr_candidate), sizeof(old_abi::tsr_candidate));
}

}  // namespace
