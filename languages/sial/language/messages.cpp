#include "languages/sial/language/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tessera::sial {

void message_list::error(span at, std::string what, std::string hint) {
  for (const message& m : m_messages)
    if (m.level == severity::error && m.where.file == at.where.file && m.where.line == at.where.line &&
        at.where.line != 0)
      return;
  if (++m_errors > error_limit) return;
  ++m_kept_errors;
  m_messages.push_back({severity::error, at.where, at.length, std::move(what), std::move(hint)});
}

void message_list::warning(span at, std::string what, std::string hint) {
  if (++m_warnings > warning_limit) return;
  m_messages.push_back({severity::warning, at.where, at.length, std::move(what), std::move(hint)});
}

std::vector<message> message_list::take() {
  std::ranges::stable_sort(m_messages, {},
                           [](const message& m) { return std::tuple(m.where.file, m.where.line, m.where.column); });
  if (m_errors > m_kept_errors)
    m_messages.push_back(
        {severity::error, {}, 0, fmt::format("{} more errors are not shown", m_errors - m_kept_errors), {}});
  return std::move(m_messages);
}

}  // namespace tessera::sial
