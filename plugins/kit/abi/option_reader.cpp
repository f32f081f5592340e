#include "plugins/kit/abi/option_reader.hpp"

#include <algorithm>
#include <cstdlib>

namespace tessera::kit {

const tsr_option_value& option_reader::value(std::uint32_t i) const noexcept {
  const auto* bytes = reinterpret_cast<const char*>(m_values);
  return *reinterpret_cast<const tsr_option_value*>(bytes + std::size_t{i} * m_values[0].struct_size);
}

const tsr_option_value* option_reader::find(const std::string& name) const noexcept {
  for (std::uint32_t i = 0; i < m_count; ++i)
    if (value(i).name != nullptr && name == value(i).name) return &value(i);
  return nullptr;
}

bool option_reader::flag(const std::string& name, bool fallback) const noexcept {
  const auto* found = find(name);
  return found != nullptr ? found->integer != 0 : fallback;
}

std::int64_t option_reader::integer(const std::string& name, std::int64_t fallback) const noexcept {
  const auto* found = find(name);
  return found != nullptr ? found->integer : fallback;
}

double option_reader::number(const std::string& name, double fallback) const noexcept {
  const auto* found = find(name);
  return found != nullptr ? found->number : fallback;
}

std::string option_reader::text(const std::string& name, const std::string& fallback) const {
  const auto* found = find(name);
  return found != nullptr && found->text != nullptr ? found->text : fallback;
}

std::size_t option_reader::tables(const std::string& array) const {
  std::size_t count = 0;
  const std::string prefix = array + "[";
  for (std::uint32_t i = 0; i < m_count; ++i) {
    const std::string name = value(i).name != nullptr ? value(i).name : "";
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    count = std::max<std::size_t>(count, std::strtoull(name.c_str() + prefix.size(), nullptr, 10) + 1);
  }
  return count;
}

}  // namespace tessera::kit
