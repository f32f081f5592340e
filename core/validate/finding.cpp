#include "core/validate/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::validate {

std::string_view name_of(fault is) noexcept {
  switch (is) {
    case fault::unordered:
      return "unordered accesses";
    case fault::wrong_thread:
      return "used from another thread";
    case fault::overlap:
      return "overlapping memory";
    case fault::read_changed:
      return "read block written";
    case fault::not_written:
      return "elements never written";
    case fault::outside:
      return "written outside of its block";
    case fault::uninitialised:
      return "computed from nothing";
    case fault::stray:
      return "changed behind the runtime";
    case fault::after_end:
      return "used after its end";
    case fault::after_free:
      return "used after its array";
    case fault::forms_differ:
      return "forms of a body differ";
    case fault::undeclared:
      return "rows that are not declared";
    case fault::outlives:
      return "outlives its runtime";
  }
  return "?";
}

std::string to_text(const participant& p) {
  std::string_view file = p.file;
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  std::string text = file.empty() ? p.description : fmt::format("{} at {}:{}", p.description, file, p.line);
  if (!p.use.empty()) text += ", " + p.use;
  return text;
}

std::string to_text(const finding& f) {
  std::string text = fmt::format("{}: {}\n  at: {}", name_of(f.fault), f.text, to_text(f.here));
  if (!f.there.description.empty()) text += "\n  and: " + to_text(f.there);
  if (!f.hint.empty()) text += "\n  hint: " + f.hint;
  if (f.times > 1) text += fmt::format("\n  {} times between these places", f.times);
  return text;
}

std::string to_text(const std::vector<finding>& all) {
  std::string text;
  for (std::size_t k = 0; k < all.size(); ++k) text += fmt::format("{}. {}\n", k + 1, to_text(all[k]));
  return text;
}

void journal::add(finding f) {
  constexpr std::size_t most = 1000;
  const std::lock_guard guard(m_mutex);
  const auto same = [](const participant& a, const participant& b) {
    return a.description == b.description && a.line == b.line && a.file == b.file;
  };
  const auto known = std::ranges::find_if(
      m_all, [&](const finding& g) { return g.fault == f.fault && same(g.here, f.here) && same(g.there, f.there); });
  const auto position = static_cast<std::size_t>(known - m_all.begin());
  if (known != m_all.end())
    ++known->times;
  else if (m_all.size() < most)
    m_all.push_back(std::move(f));
  else
    return;
  if (std::ranges::find(m_fresh, position) == m_fresh.end()) m_fresh.push_back(position);
}

std::vector<finding> journal::all() const {
  const std::lock_guard guard(m_mutex);
  return m_all;
}

std::vector<finding> journal::unreported() const {
  const std::lock_guard guard(m_mutex);
  std::vector<finding> out;
  for (const std::size_t k : m_fresh) out.push_back(m_all[k]);
  return out;
}

void journal::raise(const std::string& also) {
  finding first;
  std::size_t count = 0;
  {
    const std::lock_guard guard(m_mutex);
    if (m_fresh.empty()) return;
    count = m_fresh.size();
    first = m_all[m_fresh.front()];
    m_fresh.clear();
  }
  std::string where = to_text(first.here);
  if (!first.there.description.empty()) where += "\n  and: " + to_text(first.there);
  std::string hint = first.hint;
  if (count > 1)
    hint += fmt::format("{}{} findings since the last fence: runtime::findings has them all", hint.empty() ? "" : "; ",
                        count);
  if (!also.empty()) hint += fmt::format("{}besides: {}", hint.empty() ? "" : "; ", also);
  throw error(error_kind::validation, first.text, where, hint);
}

}  // namespace tessera::validate
