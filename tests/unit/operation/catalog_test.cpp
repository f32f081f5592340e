// Operations by name, and scalars of any type.
#include "core/operation/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "core/operation/scalar.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::operation {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

definition host_operation(std::string name) {
  return {.name = std::move(name), .host = [](const context&) {}};
}

TEST(catalog, finds_what_was_added_and_numbers_it) {
  catalog all;
  EXPECT_EQ(all.find("a"), nullptr);
  const definition& a = all.add(host_operation("a"));
  const definition& b = all.add(host_operation("b"));
  EXPECT_EQ(a.number, 0u);
  EXPECT_EQ(b.number, 1u);
  EXPECT_EQ(all.find("b"), &b);
  EXPECT_EQ(&all.at(0), &a);
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.names(), (std::vector<std::string>{"a", "b"}));
}

TEST(catalog, refuses_doubles_and_empty_definitions) {
  catalog all;
  all.add(host_operation("a"));
  const error twice = error_of([&] { all.add(host_operation("a")); });
  EXPECT_EQ(twice.kind(), error_kind::usage);
  EXPECT_THAT(twice.message(), HasSubstr("'a' exists already"));
  const error nothing = error_of([&] { all.add({.name = "empty"}); });
  EXPECT_EQ(nothing.kind(), error_kind::usage);
  EXPECT_THAT(nothing.message(), HasSubstr("'empty' has no implementation"));
  EXPECT_FALSE(nothing.hint().empty());
  EXPECT_EQ(all.size(), 1u);
}

TEST(catalog, refuses_batch_forms_that_nobody_could_use) {
  catalog all;
  const batch_form together{.enqueue = [](std::span<const context>) { return true; }};
  EXPECT_THAT(error_of([&] { all.add({.name = "a", .host = [](const context&) {}, .batch = together}); }).message(),
              HasSubstr("'a' has a batch form alone"));
  definition owns{.name = "b", .enqueue = [](const context&) {}, .batch = together};
  owns.plain_arguments = false;
  EXPECT_THAT(error_of([&] { all.add(owns); }).message(),
              HasSubstr("has a batch form and arguments that are not plain"));
  owns.plain_arguments = true;
  owns.destroy_arguments = [](void*) {};
  EXPECT_THAT(error_of([&] { all.add(owns); }).message(), HasSubstr("not plain"));
  owns.destroy_arguments = nullptr;
  owns.workspace = [](const plugin::device&, const void*, std::span<const block::access>) { return std::uint64_t{1}; };
  EXPECT_THAT(error_of([&] { all.add(owns); }).message(),
              HasSubstr("wants a workspace and has a batch form that wants none"));
  owns.workspace = nullptr;
  EXPECT_EQ(all.add(owns).batch.enqueue, together.enqueue);
}

TEST(catalog, has_a_limit_and_stable_addresses) {
  catalog all;
  const definition* first = &all.add(host_operation("0"));
  for (std::uint32_t k = 1; k < catalog::max_operations; ++k) all.add(host_operation(std::to_string(k)));
  EXPECT_EQ(all.find("0"), first);
  EXPECT_THAT(error_of([&] { all.add(host_operation("one more")); }).message(), HasSubstr("4096"));
}

TEST(catalog, several_threads_add_and_look) {
  catalog all;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 200; ++k) {
        const std::string name = std::to_string(t) + "/" + std::to_string(k);
        const definition& mine = all.add(host_operation(name));
        EXPECT_EQ(all.find(name), &mine);
        EXPECT_EQ(&all.at(mine.number), &mine);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(all.size(), 800u);
}

template <class T>
T value_of(const scalar& s) {
  T value;
  std::memcpy(&value, s.data(), sizeof value);
  return value;
}

TEST(scalar, has_the_bytes_of_its_type) {
  const std::complex<double> v{2.5, -1.5};
  EXPECT_EQ(value_of<float>(scalar(element_type::f32, v)), 2.5f);
  EXPECT_EQ(value_of<double>(scalar(element_type::f64, v)), 2.5);
  EXPECT_EQ(value_of<std::complex<float>>(scalar(element_type::c64, v)), (std::complex<float>{2.5f, -1.5f}));
  EXPECT_EQ(value_of<std::complex<double>>(scalar(element_type::c128, v)), v);
  EXPECT_EQ(value_of<std::int32_t>(scalar(element_type::i32, -7)), -7);
  EXPECT_EQ(value_of<std::int64_t>(scalar(element_type::i64, 1e15)), 1'000'000'000'000'000);
  EXPECT_EQ(value_of<std::uint8_t>(scalar(element_type::u8, 255)), 255);
  EXPECT_EQ(error_of([] { scalar(element_type::f16, 1); }).kind(), error_kind::usage);
  EXPECT_EQ(error_of([] { scalar(element_type::none, 1); }).kind(), error_kind::usage);
}

}  // namespace
}  // namespace tessera::operation
