// What calls throw, in words.
#include "core/schedule/outcome.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::schedule {
namespace {

TEST(thrown_by, is_nothing_when_the_call_returns) {
  int calls = 0;
  EXPECT_FALSE(thrown_by([&] { ++calls; }).has_value());
  EXPECT_EQ(calls, 1);
}

TEST(thrown_by, tells_whatever_was_thrown) {
  struct throwing {
    std::function<void()> call;
    std::string text, where;
    error_kind kind;
    bool is_error;
  };
  const std::vector<throwing> all{
      {[] { throw error(error_kind::memory, "it is full", "a.cpp:3", "make room"); }, "it is full", "a.cpp:3",
       error_kind::memory, true},
      {[] { throw error(error_kind::usage, "no place"); }, "no place", "", error_kind::usage, true},
      {[] { throw std::runtime_error("bad luck"); }, "bad luck", "", error_kind::task, false},
      {[] { throw 7; }, "unknown exception", "", error_kind::task, false},
      {[] { throw std::string("words"); }, "unknown exception", "", error_kind::task, false},
  };
  for (const throwing& one : all) {
    const std::optional<thrown> caught = thrown_by(one.call);
    ASSERT_TRUE(caught.has_value()) << one.text;
    EXPECT_EQ(caught->text, one.text);
    EXPECT_EQ(caught->where, one.where) << one.text;
    EXPECT_EQ(caught->kind, one.kind) << one.text;
    EXPECT_EQ(caught->is_error, one.is_error) << one.text;
  }
}

}  // namespace
}  // namespace tessera::schedule
