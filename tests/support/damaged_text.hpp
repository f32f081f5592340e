#pragma once
// Readers of text meet damaged text.
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>

#include "core/base/error.hpp"

namespace tessera::test_support {

/// Calls `read(text)` with 4000 versions of `whole` that are damaged in one to four places. What it throws must be of
/// kind configuration and name a line of `file`. The seed is told with a failure. Expects at least a thousand to be
/// refused.
template <class Read>
void read_damaged(const std::string& whole, const std::string& file, Read&& read) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = whole;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        case 2:
          text.insert(at, whole.substr(random() % whole.size(), random() % 20));
          break;
      }
      if (text.empty()) text = " ";
    }
    try {
      read(text);
    } catch (const error& e) {
      ++refused;
      ASSERT_EQ(e.kind(), error_kind::configuration);
      ASSERT_NE(e.where().find(file + ":"), std::string::npos) << e.what() << "\n" << text;
    }
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace tessera::test_support
