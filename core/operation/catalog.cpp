#include "core/operation/catalog.hpp"

#include "core/base/error.hpp"

namespace tessera::operation {

const definition& catalog::add(definition what) {
  if (what.host == nullptr && what.enqueue == nullptr && what.special == nullptr)
    throw error(error_kind::usage, "operation '" + what.name + "' has no implementation", {},
                "give it a host function or an enqueue function");
  const std::lock_guard guard(m_mutex);
  for (const definition& other : m_all)
    if (other.name == what.name)
      throw error(error_kind::usage, "operation '" + what.name + "' exists already", {}, "choose another name");
  if (m_all.size() == most) throw error(error_kind::usage, "more than 4096 operations in one runtime");
  what.number = static_cast<std::uint32_t>(m_all.size());
  return m_all.emplace_back(std::move(what));
}

const definition* catalog::find(std::string_view name) const {
  const std::lock_guard guard(m_mutex);
  for (const definition& d : m_all)
    if (d.name == name) return &d;
  return nullptr;
}

std::size_t catalog::size() const {
  const std::lock_guard guard(m_mutex);
  return m_all.size();
}

std::vector<std::string> catalog::names() const {
  const std::lock_guard guard(m_mutex);
  std::vector<std::string> names;
  for (const definition& d : m_all) names.push_back(d.name);
  return names;
}

const definition& catalog::at(std::uint32_t number) const {
  const std::lock_guard guard(m_mutex);
  return m_all[number];
}

}  // namespace tessera::operation
