// Element types: sizes, names, and the map from C++ types.
#include "core/block/element_type.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/block/intent.hpp"

namespace tessera {
namespace {

TEST(element_type, sizes_are_those_of_the_matching_types) {
  EXPECT_EQ(size_of(element_type::f32), sizeof(float));
  EXPECT_EQ(size_of(element_type::f64), sizeof(double));
  EXPECT_EQ(size_of(element_type::c64), sizeof(std::complex<float>));
  EXPECT_EQ(size_of(element_type::c128), sizeof(std::complex<double>));
  EXPECT_EQ(size_of(element_type::i32), sizeof(std::int32_t));
  EXPECT_EQ(size_of(element_type::i64), sizeof(std::int64_t));
  EXPECT_EQ(size_of(element_type::u8), 1u);
  EXPECT_EQ(size_of(element_type::f16), 2u);
  EXPECT_EQ(size_of(element_type::bf16), 2u);
  EXPECT_EQ(size_of(element_type::none), 1u);
}

TEST(element_type, of_a_type_has_its_size) {
  const auto check = []<class T>(T, element_type expected) {
    EXPECT_EQ(element_type_of<T>(), expected);
    EXPECT_EQ(element_type_of<const T>(), expected);
    EXPECT_EQ(size_of(element_type_of<T>()), sizeof(T));
  };
  check(float{}, element_type::f32);
  check(double{}, element_type::f64);
  check(std::complex<float>{}, element_type::c64);
  check(std::complex<double>{}, element_type::c128);
  check(std::int32_t{}, element_type::i32);
  check(std::int64_t{}, element_type::i64);
  check(std::uint8_t{}, element_type::u8);
  check(std::byte{}, element_type::u8);
}

TEST(element_type, names_differ) {
  std::set<std::string_view> names;
  for (const auto type :
       {element_type::none, element_type::f32, element_type::f64, element_type::c64, element_type::c128,
        element_type::i32, element_type::i64, element_type::u8, element_type::f16, element_type::bf16})
    EXPECT_TRUE(names.insert(name_of(type)).second) << name_of(type);
  EXPECT_EQ(name_of(element_type::c128), "c128");
  EXPECT_EQ(name_of(static_cast<element_type>(200)), "?");
  EXPECT_EQ(size_of(static_cast<element_type>(200)), 1u);
}

TEST(intent, contents_and_versions) {
  struct row {
    intent how;
    const char* name;
    bool contents, version;
  };
  for (const row r : {row{intent::read, "read", true, false}, row{intent::write, "write", false, true},
                      row{intent::update, "update", true, true}, row{intent::accumulate, "accumulate", false, false},
                      row{intent::scratch, "scratch", false, false}, row{intent::commute, "commute", true, true}}) {
    EXPECT_EQ(name_of(r.how), r.name);
    EXPECT_EQ(needs_contents(r.how), r.contents) << r.name;
    EXPECT_EQ(makes_version(r.how), r.version) << r.name;
  }
}

}  // namespace
}  // namespace tessera
