// What a file says about itself, also when it lies.
#include "core/plugin/elf_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>

#include "core/base/error.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace tessera;
using namespace tessera::plugin;
using namespace plugin_test;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(elf_file, names_the_needed_libraries) {
  EXPECT_THAT(read_elf(built("mini")).needed, testing::Contains(testing::StartsWith("libc.so")));
  if (std::filesystem::exists(built("with_asan"))) {
    EXPECT_THAT(read_elf(built("with_asan")).needed, testing::Contains(testing::StartsWith("libasan.so")));
  }
}

TEST(elf_file, another_processor_and_a_program_are_refused) {
  const folder place;
  std::string bytes = bytes_of(built("mini"));
  bytes[18] = static_cast<char>(bytes[18] ^ 0x55);  // e_machine
  EXPECT_THAT([&] { read_elf(place.write("other.so", bytes)); },
              testing::ThrowsMessage<error>(testing::HasSubstr("another processor")));
  bytes[18] = static_cast<char>(bytes[18] ^ 0x55);
  bytes[16] = 1;  // e_type: an object file
  EXPECT_THAT([&] { read_elf(place.write("object.so", bytes)); },
              testing::ThrowsMessage<error>(testing::HasSubstr("not a shared library")));
}

/// Whatever the bytes, the answer is facts or an error.
TEST(elf_file, survives_damage) {
  const auto seed = static_cast<std::uint64_t>(std::random_device{}());
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const folder place;
  const std::string sound = bytes_of(built("mini"));
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = sound;
    const std::size_t reach = i % 2 == 0 ? 64 + 56 * 12 : damaged.size();  // the headers, or anywhere
    for (int hits = 1 + static_cast<int>(random() % 8); hits > 0; --hits)
      damaged[random() % reach] = static_cast<char>(random());
    if (i % 5 == 0) damaged.resize(random() % damaged.size());
    try {
      read_elf(place.write("damaged.so", damaged));
    } catch (const error& failure) {
      EXPECT_EQ(failure.kind(), error_kind::plugin);
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
