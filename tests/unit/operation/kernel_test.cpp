// Launches, images from files, and definitions whose forms lack something.
#include "core/operation/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/operation/catalog.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::operation {
namespace {

using test_support::message_of;
using ::testing::HasSubstr;

TEST(kernel_launch, covers_all_elements) {
  struct {
    std::int64_t count;
    std::uint32_t threads, groups;
  } const cases[] = {{0, 256, 0}, {1, 256, 1}, {256, 256, 1}, {257, 256, 2}, {1000, 1, 1000}, {1024, 1024, 1}};
  for (const auto& one : cases) {
    kernel_launch how;
    how.over(one.count, one.threads);
    EXPECT_EQ(how.grid, (std::array<std::uint32_t, 3>{one.groups, 1, 1})) << one.count;
    EXPECT_EQ(how.group, (std::array<std::uint32_t, 3>{one.threads, 1, 1}));
  }
  kernel_launch how;
  EXPECT_THAT(message_of([&] { how.over(-1); }, error_kind::usage), HasSubstr("-1 elements"));
  EXPECT_THAT(message_of([&] { how.over(5, 0); }, error_kind::usage), HasSubstr("groups of 0"));
  EXPECT_THAT(message_of([&] { how.over(std::int64_t{1} << 40, 256); }, error_kind::usage), HasSubstr("2^31 - 1"));
}

TEST(kernel_launch, keeps_arguments_in_their_order) {
  operand block{};
  block.address = {reinterpret_cast<tsr_memory*>(0x1000), 24};
  kernel_launch how;
  how.grid = {2, 3, 4};
  how.local_bytes = 8;
  how.value(1.5f).block(block).value(std::int64_t{-7});
  const kernel_launch copy = how;  // whose places are its own
  const tsr_launch abi = copy.to_abi();
  EXPECT_EQ(abi.struct_size, sizeof abi);
  EXPECT_EQ(abi.grid[1], 3u);
  EXPECT_EQ(abi.shared_bytes, 8u);
  ASSERT_EQ(abi.argument_count, 3u);
  EXPECT_EQ(abi.argument_sizes[0], 4u);
  EXPECT_EQ(abi.argument_sizes[1], sizeof(tsr_address));
  EXPECT_EQ(abi.argument_sizes[2], 8u);
  tsr_address address{};
  std::memcpy(&address, abi.arguments[1], sizeof address);
  EXPECT_EQ(address.offset, 24u);
  std::int64_t number = 0;
  std::memcpy(&number, abi.arguments[2], sizeof number);
  EXPECT_EQ(number, -7);
  kernel_launch full;
  for (std::size_t k = 0; k < kernel_launch::max_arguments; ++k) full.value(1);
  EXPECT_THAT(message_of([&] { full.value(1); }, error_kind::usage), HasSubstr("more than 96 arguments"));
}

TEST(kernel_image, is_read_from_a_file) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "tessera_kernel_image_test";
  EXPECT_THAT(message_of([&] { kernel_image::from_file("cuda", "/nonexistent/image"); }, error_kind::input),
              HasSubstr("/nonexistent/image"));
  std::ofstream(file, std::ios::binary) << "";
  EXPECT_THAT(message_of([&] { kernel_image::from_file("cuda", file); }, error_kind::input), HasSubstr("empty"));
  std::ofstream(file, std::ios::binary) << std::string("a\0b", 3);
  const kernel_image read = kernel_image::from_file("cuda", file);
  EXPECT_EQ(read.plugin, "cuda");
  EXPECT_EQ(read.bytes, std::string("a\0b", 3));
  std::filesystem::remove(file);
}

TEST(catalog, refuses_forms_that_lack_something) {
  catalog all;
  const auto refused = [&](const definition& what) { return message_of([&] { all.add(what); }, error_kind::usage); };
  const launch_function launch = [](const context&, kernel_launch&) {};
  EXPECT_THAT(refused({.name = "half", .kernel = {.name = "", .text = {.source = "text"}, .launch = launch}}),
              HasSubstr("does not name its kernel"));
  EXPECT_THAT(refused({.name = "half", .kernel = {.name = "k", .launch = launch}}),
              HasSubstr("without text and image"));
  EXPECT_THAT(refused({.name = "half", .kernel = {.name = "k", .text = {.source = "text"}}}),
              HasSubstr("without a launch function"));
  const sequence_function sequence = [](const context&, kernel_sequence&) {};
  EXPECT_THAT(refused({.name = "half", .kernel = {.name = "", .text = {.source = "text"}, .sequence = sequence}}),
              HasSubstr("does not name its kernel"));
  EXPECT_THAT(refused({.name = "half", .kernel = {.name = "", .text = {.source = "text"}, .names = {"a", "b"}}}),
              HasSubstr("without a sequence function"));
  EXPECT_THAT(refused({.name = "half",
                       .kernel = {.name = "a", .text = {.source = "text"}, .names = {"b"}, .sequence = sequence}}),
              HasSubstr("one kernel and several"));
  EXPECT_THAT(refused({.name = "half",
                       .enqueue = [](const context&) {},
                       .kernel = {.name = "k", .text = {.source = "text"}, .launch = launch}}),
              HasSubstr("beside an enqueue function"));
  EXPECT_THAT(refused({.name = "half", .native = {{"cuda", nullptr}}}), HasSubstr("without a plugin or a function"));
  EXPECT_THAT(refused({.name = "half"}), HasSubstr("no implementation"));
  EXPECT_EQ(all.size(), 0u);
}

TEST(catalog, takes_a_definition_of_another_catalog) {
  catalog one, other;
  const launch_function launch = [](const context&, kernel_launch&) {};
  const definition& first =
      one.add({.name = "k", .kernel = {.name = "k", .text = {.source = "text"}, .launch = launch}});
  const definition& second = other.add(first);
  EXPECT_NE(first.kernels, second.kernels) << "what is compiled belongs to one runtime's devices";
  EXPECT_NE(second.enqueue, nullptr);
}

}  // namespace
}  // namespace tessera::operation
