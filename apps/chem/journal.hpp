#pragma once
// What is told while a calculation runs.
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "apps/common/command_options.hpp"

namespace tessera::apps {

/// Lines while it runs, where standard output is not for JSON.
class journal {
 public:
  explicit journal(const command_options& o) : m_on(!o.quiet && o.json != "-") {}
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) const {
    if (!m_on) return;
    fmt::print("{}\n", fmt::format(form, std::forward<Values>(values)...));
    std::fflush(stdout);
  }

 private:
  bool m_on;
};

}  // namespace tessera::apps
